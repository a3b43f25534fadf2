#include "icd/objects/buffer.h"

#include "backend/abi/memory_map.h"
#include "backend/trace/log.h"
#include "gen/entrypoints.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/device.h"
#include "icd/objects/device_memory.h"
#include "icd/objects/pnext.h"

namespace pumice::icd {

VkResult Buffer::init(const VkBufferCreateInfo& info, uint64_t heapSize_B) {
  // A replayed address (VkBufferOpaqueCaptureAddressCreateInfo) needs nothing here: it follows from the memory's.
  if (info.size > heapSize_B) {
    PUMICE_WARNING("icd", "vkCreateBuffer: %llu bytes are more than the heap has",
                   static_cast<unsigned long long>(info.size));
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  size_B_ = info.size;
  align_B_ = alignment_B(info);
  return VK_SUCCESS;
}

void Buffer::bind(const DeviceMemory& memory, VkDeviceSize offset) {
  address_ = memory.address() + offset;
}

// In memory of the host whole pages only, although lines of the cache would do: libplacebo 4.208 (Debian 12's mpv)
// frees what it uploads twice where such a buffer does not begin at a multiple of the texel, which may have three
// bytes. It looks at this number first, and copies instead. It gives the instance no name to know it by.
uint64_t Buffer::alignment_B(const VkBufferCreateInfo& info) {
  const auto* external = findInChain<VkExternalMemoryBufferCreateInfo>(info.pNext);
  const bool ofHost =
      external != nullptr && (external->handleTypes & VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT) != 0;
  return ofHost ? abi::kPageBytes : abi::kResourceAlignBytes;
}

void Buffer::requirements(uint64_t size_B, uint64_t align_B, VkMemoryRequirements* out) {
  out->size = (size_B + abi::kResourceAlignBytes - 1) & ~(abi::kResourceAlignBytes - 1);
  out->alignment = align_B;
  out->memoryTypeBits = 1u << kMemoryTypeUnified;
}

namespace {

void requirements2(uint64_t size_B, uint64_t align_B, VkMemoryRequirements2* out) {
  Buffer::requirements(size_B, align_B, &out->memoryRequirements);
  if (auto* dedicated = findInChain<VkMemoryDedicatedRequirements>(out->pNext)) {
    dedicated->prefersDedicatedAllocation = VK_FALSE;
    dedicated->requiresDedicatedAllocation = VK_FALSE;
  }
}

}  // namespace

VKAPI_ATTR VkResult VKAPI_CALL vkCreateBuffer(VkDevice device, const VkBufferCreateInfo* pCreateInfo,
                                              const VkAllocationCallbacks* pAllocator, VkBuffer* pBuffer) {
  Device& self = *Device::from(device);
  return Buffer::create(pAllocator, pBuffer, self, *pCreateInfo, self.physicalDevice().heapSize_B());
}

VKAPI_ATTR void VKAPI_CALL vkDestroyBuffer(VkDevice, VkBuffer buffer, const VkAllocationCallbacks* pAllocator) {
  Buffer::destroy(buffer, pAllocator);
}

VKAPI_ATTR void VKAPI_CALL vkGetBufferMemoryRequirements(VkDevice, VkBuffer buffer,
                                                         VkMemoryRequirements* pMemoryRequirements) {
  const Buffer& self = *Buffer::from(buffer);
  Buffer::requirements(self.size_B(), self.align_B(), pMemoryRequirements);
}

VKAPI_ATTR void VKAPI_CALL vkGetBufferMemoryRequirements2(VkDevice, const VkBufferMemoryRequirementsInfo2* pInfo,
                                                          VkMemoryRequirements2* pMemoryRequirements) {
  const Buffer& self = *Buffer::from(pInfo->buffer);
  requirements2(self.size_B(), self.align_B(), pMemoryRequirements);
}

VKAPI_ATTR void VKAPI_CALL vkGetDeviceBufferMemoryRequirements(VkDevice, const VkDeviceBufferMemoryRequirements* pInfo,
                                                               VkMemoryRequirements2* pMemoryRequirements) {
  requirements2(pInfo->pCreateInfo->size, Buffer::alignment_B(*pInfo->pCreateInfo), pMemoryRequirements);
}

VKAPI_ATTR VkResult VKAPI_CALL vkBindBufferMemory(VkDevice, VkBuffer buffer, VkDeviceMemory memory,
                                                  VkDeviceSize memoryOffset) {
  Buffer::from(buffer)->bind(*DeviceMemory::from(memory), memoryOffset);
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkBindBufferMemory2(VkDevice, uint32_t bindInfoCount,
                                                   const VkBindBufferMemoryInfo* pBindInfos) {
  for (uint32_t i = 0; i < bindInfoCount; ++i) {
    Buffer::from(pBindInfos[i].buffer)->bind(*DeviceMemory::from(pBindInfos[i].memory), pBindInfos[i].memoryOffset);
  }
  return VK_SUCCESS;
}

VKAPI_ATTR VkDeviceAddress VKAPI_CALL vkGetBufferDeviceAddress(VkDevice, const VkBufferDeviceAddressInfo* pInfo) {
  return Buffer::from(pInfo->buffer)->address();
}

VKAPI_ATTR uint64_t VKAPI_CALL vkGetBufferOpaqueCaptureAddress(VkDevice, const VkBufferDeviceAddressInfo* pInfo) {
  return Buffer::from(pInfo->buffer)->address();
}

}  // namespace pumice::icd
