// Samples of texels into one: the arithmetic that resolves of images (image_blit.h) and of tiles (tile_texels.h) share.
// Vulkan specification: "Resolving Multisample Images", "Render Pass Multisample Resolve Operations".
//
// Averages are taken of what a shader would read (sRGB: linear) and rounded to nearest even. Integers have no average:
// they resolve to their first sample.
#pragma once

#include "backend/abi/draw_packets.h"
#include "backend/formats/texel_codec.h"

namespace pumice::gpu {

/// Any thread may use it, several at once.
class SampleResolver {
 public:
  static constexpr uint32_t kMost = 64;  // texels of one call

  /// format: of a texel in memory, so depth or stencil alone. mode: not kNone. samples: 1, 2, 4 or 8.
  SampleResolver(VkFormat format, abi::ResolveMode mode, uint32_t samples);

  bool takesFirst() const { return way_ == Way::kFirst; }
  /// count texels that lie side by side: samples[s] are those of sample s. `out` is none of them.
  void run(const std::byte* const* samples, uint32_t count, std::byte* out) const;

 private:
  enum class Way : uint8_t { kFirst, kAverageBytes, kFloats, kNumbers };

  void averageBytes(const std::byte* const* samples, uint32_t count, std::byte* out) const;

  formats::TexelCodec codec_;
  abi::ResolveMode mode_;
  uint32_t samples_;
  Way way_;
};

}  // namespace pumice::gpu
