#include "icd/objects/compile_pool.h"

#include <pthread.h>

#include <utility>

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
  await(batch);
  return true;
}

void CompilePool::await(CompileJob::Batch& batch) {
  for (;;) {
    const uint32_t left = batch.left.load(std::memory_order_acquire);
    if (left == 0) return;
    sched::futexWait(batch.left, left);
  }
}

bool CompilePool::offer(CompileJob& job) {
  const uint32_t processors = sched::availableProcessors();
  {
    sched::MutexLock lock(mutex_);
    ++queued_;
    growLocked(processors);
    if (idle_ < queued_) {  // who waits in the queue has been here for longer
      --queued_;
      return false;
    }
    job.own_.left.store(1, std::memory_order_relaxed);
    job.batch_ = &job.own_;
    job.next_ = std::exchange(first_, &job);
    if (last_ == nullptr) last_ = &job;
  }
  putCount_.fetch_add(1, std::memory_order_release);
  sched::futexWake(putCount_, 1);
  return true;
}

void CompilePool::finish(CompileJob& job) {
  if (takeBack(job)) {
    job.run();
  } else {
    await(job.own_);
  }
}

bool CompilePool::takeBack(CompileJob& job) {
  sched::MutexLock lock(mutex_);
  CompileJob* before = nullptr;
  for (CompileJob* at = first_; at != nullptr; before = at, at = at->next_) {
    if (at != &job) continue;
    (before != nullptr ? before->next_ : first_) = job.next_;
    if (last_ == &job) last_ = before;
    --queued_;
    return true;
  }
  return false;
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
