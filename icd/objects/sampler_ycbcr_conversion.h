// VkSamplerYcbcrConversion: what a sampler with a conversion carries in its descriptor. Vulkan specification: "Sampler
// Y'CbCr Conversion".
#pragma once

#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

class SamplerYcbcrConversion
    : public Object<SamplerYcbcrConversion, VkSamplerYcbcrConversion, VK_OBJECT_TYPE_SAMPLER_YCBCR_CONVERSION> {
 public:
  explicit SamplerYcbcrConversion(Device&) {}

  VkResult init(const VkSamplerYcbcrConversionCreateInfo& info);

  /// abi::packConversion().
  uint32_t packed() const { return packed_; }

 private:
  uint32_t packed_ = 0;
};

}  // namespace pumice::icd
