#include "backend/gpu/machine.h"

#include "backend/gpu/pass_engine.h"
#include "backend/gpu/progress.h"
#include "backend/gpu/queue.h"
#include "backend/gpu/watchdog.h"
#include "backend/sched/futex.h"
#include "backend/trace/log.h"

namespace pumice::gpu {

ShaderContext::ShaderContext() = default;
ShaderContext::~ShaderContext() = default;

Machine::Machine() = default;

Machine::~Machine() {
  // Shaders leave at their next look at the cancel word; then the threads that use the rest go before the rest does.
  lose(nullptr);
  if (pool) pool->stop();
  watchdog.reset();
}

void Machine::lose(const char* reason) noexcept {
  uint64_t notYet = 0;
  lostSince_ns.compare_exchange_strong(notYet, sched::monotonicNow_ns(), std::memory_order_seq_cst);
  if (lost.exchange(true, std::memory_order_seq_cst)) return;
  cancelWord.store(1, std::memory_order_seq_cst);
  if (reason) PUMICE_ERROR("gpu", "device lost: %s", reason);
  queryWaiters.wakeAll();
  timelines.forEach([](kmd::Timeline& timeline) { timeline.wakeAll(); });
  sched::MutexLock lock(queuesMutex);
  for (const auto& queue : queues) queue->retired().wakeAll();
}

void Machine::awaitQuiescence() noexcept {
  constexpr uint64_t kPatience_ns = 2'000'000'000;
  const uint64_t deadline_ns = lostSince_ns.load(std::memory_order_seq_cst) + kPatience_ns;
  for (;;) {
    const uint32_t active = activeThreads.load(std::memory_order_seq_cst);
    if (active == 0 || !sched::futexWait(activeThreads, active, deadline_ns)) return;
  }
}

void Machine::pokeQueuesParkedOnEvents(Progress& progress) {
  sched::MutexLock lock(queuesMutex);
  for (const auto& queue : queues)
    if (queue->parkedOnEvents()) progress.poke(queue.get());
}

}  // namespace pumice::gpu
