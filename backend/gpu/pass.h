// A pass while it runs: who does what next. Geometry in chunks, then tiles, batch after batch: a batch ends when it has
// half of the queue's arena (docs/graphics.md). Two batches are in flight at a time.
//
// Two spans stand for a pass in the queue's gates: its geometry and its tiles. Both hand out the same jobs: a worker
// that comes with one of them takes what there is, tiles of complete batches first, because they give memory back.
// Chunks may run before the gate of Fragment has opened.
//
// Threads: the holder of the queue's token makes it; then any worker that holds a reference to one of its spans, each
// call under the pass's own lock. Passes of a queue are cut one after the other, in order.
#pragma once

#include <atomic>
#include <memory>

#include "backend/draw/chunk_source.h"
#include "backend/gpu/tile_queue.h"
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
    uint8_t slot = 0;  // of its batch
    BatchPlace place{};
    TileRange tiles;
    uint64_t batch = 0;  // number of the batch of all passes
  };

  /// What has become possible by a call; whoever made it brings it about.
  struct Effects {
    bool cut = false;           // the next pass of the queue may be cut
    bool geometryDone = false;  // no chunk will run any more
    bool tilesDone = false;     // nothing will
    bool blocksBack = false;    // a pass that waits for blocks may go on
    // There are chunks, or tiles, for workers that are not here. A reference to the side's span has been taken, the
    // caller's; of a pass without spans they mean nothing.
    bool startGeometry = false, startTiles = false;
    uint32_t workersHere = 0;
  };

  enum class Side : uint8_t { kGeometry, kTiles };

  /// The token's holder. `at` is behind the begin. Throws std::bad_alloc.
  void begin(Queue& queue, const draw::PassInfo& info, draw::PacketWalker at, const draw::QueryTargets& outer,
             raster::BlockArena& arena, uint64_t tileCost_ns, bool measured);
  void setSpans(Span* geometry, Span* tiles, Node* cut);

  /// The gates of one side have opened. Whether there is something to do now: then a reference to the side's span has
  /// been taken, the caller's.
  bool open(Side side) PUMICE_EXCLUDES(mutex_);
  /// A worker comes; it is here until take() has nothing for it, or until it leaves.
  void enter() PUMICE_EXCLUDES(mutex_);
  void leave() PUMICE_EXCLUDES(mutex_);
  /// The next job for a worker; a chunk is written to `*chunk`.
  Job take(Machine& machine, draw::Chunk* chunk, Effects* effects) PUMICE_EXCLUDES(mutex_);
  /// Before a job is finished: how long it took.
  void measured(const Job& job, uint64_t elapsed_ns);
  /// The chunk has taken the blocks from `*first` to `*last`, `blocks` of them.
  void finishChunk(const Job& job, draw::BlockLink* first, draw::BlockLink* last, uint32_t blocks, uint32_t reserved,
                   Effects* effects) PUMICE_EXCLUDES(mutex_);
  void finishTiles(const Job& job, Effects* effects) PUMICE_EXCLUDES(mutex_);
  /// Blocks have come back: true if it was waiting for some. Then a reference to the geometry's span has been taken.
  bool resume() PUMICE_EXCLUDES(mutex_);

  /// A span has gone. True for the last.
  bool release() { return references_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  const draw::PassInfo& info() const { return info_; }
  raster::BlockArena& arena() { return *arena_; }
  /// A batch's list of each tile.
  raster::TileList* lists(uint8_t slot) { return lists_.get() + slot * size_t{info_.grid.tileCount()}; }
  Span* span(Side side) const { return side == Side::kGeometry ? geometry_ : tiles_; }
  Node* cutNode() const { return cut_; }
  Queue& queue() const { return *queue_; }

 private:
  static constexpr uint32_t kSlots = 2;

  struct Batch {
    uint64_t number = 0;  // of all passes
    bool first = false;   // of the pass
    bool last = false;
    bool closed = false;    // no more chunks
    bool complete = false;  // and all have ended
    uint32_t chunks = 0;    // so far
    uint32_t running = 0;   // of them
    uint32_t blocks = 0;    // taken by those that have ended, reserved by those that run
    draw::BlockLink* links = nullptr;
    TileQueue::Batch tiles;
  };

  Batch& batchLocked(uint32_t number) PUMICE_REQUIRES(mutex_) { return batches_[number % kSlots]; }
  Batch& newestLocked() PUMICE_REQUIRES(mutex_) { return batchLocked(begun_ - 1); }
  uint32_t inFlightLocked() const PUMICE_REQUIRES(mutex_) { return begun_ - retired_; }
  bool takeTilesLocked(Machine& machine, Job* job) PUMICE_REQUIRES(mutex_);
  // Whether something has changed: a chunk is in *job, or it is worth while to look again.
  bool cutLocked(Machine& machine, draw::Chunk* chunk, Job* job, Effects* effects) PUMICE_REQUIRES(mutex_);
  draw::ChunkSource::Next nextLocked(Machine& machine, draw::Chunk* chunk) PUMICE_REQUIRES(mutex_);
  void beginBatchLocked() PUMICE_REQUIRES(mutex_);
  void closeLocked(Batch& batch, Effects* effects) PUMICE_REQUIRES(mutex_);
  void completeLocked(Batch& batch, Effects* effects) PUMICE_REQUIRES(mutex_);
  void retireLocked(Batch& batch, Effects* effects) PUMICE_REQUIRES(mutex_);
  void startGeometryLocked(Effects* effects) PUMICE_REQUIRES(mutex_);
  void exhaustLocked(Effects* effects) PUMICE_REQUIRES(mutex_);

  Queue* queue_ = nullptr;
  Span* geometry_ = nullptr;
  Span* tiles_ = nullptr;
  Node* cut_ = nullptr;
  draw::PassInfo info_;
  raster::BlockArena* arena_ = nullptr;
  std::unique_ptr<raster::TileList[]> lists_;  // of both slots; all empty between passes
  size_t listCount_ = 0;
  std::atomic<uint32_t> references_{0};
  std::atomic<uint64_t> tileCost_ns_{0};    // of one
  std::atomic<bool> tilesMeasured_{false};  // not only estimated

  sched::Mutex mutex_;
  draw::ChunkSource source_ PUMICE_GUARDED_BY(mutex_);
  TileQueue tileQueue_ PUMICE_GUARDED_BY(mutex_);
  Batch batches_[kSlots] PUMICE_GUARDED_BY(mutex_);
  uint32_t begun_ PUMICE_GUARDED_BY(mutex_) = 0, retired_ PUMICE_GUARDED_BY(mutex_) = 0;  // batches
  uint32_t workersHere_ PUMICE_GUARDED_BY(mutex_) = 0;
  bool geometryOpen_ PUMICE_GUARDED_BY(mutex_) = false;
  bool tilesOpen_ PUMICE_GUARDED_BY(mutex_) = false;
  bool exhausted_ PUMICE_GUARDED_BY(mutex_) = false;  // no chunk is left
  bool fenced_ PUMICE_GUARDED_BY(mutex_) = false;     // the next chunk waits for all that run
  bool starved_ PUMICE_GUARDED_BY(mutex_) = false;    // waits for blocks of other passes
};

}  // namespace pumice::gpu
