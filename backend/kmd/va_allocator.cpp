#include "backend/kmd/va_allocator.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>

#include "backend/trace/seeded_fault.h"

namespace pumice::kmd {

namespace {

using Fits = std::array<uint32_t, kVaAlignClasses>;

constexpr Fits makeMasks() {
  Fits masks{};
  for (uint32_t i = 0; i < kVaAlignClasses; ++i) masks[i] = (uint32_t{1} << i) - 1;
  return masks;
}
constexpr Fits kAlignMasks = makeMasks();

// What a free range can hold at each alignment. Only the low 32 bits of the start matter: classes end at 1 << 31.
Fits fitsOf(uint64_t start, uint32_t units) {
  Fits fits;
  const uint32_t toNext = 0u - static_cast<uint32_t>(start);
  for (uint32_t i = 0; i < kVaAlignClasses; ++i) {
    const uint32_t pad = toNext & kAlignMasks[i];
    fits[i] = units > pad ? units - pad : 0;
  }
  return fits;
}

void raiseTo(Fits& fits, const Fits& other) {
  for (uint32_t i = 0; i < kVaAlignClasses; ++i) fits[i] = std::max(fits[i], other[i]);
}

uint32_t fitOf(uint64_t start, uint32_t units, uint32_t alignClass) {
  const uint32_t pad = (0u - static_cast<uint32_t>(start)) & kAlignMasks[alignClass];
  return units > pad ? units - pad : 0;
}

constexpr uint32_t kNodesPerBlock = 128;

}  // namespace

struct VaAllocator::Pool {
  std::unique_ptr<Pool> earlier;
  VaBlock nodes[kNodesPerBlock];
};

VaAllocator::VaAllocator(uint64_t base, uint64_t size_B, uint64_t granule_B)
    : granule_log2_(static_cast<uint32_t>(std::countr_zero(granule_B))) {
  assert(std::has_single_bit(granule_B) && base % granule_B == 0 && size_B % granule_B == 0);
  assert(size_B > 0 && (size_B >> granule_log2_) <= UINT32_MAX);
  begin_ = base >> granule_log2_;
  end_ = begin_ + (size_B >> granule_log2_);
  if (!reserveNodes(1)) throw std::bad_alloc();
  VaBlock* node = takeNode();
  node->start = begin_;
  node->units = static_cast<uint32_t>(end_ - begin_);
  node->best = fitsOf(node->start, node->units);
  root_ = first_ = node;
  freeRanges_ = 1;
}

VaAllocator::~VaAllocator() {
  // One block at a time: a chain of unique_ptr would recurse.
  while (pool_) pool_ = std::move(pool_->earlier);
}

bool VaAllocator::reserveNodes(uint32_t count) noexcept {
  while (spareCount_ < count) {
    Pool* block = new (std::nothrow) Pool;
    if (!block) return false;
    block->earlier = std::move(pool_);
    pool_.reset(block);
    for (VaBlock& node : block->nodes) giveNode(&node);
  }
  return true;
}

VaBlock* VaAllocator::takeNode() {
  VaBlock* node = spare_;
  spare_ = node->after;
  --spareCount_;
  *node = VaBlock{};
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  node->priority = random_;
  return node;
}

void VaAllocator::giveNode(VaBlock* node) {
  node->after = spare_;
  spare_ = node;
  ++spareCount_;
}

// 0 = more than the whole range.
uint32_t VaAllocator::unitsFor(uint64_t size_B) const {
  const uint64_t whole = (end_ - begin_) << granule_log2_;
  if (size_B > whole) return 0;
  return static_cast<uint32_t>((std::max<uint64_t>(size_B, 1) + granule_B() - 1) >> granule_log2_);
}

uint32_t VaAllocator::alignClassFor(uint64_t align_B) const {
  assert(align_B == 0 || std::has_single_bit(align_B));
  const auto log2 = static_cast<uint32_t>(std::countr_zero(std::max<uint64_t>(align_B, 1)));
  return log2 > granule_log2_ ? log2 - granule_log2_ : 0;
}

Status VaAllocator::allocate(uint64_t size_B, uint64_t align_B, Place place, VaBlock** out) noexcept {
  const uint32_t units = unitsFor(size_B);
  const uint32_t alignClass = alignClassFor(align_B);
  if (units == 0 || alignClass >= kVaAlignClasses || root_->best[alignClass] < units) return Status::kOutOfDeviceMemory;
  if (!reserveNodes(2)) return Status::kOutOfHostMemory;

  const bool lowest = place == Place::kLowest;
  VaBlock* node = root_;
  for (;;) {
    VaBlock* nearer = lowest ? node->left : node->right;
    if (nearer && nearer->best[alignClass] >= units) {
      node = nearer;
      continue;
    }
    if (!node->used && fitOf(node->start, node->units, alignClass) >= units) break;
    node = lowest ? node->right : node->left;
  }
  const uint64_t alignUnits = uint64_t{1} << alignClass;
  const uint64_t start = lowest ? (node->start + alignUnits - 1) & ~(alignUnits - 1)
                                : (node->start + node->units - units) & ~(alignUnits - 1);
  *out = carve(node, start, units);
  return Status::kOk;
}

Status VaAllocator::allocateAt(uint64_t address, uint64_t size_B, VaBlock** out) noexcept {
  const uint32_t units = unitsFor(size_B);
  const uint64_t start = address >> granule_log2_;
  if (units == 0 || address % granule_B() != 0 || start < begin_ || start >= end_) return Status::kInvalidAddress;
  VaBlock* range = lastAtOrBelow(start);
  if (range->used || range->start + range->units < start + units) return Status::kInvalidAddress;
  if (!reserveNodes(2)) return Status::kOutOfHostMemory;
  *out = carve(range, start, units);
  return Status::kOk;
}

// Cuts [start, start + units) out of a free range. The node of the range stays with what lies below the cut, or becomes
// the cut itself. Two spare nodes are there.
VaBlock* VaAllocator::carve(VaBlock* range, uint64_t start, uint32_t units) {
  const auto below = static_cast<uint32_t>(start - range->start);
  const uint32_t above = range->units - below - units;
  VaBlock* used = range;
  range->units = below != 0 ? below : units;
  range->used = below == 0;
  refreshUp(range);
  if (below != 0) {
    used = takeNode();
    used->start = start;
    used->units = units;
    used->used = true;
    insertAfter(range, used);
  } else {
    --freeRanges_;
  }
  if (above != 0) {
    VaBlock* rest = takeNode();
    rest->start = start + units;
    rest->units = above;
    insertAfter(used, rest);
    ++freeRanges_;
  }
  used->owner = nullptr;
  usedUnits_ += units;
  ++usedRanges_;
  return used;
}

void VaAllocator::free(VaBlock* block) noexcept {
  assert(block->used);
  usedUnits_ -= block->units;
  --usedRanges_;
  // Removals first, while every node still tells the truth: a refresh stops at the first node that does not change.
  uint32_t units = block->units;
  if (VaBlock* above = block->after; above && !above->used && !PUMICE_SEEDED_FAULT("va-no-merge")) {
    units += above->units;
    remove(above);
    --freeRanges_;
  }
  if (VaBlock* below = block->before; below && !below->used) {
    remove(block);
    below->units += units;
    refreshUp(below);
  } else {
    block->used = false;
    block->owner = nullptr;
    block->units = units;
    ++freeRanges_;
    refreshUp(block);
  }
}

const VaBlock* VaAllocator::find(uint64_t address) const {
  const uint64_t start = address >> granule_log2_;
  if (start < begin_ || start >= end_) return nullptr;
  const VaBlock* node = lastAtOrBelow(start);
  return node->used ? node : nullptr;
}

// Ranges tile the whole, so there is one for every start inside.
VaBlock* VaAllocator::lastAtOrBelow(uint64_t start) const {
  VaBlock* found = nullptr;
  for (VaBlock* node = root_; node;) {
    if (node->start <= start) {
      found = node;
      node = node->right;
    } else {
      node = node->left;
    }
  }
  return found;
}

void VaAllocator::insertAfter(VaBlock* position, VaBlock* node) {
  node->before = position;
  node->after = position->after;
  if (node->after) node->after->before = node;
  position->after = node;
  // The place of the successor's key: below `position` to the right if that is empty, else leftmost there, which is the
  // left child of the next node.
  if (!position->right) {
    position->right = node;
    node->parent = position;
  } else {
    node->after->left = node;
    node->parent = node->after;
  }
  node->best = node->used ? Fits{} : fitsOf(node->start, node->units);
  while (node->parent && node->parent->priority < node->priority) rotateUp(node);
  if (node->parent) refreshUp(node->parent);
}

void VaAllocator::remove(VaBlock* node) {
  while (node->left && node->right) rotateUp(node->left->priority > node->right->priority ? node->left : node->right);
  VaBlock* child = node->left ? node->left : node->right;
  VaBlock* parent = node->parent;
  replaceChild(parent, node, child);
  if (child) child->parent = parent;
  if (parent) refreshUp(parent);

  if (node->before)
    node->before->after = node->after;
  else
    first_ = node->after;
  if (node->after) node->after->before = node->before;
  giveNode(node);
}

void VaAllocator::replaceChild(VaBlock* parent, VaBlock* from, VaBlock* to) {
  if (!parent)
    root_ = to;
  else if (parent->left == from)
    parent->left = to;
  else
    parent->right = to;
}

// The node takes its parent's place. What the whole subtree can hold stays the same; the two nodes are recomputed.
void VaAllocator::rotateUp(VaBlock* node) {
  VaBlock* parent = node->parent;
  VaBlock* grandparent = parent->parent;
  VaBlock* moved;
  if (parent->left == node) {
    moved = node->right;
    node->right = parent;
    parent->left = moved;
  } else {
    moved = node->left;
    node->left = parent;
    parent->right = moved;
  }
  if (moved) moved->parent = parent;
  parent->parent = node;
  node->parent = grandparent;
  replaceChild(grandparent, parent, node);
  for (VaBlock* changed : {parent, node}) {
    Fits fits = changed->used ? Fits{} : fitsOf(changed->start, changed->units);
    if (changed->left) raiseTo(fits, changed->left->best);
    if (changed->right) raiseTo(fits, changed->right->best);
    changed->best = fits;
  }
}

// Recomputes the node and what is above it, up to the first one that does not change.
void VaAllocator::refreshUp(VaBlock* node) {
  for (; node; node = node->parent) {
    Fits fits = node->used ? Fits{} : fitsOf(node->start, node->units);
    if (node->left) raiseTo(fits, node->left->best);
    if (node->right) raiseTo(fits, node->right->best);
    if (fits == node->best) return;
    node->best = fits;
  }
}

VaBlock* VaAllocator::nextUsed(const VaBlock* after) const {
  VaBlock* node = after ? after->after : first_;
  while (node && !node->used) node = node->after;
  return node;
}

VaReport VaAllocator::report() const {
  VaReport report{};
  const uint64_t freeUnits = end_ - begin_ - usedUnits_;
  report.used_B = usedUnits_ << granule_log2_;
  report.free_B = freeUnits << granule_log2_;
  report.largestFree_B = uint64_t{root_->best[0]} << granule_log2_;
  report.usedRanges = usedRanges_;
  report.freeRanges = freeRanges_;
  if (freeUnits != 0)
    report.fragmentation = 1.0 - static_cast<double>(report.largestFree_B) / static_cast<double>(report.free_B);
  return report;
}

bool VaAllocator::subtreeConsistent(const VaBlock* node) const {
  Fits fits = node->used ? Fits{} : fitsOf(node->start, node->units);
  for (const VaBlock* child : {node->left, node->right}) {
    if (!child) continue;
    if (child->parent != node || child->priority > node->priority || !subtreeConsistent(child)) return false;
    raiseTo(fits, child->best);
  }
  if (node->left && node->left->start >= node->start) return false;
  if (node->right && node->right->start <= node->start) return false;
  return fits == node->best;
}

bool VaAllocator::consistent() const {
  if (root_->parent || !subtreeConsistent(root_)) return false;
  uint64_t next = begin_, used = 0;
  uint32_t usedRanges = 0, freeRanges = 0;
  const VaBlock* before = nullptr;
  for (const VaBlock* node = first_; node; before = node, node = node->after) {
    if (node->start != next || node->units == 0 || node->before != before) return false;
    if (before && !before->used && !node->used) return false;
    if (lastAtOrBelow(node->start) != node) return false;
    next += node->units;
    if (node->used) used += node->units;
    ++(node->used ? usedRanges : freeRanges);
  }
  return next == end_ && used == usedUnits_ && usedRanges == usedRanges_ && freeRanges == freeRanges_;
}

}  // namespace pumice::kmd
