// The row functions behind TexelCodec.
#pragma once

#include "backend/formats/texel_codec.h"

namespace pumice::formats {

struct RowFunctions {
  TexelCodec::DecodeRow* decode = nullptr;
  TexelCodec::EncodeRow* encode = nullptr;
};

/// Whether this machine can run the loops compiled for AVX2 with FMA.
bool hasWideVectors();

/// Straight loops for the formats that images mostly have; empty for others. wide: those for AVX2, which give the same
/// bits.
RowFunctions hotRowFunctions(VkFormat format, bool wide);

TexelCodec::DecodeRow decodeGeneric;
TexelCodec::EncodeRow encodeGeneric;
TexelCodec::DecodeRow decodeWide;  // 64-bit components
TexelCodec::EncodeRow encodeWide;
TexelCodec::DecodeRow decodeSharedExponent;
TexelCodec::EncodeRow encodeSharedExponent;

}  // namespace pumice::formats
