#include "icd/objects/hot_tier.h"

#include <new>
#include <utility>

#include "backend/sched/futex.h"
#include "backend/trace/log.h"
#include "icd/objects/compile_thread.h"
#include "icd/objects/process_instance.h"

namespace pumice::icd {

HotProgram::HotProgram(HotTier& tier, const Target& target, uint64_t limit, Compile compile)
    : tier_(tier), target_(target), compile_(std::make_shared<const Compile>(std::move(compile))) {
  limit_ns = limit;
  onHot = tell;
  started_ = tier_.start();
}

HotProgram::~HotProgram() {
  tier_.forget(this);
  if (better_) shader::cache::CodeArena::instance().free(better_);
}

void HotProgram::tell(abi::Heat& heat) {
  auto& program = static_cast<HotProgram&>(heat);
  program.tier_.report(&program);
}

HotTier& HotTier::instance() {
  return processInstance<HotTier>();
}

HotTier::~HotTier() {
  stopping_.store(true, std::memory_order_relaxed);
  reportCount_.fetch_add(1, std::memory_order_release);
  sched::futexWake(reportCount_);
  sched::MutexLock lock(mutex_);
  const bool started = started_;
  lock.unlock();
  if (started) pthread_join(thread_, nullptr);
}

bool HotTier::start() {
  sched::MutexLock lock(mutex_);
  if (started_) return true;
  started_ = startCompileThread(&thread_, threadMain, this);
  if (!started_) PUMICE_WARNING("tier", "no thread for better code: programs stay as they were created");
  return started_;
}

void HotTier::report(HotProgram* program) {
  program->next_ = reports_.load(std::memory_order_relaxed);
  while (
      !reports_.compare_exchange_weak(program->next_, program, std::memory_order_release, std::memory_order_relaxed)) {
  }
  reportCount_.fetch_add(1, std::memory_order_release);
  sched::futexWake(reportCount_);
}

void HotTier::forget(HotProgram* program) {
  sched::MutexLock lock(mutex_);
  collectLocked();
  unlinkLocked(program);
  if (current_ == program) current_ = nullptr;
}

void HotTier::collectLocked() {
  HotProgram* report = reports_.exchange(nullptr, std::memory_order_acquire);
  while (report) {
    HotProgram* next = std::exchange(report->next_, waiting_);
    waiting_ = report;
    report = next;
  }
}

void HotTier::unlinkLocked(HotProgram* program) {
  for (HotProgram** at = &waiting_; *at; at = &(*at)->next_) {
    if (*at != program) continue;
    *at = program->next_;
    return;
  }
}

HotProgram* HotTier::takeHottestLocked() {
  collectLocked();
  HotProgram* hottest = waiting_;
  for (HotProgram* p = waiting_; p; p = p->next_) {
    if (p->ran_ns.load(std::memory_order_relaxed) > hottest->ran_ns.load(std::memory_order_relaxed)) hottest = p;
  }
  unlinkLocked(hottest);
  return hottest;
}

void* HotTier::threadMain(void* self) {
  setCompileThreadFloatState();
  pthread_setname_np(pthread_self(), "pumice-hot");
  static_cast<HotTier*>(self)->run();
  return nullptr;
}

void HotTier::run() {
  sched::MutexLock lock(mutex_);
  for (;;) {
    const uint32_t seen = reportCount_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_relaxed)) return;
    HotProgram* program = takeHottestLocked();
    current_ = program;
    if (program == nullptr) {
      lock.unlock();
      sched::futexWait(reportCount_, seen);
      lock.lock();
      continue;
    }
    // From here on the program is touched under the lock only, and only while it is the current one.
    const std::shared_ptr<const HotProgram::Compile> compile = program->compile_;
    lock.unlock();
    const uint64_t start_ns = sched::monotonicNow_ns();
    BetterCode better;
    try {
      better = (*compile)();
    } catch (const std::bad_alloc&) {
      better = {};
    }
    const uint64_t compile_ns = sched::monotonicNow_ns() - start_ns;
    lock.lock();
    if (better.entry != nullptr && current_ == program) {
      publish(*program, better, compile_ns);
    } else if (better.block) {
      shader::cache::CodeArena::instance().free(better.block);
    }
  }
}

void HotTier::publish(HotProgram& program, const BetterCode& better, uint64_t compile_ns) {
  program.better_ = better.block;
  program.compile_.reset();  // what it keeps is not needed again
  program.target_.publish(program.target_.program, better);
  PUMICE_DEBUG("tier", "program %016lx: better code after %.1f ms of running, made in %.1f ms",
               program.target_.codeHash, static_cast<double>(program.ran_ns.load(std::memory_order_relaxed)) * 1e-6,
               static_cast<double>(compile_ns) * 1e-6);
}

}  // namespace pumice::icd
