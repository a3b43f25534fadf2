// Dispatches, copies and fills, and what barriers promise about their order.
#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <random>
#include <set>
#include <thread>

#include "backend/gpu/test_support.h"

namespace pumice::gpu::test {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint32_t kSlowdown = 10;
#else
constexpr uint32_t kSlowdown = 1;
#endif

struct Machines {
  const char* name;
  kmd::DeviceConfig config;
};

void PrintTo(const Machines& machines, std::ostream* out) {
  *out << machines.name;
}

// Each promise holds however the work is spread.
class Work : public ::testing::TestWithParam<Machines> {
 protected:
  TestDevice device_{GetParam().config};
  kmd::Queue* queue_ = device_.queue();
  kmd::Timeline* done_ = device_.timeline();

  void runAndWait(Stream& stream) {
    const uint64_t value = device_->timelineValue(done_) + 1;
    ASSERT_EQ(Batch().run(stream).signal(done_, value).submit(device_, queue_), Status::kOk);
    ASSERT_EQ(device_.wait(done_, value), Status::kOk);
  }
};
INSTANTIATE_TEST_SUITE_P(All, Work,
                         ::testing::Values(Machines{"OneWorker", {.workerCount = 1}},
                                           Machines{"ThreeWorkers", {.workerCount = 3}},
                                           Machines{"OneWorkerSpans", {.workerCount = 1, .inlineSmallSpans = false}},
                                           Machines{"ThreeWorkersSpans", {.workerCount = 3, .inlineSmallSpans = false}},
                                           Machines{"Watched", {.workerCount = 2, .watchdog_ns = 60'000'000'000}}),
                         [](const auto& instance) { return instance.param.name; });

// Counts how often each workgroup ran.
struct Counts {
  std::atomic<uint32_t>* counts;
};
void countGroups(abi::ComputeEnv* env, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i) payload<Counts>(env).counts[i].fetch_add(1, std::memory_order_relaxed);
}

TEST_P(Work, EveryWorkgroupRunsOnce) {
  for (const uint32_t cost_ns : {1u, 100u, 1'000'000u})
    for (const uint32_t groups : {1u, 2u, 1000u, 100'000u}) {
      Program program(countGroups, cost_ns);
      std::vector<std::atomic<uint32_t>> counts(groups + 1);
      Stream stream;
      stream.dispatch(program, Counts{counts.data()}, groups);
      runAndWait(stream);
      for (uint32_t i = 0; i < groups; ++i) ASSERT_EQ(counts[i].load(), 1u) << i;
      ASSERT_EQ(counts[groups].load(), 0u);
    }
}

TEST_P(Work, EmptyDispatchesAndCopiesDoNothing) {
  Program program(countGroups);
  std::atomic<uint32_t> count{0};
  Stream stream;
  stream.dispatch(program, Counts{&count}, 0, 5, 5);
  stream.dispatch(program, Counts{&count}, 5, 5, 0);
  stream.copy(&count, &count, 0);
  stream.fill(&count, 0, 1);
  runAndWait(stream);
  EXPECT_EQ(count.load(), 0u);
}

struct EnvSeen {
  uint32_t* groupCount;
};
void recordEnv(abi::ComputeEnv* env, uint64_t begin, uint64_t end) {
  if (begin != 0) return;
  uint32_t* seen = payload<EnvSeen>(env).groupCount;
  for (int i = 0; i < 3; ++i) seen[i] = env->groupCount[i];
  for (int i = 0; i < 3; ++i) seen[3 + i] = env->groupBase[i];
  seen[6] = static_cast<uint32_t>(end);
  seen[7] = reinterpret_cast<uintptr_t>(env->shared) % 64 + reinterpret_cast<uintptr_t>(env->frame) % 64 +
            reinterpret_cast<uintptr_t>(env->sink) % 64;
  std::memset(env->shared, 1, 48 * 1024);
  std::memset(env->frame, 2, 1 << 20);
  std::memset(env->sink, 3, abi::kSinkBytes);
  seen[8] = std::to_integer<uint32_t>(env->shared[48 * 1024 - 1]) + std::to_integer<uint32_t>(env->frame[0]);
}

TEST_P(Work, ShadersSeeTheirDispatch) {
  Program program(recordEnv);
  program.program.sharedBytes = 48 * 1024;
  program.program.frameBytes = 1 << 20;
  uint32_t seen[9] = {};
  Stream stream;
  auto* packet = stream.put(abi::PacketOp::kDispatch,
                            abi::DispatchPacket{{}, &program.program, nullptr, nullptr, {7, 8, 9}, {2, 3, 4}});
  EnvSeen pushed{seen};
  alignas(8) std::byte constants[abi::kMaxPushConstantBytes] = {};
  std::memcpy(constants, &pushed, sizeof(pushed));
  packet->pushConstants = constants;
  runAndWait(stream);
  const uint32_t expected[6] = {2, 3, 4, 7, 8, 9};
  EXPECT_TRUE(std::equal(expected, expected + 6, seen));
  EXPECT_EQ(seen[7], 0u);
  EXPECT_EQ(seen[8], 3u);
}

// Workgroups of a span start in ascending order: a group that waits for its predecessor (decoupled look-back) ends.
struct LookBack {
  std::atomic<uint32_t>* flags;
};
void lookBack(abi::ComputeEnv* env, uint64_t begin, uint64_t end) {
  auto* flags = payload<LookBack>(env).flags;
  for (uint64_t i = begin; i < end; ++i) {
    while (i > 0 && flags[i - 1].load(std::memory_order_acquire) == 0 && !__atomic_load_n(env->cancelWord, 0))
      std::this_thread::yield();
    flags[i].store(1, std::memory_order_release);
  }
}

TEST_P(Work, WorkgroupsMayWaitForLowerOnes) {
  Program program(lookBack, 20'000);
  std::vector<std::atomic<uint32_t>> flags(2000);
  Stream stream;
  stream.dispatch(program, LookBack{flags.data()}, 2000);
  runAndWait(stream);
  EXPECT_EQ(flags.back().load(), 1u);
}

// Adds one to a plain word: loses counts when two run at once or see old values.
struct Increment {
  uint32_t* word;
  uint32_t expected;
  uint32_t* errors;
};
void increment(abi::ComputeEnv* env, uint64_t, uint64_t) {
  const auto args = payload<Increment>(env);
  if (*args.word != args.expected) ++*args.errors;
  *args.word = args.expected + 1;
}

TEST_P(Work, ThousandDependentDispatches) {
  Program program(increment, 50);
  Program large(increment, 1'000'000);
  uint32_t word = 0, errors = 0;
  Stream stream;
  for (uint32_t i = 0; i < 1000; ++i) {
    stream.dispatch(i % 100 == 50 ? large : program, Increment{&word, i, &errors});
    stream.barrier(kCompute, kCompute);
  }
  runAndWait(stream);
  EXPECT_EQ(word, 1000u);
  EXPECT_EQ(errors, 0u);
}

// The same stream, three times in one batch and from two queues at once.
TEST_P(Work, OneStreamManyTimesAtOnce) {
  Program program(countGroups, 30'000);
  std::vector<std::atomic<uint32_t>> counts(500);
  Stream stream;
  stream.dispatch(program, Counts{counts.data()}, 500);
  stream.barrier(kCompute, kCompute);
  stream.dispatch(program, Counts{counts.data()}, 500);
  kmd::Queue* other = device_.queue(kmd::Engine::kCompute);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(Batch().run(stream).run(stream).run(stream).submit(device_, queue_), Status::kOk);
    ASSERT_EQ(Batch().run(stream).submit(device_, other), Status::kOk);
  }
  ASSERT_EQ(device_.idle(queue_), Status::kOk);
  ASSERT_EQ(device_.idle(other), Status::kOk);
  for (auto& count : counts) EXPECT_EQ(count.load(), 80u);
}

TEST_P(Work, CopiesFillsAndUpdates) {
  std::mt19937 random(5);
  for (const size_t words : {1ul, 17ul, 5000ul, 300'000ul, 3'000'000ul}) {
    std::vector<uint32_t> source(words), target(words + 2, 0xabcdabcd), filled(words + 2, 0xabcdabcd);
    for (uint32_t& word : source) word = random();
    Stream stream;
    stream.copy(source.data(), target.data() + 1, words * 4);
    stream.fill(filled.data() + 1, words * 4, 0x01020304);
    runAndWait(stream);
    EXPECT_TRUE(std::equal(source.begin(), source.end(), target.begin() + 1));
    EXPECT_EQ(target.front(), 0xabcdabcd);
    EXPECT_EQ(target.back(), 0xabcdabcd);
    EXPECT_EQ(std::count(filled.begin(), filled.end(), 0x01020304u), static_cast<std::ptrdiff_t>(words));
    EXPECT_EQ(filled.front(), 0xabcdabcd);
    EXPECT_EQ(filled.back(), 0xabcdabcd);
  }
  std::vector<uint8_t> data(65'536), target(65'536);
  for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
  Stream stream;
  stream.update(target.data(), data.data(), data.size());
  runAndWait(stream);
  EXPECT_EQ(data, target);
}

// Copies of odd sizes and alignments, non-temporal ones among them.
TEST_P(Work, UnalignedLargeCopies) {
  std::vector<uint8_t> source(9'000'000 + 200), target(source.size());
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * 7 + i / 251);
  for (const size_t offset : {0ul, 1ul, 63ul}) {
    std::fill(target.begin(), target.end(), 0);
    Stream stream;
    stream.copy(source.data() + 3, target.data() + offset, 9'000'001);
    runAndWait(stream);
    EXPECT_TRUE(std::equal(source.begin() + 3, source.begin() + 3 + 9'000'001,
                           target.begin() + static_cast<std::ptrdiff_t>(offset)));
    EXPECT_EQ(target[offset + 9'000'001], 0);
  }
}

// A chain whose middle stages are empty, over command buffers and submissions: compute -> fragment, then fragment ->
// host, then host -> transfer. Nothing runs in between, yet the copy comes after the dispatch.
TEST_P(Work, ChainsWithEmptyMiddlesHold) {
  struct Slow {
    uint32_t* word;
  };
  const auto slow = [](abi::ComputeEnv* env, uint64_t, uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    *payload<Slow>(env).word = 42;
  };
  Program program(slow, 2'000'000);
  for (const bool submissions : {false, true})
    for (int round = 0; round < 10; ++round) {
      uint32_t word = 0, copy = 0;
      Stream work, toFragment, toHost, toCopy, last;
      work.dispatch(program, Slow{&word});
      toFragment.barrier(kCompute, kFragment);
      toHost.barrier(kFragment, kHost);
      toCopy.barrier(kHost, kTransfer);
      last.copy(&word, &copy, 4);
      Stream* streams[] = {&work, &toFragment, &toHost, &toCopy, &last};
      Batch batch;
      for (Stream* stream : streams) {
        batch.run(*stream);
        if (submissions) {
          ASSERT_EQ(batch.submit(device_, queue_), Status::kOk);
          batch = {};
        }
      }
      ASSERT_EQ(batch.submit(device_, queue_), Status::kOk);
      ASSERT_EQ(device_.idle(queue_), Status::kOk);
      EXPECT_EQ(copy, 42u);
    }
}

// Two dispatches that each wait for the other to have started: they end only if they overlap.
struct Meet {
  std::atomic<uint32_t>* mine;
  std::atomic<uint32_t>* other;
};
void meet(abi::ComputeEnv* env, uint64_t, uint64_t) {
  const auto args = payload<Meet>(env);
  args.mine->store(1);
  while (args.other->load() == 0 && !__atomic_load_n(env->cancelWord, 0)) std::this_thread::yield();
}

TEST(Overlap, IndependentWorkRunsAtOnce) {
  TestDevice device({.workerCount = 2});
  kmd::Queue* queue = device.queue();
  Program program(meet, 1'000'000);
  std::atomic<uint32_t> a{0}, b{0};
  Stream stream;
  stream.dispatch(program, Meet{&a, &b});
  stream.barrier(kTransfer, kTransfer);  // concerns neither
  stream.dispatch(program, Meet{&b, &a});
  ASSERT_EQ(Batch().run(stream).submit(device, queue), Status::kOk);
  EXPECT_EQ(device.idle(queue), Status::kOk);
}

TEST(Overlap, WorkInOtherStagesPassesAWaitingOne) {
  TestDevice device({.workerCount = 2});
  kmd::Queue* queue = device.queue();
  kmd::Timeline* gate = device.timeline();
  kmd::Timeline* copied = device.timeline();
  Program program(countGroups);
  std::atomic<uint32_t> count{0};
  uint32_t from = 9, to = 0;
  Stream stream;
  stream.dispatch(program, Counts{&count});
  stream.copy(&from, &to, 4);
  ASSERT_EQ(Batch().wait(gate, 1, kCompute).run(stream).signal(copied, 1, kTransfer).submit(device, queue),
            Status::kOk);
  EXPECT_EQ(device.wait(copied, 1), Status::kOk);
  EXPECT_EQ(to, 9u);
  EXPECT_EQ(count.load(), 0u);
  ASSERT_EQ(device->signalTimeline(gate, 1), Status::kOk);
  EXPECT_EQ(device.idle(queue), Status::kOk);
  EXPECT_EQ(count.load(), 1u);
}

// A million dispatches without a barrier: the window bounds what is alive.
TEST_P(Work, AMillionIndependentDispatches) {
  Program program(countGroups, 200);
  std::atomic<uint32_t> count{0};
  Stream once, thousand;
  for (int i = 0; i < 1000; ++i) once.dispatch(program, Counts{&count});
  const uint32_t calls = 1000 / kSlowdown;
  for (uint32_t i = 0; i < calls; ++i) thousand.call(once);
  ASSERT_EQ(Batch().run(thousand).submit(device_, queue_), Status::kOk);
  uint64_t most = 0;
  while (device_.idle(queue_, 1'000'000) == Status::kTimeout)
    most = std::max(most, device_->counters(queue_).spansInFlight);
  EXPECT_LE(most, 256u);
  EXPECT_EQ(count.load(), calls * 1000);
}

TEST_P(Work, IndirectArgumentsAreReadWhenTheirGateOpens) {
  struct Write {
    uint32_t* args;
    uint32_t x, y, z;
  };
  const auto write = [](abi::ComputeEnv* env, uint64_t, uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto to = payload<Write>(env);
    to.args[0] = to.x, to.args[1] = to.y, to.args[2] = to.z;
  };
  for (const uint32_t cost_ns : {10u, 1'000'000u}) {
    Program writer(write, 1'000'000);
    Program program(countGroups, cost_ns);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::atomic<uint32_t>> counts(24);
      uint32_t args[3] = {1, 1, 1};
      Stream stream;
      stream.dispatch(writer, Write{args, 2, 3, 4});
      stream.barrier(abi::expandSource(kCompute), abi::expandDestination(kIndirect));
      stream.dispatchIndirect(program, Counts{counts.data()}, args);
      stream.barrier(kIndirect, kTransfer);
      stream.fill(args, sizeof(args), 0);  // after the arguments were read
      stream.barrier(kTransfer, abi::expandDestination(kIndirect));
      stream.dispatchIndirect(program, Counts{counts.data()}, args);  // no groups
      runAndWait(stream);
      for (auto& count : counts) ASSERT_EQ(count.load(), 1u);
    }
  }
}

// ---- Random orders ------------------------------------------------------------------------------------------------

// Each operation takes a ticket when it starts and one when it ends. What a barrier, a wait or a signal orders must be
// ordered in the tickets, for programs of random operations over several batches; checked against the rule itself
// (Vulkan 1.3, 7.1), evaluated naively.
struct Ticket {
  std::atomic<uint64_t>* clock;
  std::atomic<uint64_t>* begin;
  std::atomic<uint64_t>* end;
  uint32_t spin;
};
void takeTickets(abi::ComputeEnv* env, uint64_t begin, uint64_t end) {
  const auto args = payload<Ticket>(env);
  for (uint64_t i = begin; i < end; ++i) {
    const uint64_t now = args.clock->fetch_add(1);
    uint64_t seen = args.begin->load();
    while (now < seen && !args.begin->compare_exchange_weak(seen, now)) {
    }
    for (uint32_t k = 0; k < args.spin; ++k) asm volatile("pause");
    const uint64_t later = args.clock->fetch_add(1);
    seen = args.end->load();
    while (later > seen && !args.end->compare_exchange_weak(seen, later)) {
    }
  }
}

// The rule, for one queue: per stage, what new work comes after ("gate"), and what a source of the stage takes in.
struct NaiveQueue {
  std::set<uint32_t> gate[abi::kStageCount], open[abi::kStageCount];

  std::set<uint32_t> earlier(StageMask src) const {
    std::set<uint32_t> joined;
    for (uint32_t s = 0; s < abi::kStageCount; ++s)
      if (src & (1u << s)) {
        joined.insert(gate[s].begin(), gate[s].end());
        joined.insert(open[s].begin(), open[s].end());
      }
    return joined;
  }
  void comesAfter(const std::set<uint32_t>& operations, StageMask dst) {
    for (uint32_t s = 0; s < abi::kStageCount; ++s)
      if (dst & (1u << s)) gate[s].insert(operations.begin(), operations.end());
  }
};

// Random programs on `queueCount` queues, in batches that wait for and signal points of one timeline per queue.
void checkRandomProgram(TestDevice& device, uint32_t seed, uint32_t queueCount) {
  std::mt19937 random(seed);
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const uint32_t total = 150;
  std::vector<std::set<uint32_t>> after;  // by operation: what must have ended
  std::deque<std::atomic<uint64_t>> begins(total), ends(total);
  std::atomic<uint64_t> clock{1};
  std::deque<Program> programs;
  std::deque<std::array<uint32_t, 3>> args;
  std::deque<Stream> streams;
  struct Side {
    kmd::Queue* queue;
    kmd::Timeline* timeline;
    NaiveQueue naive;
    std::vector<std::set<uint32_t>> signalled;  // by value - 1: what each point stands for
    std::set<uint32_t> allSignalled;            // by earlier batches: their signals come before later ones
    Batch batch;
    Stream* stream;
  };
  std::deque<Side> sides(queueCount);
  for (Side& side : sides) {
    side.queue = device.queue(kmd::Engine::kUniversal, static_cast<float>(pick(3)) / 2);
    side.timeline = device.timeline();
    side.stream = &streams.emplace_back();
  }
  const auto submit = [&](Side& side) {
    side.batch.run(*side.stream);
    for (uint32_t n = pick(3); n > 0; --n) {
      const StageMask src = pick(2) ? kAll : pick(kAll + 1);
      std::set<uint32_t> scope = side.naive.earlier(src);
      scope.insert(side.allSignalled.begin(), side.allSignalled.end());
      side.batch.signal(side.timeline, side.signalled.size() + 1, src);
      side.signalled.push_back(std::move(scope));
    }
    for (const auto& scope : side.signalled) side.allSignalled.insert(scope.begin(), scope.end());
    ASSERT_EQ(side.batch.submit(device, side.queue), Status::kOk);
    side.batch = {};
    side.stream = &streams.emplace_back();
    // Waits belong to the next batch, before its work.
    for (uint32_t n = pick(2); n > 0; --n) {
      const Side& other = sides[pick(queueCount)];
      if (other.signalled.empty()) continue;
      const uint32_t value = 1 + pick(static_cast<uint32_t>(other.signalled.size()));
      const StageMask dst = pick(kAll + 1);
      side.batch.wait(other.timeline, value, dst);
      // Reaching a value means that this or a later signal has happened (those of one batch are unordered).
      std::set<uint32_t> reached = other.signalled[value - 1];
      for (size_t later = value; later < other.signalled.size(); ++later) {
        std::set<uint32_t> both;
        std::set_intersection(reached.begin(), reached.end(), other.signalled[later].begin(),
                              other.signalled[later].end(), std::inserter(both, both.end()));
        reached = std::move(both);
      }
      side.naive.comesAfter(reached, dst);
    }
  };
  while (after.size() < total) {
    Side& side = sides[pick(queueCount)];
    const uint32_t what = pick(10);
    if (what < 6) {
      const auto id = static_cast<uint32_t>(after.size());
      const bool indirect = pick(4) == 0;
      begins[id] = UINT64_MAX;
      const uint32_t costs[] = {10, 1000, 30'000, 200'000};
      programs.emplace_back(takeTickets, costs[pick(4)]);
      const Ticket ticket{&clock, &begins[id], &ends[id], pick(300)};
      const uint32_t groups = 1 + pick(4);
      const auto compute = static_cast<uint32_t>(Stage::kCompute), arguments = static_cast<uint32_t>(Stage::kIndirect);
      after.push_back(side.naive.gate[compute]);
      side.naive.open[compute].insert(id);
      if (indirect) {
        after.back().insert(side.naive.gate[arguments].begin(), side.naive.gate[arguments].end());
        side.naive.open[arguments].insert(id);
        args.push_back({groups, 1, 1});
        side.stream->dispatchIndirect(programs.back(), ticket, args.back().data());
      } else {
        side.stream->dispatch(programs.back(), ticket, groups);
      }
    } else if (what < 9) {
      const StageMask src = pick(kAll + 1), dst = pick(kAll + 1);
      side.stream->barrier(src, dst);
      side.naive.comesAfter(side.naive.earlier(src), dst);
    } else if (pick(2)) {
      side.batch.run(*side.stream);
      side.stream = &streams.emplace_back();
    } else {
      submit(side);
    }
  }
  for (Side& side : sides) submit(side);
  for (Side& side : sides) ASSERT_EQ(device.idle(side.queue), Status::kOk);
  for (uint32_t i = 0; i < total; ++i) {
    ASSERT_NE(begins[i].load(), UINT64_MAX);
    for (const uint32_t before : after[i])
      ASSERT_LT(ends[before].load(), begins[i].load())
          << "seed " << seed << ": operation " << i << " began before " << before << " ended";
  }
}

TEST_P(Work, RandomProgramsKeepTheirOrder) {
  for (uint32_t seed = 0; seed < 60 / kSlowdown + 3; ++seed) checkRandomProgram(device_, seed, 1);
}

TEST_P(Work, RandomProgramsOnThreeQueuesKeepTheirOrder) {
  for (uint32_t seed = 0; seed < 60 / kSlowdown + 3; ++seed) checkRandomProgram(device_, seed, 3);
}

}  // namespace
}  // namespace pumice::gpu::test
