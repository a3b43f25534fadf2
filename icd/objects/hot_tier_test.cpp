// The tier in the background, with the real machine and a compiler that is a C++ function.
#include "icd/objects/hot_tier.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <xmmintrin.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "backend/gpu/test_support.h"

namespace pumice::icd {
namespace {

using gpu::test::Batch;
using gpu::test::Program;
using gpu::test::Stream;
using gpu::test::TestDevice;

constexpr uint64_t kNever = ~0ull;

// Each workgroup adds to its own counter: 1 from quick code, 1000 from better code.
struct Counters {
  std::atomic<uint32_t>* counts;
};
template <uint32_t kAmount>
void countGroups(abi::ComputeEnv* env, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i) {
    gpu::test::payload<Counters>(env).counts[i].fetch_add(kAmount, std::memory_order_relaxed);
  }
}

// Fills a larger frame than the quick code has.
constexpr uint32_t kLargeFrame = 1 << 16;
void fillLargeFrame(abi::ComputeEnv* env, uint64_t begin, uint64_t end) {
  std::memset(env->frame, 0x5a, kLargeFrame);
  countGroups<1000>(env, begin, end);
}

BetterCode better(abi::ComputeEntry entry, uint32_t frame_B = 0) {
  BetterCode code;
  code.block = shader::cache::CodeArena::instance().allocate(64);  // stands for the code
  code.entry = reinterpret_cast<const std::byte*>(reinterpret_cast<uintptr_t>(entry));
  code.frameBytes = frame_B;
  return code;
}

abi::ComputeEntry entryOf(const Program& program) {
  return __atomic_load_n(&program.program.entry, __ATOMIC_ACQUIRE);
}

template <typename Condition>
[[nodiscard]] bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

// A compile that waits to be let go.
struct Gate {
  std::atomic<bool> entered{false}, open{false};
  void pass() {
    entered = true;
    while (!open) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
};

class HotTierTest : public testing::Test {
 protected:
  ~HotTierTest() override {
    tier_.reset();
    EXPECT_EQ(shader::cache::CodeArena::instance().usedBytes(), usedBefore_);
  }
  void heatUp(Program& program) { abi::addHeat(*program.program.heat, 1'000'000'000); }

  size_t usedBefore_ = shader::cache::CodeArena::instance().usedBytes();
  std::optional<HotTier> tier_{std::in_place};
};

TEST_F(HotTierTest, ReplacesCodeWhileDispatchesRun) {
  TestDevice device({.workerCount = 3});
  kmd::Queue* queue = device.queue();
  kmd::Timeline* done = device.timeline();
  Program program(countGroups<1>, 1000);
  std::atomic<uint32_t> compiles{0};
  std::optional<HotProgram> hot;
  hot.emplace(*tier_, program.program, 2'000'000, [&compiles] {
    ++compiles;
    return better(fillLargeFrame, kLargeFrame);
  });
  constexpr uint32_t kGroups = 20'000;
  uint64_t value = 0;
  uint32_t byBetter = 0;
  for (int round = 0; round < 20'000 && byBetter < kGroups; ++round) {
    std::vector<std::atomic<uint32_t>> counts(kGroups);
    Stream stream;
    stream.dispatch(program, Counters{counts.data()}, kGroups);
    ASSERT_EQ(Batch().run(stream).signal(done, ++value).submit(device, queue), kmd::Status::kOk);
    ASSERT_EQ(device.wait(done, value), kmd::Status::kOk);
    byBetter = 0;
    for (uint32_t i = 0; i < kGroups; ++i) {
      const uint32_t count = counts[i].load();
      ASSERT_TRUE(count == 1 || count == 1000) << i << ": " << count;
      byBetter += count == 1000;
    }
    if (round == 0) {
      EXPECT_LT(byBetter, kGroups);
    }
  }
  EXPECT_EQ(byBetter, kGroups);
  EXPECT_EQ(compiles.load(), 1u);
  EXPECT_EQ(program.program.frameBytes, kLargeFrame);
  hot.reset();
}

TEST_F(HotTierTest, HeatOfUntimedSpansCounts) {
  TestDevice device({.workerCount = 1});
  kmd::Queue* queue = device.queue();
  kmd::Timeline* done = device.timeline();
  Program program(countGroups<1>, 1000);  // short enough to run where it is decoded
  HotProgram hot(*tier_, program.program, 1'000'000, [] { return better(countGroups<1000>); });
  std::atomic<uint32_t> count{0};
  Stream stream;
  for (int i = 0; i < 100; ++i) {
    stream.dispatch(program, Counters{&count}, 1);
    stream.barrier(gpu::test::kCompute, gpu::test::kCompute);
  }
  uint64_t value = 0;
  EXPECT_TRUE(soon([&] {
    EXPECT_EQ(Batch().run(stream).signal(done, ++value).submit(device, queue), kmd::Status::kOk);
    EXPECT_EQ(device.wait(done, value), kmd::Status::kOk);
    return entryOf(program) == countGroups<1000>;
  }));
}

TEST_F(HotTierTest, ColdProgramsStayAsTheyAre) {
  TestDevice device({.workerCount = 2});
  kmd::Queue* queue = device.queue();
  kmd::Timeline* done = device.timeline();
  Program program(countGroups<1>);
  HotProgram hot(*tier_, program.program, kNever, [] {
    ADD_FAILURE() << "compiled";
    return BetterCode{};
  });
  std::vector<std::atomic<uint32_t>> counts(1000);
  Stream stream;
  stream.dispatch(program, Counters{counts.data()}, 1000);
  ASSERT_EQ(Batch().run(stream).signal(done, 1).submit(device, queue), kmd::Status::kOk);
  ASSERT_EQ(device.wait(done, 1), kmd::Status::kOk);
  EXPECT_EQ(entryOf(program), countGroups<1>);
}

TEST_F(HotTierTest, AProgramMayGoWhileItIsCompiled) {
  Gate gate;
  Program first(countGroups<1>), second(countGroups<1>);
  std::optional<HotProgram> hot;
  hot.emplace(*tier_, first.program, 1, [&gate] {
    gate.pass();
    return better(countGroups<1000>);
  });
  heatUp(first);
  ASSERT_TRUE(soon([&] { return gate.entered.load(); }));
  hot.reset();
  // The next one lies at the same address and must not get the code of the first.
  hot.emplace(*tier_, second.program, kNever, [] { return better(countGroups<7>); });
  gate.open = true;
  Program third(countGroups<1>);
  HotProgram behind(*tier_, third.program, 1, [] { return better(countGroups<1000>); });
  heatUp(third);
  EXPECT_TRUE(soon([&] { return entryOf(third) == countGroups<1000>; }));
  EXPECT_EQ(entryOf(first), countGroups<1>);
  EXPECT_EQ(entryOf(second), countGroups<1>);
}

TEST_F(HotTierTest, HottestFirstAndWithoutThoseThatHaveGone) {
  Gate gate;
  std::deque<Program> programs;
  std::deque<std::optional<HotProgram>> hot;
  std::mutex lock;
  std::vector<int> order;
  const uint64_t heat_ns[] = {1, 10, 30, 40, 20};
  for (int i = 0; i < 5; ++i) {
    Program& program = programs.emplace_back(countGroups<1>);
    hot.emplace_back().emplace(*tier_, program.program, 1, [&, i] {
      if (i == 0) gate.pass();
      const std::lock_guard guard(lock);
      order.push_back(i);
      return better(countGroups<1000>);
    });
    abi::addHeat(*program.program.heat, heat_ns[i]);
    if (i == 0) {
      ASSERT_TRUE(soon([&] { return gate.entered.load(); }));
    }
  }
  hot[3].reset();
  gate.open = true;
  EXPECT_TRUE(soon([&] { return entryOf(programs[1]) == countGroups<1000>; }));
  EXPECT_EQ(order, (std::vector<int>{0, 2, 4, 1}));
}

TEST_F(HotTierTest, WithoutBetterCodeTheQuickOneStays) {
  Program first(countGroups<1>), second(countGroups<1>), third(countGroups<1>);
  std::atomic<int> failed{0};
  HotProgram a(*tier_, first.program, 1, [&failed] {
    ++failed;
    return BetterCode{};
  });
  HotProgram b(*tier_, second.program, 1, [&failed]() -> BetterCode {
    ++failed;
    throw std::bad_alloc();
  });
  heatUp(first);
  heatUp(second);
  ASSERT_TRUE(soon([&] { return failed.load() == 2; }));
  HotProgram c(*tier_, third.program, 1, [] { return better(countGroups<1000>); });
  heatUp(third);
  EXPECT_TRUE(soon([&] { return entryOf(third) == countGroups<1000>; }));
  EXPECT_EQ(entryOf(first), countGroups<1>);
  EXPECT_EQ(entryOf(second), countGroups<1>);
}

// The creator's floating-point state and signal mask do not reach the tier's thread.
TEST_F(HotTierTest, TheThreadHasItsOwnEnvironment) {
  std::atomic<bool> done{false};
  unsigned mxcsr = 0;
  bool userSignalBlocked = false, faultBlocked = true;
  Program program(countGroups<1>);
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero
  HotProgram hot(*tier_, program.program, 1, [&] {
    mxcsr = _mm_getcsr();
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    userSignalBlocked = sigismember(&mask, SIGUSR1) == 1;
    faultBlocked = sigismember(&mask, SIGSEGV) == 1;
    done = true;
    return BetterCode{};
  });
  _mm_setcsr(before);
  heatUp(program);
  ASSERT_TRUE(soon([&] { return done.load(); }));
  EXPECT_EQ(mxcsr & 0xffc0u, 0x1f80u);
  EXPECT_TRUE(userSignalBlocked);
  EXPECT_FALSE(faultBlocked);
}

// Programs of two threads come, run hot and go at once or later, while the tier compiles.
TEST_F(HotTierTest, ManyProgramsOfManyThreads) {
  std::atomic<uint32_t> replaced{0};
  const auto churn = [&](uint32_t seed) {
    TestDevice device({.workerCount = 2});
    kmd::Queue* queue = device.queue();
    kmd::Timeline* done = device.timeline();
    for (uint64_t round = 1; round <= 200; ++round) {
      seed = seed * 1664525 + 1013904223;
      Program program(countGroups<1>);
      HotProgram hot(*tier_, program.program, seed % 3 == 0 ? kNever : 1, [] { return better(countGroups<1000>); });
      std::vector<std::atomic<uint32_t>> counts(64);
      Stream stream;
      stream.dispatch(program, Counters{counts.data()}, 64);
      ASSERT_EQ(Batch().run(stream).signal(done, round).submit(device, queue), kmd::Status::kOk);
      ASSERT_EQ(device.wait(done, round), kmd::Status::kOk);
      for (const auto& count : counts) ASSERT_TRUE(count == 1 || count == 1000);
      if (seed % 3 == 1) {
        ASSERT_TRUE(soon([&] { return entryOf(program) == countGroups<1000>; }));
        ++replaced;
      }
    }
  };
  std::thread other(churn, 1);
  churn(2);
  other.join();
  EXPECT_GT(replaced.load(), 50u);
}

}  // namespace
}  // namespace pumice::icd
