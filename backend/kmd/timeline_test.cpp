#include "backend/kmd/timeline.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "backend/kmd/stable_pool.h"
#include "backend/sched/futex.h"

namespace pumice::kmd {
namespace {

TEST(Timeline, ReturnsTheReachedWaitersOldestPointFirst) {
  Timeline timeline;
  timeline.reset(0);
  std::mt19937 random(1);
  std::deque<TimelineWaiter> waiters;
  for (int i = 0; i < 200; ++i) {
    waiters.emplace_back().value = 1 + random() % 100;
    EXPECT_TRUE(timeline.addWaiter(&waiters.back()));
  }
  TimelineWaiter gone;
  gone.value = 50;
  EXPECT_TRUE(timeline.addWaiter(&gone));
  timeline.removeWaiter(&gone);
  size_t seen = 0;
  uint64_t previous = 0;
  for (uint64_t value : {1, 30, 30, 20, 99, 1000}) {
    for (TimelineWaiter* waiter = timeline.signal(value); waiter; waiter = waiter->next) {
      EXPECT_NE(waiter, &gone);
      EXPECT_LE(waiter->value, value);
      EXPECT_GE(waiter->value, previous);
      previous = waiter->value;
      ++seen;
    }
  }
  EXPECT_EQ(seen, waiters.size());
  EXPECT_EQ(timeline.value(), 1000u);
  TimelineWaiter late;
  late.value = 1000;
  EXPECT_FALSE(timeline.addWaiter(&late));
}

TEST(Timeline, AddAndSignalRaceLosesNoWaiter) {
  for (int round = 0; round < 300; ++round) {
    Timeline timeline;
    timeline.reset(0);
    std::deque<TimelineWaiter> waiters(20);
    std::atomic<uint32_t> reached{0};
    const auto count = [&](TimelineWaiter* chain) {
      for (; chain; chain = chain->next) reached.fetch_add(1);
    };
    std::thread signaller([&] {
      for (uint64_t value = 1; value <= 20; ++value) count(timeline.signal(value));
    });
    for (uint64_t i = 0; i < 20; ++i) {
      waiters[i].value = i + 1;
      if (!timeline.addWaiter(&waiters[i])) reached.fetch_add(1);
    }
    signaller.join();
    EXPECT_EQ(reached.load(), 20u);
  }
}

// Random waits, any and all, with and without deadlines, on random timelines that two threads raise.
TEST(Timeline, RandomWaitsEndWithTheTruth) {
  std::deque<Timeline> timelines(5);
  for (Timeline& timeline : timelines) timeline.reset(0);
  const std::atomic<bool> lost{false};
  const uint64_t last = 3000;
  std::vector<std::thread> threads;
  for (int half = 0; half < 2; ++half)
    threads.emplace_back([&, half] {
      for (uint64_t value = 1; value <= last; ++value)
        for (size_t i = static_cast<size_t>(half); i < timelines.size(); i += 2) timelines[i].signal(value);
    });
  for (uint32_t seed = 0; seed < 4; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int round = 0; round < 400; ++round) {
        std::vector<TimelinePoint> points(1 + random() % 20);
        for (TimelinePoint& point : points) point = {&timelines[random() % 5], 1 + random() % last};
        const bool any = random() % 2;
        const uint64_t deadline_ns = random() % 2 ? sched::kNoDeadline : sched::monotonicNow_ns() + random() % 100'000;
        const Status status = waitForPoints(points, any, deadline_ns, lost);
        if (status == Status::kTimeout) {
          EXPECT_GE(sched::monotonicNow_ns(), deadline_ns);
          continue;
        }
        EXPECT_EQ(status, Status::kOk);
        size_t reached = 0;
        for (const TimelinePoint& point : points) reached += point.timeline->value() >= point.value;
        EXPECT_GE(reached, any ? 1 : points.size());
      }
    });
  for (auto& thread : threads) thread.join();
}

TEST(Timeline, LossWakesTheSleepers) {
  std::deque<Timeline> timelines(20);
  std::vector<TimelinePoint> points;
  for (Timeline& timeline : timelines) {
    timeline.reset(0);
    points.push_back({&timeline, 1});
  }
  for (const bool any : {false, true}) {
    std::atomic<bool> lost{false};
    std::thread waiter([&] { EXPECT_EQ(waitForPoints(points, any, sched::kNoDeadline, lost), Status::kDeviceLost); });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    lost.store(true);
    for (Timeline& timeline : timelines) timeline.wakeAll();
    waiter.join();
  }
}

TEST(StablePool, RecyclesWithoutMoving) {
  StablePool<Timeline> pool;
  std::vector<Timeline*> first;
  for (int i = 0; i < 200; ++i) first.push_back(pool.acquire());
  for (Timeline* timeline : first) pool.release(timeline);
  size_t slots = 0;
  pool.forEach([&](Timeline&) { ++slots; });
  for (int i = 0; i < 200; ++i) pool.acquire();
  size_t later = 0;
  pool.forEach([&](Timeline&) { ++later; });
  EXPECT_EQ(slots, later);
}

}  // namespace
}  // namespace pumice::kmd
