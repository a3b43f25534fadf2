#include "backend/gpu/tile_texels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/gpu/element_rows.h"
#include "backend/gpu/pattern.h"
#include "backend/gpu/resolve.h"
#include "backend/gpu/surface.h"

namespace pumice::gpu {
namespace {

constexpr uint32_t kBlockTexels = 16;
constexpr uint32_t kMaxElementBytes = 16;

struct Span {
  uint32_t begin, end;
  // Inside of the block (of four) that begins at `first`: which of its rows or columns, 0 to 4.
  Span within(uint32_t first) const { return {std::max(begin, first) - first, std::min(end, first + 4) - first}; }
  bool isWhole() const { return begin == 0 && end == 4; }
};

// Bit i: texel i of a block, in the order of memory.
uint32_t texelMask(Span columns, Span rows) {
  uint32_t mask = 0;
  for (uint32_t y = rows.begin; y < rows.end; ++y)
    for (uint32_t x = columns.begin; x < columns.end; ++x) mask |= 1u << abi::quadMajorIndex(x, y);
  return mask;
}

template <typename Use>
void forEachBit(uint32_t mask, Use&& use) {
  for (; mask != 0; mask &= mask - 1) use(static_cast<uint32_t>(std::countr_zero(mask)));
}

// whole(x, y, blocks): blocks side by side from (x, y) on, which the area covers; part(x, y, mask): one block and the
// texels of it that are in the area.
template <typename Whole, typename Part>
void forEachBlock(const abi::PassArea& area, Whole&& whole, Part&& part) {
  if (area.width == 0 || area.height == 0) return;
  const Span xs{area.x, area.x + area.width}, ys{area.y, area.y + area.height};
  const uint32_t firstWhole = (xs.begin + 3) / 4 * 4, endWhole = xs.end / 4 * 4;
  for (uint32_t y = ys.begin / 4 * 4; y < ys.end; y += 4) {
    const Span rows = ys.within(y);
    for (uint32_t x = xs.begin / 4 * 4; x < xs.end; x += 4) {
      if (rows.isWhole() && x == firstWhole && x < endWhole) {
        whole(x, y, (endWhole - x) / 4);
        x = endWhole - 4;
      } else {
        part(x, y, texelMask(xs.within(x), rows));
      }
    }
  }
}

void resolveRows(const abi::Surface& dst, const abi::Surface& src, const abi::PassArea& area,
                 const SampleResolver& resolver) {
  constexpr uint32_t kRun = SampleResolver::kMost;
  alignas(64) std::byte texels[abi::kMaxSamples][kRun * kMaxElementBytes];
  alignas(64) std::byte resolved[kRun * kMaxElementBytes];
  const std::byte* samples[abi::kMaxSamples];
  const Plane to(dst, 0, 0);
  for (uint32_t y = area.y; y < area.y + area.height; ++y)
    for (uint32_t x = area.x; x < area.x + area.width; x += kRun) {
      const uint32_t count = std::min(kRun, area.x + area.width - x);
      for (uint32_t s = 0; s < src.sampleCount; ++s) {
        readRow(Plane(src, 0, s), x, y, count, texels[s]);
        samples[s] = texels[s];
      }
      resolver.run(samples, count, resolved);
      writeRow(to, x, y, count, resolved);
    }
}

}  // namespace

void fillTile(const abi::Surface& s, const abi::PassArea& area, const std::byte* element) {
  const Pattern pattern(element, s.elementBytes);
  const Plane plane(s, 0, 0);
  if (!plane.quads) {
    for (uint32_t y = area.y; y < area.y + area.height; ++y)
      for (uint32_t sample = 0; sample < s.sampleCount; ++sample)
        pattern.fill(plane.element(area.x, y) + sample * s.samplePitch_B, uint64_t{area.width} * s.elementBytes);
    return;
  }
  const uint32_t block_B = kBlockTexels * s.elementBytes * s.sampleCount;
  forEachBlock(
      area,
      [&](uint32_t x, uint32_t y, uint32_t blocks) {
        std::byte* to = plane.element(x, y);
        if (s.blockPitch_B == block_B) return pattern.fill(to, uint64_t{blocks} * block_B);
        for (uint32_t b = 0; b < blocks; ++b) pattern.fill(to + uint64_t{b} * s.blockPitch_B, block_B);
      },
      [&](uint32_t x, uint32_t y, uint32_t mask) {
        std::byte* to = plane.element(x, y);
        for (uint32_t sample = 0; sample < s.sampleCount; ++sample, to += s.samplePitch_B)
          forEachBit(mask, [&](uint32_t i) { std::memcpy(to + i * s.elementBytes, element, s.elementBytes); });
      });
}

void resolveTile(const abi::Surface& dst, const abi::Surface& src, const abi::PassArea& area, uint32_t format,
                 abi::ResolveMode mode) {
  const SampleResolver resolver(static_cast<VkFormat>(format), mode, src.sampleCount);
  const Plane to(dst, 0, 0), from(src, 0, 0);
  if (!to.quads || !from.quads) return resolveRows(dst, src, area, resolver);
  // Texels of equal place have equal order in the blocks of both.
  const auto resolveBlock = [&](const std::byte* block, std::byte* out) {
    const std::byte* samples[abi::kMaxSamples];
    for (uint32_t s = 0; s < src.sampleCount; ++s) samples[s] = block + s * src.samplePitch_B;
    resolver.run(samples, kBlockTexels, out);
  };
  forEachBlock(
      area,
      [&](uint32_t x, uint32_t y, uint32_t blocks) {
        const std::byte* block = from.element(x, y);
        std::byte* out = to.element(x, y);
        for (; blocks != 0; --blocks, block += from.blockPitch_B, out += to.blockPitch_B) resolveBlock(block, out);
      },
      [&](uint32_t x, uint32_t y, uint32_t mask) {
        alignas(64) std::byte resolved[kBlockTexels * kMaxElementBytes];
        resolveBlock(from.element(x, y), resolved);
        std::byte* out = to.element(x, y);
        forEachBit(mask, [&](uint32_t i) {
          std::memcpy(out + i * src.elementBytes, resolved + i * src.elementBytes, src.elementBytes);
        });
      });
}

}  // namespace pumice::gpu
