// VkSemaphore, binary and timeline: both are a timeline behind the door. A binary semaphore's n-th signal is value n of
// it; a wait waits for the last value that a submission before it promised, as the specification demands that the
// signal be submitted first.
#pragma once

#include <atomic>

#include "backend/kmd/door.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

class Semaphore : public Object<Semaphore, VkSemaphore, VK_OBJECT_TYPE_SEMAPHORE> {
 public:
  explicit Semaphore(Device& device) : device_(device) {}
  ~Semaphore();

  VkResult init(const VkSemaphoreCreateInfo& info);

  bool isTimeline() const { return isTimeline_; }
  kmd::Timeline* timeline() { return timeline_; }

  /// The value to wait for or to signal; `timelineValue` counts for timeline semaphores.
  uint64_t waitValue(uint64_t timelineValue) const {
    return isTimeline_ ? timelineValue : binaryValue_.load(std::memory_order_acquire);
  }
  uint64_t signalValue(uint64_t timelineValue) {
    return isTimeline_ ? timelineValue : binaryValue_.fetch_add(1, std::memory_order_acq_rel) + 1;
  }
  /// Takes the last signalValue() back: its submission failed, and leaves the semaphore as it was.
  void signalNotSubmitted() {
    if (!isTimeline_) binaryValue_.fetch_sub(1, std::memory_order_acq_rel);
  }

 private:
  Device& device_;
  kmd::Timeline* timeline_ = nullptr;
  // Atomic, because the queue that signals and the one that waits may be used by two threads.
  std::atomic<uint64_t> binaryValue_{0};
  bool isTimeline_ = false;
};

}  // namespace pumice::icd
