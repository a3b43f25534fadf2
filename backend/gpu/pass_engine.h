// What workers do with the jobs of a pass. Worker threads only.
#pragma once

#include <vector>

#include "backend/gpu/pass.h"
#include "backend/sched/pool.h"

namespace pumice::gpu {

/// What a worker keeps for passes; made when it meets its first one.
struct DrawContext {
  draw::FrontEnd frontEnd;
  TileWork tiles;
  draw::ChunkMemory memory;
  draw::Chunk chunk;
  std::vector<raster::TileEntry*> current;  // all null between chunks
};

/// nullptr, and the device is lost: there is no memory.
DrawContext* drawContext(Machine& machine, sched::Worker& worker);

/// Runs the job's work; a chunk in memory that context.memory has begun.
void executePassJob(Machine& machine, sched::Worker& worker, DrawContext& context, Pass& pass, const Pass::Job& job);

}  // namespace pumice::gpu
