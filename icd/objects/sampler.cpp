#include "icd/objects/sampler.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/pnext.h"
#include "icd/objects/sampler_ycbcr_conversion.h"

namespace pumice::icd {
namespace {

void borderColor(const VkSamplerCreateInfo& info, uint32_t (&out)[4]) {
  const uint32_t one = std::bit_cast<uint32_t>(1.0f);
  switch (info.borderColor) {
    case VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK:
      out[3] = one;
      break;
    case VK_BORDER_COLOR_INT_OPAQUE_BLACK:
      out[3] = 1;
      break;
    case VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE:
      std::fill_n(out, 4, one);
      break;
    case VK_BORDER_COLOR_INT_OPAQUE_WHITE:
      std::fill_n(out, 4, 1u);
      break;
    case VK_BORDER_COLOR_FLOAT_CUSTOM_EXT:
    case VK_BORDER_COLOR_INT_CUSTOM_EXT:
      if (const auto* custom = findInChain<VkSamplerCustomBorderColorCreateInfoEXT>(info.pNext)) {
        std::memcpy(out, &custom->customBorderColor, sizeof out);
      }
      break;
    default:  // transparent black
      break;
  }
}

}  // namespace

VkResult Sampler::init(const VkSamplerCreateInfo& info) {
  abi::SamplerDescriptor& d = descriptor_;
  const auto filter = [](VkFilter f) { return f == VK_FILTER_CUBIC_EXT ? 2u : static_cast<uint32_t>(f); };
  d.samplerClass =
      abi::makeSamplerClass(filter(info.magFilter), filter(info.minFilter), static_cast<uint32_t>(info.mipmapMode),
                            static_cast<uint32_t>(info.addressModeU), static_cast<uint32_t>(info.addressModeV),
                            static_cast<uint32_t>(info.addressModeW));
  uint32_t flags = 0;
  if (info.compareEnable) {
    flags |= abi::kSamplerCompare;
    d.compareOp = static_cast<uint32_t>(info.compareOp);  // else it need not even be a value of the enumeration
  }
  if (info.unnormalizedCoordinates) flags |= abi::kSamplerUnnormalized;
  if (info.anisotropyEnable) flags |= abi::kSamplerAnisotropic;
  if ((info.flags & VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT) != 0) flags |= abi::kSamplerSeamlessOff;
  if (const auto* reduction = findInChain<VkSamplerReductionModeCreateInfo>(info.pNext)) {
    if (reduction->reductionMode == VK_SAMPLER_REDUCTION_MODE_MIN) flags |= abi::kSamplerReduceMin;
    if (reduction->reductionMode == VK_SAMPLER_REDUCTION_MODE_MAX) flags |= abi::kSamplerReduceMax;
  }
  d.flags = static_cast<uint16_t>(flags);
  d.maxAnisotropy = info.anisotropyEnable ? info.maxAnisotropy : 1.0f;
  d.lodBias = info.mipLodBias;
  d.minLod = info.minLod;
  d.maxLod = info.maxLod;
  const auto isBorder = [](VkSamplerAddressMode m) { return m == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER; };
  if (isBorder(info.addressModeU) || isBorder(info.addressModeV) || isBorder(info.addressModeW)) {
    borderColor(info, d.borderColor);
  }
  if (const auto* converts = findInChain<VkSamplerYcbcrConversionInfo>(info.pNext)) {
    d.conversion = SamplerYcbcrConversion::from(converts->conversion)->packed();
    d.samplerClass |= abi::kSamplerClassConverts;
  }
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateSampler(VkDevice device, const VkSamplerCreateInfo* pCreateInfo,
                                               const VkAllocationCallbacks* pAllocator, VkSampler* pSampler) {
  return Sampler::create(pAllocator, pSampler, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroySampler(VkDevice, VkSampler sampler, const VkAllocationCallbacks* pAllocator) {
  Sampler::destroy(sampler, pAllocator);
}

}  // namespace pumice::icd
