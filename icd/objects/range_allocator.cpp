#include "icd/objects/range_allocator.h"

#include <algorithm>

namespace pumice::icd {

void RangeAllocator::reset(uint64_t size_B) {
  ranges_.clear();
  if (size_B != 0) ranges_.push_back({0, size_B});
  free_B_ = size_B;
}

std::optional<uint64_t> RangeAllocator::allocate(uint64_t size_B) {
  const auto at = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& r) { return r.size_B >= size_B; });
  if (at == ranges_.end()) return std::nullopt;
  const uint64_t offset = at->offset_B;
  at->offset_B += size_B;
  at->size_B -= size_B;
  if (at->size_B == 0) ranges_.erase(at);
  free_B_ -= size_B;
  return offset;
}

void RangeAllocator::free(uint64_t offset_B, uint64_t size_B) {
  if (size_B == 0) return;
  free_B_ += size_B;
  auto next = std::lower_bound(ranges_.begin(), ranges_.end(), offset_B,
                               [](const Range& r, uint64_t o) { return r.offset_B < o; });
  const bool joinsNext = next != ranges_.end() && next->offset_B == offset_B + size_B;
  const bool joinsPrevious = next != ranges_.begin() && (next - 1)->offset_B + (next - 1)->size_B == offset_B;
  if (joinsPrevious) {
    (next - 1)->size_B += size_B + (joinsNext ? next->size_B : 0);
    if (joinsNext) ranges_.erase(next);
  } else if (joinsNext) {
    next->offset_B = offset_B;
    next->size_B += size_B;
  } else {
    ranges_.insert(next, {offset_B, size_B});
  }
}

}  // namespace pumice::icd
