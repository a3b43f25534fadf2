// What the texture unit has to know of a texel format, by the format index of a view class. Made once, from the format
// table.
#pragma once

#include <cstdint>

#include "backend/formats/block_decode.h"
#include "backend/formats/texel_codec.h"

namespace pumice::texture {

/// How texels become numbers. All but kCodec have straight loops over sixteen lanes.
enum class TexelKind : uint8_t {
  kNone,  // no texels of this format can be read: views of it read zero
  kRgba8Unorm,
  kBgra8Unorm,
  kRgba8Srgb,
  kBgra8Srgb,
  kR8Unorm,
  kRg8Unorm,
  kR16Unorm,
  kD24Unorm,  // in the low bits of a word
  kR16Float,
  kRg16Float,
  kRgba16Float,
  kR32,  // any type: the bits are the number
  kRg32,
  kRgba32,
  kCodec,
  kWide,   // 64-bit components; only the first is read
  kBlock,  // compressed
};

struct TexelFormat {
  formats::TexelCodec codec;  // of all kinds but kBlock
  formats::BlockCodec block;  // of kBlock
  TexelKind kind;
  formats::TexelType type;
  uint8_t bytes;    // of a texel or a compressed block
  bool normalized;  // fixed point: references of depth comparisons are clamped to [0, 1]
  uint8_t blockWidth, blockHeight;
  bool present[4];  // R, G, B, A; depth and stencil are in R
  uint32_t one;     // bits of the number 1
  // What a texel outside the image reads as: zero in the format's components, then as every texel 0, 0, 0, 1 in those
  // that it lacks (robustImageAccess2, robustBufferAccess2).
  uint32_t outside[4];
};

/// Of formats::allFormats()[index]; an entry of kind kNone for indices past its end.
const TexelFormat& texelFormat(uint32_t index);

/// The index of a format in formats::allFormats(), for makers of view classes. 0xFFFF: no such format.
uint16_t texelFormatIndex(VkFormat format);

}  // namespace pumice::texture
