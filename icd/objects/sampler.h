// VkSampler: a descriptor, ready to be copied into sets.
#pragma once

#include "backend/abi/descriptor.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

class Sampler : public Object<Sampler, VkSampler, VK_OBJECT_TYPE_SAMPLER> {
 public:
  explicit Sampler(Device&) {}

  VkResult init(const VkSamplerCreateInfo& info);

  const abi::SamplerDescriptor& descriptor() const { return descriptor_; }

 private:
  abi::SamplerDescriptor descriptor_{};
};

}  // namespace pumice::icd
