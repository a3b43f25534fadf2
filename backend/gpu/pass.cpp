#include "backend/gpu/pass.h"

#include <algorithm>

#include "backend/gpu/engine.h"
#include "backend/gpu/machine.h"
#include "backend/gpu/queue.h"
#include "backend/kmd/fault.h"

namespace pumice::gpu {

using draw::ChunkSource;

namespace {

void hold(Span* span) {
  if (span) span->references.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void Pass::begin(Queue& queue, const draw::PassInfo& info, draw::PacketWalker at, const draw::QueryTargets& outer,
                 raster::BlockArena& arena, uint64_t tileCost_ns) {
  const uint32_t tiles = info.grid.tileCount();
  if (tiles > listCount_) {
    lists_ = std::make_unique<raster::TileList[]>(tiles);
    listCount_ = tiles;
  }
  queue_ = &queue;
  info_ = info;
  arena_ = &arena;
  tileCost_ns_.store(tileCost_ns, std::memory_order_relaxed);
  geometry_ = tiles_ = nullptr;
  cut_ = nullptr;
  sched::MutexLock lock(mutex_);
  source_.begin(info_, at, outer);
  phase_ = Phase::kClosed;
  tilesOpen_ = exhausted_ = starved_ = false;
  firstBatch_ = true;
  blocks_ = nullptr;
}

void Pass::setSpans(Span* geometry, Span* tiles, Node* cut) {
  geometry_ = geometry;
  tiles_ = tiles;
  cut_ = cut;
  references_.store(2, std::memory_order_relaxed);
}

void Pass::beginBatchLocked() {
  phase_ = Phase::kGeometry;
  closed_ = exhausted_;
  chunks_ = running_ = 0;
  batch_ = queue_->machine().nextBatch.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool Pass::open(Side side) {
  sched::MutexLock lock(mutex_);
  if (side == Side::kGeometry) {
    beginBatchLocked();
    hold(geometry_);
    return true;
  }
  tilesOpen_ = true;
  if (phase_ != Phase::kTilesClosed) return false;
  phase_ = Phase::kTiles;
  hold(tiles_);
  return true;
}

// A fault while the pass is cut: its packets, indices or arguments are not there.
ChunkSource::Next Pass::cutLocked(Machine& machine, draw::Chunk* chunk) {
  struct Call {
    Pass* pass;
    draw::Chunk* chunk;
    ChunkSource::Next next;
  } call{this, chunk, ChunkSource::Next::kEnd};
  const auto cut = [](void* context) PUMICE_NO_THREAD_SAFETY_ANALYSIS {
    auto& c = *static_cast<Call*>(context);
    c.next = c.pass->source_.next(*c.pass->arena_, c.chunk);
  };
  kmd::FaultRecord fault;
  if (kmd::runGuarded(cut, &call, &fault) != kmd::GuardedExit::kReturned) {
    reportFault(machine, *queue_, {"none", 0, "draws of a pass"}, fault);
    return ChunkSource::Next::kEnd;
  }
  if (call.next != ChunkSource::Next::kCorrupt) return call.next;
  machine.lose("corrupt command stream: a pass does not end");
  return ChunkSource::Next::kEnd;
}

void Pass::exhaustLocked(Effects* effects) {
  if (exhausted_) return;
  exhausted_ = true;
  effects->cut = true;
}

Pass::Job Pass::take(Machine& machine, draw::Chunk* chunk, Effects* effects) {
  sched::MutexLock lock(mutex_);
  while (phase_ == Phase::kGeometry) {
    // Then the stream may be gone.
    if (machine.isLost()) {
      exhaustLocked(effects);
      closed_ = true;
    }
    if (closed_) {
      if (running_ != 0) return {};
      endGeometryLocked(effects);
      break;
    }
    if (starved_) return {};
    ChunkSource::Next next = cutLocked(machine, chunk);
    if (next == ChunkSource::Next::kNoBlocks && chunks_ == 0) {
      // Other passes of the queue have the blocks, and give them back whatever becomes of this one.
      queue_->waitForBlocks(this);
      next = cutLocked(machine, chunk);
      if (next == ChunkSource::Next::kNoBlocks) {
        starved_ = true;
        return {};
      }
    }
    switch (next) {
      case ChunkSource::Next::kChunk: {
        ++chunks_;
        ++running_;
        Job job;
        job.kind = Job::kChunk;
        job.batch = batch_;
        return job;
      }
      case ChunkSource::Next::kFence:
        closed_ = chunks_ != 0;
        break;
      case ChunkSource::Next::kNoBlocks:
        closed_ = true;
        break;
      default:
        exhaustLocked(effects);
        closed_ = true;
        break;
    }
  }
  if (phase_ != Phase::kTiles) return {};
  const uint32_t tiles = info_.grid.tileCount();
  if (nextTile_ == tiles) return {};
  const uint64_t group =
      chunkUnits(tileCost_ns_.load(std::memory_order_relaxed), tiles - nextTile_, machine.pool->workerCount());
  Job job;
  job.kind = Job::kTiles;
  job.begin = nextTile_;
  job.end = nextTile_ = static_cast<uint32_t>(std::min<uint64_t>(tiles, nextTile_ + group));
  job.place = {firstBatch_, exhausted_};
  return job;
}

void Pass::endGeometryLocked(Effects* effects) {
  if (exhausted_) effects->geometryDone = true;
  nextTile_ = 0;
  tilesLeft_ = info_.grid.tileCount();
  phase_ = tilesOpen_ ? Phase::kTiles : Phase::kTilesClosed;
  effects->startTiles = tilesOpen_;
  if (tilesOpen_) hold(tiles_);
}

void Pass::finishChunk(draw::BlockLink* first, draw::BlockLink* last, Effects* effects) {
  sched::MutexLock lock(mutex_);
  if (first) {
    last->next = blocks_;
    blocks_ = first;
  }
  if (--running_ == 0 && closed_) endGeometryLocked(effects);
}

// While the job is not finished its side's span is not either.
void Pass::measured(const Job& job, uint64_t elapsed_ns) {
  Span* span = job.kind == Job::kChunk ? geometry_ : tiles_;
  const uint64_t units = job.kind == Job::kChunk ? 1 : job.end - job.begin;
  if (job.kind == Job::kTiles) {
    const uint64_t old = tileCost_ns_.load(std::memory_order_relaxed);
    tileCost_ns_.store((old + elapsed_ns / units + 1) / 2, std::memory_order_relaxed);
  }
  if (!span) return;
  const uint64_t old = span->unitCost_ns.load(std::memory_order_relaxed);
  span->unitCost_ns.store((old + elapsed_ns / units + 1) / 2, std::memory_order_relaxed);
  span->measured.store(true, std::memory_order_relaxed);
  if (job.kind == Job::kTiles) span->nextUnit.store(job.end, std::memory_order_relaxed);
}

void Pass::finishTiles(uint32_t count, Effects* effects) {
  sched::MutexLock lock(mutex_);
  tilesLeft_ -= count;
  if (tilesLeft_ == 0) endTilesLocked(effects);
}

void Pass::endTilesLocked(Effects* effects) {
  while (blocks_) {
    draw::BlockLink* next = blocks_->next;
    arena_->giveBack(reinterpret_cast<std::byte*>(blocks_));
    blocks_ = next;
    effects->blocksBack = true;
  }
  firstBatch_ = false;
  if (exhausted_) {
    phase_ = Phase::kDone;
    effects->tilesDone = true;
  } else {
    beginBatchLocked();
    effects->startGeometry = true;
    hold(geometry_);
  }
}

bool Pass::resume() {
  sched::MutexLock lock(mutex_);
  if (phase_ != Phase::kGeometry || !starved_) return false;
  starved_ = false;
  hold(geometry_);
  return true;
}

}  // namespace pumice::gpu
