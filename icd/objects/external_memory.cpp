#include "icd/objects/external_memory.h"

#include <fcntl.h>

#include "backend/abi/memory_map.h"
#include "backend/trace/log.h"
#include "gen/entrypoints.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/device_memory.h"

namespace pumice::icd {

VkExternalMemoryProperties externalMemoryProperties(VkExternalMemoryHandleTypeFlagBits type) {
  constexpr auto kBoth = VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  const auto self = static_cast<VkExternalMemoryHandleTypeFlags>(type);
  switch (type) {
    case VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT:
      return {kBoth, self, self};
    case VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT:
      return {VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, 0, self};
    default:
      return {};
  }
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceExternalBufferProperties(VkPhysicalDevice,
                                                                       const VkPhysicalDeviceExternalBufferInfo* pInfo,
                                                                       VkExternalBufferProperties* pProperties) {
  pProperties->externalMemoryProperties = externalMemoryProperties(pInfo->handleType);
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetMemoryFdKHR(VkDevice, const VkMemoryGetFdInfoKHR* pGetFdInfo, int* pFd) {
  const int file = DeviceMemory::from(pGetFdInfo->memory)->file();
  *pFd = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (*pFd >= 0) return VK_SUCCESS;
  PUMICE_WARNING("icd", "vkGetMemoryFdKHR: %s", file < 0 ? "memory that is not exported" : "no descriptor left");
  return file < 0 ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_TOO_MANY_OBJECTS;
}

// Asks for descriptors that are not opaque, of which none can be imported.
VKAPI_ATTR VkResult VKAPI_CALL vkGetMemoryFdPropertiesKHR(VkDevice, VkExternalMemoryHandleTypeFlagBits, int,
                                                          VkMemoryFdPropertiesKHR* pMemoryFdProperties) {
  pMemoryFdProperties->memoryTypeBits = 0;
  return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

VKAPI_ATTR VkResult VKAPI_CALL
vkGetMemoryHostPointerPropertiesEXT(VkDevice, VkExternalMemoryHandleTypeFlagBits handleType, const void* pHostPointer,
                                    VkMemoryHostPointerPropertiesEXT* pMemoryHostPointerProperties) {
  pMemoryHostPointerProperties->memoryTypeBits = 0;
  if (handleType != VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT || pHostPointer == nullptr ||
      reinterpret_cast<uintptr_t>(pHostPointer) % abi::kResourceAlignBytes != 0) {
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
  }
  pMemoryHostPointerProperties->memoryTypeBits = 1u << kMemoryTypeUnified;
  return VK_SUCCESS;
}

}  // namespace pumice::icd
