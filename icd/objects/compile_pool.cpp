#include "icd/objects/compile_pool.h"

#include <pthread.h>

#include "backend/sched/futex.h"
#include "backend/sched/processors.h"
#include "icd/objects/compile_thread.h"
#include "icd/objects/process_instance.h"

namespace pumice::icd {

CompilePool& CompilePool::instance() {
  return processInstance<CompilePool>();
}

void CompilePool::growLocked(uint32_t most) {
  while (threads_ < most && idle_ < queued_) {
    pthread_t thread;
    if (!startCompileThread(&thread, threadMain, this)) return;
    pthread_detach(thread);
    ++threads_;
    ++idle_;
  }
}

bool CompilePool::run(std::span<CompileJob* const> jobs) {
  if (jobs.empty()) return true;
  CompileJob::Batch batch{static_cast<uint32_t>(jobs.size())};
  const uint32_t processors = sched::availableProcessors();
  sched::MutexLock lock(mutex_);
  queued_ += static_cast<uint32_t>(jobs.size());
  growLocked(processors);
  if (threads_ == 0) {
    queued_ -= static_cast<uint32_t>(jobs.size());
    return false;
  }
  for (CompileJob* job : jobs) {
    job->batch_ = &batch;
    job->next_ = nullptr;
    (last_ != nullptr ? last_->next_ : first_) = job;
    last_ = job;
  }
  lock.unlock();
  putCount_.fetch_add(1, std::memory_order_release);
  sched::futexWake(putCount_, static_cast<int>(jobs.size() < processors ? jobs.size() : processors));
  for (;;) {
    const uint32_t left = batch.left.load(std::memory_order_acquire);
    if (left == 0) return true;
    sched::futexWait(batch.left, left);
  }
}

void* CompilePool::threadMain(void* self) {
  setCompileThreadFloatState();
  pthread_setname_np(pthread_self(), "pumice-compile");
  static_cast<CompilePool*>(self)->work();
  return nullptr;
}

void CompilePool::work() {
  sched::MutexLock lock(mutex_);  // counted as idle from the start
  for (;;) {
    const uint32_t seen = putCount_.load(std::memory_order_acquire);
    CompileJob* job = first_;
    if (job == nullptr) {
      lock.unlock();
      sched::futexWait(putCount_, seen);
      lock.lock();
      continue;
    }
    first_ = job->next_;
    if (first_ == nullptr) last_ = nullptr;
    --queued_;
    --idle_;
    lock.unlock();
    // The job and its batch are gone as soon as the caller sees the last one end; waking an address is harmless.
    CompileJob::Batch* batch = job->batch_;
    job->run();
    if (batch->left.fetch_sub(1, std::memory_order_acq_rel) == 1) sched::futexWake(batch->left);
    lock.lock();
    ++idle_;
  }
}

}  // namespace pumice::icd
