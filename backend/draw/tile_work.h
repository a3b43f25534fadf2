// One tile of a batch: clears at its begin, its primitives in order, counters.
//
// One object per worker, used by its thread alone, inside a guarded call (kmd/fault.h).
#pragma once

#include "backend/draw/front_end.h"
#include "backend/raster/tile_walker.h"

namespace pumice::draw {

/// Where in the pass a batch is.
struct BatchPlace {
  bool first, last;
};

class TileWork final : private raster::TileShader {
 public:
  TileWork() : walker_(*this) {}

  /// Takes the tile's entries. False: there is no memory for the frame of a program.
  bool run(const PassInfo& pass, uint32_t tile, raster::TileList& list, BatchPlace place, const WorkerEnv& worker);

  /// After a tile has been left by a fault.
  RunningProgram running() const;

 private:
  void beginDraw(const raster::PrimitiveSet& set, const raster::SetDraw& draw) override;
  void shade(const abi::FragmentRun& run) override;

  void clearAttachments(const raster::PixelRect& rect, const raster::TileEntry* entries) const;
  void bindTargets(const abi::TargetState& targets);
  void count(const QueryTargets& queries);
  void flushCounters();
  abi::Surface surfaceOf(uint8_t attachment) const;

  raster::TileWalker walker_;
  CostSampler cost_;
  // Of the tile.
  const PassInfo* pass_ = nullptr;
  const WorkerEnv* worker_ = nullptr;
  uint32_t slice_ = 0;
  bool failed_ = false;
  // Of the draw.
  const ChunkDraw* draw_ = nullptr;
  const abi::FragmentProgram* program_ = nullptr;
  abi::FragmentEntry entry_ = nullptr;
  const abi::TargetState* targets_ = nullptr;
  uint32_t samples_ = 1;
  QueryTargets counted_;
  abi::FragmentCounters counters_{};
  abi::Surface colors_[abi::kMaxColorAttachments] = {};
  abi::Surface depth_{}, stencil_{};
  abi::FragmentEnv env_{};
};

}  // namespace pumice::draw
