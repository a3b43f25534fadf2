#include "backend/gpu/pass.h"

#include <algorithm>

#include "backend/gpu/engine.h"
#include "backend/gpu/machine.h"
#include "backend/gpu/queue.h"
#include "backend/kmd/fault.h"
#include "backend/trace/seeded_fault.h"

namespace pumice::gpu {

using draw::ChunkSource;

namespace {

void hold(Span* span) {
  if (span) span->references.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void Pass::begin(Queue& queue, const draw::PassInfo& info, draw::PacketWalker at, const draw::QueryTargets& outer,
                 raster::BlockArena& arena, uint64_t tileCost_ns, bool measured) {
  const size_t lists = kSlots * size_t{info.grid.tileCount()};
  if (lists > listCount_) {
    lists_ = std::make_unique<raster::TileList[]>(lists);
    listCount_ = lists;
  }
  queue_ = &queue;
  info_ = info;
  arena_ = &arena;
  tileCost_ns_.store(tileCost_ns, std::memory_order_relaxed);
  tilesMeasured_.store(measured, std::memory_order_relaxed);
  geometry_ = tiles_ = nullptr;
  cut_ = nullptr;
  sched::MutexLock lock(mutex_);
  tileQueue_.begin(info.grid.tileCount());
  source_.begin(info_, at, outer);
  begun_ = retired_ = 0;
  workersHere_ = 0;
  geometryOpen_ = tilesOpen_ = exhausted_ = fenced_ = starved_ = false;
}

void Pass::setSpans(Span* geometry, Span* tiles, Node* cut) {
  geometry_ = geometry;
  tiles_ = tiles;
  cut_ = cut;
  references_.store(2, std::memory_order_relaxed);
}

bool Pass::open(Side side) {
  sched::MutexLock lock(mutex_);
  if (side == Side::kGeometry) {
    geometryOpen_ = true;
    hold(geometry_);
    return true;
  }
  tilesOpen_ = true;
  if (inFlightLocked() == 0 || !batchLocked(retired_).complete) return false;
  hold(tiles_);
  return true;
}

void Pass::enter() {
  sched::MutexLock lock(mutex_);
  ++workersHere_;
}

void Pass::leave() {
  sched::MutexLock lock(mutex_);
  --workersHere_;
}

Pass::Job Pass::take(Machine& machine, draw::Chunk* chunk, Effects* effects) {
  sched::MutexLock lock(mutex_);
  Job job;
  do {
    if (takeTilesLocked(machine, &job)) break;
  } while (cutLocked(machine, chunk, &job, effects) && job.kind == Job::kNone);
  if (job.kind == Job::kNone) --workersHere_;
  effects->workersHere = workersHere_;
  return job;
}

bool Pass::takeTilesLocked(Machine& machine, Job* job) {
  if (!tilesOpen_) return false;
  for (uint32_t number = retired_; number != begun_; ++number) {
    Batch& batch = batchLocked(number);
    if (!batch.complete) return false;
    // Nobody knows how long a program's first tile takes.
    const uint64_t group =
        tilesMeasured_.load(std::memory_order_relaxed)
            ? chunkUnits(tileCost_ns_.load(std::memory_order_relaxed), batch.tiles.left, machine.pool->workerCount())
            : 1;
    job->tiles = tileQueue_.take(&batch.tiles, group);
    if (job->tiles.empty()) continue;
    job->kind = Job::kTiles;
    job->slot = static_cast<uint8_t>(number % kSlots);
    job->place = {batch.first, batch.last};
    return true;
  }
  return false;
}

// A fault while the pass is cut: its packets, indices or arguments are not there.
ChunkSource::Next Pass::nextLocked(Machine& machine, draw::Chunk* chunk) {
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

bool Pass::cutLocked(Machine& machine, draw::Chunk* chunk, Job* job, Effects* effects) {
  if (!geometryOpen_ || exhausted_ || starved_) return false;
  if (fenced_) {
    for (uint32_t number = retired_; number != begun_; ++number)
      if (batchLocked(number).running != 0) return false;
    fenced_ = false;
  }
  if (inFlightLocked() == 0 || newestLocked().closed) {
    if (inFlightLocked() == kSlots) return false;
    beginBatchLocked();
  }
  Batch& batch = newestLocked();
  if (batch.chunks != 0 && batch.blocks > arena_->blockCount() / 2) {
    closeLocked(batch, effects);
    return true;
  }
  // When the device is lost, the stream may be gone.
  ChunkSource::Next next = machine.isLost() ? ChunkSource::Next::kEnd : nextLocked(machine, chunk);
  if (next == ChunkSource::Next::kNoBlocks && batch.chunks == 0) {
    if (inFlightLocked() > 1) return false;  // until the earlier batch has gone
    // Other passes of the queue have the blocks, and give them back whatever becomes of this one.
    queue_->waitForBlocks(this);
    next = nextLocked(machine, chunk);
    if (next == ChunkSource::Next::kNoBlocks) {
      starved_ = true;
      return false;
    }
  }
  switch (next) {
    case ChunkSource::Next::kChunk:
      ++batch.chunks;
      ++batch.running;
      batch.blocks += chunk->blocks;
      job->kind = Job::kChunk;
      job->slot = static_cast<uint8_t>((begun_ - 1) % kSlots);
      job->batch = batch.number;
      return true;
    case ChunkSource::Next::kAgain:
      return true;
    case ChunkSource::Next::kFence:
      fenced_ = !PUMICE_SEEDED_FAULT("pass-no-fence");
      return true;
    case ChunkSource::Next::kNoBlocks:
      closeLocked(batch, effects);
      return true;
    default:
      exhaustLocked(effects);
      closeLocked(batch, effects);
      return true;
  }
}

void Pass::exhaustLocked(Effects* effects) {
  exhausted_ = true;
  effects->cut = true;
}

void Pass::beginBatchLocked() {
  Batch& batch = batchLocked(begun_);
  batch = {};
  batch.number = queue_->machine().nextBatch.fetch_add(1, std::memory_order_relaxed) + 1;
  batch.first = begun_ == 0 || PUMICE_SEEDED_FAULT("pass-clears-each-batch");
  ++begun_;
}

void Pass::closeLocked(Batch& batch, Effects* effects) {
  batch.closed = true;
  if (batch.running == 0) completeLocked(batch, effects);
}

void Pass::completeLocked(Batch& batch, Effects* effects) {
  batch.complete = true;
  batch.last = exhausted_ && &batch == &newestLocked();
  tileQueue_.beginBatch(&batch.tiles);
  if (tilesOpen_ && !effects->startTiles) {
    effects->startTiles = true;
    hold(tiles_);
  }
  if (!exhausted_) return;
  for (uint32_t number = retired_; number != begun_; ++number)
    if (!batchLocked(number).complete) return;
  effects->geometryDone = true;
}

void Pass::startGeometryLocked(Effects* effects) {
  if (exhausted_ || effects->startGeometry) return;
  effects->startGeometry = true;
  hold(geometry_);
}

void Pass::finishChunk(const Job& job, draw::BlockLink* first, draw::BlockLink* last, uint32_t blocks,
                       uint32_t reserved, Effects* effects) {
  sched::MutexLock lock(mutex_);
  Batch& batch = batches_[job.slot];
  if (first) {
    last->next = batch.links;
    batch.links = first;
  }
  batch.blocks -= reserved - blocks;
  // A batch whose chunks have taken nothing gives nothing back later.
  effects->blocksBack = reserved > blocks;
  if (--batch.running == 0) {
    if (batch.closed) completeLocked(batch, effects);
    if (fenced_) startGeometryLocked(effects);
  }
  effects->workersHere = workersHere_;
}

// While the job is not finished its side's span is not either.
void Pass::measured(const Job& job, uint64_t elapsed_ns) {
  Span* span = job.kind == Job::kChunk ? geometry_ : tiles_;
  const uint64_t units = job.kind == Job::kChunk ? 1 : job.tiles.count();
  if (job.kind == Job::kTiles) {
    const uint64_t old = tileCost_ns_.load(std::memory_order_relaxed);
    tileCost_ns_.store((old + elapsed_ns / units + 1) / 2, std::memory_order_relaxed);
    tilesMeasured_.store(true, std::memory_order_relaxed);
  }
  if (!span) return;
  const uint64_t old = span->unitCost_ns.load(std::memory_order_relaxed);
  span->unitCost_ns.store((old + elapsed_ns / units + 1) / 2, std::memory_order_relaxed);
  span->measured.store(true, std::memory_order_relaxed);
  if (job.kind == Job::kTiles) span->nextUnit.store(job.tiles.end, std::memory_order_relaxed);
}

void Pass::finishTiles(const Job& job, Effects* effects) {
  sched::MutexLock lock(mutex_);
  Batch& batch = batches_[job.slot];
  const bool followed = &batch != &newestLocked();
  tileQueue_.finish(&batch.tiles, job.tiles, followed ? &newestLocked().tiles : nullptr);
  if (batch.tiles.left == 0) retireLocked(batch, effects);
  effects->workersHere = workersHere_;
}

// The oldest: no tile of a batch is finished before those of earlier ones.
void Pass::retireLocked(Batch& batch, Effects* effects) {
  while (batch.links) {
    draw::BlockLink* next = batch.links->next;
    arena_->giveBack(reinterpret_cast<std::byte*>(batch.links));
    batch.links = next;
    effects->blocksBack = true;
  }
  ++retired_;
  if (exhausted_ && retired_ == begun_)
    effects->tilesDone = true;
  else
    startGeometryLocked(effects);
}

bool Pass::resume() {
  sched::MutexLock lock(mutex_);
  if (!starved_) return false;
  starved_ = false;
  hold(geometry_);
  return true;
}

}  // namespace pumice::gpu
