// Where the samples of a pixel are: the standard sample locations (Vulkan 1.3, 27.3), in 1/256 pixel from the pixel's
// upper left corner.
#pragma once

#include <cstdint>

#include "backend/abi/fragment_abi.h"

namespace pumice::raster {

struct SamplePattern {
  uint32_t count;
  uint8_t x[abi::kMaxSamples], y[abi::kMaxSamples];
  uint8_t min, max;  // of all x and y: the standard patterns have the same bounds in both
};

// By log2 of the count. The specification gives sixteenths of a pixel.
inline constexpr SamplePattern kSamplePatterns[4] = {
    {1, {128}, {128}, 128, 128},
    {2, {12 * 16, 4 * 16}, {12 * 16, 4 * 16}, 4 * 16, 12 * 16},
    {4, {6 * 16, 14 * 16, 2 * 16, 10 * 16}, {2 * 16, 6 * 16, 10 * 16, 14 * 16}, 2 * 16, 14 * 16},
    {8,
     {9 * 16, 7 * 16, 13 * 16, 5 * 16, 3 * 16, 1 * 16, 11 * 16, 15 * 16},
     {5 * 16, 11 * 16, 9 * 16, 3 * 16, 13 * 16, 7 * 16, 15 * 16, 1 * 16},
     1 * 16,
     15 * 16},
};

}  // namespace pumice::raster
