// Where one texel of a level lies. Vulkan specification: "Integer Texel Coordinate Operations", "Texel Input Validation
// Operations"; abi/image_layout.h and abi/descriptor.h for the order in memory.
#pragma once

#include "backend/abi/image_layout.h"
#include "backend/texture/view.h"

namespace pumice::texture {

struct TexelPlace {
  uint32_t x, y, slice, sample;
};

inline bool isInside(const View& view, const Level& level, const TexelPlace& p) {
  return p.x < level.width && p.y < level.height && p.slice < level.sliceCount && p.sample < view.samples;
}

/// isInside() holds.
inline std::byte* texelAddress(const View& view, const Level& level, const TexelPlace& p) {
  const uint64_t bytes = view.format->bytes;
  std::byte* slice = level.base + p.slice * level.slicePitch_B + uint64_t{p.sample} * view.samplePitch_B;
  if (view.quadMajor) {
    return slice + uint64_t{p.y >> 2} * level.rowPitch_B + uint64_t{p.x >> 2} * view.blockStride_B +
           abi::quadMajorIndex(p.x & 3, p.y & 3) * bytes;
  }
  return slice + uint64_t{p.y} * level.rowPitch_B + p.x * bytes;
}

/// Of one lane of kWrite or an atomic; nullptr when it lies outside the image.
inline std::byte* texelOfLane(const abi::ImageCall& call, uint32_t lane, const View& view, const Level& level) {
  const uint32_t slice = view.sliceComponent();
  TexelPlace p{call.coordinate[0][lane], 0, 0, 0};
  if (slice == 2) p.y = call.coordinate[1][lane];
  if (slice < 3) p.slice = call.coordinate[slice][lane];
  if ((call.flags & abi::kImageSampleIndex) != 0) p.sample = call.lod[lane];
  return isInside(view, level, p) ? texelAddress(view, level, p) : nullptr;
}

}  // namespace pumice::texture
