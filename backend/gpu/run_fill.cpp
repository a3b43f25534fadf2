#include "backend/gpu/run_fill.h"

#include <bit>
#include <cstring>

#include "backend/gpu/pattern.h"
#include "backend/gpu/surface.h"

namespace pumice::gpu {
namespace {

class Filler {
 public:
  Filler(const abi::Surface& surface, const std::byte* element)
      : surface_(surface), plane_(surface, 0, 0), element_(element), pattern_(element, surface.elementBytes) {}

  // Texels that follow each other from (x, y) on, as far as their bits are set.
  void fill(uint32_t position, uint32_t sample, uint32_t mask) const {
    const uint32_t element_B = surface_.elementBytes;
    std::byte* at = plane_.element(position & 0xFFFF, position >> 16) + sample * surface_.samplePitch_B;
    if (mask == 0xFFFF) return pattern_.fill(at, 16 * element_B);
    for (; mask; mask &= mask - 1)
      std::memcpy(at + static_cast<uint32_t>(std::countr_zero(mask)) * element_B, element_, element_B);
  }

 private:
  const abi::Surface& surface_;
  const Plane plane_;
  const std::byte* element_;
  const Pattern pattern_;
};

}  // namespace

void fillRun(const abi::Surface& surface, const abi::FragmentRun& run, const std::byte* element) {
  const Filler filler(surface, element);
  for (uint32_t s = 0; s < surface.sampleCount; ++s) {
    for (uint32_t i = 0; i < run.blockCount; ++i) filler.fill(run.blockPosition[i], s, run.blockCoverage[s][i]);
    for (uint32_t i = 0; i < run.mixCount; ++i)
      for (uint32_t q = 0; q < 4; ++q) filler.fill(run.mixPosition[i][q], s, run.mixCoverage[s][i] >> (q * 4) & 15u);
  }
}

}  // namespace pumice::gpu
