// ASTC, LDR profile, 2D: from a read block to texels. Khronos Data Format Specification, "Weight Infill" to "Partition
// Pattern Generation".
#include <algorithm>
#include <bit>

#include "backend/formats/astc_block.h"
#include "backend/formats/astc_color.h"
#include "backend/formats/block_kernels.h"

namespace pumice::formats {
namespace {

using astc::Block;
using astc::BlockKind;

uint32_t hash(uint32_t p) {
  p ^= p >> 15;
  p -= p << 17;
  p += p << 7;
  p += p << 4;
  p ^= p >> 5;
  p += p << 16;
  p ^= p >> 7;
  p ^= p >> 3;
  p ^= p << 6;
  p ^= p >> 17;
  return p;
}

/// The partition of each texel of a block is where one of up to four linear functions is largest.
class PartitionPattern {
 public:
  PartitionPattern(unsigned index, unsigned partitions, bool smallBlock)
      : partitions_(partitions), scale_(smallBlock ? 2 : 1) {
    const uint32_t seed = index + (partitions - 1) * 1024;
    const uint32_t random = hash(seed);
    const unsigned wide = partitions == 3 ? 6 : 5;
    const unsigned narrow = (seed & 2) != 0 ? 4 : 5;
    const unsigned shiftX = (seed & 1) != 0 ? narrow : wide;
    const unsigned shiftY = (seed & 1) != 0 ? wide : narrow;
    for (unsigned i = 0; i < 4; ++i) {
      const uint32_t x = (random >> (8 * i)) & 15;
      const uint32_t y = (random >> (8 * i + 4)) & 15;
      slopeX_[i] = x * x >> shiftX;
      slopeY_[i] = y * y >> shiftY;
      start_[i] = random >> (14 - 4 * i);
    }
  }

  unsigned at(unsigned x, unsigned y) const {
    unsigned best = 0;
    uint32_t largest = 0;
    for (unsigned i = 0; i < partitions_; ++i) {
      const uint32_t value = (slopeX_[i] * x * scale_ + slopeY_[i] * y * scale_ + start_[i]) & 0x3F;
      if (i == 0 || value > largest) {
        best = i;
        largest = value;
      }
    }
    return best;
  }

 private:
  unsigned partitions_;
  uint32_t scale_;
  uint32_t slopeX_[4];
  uint32_t slopeY_[4];
  uint32_t start_[4];
};

/// The weight of a texel, from the four grid points around it.
class WeightInfill {
 public:
  WeightInfill(const Block& block, unsigned width, unsigned height)
      : block_(block),
        scaleX_((1024 + width / 2) / (width - 1) * (block.gridWidth - 1u)),
        scaleY_((1024 + height / 2) / (height - 1) * (block.gridHeight - 1u)) {}

  void at(unsigned x, unsigned y, int32_t weights[2]) const {
    const unsigned gridX = (scaleX_ * x + 32) >> 6, gridY = (scaleY_ * y + 32) >> 6;
    const unsigned fractionX = gridX & 15, fractionY = gridY & 15;
    const unsigned index = (gridX >> 4) + (gridY >> 4) * block_.gridWidth;
    const unsigned w11 = (fractionX * fractionY + 8) >> 4;
    const unsigned w10 = fractionY - w11, w01 = fractionX - w11;
    const unsigned w00 = 16 - fractionX - fractionY + w11;
    for (unsigned plane = 0; plane < (block_.dualPlane ? 2u : 1u); ++plane) {
      const uint8_t* p = block_.weights[plane] + index;
      weights[plane] = static_cast<int32_t>(
          (p[0] * w00 + p[1] * w01 + p[block_.gridWidth] * w10 + p[block_.gridWidth + 1] * w11 + 8) >> 4);
    }
  }

