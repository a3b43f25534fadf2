// How texels lie in memory. A layout is a function of element bytes, usage and tiling, never of the format, so that
// mutable views reinterpret in place. docs/images.md has the reasons; backend/formats/image_layout.h computes layouts.
//
// An *element* is a texel, or a block of a compressed or 4:2:2 format.
#pragma once

#include <cstdint>

namespace pumice::abi {

enum class BlockOrder : uint8_t {
  kRowLinear,   // rows of elements with padded pitch: x-neighbours load as one pair; a row holds its samples' rows, one
                // after the other
  kQuadMajor4,  // 4x4 blocks, texels in Morton order: quad q = texels 4q..4q+3 = lanes 4q..4q+3 of a fragment vector;
                // the block of sample s follows that of sample s-1
};

// Index of texel (x, y), both in 0..3, inside a quad-major block. It is lane order of fragment shaders (subgroup quads
// are consecutive invocations), hence ABI.
constexpr uint32_t quadMajorIndex(uint32_t x, uint32_t y) {
  return (x & 1u) | ((y & 1u) << 1) | ((x & 2u) << 1) | ((y & 2u) << 2);
}

struct ImageLayout {
  uint8_t elementBytes;  // up to 32; quad-major: 1, 2, 4, 8, 16. Each plane of a multi-planar image has its own layout.
  BlockOrder order;
  uint8_t macroWidth_log2;  // macro tile in texels; 0, 0 = none. Room for the standard sparse 64 KiB shapes.
  uint8_t macroHeight_log2;
};
static_assert(sizeof(ImageLayout) == 4);

inline constexpr uint32_t kMaxImageLevels = 15;       // 16384 = 2^14
inline constexpr uint64_t kSlicePitchUnitBytes = 64;  // of ImageLevel (descriptor.h)

}  // namespace pumice::abi
