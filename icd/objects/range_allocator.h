// Sub-allocation inside one block, for descriptor pools: first fit over a sorted list of free ranges, neighbours
// merged. Not thread safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace pumice::icd {

class RangeAllocator {
 public:
  /// Everything is free afterwards. Sizes and offsets stay multiples of what the caller asks in.
  void reset(uint64_t size_B);

  /// Room for so many free ranges: free() takes no memory while there are no more.
  void reserve(size_t freeRanges) { ranges_.reserve(freeRanges); }

  std::optional<uint64_t> allocate(uint64_t size_B);
  void free(uint64_t offset_B, uint64_t size_B);

  /// Room in sum, however scattered.
  uint64_t freeBytes() const { return free_B_; }

 private:
  struct Range {
    uint64_t offset_B;
    uint64_t size_B;
  };
  std::vector<Range> ranges_;  // by offset, never two adjacent
  uint64_t free_B_ = 0;
};

}  // namespace pumice::icd
