// One coordinate of a blit (Vulkan 1.3, 20.5): from destination texels to source texels.
#pragma once

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backend/abi/packets.h"

namespace pumice::gpu {

/// What a filter takes along one coordinate.
struct Taps {
  static constexpr uint32_t kMost = 4;
  uint32_t count;
  uint32_t texel[kMost];
  float weight[kMost];

  bool areOneTexel() const {
    return std::all_of(texel + 1, texel + count, [this](uint32_t t) { return t == texel[0]; });
  }
};

/// u = (dst + 1/2 - d0) * (s1 - s0) / (d1 - d0) + s0 as one quotient of integers of less than 2^33: it is rounded once,
/// by less than its distance to the next texel's edge, so that floor is exact.
class Axis {
 public:
  Axis(const abi::BlitImagePacket& p, int axis)
      : srcSize_(int64_t{p.srcCorner[1][axis]} - p.srcCorner[0][axis]),
        srcFirst_(p.srcCorner[0][axis]),
        dstFirst_(p.dstCorner[0][axis]),
        dstSize2_(2.0 * (double(p.dstCorner[1][axis]) - p.dstCorner[0][axis])),
        last_(int64_t{p.srcExtent[axis]} - 1) {}

  uint32_t nearest(int64_t dst) const { return clamp(std::floor(at(dst))); }

  Taps taps(int64_t dst, VkFilter filter) const {
    const double u = at(dst) - 0.5, base = std::floor(u);
    const auto a = static_cast<float>(u - base);
    if (filter == VK_FILTER_LINEAR) return {2, {clamp(base), clamp(base + 1)}, {1 - a, a}};
    // Catmull-Rom (Vulkan 1.3, 16.9.4).
    const float a2 = a * a, a3 = a2 * a;
    return {4,
            {clamp(base - 1), clamp(base), clamp(base + 1), clamp(base + 2)},
            {0.5f * (-a + 2 * a2 - a3), 0.5f * (2 - 5 * a2 + 3 * a3), 0.5f * (a + 4 * a2 - 3 * a3), 0.5f * (a3 - a2)}};
  }

 private:
  double at(int64_t dst) const {
    return static_cast<double>((2 * (dst - dstFirst_) + 1) * srcSize_) / dstSize2_ + static_cast<double>(srcFirst_);
  }
  uint32_t clamp(double texel) const {
    return static_cast<uint32_t>(std::clamp<double>(texel, 0, static_cast<double>(last_)));
  }

  int64_t srcSize_, srcFirst_, dstFirst_;
  double dstSize2_;
  int64_t last_;  // texel of the source level
};

}  // namespace pumice::gpu
