// Uncompressed texels to numbers and back, a row at a time.
//
// A decoded texel is four 32-bit numbers R, G, B, A of the format's TexelType: components that the format does not have
// are 0, 0, 0, 1, depth and stencil are in R. Formats of 64-bit components decode to four 64-bit numbers instead
// (double, uint64_t or int64_t).
//
// Rules: fixed_point.h, half.h, shared_exponent.h, srgb.h. Integers that do not fit are clamped. Encoding writes zero
// to unused bits. Texels need no alignment, decoded numbers have their type's.
//
// Which formats: every format of one texel per block, so not compressed ones (block_decode.h), not multi-planar ones
// and not combined depth-stencil ones (take the plane's format: aspectFormat()). 4:2:2 formats of one plane have a
// decoder of their own below.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/formats/format_table.h"

namespace pumice::formats {

struct TexelCodec {
  /// count texels, stride_B bytes apart, to count x 4 numbers.
  using DecodeRow = void(const FormatInfo& info, const void* texels, size_t stride_B, size_t count, void* rgba);
  /// The way back.
  using EncodeRow = void(const FormatInfo& info, const void* rgba, size_t count, void* texels, size_t stride_B);

  const FormatInfo* info;
  DecodeRow* decodeRow;  // nullptr: the format has no texel codec
  EncodeRow* encodeRow;
  TexelType type;
  uint8_t texelBytes;
  uint8_t channelBytes;  // 4, or 8 for formats of 64-bit components

  explicit operator bool() const { return decodeRow != nullptr; }

  void decode(const void* texels, size_t stride_B, size_t count, void* rgba) const {
    decodeRow(*info, texels, stride_B, count, rgba);
  }
  void decode(const void* texels, size_t count, void* rgba) const { decode(texels, texelBytes, count, rgba); }

  void encode(const void* rgba, size_t count, void* texels, size_t stride_B) const {
    encodeRow(*info, rgba, count, texels, stride_B);
  }
  void encode(const void* rgba, size_t count, void* texels) const { encode(rgba, count, texels, texelBytes); }
};

/// Cheap, but not free: take it once per operation, not once per row.
TexelCodec texelCodec(VkFormat format);

/// Texels firstX to firstX + count - 1 of a row of 4:2:2 blocks (G8B8G8R8_422 and its relatives): each texel's own G
/// and the B and R of its block, without any chroma filter. blocks is the row's first block, blocks lie side by side.
void decode422(const FormatInfo& info, const void* blocks, size_t firstX, size_t count, float* rgba);

}  // namespace pumice::formats
