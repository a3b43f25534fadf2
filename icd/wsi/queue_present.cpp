// vkQueuePresentKHR. On the queue a present is a submission without work: it waits for the semaphores, as any other,
// and signals a point of the image's own timeline. The present thread waits for that point. So a queue that is idle has
// no semaphore of a present in use any more, and the order of queue operations holds.
#include <algorithm>

#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/pnext.h"
#include "icd/objects/queue.h"
#include "icd/objects/semaphore.h"
#include "icd/objects/status_result.h"
#include "icd/wsi/swapchain.h"

namespace pumice::icd {
namespace {

FrameDamage damageOf(const VkPresentRegionsKHR* regions, uint32_t i) {
  FrameDamage out;
  // Without rectangles everything may have changed (VkPresentRegionKHR).
  if (regions == nullptr || regions->pRegions == nullptr || regions->pRegions[i].rectangleCount == 0 ||
      regions->pRegions[i].pRectangles == nullptr) {
    return out;
  }
  out.all = false;
  const VkPresentRegionKHR& region = regions->pRegions[i];
  for (uint32_t r = 0; r < region.rectangleCount; ++r) {
    out.add({false, {region.pRectangles[r].offset, region.pRectangles[r].extent}});
  }
  return out;
}

VkResult submitWaits(Queue& queue, const VkPresentInfoKHR& info) {
  SubmitScratch& scratch = queue.scratch();
  scratch.waits.clear();
  scratch.signals.clear();
  for (uint32_t i = 0; i < info.waitSemaphoreCount; ++i) {
    Semaphore& semaphore = *Semaphore::from(info.pWaitSemaphores[i]);
    scratch.waits.push_back({semaphore.timeline(), semaphore.waitValue(0), abi::kAllStages});
  }
  for (uint32_t i = 0; i < info.swapchainCount; ++i) {
    const kmd::TimelinePoint ready =
        Swapchain::from(info.pSwapchains[i])->engine().nextReadyPoint(info.pImageIndices[i]);
    scratch.signals.push_back({ready.timeline, ready.value, abi::kAllStages});
  }
  const kmd::Submission batch{scratch.waits, {}, scratch.signals};
  return toResult(queue.device().gpu().submit(queue.gpuQueue(), {&batch, 1}));
}

// Errors before VK_SUBOPTIMAL_KHR, that before success.
VkResult worse(VkResult a, VkResult b) {
  if (a < 0) return a;
  return b < 0 || a == VK_SUCCESS ? b : a;
}

}  // namespace

VKAPI_ATTR VkResult VKAPI_CALL vkQueuePresentKHR(VkQueue handle, const VkPresentInfoKHR* pPresentInfo) {
  const VkPresentInfoKHR& info = *pPresentInfo;
  const auto* regions = findInChain<VkPresentRegionsKHR>(info.pNext);
  const auto* ids = findInChain<VkPresentIdKHR>(info.pNext);
  const VkResult submitted = submitWaits(*Queue::from(handle), info);
  VkResult all = submitted;
  for (uint32_t i = 0; i < info.swapchainCount; ++i) {
    PresentEngine& engine = Swapchain::from(info.pSwapchains[i])->engine();
    VkResult result = submitted;
    if (submitted == VK_SUCCESS) {
      PresentRequest request{};
      request.image = info.pImageIndices[i];
      request.readyValue = engine.nextReadyPoint(request.image).value;
      request.presentId = ids != nullptr && ids->pPresentIds != nullptr ? ids->pPresentIds[i] : 0;
      request.damage = damageOf(regions, i);
      result = engine.present(request);
    }
    if (info.pResults != nullptr) info.pResults[i] = result;
    all = worse(all, result);
  }
  return all;
}

}  // namespace pumice::icd
