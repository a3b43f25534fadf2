// Better code for programs that run hot, made in the background while they run the quick code that their pipelines were
// created with.
//
// One tier serves the process: one thread, started with the first program that may become hot. GPU workers tell it that
// a program is hot (abi::Heat) without a lock; it compiles the hottest first, one at a time, and publishes the new code
// in the program's block. A pipeline may be destroyed at any time: what is being compiled for it is dropped when it is
// done. Nothing waits for a compile, neither that nor the end of a device.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "backend/abi/heat.h"
#include "backend/sched/thread_annotations.h"
#include "shaders/cache/code_arena.h"

namespace pumice::icd {

class HotTier;

struct BetterCode {
  shader::cache::CodeBlock block;    // the receiver's to free
  const std::byte* entry = nullptr;  // nullptr: there is none, the quick code stays
  uint32_t frameBytes = 0;
};

/// What a program of any stage gets with better code, in the order that abi::ComputeProgram asks for. `Program` is one
/// of the program blocks of backend/abi.
template <typename Program>
void publishCode(void* program, const BetterCode& better) {
  auto& target = *static_cast<Program*>(program);
  const uint32_t frame_B = better.frameBytes > target.frameBytes ? better.frameBytes : target.frameBytes;
  __atomic_store_n(&target.frameBytes, frame_B, __ATOMIC_RELAXED);
  const auto entry = reinterpret_cast<decltype(target.entry)>(reinterpret_cast<uintptr_t>(better.entry));
  __atomic_store_n(&target.entry, entry, __ATOMIC_RELEASE);
}

/// A program with quick code. Belongs to the pipeline, beside the program's block. Owns the better code once it is
/// there.
class HotProgram : private abi::Heat {
 public:
  /// Runs on the tier's thread, possibly after the pipeline is gone: it owns all that it needs. May throw
  /// std::bad_alloc; then the quick code stays.
  using Compile = std::function<BetterCode()>;

  /// Hot when workers have spent `limit` nanoseconds on it. `program` outlives this and gets its `heat` from it, so no
  /// worker may know it yet. Starts the tier's thread if need be; without a thread the quick code stays.
  template <typename Program>
  HotProgram(HotTier& tier, Program& program, uint64_t limit, Compile compile)
      : HotProgram(tier, {&program, publishCode<Program>, program.codeHash}, limit, std::move(compile)) {
    if (started_) program.heat = this;
  }
  /// Nothing that runs the program is running or will run.
  ~HotProgram();
  HotProgram(const HotProgram&) = delete;
  HotProgram& operator=(const HotProgram&) = delete;

 private:
  friend class HotTier;
  struct Target {
    void* program;
    void (*publish)(void* program, const BetterCode& better);
    uint64_t codeHash;
  };
  HotProgram(HotTier& tier, const Target& target, uint64_t limit, Compile compile);
  static void tell(abi::Heat& heat);

  HotTier& tier_;
  const Target target_;
  bool started_ = false;
  std::shared_ptr<const Compile> compile_;
  HotProgram* next_ = nullptr;       // in the tier's stack of reports or list of what waits, never both
  shader::cache::CodeBlock better_;  // set once, under the tier's lock
};

class HotTier {
 public:
  HotTier() = default;
  /// Waits for the running compile. All programs are gone.
  ~HotTier();
  HotTier(const HotTier&) = delete;
  HotTier& operator=(const HotTier&) = delete;

  /// Of the process. Never destroyed: its thread may be compiling when the process ends.
  static HotTier& instance();

 private:
  friend class HotProgram;
  bool start() PUMICE_EXCLUDES(mutex_);
  void report(HotProgram* program);
  void forget(HotProgram* program) PUMICE_EXCLUDES(mutex_);

  static void* threadMain(void* self);
  void run() PUMICE_EXCLUDES(mutex_);
  void collectLocked() PUMICE_REQUIRES(mutex_);
  void unlinkLocked(HotProgram* program) PUMICE_REQUIRES(mutex_);
  HotProgram* takeHottestLocked() PUMICE_REQUIRES(mutex_);
  static void publish(HotProgram& program, const BetterCode& better, uint64_t compile_ns);

  std::atomic<HotProgram*> reports_{nullptr};  // a stack; workers push, the holder of the lock takes all
  std::atomic<uint32_t> reportCount_{0};       // the futex word of the thread
  std::atomic<bool> stopping_{false};

  sched::Mutex mutex_;
  HotProgram* waiting_ PUMICE_GUARDED_BY(mutex_) = nullptr;
  HotProgram* current_ PUMICE_GUARDED_BY(mutex_) = nullptr;  // nullptr too when its pipeline has gone meanwhile
  bool started_ PUMICE_GUARDED_BY(mutex_) = false;
  pthread_t thread_{};
};

}  // namespace pumice::icd
