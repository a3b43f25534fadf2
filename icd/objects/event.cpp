#include "icd/objects/event.h"

#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/status_result.h"

namespace pumice::icd {

Event::~Event() {
  if (event_ != nullptr) device_.gpu().destroyEvent(event_);
}

VkResult Event::init() {
  return toResult(device_.gpu().createEvent(&event_));
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateEvent(VkDevice device, const VkEventCreateInfo*,
                                             const VkAllocationCallbacks* pAllocator, VkEvent* pEvent) {
  return Event::create(pAllocator, pEvent, *Device::from(device));
}

VKAPI_ATTR void VKAPI_CALL vkDestroyEvent(VkDevice, VkEvent event, const VkAllocationCallbacks* pAllocator) {
  Event::destroy(event, pAllocator);
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetEventStatus(VkDevice device, VkEvent event) {
  kmd::Device& gpu = Device::from(device)->gpu();
  if (gpu.lost()) return VK_ERROR_DEVICE_LOST;
  return gpu.eventStatus(Event::from(event)->gpuEvent()) ? VK_EVENT_SET : VK_EVENT_RESET;
}

VKAPI_ATTR VkResult VKAPI_CALL vkSetEvent(VkDevice device, VkEvent event) {
  Device::from(device)->gpu().setEvent(Event::from(event)->gpuEvent(), true);
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkResetEvent(VkDevice device, VkEvent event) {
  Device::from(device)->gpu().setEvent(Event::from(event)->gpuEvent(), false);
  return VK_SUCCESS;
}

}  // namespace pumice::icd
