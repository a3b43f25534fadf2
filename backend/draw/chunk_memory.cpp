#include "backend/draw/chunk_memory.h"

#include <algorithm>

#include "backend/raster/clip.h"

namespace pumice::draw {
namespace {

// A set that a triangle to be clipped may not fit any more has at least this many.
constexpr uint32_t kLeastOfFullSet = raster::kMaxSetPrimitives - raster::kMaxClippedTriangles + 1;

uint32_t ceilDivide(uint32_t a, uint32_t b) {
  return (a + b - 1) / b;
}

}  // namespace

ChunkBound::ChunkBound(const raster::TileGrid& grid)
    : blocksPerSet_(1 + ceilDivide(std::max(grid.tilesPerLayer(), kFirstEntries) - kFirstEntries, kBlockEntries)) {}

// The room of open blocks: of two that follow each other, one allocation did not fit into the first, so together they
// are more than one full.
uint32_t ChunkBound::blocksOf(uint32_t outputs, uint32_t layered, uint32_t bytes) const {
  return (ceilDivide(outputs, kLeastOfFullSet) + layered) * blocksPerSet_ + 2 * ceilDivide(bytes, kBlockRoom_B) + 1;
}

}  // namespace pumice::draw
