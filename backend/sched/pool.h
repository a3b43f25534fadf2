// The pool of GPU workers ("compute units") and their task queue.
//
// A task is an intrusive object of the caller. Pushed with n slots it is run at most n times, by up to n workers at
// once: the workers that take slots of one span share its counter of workgroups. Tasks start in order of priority, then
// age; a worker that has started one never waits inside the pool, and blocks on nothing but an empty queue (it may hold
// the short lock of the queue). A sleeping worker is woken only when there is a slot for it to take.
//
// Threads: push, retract and the queries may be called from any thread, workers included; start and stop from one.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "backend/sched/arena.h"
#include "backend/sched/thread_annotations.h"

namespace pumice::sched {

class Pool;
class Worker;

// Lives until its last slot has been run or retracted.
struct Task {
  using Run = void (*)(Task* task, Worker& worker);

  Run run = nullptr;
  uint8_t priority = 0;  // below Pool::kPriorities; higher runs first

  // The pool's own, under its lock.
  uint32_t slots = 0;
  Task* previous = nullptr;
  Task* next = nullptr;
};

// What a worker is doing, for the watchdog: written by the worker, read by anyone.
struct WorkerActivity {
  std::atomic<uint64_t> since_ns{0};  // start of the running chunk (CLOCK_MONOTONIC); 0 = none
  std::atomic<const void*> subject{nullptr};
};

class alignas(64) Worker {
 public:
  uint32_t index() const { return index_; }
  WorkerArena& arena() { return arena_; }
  WorkerActivity& activity() { return activity_; }

 private:
  friend class Pool;
  static void* threadMain(void* self);

  Pool* pool_ = nullptr;
  uint32_t index_ = 0;
  pthread_t thread_ = {};
  std::atomic<uint32_t> asleep_{0};  // futex word: 1 while in the pool's list of idle workers
  Worker* nextIdle_ = nullptr;       // under the pool's lock
  WorkerArena arena_;
  WorkerActivity activity_;
};

class Pool {
 public:
  static constexpr uint32_t kPriorities = 4;

  // Called on each worker's thread with the worker's whole life as `work(context)`: room for set-up and tear-down that
  // the pool knows nothing of.
  using Around = void (*)(void (*work)(void*), void* context);

  // Starts the workers with all asynchronous signals blocked and the driver's MXCSR; `around` may be nullptr. nullptr
  // when threads or memory cannot be had.
  static std::unique_ptr<Pool> start(uint32_t workerCount, Around around) noexcept;
  ~Pool();  // stop()
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Adds slots to the task, which may be queued already, and wakes as many sleeping workers as there are new slots.
  void push(Task* task, uint32_t slots) PUMICE_EXCLUDES(mutex_);
  // Takes back the slots that no worker has taken yet; returns how many.
  uint32_t retract(Task* task) PUMICE_EXCLUDES(mutex_);

  // Tasks in the queue with slots left. A hint: may be old when it arrives.
  uint32_t waitingTasks() const { return waitingTasks_.load(std::memory_order_relaxed); }
  uint32_t idleWorkers() const { return idleWorkers_.load(std::memory_order_relaxed); }
  uint32_t workerCount() const { return workerCount_; }
  Worker& worker(uint32_t index) { return workers_[index]; }

  // Lets running tasks end, drops the queued ones without running them and joins the workers. Not from a worker.
  void stop() PUMICE_EXCLUDES(mutex_);

 private:
  friend class Worker;
  Pool() = default;
  static void work(void* worker);
  // The next task with one slot taken, or nullptr when the pool stops. Sleeps while there is none.
  Task* take(Worker& worker) PUMICE_EXCLUDES(mutex_);
  void unlinkLocked(Task* task) PUMICE_REQUIRES(mutex_);

  struct List {
    Task* first = nullptr;
    Task* last = nullptr;
  };

  Mutex mutex_;
  List queue_[kPriorities] PUMICE_GUARDED_BY(mutex_);
  Worker* idle_ PUMICE_GUARDED_BY(mutex_) = nullptr;  // last in, first out: its caches are warm
  bool stopping_ PUMICE_GUARDED_BY(mutex_) = false;
  std::atomic<uint32_t> waitingTasks_{0};
  std::atomic<uint32_t> idleWorkers_{0};

  std::unique_ptr<Worker[]> workers_;
  uint32_t workerCount_ = 0;
  uint32_t started_ = 0;
  Around around_ = nullptr;
};

}  // namespace pumice::sched
