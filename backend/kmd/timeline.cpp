#include "backend/kmd/timeline.h"

#include <array>
#include <memory>
#include <new>

#include "backend/sched/futex.h"

namespace pumice::kmd {
namespace {

// One less to wait for; at zero the sleeper goes. Once `linked` is false it may have gone, and its word with it: the
// kernel only uses the address as a key, so that a late wake is harmless.
void arrive(TimelineWaiter* waiter) {
  std::atomic<uint32_t>* word = waiter->word;
  const bool last = word->fetch_sub(1, std::memory_order_acq_rel) == 1;
  waiter->linked.store(false, std::memory_order_release);
  if (last) sched::futexWake(*word, 1);
}

bool reached(std::span<const TimelinePoint> points, bool any) {
  for (const TimelinePoint& point : points)
    if ((point.timeline->value() >= point.value) == any) return any;
  return !any || points.empty();
}

}  // namespace

void Timeline::reset(uint64_t initial) {
  payload_.value.store(initial, std::memory_order_release);
}

// The lock-free look at waiterCount_ is one half of a store/load pair with addWaiter (which counts, then reads the
// value): sequentially consistent, so that at least one side sees the other.
TimelineWaiter* Timeline::signal(uint64_t value) {
  uint64_t old = payload_.value.load(std::memory_order_relaxed);
  do {
    if (old >= value) return nullptr;
  } while (!payload_.value.compare_exchange_weak(old, value, std::memory_order_seq_cst));
  payload_.sequence.fetch_add(1, std::memory_order_release);
  if (waiterCount_.load(std::memory_order_seq_cst) == 0) return nullptr;

  TimelineWaiter* chain = nullptr;
  TimelineWaiter** end = &chain;
  sched::MutexLock lock(mutex_);
  // Not `value`: if whoever saw it has destroyed this timeline since, the slot may have begun a new life at a lower
  // one.
  const uint64_t now = payload_.value.load(std::memory_order_seq_cst);
  while (first_ && first_->value <= now) {
    TimelineWaiter* waiter = first_;
    unlinkLocked(waiter);
    if (waiter->word) {
      arrive(waiter);
    } else {
      waiter->linked.store(false, std::memory_order_relaxed);
      waiter->next = nullptr;
      *end = waiter;
      end = &waiter->next;
    }
  }
  return chain;
}

bool Timeline::addWaiter(TimelineWaiter* waiter) {
  sched::MutexLock lock(mutex_);
  waiterCount_.fetch_add(1, std::memory_order_seq_cst);
  if (payload_.value.load(std::memory_order_seq_cst) >= waiter->value) {
    waiterCount_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  TimelineWaiter* before = last_;  // usually the newest point is the largest
  while (before && before->value > waiter->value) before = before->previous;
  waiter->previous = before;
  waiter->next = before ? before->next : first_;
  (before ? before->next : first_) = waiter;
  (waiter->next ? waiter->next->previous : last_) = waiter;
  waiter->linked.store(true, std::memory_order_relaxed);
  return true;
}

void Timeline::removeWaiter(TimelineWaiter* waiter) {
  // Unlinked by arrive(), which releases: then nobody has the waiter any more.
  if (!waiter->linked.load(std::memory_order_acquire)) return;
  sched::MutexLock lock(mutex_);
  if (!waiter->linked.load(std::memory_order_relaxed)) return;
  unlinkLocked(waiter);
  waiter->linked.store(false, std::memory_order_relaxed);
}

void Timeline::wakeAll() {
  sched::MutexLock lock(mutex_);
  for (TimelineWaiter* waiter = first_; waiter;) {
    TimelineWaiter* next = waiter->next;
    if (waiter->word) {
      unlinkLocked(waiter);
      std::atomic<uint32_t>* word = waiter->word;
      word->store(0, std::memory_order_release);
      waiter->linked.store(false, std::memory_order_release);
      sched::futexWake(*word, 1);
    }
    waiter = next;
  }
}

void Timeline::dropWaiters() {
  sched::MutexLock lock(mutex_);
  while (first_) {
    first_->linked.store(false, std::memory_order_relaxed);
    unlinkLocked(first_);
  }
}

void Timeline::unlinkLocked(TimelineWaiter* waiter) {
  (waiter->previous ? waiter->previous->next : first_) = waiter->next;
  (waiter->next ? waiter->next->previous : last_) = waiter->previous;
  waiterCount_.fetch_sub(1, std::memory_order_relaxed);
}

Status waitForPoints(std::span<const TimelinePoint> points, bool any, uint64_t deadline_ns,
                     const std::atomic<bool>& lost) {
  if (reached(points, any)) return Status::kOk;
  if (lost.load(std::memory_order_seq_cst)) return Status::kDeviceLost;
  if (deadline_ns == 0) return Status::kTimeout;

  constexpr size_t kInline = 16;
  std::array<TimelineWaiter, kInline> few;
  std::unique_ptr<TimelineWaiter[]> many;
  TimelineWaiter* waiters = few.data();
  if (points.size() > kInline) {
    many.reset(new (std::nothrow) TimelineWaiter[points.size()]);
    if (!many) return Status::kOutOfHostMemory;
    waiters = many.get();
  }

  // All points count from the start, so that an early arrival never sees zero too soon; those that were reached when
  // they were to be linked are taken off at the end. Wait-any starts at one: the first arrival ends it (later ones wrap
  // below zero, which no one reads).
  std::atomic<uint32_t> word{any ? 1u : static_cast<uint32_t>(points.size())};
  uint32_t already = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    waiters[i].value = points[i].value;
    waiters[i].word = &word;
    if (!points[i].timeline->addWaiter(&waiters[i])) ++already;
    if (any && already) break;
  }
  if (!any && already > 0) word.fetch_sub(already, std::memory_order_acq_rel);

  // `lost` is read after linking: who loses the device sets it first and then wakes what is linked.
  bool timely = true;
  if (!(any && already) && !lost.load(std::memory_order_seq_cst))
    while (timely) {
      const uint32_t now = word.load(std::memory_order_acquire);
      // Above INT_MAX: wait-any, several points reached.
      if (now == 0 || now > INT32_MAX || lost.load(std::memory_order_seq_cst)) break;
      timely = sched::futexWait(word, now, deadline_ns);
    }
  for (size_t i = 0; i < points.size(); ++i) points[i].timeline->removeWaiter(&waiters[i]);

  if (reached(points, any)) return Status::kOk;
  return lost.load(std::memory_order_seq_cst) ? Status::kDeviceLost : Status::kTimeout;
}

}  // namespace pumice::kmd
