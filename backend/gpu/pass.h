// A pass while it runs: who does what next. Geometry in chunks, then tiles, batch after batch: a batch ends when its
// memory does (docs/graphics.md).
//
// Two spans stand for a pass in the queue's gates: its geometry and its tiles. Both hand out the same jobs: a worker
// that comes with one of them takes what there is. Chunks of the first batch may run before the gate of Fragment has
// opened.
//
// Threads: the holder of the queue's token makes it; then any worker that holds a reference to one of its spans, each
// call under the pass's own lock. Passes of a queue are cut one after the other, in order.
#pragma once

#include <atomic>
#include <memory>

#include "backend/draw/chunk_source.h"
#include "backend/gpu/tile_work.h"
#include "backend/sched/thread_annotations.h"

namespace pumice::gpu {

struct Machine;
struct Node;
struct Span;
class Queue;

class Pass {
 public:
  Pass* link = nullptr;  // OwnedPool

  struct Job {
    enum Kind : uint8_t { kNone, kChunk, kTiles } kind = kNone;
    // Tiles.
    uint32_t begin = 0, end = 0;
    BatchPlace place{};
    // Chunk.
    uint64_t batch = 0;
  };

  /// What has become possible by a call; whoever made it brings it about.
  struct Effects {
    bool cut = false;           // the next pass of the queue may be cut
    bool geometryDone = false;  // no chunk will run any more
    bool tilesDone = false;     // nothing will
    // There are chunks, or tiles, for other workers. A reference to the side's span has been taken, the caller's; of a
    // pass without spans they mean nothing.
    bool startGeometry = false, startTiles = false;
    bool blocksBack = false;  // a pass that waits for blocks may go on
  };

  enum class Side : uint8_t { kGeometry, kTiles };

  /// The token's holder. `at` is behind the begin. Throws std::bad_alloc.
  void begin(Queue& queue, const draw::PassInfo& info, draw::PacketWalker at, const draw::QueryTargets& outer,
             raster::BlockArena& arena, uint64_t tileCost_ns);
  void setSpans(Span* geometry, Span* tiles, Node* cut);

  /// The gates of one side have opened. Whether there is something to do now: then a reference to the side's span has
  /// been taken, the caller's.
  bool open(Side side) PUMICE_EXCLUDES(mutex_);
  /// The next job for a worker; a chunk is written to `*chunk`.
  Job take(Machine& machine, draw::Chunk* chunk, Effects* effects) PUMICE_EXCLUDES(mutex_);
  /// Before a job is finished: how long it took.
  void measured(const Job& job, uint64_t elapsed_ns);
  void finishChunk(draw::BlockLink* first, draw::BlockLink* last, Effects* effects) PUMICE_EXCLUDES(mutex_);
  void finishTiles(uint32_t count, Effects* effects) PUMICE_EXCLUDES(mutex_);
  /// Blocks have come back: true if it was waiting for some. Then a reference to the geometry's span has been taken.
  bool resume() PUMICE_EXCLUDES(mutex_);

  /// A span has gone. True for the last.
  bool release() { return references_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  const draw::PassInfo& info() const { return info_; }
  raster::BlockArena& arena() { return *arena_; }
  raster::TileList* lists() { return lists_.get(); }
  Span* span(Side side) const { return side == Side::kGeometry ? geometry_ : tiles_; }
  Node* cutNode() const { return cut_; }
  Queue& queue() const { return *queue_; }

 private:
  enum class Phase : uint8_t { kClosed, kGeometry, kTilesClosed, kTiles, kDone };

  void beginBatchLocked() PUMICE_REQUIRES(mutex_);
  void endGeometryLocked(Effects* effects) PUMICE_REQUIRES(mutex_);
  void endTilesLocked(Effects* effects) PUMICE_REQUIRES(mutex_);
  void exhaustLocked(Effects* effects) PUMICE_REQUIRES(mutex_);
  draw::ChunkSource::Next cutLocked(Machine& machine, draw::Chunk* chunk) PUMICE_REQUIRES(mutex_);

  Queue* queue_ = nullptr;
  Span* geometry_ = nullptr;
  Span* tiles_ = nullptr;
  Node* cut_ = nullptr;
  draw::PassInfo info_;
  raster::BlockArena* arena_ = nullptr;
  std::unique_ptr<raster::TileList[]> lists_;  // all empty between passes
  uint32_t listCount_ = 0;
  std::atomic<uint32_t> references_{0};
  std::atomic<uint64_t> tileCost_ns_{0};  // of one

  sched::Mutex mutex_;
  Phase phase_ PUMICE_GUARDED_BY(mutex_) = Phase::kClosed;
  draw::ChunkSource source_ PUMICE_GUARDED_BY(mutex_);
  bool tilesOpen_ PUMICE_GUARDED_BY(mutex_) = false;
  bool exhausted_ PUMICE_GUARDED_BY(mutex_) = false;  // no chunk is left
  bool closed_ PUMICE_GUARDED_BY(mutex_) = false;     // no chunk is left for this batch
  bool starved_ PUMICE_GUARDED_BY(mutex_) = false;    // waits for blocks of other passes
  uint64_t batch_ PUMICE_GUARDED_BY(mutex_) = 0;
  bool firstBatch_ PUMICE_GUARDED_BY(mutex_) = true;
  uint32_t chunks_ PUMICE_GUARDED_BY(mutex_) = 0;   // of the batch
  uint32_t running_ PUMICE_GUARDED_BY(mutex_) = 0;  // of them
  uint32_t nextTile_ PUMICE_GUARDED_BY(mutex_) = 0;
  uint32_t tilesLeft_ PUMICE_GUARDED_BY(mutex_) = 0;
  draw::BlockLink* blocks_ PUMICE_GUARDED_BY(mutex_) = nullptr;  // of the batch
};

}  // namespace pumice::gpu
