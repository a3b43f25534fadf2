// Submissions, timelines and waits, without work.
#include <atomic>
#include <thread>

#include "backend/gpu/test_support.h"

namespace pumice::gpu::test {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kSlowdown = 10;
#else
constexpr int kSlowdown = 1;
#endif

TEST(Submit, EmptyWithMetWaitsRetiresBeforeTheReturn) {
  TestDevice device;
  kmd::Queue* queue = device.queue();
  kmd::Timeline* done = device.timeline();
  kmd::Timeline* before = device.timeline(7);
  ASSERT_EQ(Batch().wait(before, 7).signal(done, 1).submit(device, queue), Status::kOk);
  EXPECT_EQ(device->timelineValue(done), 1u);
  const kmd::QueueCounters counters = device->counters(queue);
  EXPECT_EQ(counters.ringTail, 1u);
  EXPECT_EQ(counters.ringHead, 1u);
  EXPECT_EQ(counters.retired, 1u);
}

TEST(Submit, MillionEmptySubmissionsLoseNothing) {
  TestDevice device;
  kmd::Queue* queue = device.queue();
  kmd::Timeline* done = device.timeline();
  const uint64_t count = 1'000'000 / kSlowdown;
  const uint64_t start_ns = sched::monotonicNow_ns();
  for (uint64_t i = 1; i <= count; ++i) {
    const kmd::SubmitSignal signal{done, i, kAll};
    const kmd::Submission submission{{}, {}, {&signal, 1}};
    ASSERT_EQ(device->submit(queue, {&submission, 1}), Status::kOk);
  }
  const uint64_t elapsed_ns = sched::monotonicNow_ns() - start_ns;
  EXPECT_EQ(device->timelineValue(done), count);
  EXPECT_EQ(device.idle(queue), Status::kOk);
  EXPECT_EQ(device->counters(queue).retired, count);
  std::printf("empty submit and retire: %.0f ns\n", static_cast<double>(elapsed_ns) / static_cast<double>(count));
}

TEST(Submit, SeveralBatchesInOneCall) {
  TestDevice device;
  kmd::Queue* queue = device.queue();
  kmd::Timeline* done = device.timeline();
  std::vector<kmd::SubmitSignal> signals;
  for (uint64_t i = 1; i <= 5000; ++i) signals.push_back({done, i, kAll});
  std::vector<kmd::Submission> batches;
  for (const auto& signal : signals) batches.push_back({{}, {}, {&signal, 1}});
  ASSERT_EQ(device->submit(queue, batches), Status::kOk);
  EXPECT_EQ(device->timelineValue(done), 5000u);
  EXPECT_EQ(device->counters(queue).retired, 5000u);
}

TEST(Submit, WaitBeforeSignalAcrossQueues) {
  TestDevice device;
  kmd::Queue* first = device.queue(kmd::Engine::kUniversal);
  kmd::Queue* second = device.queue(kmd::Engine::kCompute);
  kmd::Timeline* a = device.timeline();
  kmd::Timeline* b = device.timeline();
  ASSERT_EQ(Batch().wait(a, 3).signal(b, 1).submit(device, first), Status::kOk);
  EXPECT_EQ(device->timelineValue(b), 0u);
  EXPECT_EQ(device.idle(first, 1'000'000), Status::kTimeout);
  ASSERT_EQ(Batch().signal(a, 2).submit(device, second), Status::kOk);
  EXPECT_EQ(device->timelineValue(b), 0u);
  ASSERT_EQ(Batch().signal(a, 3).submit(device, second), Status::kOk);
  EXPECT_EQ(device.wait(b, 1), Status::kOk);
  EXPECT_EQ(device.idle(first), Status::kOk);
}

TEST(Submit, WaitWithoutStagesStillComesBeforeTheSignals) {
  TestDevice device;
  kmd::Queue* queue = device.queue();
  kmd::Timeline* gate = device.timeline();
  kmd::Timeline* done = device.timeline();
  ASSERT_EQ(Batch().wait(gate, 1, 0).signal(done, 1).submit(device, queue), Status::kOk);
  EXPECT_EQ(device->timelineValue(done), 0u);
  ASSERT_EQ(device->signalTimeline(gate, 1), Status::kOk);
  EXPECT_EQ(device.wait(done, 1), Status::kOk);
}

TEST(Submit, LaterBatchesDoNotOvertakeSignals) {
  TestDevice device;
  kmd::Queue* queue = device.queue();
  kmd::Timeline* gate = device.timeline();
  kmd::Timeline* done = device.timeline();
  ASSERT_EQ(Batch().wait(gate, 1).signal(done, 1).submit(device, queue), Status::kOk);
  ASSERT_EQ(Batch().signal(done, 2).submit(device, queue), Status::kOk);
  EXPECT_EQ(device->timelineValue(done), 0u);  // a signal comes after everything earlier on its queue
  ASSERT_EQ(device->signalTimeline(gate, 1), Status::kOk);
  EXPECT_EQ(device.wait(done, 2), Status::kOk);
}

// Ten thousand hand-overs round three queues, submitted from three threads, each queue waiting for the one before.
TEST(Submit, HandOversBetweenQueuesOfThreeKinds) {
  TestDevice device;
  const kmd::Engine engines[] = {kmd::Engine::kUniversal, kmd::Engine::kCompute, kmd::Engine::kCopy};
  kmd::Queue* queues[3];
  kmd::Timeline* timelines[3];
  for (int i = 0; i < 3; ++i) {
    queues[i] = device.queue(engines[i]);
    timelines[i] = device.timeline();
  }
  const uint64_t rounds = 3334;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      for (uint64_t round = 1; round <= rounds; ++round) {
        const int previous = (i + 2) % 3;
        const uint64_t awaited = i == 0 ? round - 1 : round;
        EXPECT_EQ(Batch().wait(timelines[previous], awaited).signal(timelines[i], round).submit(device, queues[i]),
                  Status::kOk);
      }
    });
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(device.idle(queues[i]), Status::kOk);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(device->timelineValue(timelines[i]), rounds);
}

