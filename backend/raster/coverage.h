// Which samples a polygon covers, by 4x4 blocks of pixels in quad-major order. Pure functions; any thread.
#pragma once

#include <cstdint>

#include "backend/raster/edges.h"
#include "backend/raster/samples.h"

namespace pumice::raster {

inline constexpr int32_t kSquareEdge = 64;  // pixels: what one call covers
inline constexpr uint32_t kSquareBlocks = 256;

// Pixels [x0, x1) x [y0, y1).
struct PixelRect {
  int32_t x0, y0, x1, y1;
};

// The 4x4 blocks of a square that have a covered sample. Blocks are numbered in Morton order at every level (bits x0 y0
// x1 y1 x2 y2 x3 y3 from the lowest), pixels inside a block as abi::quadMajorIndex says.
struct BlockList {
  uint32_t count;
  uint8_t block[kSquareBlocks];
  uint16_t coverage[abi::kMaxSamples][kSquareBlocks];  // by sample; bit = pixel
};

// Of a block's number, in blocks.
constexpr uint32_t blockX(uint32_t block) {
  return (block & 1) | (block >> 1 & 2) | (block >> 2 & 4) | (block >> 3 & 8);
}
constexpr uint32_t blockY(uint32_t block) {
  return blockX(block >> 1);
}

// The square whose first pixel is (x, y), both multiples of 4; `rect` is in pixels of the square, inside [0, 64), and
// not empty. Samples outside of it are not covered. `out` is written anew; each block stands in it once at most.
using CoverFunction = void(const Edges& edges, int32_t x, int32_t y, const PixelRect& rect, BlockList& out);

}  // namespace pumice::raster
