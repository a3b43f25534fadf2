// Where a blit reads: texels of one level, as four numbers each. Compressed blocks are decoded once while the blit
// works on rows that share them.
#pragma once

#include "backend/abi/packets.h"
#include "backend/formats/block_decode.h"
#include "backend/formats/texel_codec.h"
#include "backend/gpu/surface.h"

namespace pumice::gpu {

/// Texels are worked on in runs of so many of a row, which stay in the first-level cache as numbers.
inline constexpr uint32_t kBlitRun = 64;

/// count texels (x[i], y) of a plane, wherever they are, side by side.
void gatherTexels(const Plane& from, const uint32_t* x, uint32_t y, uint32_t count, std::byte* out);

/// Of one worker, for the length of a call: it holds the blocks that were decoded last.
class BlitSource {
 public:
  explicit BlitSource(const abi::BlitImagePacket& packet);

  bool isCompressed() const { return static_cast<bool>(blocks_); }
  Plane plane(uint64_t slice) const { return Plane(surface_, slice, 0); }
  /// Four numbers of 32 bits, of the format's type, for each of at most kBlitRun texels (x[i], y).
  void fetch(uint64_t slice, const uint32_t* x, uint32_t y, uint32_t count, void* numbers);
  /// The same of neighbours, (x .. x + count - 1, y).
  void fetchRow(uint64_t slice, uint32_t x, uint32_t y, uint32_t count, void* numbers);

 private:
  static constexpr uint32_t kCacheFloats = 16 * 1024;
  static constexpr uint32_t kMaxEntries = kCacheFloats / (4 * 4 * 4);  // of blocks of 4 x 4 texels, the smallest

  const float* decoded(const std::byte* block);

  abi::Surface surface_;
  formats::TexelCodec texels_;
  formats::BlockCodec blocks_;
  uint32_t blockWidth_ = 1, blockHeight_ = 1;
  uint32_t entryFloats_ = 0, entryCount_ = 0;
  const std::byte* entry_[kMaxEntries];  // the block whose texels an entry has
  alignas(64) float cache_[kCacheFloats];
};

}  // namespace pumice::gpu
