// The threads that compile while pipelines are created: as many as the process has CPUs, started as work comes.
//
// One pool serves the process, so that many application threads and calls with many pipelines share the CPUs alike.
// Its threads have the stack and the floating-point environment that the compiler needs: an application's thread may
// have too little of the one and a strange other.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "backend/sched/thread_annotations.h"

namespace pumice::icd {

/// Work for the pool. The caller of CompilePool's functions owns it.
class CompileJob {
 public:
  virtual ~CompileJob() = default;
  /// On a thread of the pool. Jobs of one call run at the same time.
  virtual void run() noexcept = 0;

 private:
  friend class CompilePool;
  struct Batch {
    std::atomic<uint32_t> left;  // the futex word of the caller
  };
  Batch* batch_ = nullptr;
  CompileJob* next_ = nullptr;
  Batch own_{0};  // of a job that was offered
};

class CompilePool {
 public:
  CompilePool() = default;
  /// Only for a pool that nobody has used.
  ~CompilePool() = default;
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  static CompilePool& instance();

  /// Runs all jobs and returns when they have ended; they start in order. Any thread but the pool's. False, and no job
  /// has run, if the system gives no thread at all.
  [[nodiscard]] bool run(std::span<CompileJob* const> jobs) PUMICE_EXCLUDES(mutex_);

  /// From a job that runs: has a thread that would be idle run this one meanwhile. False, and nothing has happened, if
  /// all of them have enough to do; the caller then does it himself, later. After true, finish() has to be called.
  [[nodiscard]] bool offer(CompileJob& job) PUMICE_EXCLUDES(mutex_);
  /// Waits for the end of a job that was offered, or runs it here if no thread has come to it.
  void finish(CompileJob& job) PUMICE_EXCLUDES(mutex_);

 private:
  static void* threadMain(void* self);
  void work() PUMICE_EXCLUDES(mutex_);
  void growLocked(uint32_t most) PUMICE_REQUIRES(mutex_);
  static void await(CompileJob::Batch& batch);
  bool takeBack(CompileJob& job) PUMICE_EXCLUDES(mutex_);

  std::atomic<uint32_t> putCount_{0};  // the futex word of the threads

  sched::Mutex mutex_;
  CompileJob* first_ PUMICE_GUARDED_BY(mutex_) = nullptr;  // a queue
  CompileJob* last_ PUMICE_GUARDED_BY(mutex_) = nullptr;
  uint32_t queued_ PUMICE_GUARDED_BY(mutex_) = 0;
  uint32_t idle_ PUMICE_GUARDED_BY(mutex_) = 0;
  uint32_t threads_ PUMICE_GUARDED_BY(mutex_) = 0;
};

}  // namespace pumice::icd
