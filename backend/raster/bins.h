// Bins: which primitives of which sets touch which tile. A tile's entries are a stack that any worker pushes on; when
// the tile begins they are put into the order of sets. The memory is an arena of fixed size; what a set of primitives
// may need at most is reserved before it is begun, so nothing here fails or grows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/raster/setup.h"

namespace pumice::raster {

inline constexpr size_t kArenaBlockBytes = 64 * 1024;

// Blocks of fixed size. Any thread reserves, takes and gives back at any time; the memory is the caller's.
class BlockArena {
 public:
  // `memory` has blockCount * kArenaBlockBytes, aligned to 64. Throws std::bad_alloc.
  BlockArena(std::byte* memory, uint32_t blockCount);
  BlockArena(const BlockArena&) = delete;
  BlockArena& operator=(const BlockArena&) = delete;

  // Whether that many can be taken from now on. Reservations are in the order in which callers ask: who is refused lets
  // what is in flight end, and asks again.
  bool reserve(uint32_t blocks);
  // Blocks that were reserved and not taken.
  void unreserve(uint32_t blocks) { available_.fetch_add(blocks, std::memory_order_release); }
  // One of the reserved ones.
  std::byte* take();
  // A block that was taken; it can be reserved again.
  void giveBack(std::byte* block);

  uint32_t blockCount() const { return blockCount_; }
  uint32_t available() const { return available_.load(std::memory_order_relaxed); }

 private:
  std::byte* memory_;
  uint32_t blockCount_;
  std::atomic<uint32_t> available_;  // not reserved and not taken
  // The blocks that nobody has: number + 1 of the first one, and in the upper half a count of changes, so that a block
  // that went and came back is not mistaken for one that stayed. Links stand beside the blocks: who loses the race for
  // one still reads its link.
  std::atomic<uint64_t> free_;
  std::unique_ptr<std::atomic<uint32_t>[]> next_;
};

// Tiles of one layer after the other, each row by row, from the framebuffer's first pixel on.
struct TileGrid {
  uint32_t edge_log2;  // 4 to 7
  uint32_t columns, rows, layers;
  PixelRect area;  // what is drawn to: a tile is covered whole if its part of the area is

  uint32_t tilesPerLayer() const { return columns * rows; }
  uint32_t tileCount() const { return columns * rows * layers; }
};

struct TileEntry {
  TileEntry* next;
  const PrimitiveSet* set;
  uint64_t order;  // of the set in the batch
  uint32_t tile;
  uint32_t hiding;  // 1 + the last primitive that hides all before it in this tile; 0 if none does
  uint64_t mask[kMaxSetPrimitives / 64];
};
static_assert(sizeof(TileEntry) == 64);
static_assert(sizeof(PrimitiveSet) <= kArenaBlockBytes);

// The stack of one tile. All zero is empty.
struct TileList {
  std::atomic<TileEntry*> head{nullptr};

  void push(TileEntry* entry) {
    entry->next = head.load(std::memory_order_relaxed);
    while (!head.compare_exchange_weak(entry->next, entry, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  // Takes all entries, linked in ascending order. One thread, when nobody pushes any more.
  TileEntry* takeInOrder();
};

// Puts the primitives of one set after the other into bins. One per worker.
class Binner {
 public:
  // `current` has grid.tileCount() pointers, all null, and is the binner's until it goes.
  Binner(const TileGrid& grid, TileList* lists, TileEntry** current) : grid_(grid), lists_(lists), current_(current) {}
  Binner(const Binner&) = delete;
  Binner& operator=(const Binner&) = delete;

  static constexpr uint32_t kMaxPieces = 20;

  // Entries that a primitive may take at most.
  uint32_t maxEntries() const { return grid_.tilesPerLayer(); }

  // A set whose entries go to entries[0 .. capacity-1].
  void begin(const PrimitiveSet* set, uint64_t order, TileEntry* entries, uint32_t capacity);
  // More room for the set's entries. Up to kMaxPieces - 1 times.
  void extend(TileEntry* entries, uint32_t capacity);
  // Primitive n, in ascending order. `hides`: where it covers a tile, what is before it cannot be seen. False, and
  // nothing done: the entries may not suffice; there has to be more room, or the set has to end before this primitive.
  // A set with maxEntries() of room never lacks any while all its primitives are in one layer.
  bool add(uint32_t n, uint32_t layer, uint32_t samples_log2, bool hides);
  // Pushes the entries: from here on the set, and they, are the tiles'. Returns how many there are.
  uint32_t publish();

 private:
  void mark(uint32_t n, uint32_t tile, bool hidesTile);
  bool holdsTile(const PrimitiveRect& r, uint32_t x, uint32_t y) const;

  TileGrid grid_;
  TileList* lists_;
  TileEntry** current_;
  const PrimitiveSet* set_ = nullptr;
  uint64_t order_ = 0;
  uint32_t room_ = 0;  // entries that are left, in all pieces
  // Where entries go. Those before the last one with a use are full.
  struct Piece {
    TileEntry* entries;
    uint32_t used, capacity;
  };
  Piece pieces_[kMaxPieces];
  uint32_t pieceCount_ = 0;
  uint32_t piece_ = 0;
};

}  // namespace pumice::raster