// More batches than the window has nodes, all held by one wait.
TEST(Submit, WindowOfWaitingBatchesReopens) {
  TestDevice device;
  kmd::Queue* queue = device.queue();
  kmd::Timeline* gate = device.timeline();
  kmd::Timeline* done = device.timeline();
  const uint64_t count = 10'000;
  for (uint64_t i = 1; i <= count; ++i)
    ASSERT_EQ(Batch().wait(gate, i).signal(done, i).submit(device, queue), Status::kOk);
  EXPECT_LT(device->counters(queue).ringHead, count);
  for (uint64_t i = 1; i <= count; i += 7) {
    ASSERT_EQ(device->signalTimeline(gate, i), Status::kOk);
    ASSERT_EQ(device.wait(done, i), Status::kOk);
  }
  ASSERT_EQ(device->signalTimeline(gate, count), Status::kOk);
  EXPECT_EQ(device.idle(queue), Status::kOk);
  EXPECT_EQ(device->timelineValue(done), count);
}

TEST(Submit, SignalOfAPartialScopeDoesNotWaitForOtherStages) {
  TestDevice device;
  kmd::Queue* queue = device.queue();
  kmd::Timeline* gate = device.timeline();
  kmd::Timeline* transfers = device.timeline();
  kmd::Timeline* all = device.timeline();
  ASSERT_EQ(Batch().wait(gate, 1, kCompute).signal(transfers, 1, kTransfer).signal(all, 1).submit(device, queue),
            Status::kOk);
  EXPECT_EQ(device->timelineValue(transfers), 1u);
  EXPECT_EQ(device->timelineValue(all), 0u);
  ASSERT_EQ(device->signalTimeline(gate, 1), Status::kOk);
  EXPECT_EQ(device.wait(all, 1), Status::kOk);
}

// A signal without stages has no work to come after. It comes after its batch's waits all the same, whatever these
// name.
TEST(Submit, SignalWithoutStagesComesAfterTheWaitsOfItsBatch) {
  for (const StageMask waited : {StageMask{0}, kTransfer, kHost, kAll}) {
    TestDevice device;
    kmd::Queue* queue = device.queue();
    kmd::Timeline* go = device.timeline();
    kmd::Timeline* done = device.timeline();
    ASSERT_EQ(Batch().wait(go, 1, waited).wait(go, 2, kCompute).signal(done, 1, 0).submit(device, queue), Status::kOk);
    ASSERT_EQ(Batch().signal(done, 2, 0).submit(device, queue), Status::kOk);
    for (uint64_t value : {0u, 1u}) {
      if (value) {
        ASSERT_EQ(device->signalTimeline(go, value), Status::kOk);
      }
      EXPECT_EQ(device.wait(done, 1, 2'000'000), Status::kTimeout) << waited;
    }
    ASSERT_EQ(device->signalTimeline(go, 2), Status::kOk);
    EXPECT_EQ(device.wait(done, 2), Status::kOk) << waited;
  }
}

// Whoever sees the signal of the whole batch may destroy everything that the batch signals: nothing of it may be on its
// way still, on whichever thread.
TEST(Submit, SignalsOfPartialScopesComeBeforeThatOfTheBatch) {
  TestDevice device;
  kmd::Queue* queue = device.queue();
  kmd::Timeline* gates[] = {device.timeline(), device.timeline()};
  kmd::Timeline* all = device.timeline();
  std::vector<kmd::Timeline*> partial(100);
  for (kmd::Timeline*& each : partial) each = device.timeline();
  const uint64_t rounds = 2000 / kSlowdown;
  std::atomic<uint64_t> round{0};
  std::thread other([&] {
    for (uint64_t i = 1; i <= rounds; ++i) {
      while (round.load() < i) std::this_thread::yield();
      EXPECT_EQ(device->signalTimeline(gates[1], i), Status::kOk);
    }
  });
  uint64_t late = 0;
  for (uint64_t i = 1; i <= rounds; ++i) {
    Batch batch;
    batch.wait(gates[0], i, kCompute).wait(gates[1], i, kTransfer);
    for (kmd::Timeline* each : partial) batch.signal(each, i, kCompute);
    ASSERT_EQ(batch.signal(all, i).submit(device, queue), Status::kOk);
    std::thread first([&] { EXPECT_EQ(device->signalTimeline(gates[0], i), Status::kOk); });
    while (device->timelineValue(partial[0]) < i) std::this_thread::yield();
    round.store(i);  // in the middle of the partial signals
    while (device->timelineValue(all) < i) std::this_thread::yield();
    for (kmd::Timeline* each : partial) late += device->timelineValue(each) < i;
    first.join();
  }
  other.join();
  EXPECT_EQ(late, 0u);
}

