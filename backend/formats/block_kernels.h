// The functions behind BlockCodec, by family.
#pragma once

#include "backend/formats/block_decode.h"

namespace pumice::formats {

BlockCodec::Decode decodeBc1, decodeBc2, decodeBc3, decodeBc4Or5, decodeBc6h, decodeBc7, decodeEtc2, decodeEac,
    decodeAstc;
BlockCodec::DecodeFloat decodeBc1Float, decodeBc2Float, decodeBc3Float, decodeBc4Or5Float, decodeBc6hFloat,
    decodeEacFloat, decodeAstcFloat;

/// Decodes to 8 bits by Decode, then each component exactly: for formats whose result is 8 bits.
template <BlockCodec::Decode kDecode>
void decodeBytesFloat(const FormatInfo& info, const std::byte* block, float* rgba);

/// width x height texels of four bytes to floats; color through the sRGB curve when the format has it.
void bytesToFloat(const FormatInfo& info, const std::byte* texels, size_t count, float* rgba);

template <BlockCodec::Decode kDecode>
void decodeBytesFloat(const FormatInfo& info, const std::byte* block, float* rgba) {
  std::byte texels[12 * 12 * 4];
  kDecode(info, block, texels, info.blockExtent[0] * size_t{4});
  bytesToFloat(info, texels, info.texelsPerBlock, rgba);
}

}  // namespace pumice::formats
