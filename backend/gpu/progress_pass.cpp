// Passes as a worker sees them: jobs, and what follows when the last one of a phase has ended (pass.h).
#include <algorithm>

#include "backend/gpu/machine.h"
#include "backend/gpu/pass_engine.h"
#include "backend/gpu/progress.h"
#include "backend/gpu/queue.h"
#include "backend/sched/futex.h"

namespace pumice::gpu {

// The pass lives while a reference to one of its spans is held. Each span by itself may be complete, and used again: it
// is touched only by who holds a job of its side that is not finished, or the reference that came with an effect.
void Progress::runPass(Pass& pass, Span* span) {
  DrawContext* context = drawContext(machine_, *worker_);
  pass.enter();
  for (;;) {
    Pass::Effects effects;
    const Pass::Job job = pass.take(machine_, context ? &context->chunk : nullptr, &effects);
    bringAbout(pass, effects);
    if (job.kind == Pass::Job::kNone) return;
    effects = {};
    runPassJob(pass, job, context, &effects);
    bringAbout(pass, effects);
    // Decoding goes first: what it finds may be more urgent than the rest of this pass.
    if (span && machine_.waitingDecodes.load(std::memory_order_relaxed) > 0 && machine_.pool->idleWorkers() == 0) {
      pass.leave();
      handToPool(span, 1);
      return;
    }
  }
}

void Progress::runPassAlone(Pass& pass) {
  pass.open(Pass::Side::kTiles);
  pass.open(Pass::Side::kGeometry);
  runPass(pass, nullptr);
}

// A lost device's jobs are only accounted for. Without a context the device is lost, and there are no chunks.
void Progress::runPassJob(Pass& pass, const Pass::Job& job, DrawContext* context, Pass::Effects* effects) {
  const bool chunk = job.kind == Pass::Job::kChunk;
  if (chunk) context->memory.begin(pass.arena(), context->chunk.blocks, job.batch);
  if (!machine_.isLost()) {
    const uint64_t start_ns = sched::monotonicNow_ns();
    executePassJob(machine_, *worker_, *context, pass, job);
    pass.measured(job, sched::monotonicNow_ns() - start_ns);
    if (Span* span = pass.span(chunk ? Pass::Side::kGeometry : Pass::Side::kTiles)) widen(span);
  }
  if (!chunk) return pass.finishTiles(job, effects);
  draw::BlockLink* first;
  draw::BlockLink* last;
  const uint32_t taken = context->memory.taken();
  context->memory.end(&first, &last);
  pass.finishChunk(job, first, last, taken, context->chunk.blocks, effects);
}

void Progress::bringAbout(Pass& pass, const Pass::Effects& effects) {
  Span* const geometry = pass.span(Pass::Side::kGeometry);
  Span* const tiles = pass.span(Pass::Side::kTiles);
  if (!geometry) return;  // alone
  if (effects.cut) arrive(pass.cutNode());
  for (const bool startsTiles : {false, true}) {
    if (!(startsTiles ? effects.startTiles : effects.startGeometry)) continue;
    Span* span = startsTiles ? tiles : geometry;
    span->nextUnit.store(0, std::memory_order_relaxed);
    spread(span, std::max(1u, effects.workersHere));
    Queue::release(span);
  }
  if (effects.blocksBack) {
    if (Pass* starved = pass.queue().takeStarvedPass(); starved && starved->resume())
      addReady(starved->span(Pass::Side::kGeometry));
  }
  if (effects.geometryDone) completeSpan(geometry);
  if (effects.tilesDone) {
    pass.queue().passEnded();
    completeSpan(tiles);
  }
}

}  // namespace pumice::gpu
