#include "icd/wsi/frame_clock.h"

#include <gtest/gtest.h>

#include <vector>

namespace pumice::icd {
namespace {

constexpr uint64_t kStart = 1'000'000, kPeriod = 100;

// Shows frames that are ready at these times; when they are shown.
std::vector<uint64_t> show(VkPresentModeKHR mode, std::initializer_list<uint64_t> readyAt) {
  FrameClock clock(mode, kPeriod, kStart);
  std::vector<uint64_t> out;
  uint64_t now = kStart;
  for (uint64_t ready : readyAt) {
    now = std::max(now, kStart + ready);
    now = std::max(now, clock.turn(now));
    clock.shown(now);
    out.push_back(now - kStart);
  }
  return out;
}

TEST(FrameClock, FifoHasOneFrameATurn) {
  EXPECT_EQ(show(VK_PRESENT_MODE_FIFO_KHR, {0, 0, 0, 0}), (std::vector<uint64_t>{100, 200, 300, 400}));
}

TEST(FrameClock, FifoWaitsForTheNextTurn) {
  EXPECT_EQ(show(VK_PRESENT_MODE_FIFO_KHR, {10, 250, 260, 1000}), (std::vector<uint64_t>{100, 300, 400, 1000}));
}

// A frame that missed its turn comes at once; one that is early waits.
TEST(FrameClock, RelaxedDoesNotWaitWhenLate) {
  EXPECT_EQ(show(VK_PRESENT_MODE_FIFO_RELAXED_KHR, {10, 110, 250, 260, 777}),
            (std::vector<uint64_t>{100, 200, 300, 400, 777}));
  EXPECT_EQ(show(VK_PRESENT_MODE_FIFO_RELAXED_KHR, {10, 350, 360}), (std::vector<uint64_t>{100, 350, 400}));
}

TEST(FrameClock, MailboxIsPacedImmediateIsNot) {
  EXPECT_EQ(show(VK_PRESENT_MODE_MAILBOX_KHR, {0, 110, 120}), (std::vector<uint64_t>{100, 200, 300}));
  EXPECT_EQ(show(VK_PRESENT_MODE_IMMEDIATE_KHR, {0, 1, 2, 350}), (std::vector<uint64_t>{0, 1, 2, 350}));
}

TEST(FrameClock, WithoutPeriodNothingWaits) {
  FrameClock clock(VK_PRESENT_MODE_FIFO_KHR, 0, kStart);
  EXPECT_EQ(clock.turn(kStart + 5), kStart + 5);
  clock.shown(kStart + 5);
  EXPECT_EQ(clock.turn(kStart + 6), kStart + 6);
}

}  // namespace
}  // namespace pumice::icd
