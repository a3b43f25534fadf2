#include "backend/gpu/watchdog.h"

#include <algorithm>

#include "backend/gpu/machine.h"
#include "backend/gpu/queue.h"
#include "backend/sched/futex.h"
#include "backend/trace/log.h"

namespace pumice::gpu {

void Watchdog::enter(sched::Worker& worker, const void* queue) {
  worker.activity().subject.store(queue, std::memory_order_relaxed);
  // Paired with the thread, which says that it sleeps and then looks at the activities once more.
  worker.activity().since_ns.store(sched::monotonicNow_ns(), std::memory_order_seq_cst);
  if (state_.load(std::memory_order_seq_cst) != kWatching) wake();
}

void Watchdog::leave(sched::Worker& worker) {
  worker.activity().since_ns.store(0, std::memory_order_relaxed);
}

void Watchdog::wake() {
  uint32_t state = kNotStarted;
  if (state_.compare_exchange_strong(state, kWatching, std::memory_order_seq_cst)) {
    // Without the thread there is no watch: no reason to fail.
    joinable_ = pthread_create(&thread_, nullptr, &Watchdog::threadMain, this) == 0;
  } else if (state == kAsleep && state_.compare_exchange_strong(state, kWatching, std::memory_order_seq_cst)) {
    sched::futexWake(state_);
  }
}

Watchdog::~Watchdog() {
  // The workers are joined: nobody starts the thread any more.
  state_.store(kStopping, std::memory_order_seq_cst);
  sched::futexWake(state_);
  if (joinable_) pthread_join(thread_, nullptr);
}

void* Watchdog::threadMain(void* self) {
  pthread_setname_np(pthread_self(), "pumice-watchdog");
  static_cast<Watchdog*>(self)->watch();
  return nullptr;
}

void Watchdog::watch() {
  const uint64_t period_ns = std::clamp<uint64_t>(limit_ns_ / 8, 1'000'000, 250'000'000);
  for (;;) {
    bool busy = false;
    const uint64_t now_ns = sched::monotonicNow_ns();
    for (uint32_t i = 0; i < machine_.pool->workerCount(); ++i) {
      sched::WorkerActivity& activity = machine_.pool->worker(i).activity();
      const uint64_t since_ns = activity.since_ns.load(std::memory_order_seq_cst);
      if (since_ns == 0) continue;
      busy = true;
      if (now_ns < since_ns + limit_ns_ || machine_.isLost()) continue;
      const auto* queue = static_cast<const Queue*>(activity.subject.load(std::memory_order_relaxed));
      PUMICE_ERROR("gpu", "device lost: queue %u has made no progress for %lu ms", queue->number(),
                   (now_ns - since_ns) / 1'000'000);
      machine_.lose(nullptr);
    }
    uint32_t state = kWatching;
    if (busy) {
      sched::futexWait(state_, kWatching, now_ns + period_ns);
    } else if (state_.compare_exchange_strong(state, kAsleep, std::memory_order_seq_cst)) {
      // A worker that became busy before it could see kAsleep is seen here.
      bool idle = true;
      for (uint32_t i = 0; i < machine_.pool->workerCount(); ++i)
        idle &= machine_.pool->worker(i).activity().since_ns.load(std::memory_order_seq_cst) == 0;
      if (!idle) {
        state = kAsleep;
        state_.compare_exchange_strong(state, kWatching, std::memory_order_seq_cst);
      }
      while (state_.load(std::memory_order_acquire) == kAsleep) sched::futexWait(state_, kAsleep);
    }
    if (state_.load(std::memory_order_acquire) == kStopping) return;
  }
}

}  // namespace pumice::gpu
