// VkFence: the next point of a timeline of its own. Signalled means that the point is reached; a reset moves it on.
#pragma once

#include "backend/kmd/door.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

class Fence : public Object<Fence, VkFence, VK_OBJECT_TYPE_FENCE> {
 public:
  explicit Fence(Device& device) : device_(device) {}
  ~Fence();

  VkResult init(const VkFenceCreateInfo& info);

  kmd::TimelinePoint point() const { return {timeline_, target_}; }
  bool isSignalled() const;
  void reset() {
    if (isSignalled()) ++target_;
  }

 private:
  Device& device_;
  kmd::Timeline* timeline_ = nullptr;
  uint64_t target_ = 1;
};

}  // namespace pumice::icd
