// Compressed blocks decoded during one call: filters look at the same few blocks again and again.
#pragma once

#include <cstdint>

#include "backend/texture/texel_format.h"

namespace pumice::texture {

class BlockCache {
 public:
  /// blockWidth x blockHeight texels of four floats, good until the next call.
  const float* texels(const TexelFormat& format, const std::byte* block) {
    const auto at = reinterpret_cast<uintptr_t>(block) / format.bytes % kEntries;
    if (blocks_[at] != block) {
      format.block.decodeFloat(block, texels_[at]);
      blocks_[at] = block;
    }
    return texels_[at];
  }

 private:
  static constexpr uint32_t kEntries = 8;
  static constexpr uint32_t kMaxTexels = 12 * 12;  // ASTC

  const std::byte* blocks_[kEntries] = {};
  float texels_[kEntries][kMaxTexels * 4];
};

}  // namespace pumice::texture
