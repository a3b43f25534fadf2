// VkShaderModule: a copy of the SPIR-V. Nothing is looked at before a pipeline is made.
#pragma once

#include <span>
#include <vector>

#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

class ShaderModule : public Object<ShaderModule, VkShaderModule, VK_OBJECT_TYPE_SHADER_MODULE> {
 public:
  explicit ShaderModule(Device&) {}

  VkResult init(const VkShaderModuleCreateInfo& info);

  std::span<const uint32_t> code() const { return code_; }

 private:
  std::vector<uint32_t> code_;
};

}  // namespace pumice::icd
