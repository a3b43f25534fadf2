// The pace of a swapchain: turns of a display, by our own clock. Times are CLOCK_MONOTONIC nanoseconds. No thread, no
// system call: the present thread asks, then sleeps.
#pragma once

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <cstdint>

namespace pumice::icd {

class FrameClock {
 public:
  /// Turns are at start + k * period; period 0: always.
  FrameClock(VkPresentModeKHR mode, uint64_t period_ns, uint64_t start_ns)
      : mode_(mode), period_ns_(period_ns), start_ns_(start_ns) {}

  /// When a frame that is ready now may be shown. Two frames never have the same turn; one that comes late has the next
  /// turn, or with FIFO_RELAXED none to wait for (VkPresentModeKHR).
  uint64_t turn(uint64_t now_ns) const {
    if (mode_ == VK_PRESENT_MODE_IMMEDIATE_KHR || period_ns_ == 0) return now_ns;
    const uint64_t next = (now_ns - start_ns_ + period_ns_ - 1) / period_ns_;
    // Nothing was shown in the last turn, although there was room: late.
    if (mode_ == VK_PRESENT_MODE_FIFO_RELAXED_KHR && shown_ != 0 && next > shown_ + 1) return now_ns;
    return start_ns_ + std::max(next, shown_ + 1) * period_ns_;
  }

  /// A frame was shown at `now_ns`, at its turn or later.
  void shown(uint64_t now_ns) {
    if (period_ns_ != 0) shown_ = std::max((now_ns - start_ns_) / period_ns_, shown_);
  }

 private:
  VkPresentModeKHR mode_;
  uint64_t period_ns_, start_ns_;
  uint64_t shown_ = 0;  // the turn of the last frame
};

}  // namespace pumice::icd
