#include "icd/objects/debug_messenger.h"

#include "gen/entrypoints.h"
#include "icd/objects/instance.h"

namespace pumice::icd {

DebugMessenger::~DebugMessenger() {
  instance_.removeMessenger(this);
}

VkResult DebugMessenger::init(const VkDebugUtilsMessengerCreateInfoEXT& info) {
  info_ = info;
  instance_.addMessenger(this);
  return VK_SUCCESS;
}

void DebugMessenger::deliver(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
                             const VkDebugUtilsMessengerCallbackDataEXT& data) const {
  if ((info_.messageSeverity & severity) == 0 || (info_.messageType & types) == 0) return;
  // The result only matters to layers; a driver does not abort calls.
  info_.pfnUserCallback(severity, types, &data, info_.pUserData);
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateDebugUtilsMessengerEXT(VkInstance instance,
                                                              const VkDebugUtilsMessengerCreateInfoEXT* pCreateInfo,
                                                              const VkAllocationCallbacks* pAllocator,
                                                              VkDebugUtilsMessengerEXT* pMessenger) {
  return DebugMessenger::create(pAllocator, pMessenger, *Instance::from(instance), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyDebugUtilsMessengerEXT(VkInstance, VkDebugUtilsMessengerEXT messenger,
                                                           const VkAllocationCallbacks* pAllocator) {
  DebugMessenger::destroy(messenger, pAllocator);
}

VKAPI_ATTR void VKAPI_CALL vkSubmitDebugUtilsMessageEXT(VkInstance instance,
                                                        VkDebugUtilsMessageSeverityFlagBitsEXT messageSeverity,
                                                        VkDebugUtilsMessageTypeFlagsEXT messageTypes,
                                                        const VkDebugUtilsMessengerCallbackDataEXT* pCallbackData) {
  Instance::from(instance)->deliverMessage(messageSeverity, messageTypes, *pCallbackData);
}

}  // namespace pumice::icd
