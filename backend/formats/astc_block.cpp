#include "backend/formats/astc_block.h"

#include <cstring>

namespace pumice::formats::astc {
namespace {

struct Grid {
  unsigned width = 0;  // 0: reserved mode
  unsigned height = 0;
  bool dualPlane = false;
  Range range;
};

/// The 11 bits of the block mode, for 2D blocks.
Grid readGrid(const Bits128& bits) {
  Grid grid;
  unsigned range;  // the specification's rho
  bool high = bits.bit(9) != 0;
  grid.dualPlane = bits.bit(10) != 0;
  const unsigned upper = bits.get(7, 2), lower = bits.get(5, 2);
  if (bits.get(0, 2) != 0) {
    range = bits.get(0, 2) << 1 | bits.bit(4);
    switch (bits.get(2, 2)) {
      case 0:
        grid.width = upper + 4;
        grid.height = lower + 2;
        break;
      case 1:
        grid.width = upper + 8;
        grid.height = lower + 2;
        break;
      case 2:
        grid.width = lower + 2;
        grid.height = upper + 8;
        break;
      default:
        if (bits.bit(8) == 0) {
          grid.width = lower + 2;
          grid.height = bits.bit(7) + 6;
        } else {
          grid.width = bits.bit(7) + 2;
          grid.height = lower + 2;
        }
    }
  } else {
    range = bits.get(2, 2) << 1 | bits.bit(4);
    if (bits.get(2, 2) == 0) return {};
    switch (upper) {
      case 0:
        grid.width = 12;
        grid.height = lower + 2;
        break;
      case 1:
        grid.width = lower + 2;
        grid.height = 12;
        break;
      case 2:
        grid.width = lower + 6;
        grid.height = bits.get(9, 2) + 6;
        grid.dualPlane = false;
        high = false;
        break;
      default:
        if (lower > 1) return {};
        grid.width = lower == 0 ? 6 : 10;
        grid.height = lower == 0 ? 10 : 6;
    }
  }
  constexpr Range kLow[6] = {{0, 1}, {3, 0}, {0, 2}, {5, 0}, {3, 1}, {0, 3}};
  constexpr Range kHigh[6] = {{5, 1}, {3, 2}, {0, 4}, {5, 2}, {3, 3}, {0, 5}};
  grid.range = (high ? kHigh : kLow)[range - 2];
  return grid;
}

/// A block of one color, and an extent that is only checked for being legal.
Block readConstant(const Bits128& bits) {
  Block block;
  const bool highDynamicRange = bits.bit(9) != 0;
  if (highDynamicRange || bits.get(10, 2) != 3) return block;
  constexpr uint32_t kOnes = 0x1FFF;
  const uint32_t minS = bits.get(12, 13), maxS = bits.get(25, 13);
  const uint32_t minT = bits.get(38, 13), maxT = bits.get(51, 13);
  const bool noExtent = (minS & maxS & minT & maxT) == kOnes;
  if (!noExtent && (minS >= maxS || minT >= maxT)) return block;
  block.kind = BlockKind::kConstant;
  for (unsigned c = 0; c < 4; ++c) block.constant[c] = static_cast<uint16_t>(bits.get(64 + 16 * c, 16));
  return block;
}

/// Weights are stored from the highest bit of the block downwards.
Bits128 reversed(const Bits128& bits) {
  const auto reverse = [](uint64_t v) {
    v = (v & 0x5555555555555555) << 1 | ((v >> 1) & 0x5555555555555555);
    v = (v & 0x3333333333333333) << 2 | ((v >> 2) & 0x3333333333333333);
    v = (v & 0x0F0F0F0F0F0F0F0F) << 4 | ((v >> 4) & 0x0F0F0F0F0F0F0F0F);
    return __builtin_bswap64(v);
  };
  return {reverse(bits.high), reverse(bits.low)};
}

Bits128 shiftedDown(const Bits128& bits, unsigned count) {  // 0 < count < 64
  return {bits.low >> count | bits.high << (64 - count), bits.high >> count};
}

void readWeights(const Bits128& bits, const Grid& grid, Block* block) {
  const unsigned planes = grid.dualPlane ? 2 : 1;
  const unsigned positions = grid.width * grid.height;
  uint8_t values[kMaxWeights];
  readSequence(reversed(bits), grid.range, positions * planes, values);
  std::memset(block->weights, 0, sizeof block->weights);
  for (unsigned i = 0; i < positions * planes; ++i) {
    block->weights[i % planes][i / planes] = unquantizeWeight(grid.range, values[i]);
  }
}

/// The endpoint modes of several partitions that differ: selector, classes and low bits follow each other, the first
/// six bits at bit 23, the rest just below the weights.
void readMixedModes(const Bits128& bits, unsigned weightsStart, Block* block) {
  const unsigned count = block->partitions;
  const unsigned extra = 3 * count - 4;
  const uint32_t field = bits.get(23, 6) | bits.get(weightsStart - extra, extra) << 6;
  const uint32_t lowClass = (field & 3) - 1;
  for (unsigned i = 0; i < count; ++i) {
    const uint32_t endpointClass = lowClass + ((field >> (2 + i)) & 1);
    block->endpointModes[i] = static_cast<uint8_t>(endpointClass << 2 | ((field >> (2 + count + 2 * i)) & 3));
  }
}

/// False if there are too many values or too few bits for them.
bool readColors(const Bits128& bits, unsigned start, unsigned end, Block* block) {
  unsigned count = 0;
  for (unsigned i = 0; i < block->partitions; ++i) count += ((block->endpointModes[i] >> 2) + 1u) * 2;
  if (count > sizeof block->colors || end < start || end - start < (13 * count + 4) / 5) return false;
  int range = 0;
  while (kColorRanges[range].sequenceBits(count) > end - start) ++range;
  uint8_t values[sizeof block->colors];
  readSequence(shiftedDown(bits, start), kColorRanges[range], count, values);
  for (unsigned i = 0; i < count; ++i) block->colors[i] = unquantizeColor(range, values[i]);
  return true;
}

}  // namespace

Block readBlock(const Bits128& bits, unsigned blockWidth, unsigned blockHeight) {
  if (bits.get(0, 9) == 0x1FC) return readConstant(bits);
  Block block;
  const Grid grid = readGrid(bits);
  const unsigned weightCount = grid.width * grid.height * (grid.dualPlane ? 2 : 1);
  if (grid.width == 0 || grid.width > blockWidth || grid.height > blockHeight || weightCount > kMaxWeights)
    return block;
  const unsigned weightBits = grid.range.sequenceBits(weightCount);
  if (weightBits < 24 || weightBits > 96) return block;

  block.partitions = static_cast<uint8_t>(bits.get(11, 2) + 1);
  if (grid.dualPlane && block.partitions == 4) return block;
  const unsigned weightsStart = 128 - weightBits;
  unsigned colorStart = 17, colorEnd = weightsStart;
  if (block.partitions == 1) {
    block.endpointModes[0] = static_cast<uint8_t>(bits.get(13, 4));
  } else {
    block.partitionIndex = static_cast<uint16_t>(bits.get(13, 10));
    colorStart = 29;
    if (bits.get(23, 2) == 0) {
      std::memset(block.endpointModes, static_cast<int>(bits.get(25, 4)), sizeof block.endpointModes);
    } else {
      readMixedModes(bits, weightsStart, &block);
      colorEnd -= 3u * block.partitions - 4;
    }
  }
  if (grid.dualPlane) {
    colorEnd -= 2;
    block.secondPlaneComponent = static_cast<uint8_t>(bits.get(colorEnd, 2));
  }
  if (!readColors(bits, colorStart, colorEnd, &block)) return block;

  block.gridWidth = static_cast<uint8_t>(grid.width);
  block.gridHeight = static_cast<uint8_t>(grid.height);
  block.dualPlane = grid.dualPlane;
  readWeights(bits, grid, &block);
  block.kind = BlockKind::kWeighted;
  return block;
}

}  // namespace pumice::formats::astc
