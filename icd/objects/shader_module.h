// VkShaderModule: a copy of the SPIR-V. Nothing is looked at before a pipeline is made.
#pragma once

#include <memory>
#include <vector>

#include "icd/objects/object.h"
#include "icd/objects/object_cache.h"

namespace pumice::icd {

class Device;

class ShaderModule : public Object<ShaderModule, VkShaderModule, VK_OBJECT_TYPE_SHADER_MODULE> {
 public:
  explicit ShaderModule(Device&) {}

  VkResult init(const VkShaderModuleCreateInfo& info);

  /// Pipelines that may be compiled again keep it alive.
  const std::shared_ptr<const std::vector<uint32_t>>& code() const { return code_; }
  const SpirvHash& hash() const { return hash_; }

 private:
  std::shared_ptr<const std::vector<uint32_t>> code_;
  SpirvHash hash_{};
};

}  // namespace pumice::icd
