#include "icd/objects/queue.h"

#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/status_result.h"

namespace pumice::icd {

Queue::~Queue() {
  if (queue_ != nullptr) device_.gpu().destroyQueue(queue_);
}

VkResult Queue::init(uint32_t family, uint32_t index, float priority) {
  static constexpr kmd::Engine kEngines[] = {kmd::Engine::kUniversal, kmd::Engine::kCompute, kmd::Engine::kCopy};
  family_ = family;
  index_ = index;
  return toResult(device_.gpu().createQueue({kEngines[family], priority}, &queue_));
}

VKAPI_ATTR VkResult VKAPI_CALL vkQueueWaitIdle(VkQueue queue) {
  Queue& self = *Queue::from(queue);
  return toResult(self.device().gpu().waitIdle(self.gpuQueue(), UINT64_MAX));
}

}  // namespace pumice::icd
