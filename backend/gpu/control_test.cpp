// Events, queries, loss and faults.
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>
#include <tuple>

#include "backend/gpu/test_support.h"
#include "backend/trace/log.h"

namespace pumice::gpu::test {
namespace {

struct Store {
  uint32_t* word;
  uint32_t value;
  uint32_t delay_us;
};
void store(abi::ComputeEnv* env, uint64_t, uint64_t) {
  const auto args = payload<Store>(env);
  std::this_thread::sleep_for(std::chrono::microseconds(args.delay_us));
  *args.word = args.value;
}

// Workgroups of one dispatch may run at once: they only take their time.
struct Pause {
  uint32_t us;
};
void pause(abi::ComputeEnv* env, uint64_t, uint64_t) {
  std::this_thread::sleep_for(std::chrono::microseconds(payload<Pause>(env).us));
}

struct Require {
  const uint32_t* word;
  uint32_t value;
  std::atomic<uint32_t>* errors;
};
void require(abi::ComputeEnv* env, uint64_t, uint64_t) {
  const auto args = payload<Require>(env);
  if (*args.word != args.value) args.errors->fetch_add(1);
}

class Control : public ::testing::TestWithParam<bool> {
 protected:
  TestDevice device_{{.workerCount = 3, .inlineSmallSpans = GetParam()}};
  kmd::Queue* queue_ = device_.queue();
};
INSTANTIATE_TEST_SUITE_P(All, Control, ::testing::Bool());

TEST_P(Control, HostSetsAnEventInMidStream) {
  Program program(store);
  kmd::Event* event = device_.event();
  uint32_t word = 0, later = 0;
  Stream inner, stream;
  inner.waitEvents({event}, kHost, kAll);
  inner.dispatch(program, Store{&later, 2, 0});
  stream.dispatch(program, Store{&word, 1, 0});
  stream.call(inner);  // parks inside a secondary command buffer
  stream.dispatch(program, Store{&word, 3, 0});
  kmd::Timeline* done = device_.timeline();
  ASSERT_EQ(Batch().run(stream).signal(done, 1).submit(device_, queue_), Status::kOk);
  EXPECT_EQ(device_.wait(done, 1, 5'000'000), Status::kTimeout);
  device_->setEvent(event, true);
  ASSERT_EQ(device_.wait(done, 1), Status::kOk);
  EXPECT_EQ(later, 2u);
  EXPECT_NE(word, 0u);
}

// Between setting on one queue and waiting on another many times: no wake-up is lost.
TEST_P(Control, EventsAcrossQueuesAndHost) {
  kmd::Queue* other = device_.queue(kmd::Engine::kCompute);
  const uint32_t rounds = 300;
  std::vector<kmd::Event*> there, back, host;
  Stream first, second;
  Program program(store, 100), checker(require, 100);
  uint32_t word = 0;
  std::atomic<uint32_t> errors{0};
  for (uint32_t i = 0; i < rounds; ++i) {
    there.push_back(device_.event());
    back.push_back(device_.event());
    host.push_back(device_.event());
    first.dispatch(program, Store{&word, i, i % 3 * 10});
    first.setEvent(there[i], kCompute);
    first.waitEvents({back[i], host[i]}, kAll, kAll);
    second.waitEvents({there[i]}, kCompute, kAll);
    second.dispatch(checker, Require{&word, i, &errors});
    second.setEvent(back[i], kCompute);
  }
  ASSERT_EQ(Batch().run(second).submit(device_, other), Status::kOk);
  ASSERT_EQ(Batch().run(first).submit(device_, queue_), Status::kOk);
  for (kmd::Event* event : host) device_->setEvent(event, true);
  EXPECT_EQ(device_.idle(queue_), Status::kOk);
  EXPECT_EQ(device_.idle(other), Status::kOk);
  EXPECT_EQ(errors.load(), 0u);
}

// The event is still set from the round before and reset by the queue itself, while the work before the reset is held:
// the wait must not take the old state for the new one.
TEST_P(Control, ResetBeforeReuseIsNotOvertaken) {
  Program program(store), checker(require);
  kmd::Event* event = device_.event();
  kmd::Timeline* gate = device_.timeline();
  uint32_t word = 0;
  std::atomic<uint32_t> errors{0};
  device_->setEvent(event, true);
  for (uint32_t round = 1; round <= 50; ++round) {
    Stream stream;
    stream.resetEvent(event, kAll);
    stream.dispatch(program, Store{&word, round, 50});
    stream.setEvent(event, kCompute);
    stream.waitEvents({event}, kCompute, kCompute);
    stream.dispatch(checker, Require{&word, round, &errors});
    ASSERT_EQ(Batch().wait(gate, round).run(stream).submit(device_, queue_), Status::kOk);
    ASSERT_EQ(device_->signalTimeline(gate, round), Status::kOk);
    ASSERT_EQ(device_.idle(queue_), Status::kOk);
    ASSERT_TRUE(device_->eventStatus(event));
  }
  EXPECT_EQ(errors.load(), 0u);
}

TEST_P(Control, TimestampsComeAfterTheirWork) {
  Program program(store, 5'000'000);
  uint32_t word = 0;
  abi::QuerySlot slots[3] = {{1, 1}, {1, 1}, {1, 1}};
  const uint64_t before_ns = sched::monotonicNow_ns();
  uint64_t results[6] = {};
  uint32_t narrow[2] = {7, 7};
  Stream stream;
  stream.resetQueries(slots, 3);
  stream.timestamp(&slots[0], 0);
  stream.dispatch(program, Store{&word, 1, 5000});
  stream.timestamp(&slots[1], kCompute);
  stream.copyQueries(slots, 3, results, 16, 1 | 4);  // 64 bits, with availability
  stream.copyQueries(slots + 2, 1, narrow, 4, 0);    // unavailable: left alone
  ASSERT_EQ(Batch().run(stream).submit(device_, queue_), Status::kOk);
  ASSERT_EQ(device_.idle(queue_), Status::kOk);
  EXPECT_GE(results[0], before_ns);
  EXPECT_EQ(results[1], 1u);
  EXPECT_GE(results[2], results[0] + 5'000'000);
  EXPECT_EQ(results[3], 1u);
  EXPECT_EQ(results[5], 0u);
  EXPECT_EQ(narrow[0], 7u);
  EXPECT_EQ(results[2], slots[1].value);
  EXPECT_LE(slots[1].value, sched::monotonicNow_ns());
}

// Direct and indirect dispatches, in a called stream too, between begin and end alone; the reset before the count, the
// availability after the work.
TEST_P(Control, StatisticsCountInvocations) {
  Program program(pause, 1'000'000);
  program.program.localSize[0] = 8;
  program.program.localSize[1] = 3;
  const uint32_t args[3] = {5, 2, 1};
  abi::QuerySlot slots[3] = {{9, 1}, {9, 1}, {9, 1}};
  Stream inner, stream;
  inner.dispatch(program, Pause{0}, 2, 1, 3);
  stream.resetQueries(slots, 3);
  stream.dispatch(program, Pause{1000}, 100);
  stream.beginStatistics();
  stream.dispatch(program, Pause{1000}, 4, 5);
  stream.call(inner);
  stream.dispatchIndirect(program, Pause{1000}, args);
  stream.endStatistics(slots, 2, 1);
  stream.dispatch(program, Pause{0}, 100);
  stream.beginStatistics();
  stream.endStatistics(slots + 2, 1, 0);
  uint64_t results[5] = {};
  stream.copyQueries(slots, 1, results, 16, 1 | 4);
  stream.copyQueries(slots + 2, 1, results + 3, 16, 1 | 4);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(Batch().run(stream).submit(device_, queue_), Status::kOk);
    ASSERT_EQ(device_.idle(queue_), Status::kOk);
    EXPECT_EQ(slots[0].value, 0u);
    EXPECT_EQ(slots[1].value, 24u * (20 + 6 + 10));
    EXPECT_EQ(slots[1].available, 1u);
    EXPECT_EQ(results[0], 0u);
    EXPECT_EQ(results[1], 1u);
    EXPECT_EQ(results[3], 0u);
    EXPECT_EQ(results[4], 1u);
    slots[1].value = 7;
  }
}

TEST_P(Control, QueryCommandsKeepTheirOrder) {
  Program program(store, 1'000'000);
  uint32_t word = 0;
  abi::QuerySlot slot{};
  uint64_t first[2] = {}, second[2] = {}, third[2] = {};
  Stream stream;
  stream.resetQueries(&slot, 1);
  stream.dispatch(program, Store{&word, 1, 1000});
  stream.timestamp(&slot, kCompute);
  stream.copyQueries(&slot, 1, first, 16, 1 | 4);
  stream.resetQueries(&slot, 1);
  stream.copyQueries(&slot, 1, second, 16, 1 | 4);
  stream.barrier(kTransfer, kCompute);  // a copy is not ordered before later writes of its queries by itself
  stream.dispatch(program, Store{&word, 2, 1000});
  stream.timestamp(&slot, kCompute);
  stream.copyQueries(&slot, 1, third, 16, 1 | 4);
  ASSERT_EQ(Batch().run(stream).submit(device_, queue_), Status::kOk);
  ASSERT_EQ(device_.idle(queue_), Status::kOk);
  EXPECT_EQ(first[1], 1u);
  EXPECT_EQ(second[1], 0u);
  EXPECT_EQ(third[1], 1u);
  EXPECT_GT(third[0], first[0]);
}

// ---- Loss ---------------------------------------------------------------------------------------------------------

// A shader that never looks at the cancel word holds up whoever learns of the loss for two seconds, but all together:
// not each call anew.
// Who waits for a query sleeps until it is written: hardly any switch of threads, where polling makes thousands.
TEST_P(Control, WaitingForAQuerySleeps) {
  abi::QuerySlot slots[2] = {};
  kmd::Timeline* go = device_.timeline();
  Stream stream;
  stream.timestamp(&slots[0], kAll);
  stream.timestamp(&slots[1], kAll);
  ASSERT_EQ(Batch().wait(go, 1).run(stream).submit(device_, queue_), Status::kOk);
  long switches = 0;
  std::thread waiter([&] {
    rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    EXPECT_EQ(device_->waitQuery(&slots[0]), Status::kOk);
    EXPECT_EQ(device_->waitQuery(&slots[1]), Status::kOk);
    EXPECT_NE(slots[0].available, 0u);
    EXPECT_NE(slots[1].available, 0u);
    getrusage(RUSAGE_THREAD, &after);
    switches = after.ru_nvcsw - before.ru_nvcsw;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(__atomic_load_n(&slots[0].available, __ATOMIC_ACQUIRE), 0u);
  ASSERT_EQ(device_->signalTimeline(go, 1), Status::kOk);
  waiter.join();
  EXPECT_LE(switches, 20);
}

// Between writing and waiting at the same moment, many times: no wake-up is lost.
TEST_P(Control, QueriesAreWaitedForWhileTheyAreWritten) {
  for (int round = 0; round < 2000; ++round) {
    abi::QuerySlot slot = {};
    Stream stream;
    stream.timestamp(&slot, kAll);
    std::thread waiter;
    if (round % 20 == 0) waiter = std::thread([&] { EXPECT_EQ(device_->waitQuery(&slot), Status::kOk); });
    ASSERT_EQ(Batch().run(stream).submit(device_, queue_), Status::kOk);
    EXPECT_EQ(device_->waitQuery(&slot), Status::kOk);
    EXPECT_NE(slot.available, 0u);
    if (waiter.joinable()) waiter.join();
    ASSERT_EQ(device_.idle(queue_), Status::kOk);
  }
}

TEST(Loss, EndsTheWaitForAQuery) {
  const auto earlier = trace::setLogSink([](trace::LogLevel, std::string_view) {});
  TestDevice device;
  abi::QuerySlot never = {}, written = {0, 1};
  std::thread waiter([&] { EXPECT_EQ(device->waitQuery(&never), Status::kDeviceLost); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  device->lose("the test wants it");
  waiter.join();
  EXPECT_EQ(device->waitQuery(&never), Status::kDeviceLost);
  EXPECT_EQ(device->waitQuery(&written), Status::kOk);  // as for points that were reached
  trace::setLogSink(earlier);
}

TEST(Loss, StubbornShaderDelaysTheAnswerOnce) {
  static std::atomic<bool> leave;
  leave = false;
  const Program stubborn([](abi::ComputeEnv*, uint64_t, uint64_t) {
    while (!leave) std::this_thread::yield();
  });
  Stream stream;
  stream.dispatch(stubborn, 0);
  TestDevice device;  // ends before what its workers may still read: no answer waited for them
  kmd::Queue* queue = device.queue();
  ASSERT_EQ(Batch().run(stream).submit(device, queue), Status::kOk);
  device->lose("test");
  const uint64_t start_ns = sched::monotonicNow_ns();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(device.idle(queue), Status::kDeviceLost);
  EXPECT_LT(sched::monotonicNow_ns() - start_ns, 4'000'000'000u);
  leave = true;
}

// Loops until the cancel word is set, as compiled loops do.
struct Endless {
  std::atomic<uint32_t>* started;
};
void endless(abi::ComputeEnv* env, uint64_t, uint64_t) {
  payload<Endless>(env).started->store(1);
  for (;;)
    if (__atomic_load_n(env->cancelWord, __ATOMIC_RELAXED)) env->runtime->leave(env);
}

TEST_P(Control, LosingTheDeviceEndsAnEndlessShader) {
  for (const uint32_t cost_ns : {10u, 1'000'000u}) {
    TestDevice device({.workerCount = 2, .inlineSmallSpans = GetParam()});
    kmd::Queue* queue = device.queue();
    kmd::Timeline* done = device.timeline();
    Program program(endless, cost_ns), after(store);
    std::atomic<uint32_t> started{0};
    uint32_t word = 0;
    Stream stream;
    stream.dispatch(program, Endless{&started}, 100);
    stream.barrier(kCompute, kCompute);
    stream.dispatch(after, Store{&word, 1, 0});
    ASSERT_EQ(Batch().run(stream).signal(done, 1).submit(device, queue), Status::kOk);
    std::thread waiter([&] { EXPECT_EQ(device.wait(done, 1), Status::kDeviceLost); });
    while (started.load() == 0) std::this_thread::yield();
    device->lose(nullptr);
    waiter.join();
    EXPECT_EQ(device.idle(queue), Status::kDeviceLost);
    EXPECT_EQ(word, 0u);
    EXPECT_EQ(device->timelineValue(done), 0u);
    EXPECT_EQ(Batch().submit(device, queue), Status::kDeviceLost);
  }
}

// Ends at once, or never: what its earlier runs took says nothing about the next.
struct EndlessIf {
  std::atomic<uint32_t>* started;
  uint32_t endless;
};
void endlessIf(abi::ComputeEnv* env, uint64_t begin, uint64_t end) {
  if (payload<EndlessIf>(env).endless) endless(env, begin, end);
}

// Whatever the compiler or earlier runs said about a program's cost: while it runs for ever on one queue, other queues
// work, submissions to its own return, and the loss of the device ends it.
class EndlessBeside : public ::testing::TestWithParam<std::tuple<bool, kmd::Engine, bool, uint32_t>> {
 protected:
  TestDevice device_{{.workerCount = 2, .inlineSmallSpans = std::get<0>(GetParam())}};
  kmd::Queue* stuck_ = device_.queue(kmd::Engine::kUniversal);
  kmd::Queue* other_ = device_.queue(std::get<1>(GetParam()));
  const bool measuredBefore_ = std::get<2>(GetParam());
  const uint32_t groups_ = std::get<3>(GetParam());
  Program program_{endlessIf, 10}, after_{store, 10};
  std::atomic<uint32_t> started_{0};
  uint32_t first_ = 0, second_ = 0;

  void SetUp() override {
    if (!measuredBefore_) return;
    Stream quick;
    quick.dispatch(program_, EndlessIf{&started_, 0});
    quick.dispatch(after_, Store{&first_, 0, 0});
    ASSERT_EQ(Batch().run(quick).submit(device_, stuck_), Status::kOk);
    ASSERT_EQ(device_.idle(stuck_), Status::kOk);
  }
  void hang(Stream& stream) { stream.dispatch(program_, EndlessIf{&started_, 1}, groups_); }

  // `stuck_` has been given the endless shader, `other_` a batch that writes `first_` and raises `done` to 1.
  void expectOnlyOneQueueHangs(kmd::Timeline* done) {
    EXPECT_EQ(device_.wait(done, 1, 20'000'000'000), Status::kOk);
    while (started_.load() == 0) std::this_thread::yield();
    std::thread([&] { EXPECT_EQ(Batch().signal(done, 100).submit(device_, stuck_), Status::kOk); }).join();
    Stream stream;
    stream.dispatch(after_, Store{&second_, 2, 0});
    EXPECT_EQ(Batch().run(stream).signal(done, 2).submit(device_, other_), Status::kOk);
    EXPECT_EQ(device_.wait(done, 2, 20'000'000'000), Status::kOk);
    EXPECT_EQ(first_, 1u);
    EXPECT_EQ(second_, 2u);
    device_->lose(nullptr);
    EXPECT_EQ(device_.idle(stuck_), Status::kDeviceLost);
    EXPECT_EQ(device_->timelineValue(done), 2u);
  }
};
// A measured program is trusted with both workers, so that many of its workgroups may hang them.
INSTANTIATE_TEST_SUITE_P(Unmeasured, EndlessBeside,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(kmd::Engine::kUniversal, kmd::Engine::kCompute),
                                            ::testing::Values(false), ::testing::Values(1u, 100'000u)));
INSTANTIATE_TEST_SUITE_P(Measured, EndlessBeside,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(kmd::Engine::kUniversal, kmd::Engine::kCompute),
                                            ::testing::Values(true), ::testing::Values(1u)));

// The event makes the other queue ready to be decoded by the very worker that then runs the shader.
TEST_P(EndlessBeside, QueueThatWasParkedOnAnEvent) {
  kmd::Event* event = device_.event();
  kmd::Timeline* done = device_.timeline();
  Stream waiting, stream;
  waiting.waitEvents({event}, kAll, kAll);
  waiting.dispatch(after_, Store{&first_, 1, 0});
  stream.fill(&second_, 4, 0);  // work, so that a worker decodes all of this
  stream.barrier(kAll, kAll);
  stream.setEvent(event, kAll);
  hang(stream);
  ASSERT_EQ(Batch().run(waiting).signal(done, 1).submit(device_, other_), Status::kOk);
  ASSERT_EQ(Batch().run(stream).submit(device_, stuck_), Status::kOk);
  expectOnlyOneQueueHangs(done);
}

// One signal makes spans of both queues ready at once, on one worker.
TEST_P(EndlessBeside, QueueWithAReadySpan) {
  kmd::Timeline* go = device_.timeline();
  kmd::Timeline* done = device_.timeline();
  kmd::Queue* signaller = device_.queue();
  Stream stream, other, small;
  hang(stream);
  other.dispatch(after_, Store{&first_, 1, 0});
  small.fill(&second_, 4, 0);
  ASSERT_EQ(Batch().wait(go, 1).run(stream).submit(device_, stuck_), Status::kOk);
  ASSERT_EQ(Batch().wait(go, 1).run(other).signal(done, 1).submit(device_, other_), Status::kOk);
  ASSERT_EQ(Batch().run(small).signal(go, 1).submit(device_, signaller), Status::kOk);
  expectOnlyOneQueueHangs(done);
}

// A span that was thought to be small gets the other workers once one of its workgroups has been timed.
TEST(Widening, SpanOfAWrongEstimateSpreads) {
  TestDevice device({.workerCount = 3});
  kmd::Queue* queue = device.queue();
  struct Seen {
    std::atomic<uint32_t>* workers;
  };
  std::atomic<uint32_t> workers{0};
  Program program(
      [](abi::ComputeEnv* env, uint64_t begin, uint64_t end) {
        payload<Seen>(env).workers->fetch_or(1u << env->workerIndex);
        std::this_thread::sleep_for(std::chrono::milliseconds(2) * (end - begin));
      },
      10);
  Stream stream;
  stream.dispatch(program, Seen{&workers}, 60);
  ASSERT_EQ(Batch().run(stream).submit(device, queue), Status::kOk);
  ASSERT_EQ(device.idle(queue), Status::kOk);
  EXPECT_EQ(workers.load(), 7u);
}

TEST_P(Control, DestroyingTheDeviceEndsAnEndlessShader) {
  Program program(endless, 1'000'000);
  std::atomic<uint32_t> started{0};
  Stream stream;
  stream.dispatch(program, Endless{&started}, 100);
  TestDevice device({.workerCount = 2, .inlineSmallSpans = GetParam()});
  kmd::Queue* queue = device.queue();
  ASSERT_EQ(Batch().run(stream).submit(device, queue), Status::kOk);
  while (started.load() == 0) std::this_thread::yield();
}

std::string gLines;
void keepLine(trace::LogLevel, std::string_view line) {
  gLines += std::string(line) + "\n";
}

struct Touch {
  uint32_t* address;
};
void touch(abi::ComputeEnv* env, uint64_t, uint64_t) {
  *payload<Touch>(env).address = 1;
}

TEST_P(Control, FaultLosesTheDeviceWithOneLine) {
  void* hole = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hole, MAP_FAILED);
  for (const bool copy : {false, true}) {
    TestDevice device({.workerCount = 2, .inlineSmallSpans = GetParam()});
    device.queue();
    kmd::Queue* queue = device.queue();
    kmd::Timeline* done = device.timeline();
    Program program(touch, 100, "wild one");
    uint32_t word = 0;
    Stream stream;
    if (copy)
      stream.copy(hole, &word, 4);
    else
      stream.dispatch(program, Touch{static_cast<uint32_t*>(hole)}, 3);
    stream.barrier(kAll, kAll);
    stream.fill(&word, 4, 7);
    gLines.clear();
    const auto earlier = trace::setLogSink(keepLine);
    // The loss may come before submit() returns.
    const Status submitted = Batch().run(stream).signal(done, 1).submit(device, queue);
    EXPECT_TRUE(submitted == Status::kOk || submitted == Status::kDeviceLost);
    EXPECT_EQ(device.wait(done, 1), Status::kDeviceLost);
    trace::setLogSink(earlier);
    EXPECT_EQ(word, 0u);
    EXPECT_EQ(std::count(gLines.begin(), gLines.end(), '\n'), 1) << gLines;
    EXPECT_NE(gLines.find("queue 1"), std::string::npos) << gLines;
    char address[32];
    std::snprintf(address, sizeof(address), "%lx", reinterpret_cast<unsigned long>(hole));
    EXPECT_NE(gLines.find(address), std::string::npos) << gLines;
    EXPECT_NE(gLines.find(copy ? "copy" : "wild one"), std::string::npos) << gLines;
  }
  munmap(hole, 4096);
}

TEST_P(Control, WildIndirectArgumentsLoseTheDevice) {
  const auto earlier = trace::setLogSink(keepLine);
  {
    TestDevice device({.workerCount = 2, .inlineSmallSpans = GetParam()});
    kmd::Queue* queue = device.queue();
    Program program(store);
    Stream stream;
    uint32_t word = 0;
    stream.dispatchIndirect(program, Store{&word, 1, 0}, reinterpret_cast<void*>(64));
    const Status submitted = Batch().run(stream).submit(device, queue);
    EXPECT_TRUE(submitted == Status::kOk || submitted == Status::kDeviceLost);
    EXPECT_EQ(device.idle(queue), Status::kDeviceLost);
    EXPECT_EQ(word, 0u);
  }
  trace::setLogSink(earlier);
}

TEST_P(Control, WatchdogLosesAQueueWithoutProgress) {
  const auto earlier = trace::setLogSink(keepLine);
  gLines.clear();
  {
    TestDevice device({.workerCount = 2, .watchdog_ns = 200'000'000, .inlineSmallSpans = GetParam()});
    kmd::Queue* queue = device.queue();
    kmd::Timeline* never = device.timeline();
    // Waiting is no lack of progress.
    ASSERT_EQ(Batch().wait(never, 1).submit(device, queue), Status::kOk);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_FALSE(device->lost());
    ASSERT_EQ(device->signalTimeline(never, 1), Status::kOk);
    Program program(endless);
    std::atomic<uint32_t> started{0};
    Stream stream;
    stream.dispatch(program, Endless{&started});
    // Long enough for this call to return first, on a busy machine too.
    ASSERT_EQ(Batch().run(stream).submit(device, queue), Status::kOk);
    EXPECT_EQ(device.idle(queue), Status::kDeviceLost);
  }
  trace::setLogSink(earlier);
  EXPECT_NE(gLines.find("no progress"), std::string::npos) << gLines;
}

// Loss at any moment of a busy device: nothing hangs, nothing crashes.
TEST_P(Control, LossAtRandomMoments) {
  for (int round = 0; round < 40; ++round) {
    TestDevice device({.workerCount = 3, .inlineSmallSpans = GetParam()});
    kmd::Queue* queues[2] = {device.queue(), device.queue(kmd::Engine::kCompute)};
    kmd::Timeline* a = device.timeline();
    kmd::Event* event = device.event();
    Program program(store, 30'000);
    uint32_t words[64] = {};
    Stream stream;
    for (uint32_t i = 0; i < 64; ++i) {
      stream.dispatch(program, Store{&words[i], i, 20});
      if (i % 8 == 7) stream.barrier(kAll, kAll);
      if (i == 50) stream.setEvent(event, kAll);
      if (i == 60) stream.waitEvents({event}, kAll, kAll);
    }
    std::thread submitter([&] {
      for (uint64_t i = 1; i < 100; ++i)
        if (Batch().wait(a, i - 1).run(stream).signal(a, i).submit(device, queues[i % 2]) != Status::kOk) break;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(round * 100));
    device->lose(nullptr);
    submitter.join();
    EXPECT_EQ(device.wait(a, 1000), Status::kDeviceLost);
  }
}

TEST(Corrupt, StreamsLoseTheDevice) {
  const auto earlier = trace::setLogSink(keepLine);
  {
    TestDevice device;
    kmd::Queue* queue = device.queue();
    Stream stream;
    stream.put(static_cast<abi::PacketOp>(999), abi::BarrierPacket{});
    const Status submitted = Batch().run(stream).submit(device, queue);
    EXPECT_EQ(submitted, Status::kDeviceLost);
  }
  {
    TestDevice device;
    kmd::Queue* queue = device.queue();
    Stream streams[20];
    for (int i = 0; i < 19; ++i) streams[i].call(streams[i + 1]);
    EXPECT_EQ(Batch().run(streams[0]).submit(device, queue), Status::kDeviceLost);
  }
  trace::setLogSink(earlier);
}

}  // namespace
}  // namespace pumice::gpu::test
