#include "backend/raster/bins.h"

#include <algorithm>
#include <cstring>

namespace pumice::raster {

BlockArena::BlockArena(std::byte* memory, uint32_t blockCount)
    : memory_(memory),
      blockCount_(blockCount),
      available_(0),
      free_(0),
      next_(std::make_unique<std::atomic<uint32_t>[]>(blockCount)) {
  for (uint32_t i = blockCount; i-- > 0;) giveBack(memory + i * kArenaBlockBytes);
}

bool BlockArena::reserve(uint32_t blocks) {
  uint32_t available = available_.load(std::memory_order_relaxed);
  do {
    if (available < blocks) return false;
  } while (!available_.compare_exchange_weak(available, available - blocks, std::memory_order_acquire,
                                             std::memory_order_relaxed));
  return true;
}

std::byte* BlockArena::take() {
  uint64_t head = free_.load(std::memory_order_acquire);
  for (;;) {
    const uint32_t first = static_cast<uint32_t>(head) - 1;
    const uint32_t next = next_[first].load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | next, std::memory_order_acquire,
                                    std::memory_order_acquire))
      return memory_ + first * kArenaBlockBytes;
  }
}

void BlockArena::giveBack(std::byte* block) {
  const uint32_t number = static_cast<uint32_t>(static_cast<size_t>(block - memory_) / kArenaBlockBytes);
  uint64_t head = free_.load(std::memory_order_relaxed);
  do {
    next_[number].store(static_cast<uint32_t>(head), std::memory_order_relaxed);
  } while (!free_.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | (number + 1), std::memory_order_release,
                                        std::memory_order_relaxed));
  available_.fetch_add(1, std::memory_order_release);
}

// Bottom-up merge sort of a list: entries come nearly in descending order, and the stack is turned round first.
TileEntry* TileList::takeInOrder() {
  TileEntry* list = head.exchange(nullptr, std::memory_order_acquire);
  TileEntry* sorted = nullptr;
  while (list) {
    TileEntry* const rest = list->next;
    list->next = sorted;
    sorted = list;
    list = rest;
  }
  for (size_t width = 1;; width *= 2) {
    TileEntry* left = sorted;
    TileEntry** tail = &sorted;
    size_t merges = 0;
    while (left) {
      ++merges;
      TileEntry* right = left;
      size_t leftSize = 0;
      for (; leftSize < width && right; ++leftSize) right = right->next;
      size_t rightSize = width;
      while (leftSize > 0 || (rightSize > 0 && right)) {
        const bool takeLeft = leftSize > 0 && !(rightSize > 0 && right && right->order < left->order);
        TileEntry*& from = takeLeft ? left : right;
        --(takeLeft ? leftSize : rightSize);
        *tail = from;
        tail = &from->next;
        from = from->next;
      }
      left = right;
    }
    *tail = nullptr;
    if (merges <= 1) return sorted;
  }
}

void Binner::begin(const PrimitiveSet* set, uint64_t order, TileEntry* entries, uint32_t capacity) {
  set_ = set;
  order_ = order;
  room_ = 0;
  pieceCount_ = piece_ = 0;
  extend(entries, capacity);
}

void Binner::extend(TileEntry* entries, uint32_t capacity) {
  pieces_[pieceCount_++] = {entries, 0, capacity};
  room_ += capacity;
}

void Binner::mark(uint32_t n, uint32_t tile, bool hidesTile) {
  TileEntry*& entry = current_[tile];
  if (!entry) {
    if (pieces_[piece_].used == pieces_[piece_].capacity) ++piece_;
    Piece& piece = pieces_[piece_];
    entry = &piece.entries[piece.used++];
    --room_;
    *entry = {nullptr, set_, order_, tile, 0, {}};
  }
  if (hidesTile) {
    std::memset(entry->mask, 0, sizeof(entry->mask));
    entry->hiding = n + 1;
  }
  entry->mask[n / 64] |= uint64_t{1} << (n % 64);
}

// Whether the rectangle has the tile's part of the area.
bool Binner::holdsTile(const PrimitiveRect& r, uint32_t x, uint32_t y) const {
  const auto side = [this](uint32_t tile) { return static_cast<int32_t>(tile << grid_.edge_log2); };
  const PixelRect& area = grid_.area;
  return r.x0 <= std::max(side(x), area.x0) && r.y0 <= std::max(side(y), area.y0) &&
         r.x1 >= std::min(side(x + 1), area.x1) && r.y1 >= std::min(side(y + 1), area.y1);
}

bool Binner::add(uint32_t n, uint32_t layer, uint32_t samples_log2, bool hides) {
  const PrimitiveRect& r = set_->rects[n];
  const uint32_t log2 = grid_.edge_log2;
  const uint32_t x0 = r.x0 >> log2;
  const uint32_t y0 = r.y0 >> log2;
  const uint32_t x1 = (r.x1 - 1u) >> log2;
  const uint32_t y1 = (r.y1 - 1u) >> log2;
  const uint32_t base = layer * grid_.tilesPerLayer();
  if ((x1 - x0 + 1) * (y1 - y0 + 1) > room_) {
    uint32_t missing = 0;
    for (uint32_t y = y0; y <= y1; ++y)
      for (uint32_t x = x0; x <= x1; ++x) missing += current_[base + y * grid_.columns + x] == nullptr;
    if (missing > room_) return false;
  }
  if (x0 == x1 && y0 == y1 && !hides) {
    mark(n, base + y0 * grid_.columns + x0, false);
    return true;
  }

  // Of each edge, its greatest and its least value at a sample of the first tile, and what a step adds. In int64
  // nothing comes near its range (fixed_point.h).
  const Edges& edges = set_->edges[n];
  const SamplePattern& pattern = kSamplePatterns[samples_log2];
  const int64_t tileEdge = int64_t{kSubpixels} << log2;
  const int64_t first = pattern.min;
  const int64_t last = tileEdge - kSubpixels + pattern.max;
  int64_t greatest[kMaxEdges];
  int64_t least[kMaxEdges];
  for (uint32_t e = 0; e < kMaxEdges; ++e) {
    const int64_t a = edges.a[e];
    const int64_t b = edges.b[e];
    const int64_t corner = edges.c[e] + a * (x0 * tileEdge) + b * (y0 * tileEdge);
    greatest[e] = corner + a * (a > 0 ? last : first) + b * (b > 0 ? last : first);
    least[e] = corner + a * (a > 0 ? first : last) + b * (b > 0 ? first : last);
  }
  for (uint32_t y = y0; y <= y1; ++y)
    for (uint32_t x = x0; x <= x1; ++x) {
      int64_t outside = 0;
      int64_t notFull = 0;
      for (uint32_t e = 0; e < kMaxEdges; ++e) {
        const int64_t step = edges.a[e] * (tileEdge * (x - x0)) + edges.b[e] * (tileEdge * (y - y0));
        outside |= greatest[e] + step;
        notFull |= least[e] + step;
      }
      if (outside < 0) continue;
      const bool whole = notFull >= 0 && holdsTile(r, x, y);
      mark(n, base + y * grid_.columns + x, hides && whole);
    }
  return true;
}

uint32_t Binner::publish() {
  uint32_t count = 0;
  for (uint32_t p = 0; p < pieceCount_; ++p) {
    for (uint32_t i = 0; i < pieces_[p].used; ++i) {
      TileEntry& entry = pieces_[p].entries[i];
      current_[entry.tile] = nullptr;
      lists_[entry.tile].push(&entry);
    }
    count += pieces_[p].used;
  }
  pieceCount_ = 0;
  set_ = nullptr;
  return count;
}

}  // namespace pumice::raster
