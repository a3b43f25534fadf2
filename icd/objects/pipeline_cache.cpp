#include "icd/objects/pipeline_cache.h"

#include <cstring>

#include "gen/entrypoints.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/device.h"

namespace pumice::icd {
namespace {

VkPipelineCacheHeaderVersionOne expectedHeader() {
  Properties properties;
  fillProperties(VK_API_VERSION_1_0, 0, &properties);  // neither version nor heap is part of the header
  VkPipelineCacheHeaderVersionOne header{};
  header.headerSize = sizeof header;
  header.headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
  header.vendorID = properties.base.vendorID;
  header.deviceID = properties.base.deviceID;
  std::memcpy(header.pipelineCacheUUID, properties.base.pipelineCacheUUID, VK_UUID_SIZE);
  return header;
}

}  // namespace

VkResult PipelineCache::init(const VkPipelineCacheCreateInfo& info) {
  const VkPipelineCacheHeaderVersionOne header = expectedHeader();
  // Data of another driver or build are ignored: an empty cache, not an error.
  if (info.initialDataSize < sizeof header || std::memcmp(info.pInitialData, &header, sizeof header) != 0) {
    return VK_SUCCESS;
  }
  const std::span<const std::byte> all(static_cast<const std::byte*>(info.pInitialData), info.initialDataSize);
  objects_->deserialize(all.subspan(sizeof header));
  return VK_SUCCESS;
}

VkResult PipelineCache::data(size_t* size_B, void* out) const {
  const VkPipelineCacheHeaderVersionOne header = expectedHeader();
  if (out == nullptr) {
    *size_B = sizeof header + objects_->serializedBytes();
    return VK_SUCCESS;
  }
  const size_t room = *size_B;
  *size_B = 0;
  if (room < sizeof header) return VK_INCOMPLETE;
  std::memcpy(out, &header, sizeof header);
  const ObjectCache::Written written =
      objects_->serialize({static_cast<std::byte*>(out) + sizeof header, room - sizeof header});
  *size_B = sizeof header + written.bytes;
  return written.complete ? VK_SUCCESS : VK_INCOMPLETE;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreatePipelineCache(VkDevice device, const VkPipelineCacheCreateInfo* pCreateInfo,
                                                     const VkAllocationCallbacks* pAllocator,
                                                     VkPipelineCache* pPipelineCache) {
  return PipelineCache::create(pAllocator, pPipelineCache, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyPipelineCache(VkDevice, VkPipelineCache pipelineCache,
                                                  const VkAllocationCallbacks* pAllocator) {
  PipelineCache::destroy(pipelineCache, pAllocator);
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetPipelineCacheData(VkDevice, VkPipelineCache pipelineCache, size_t* pDataSize,
                                                      void* pData) {
  return PipelineCache::from(pipelineCache)->data(pDataSize, pData);
}

VKAPI_ATTR VkResult VKAPI_CALL vkMergePipelineCaches(VkDevice, VkPipelineCache dstCache, uint32_t srcCacheCount,
                                                     const VkPipelineCache* pSrcCaches) {
  for (uint32_t i = 0; i < srcCacheCount; ++i) {
    PipelineCache::from(dstCache)->objects()->merge(*PipelineCache::from(pSrcCaches[i])->objects());
  }
  return VK_SUCCESS;
}

}  // namespace pumice::icd
