// Timelines: what fences and semaphores of the driver above are points on. The payload, a 64-bit value that only grows
// and a 32-bit sequence, is apart from the rest so that it can lie in memory shared between processes (a futex is 32
// bits wide: a foreign process sleeps on the sequence and compares the value). Inside the process each waiter has a
// futex word of its own, so that wait-any needs no polling and a signal wakes only those whose points are reached.
//
// Owned by the device (StablePool). Any thread; signal and the waits hold a short lock only when someone waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "backend/kmd/door.h"
#include "backend/sched/thread_annotations.h"

namespace pumice::kmd {

struct TimelinePayload {
  std::atomic<uint64_t> value{0};
  std::atomic<uint32_t> sequence{0};  // one more after each change of value
  uint32_t reserved = 0;
};
static_assert(sizeof(TimelinePayload) == 16);
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

// Someone who waits for one point. Linked into one timeline at most.
struct TimelineWaiter {
  uint64_t value = 0;
  // A thread asleep in waitTimelines: this word is decremented, and woken at zero. nullptr: the command processor; the
  // waiter is then handed to whoever signals (Timeline::signal) and must stay valid until that has been dealt with.
  std::atomic<uint32_t>* word = nullptr;
  std::atomic<bool> linked{false};
  TimelineWaiter* previous = nullptr;
  TimelineWaiter* next = nullptr;  // of the list; after unlinking, of the chain that signal() returns
};

class Timeline {
 public:
  // A new life for a recycled slot. Not while anyone waits.
  void reset(uint64_t initial);

  uint64_t value() const { return payload_.value.load(std::memory_order_acquire); }

  // Raises the value (a smaller one changes nothing: signals of partial scopes may arrive out of order), wakes sleeping
  // threads and returns the chain of the processor's waiters that were reached, oldest point first. Nothing of the
  // timeline is touched after a waiter could have seen the value, but what StablePool keeps valid.
  TimelineWaiter* signal(uint64_t value) PUMICE_EXCLUDES(mutex_);

  // False, linking nothing, when the point is already reached.
  bool addWaiter(TimelineWaiter* waiter) PUMICE_EXCLUDES(mutex_);
  // Unlinks if still linked. After it returns nobody touches the waiter (if a thread's).
  void removeWaiter(TimelineWaiter* waiter) PUMICE_EXCLUDES(mutex_);
  // Device loss: wakes all sleeping threads, whatever their points. Processor waiters stay.
  void wakeAll() PUMICE_EXCLUDES(mutex_);
  // Destruction: forgets all waiters.
  void dropWaiters() PUMICE_EXCLUDES(mutex_);

  Timeline* nextFree = nullptr;  // StablePool

 private:
  void unlinkLocked(TimelineWaiter* waiter) PUMICE_REQUIRES(mutex_);

  TimelinePayload payload_;
  std::atomic<uint32_t> waiterCount_{0};  // linked ones; read without the lock by signal
  sched::Mutex mutex_;
  TimelineWaiter* first_ PUMICE_GUARDED_BY(mutex_) = nullptr;  // ascending values
  TimelineWaiter* last_ PUMICE_GUARDED_BY(mutex_) = nullptr;
};

// Blocks the calling thread as Device::waitTimelines says. `lost` is the device's flag; who sets it calls wakeAll on
// every timeline afterwards.
Status waitForPoints(std::span<const TimelinePoint> points, bool any, uint64_t deadline_ns,
                     const std::atomic<bool>& lost);

}  // namespace pumice::kmd
