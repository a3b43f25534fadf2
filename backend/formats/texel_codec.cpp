#include "backend/formats/texel_codec.h"

#include <cstring>

#include "backend/formats/codec_kernels.h"
#include "backend/formats/shared_exponent.h"

namespace pumice::formats {

TexelCodec texelCodec(VkFormat format) {
  const FormatInfo& info = formatInfo(format);
  TexelCodec codec{&info, nullptr, nullptr, texelType(info), info.blockBytes, 4};
  if (!isKnown(info) || isCompressed(info) || info.planeCount != 1 || info.blockExtent[0] != 1) return codec;
  RowFunctions rows = hotRowFunctions(format, hasWideVectors());
  if (rows.decode == nullptr) {
    if (info.sharedExponentBits != 0) {
      rows = {decodeSharedExponent, encodeSharedExponent};
    } else if (info.components[0].bits == 64) {
      rows = {decodeWide, encodeWide};
      codec.channelBytes = 8;
    } else {
      rows = {decodeGeneric, encodeGeneric};
    }
  }
  codec.decodeRow = rows.decode;
  codec.encodeRow = rows.encode;
  return codec;
}

void decodeSharedExponent(const FormatInfo&, const void* texels, size_t stride_B, size_t count, void* rgba) {
  auto* out = static_cast<float*>(rgba);
  for (size_t i = 0; i < count; ++i) {
    uint32_t texel;
    std::memcpy(&texel, static_cast<const std::byte*>(texels) + i * stride_B, 4);
    sharedExponentToFloat(texel, out + 4 * i);
    out[4 * i + 3] = 1.0f;
  }
}

void encodeSharedExponent(const FormatInfo&, const void* rgba, size_t count, void* texels, size_t stride_B) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t texel = floatToSharedExponent(static_cast<const float*>(rgba) + 4 * i);
    std::memcpy(static_cast<std::byte*>(texels) + i * stride_B, &texel, 4);
  }
}

// The bits are copied: doubles need no conversion, and image atomics work on the integers.
void decodeWide(const FormatInfo& info, const void* texels, size_t stride_B, size_t count, void* rgba) {
  constexpr uint64_t kDoubleOne = uint64_t{1023} << 52;
  const uint64_t one = texelType(info) == TexelType::kFloat ? kDoubleOne : 1;
  auto* out = static_cast<uint64_t*>(rgba);
  for (size_t i = 0; i < count; ++i) {
    uint64_t texel[4] = {0, 0, 0, one};
    std::memcpy(texel, static_cast<const std::byte*>(texels) + i * stride_B, info.blockBytes);
    std::memcpy(out + 4 * i, texel, sizeof texel);
  }
}

void encodeWide(const FormatInfo& info, const void* rgba, size_t count, void* texels, size_t stride_B) {
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<std::byte*>(texels) + i * stride_B, static_cast<const uint64_t*>(rgba) + 4 * i,
                info.blockBytes);
  }
}

void decode422(const FormatInfo& info, const void* blocks, size_t firstX, size_t count, float* rgba) {
  // Components are named G B G R or B G R G: the first G belongs to the left texel.
  int bits[4];      // of R, B, left G, right G
  size_t place[4];  // their elements
  bool right = false;
  for (size_t c = 0; c < 4; ++c) {
    const ComponentName name = info.components[c].name;
    const size_t slot = name == ComponentName::kR ? 0 : name == ComponentName::kB ? 1 : right ? 3 : 2;
    right = right || name == ComponentName::kG;
    bits[slot] = info.components[c].bits;
    place[slot] = c;
  }
  const size_t elementBytes = info.components[0].elementBits / 8;
  const auto component = [&](size_t x, size_t slot) {
    uint16_t element = 0;
    const std::byte* block = static_cast<const std::byte*>(blocks) + x / 2 * info.blockBytes;
    std::memcpy(&element, block + place[slot] * elementBytes, elementBytes);
    // 10X6 and 12X4: the number is in the upper bits.
    return static_cast<float>(element >> (elementBytes * 8 - bits[slot])) / static_cast<float>((1 << bits[slot]) - 1);
  };
  for (size_t i = 0; i < count; ++i) {
    const size_t x = firstX + i;
    rgba[4 * i] = component(x, 0);
    rgba[4 * i + 1] = component(x, 2 + x % 2);
    rgba[4 * i + 2] = component(x, 1);
    rgba[4 * i + 3] = 1.0f;
  }
}

}  // namespace pumice::formats
