// Source rows of a filtered blit, already filtered along x: a run of the destination's columns at a time.
#pragma once

#include "backend/gpu/blit_axis.h"
#include "backend/gpu/blit_source.h"

namespace pumice::gpu {

/// Of one worker, for the length of a call.
class FilteredRows {
 public:
  explicit FilteredRows(const abi::BlitImagePacket& packet)
      : source_(packet), x_(packet, 0), filter_(static_cast<VkFilter>(packet.filter)) {}

  /// The columns x .. x + count - 1 of the destination, count <= kBlitRun.
  void begin(int64_t x, uint32_t count);
  /// Four numbers for each column. Valid until four other rows of the slice were asked for, or two other slices:
  /// neighbouring rows of the destination ask for the same ones.
  const float* row(uint32_t slice, uint32_t y);

 private:
  static constexpr uint32_t kCachedRows = 2 * Taps::kMost;
  static constexpr uint64_t kNoRow = ~uint64_t{0};
  static constexpr uint32_t kMostSpan = Taps::kMost * kBlitRun;

  void decodeTexels(uint32_t slice, uint32_t y);
  template <uint32_t kTaps>
  void mix(float* sum) const;

  BlitSource source_;
  Axis x_;
  VkFilter filter_;
  uint32_t count_ = 0, taps_ = 0;
  // The texels that the run needs of a row: all from spanFirst_ on, or those of list_.
  uint32_t spanFirst_ = 0, texelCount_ = 0;
  bool isSpan_ = false;
  uint32_t list_[kMostSpan];
  uint32_t place_[Taps::kMost][kBlitRun];            // where a tap's texel stands among the decoded ones, in floats
  alignas(64) float weight_[Taps::kMost][kBlitRun];  // of each tap
  alignas(64) float texels_[4 * (kMostSpan + 1)];    // decoded; the one behind the last is zero
  uint64_t cachedRow_[kCachedRows];
  alignas(64) float cached_[kCachedRows][4 * kBlitRun];
};

}  // namespace pumice::gpu
