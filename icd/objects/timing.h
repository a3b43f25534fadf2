// Time outs: Vulkan's are relative, the door's are points of the monotonic clock.
#pragma once

#include <cstdint>
#include <ctime>

namespace pumice::icd {

inline uint64_t monotonicNow_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

/// 0 stays 0 (poll); what would overflow is "never".
inline uint64_t deadlineAfter(uint64_t timeout_ns) {
  if (timeout_ns == 0) return 0;
  const uint64_t now = monotonicNow_ns();
  return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

}  // namespace pumice::icd
