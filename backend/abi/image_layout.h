// How texels lie in memory. A layout is a function of element bytes, usage and tiling, never of the format, so that
// mutable views reinterpret in place.
#pragma once

#include <cstdint>

namespace pumice::abi {

enum class BlockOrder : uint8_t {
  kRowLinear,   // rows with padded pitch; sampled-only, 1D, 96-bit and linear images: x-neighbours load as one pair
  kQuadMajor4,  // 4x4 blocks, texels in Morton order: quad q = texels 4q..4q+3 = lanes 4q..4q+3 of a fragment vector
};

// Index of texel (x, y), both in 0..3, inside a quad-major block. It is lane order of fragment shaders (subgroup quads
// are consecutive invocations), hence ABI.
constexpr uint32_t quadMajorIndex(uint32_t x, uint32_t y) {
  return (x & 1u) | ((y & 1u) << 1) | ((x & 2u) << 1) | ((y & 2u) << 2);
}

struct ImageLayout {
  uint8_t elementBytes;  // 1, 2, 4, 8, 12, 16 (32 and more for planes are separate layouts)
  BlockOrder order;
  uint8_t macroWidth_log2;  // macro tile in texels; 0, 0 = none. Room for the standard sparse 64 KiB shapes.
  uint8_t macroHeight_log2;
};
static_assert(sizeof(ImageLayout) == 4);

}  // namespace pumice::abi
