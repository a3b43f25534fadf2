#include "backend/kmd/ring.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <thread>
#include <vector>

namespace pumice::kmd {
namespace {

Timeline* fakeTimeline(uint64_t n) {
  return reinterpret_cast<Timeline*>(n * 8 + 8);
}

TEST(SubmissionRing, KeepsEverythingInOrderAcrossThreads) {
  SubmissionRing ring;
  const uint64_t total = 50'000;
  const auto countsOf = [](uint64_t n) { return std::array<size_t, 3>{n % 3, n % 1000 == 7 ? 3000 : n % 5, n % 4}; };
  std::thread consumer([&] {
    for (uint64_t n = 0; n < total; ++n) {
      const RingRecord* record;
      while (!(record = ring.front())) std::this_thread::yield();
      const auto counts = countsOf(n);
      ASSERT_EQ(record->waits().size(), counts[0]);
      ASSERT_EQ(record->streams().size(), counts[1]);
      ASSERT_EQ(record->signals().size(), counts[2]);
      for (const SubmitWait& wait : record->waits()) {
        ASSERT_EQ(wait.timeline, fakeTimeline(n));
        ASSERT_EQ(wait.value, n);
      }
      for (size_t i = 0; i < record->streams().size(); ++i)
        ASSERT_EQ(record->streams()[i], reinterpret_cast<const std::byte*>(n + i));
      for (const SubmitSignal& signal : record->signals()) ASSERT_EQ(signal.value, n + 1);
      ring.pop();
    }
    EXPECT_EQ(ring.front(), nullptr);
  });
  std::mt19937 random(3);
  uint64_t next = 0;
  while (next < total) {
    // Some calls carry many batches.
    const uint64_t count = std::min<uint64_t>(total - next, random() % 20 == 0 ? 300 : 1);
    std::vector<std::vector<SubmitWait>> waits(count);
    std::vector<std::vector<const std::byte*>> streams(count);
    std::vector<std::vector<SubmitSignal>> signals(count);
    std::vector<Submission> batches;
    for (uint64_t b = 0; b < count; ++b) {
      const uint64_t n = next + b;
      const auto counts = countsOf(n);
      waits[b].assign(counts[0], {fakeTimeline(n), n, 1});
      for (size_t i = 0; i < counts[1]; ++i) streams[b].push_back(reinterpret_cast<const std::byte*>(n + i));
      signals[b].assign(counts[2], {fakeTimeline(n), n + 1, 1});
      batches.push_back({waits[b], streams[b], signals[b]});
    }
    ASSERT_EQ(ring.push(batches), Status::kOk);
    next += count;
    ASSERT_LE(ring.head(), ring.tail());
  }
  consumer.join();
  EXPECT_EQ(ring.head(), total);
  EXPECT_EQ(ring.tail(), total);
}

}  // namespace
}  // namespace pumice::kmd
