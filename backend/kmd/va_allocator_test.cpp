#include "backend/kmd/va_allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace pumice::kmd {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kOperationsDivisor = 20;
#else
constexpr int kOperationsDivisor = 1;
#endif

using Place = VaAllocator::Place;

// The obviously right allocator: a map of the ranges in use, and a walk over the gaps.
class Model {
 public:
  Model(uint64_t base, uint64_t size, uint64_t granule) : base_(base), end_(base + size), granule_(granule) {}

  // 0 = fits nowhere.
  uint64_t place(uint64_t size, uint64_t align, Place place) const {
    size = rounded(size);
    uint64_t found = 0;
    forEachGap([&](uint64_t begin, uint64_t end) {
      if (end - begin < size) return false;
      const uint64_t low = (begin + align - 1) / align * align;
      const uint64_t high = (end - size) / align * align;
      if (low + size > end || high < begin) return false;
      found = place == Place::kLowest ? low : high;
      return place == Place::kLowest;
    });
    return found;
  }
  bool isFree(uint64_t address, uint64_t size) const {
    bool fits = false;
    forEachGap([&](uint64_t begin, uint64_t end) {
      fits = begin <= address && address + rounded(size) <= end;
      return fits;
    });
    return fits;
  }
  void insert(uint64_t address, uint64_t size) { used_[address] = rounded(size); }
  void erase(uint64_t address) { used_.erase(address); }
  // Start of the range in use that holds the address, or 0.
  uint64_t holder(uint64_t address) const {
    auto it = used_.upper_bound(address);
    if (it == used_.begin()) return 0;
    --it;
    return address < it->first + it->second ? it->first : 0;
  }
  uint64_t largestGap(uint32_t* gaps, uint64_t* total) const {
    uint64_t largest = 0;
    *gaps = 0;
    *total = 0;
    forEachGap([&](uint64_t begin, uint64_t end) {
      largest = std::max(largest, end - begin);
      *total += end - begin;
      ++*gaps;
      return false;
    });
    return largest;
  }

 private:
  uint64_t rounded(uint64_t size) const { return (std::max<uint64_t>(size, 1) + granule_ - 1) / granule_ * granule_; }
  template <typename F>
  void forEachGap(F visit) const {
    uint64_t at = base_;
    for (const auto& [address, size] : used_) {
      if (address > at && visit(at, address)) return;
      at = address + size;
    }
    if (end_ > at) visit(at, end_);
  }

  uint64_t base_, end_, granule_;
  std::map<uint64_t, uint64_t> used_;
};

struct Case {
  uint64_t base, size, granule;
  int operations, liveGoal;
};

class VaAllocatorRandom : public testing::TestWithParam<Case> {};

// Same answers as the model, to the byte: address for address, and failure for failure.
TEST_P(VaAllocatorRandom, AgreesWithModel) {
  const Case c = GetParam();
  VaAllocator va(c.base, c.size, c.granule);
  Model model(c.base, c.size, c.granule);
  std::mt19937_64 random(c.base ^ c.size);
  std::vector<VaBlock*> live;
  const int operations = c.operations / kOperationsDivisor;
  const auto below = [&](uint64_t n) { return random() % n; };
  int failures = 0, fixedHits = 0;
  for (int i = 0; i < operations; ++i) {
    const bool grow = live.empty() || below(static_cast<uint64_t>(c.liveGoal) * 2) >= live.size();
    const uint64_t kind = below(10);
    if (grow) {
      const uint64_t size = below(20) == 0 ? below(c.size) : below(c.granule * 12);
      if (kind == 0) {
        const uint64_t address = c.base + below(c.size / c.granule) * c.granule + (below(50) == 0 ? 1 : 0);
        VaBlock* block = nullptr;
        const Status status = va.allocateAt(address, size, &block);
        const bool expected = address % c.granule == 0 && model.isFree(address, size);
        ASSERT_EQ(status, expected ? Status::kOk : Status::kInvalidAddress);
        if (expected) {
          ASSERT_EQ(va.address(block), address);
          model.insert(address, size);
          live.push_back(block);
          ++fixedHits;
        }
      } else {
        const uint64_t align = uint64_t{1} << below(below(4) == 0 ? 20 : 10);
        const Place place = kind < 6 ? Place::kLowest : Place::kHighest;
        VaBlock* block = nullptr;
        const Status status = va.allocate(size, align, place, &block);
        const uint64_t expected = model.place(size, std::max(align, c.granule), place);
        ASSERT_EQ(status, expected ? Status::kOk : Status::kOutOfDeviceMemory) << size << " " << align;
        if (expected) {
          ASSERT_EQ(va.address(block), expected) << "operation " << i;
          ASSERT_GE(va.size_B(block), size);
          model.insert(expected, size);
          live.push_back(block);
        } else {
          ++failures;
        }
      }
    } else {
      const size_t victim = below(live.size());
      model.erase(va.address(live[victim]));
      va.free(live[victim]);
      live[victim] = live.back();
      live.pop_back();
    }
    if (i % 16 == 0) {
      const uint64_t address = c.base - c.granule + below(c.size + 2 * c.granule);
      const VaBlock* found = va.find(address);
      ASSERT_EQ(found ? va.address(found) : 0, model.holder(address));
    }
    if (i % 1024 == 0) {
      ASSERT_TRUE(va.consistent()) << "operation " << i;
      uint32_t gaps = 0;
      uint64_t total = 0;
      const uint64_t largest = model.largestGap(&gaps, &total);
      const VaReport report = va.report();
      ASSERT_EQ(report.largestFree_B, largest);
      ASSERT_EQ(report.free_B, total);
      ASSERT_EQ(report.used_B, c.size - total);
      ASSERT_EQ(report.freeRanges, gaps);
      ASSERT_EQ(report.usedRanges, live.size());
      size_t walked = 0;
      for (const VaBlock* b = va.nextUsed(nullptr); b; b = va.nextUsed(b))
        walked += model.holder(va.address(b)) == va.address(b);
      ASSERT_EQ(walked, live.size());
    }
  }
  EXPECT_GT(failures, 0);
  EXPECT_GT(fixedHits, 0);
  for (VaBlock* block : live) va.free(block);
  EXPECT_TRUE(va.consistent());
  EXPECT_EQ(va.report().freeRanges, 1u);
  EXPECT_EQ(va.report().largestFree_B, c.size);
  EXPECT_EQ(va.report().fragmentation, 0.0);
}

