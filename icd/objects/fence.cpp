#include "icd/objects/fence.h"

#include <vector>

#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/status_result.h"
#include "icd/objects/timing.h"

namespace pumice::icd {

Fence::~Fence() {
  if (timeline_ != nullptr) device_.gpu().destroyTimeline(timeline_);
}

VkResult Fence::init(const VkFenceCreateInfo& info) {
  const uint64_t initial = (info.flags & VK_FENCE_CREATE_SIGNALED_BIT) != 0 ? target_ : 0;
  return toResult(device_.gpu().createTimeline(initial, &timeline_));
}

bool Fence::isSignalled() const {
  return device_.gpu().timelineValue(timeline_) >= target_;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateFence(VkDevice device, const VkFenceCreateInfo* pCreateInfo,
                                             const VkAllocationCallbacks* pAllocator, VkFence* pFence) {
  return Fence::create(pAllocator, pFence, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyFence(VkDevice, VkFence fence, const VkAllocationCallbacks* pAllocator) {
  Fence::destroy(fence, pAllocator);
}

VKAPI_ATTR VkResult VKAPI_CALL vkResetFences(VkDevice, uint32_t fenceCount, const VkFence* pFences) {
  for (uint32_t i = 0; i < fenceCount; ++i) Fence::from(pFences[i])->reset();
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetFenceStatus(VkDevice device, VkFence fence) {
  if (Fence::from(fence)->isSignalled()) return VK_SUCCESS;
  return Device::from(device)->gpu().lost() ? VK_ERROR_DEVICE_LOST : VK_NOT_READY;
}

VKAPI_ATTR VkResult VKAPI_CALL vkWaitForFences(VkDevice device, uint32_t fenceCount, const VkFence* pFences,
                                               VkBool32 waitAll, uint64_t timeout) {
  kmd::Device& gpu = Device::from(device)->gpu();
  if (fenceCount == 1) {  // by far the most common call: no heap
    const kmd::TimelinePoint point = Fence::from(pFences[0])->point();
    return toResult(gpu.waitTimelines({&point, 1}, false, deadlineAfter(timeout)));
  }
  std::vector<kmd::TimelinePoint> points(fenceCount);
  for (uint32_t i = 0; i < fenceCount; ++i) points[i] = Fence::from(pFences[i])->point();
  return toResult(gpu.waitTimelines(points, waitAll == VK_FALSE, deadlineAfter(timeout)));
}

}  // namespace pumice::icd
