// From covered blocks to runs: what the fragment function is called with (fragment_abi.h). Blocks stay blocks if they
// have three or four quads; other quads are packed by four. A run ends when the place of a quad repeats, because inside
// a run the order of primitives is lost.
//
// One builder per worker, for one tile at a time; that thread alone.
#pragma once

#include <cstdint>

#include "backend/raster/coverage.h"

namespace pumice::raster {

inline constexpr uint32_t kMaxTileEdge = 128;

class RunBuilder {
 public:
  using Shade = void(void* context, const abi::FragmentRun& run);

  // `shade` is called from add() and finish(); the run is valid during the call.
  RunBuilder(Shade* shade, void* context) : shade_(shade), context_(context) {}
  RunBuilder(const RunBuilder&) = delete;
  RunBuilder& operator=(const RunBuilder&) = delete;

  // A new tile, or another number of samples. The run is empty.
  void begin(uint32_t tileX, uint32_t tileY, uint32_t samples) {
    tileX_ = tileX;
    tileY_ = tileY;
    samples_ = samples;
  }
  // What primitive `primitive` of the set covers in the square at pixel (x, y), which lies in the tile.
  void add(const BlockList& list, uint32_t x, uint32_t y, uint16_t primitive);
  // Shades what is left: at the end of a draw, of a set, of the tile.
  void finish();

 private:
  static constexpr uint32_t kMixQuads = abi::kRunMixes * 4;
  static constexpr uint32_t kTileBlocks = kMaxTileEdge / 4;

  uint8_t& taken(uint32_t x, uint32_t y) { return taken_[((y - tileY_) / 4) * kTileBlocks + (x - tileX_) / 4]; }
  template <uint32_t kSamples>
  void addBlocks(const BlockList& list, uint32_t x, uint32_t y, uint16_t primitive);
  void addQuads(const BlockList& list, uint32_t i, uint32_t quads, uint32_t x, uint32_t y, uint16_t primitive);

  Shade* shade_;
  void* context_;
  uint32_t tileX_ = 0, tileY_ = 0;
  uint32_t samples_ = 1;
  uint32_t blockCount_ = 0;
  uint32_t quadCount_ = 0;  // in mixes
  abi::FragmentRun run_;
  uint8_t taken_[kTileBlocks * kTileBlocks] = {};  // by block of the tile, a bit per quad that the run has
};

}  // namespace pumice::raster
