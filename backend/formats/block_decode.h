// Compressed blocks to texels. Khronos Data Format Specification 1.4, chapters on S3TC, RGTC, BPTC, ETC2 and ASTC.
//
// Two ways out. decode() makes texels of an uncompressed format that other code already handles, decodedFormat:
//
//   BC1, BC2, BC3, BC7, ETC2, ASTC   R8G8B8A8_UNORM or _SRGB
//   BC4, EAC R11                     R16_UNORM or _SNORM
//   BC5, EAC R11G11                  R16G16_UNORM or _SNORM
//   BC6H                             R16G16B16A16_SFLOAT
//
// BC6H, BC7, ETC2, EAC and ASTC's sRGB are bit-exact there, the others rounded to the nearest code (ASTC UNORM: as its
// decode mode unorm8 does). decodeFloat() makes linear floats by the exact formulas (ASTC: decode mode float16); sRGB
// formats decode to 8 bits first.
//
// Blocks of reserved or invalid encoding: BC6H (0, 0, 0, 1), BC7 zero, ASTC opaque magenta. Any 8 or 16 bytes are safe.
// Not decoded: ASTC HDR, PVRTC.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/formats/format_table.h"

namespace pumice::formats {

struct BlockCodec {
  /// block to blockExtent texels of decodedFormat, rows rowPitch_B apart.
  using Decode = void(const FormatInfo& info, const std::byte* block, std::byte* texels, size_t rowPitch_B);
  /// block to blockExtent x 4 floats, row by row, nothing between rows.
  using DecodeFloat = void(const FormatInfo& info, const std::byte* block, float* rgba);

  const FormatInfo* info;
  VkFormat decodedFormat;
  Decode* decodeBlock;  // nullptr: not a compressed format that is decoded here
  DecodeFloat* decodeBlockFloat;

  explicit operator bool() const { return decodeBlock != nullptr; }

  void decode(const void* block, void* texels, size_t rowPitch_B) const {
    decodeBlock(*info, static_cast<const std::byte*>(block), static_cast<std::byte*>(texels), rowPitch_B);
  }
  void decodeFloat(const void* block, float* rgba) const {
    decodeBlockFloat(*info, static_cast<const std::byte*>(block), rgba);
  }
};

BlockCodec blockCodec(VkFormat format);

}  // namespace pumice::formats
