// Names and labels of VK_EXT_debug_utils, and private data: what tools hang on objects.
#include <vulkan/vulkan_core.h>

#include <atomic>

#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/instance.h"
#include "icd/objects/object.h"
#include "icd/objects/private_data_slot.h"

namespace pumice::icd {
namespace {

// A handle of a device's child is the address of an object whose base is ObjectBase. Handles of the instance's level
// are the loader's own objects, which it does not translate in every version: those are found through the device, or
// carry nothing.
ObjectBase* anyObject(VkDevice device, VkObjectType type, uint64_t handle) {
  if (handle == 0) return nullptr;
  PhysicalDevice& physicalDevice = Device::from(device)->physicalDevice();
  switch (type) {
    case VK_OBJECT_TYPE_INSTANCE:
      return &physicalDevice.instance();
    case VK_OBJECT_TYPE_PHYSICAL_DEVICE:
      return &physicalDevice;
    case VK_OBJECT_TYPE_UNKNOWN:
    case VK_OBJECT_TYPE_SURFACE_KHR:
    case VK_OBJECT_TYPE_DISPLAY_KHR:
    case VK_OBJECT_TYPE_DISPLAY_MODE_KHR:
    case VK_OBJECT_TYPE_DEBUG_REPORT_CALLBACK_EXT:
    case VK_OBJECT_TYPE_DEBUG_UTILS_MESSENGER_EXT:
      return nullptr;
    default:
      return reinterpret_cast<ObjectBase*>(static_cast<uintptr_t>(handle));
  }
}

}  // namespace

uint64_t PrivateDataSlot::nextId() {
  static constinit std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

VKAPI_ATTR VkResult VKAPI_CALL vkSetDebugUtilsObjectNameEXT(VkDevice device,
                                                            const VkDebugUtilsObjectNameInfoEXT* pNameInfo) {
  if (ObjectBase* object = anyObject(device, pNameInfo->objectType, pNameInfo->objectHandle)) {
    object->setDebugName(pNameInfo->pObjectName);
  }
  return VK_SUCCESS;
}

// Tags are blobs for other tools; the driver has no use for them.
VKAPI_ATTR VkResult VKAPI_CALL vkSetDebugUtilsObjectTagEXT(VkDevice, const VkDebugUtilsObjectTagInfoEXT*) {
  return VK_SUCCESS;
}

// Queue labels structure messages of layers; the driver's own traces use labels inside command buffers.
VKAPI_ATTR void VKAPI_CALL vkQueueBeginDebugUtilsLabelEXT(VkQueue, const VkDebugUtilsLabelEXT*) {}
VKAPI_ATTR void VKAPI_CALL vkQueueEndDebugUtilsLabelEXT(VkQueue) {}
VKAPI_ATTR void VKAPI_CALL vkQueueInsertDebugUtilsLabelEXT(VkQueue, const VkDebugUtilsLabelEXT*) {}

VKAPI_ATTR VkResult VKAPI_CALL vkCreatePrivateDataSlot(VkDevice device, const VkPrivateDataSlotCreateInfo*,
                                                       const VkAllocationCallbacks* pAllocator,
                                                       VkPrivateDataSlot* pPrivateDataSlot) {
  return PrivateDataSlot::create(pAllocator, pPrivateDataSlot, *Device::from(device));
}

VKAPI_ATTR void VKAPI_CALL vkDestroyPrivateDataSlot(VkDevice, VkPrivateDataSlot privateDataSlot,
                                                    const VkAllocationCallbacks* pAllocator) {
  PrivateDataSlot::destroy(privateDataSlot, pAllocator);
}

VKAPI_ATTR VkResult VKAPI_CALL vkSetPrivateData(VkDevice device, VkObjectType objectType, uint64_t objectHandle,
                                                VkPrivateDataSlot privateDataSlot, uint64_t data) {
  if (ObjectBase* object = anyObject(device, objectType, objectHandle)) {
    object->setPrivateData(PrivateDataSlot::from(privateDataSlot)->id(), data);
  }
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL vkGetPrivateData(VkDevice device, VkObjectType objectType, uint64_t objectHandle,
                                            VkPrivateDataSlot privateDataSlot, uint64_t* pData) {
  const ObjectBase* object = anyObject(device, objectType, objectHandle);
  *pData = object != nullptr ? object->privateData(PrivateDataSlot::from(privateDataSlot)->id()) : 0;
}

}  // namespace pumice::icd
