// What all queues and workers of one device share. Owned by the device; lives longer than its workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/abi/shader_abi.h"
#include "backend/gpu/queries.h"
#include "backend/kmd/door.h"
#include "backend/kmd/event.h"
#include "backend/kmd/stable_pool.h"
#include "backend/kmd/timeline.h"
#include "backend/sched/pool.h"
#include "backend/sched/thread_annotations.h"

namespace pumice::gpu {

struct DrawContext;
class Progress;
class Queue;
class Watchdog;

// What a worker needs to call shaders.
struct alignas(64) ShaderContext {
  abi::ComputeEnv env = {};
  uint32_t untimedRuns = 0;  // of inline spans, since one was measured
  std::unique_ptr<DrawContext> draw;

  ShaderContext();
  ~ShaderContext();
};

struct Machine {
  Machine();
  ~Machine();

  // Sets the flag and the cancel word, wakes every sleeping waiter. The first reason is logged, if there is one.
  void lose(const char* reason) noexcept;
  bool isLost() const { return lost.load(std::memory_order_seq_cst); }
  // After the loss: waits until no thread is inside a Progress, so that the application may free what the streams
  // and shaders refer to. Bounded (two seconds from the loss on, whoever waits), for shaders that never look at the
  // cancel word.
  void awaitQuiescence() noexcept;

  void pokeQueuesParkedOnEvents(Progress& progress) PUMICE_EXCLUDES(queuesMutex);

  kmd::DeviceConfig config;
  std::unique_ptr<sched::Pool> pool;
  std::unique_ptr<ShaderContext[]> contexts;  // by worker
  std::unique_ptr<Watchdog> watchdog;         // nullptr when not configured

  alignas(64) std::atomic<uint32_t> cancelWord{0};
  std::atomic<bool> lost{false};
  std::atomic<uint64_t> lostSince_ns{0};    // 0 = not lost
  std::atomic<uint64_t> nextBatch{0};       // numbers of batches of passes
  std::atomic<uint32_t> waitingDecodes{0};  // urgent decode tasks in the pool
  // Threads inside a Progress. Sequentially consistent with `lost`: who enters counts itself, then reads `lost`.
  alignas(64) std::atomic<uint32_t> activeThreads{0};

  QueryWaiters queryWaiters;
  kmd::StablePool<kmd::Timeline> timelines;
  kmd::StablePool<kmd::Event> events;

  sched::Mutex queuesMutex;
  // Destroyed queues stay until the device goes: a worker that retires their last submission may still be on its way
  // out. Devices create their queues once, so the list is short.
  std::vector<std::unique_ptr<Queue>> queues PUMICE_GUARDED_BY(queuesMutex);
};

// The table that compiled code sees.
extern const abi::RuntimeTable kRuntimeTable;

}  // namespace pumice::gpu
