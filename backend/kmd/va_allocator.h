// Hands out ranges of an address space. Knows nothing of pages: it only keeps books.
//
// Every range, free or used, is a node of one treap ordered by address. Each node also knows, for each power-of-two
// alignment, the longest allocation that some free range of its subtree could hold; so the lowest (or highest) place
// that really fits is found in O(log n) for any size and alignment, exactly, without trying ranges one by one.
// Neighbouring free ranges are always merged. Freeing needs no memory, so it cannot fail.
//
// Not thread-safe: the owner locks. Addresses and sizes are in bytes, and multiples of the granule.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/kmd/status.h"

namespace pumice::kmd {

inline constexpr uint32_t kVaAlignClasses = 32;  // alignments granule << 0 .. granule << 31

// A range in use, as a handle for free(). The allocator owns it.
struct VaBlock {
  void* owner = nullptr;  // the user's

 private:
  friend class VaAllocator;
  uint64_t start = 0;  // in granules
  uint32_t units = 0;  // in granules
  uint32_t priority = 0;
  bool used = false;
  VaBlock* parent = nullptr;
  VaBlock* left = nullptr;
  VaBlock* right = nullptr;
  VaBlock* before = nullptr;  // neighbours by address
  VaBlock* after = nullptr;
  // Of this subtree: units that an allocation aligned to 1 << class may have at most.
  std::array<uint32_t, kVaAlignClasses> best{};
};

struct VaReport {
  uint64_t used_B;
  uint64_t free_B;
  uint64_t largestFree_B;
  uint32_t usedRanges;
  uint32_t freeRanges;
  // Share of the free bytes that the largest allocation cannot have: 0 = one piece.
  double fragmentation;
};

class VaAllocator {
 public:
  enum class Place : uint8_t { kLowest, kHighest };

  // Serves [base, base + size). The granule is a power of two that divides both, and size / granule < 2^32.
  // Throws std::bad_alloc.
  VaAllocator(uint64_t base, uint64_t size_B, uint64_t granule_B);
  ~VaAllocator();
  VaAllocator(const VaAllocator&) = delete;
  VaAllocator& operator=(const VaAllocator&) = delete;

  // The size is rounded up to granules, zero to one. The alignment is a power of two. kOutOfDeviceMemory: fits nowhere.
  Status allocate(uint64_t size_B, uint64_t align_B, Place place, VaBlock** out) noexcept;
  // kInvalidAddress: outside, in use, or not a multiple of the granule.
  Status allocateAt(uint64_t address, uint64_t size_B, VaBlock** out) noexcept;
  void free(VaBlock* block) noexcept;

  uint64_t address(const VaBlock* block) const { return block->start << granule_log2_; }
  uint64_t size_B(const VaBlock* block) const { return uint64_t{block->units} << granule_log2_; }
  uint64_t granule_B() const { return uint64_t{1} << granule_log2_; }

  // The range in use that holds the address, or nullptr. O(log n).
  const VaBlock* find(uint64_t address) const;

  // Walks the ranges in use in address order: nullptr begins, nullptr ends.
  VaBlock* nextUsed(const VaBlock* after) const;

  VaReport report() const;

  // Checks every invariant, in O(n): for tests and dumps.
  bool consistent() const;

 private:
  struct Pool;

  uint32_t unitsFor(uint64_t size_B) const;
  uint32_t alignClassFor(uint64_t align_B) const;
  VaBlock* lastAtOrBelow(uint64_t start) const;
  bool reserveNodes(uint32_t count) noexcept;
  VaBlock* takeNode();
  void giveNode(VaBlock* node);

  VaBlock* carve(VaBlock* range, uint64_t start, uint32_t units);
  void insertAfter(VaBlock* position, VaBlock* node);
  void remove(VaBlock* node);
  void rotateUp(VaBlock* node);
  void replaceChild(VaBlock* parent, VaBlock* from, VaBlock* to);
  void refreshUp(VaBlock* node);
  bool subtreeConsistent(const VaBlock* node) const;

  uint64_t begin_ = 0;  // in granules
  uint64_t end_ = 0;
  uint32_t granule_log2_ = 0;
  uint32_t random_ = 0x9e3779b9u;
  VaBlock* root_ = nullptr;
  VaBlock* first_ = nullptr;
  uint64_t usedUnits_ = 0;
  uint32_t usedRanges_ = 0;
  uint32_t freeRanges_ = 0;

  // Nodes come from blocks that live as long as the allocator.
  std::unique_ptr<Pool> pool_;
  VaBlock* spare_ = nullptr;  // linked by `after`
  uint32_t spareCount_ = 0;
};

}  // namespace pumice::kmd