TEST(Timeline, WaitAnyReturnsWithTheFirst) {
  TestDevice device;
  kmd::Timeline* a = device.timeline();
  kmd::Timeline* b = device.timeline();
  const kmd::TimelinePoint points[] = {{a, 1}, {b, 5}};
  EXPECT_EQ(device->waitTimelines(points, true, 0), Status::kTimeout);
  EXPECT_EQ(device->waitTimelines(points, true, sched::monotonicNow_ns() + 2'000'000), Status::kTimeout);
  std::thread signaller([&] {
    EXPECT_EQ(device->signalTimeline(b, 4), Status::kOk);
    EXPECT_EQ(device->signalTimeline(b, 6), Status::kOk);
  });
  EXPECT_EQ(device->waitTimelines(points, true, sched::kNoDeadline), Status::kOk);
  EXPECT_EQ(device->waitTimelines(points, false, 0), Status::kTimeout);
  signaller.join();
}

TEST(Timeline, WaitAllOfMany) {
  TestDevice device;
  std::vector<kmd::TimelinePoint> points;
  for (uint64_t i = 0; i < 100; ++i) points.push_back({device.timeline(), i + 1});
  std::thread signaller([&] {
    for (const auto& point : points) EXPECT_EQ(device->signalTimeline(point.timeline, point.value), Status::kOk);
  });
  EXPECT_EQ(device->waitTimelines(points, false, sched::kNoDeadline), Status::kOk);
  signaller.join();
}

// Waiters that destroy the timeline as soon as they see the value: the signaller must not touch freed memory, nor wake
// waiters of the next life.
TEST(Timeline, DestroyedByTheWaiterWhileTheSignalIsUnderWay) {
  TestDevice device;
  for (int round = 0; round < 2000 / kSlowdown; ++round) {
    kmd::Timeline* timeline = device.timeline();
    std::thread signaller([&] { EXPECT_EQ(device->signalTimeline(timeline, 1000), Status::kOk); });
    EXPECT_EQ(device.wait(timeline, 1000), Status::kOk);
    device->destroyTimeline(timeline);
    kmd::Timeline* next = device.timeline();
    EXPECT_EQ(device.wait(next, 1, 10'000), Status::kTimeout);
    device->destroyTimeline(next);
    signaller.join();
  }
}

TEST(Timeline, PingPongBetweenThreads) {
  TestDevice device;
  kmd::Timeline* ping = device.timeline();
  kmd::Timeline* pong = device.timeline();
  const uint64_t rounds = 20'000 / kSlowdown;
  std::thread other([&] {
    for (uint64_t i = 1; i <= rounds; ++i) {
      EXPECT_EQ(device.wait(ping, i), Status::kOk);
      EXPECT_EQ(device->signalTimeline(pong, i), Status::kOk);
    }
  });
  for (uint64_t i = 1; i <= rounds; ++i) {
    EXPECT_EQ(device->signalTimeline(ping, i), Status::kOk);
    EXPECT_EQ(device.wait(pong, i), Status::kOk);
  }
  other.join();
}

TEST(Loss, WakesWaitersAndRefusesSubmissions) {
  TestDevice device;
  kmd::Queue* queue = device.queue();
  kmd::Timeline* never = device.timeline();
  kmd::Timeline* reached = device.timeline(3);
  std::thread waiter([&] {
    const kmd::TimelinePoint point{never, 1};
    EXPECT_EQ(device->waitTimelines({&point, 1}, false, sched::kNoDeadline), Status::kDeviceLost);
  });
  std::thread idler([&] {
    ASSERT_EQ(Batch().wait(never, 1).submit(device, queue), Status::kOk);
    EXPECT_EQ(device->waitIdle(queue, sched::kNoDeadline), Status::kDeviceLost);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  device->lose("the test wants it");
  waiter.join();
  idler.join();
  EXPECT_TRUE(device->lost());
  EXPECT_EQ(Batch().submit(device, queue), Status::kDeviceLost);
  EXPECT_EQ(device.wait(never, 1), Status::kDeviceLost);
  EXPECT_EQ(device.wait(reached, 3), Status::kOk);
}

TEST(Device, OpensAndClosesManyTimes) {
  for (int round = 0; round < 200 / kSlowdown; ++round) {
    TestDevice device({.workerCount = 2, .watchdog_ns = 1'000'000'000});
    kmd::Queue* queue = device.queue();
    ASSERT_EQ(Batch().submit(device, queue), Status::kOk);
  }
}

}  // namespace
}  // namespace pumice::gpu::test