INSTANTIATE_TEST_SUITE_P(All, VaAllocatorRandom,
                         testing::Values(Case{0x5500'0000'0000, 64 * 300, 64, 1'500'000, 30},
                                         Case{0x5500'0000'0000, 64 * 3000, 64, 1'000'000, 200},
                                         Case{64 * 7, 64 * 997, 64, 1'000'000, 60},  // nothing is aligned
                                         Case{4096 * 3, 4096 * 501, 4096, 500'000, 40}, Case{5, 700, 1, 500'000, 50}));

TEST(VaAllocator, WholeRangeOfTheLargestSize) {
  constexpr uint64_t kSize = (uint64_t{UINT32_MAX}) * 64;
  VaAllocator va(0x5500'0000'0000, kSize, 64);
  VaBlock* block = nullptr;
  EXPECT_EQ(va.allocate(kSize + 1, 1, Place::kLowest, &block), Status::kOutOfDeviceMemory);
  EXPECT_EQ(va.allocate(UINT64_MAX, 1, Place::kLowest, &block), Status::kOutOfDeviceMemory);
  EXPECT_EQ(va.allocate(64, uint64_t{1} << 63, Place::kLowest, &block), Status::kOutOfDeviceMemory);
  EXPECT_EQ(va.allocateAt(0x5500'0000'0000, UINT64_MAX, &block), Status::kInvalidAddress);
  EXPECT_EQ(va.allocateAt(0, 64, &block), Status::kInvalidAddress);
  ASSERT_EQ(va.allocate(kSize, 1, Place::kHighest, &block), Status::kOk);
  EXPECT_EQ(va.address(block), 0x5500'0000'0000u);
  EXPECT_EQ(va.report().free_B, 0u);
  EXPECT_EQ(va.find(0x5500'0000'0000 + kSize - 1), block);
  EXPECT_EQ(va.find(0x5500'0000'0000 + kSize), nullptr);
  va.free(block);
  // The largest alignment class: 128 GiB.
  ASSERT_EQ(va.allocate(64, uint64_t{64} << 31, Place::kHighest, &block), Status::kOk);
  EXPECT_EQ(va.address(block), 0x5520'0000'0000u);
  va.free(block);
  EXPECT_TRUE(va.consistent());
}

// Fifty thousand gaps, none of which fits: an allocator that tries gaps one by one would need half a minute.
TEST(VaAllocator, ManyUnfitGapsCostNothing) {
  const uint64_t count = 50'000 / kOperationsDivisor;
  VaAllocator va(1 << 20, count * 256 + (1 << 20), 64);
  std::vector<VaBlock*> blocks(2 * count);
  for (VaBlock*& block : blocks) ASSERT_EQ(va.allocate(128, 64, Place::kLowest, &block), Status::kOk);
  for (size_t i = 0; i < blocks.size(); i += 2) va.free(blocks[i]);
  EXPECT_EQ(va.report().freeRanges, count + 1);
  const uint64_t tail = va.address(blocks.back()) + 128;
  for (uint64_t i = 0; i < count; ++i) {
    VaBlock* block = nullptr;
    // 192 bytes fit in no gap; 65 bytes at 4096 only in some: take both, then give back.
    ASSERT_EQ(va.allocate(192, 64, Place::kLowest, &block), Status::kOk);
    ASSERT_EQ(va.address(block), tail);
    va.free(block);
    ASSERT_EQ(va.allocate(65, 4096, Place::kHighest, &block), Status::kOk);
    ASSERT_EQ(va.address(block) % 4096, 0u);
    va.free(block);
  }
  EXPECT_TRUE(va.consistent());
  EXPECT_GT(va.report().fragmentation, 0.2);
}

}  // namespace
}  // namespace pumice::kmd
