// Memory of chunks: blocks of a queue's arena (raster/bins.h). What a batch takes is linked, and goes back when its
// tiles are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "backend/raster/bins.h"

namespace pumice::draw {

/// At the begin of each block that is in use.
struct alignas(64) BlockLink {
  BlockLink* next;
};

inline constexpr uint32_t kBlockRoom_B = raster::kArenaBlockBytes - sizeof(BlockLink);

/// What one worker takes for its chunks. That thread alone. What a chunk leaves of its last block is used by the next
/// one of the same batch.
class ChunkMemory {
 public:
  /// `blocks` are reserved. A new `batch` forgets what was left.
  void begin(raster::BlockArena& arena, uint32_t blocks, uint64_t batch) {
    arena_ = &arena;
    reserved_ = blocks;
    taken_ = 0;
    if (batch != batch_) open_ = spare_ = nullptr;
    batch_ = batch;
  }
  /// A block of its own: kBlockRoom_B bytes, aligned to 64. Never more of them than are reserved.
  std::byte* block() {
    if (spare_) return std::exchange(spare_, nullptr);
    --reserved_;
    ++taken_;
    auto* link = reinterpret_cast<BlockLink*>(arena_->take());
    link->next = nullptr;
    (last_ ? last_->next : first_) = link;
    last_ = link;
    return reinterpret_cast<std::byte*>(link + 1);
  }
  /// A block of block() that nothing is in, for the next one who wants one.
  void putBack(std::byte* block) { spare_ = block; }
  /// By the chunk, so far.
  uint32_t taken() const { return taken_; }
  /// At most kBlockRoom_B bytes, aligned to 16.
  std::byte* allocate(uint32_t size_B) {
    size_B = (size_B + 15) & ~15u;
    if (!open_ || openUsed_ + size_B > kBlockRoom_B) {
      open_ = block();
      openUsed_ = 0;
    }
    std::byte* at = open_ + openUsed_;
    openUsed_ += size_B;
    return at;
  }
  /// The chunk has ended: gives back what it did not take. The blocks that it took are the caller's, linked from
  /// `*first` to `*last`, nullptr if there are none.
  void end(BlockLink** first, BlockLink** last) {
    arena_->unreserve(reserved_);
    reserved_ = 0;
    *first = first_;
    *last = last_;
    first_ = last_ = nullptr;
  }

 private:
  raster::BlockArena* arena_ = nullptr;
  BlockLink* first_ = nullptr;
  BlockLink* last_ = nullptr;
  std::byte* open_ = nullptr;
  std::byte* spare_ = nullptr;
  uint32_t openUsed_ = 0;
  uint32_t reserved_ = 0, taken_ = 0;
  uint64_t batch_ = 0;
};

/// What a chunk may need at most.
class ChunkBound {
 public:
  explicit ChunkBound(const raster::TileGrid& grid);

  /// A piece as far as memory is concerned.
  struct Size {
    uint32_t outputs;  // primitives after clipping
    uint32_t layered;  // primitives that may each be in a layer of its own
    uint32_t varyings_B;
  };
  void add(const Size& size) {
    outputs_ += size.outputs;
    layered_ += size.layered;
    bytes_ += size.varyings_B + kPiece_B;
  }
  uint32_t blocks() const { return blocksOf(outputs_, layered_, bytes_); }
  uint32_t blocksWith(const Size& size) const {
    return blocksOf(outputs_ + size.outputs, layered_ + size.layered, bytes_ + size.varyings_B + kPiece_B);
  }
  void clear() { outputs_ = layered_ = bytes_ = 0; }

 private:
  static constexpr uint32_t kPiece_B = 128;  // ChunkDraw, rounded
  uint32_t blocksOf(uint32_t outputs, uint32_t layered, uint32_t bytes) const;

  uint32_t blocksPerSet_;
  uint32_t outputs_ = 0, layered_ = 0, bytes_ = 0;
};

/// How a set lies in its block: behind it is room for its first entries.
inline constexpr uint32_t kSetRoom_B = (sizeof(raster::PrimitiveSet) + 63) / 64 * 64;
inline constexpr uint32_t kFirstEntries = (kBlockRoom_B - kSetRoom_B) / sizeof(raster::TileEntry);
inline constexpr uint32_t kBlockEntries = kBlockRoom_B / sizeof(raster::TileEntry);
static_assert(kFirstEntries >= 64);

}  // namespace pumice::draw
