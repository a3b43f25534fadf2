// The pool of compile threads, with jobs that are C++ functions.
#include "icd/objects/compile_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <xmmintrin.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "backend/sched/processors.h"

namespace pumice::icd {
namespace {

class FunctionJob final : public CompileJob {
 public:
  explicit FunctionJob(std::function<void()> function) : function_(std::move(function)) {}
  void run() noexcept override { function_(); }

 private:
  std::function<void()> function_;
};

class Jobs {
 public:
  void add(std::function<void()> function) { pointers_.push_back(&jobs_.emplace_back(std::move(function))); }
  bool run() { return CompilePool::instance().run(pointers_); }

 private:
  std::deque<FunctionJob> jobs_;
  std::vector<CompileJob*> pointers_;
};

TEST(CompilePoolTest, EveryJobRunsOnceBeforeTheCallReturns) {
  EXPECT_TRUE(Jobs().run());
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c) {
      callers.emplace_back([] {
        std::vector<std::atomic<int>> counts(20);
        Jobs jobs;
        for (std::atomic<int>& count : counts) jobs.add([&count] { ++count; });
        EXPECT_TRUE(jobs.run());
        for (const std::atomic<int>& count : counts) EXPECT_EQ(count, 1);
      });
    }
    for (std::thread& caller : callers) caller.join();
  }
}

// A job hands a part of itself to a thread that has nothing to do; with more jobs than threads it keeps the part.
TEST(CompilePoolTest, PartsRunBesideTheirJobWhereThreadsAreIdle) {
  const uint32_t processors = sched::availableProcessors();
  if (processors < 2) GTEST_SKIP() << "one CPU has one thread";
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::atomic<bool> partRuns{false}, sawPart{false};
  Jobs jobs;
  jobs.add([&] {
    FunctionJob part([&] { partRuns = true; });
    ASSERT_TRUE(CompilePool::instance().offer(part));
    while (!partRuns && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    sawPart = partRuns.load();
    CompilePool::instance().finish(part);
  });
  EXPECT_TRUE(jobs.run());
  EXPECT_TRUE(sawPart);

  std::atomic<uint32_t> offered{0}, ran{0};
  Jobs many;
  for (int i = 0; i < 300; ++i) {
    many.add([&] {
      FunctionJob part([&] { ++ran; });
      if (CompilePool::instance().offer(part)) {
        ++offered;
        CompilePool::instance().finish(part);
      } else {
        part.run();
      }
      EXPECT_GT(ran, 0u);
    });
  }
  EXPECT_TRUE(many.run());
  EXPECT_EQ(ran, 300u);
  EXPECT_LT(offered, 300u);  // the threads had enough to do until near the end
}

// As many at once as there are CPUs, and no more.
TEST(CompilePoolTest, JobsRunAtOnceOnAllProcessors) {
  const uint32_t processors = sched::availableProcessors();
  std::atomic<uint32_t> inside{0}, most{0};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  Jobs jobs;
  for (uint32_t i = 0; i < processors; ++i) {
    jobs.add([&] {  // ends when all have come together
      const uint32_t now = ++inside;
      if (now > most) most = now;
      while (most < processors && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    });
  }
  EXPECT_TRUE(jobs.run());
  EXPECT_EQ(most, processors);
  std::mutex mutex;
  std::set<pthread_t> threads;
  Jobs many;
  for (int i = 0; i < 200; ++i) {
    many.add([&] {
      std::lock_guard lock(mutex);
      threads.insert(pthread_self());
    });
  }
  EXPECT_TRUE(many.run());
  EXPECT_LE(threads.size(), processors);
}

// The compiler recurses deeply and counts on the floating-point environment.
TEST(CompilePoolTest, ThreadsHaveStackAndFloatStateOfTheirOwn) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0xe040);  // round to zero, flush, denormals are zero
  size_t stack = 0;
  unsigned state = 0;
  Jobs jobs;
  jobs.add([&] {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstacksize(&attributes, &stack);
      pthread_attr_destroy(&attributes);
    }
    state = _mm_getcsr() & ~0x3fu;  // but for the flags of what has happened
  });
  EXPECT_TRUE(jobs.run());
  _mm_setcsr(before);
  EXPECT_GE(stack, size_t{8} << 20);
  EXPECT_EQ(state, 0x1f80u);
}

}  // namespace
}  // namespace pumice::icd
