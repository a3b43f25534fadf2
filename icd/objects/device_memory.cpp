#include "icd/objects/device_memory.h"

#include "backend/trace/log.h"
#include "gen/entrypoints.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/device.h"
#include "icd/objects/pnext.h"
#include "icd/objects/status_result.h"

namespace pumice::icd {

DeviceMemory::~DeviceMemory() {
  device_.gpu().free(allocation_);
}

VkResult DeviceMemory::init(const VkMemoryAllocateInfo& info) {
  size_B_ = info.allocationSize;
  typeIndex_ = info.memoryTypeIndex;
  kmd::AllocationInfo wish;
  wish.size_B = info.allocationSize;
  wish.lazy = typeIndex_ == kMemoryTypeLazy;
  if (const auto* replay = findInChain<VkMemoryOpaqueCaptureAddressAllocateInfo>(info.pNext)) {
    wish.fixedAddress = replay->opaqueCaptureAddress;
  }
  const VkResult result = toResult(device_.gpu().allocate(wish, &allocation_));
  if (result != VK_SUCCESS) {
    PUMICE_WARNING("icd", "vkAllocateMemory: %llu bytes of type %u: %s",
                   static_cast<unsigned long long>(info.allocationSize), info.memoryTypeIndex,
                   result == VK_ERROR_OUT_OF_DEVICE_MEMORY ? "out of device memory" : "failed");
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo* pAllocateInfo,
                                                const VkAllocationCallbacks* pAllocator, VkDeviceMemory* pMemory) {
  return DeviceMemory::create(pAllocator, pMemory, *Device::from(device), *pAllocateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkFreeMemory(VkDevice, VkDeviceMemory memory, const VkAllocationCallbacks* pAllocator) {
  DeviceMemory::destroy(memory, pAllocator);
}

VKAPI_ATTR VkResult VKAPI_CALL vkMapMemory(VkDevice, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize,
                                           VkMemoryMapFlags, void** ppData) {
  *ppData = reinterpret_cast<void*>(DeviceMemory::from(memory)->address() + offset);
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL vkUnmapMemory(VkDevice, VkDeviceMemory) {}

// Host and device share caches: there is nothing to flush or to invalidate.
VKAPI_ATTR VkResult VKAPI_CALL vkFlushMappedMemoryRanges(VkDevice, uint32_t, const VkMappedMemoryRange*) {
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkInvalidateMappedMemoryRanges(VkDevice, uint32_t, const VkMappedMemoryRange*) {
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL vkGetDeviceMemoryCommitment(VkDevice, VkDeviceMemory memory, VkDeviceSize* pCommitted) {
  const DeviceMemory& self = *DeviceMemory::from(memory);
  *pCommitted = self.typeIndex() == kMemoryTypeLazy ? self.committed_B() : self.size_B();
}

VKAPI_ATTR uint64_t VKAPI_CALL
vkGetDeviceMemoryOpaqueCaptureAddress(VkDevice, const VkDeviceMemoryOpaqueCaptureAddressInfo* pInfo) {
  return DeviceMemory::from(pInfo->memory)->address();
}

}  // namespace pumice::icd
