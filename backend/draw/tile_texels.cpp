#include "backend/draw/tile_texels.h"

#include <algorithm>
#include <cstring>

namespace pumice::draw {
namespace {

std::byte* blockAt(const abi::Surface& s, uint32_t x, uint32_t y) {
  return reinterpret_cast<std::byte*>(s.address + (y / 4) * s.rowPitch_B + (x / 4) * uint64_t{s.blockPitch_B});
}

// Lengths are multiples of the element's.
void fill(std::byte* to, size_t size_B, const TexelPattern& pattern) {
  for (; size_B >= sizeof pattern.bytes; size_B -= sizeof pattern.bytes, to += sizeof pattern.bytes)
    std::memcpy(to, pattern.bytes, sizeof pattern.bytes);
  std::memcpy(to, pattern.bytes, size_B);
}

// Of one block and sample, the texels whose bits are set.
void fillMasked(std::byte* block, uint32_t mask, uint32_t element_B, const TexelPattern& pattern) {
  if (mask == 0xFFFF) return fill(block, 16 * size_t{element_B}, pattern);
  for (; mask; mask &= mask - 1)
    std::memcpy(block + static_cast<uint32_t>(__builtin_ctz(mask)) * element_B, pattern.bytes, element_B);
}

// Bits of the texels of the block at (x, y) that lie in the rectangle.
uint32_t maskOf(const raster::PixelRect& rect, int32_t x, int32_t y) {
  uint32_t mask = 0;
  for (int32_t dy = 0; dy < 4; ++dy)
    for (int32_t dx = 0; dx < 4; ++dx) {
      const bool inside = x + dx >= rect.x0 && x + dx < rect.x1 && y + dy >= rect.y0 && y + dy < rect.y1;
      if (inside) mask |= 1u << abi::quadMajorIndex(static_cast<uint32_t>(dx), static_cast<uint32_t>(dy));
    }
  return mask;
}

}  // namespace

TexelPattern::TexelPattern(const std::byte* element, uint32_t element_B) {
  for (uint32_t at = 0; at < sizeof bytes; at += element_B) std::memcpy(bytes + at, element, element_B);
}

void fillTexels(const abi::Surface& surface, const raster::PixelRect& rect, const TexelPattern& pattern) {
  if (rect.x0 >= rect.x1 || rect.y0 >= rect.y1) return;
  const uint32_t sample_B = 16u * surface.elementBytes;
  for (int32_t y = rect.y0 & ~3; y < rect.y1; y += 4) {
    const bool wholeRows = y >= rect.y0 && y + 4 <= rect.y1;
    const int32_t firstWhole = (rect.x0 + 3) & ~3;
    const int32_t endWhole = rect.x1 & ~3;
    for (int32_t x = rect.x0 & ~3; x < rect.x1;) {
      std::byte* block = blockAt(surface, static_cast<uint32_t>(x), static_cast<uint32_t>(y));
      if (wholeRows && x == firstWhole && x < endWhole && surface.blockPitch_B == sample_B * surface.sampleCount) {
        fill(block, static_cast<size_t>(endWhole - x) / 4 * surface.blockPitch_B, pattern);
        x = endWhole;
        continue;
      }
      const uint32_t mask = maskOf(rect, x, y);
      for (uint32_t s = 0; s < surface.sampleCount; ++s)
        fillMasked(block + s * surface.samplePitch_B, mask, surface.elementBytes, pattern);
      x += 4;
    }
  }
}

void fillRun(const abi::Surface& surface, const abi::FragmentRun& run, const TexelPattern& pattern) {
  const uint32_t element_B = surface.elementBytes;
  for (uint32_t i = 0; i < run.blockCount; ++i) {
    std::byte* block = blockAt(surface, run.blockPosition[i] & 0xFFFF, run.blockPosition[i] >> 16);
    for (uint32_t s = 0; s < surface.sampleCount; ++s)
      fillMasked(block + s * surface.samplePitch_B, run.blockCoverage[s][i], element_B, pattern);
  }
  for (uint32_t i = 0; i < run.mixCount; ++i)
    for (uint32_t q = 0; q < 4; ++q) {
      const uint32_t x = run.mixPosition[i][q] & 0xFFFF;
      const uint32_t y = run.mixPosition[i][q] >> 16;
      std::byte* quad = blockAt(surface, x, y) + abi::quadMajorIndex(x & 3, y & 3) * element_B;
      for (uint32_t s = 0; s < surface.sampleCount; ++s)
        fillMasked(quad + s * surface.samplePitch_B, run.mixCoverage[s][i] >> (q * 4) & 15, element_B, pattern);
    }
}

}  // namespace pumice::draw
