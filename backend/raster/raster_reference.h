// Naive references for the tests: exact integers, one sample at a time, no hierarchy and no rule about left or top
// edges.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "backend/abi/image_layout.h"
#include "backend/raster/kernels.h"

namespace pumice::raster {

// Whether a convex clockwise polygon holds a point. The rule for shared edges is stated otherwise than in the code: the
// point is moved to the right by next to nothing and down by next to nothing of that, after which it lies on no edge.
inline bool holds(const Point* corners, uint32_t count, Point sample) {
  __extension__ using Wide = __int128;
  // |b| < 2^24 < kRight, and |a| kRight + |b| < kUnit, so the moves only decide where the cross product is zero.
  constexpr Wide kRight = Wide{1} << 26;
  constexpr Wide kUnit = Wide{1} << 54;
  const Wide x = sample.x * kUnit + kRight;
  const Wide y = sample.y * kUnit + 1;
  for (uint32_t i = 0; i < count; ++i) {
    const Point p = corners[i];
    const Point q = corners[(i + 1) % count];
    if ((q.x - p.x) * (y - p.y * kUnit) - (q.y - p.y) * (x - p.x * kUnit) <= 0) return false;
  }
  return true;
}

// By sample, then 64x64 pixels.
struct SquareCoverage {
  std::vector<uint8_t> bit;
  explicit SquareCoverage(uint32_t samples) : bit(samples * 64 * 64) {}
  uint8_t& at(uint32_t s, int32_t x, int32_t y) {
    return bit[(s * 64 + static_cast<uint32_t>(y)) * 64 + static_cast<uint32_t>(x)];
  }
  bool operator==(const SquareCoverage&) const = default;
};

inline SquareCoverage naiveCoverage(const Point* corners, uint32_t count, int32_t x, int32_t y, const PixelRect& rect,
                                    uint32_t samples_log2) {
  const SamplePattern& pattern = kSamplePatterns[samples_log2];
  SquareCoverage out(pattern.count);
  for (int32_t py = rect.y0; py < rect.y1; ++py)
    for (int32_t px = rect.x0; px < rect.x1; ++px)
      for (uint32_t s = 0; s < pattern.count; ++s)
        out.at(s, px, py) =
            holds(corners, count, {(x + px) * kSubpixels + pattern.x[s], (y + py) * kSubpixels + pattern.y[s]});
  return out;
}

inline SquareCoverage expand(const BlockList& list, uint32_t samples_log2) {
  SquareCoverage out(1u << samples_log2);
  for (uint32_t i = 0; i < list.count; ++i)
    for (uint32_t s = 0; s < 1u << samples_log2; ++s)
      for (uint32_t y = 0; y < 4; ++y)
        for (uint32_t x = 0; x < 4; ++x)
          if (list.coverage[s][i] >> abi::quadMajorIndex(x, y) & 1)
            ++out.at(s, static_cast<int32_t>(blockX(list.block[i]) * 4 + x),
                     static_cast<int32_t>(blockY(list.block[i]) * 4 + y));
  return out;
}

inline std::vector<const Kernels*> allKernels() {
  const Kernels* usable[3];
  return {usable, usable + usableKernels(usable)};
}

inline constexpr PixelRect kWholeSquare = {0, 0, 64, 64};

}  // namespace pumice::raster
