// Depth bias of polygons (Vulkan 1.3, 28.10.3). Without branches, for the vector loops.
#pragma once

#include <cstdint>

#include "backend/raster/setup.h"

namespace pumice::raster {

[[gnu::always_inline]] inline float largerMagnitude(float a, float b) {
  const float x = a < 0 ? -a : a;
  const float y = b < 0 ? -b : b;
  return x > y ? x : y;
}

// Of a polygon whose depth has these slopes per pixel, and this largest magnitude.
[[gnu::always_inline]] inline float depthBias(const SetupState& state, float slopeX, float slopeY, float largest) {
  // The smallest difference that counts. Of floats: that of numbers with the exponent of the largest one.
  const int32_t exponent = static_cast<int32_t>(__builtin_bit_cast(uint32_t, largest) >> 23);
  const float floatUnit = __builtin_bit_cast(float, static_cast<uint32_t>(exponent > 24 ? exponent - 23 : 1) << 23);
  const float unit = state.depthKind == DepthKind::kUnorm16   ? 0x1p-16f
                     : state.depthKind == DepthKind::kUnorm24 ? 0x1p-24f
                                                              : floatUnit;
  const float bias = largerMagnitude(slopeX, slopeY) * state.biasSlope + unit * state.biasConstant;
  const float below = state.biasClamp > 0 && bias > state.biasClamp ? state.biasClamp : bias;
  return state.biasClamp < 0 && below < state.biasClamp ? state.biasClamp : below;
}

}  // namespace pumice::raster
