// Loses the device when one chunk of work runs for longer than the configured time. Chunks are cut to tens of
// microseconds, so only a workgroup (or a run of workgroups) that hangs takes so long; spans that wait for semaphores
// or events do not run and may wait for ever.
//
// Its thread starts with the first work and sleeps without a timeout while no worker is busy.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "backend/sched/pool.h"

namespace pumice::gpu {

struct Machine;

class Watchdog {
 public:
  Watchdog(Machine& machine, uint64_t limit_ns) : machine_(machine), limit_ns_(limit_ns) {}
  ~Watchdog();  // joins the thread

  // By the worker, around each chunk.
  void enter(sched::Worker& worker, const void* queue);
  void leave(sched::Worker& worker);

 private:
  enum State : uint32_t { kNotStarted, kWatching, kAsleep, kStopping };
  static void* threadMain(void* self);
  void wake();
  void watch();

  Machine& machine_;
  const uint64_t limit_ns_;
  pthread_t thread_ = {};
  bool joinable_ = false;                     // written by the thread that left kNotStarted
  std::atomic<uint32_t> state_{kNotStarted};  // futex word of the thread
};

}  // namespace pumice::gpu
