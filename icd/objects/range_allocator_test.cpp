#include "icd/objects/range_allocator.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace pumice::icd {
namespace {

TEST(RangeAllocator, AgreesWithAByteMapOverRandomOperations) {
  constexpr uint64_t kSize = 512;
  RangeAllocator ranges;
  ranges.reset(kSize);
  std::vector<bool> used(kSize, false);
  std::vector<std::pair<uint64_t, uint64_t>> live;
  std::mt19937 random(7);
  for (int step = 0; step < 100'000; ++step) {
    if (random() % 2 == 0 || live.empty()) {
      const uint64_t size = 1 + random() % 40;
      uint64_t best = 0, run = 0;  // longest free run of the map
      for (bool u : used) best = std::max(best, run = u ? 0 : run + 1);
      const auto offset = ranges.allocate(size);
      ASSERT_EQ(offset.has_value(), best >= size);
      if (!offset) continue;
      for (uint64_t i = 0; i < size; ++i) {
        ASSERT_FALSE(used[*offset + i]);
        used[*offset + i] = true;
      }
      live.emplace_back(*offset, size);
    } else {
      const size_t at = random() % live.size();
      ranges.free(live[at].first, live[at].second);
      for (uint64_t i = 0; i < live[at].second; ++i) used[live[at].first + i] = false;
      live[at] = live.back();
      live.pop_back();
    }
    ASSERT_EQ(ranges.freeBytes(), static_cast<uint64_t>(std::count(used.begin(), used.end(), false)));
  }
}

}  // namespace
}  // namespace pumice::icd
