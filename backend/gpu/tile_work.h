// One tile of a batch: clears at its begin, its primitives in order, resolves at its end, counters.
//
// One object per worker, used by its thread alone, inside a guarded call (kmd/fault.h).
#pragma once

#include "backend/draw/front_end.h"
#include "backend/raster/tile_walker.h"

namespace pumice::gpu {

/// Where in the pass a batch is: clears belong to the first, resolves to the last.
struct BatchPlace {
  bool first, last;
};

class TileWork final : private raster::TileShader {
 public:
  TileWork() : walker_(*this) {}

  /// Takes the tile's entries. False: there is no memory for the frame of a program.
  bool run(const draw::PassInfo& pass, uint32_t tile, raster::TileList& list, BatchPlace place,
           const draw::WorkerEnv& worker);

  /// After a tile has been left by a fault.
  draw::RunningProgram running() const;

 private:
  void beginDraw(const raster::PrimitiveSet& set, const raster::SetDraw& draw) override;
  void shade(const abi::FragmentRun& run) override;

  // isAll: no batch of the pass comes after this one.
  void clearAttachments(const abi::PassArea& area, const raster::TileEntry* entries, bool isAll) const;
  void resolveAttachments(const abi::PassArea& area) const;
  void bindTargets(const abi::TargetState& targets);
  void count(const draw::QueryTargets& queries);
  void flushCounters();
  abi::Surface surfaceOf(uint32_t attachment) const;
  abi::Surface targetOf(uint8_t target) const;

  raster::TileWalker walker_;
  draw::CostSampler cost_;
  // Of the tile.
  const draw::PassInfo* pass_ = nullptr;
  const draw::WorkerEnv* worker_ = nullptr;
  uint32_t slice_ = 0;
  bool failed_ = false;
  // Of the draw.
  const draw::ChunkDraw* draw_ = nullptr;
  const abi::FragmentProgram* program_ = nullptr;
  abi::FragmentEntry entry_ = nullptr;
  const abi::TargetState* targets_ = nullptr;
  uint32_t samples_ = 1;
  draw::QueryTargets counted_;
  abi::FragmentCounters counters_{};
  abi::Surface colors_[abi::kMaxColorAttachments] = {};
  abi::Surface depth_{}, stencil_{};
  abi::FragmentEnv env_{};
};

}  // namespace pumice::gpu
