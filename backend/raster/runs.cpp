#include "backend/raster/runs.h"

#include <bit>

namespace pumice::raster {
namespace {

// Bit q: quad q has a covered pixel.
uint32_t quadsOf(uint32_t pixels) {
  pixels |= pixels >> 2;
  pixels |= pixels >> 1;
  pixels &= 0x1111;
  return (pixels | pixels >> 3 | pixels >> 6 | pixels >> 9) & 15;
}

// Of four bits: processors that the build has to run on may have no instruction for it.
constexpr uint8_t kQuadCount[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

// Where a block of a square is: its pixel's x | y << 16, and its place among the tile's blocks.
struct BlockPlace {
  uint32_t position;
  uint16_t index;
};
struct BlockPlaces {
  BlockPlace at[kSquareBlocks];
  constexpr BlockPlaces() : at() {
    for (uint32_t b = 0; b < kSquareBlocks; ++b)
      at[b] = {blockX(b) * 4 | blockY(b) * 4 << 16, static_cast<uint16_t>(blockY(b) * (kMaxTileEdge / 4) + blockX(b))};
  }
};
constexpr BlockPlaces kBlockPlaces;

}  // namespace

void RunBuilder::add(const BlockList& list, uint32_t x, uint32_t y, uint16_t primitive) {
  switch (samples_) {
    case 1:
      return addBlocks<1>(list, x, y, primitive);
    case 2:
      return addBlocks<2>(list, x, y, primitive);
    case 4:
      return addBlocks<4>(list, x, y, primitive);
    default:
      return addBlocks<8>(list, x, y, primitive);
  }
}

template <uint32_t kSamples>
void RunBuilder::addBlocks(const BlockList& list, uint32_t x, uint32_t y, uint16_t primitive) {
  uint8_t* const square = taken_ + ((y - tileY_) / 4) * kTileBlocks + (x - tileX_) / 4;
  const uint32_t corner = x | y << 16;
  for (uint32_t i = 0; i < list.count; ++i) {
    uint32_t pixels = 0;
    for (uint32_t s = 0; s < kSamples; ++s) pixels |= list.coverage[s][i];
    const uint32_t quads = pixels == 0xFFFF ? 15 : quadsOf(pixels);
    const uint32_t quadCount = kQuadCount[quads];
    const BlockPlace at = kBlockPlaces.at[list.block[i]];
    const bool whole = quadCount >= 3;
    const bool full = whole ? blockCount_ == abi::kRunBlocks : quadCount_ + quadCount > kMixQuads;
    uint8_t& place = square[at.index];
    if (full || (place & quads)) finish();
    place = static_cast<uint8_t>(place | quads);
    const uint32_t position = corner + at.position;
    if (!whole) {
      addQuads(list, i, quads, position & 0xFFFF, position >> 16, primitive);
      continue;
    }
    run_.blockPosition[blockCount_] = position;
    run_.blockPrimitive[blockCount_] = primitive;
    for (uint32_t s = 0; s < kSamples; ++s) run_.blockCoverage[s][blockCount_] = list.coverage[s][i];
    ++blockCount_;
  }
}

void RunBuilder::addQuads(const BlockList& list, uint32_t i, uint32_t quads, uint32_t x, uint32_t y,
                          uint16_t primitive) {
  for (; quads; quads &= quads - 1, ++quadCount_) {
    const uint32_t q = static_cast<uint32_t>(std::countr_zero(quads));
    const uint32_t mix = quadCount_ / 4;
    const uint32_t slot = quadCount_ % 4;
    run_.mixPosition[mix][slot] = (x + (q & 1) * 2) | (y + (q >> 1) * 2) << 16;
    run_.mixPrimitive[mix][slot] = primitive;
    for (uint32_t s = 0; s < samples_; ++s) {
      const uint32_t coverage = (list.coverage[s][i] >> (q * 4) & 15u) << (slot * 4);
      run_.mixCoverage[s][mix] = static_cast<uint16_t>(slot ? run_.mixCoverage[s][mix] | coverage : coverage);
    }
  }
}

void RunBuilder::finish() {
  if (blockCount_ == 0 && quadCount_ == 0) return;
  // Quads that fill up the last mix: a place and a primitive that can be read, and no coverage.
  for (uint32_t q = quadCount_; q % 4 != 0; ++q) {
    run_.mixPosition[q / 4][q % 4] = run_.mixPosition[0][0];
    run_.mixPrimitive[q / 4][q % 4] = run_.mixPrimitive[0][0];
  }
  run_.blockCount = blockCount_;
  run_.mixCount = (quadCount_ + 3) / 4;
  shade_(context_, run_);
  for (uint32_t i = 0; i < blockCount_; ++i) taken(run_.blockPosition[i] & 0xFFFF, run_.blockPosition[i] >> 16) = 0;
  for (uint32_t q = 0; q < quadCount_; ++q) {
    const uint32_t position = run_.mixPosition[q / 4][q % 4];
    taken(position & 0xFFFF, position >> 16) = 0;
  }
  blockCount_ = quadCount_ = 0;
}

}  // namespace pumice::raster
