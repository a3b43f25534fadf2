// What the fixed and variable fields of an ASTC block say, before any color is made. Khronos Data Format Specification,
// "Block Layout" to "Data Size Determination".
#pragma once

#include <cstdint>

#include "backend/formats/astc_integers.h"

namespace pumice::formats::astc {

inline constexpr unsigned kMaxWeights = 64;

enum class BlockKind : uint8_t { kError, kConstant, kWeighted };

struct Block {
  BlockKind kind = BlockKind::kError;

  uint16_t constant[4];  // kConstant: R, G, B, A as 16-bit UNORM

  // kWeighted:
  uint8_t gridWidth;
  uint8_t gridHeight;
  bool dualPlane = false;
  uint8_t secondPlaneComponent = 0;  // the one that takes the second plane's weights
  uint8_t partitions = 1;
  uint16_t partitionIndex = 0;
  uint8_t endpointModes[4];
  uint8_t colors[18];  // 0 to 255; the partitions' values follow each other
  // By plane and grid position, 0 to 64. The interpolation reads one row and one weight past the grid, times zero.
  uint8_t weights[2][kMaxWeights + 16];
};

Block readBlock(const Bits128& bits, unsigned blockWidth, unsigned blockHeight);

}  // namespace pumice::formats::astc
