// The tiles of a pass as they are handed out: batch after batch without a barrier between batches. While workers are at
// the last tiles of one batch, others begin with those of the next; a tile is never worked on by two, and its batches
// are in order.
//
// Each tile has a token: free, held, or held and marked. Who comes to a held tile for the next batch marks it and
// leaves it; when its holder is done, the tile waits for anyone to go on with it.
//
// Under the pass's lock.
#pragma once

#include <cstdint>
#include <memory>

namespace pumice::gpu {

struct TileRange {
  uint32_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
  uint32_t count() const { return end - begin; }
};

class TileQueue {
 public:
  /// One batch's.
  struct Batch {
    uint32_t next = 0;         // tiles before it have been handed out, or are marked, or wait
    uint32_t left = 0;         // not finished
    uint32_t waiting = kNone;  // list of tiles that were marked and are free now
  };

  /// A new pass. Throws std::bad_alloc.
  void begin(uint32_t tiles);
  uint32_t tileCount() const { return tiles_; }

  void beginBatch(Batch* batch) const { *batch = {0, tiles_, kNone}; }
  /// Up to `group` tiles of the batch that follow each other; they are held until they are finished. Of a batch that
  /// follows another one only when that has no tile left to take. Empty: there are none.
  TileRange take(Batch* batch, uint64_t group);
  /// `next` is the batch behind this one, if it has begun to be taken from.
  void finish(Batch* batch, const TileRange& range, Batch* next);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  enum Token : uint8_t { kFree, kHeld, kHeldAndMarked };

  uint32_t tiles_ = 0, capacity_ = 0;
  std::unique_ptr<Token[]> tokens_;  // all free between passes
  std::unique_ptr<uint32_t[]> link_;
};

}  // namespace pumice::gpu
