#include "icd/objects/device_memory.h"

#include "backend/kmd/shared_door.h"
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

int DeviceMemory::file() const {
  return kmd::allocationFile(allocation_);
}

VkResult DeviceMemory::allocate(const VkMemoryAllocateInfo& info) {
  const auto imported = [](kmd::Status status) {
    return status == kmd::Status::kInvalidAddress ? VK_ERROR_INVALID_EXTERNAL_HANDLE : toResult(status);
  };
  // A handle type of 0 means that the structure is not there.
  const auto* file = findInChain<VkImportMemoryFdInfoKHR>(info.pNext);
  if (file != nullptr && file->handleType != 0) {
    if (file->handleType != VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT) return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    return imported(kmd::importFile(device_.gpu(), file->fd, info.allocationSize, &allocation_));
  }
  const auto* host = findInChain<VkImportMemoryHostPointerInfoEXT>(info.pNext);
  if (host != nullptr && host->handleType != 0) {
    if (host->handleType != VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT)
      return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    return imported(kmd::importHost(device_.gpu(), host->pHostPointer, info.allocationSize, &allocation_));
  }
  kmd::AllocationInfo wish;
  wish.size_B = info.allocationSize;
  if (const auto* replay = findInChain<VkMemoryOpaqueCaptureAddressAllocateInfo>(info.pNext)) {
    wish.fixedAddress = replay->opaqueCaptureAddress;
  }
  const auto* exported = findInChain<VkExportMemoryAllocateInfo>(info.pNext);
  if (exported != nullptr && (exported->handleTypes & VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT) != 0)
    return toResult(kmd::allocateShared(device_.gpu(), wish, &allocation_));
  wish.lazy = info.memoryTypeIndex == kMemoryTypeLazy;
  return toResult(device_.gpu().allocate(wish, &allocation_));
}

VkResult DeviceMemory::init(const VkMemoryAllocateInfo& info) {
  size_B_ = info.allocationSize;
  typeIndex_ = info.memoryTypeIndex;
  const VkResult result = allocate(info);
  if (result != VK_SUCCESS) {
    PUMICE_WARNING("icd", "vkAllocateMemory: %llu bytes of type %u: %s",
                   static_cast<unsigned long long>(info.allocationSize), info.memoryTypeIndex,
                   result == VK_ERROR_OUT_OF_DEVICE_MEMORY      ? "out of device memory"
                   : result == VK_ERROR_INVALID_EXTERNAL_HANDLE ? "what is to be imported does not fit"
                                                                : "failed");
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
