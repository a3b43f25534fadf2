// VkQueue: a queue of the machine and the family that it was asked for from. Owned by its device.
#pragma once

#include <vector>

#include "backend/kmd/door.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class Device;
class Semaphore;

/// Arrays that a submission needs; kept by the queue, so that submitting allocates nothing once they have grown.
struct SubmitScratch {
  std::vector<kmd::SubmitWait> waits;
  std::vector<const std::byte*> streams;
  std::vector<kmd::SubmitSignal> signals;
  std::vector<kmd::Submission> batches;
  std::vector<Semaphore*> signalled;  // by the order of `signals`, without the fence
};

class Queue : public Object<Queue, VkQueue, VK_OBJECT_TYPE_QUEUE> {
 public:
  explicit Queue(Device& device) : device_(device) {}
  ~Queue();

  VkResult init(uint32_t family, uint32_t index, float priority);

  Device& device() { return device_; }
  kmd::Queue* gpuQueue() { return queue_; }
  uint32_t family() const { return family_; }
  uint32_t index() const { return index_; }
  SubmitScratch& scratch() { return scratch_; }

 private:
  Device& device_;
  kmd::Queue* queue_ = nullptr;
  uint32_t family_ = 0;
  uint32_t index_ = 0;
  SubmitScratch scratch_;
};

}  // namespace pumice::icd
