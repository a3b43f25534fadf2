#include "icd/objects/sampler_ycbcr_conversion.h"

#include "backend/abi/descriptor.h"
#include "backend/formats/format_table.h"
#include "gen/entrypoints.h"
#include "icd/objects/component_mapping.h"
#include "icd/objects/device.h"

namespace pumice::icd {

VkResult SamplerYcbcrConversion::init(const VkSamplerYcbcrConversionCreateInfo& info) {
  const formats::FormatInfo& format = formats::formatInfo(info.format);
  abi::ChromaConversion c{};
  c.model = static_cast<uint32_t>(info.ycbcrModel);
  c.narrow = info.ycbcrRange == VK_SAMPLER_YCBCR_RANGE_ITU_NARROW;
  c.cosited[0] = info.xChromaOffset == VK_CHROMA_LOCATION_COSITED_EVEN;
  c.cosited[1] = info.yChromaOffset == VK_CHROMA_LOCATION_COSITED_EVEN;
  c.linear = info.chromaFilter == VK_FILTER_LINEAR;
  c.explicitly = info.forceExplicitReconstruction != VK_FALSE;
  c.subsampled[0] = format.chroma == formats::Chroma::k420 || format.chroma == formats::Chroma::k422;
  c.subsampled[1] = format.chroma == formats::Chroma::k420;
  c.bits = format.components[0].bits;
  c.swizzle = packMapping(info.components);
  packed_ = abi::packConversion(c);
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateSamplerYcbcrConversion(VkDevice device,
                                                              const VkSamplerYcbcrConversionCreateInfo* pCreateInfo,
                                                              const VkAllocationCallbacks* pAllocator,
                                                              VkSamplerYcbcrConversion* pYcbcrConversion) {
  return SamplerYcbcrConversion::create(pAllocator, pYcbcrConversion, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroySamplerYcbcrConversion(VkDevice, VkSamplerYcbcrConversion ycbcrConversion,
                                                           const VkAllocationCallbacks* pAllocator) {
  SamplerYcbcrConversion::destroy(ycbcrConversion, pAllocator);
}

}  // namespace pumice::icd
