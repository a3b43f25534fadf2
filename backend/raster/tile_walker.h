// One tile of a batch: its entries in order, their primitives' coverage, and runs for the fragment function.
//
// One walker per worker; that thread alone. Entries and sets are only read.
#pragma once

#include "backend/raster/bins.h"
#include "backend/raster/runs.h"

namespace pumice::raster {

// Who shades. Runs of a draw come after its beginDraw() and before the next one; no run mixes draws or sets.
class TileShader {
 public:
  virtual void beginDraw(const PrimitiveSet& set, const SetDraw& draw) = 0;
  virtual void shade(const abi::FragmentRun& run) = 0;

 protected:
  ~TileShader() = default;
};

class TileWalker {
 public:
  explicit TileWalker(TileShader& shader) : shader_(shader), runs_(shade, &shader) {}

  // `entries` is what TileList::takeInOrder() gave. What a primitive hides in this tile is left out.
  void walk(const TileGrid& grid, uint32_t tile, const TileEntry* entries);

 private:
  static void shade(void* context, const abi::FragmentRun& run) { static_cast<TileShader*>(context)->shade(run); }

  void walkSet(const TileEntry& entry, const PixelRect& tile);
  void cover(const PrimitiveSet& set, const SetDraw& draw, uint32_t primitive, const PixelRect& tile);

  TileShader& shader_;
  RunBuilder runs_;
  BlockList blocks_;
};

}  // namespace pumice::raster
