// Texels of a tile that are written without a fragment function: clears. Surfaces are quad-major.
#pragma once

#include <cstdint>

#include "backend/abi/fragment_abi.h"
#include "backend/raster/coverage.h"

namespace pumice::draw {

/// One element, as often as it takes to be written by whole vectors.
struct TexelPattern {
  alignas(64) std::byte bytes[64];
  TexelPattern(const std::byte* element, uint32_t element_B);
};

/// All samples of a rectangle of pixels.
void fillTexels(const abi::Surface& surface, const raster::PixelRect& rect, const TexelPattern& pattern);

/// What a run covers, sample by sample.
void fillRun(const abi::Surface& surface, const abi::FragmentRun& run, const TexelPattern& pattern);

}  // namespace pumice::draw
