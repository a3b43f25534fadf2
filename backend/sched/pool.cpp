#include "backend/sched/pool.h"

#include <immintrin.h>

#include <cstdio>
#include <new>

#include "backend/sched/async_signals.h"
#include "backend/sched/futex.h"

namespace pumice::sched {
namespace {

// Round to nearest, all exceptions masked, denormals kept. A thread inherits MXCSR from its creator, and applications
// that set flush-to-zero must not change what shaders compute.
constexpr unsigned kDriverMxcsr = 0x1f80;

// Wakes a worker that was unlinked from the idle list.
void wake(std::atomic<uint32_t>& asleep) {
  asleep.store(0, std::memory_order_release);
  futexWake(asleep, 1);
}

}  // namespace

std::unique_ptr<Pool> Pool::start(uint32_t workerCount, Around around) noexcept {
  std::unique_ptr<Pool> pool(new (std::nothrow) Pool);
  if (!pool) return nullptr;
  pool->workers_.reset(new (std::nothrow) Worker[workerCount]);
  if (!pool->workers_) return nullptr;
  pool->workerCount_ = workerCount;
  pool->around_ = around;

  const AsyncSignalsBlocked blocked;
  for (uint32_t i = 0; i < workerCount; ++i) {
    Worker& worker = pool->workers_[i];
    worker.pool_ = pool.get();
    worker.index_ = i;
    if (!worker.arena_.reserve(0, 0)) break;
    if (pthread_create(&worker.thread_, nullptr, &Worker::threadMain, &worker) != 0) break;
    ++pool->started_;
  }
  if (pool->started_ != workerCount) return nullptr;  // ~Pool joins those that run
  return pool;
}

Pool::~Pool() {
  stop();
}

void Pool::stop() {
  Worker* idle;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    idle = idle_;
    idle_ = nullptr;
  }
  while (idle) {
    Worker* next = idle->nextIdle_;  // read before the wake: the worker may end at once
    wake(idle->asleep_);
    idle = next;
  }
  for (; started_ > 0; --started_) pthread_join(workers_[started_ - 1].thread_, nullptr);
}

void* Worker::threadMain(void* self) {
  Worker& worker = *static_cast<Worker*>(self);
  char name[16];
  std::snprintf(name, sizeof(name), "pumice-gpu-%u", worker.index_);
  pthread_setname_np(pthread_self(), name);
  _mm_setcsr(kDriverMxcsr);
  if (worker.pool_->around_)
    worker.pool_->around_(&Pool::work, &worker);
  else
    Pool::work(&worker);
  return nullptr;
}

void Pool::work(void* context) {
  Worker& worker = *static_cast<Worker*>(context);
  while (Task* task = worker.pool_->take(worker)) task->run(task, worker);
}

Task* Pool::take(Worker& worker) {
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (stopping_) return nullptr;
      for (uint32_t priority = kPriorities; priority-- > 0;) {
        Task* task = queue_[priority].first;
        if (!task) continue;
        if (--task->slots == 0) unlinkLocked(task);
        return task;
      }
      worker.asleep_.store(1, std::memory_order_relaxed);
      worker.nextIdle_ = idle_;
      idle_ = &worker;
      idleWorkers_.fetch_add(1, std::memory_order_relaxed);
    }
    while (worker.asleep_.load(std::memory_order_acquire) == 1) futexWait(worker.asleep_, 1);
  }
}

void Pool::push(Task* task, uint32_t slots) {
  Worker* woken = nullptr;
  {
    MutexLock lock(mutex_);
    if (stopping_ || slots == 0) return;
    if (task->slots == 0) {
      List& list = queue_[task->priority];
      task->previous = list.last;
      task->next = nullptr;
      (list.last ? list.last->next : list.first) = task;
      list.last = task;
      waitingTasks_.fetch_add(1, std::memory_order_relaxed);
    }
    task->slots += slots;
    while (slots-- > 0 && idle_) {
      Worker* worker = idle_;
      idle_ = worker->nextIdle_;
      idleWorkers_.fetch_sub(1, std::memory_order_relaxed);
      worker->nextIdle_ = woken;
      woken = worker;
    }
  }
  while (woken) {
    Worker* next = woken->nextIdle_;
    wake(woken->asleep_);
    woken = next;
  }
}

uint32_t Pool::retract(Task* task) {
  MutexLock lock(mutex_);
  const uint32_t slots = task->slots;
  if (slots > 0) {
    task->slots = 0;
    unlinkLocked(task);
  }
  return slots;
}

void Pool::unlinkLocked(Task* task) {
  List& list = queue_[task->priority];
  (task->previous ? task->previous->next : list.first) = task->next;
  (task->next ? task->next->previous : list.last) = task->previous;
  waitingTasks_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace pumice::sched