 private:
  const Block& block_;
  unsigned scaleX_;
  unsigned scaleY_;
};

/// One partition's line between its colors, for 16-bit results: (start + step x weight) / 64, the rounding included.
struct Line {
  bool valid;
  int32_t start[4];
  int32_t step[4];
};

/// values: where the partition's color values are; moved past them.
Line lineOf(unsigned mode, const uint8_t** values, bool srgb) {
  const astc::Endpoints ends = astc::endpointsOf(mode, *values);
  *values += ((mode >> 2) + 1) * 2;
  Line line{ends.valid, {}, {}};
  // To 16 bits: the byte twice, or for sRGB the middle of what has that byte on top.
  const int32_t spread = srgb ? 256 : 257;
  const int32_t bias = srgb ? 0x80 : 0;
  for (int c = 0; c < 4 && ends.valid; ++c) {
    line.start[c] = (ends.from[c] * spread + bias) * 64 + 32;
    line.step[c] = (ends.to[c] - ends.from[c]) * spread;
  }
  return line;
}

/// Calls texel(x, y, values) for each texel in rows, where values are four UNORM16 numbers, or nullptr for the error
/// color.
template <typename F>
void forEachTexel(const FormatInfo& info, const std::byte* bytes, F texel) {
  const unsigned width = info.blockExtent[0], height = info.blockExtent[1];
  const Block block = astc::readBlock(Bits128::load(bytes), width, height);
  if (block.kind != BlockKind::kWeighted) {
    const uint16_t* values = block.kind == BlockKind::kConstant ? block.constant : nullptr;
    for (unsigned y = 0; y < height; ++y) {
      for (unsigned x = 0; x < width; ++x) texel(x, y, values);
    }
    return;
  }
  Line lines[4];
  const uint8_t* values = block.colors;
  for (unsigned i = 0; i < block.partitions; ++i) lines[i] = lineOf(block.endpointModes[i], &values, isSrgb(info));
  int planes[4] = {};
  if (block.dualPlane) planes[block.secondPlaneComponent] = 1;
  const PartitionPattern pattern(block.partitionIndex, block.partitions, width * height < 31);
  const WeightInfill infill(block, width, height);
  for (unsigned y = 0; y < height; ++y) {
    for (unsigned x = 0; x < width; ++x) {
      const Line& line = lines[block.partitions == 1 ? 0 : pattern.at(x, y)];
      if (!line.valid) {
        texel(x, y, nullptr);
        continue;
      }
      int32_t weights[2];
      infill.at(x, y, weights);
      uint16_t result[4];
      for (int c = 0; c < 4; ++c) {
        result[c] = static_cast<uint16_t>((line.start[c] + line.step[c] * weights[planes[c]]) >> 6);
      }
      texel(x, y, result);
    }
  }
}

/// Decode mode float16: one for 65535, else value / 65536 rounded to zero to a half's 11 significant bits. Such small
/// numbers as would be denormal are exact.
float asHalf(uint32_t value) {
  if (value == 65535) return 1.0f;
  const int excess = std::max(static_cast<int>(std::bit_width(value)) - 11, 0);
  return static_cast<float>(value >> excess << excess) * 0x1p-16f;
}

}  // namespace

void decodeAstc(const FormatInfo& info, const std::byte* block, std::byte* texels, size_t rowPitch_B) {
  forEachTexel(info, block, [&](unsigned x, unsigned y, const uint16_t* values) {
    constexpr uint32_t kError = 0xFFFF00FF;
    uint32_t rgba = kError;
    if (values != nullptr) {
      rgba = static_cast<uint32_t>(values[0] >> 8 | (values[1] & 0xFF00) | (values[2] & 0xFF00) << 8) |
             static_cast<uint32_t>(values[3] & 0xFF00) << 16;
    }
    std::memcpy(texels + y * rowPitch_B + x * 4, &rgba, 4);
  });
}

void decodeAstcFloat(const FormatInfo& info, const std::byte* block, float* rgba) {
  forEachTexel(info, block, [&](unsigned x, unsigned y, const uint16_t* values) {
    constexpr float kError[4] = {1, 0, 1, 1};
    float* out = rgba + 4 * (y * info.blockExtent[0] + x);
    for (int c = 0; c < 4; ++c) out[c] = values != nullptr ? asHalf(values[c]) : kError[c];
  });
}

}  // namespace pumice::formats
