#include "backend/gpu/tile_work.h"

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <bit>

#include "backend/gpu/run_fill.h"
#include "backend/gpu/tile_texels.h"
#include "backend/trace/seeded_fault.h"

namespace pumice::gpu {

using draw::ChunkDraw;
using draw::PassInfo;
using draw::QueryTargets;
using draw::RunningProgram;
using draw::WorkerEnv;
using raster::TileEntry;

namespace {

// What of the tile is in the area.
abi::PassArea areaOf(const raster::TileGrid& grid, uint32_t tile) {
  const uint32_t inLayer = tile % grid.tilesPerLayer();
  const int32_t edge = 1 << grid.edge_log2;
  const int32_t x = static_cast<int32_t>(inLayer % grid.columns) * edge;
  const int32_t y = static_cast<int32_t>(inLayer / grid.columns) * edge;
  const int32_t x0 = std::max(x, grid.area.x0);
  const int32_t y0 = std::max(y, grid.area.y0);
  return {static_cast<uint32_t>(x0), static_cast<uint32_t>(y0),
          static_cast<uint32_t>(std::max(std::min(x + edge, grid.area.x1) - x0, 0)),
          static_cast<uint32_t>(std::max(std::min(y + edge, grid.area.y1) - y0, 0))};
}

uint64_t coveredSamples(const abi::FragmentRun& run, uint32_t samples, uint32_t sampleMask) {
  uint64_t count = 0;
  for (uint32_t s = 0; s < samples; ++s) {
    if ((sampleMask >> s & 1) == 0) continue;
    for (uint32_t i = 0; i < run.blockCount; ++i)
      count += static_cast<uint32_t>(std::popcount(run.blockCoverage[s][i]));
    for (uint32_t i = 0; i < run.mixCount; ++i) count += static_cast<uint32_t>(std::popcount(run.mixCoverage[s][i]));
  }
  return count;
}

}  // namespace

bool TileWork::run(const PassInfo& pass, uint32_t tile, raster::TileList& list, BatchPlace place,
                   const WorkerEnv& worker) {
  const raster::TileGrid& grid = pass.grid;
  const abi::PassArea area = areaOf(grid, tile);
  if (area.width == 0 || area.height == 0) return true;
  pass_ = &pass;
  worker_ = &worker;
  slice_ = pass.sliceOfLayer(tile / grid.tilesPerLayer());
  failed_ = false;
  draw_ = nullptr;
  program_ = nullptr;
  targets_ = nullptr;
  TileEntry* entries = list.takeInOrder();
  if (place.first) clearAttachments(area, entries, place.last);
  if (entries) {
    env_.color = colors_;
    env_.depth = &depth_;
    env_.stencil = &stencil_;
    env_.counters = &counters_;
    env_.layer = pass.hasViews() ? 0 : slice_;
    env_.viewIndex = pass.hasViews() ? slice_ : 0;
    env_.workerIndex = worker.workerIndex;
    walker_.walk(grid, tile, entries);
    if (!PUMICE_SEEDED_FAULT("query-drops-tiles")) flushCounters();
  }
  if (place.last) resolveAttachments(area);
  return !failed_;
}

RunningProgram TileWork::running() const {
  if (!program_) return {"none", 0};
  return {program_->debugName ? program_->debugName : "unnamed", program_->codeHash};
}

// Of the tile's layer or view.
abi::Surface TileWork::surfaceOf(uint32_t attachment) const {
  abi::Surface surface = pass_->attachments()[attachment].surface;
  if (surface.address != 0) surface.address += slice_ * surface.slicePitch_B;
  return surface;
}

// What the first primitive hides everywhere in the tile need not be cleared: the colors that it writes. Nor what is
// never read: where nothing is drawn, and neither a store nor a resolve comes at the end.
void TileWork::clearAttachments(const abi::PassArea& area, const TileEntry* entries, bool isAll) const {
  const bool untouched = isAll && !entries;
  const abi::TargetState* hidden = nullptr;
  for (const TileEntry* e = entries; e; e = e->next) {
    if (e->hiding == 0) continue;
    const raster::PrimitiveSet& set = *e->set;
    uint32_t d = set.drawCount;
    while (set.draws[--d].firstPrimitive >= e->hiding) {
    }
    hidden = static_cast<const ChunkDraw*>(set.draws[d].payload)->state->targets;
  }
  for (uint32_t i = 0; i < pass_->packet->attachmentCount; ++i) {
    const abi::PassAttachment& attachment = pass_->attachments()[i];
    if (attachment.loadOp != abi::LoadOp::kClear || attachment.surface.address == 0) continue;
    if (pass_->hasViews() && (attachment.loadViews >> slice_ & 1) == 0) continue;
    if (untouched && attachment.storeOp == abi::StoreOp::kDontCare && attachment.resolveMode == abi::ResolveMode::kNone)
      continue;
    if (hidden && std::find(std::begin(hidden->color), std::end(hidden->color), i) != std::end(hidden->color)) continue;
    fillTile(surfaceOf(i), area, attachment.clearElement);
  }
}

void TileWork::resolveAttachments(const abi::PassArea& area) const {
  for (uint32_t i = 0; i < pass_->packet->attachmentCount; ++i) {
    const abi::PassAttachment& attachment = pass_->attachments()[i];
    if (attachment.resolveMode == abi::ResolveMode::kNone || attachment.resolve.address == 0) continue;
    abi::Surface to = attachment.resolve;
    to.address += slice_ * to.slicePitch_B;
    resolveTile(to, surfaceOf(i), area, attachment.format, attachment.resolveMode);
  }
}

abi::Surface TileWork::targetOf(uint8_t target) const {
  if (target == abi::kNoAttachment || target >= pass_->packet->attachmentCount) return {};
  return surfaceOf(target);
}

void TileWork::bindTargets(const abi::TargetState& targets) {
  if (targets_ == &targets) return;
  targets_ = &targets;
  for (uint32_t i = 0; i < abi::kMaxColorAttachments; ++i) colors_[i] = targetOf(targets.color[i]);
  depth_ = targetOf(targets.depth);
  stencil_ = targetOf(targets.stencil);
}

void TileWork::beginDraw(const raster::PrimitiveSet& set, const raster::SetDraw& draw) {
  draw_ = static_cast<const ChunkDraw*>(draw.payload);
  samples_ = 1u << draw.samples_log2;
  if (draw_->clear) return;
  const abi::DrawState& state = *draw_->state;
  if (counted_ != draw_->queries) count(draw_->queries);
  bindTargets(*state.targets);
  program_ = state.programs->fragment;
  env_.primitives = set.records;
  env_.varyings = draw_->varyings;
  env_.state = state.fragment;
  if (!program_) return;
  // Code may be replaced by better one while it is in use: its frame is at least what it is after its entry is read.
  entry_ = __atomic_load_n(&program_->entry, __ATOMIC_ACQUIRE);
  if (!worker_->arena->reserve(0, __atomic_load_n(&program_->frameBytes, __ATOMIC_RELAXED))) {
    failed_ = true;
    return;
  }
  env_.common = {worker_->runtime, state.bindings,          draw_->pushConstants,  worker_->cancelWord,
                 nullptr,          worker_->arena->frame(), worker_->arena->sink()};
}

void TileWork::shade(const abi::FragmentRun& run) {
  if (failed_) return;
  if (draw_->clear) {
    const abi::ClearAttachmentPacket& clear = *draw_->clear;
    const abi::Surface surface = targetOf(clear.attachment);
    if (surface.address != 0) fillRun(surface, run, clear.element);
  } else if (program_) {
    cost_.run(*program_, run.blockCount + run.mixCount, [&] { entry_(&env_, &run); });
  } else {
    // Nothing tests and nothing is written; what is covered has passed.
    counters_.samplesPassed += coveredSamples(run, samples_, draw_->state->fragment->sampleMask);
  }
}

void TileWork::count(const QueryTargets& queries) {
  flushCounters();
  counted_ = queries;
}

void TileWork::flushCounters() {
  if (counted_.occlusion) draw::addTo(counted_.occlusion, counters_.samplesPassed);
  addStatistic(counted_, VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT, counters_.invocations);
  counters_ = {};
  counted_ = {};
}

}  // namespace pumice::gpu
