#include "backend/sched/pool.h"

#include <gtest/gtest.h>
#include <immintrin.h>
#include <signal.h>

#include <thread>
#include <vector>

#include "backend/sched/futex.h"

namespace pumice::sched {
namespace {

struct CountingTask : Task {
  std::atomic<uint32_t> runs{0};
  std::atomic<uint32_t> running{0}, mostAtOnce{0};
  uint32_t hold_us = 0;

  CountingTask() {
    run = [](Task* task, Worker&) {
      auto& self = static_cast<CountingTask&>(*task);
      const uint32_t now = self.running.fetch_add(1) + 1;
      uint32_t most = self.mostAtOnce.load();
      while (now > most && !self.mostAtOnce.compare_exchange_weak(most, now)) {
      }
      if (self.hold_us) std::this_thread::sleep_for(std::chrono::microseconds(self.hold_us));
      self.running.fetch_sub(1);
      self.runs.fetch_add(1, std::memory_order_release);
    };
  }
  void awaitRuns(uint32_t count) const {
    while (runs.load(std::memory_order_acquire) < count) std::this_thread::yield();
  }
};

TEST(Pool, RunsEachSlotOnce) {
  auto pool = Pool::start(3, nullptr);
  ASSERT_TRUE(pool);
  CountingTask tasks[50];
  uint32_t pushed[50] = {};
  for (int round = 0; round < 200; ++round)
    for (int i = 0; i < 50; ++i) {
      const auto slots = static_cast<uint32_t>((round + i) % 4);
      pushed[i] += slots;
      pool->push(&tasks[i], slots);
    }
  for (int i = 0; i < 50; ++i) tasks[i].awaitRuns(pushed[i]);
  pool.reset();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(tasks[i].runs.load(), pushed[i]);
}

TEST(Pool, SlotsOfOneTaskRunAtOnce) {
  auto pool = Pool::start(3, nullptr);
  CountingTask task;
  task.hold_us = 20'000;
  pool->push(&task, 3);
  task.awaitRuns(3);
  EXPECT_EQ(task.mostAtOnce.load(), 3u);
}

TEST(Pool, PushesFromManyThreadsLoseNothing) {
  auto pool = Pool::start(2, nullptr);
  CountingTask tasks[4];
  std::vector<std::thread> threads;
  const uint32_t each = 20'000;
  for (auto& task : tasks)
    threads.emplace_back([&] {
      for (uint32_t i = 0; i < each; ++i) {
        pool->push(&task, 1);
        if (i % 64 == 0) task.awaitRuns(i);  // lets the workers go to sleep now and then
      }
    });
  for (auto& thread : threads) thread.join();
  for (auto& task : tasks) task.awaitRuns(each);
  pool.reset();
  for (auto& task : tasks) EXPECT_EQ(task.runs.load(), each);
}

// One worker is kept busy while tasks queue up: they must start by priority, then age.
TEST(Pool, OrderIsPriorityThenAge) {
  auto pool = Pool::start(1, nullptr);
  static std::atomic<bool> release;
  static std::vector<int> order;
  release = false;
  order.clear();
  struct Numbered : Task {
    int number = 0;
  };
  Numbered blocker, tasks[6];
  blocker.run = [](Task*, Worker&) {
    while (!release) std::this_thread::yield();
  };
  pool->push(&blocker, 1);
  while (pool->waitingTasks() > 0) std::this_thread::yield();
  const uint8_t priorities[6] = {1, 0, 3, 1, 3, 0};
  static std::atomic<uint32_t> ended;
  ended = 0;
  for (int i = 0; i < 6; ++i) {
    tasks[i].number = i;
    tasks[i].priority = priorities[i];
    tasks[i].run = [](Task* task, Worker&) {
      order.push_back(static_cast<Numbered*>(task)->number);
      ended.fetch_add(1);
    };
    pool->push(&tasks[i], 1);
  }
  release = true;
  while (ended.load() < 6) std::this_thread::yield();
  EXPECT_EQ(order, (std::vector<int>{2, 4, 0, 3, 1, 5}));
}

TEST(Pool, RetractTakesBackWhatNoWorkerTook) {
  auto pool = Pool::start(1, nullptr);
  static std::atomic<bool> release;
  release = false;
  Task blocker;
  blocker.run = [](Task*, Worker&) {
    while (!release) std::this_thread::yield();
  };
  pool->push(&blocker, 1);
  while (pool->waitingTasks() > 0) std::this_thread::yield();
  CountingTask task;
  pool->push(&task, 5);
  EXPECT_EQ(pool->retract(&task), 5u);
  EXPECT_EQ(pool->retract(&task), 0u);
  EXPECT_EQ(pool->waitingTasks(), 0u);
  release = true;
  pool.reset();
  EXPECT_EQ(task.runs.load(), 0u);
}

TEST(Pool, StopDropsQueuedTasks) {
  for (int round = 0; round < 50; ++round) {
    CountingTask tasks[20];
    auto pool = Pool::start(2, nullptr);
    for (auto& task : tasks) pool->push(&task, 2);
    pool->stop();
    for (auto& task : tasks) EXPECT_LE(task.runs.load(), 2u);
    pool->push(&tasks[0], 1);  // vanishes
  }
}

// The creator's floating-point state and signal mask do not reach the workers.
TEST(Pool, WorkersHaveTheirOwnEnvironment) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero
  auto pool = Pool::start(1, nullptr);
  _mm_setcsr(before);
  static std::atomic<uint32_t> ended;
  static unsigned mxcsr;
  static bool userSignalBlocked, faultBlocked;
  ended = 0;
  Task task;
  task.run = [](Task*, Worker& worker) {
    mxcsr = _mm_getcsr();
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    userSignalBlocked = sigismember(&mask, SIGUSR1) == 1;
    faultBlocked = sigismember(&mask, SIGSEGV) == 1;
    EXPECT_TRUE(worker.arena().reserve(100, 5'000'000));
    worker.arena().frame()[4'999'999] = std::byte{1};
    ended.store(1, std::memory_order_release);
  };
  pool->push(&task, 1);
  while (ended.load(std::memory_order_acquire) == 0) std::this_thread::yield();
  EXPECT_EQ(mxcsr & 0xffc0u, 0x1f80u);
  EXPECT_TRUE(userSignalBlocked);
  EXPECT_FALSE(faultBlocked);
}

TEST(Arena, GrowsAndStaysAligned) {
  WorkerArena arena;
  for (const uint32_t size_B : {0u, 1u, 64u, 5000u, 100'000u, 70u}) {
    ASSERT_TRUE(arena.reserve(size_B, 2 * size_B));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.shared()) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.frame()) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.sink()) % 64, 0u);
    std::fill_n(arena.shared(), size_B, std::byte{1});
    std::fill_n(arena.frame(), 2 * size_B, std::byte{2});
    std::fill_n(arena.sink(), abi::kSinkBytes, std::byte{3});
  }
}

TEST(Futex, WaitEndsAtTheDeadline) {
  std::atomic<uint32_t> word{1};
  EXPECT_TRUE(futexWait(word, 2));  // another value: returns at once
  const uint64_t start_ns = monotonicNow_ns();
  while (futexWait(word, 1, start_ns + 3'000'000)) {
  }
  EXPECT_GE(monotonicNow_ns(), start_ns + 3'000'000);
}

}  // namespace
}  // namespace pumice::sched
