// Names and labels of VK_EXT_debug_utils, and private data: what tools hang on objects.
#include <vulkan/vulkan_core.h>

#include <atomic>

#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/object.h"
#include "icd/objects/private_data_slot.h"

namespace pumice::icd {
namespace {

// Every handle is the address of an object whose base is ObjectBase. Handles that this driver does not make (surfaces
// belong to the loader) carry nothing.
ObjectBase* anyObject(VkObjectType type, uint64_t handle) {
  if (type == VK_OBJECT_TYPE_UNKNOWN || type == VK_OBJECT_TYPE_SURFACE_KHR || handle == 0) return nullptr;
  return reinterpret_cast<ObjectBase*>(static_cast<uintptr_t>(handle));
}

}  // namespace

uint64_t PrivateDataSlot::nextId() {
  static constinit std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

VKAPI_ATTR VkResult VKAPI_CALL vkSetDebugUtilsObjectNameEXT(VkDevice, const VkDebugUtilsObjectNameInfoEXT* pNameInfo) {
  if (ObjectBase* object = anyObject(pNameInfo->objectType, pNameInfo->objectHandle)) {
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

VKAPI_ATTR VkResult VKAPI_CALL vkSetPrivateData(VkDevice, VkObjectType objectType, uint64_t objectHandle,
                                                VkPrivateDataSlot privateDataSlot, uint64_t data) {
  if (ObjectBase* object = anyObject(objectType, objectHandle)) {
    object->setPrivateData(PrivateDataSlot::from(privateDataSlot)->id(), data);
  }
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL vkGetPrivateData(VkDevice, VkObjectType objectType, uint64_t objectHandle,
                                            VkPrivateDataSlot privateDataSlot, uint64_t* pData) {
  const ObjectBase* object = anyObject(objectType, objectHandle);
  *pData = object != nullptr ? object->privateData(PrivateDataSlot::from(privateDataSlot)->id()) : 0;
}

}  // namespace pumice::icd
