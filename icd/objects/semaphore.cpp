#include "icd/objects/semaphore.h"

#include <array>
#include <vector>

#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/pnext.h"
#include "icd/objects/status_result.h"
#include "icd/objects/timing.h"

namespace pumice::icd {

Semaphore::~Semaphore() {
  if (timeline_ != nullptr) device_.gpu().destroyTimeline(timeline_);
}

VkResult Semaphore::init(const VkSemaphoreCreateInfo& info) {
  uint64_t initial = 0;
  if (const auto* type = findInChain<VkSemaphoreTypeCreateInfo>(info.pNext)) {
    isTimeline_ = type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    if (isTimeline_) initial = type->initialValue;
  }
  return toResult(device_.gpu().createTimeline(initial, &timeline_));
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo* pCreateInfo,
                                                 const VkAllocationCallbacks* pAllocator, VkSemaphore* pSemaphore) {
  return Semaphore::create(pAllocator, pSemaphore, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroySemaphore(VkDevice, VkSemaphore semaphore,
                                              const VkAllocationCallbacks* pAllocator) {
  Semaphore::destroy(semaphore, pAllocator);
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore, uint64_t* pValue) {
  kmd::Device& gpu = Device::from(device)->gpu();
  *pValue = gpu.timelineValue(Semaphore::from(semaphore)->timeline());
  return gpu.lost() ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkWaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo* pWaitInfo,
                                                uint64_t timeout) {
  std::vector<kmd::TimelinePoint> points(pWaitInfo->semaphoreCount);
  for (uint32_t i = 0; i < pWaitInfo->semaphoreCount; ++i) {
    points[i] = {Semaphore::from(pWaitInfo->pSemaphores[i])->timeline(), pWaitInfo->pValues[i]};
  }
  const bool any = (pWaitInfo->flags & VK_SEMAPHORE_WAIT_ANY_BIT) != 0;
  return toResult(Device::from(device)->gpu().waitTimelines(points, any, deadlineAfter(timeout)));
}

VKAPI_ATTR VkResult VKAPI_CALL vkSignalSemaphore(VkDevice device, const VkSemaphoreSignalInfo* pSignalInfo) {
  return toResult(Device::from(device)->gpu().signalTimeline(Semaphore::from(pSignalInfo->semaphore)->timeline(),
                                                             pSignalInfo->value));
}

}  // namespace pumice::icd
