// Sleep and wake on a 32-bit word, private to the process. The word is the caller's and carries the condition; the
// kernel only keeps the sleepers. Any thread; no lock, no allocation.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>

namespace pumice::sched {

inline constexpr uint64_t kNoDeadline = UINT64_MAX;

inline uint64_t monotonicNow_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// Sleeps while `word` holds `expected`, until woken or until the deadline (CLOCK_MONOTONIC ns, kNoDeadline = never).
// May return early for no reason. False only when the deadline has passed.
inline bool futexWait(std::atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns = kNoDeadline) noexcept {
  // FUTEX_WAIT_BITSET takes an absolute time, so that a signal handler in between does not lengthen the wait.
  timespec deadline;
  timespec* timeout = nullptr;
  // Past year 2500 is never: keeps tv_sec far from overflow in the kernel's own arithmetic.
  if (deadline_ns < (1ull << 63)) {
    deadline.tv_sec = static_cast<time_t>(deadline_ns / 1'000'000'000u);
    deadline.tv_nsec = static_cast<long>(deadline_ns % 1'000'000'000u);
    timeout = &deadline;
  }
  const long result =
      syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, timeout, nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 || errno != ETIMEDOUT;
}

inline void futexWake(std::atomic<uint32_t>& word, int count = INT_MAX) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace pumice::sched
