// Pixels that a polygon may cover.
#pragma once

#include <algorithm>

#include "backend/raster/setup.h"

namespace pumice::raster {

// False: none. Pixels with a sample at or behind the first side of the bounding box, and at or before the last one;
// clipped.
inline bool boundingRect(const Point* corners, uint32_t count, uint32_t samples_log2, const PixelRect& clip,
                         PrimitiveRect& out) {
  Point low = corners[0];
  Point high = corners[0];
  for (uint32_t i = 1; i < count; ++i) {
    low = {std::min(low.x, corners[i].x), std::min(low.y, corners[i].y)};
    high = {std::max(high.x, corners[i].x), std::max(high.y, corners[i].y)};
  }
  const SamplePattern& pattern = kSamplePatterns[samples_log2];
  const int32_t x0 = std::max((low.x - pattern.max + kSubpixels - 1) >> kSubpixelBits, clip.x0);
  const int32_t y0 = std::max((low.y - pattern.max + kSubpixels - 1) >> kSubpixelBits, clip.y0);
  const int32_t x1 = std::min(((high.x - pattern.min) >> kSubpixelBits) + 1, clip.x1);
  const int32_t y1 = std::min(((high.y - pattern.min) >> kSubpixelBits) + 1, clip.y1);
  if (x0 >= x1 || y0 >= y1) return false;
  out = {static_cast<uint16_t>(x0), static_cast<uint16_t>(y0), static_cast<uint16_t>(x1), static_cast<uint16_t>(y1)};
  return true;
}

}  // namespace pumice::raster
