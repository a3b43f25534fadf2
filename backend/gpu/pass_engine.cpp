#include "backend/gpu/pass_engine.h"

#include <new>

#include "backend/gpu/engine.h"
#include "backend/gpu/machine.h"
#include "backend/gpu/queue.h"
#include "backend/gpu/watchdog.h"
#include "backend/kmd/fault.h"

namespace pumice::gpu {
namespace {

struct Call {
  Pass* pass;
  DrawContext* context;
  const Pass::Job* job;
  draw::WorkerEnv env;
  bool done;
};

void runChunk(void* argument) {
  auto& call = *static_cast<Call*>(argument);
  DrawContext& context = *call.context;
  call.done = context.frontEnd.run(call.pass->info(), context.chunk, call.env, context.memory,
                                   call.pass->lists(call.job->slot), context.current.data());
}

void runTiles(void* argument) {
  auto& call = *static_cast<Call*>(argument);
  raster::TileList* const lists = call.pass->lists(call.job->slot);
  for (uint32_t tile = call.job->tiles.begin; tile < call.job->tiles.end && call.done; ++tile)
    call.done = call.context->tiles.run(call.pass->info(), tile, lists[tile], call.job->place, call.env);
}

void runGuardedJob(Machine& machine, sched::Worker& worker, Pass& pass, Call& call, void (*job)(void*),
                   const char* what) {
  kmd::FaultRecord fault;
  if (machine.watchdog) machine.watchdog->enter(worker, &pass.queue());
  const kmd::GuardedExit exit = kmd::runGuarded(job, &call, &fault);
  if (machine.watchdog) machine.watchdog->leave(worker);
  // kLeft: a shader saw the cancel word; the device is lost already.
  if (exit == kmd::GuardedExit::kFault) [[unlikely]] {
    const bool chunk = call.job->kind == Pass::Job::kChunk;
    const draw::RunningProgram running = chunk ? call.context->frontEnd.running() : call.context->tiles.running();
    reportFault(machine, pass.queue(), {running.name, running.hash, what}, fault);
  } else if (exit == kmd::GuardedExit::kReturned && !call.done) {
    machine.lose("no memory for a worker's frame");
  }
}

}  // namespace

DrawContext* drawContext(Machine& machine, sched::Worker& worker) {
  std::unique_ptr<DrawContext>& context = machine.contexts[worker.index()].draw;
  if (context) return context.get();
  try {
    context = std::make_unique<DrawContext>();
  } catch (const std::bad_alloc&) {
    machine.lose("no host memory for a worker's drawing");
  }
  return context.get();
}

void executePassJob(Machine& machine, sched::Worker& worker, DrawContext& context, Pass& pass, const Pass::Job& job) {
  Call call{&pass,
            &context,
            &job,
            {&kRuntimeTable, reinterpret_cast<const uint32_t*>(&machine.cancelWord), &worker.arena(), worker.index()},
            true};
  if (job.kind == Pass::Job::kTiles) return runGuardedJob(machine, worker, pass, call, runTiles, "tiles of a pass");
  const uint32_t tiles = pass.info().grid.tileCount();
  try {
    if (context.current.size() < tiles) context.current.resize(tiles);
  } catch (const std::bad_alloc&) {
    return machine.lose("no host memory for a worker's bins");
  }
  runGuardedJob(machine, worker, pass, call, runChunk, "geometry of a pass");
}

}  // namespace pumice::gpu
