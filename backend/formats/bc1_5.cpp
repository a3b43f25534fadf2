// BC1 to BC5: palettes between two endpoints. A palette is kept as exact numerators over one denominator, and only the
// last step makes 8 bits, 16 bits or a float of it.
#include <algorithm>

#include "backend/formats/block_bits.h"
#include "backend/formats/block_kernels.h"
#include "backend/formats/srgb.h"

namespace pumice::formats {
namespace {

/// round(numerator x largest / denominator), halves away from zero.
int32_t scaleRounded(int32_t numerator, int32_t largest, int32_t denominator) {
  const int64_t twice = int64_t{2} * numerator * largest;
  return static_cast<int32_t>((twice + (twice < 0 ? -denominator : denominator)) / (2 * denominator));
}

// ---- color
// ---------------------------------------------------------------------------------------------------------------
// Numerators of thirds and halves of n / 31 and n / 63.
constexpr int32_t kFive = 31 * 6;
constexpr int32_t kSix = 63 * 6;

enum class ColorKind { kOpaque, kPunchThrough, kAlwaysThirds };

struct ColorPalette {
  int32_t rgb[4][3];
  bool transparent;  // entry 3 has no alpha
  uint32_t indices;  // two bits a texel
};

ColorPalette readColors(const std::byte* block, ColorKind kind) {
  const uint64_t bits = loadLittle64(block);
  const auto color0 = static_cast<int32_t>(bits & 0xFFFF);
  const auto color1 = static_cast<int32_t>((bits >> 16) & 0xFFFF);
  const bool thirds = kind == ColorKind::kAlwaysThirds || color0 > color1;
  ColorPalette palette;
  palette.transparent = !thirds && kind == ColorKind::kPunchThrough;
  palette.indices = static_cast<uint32_t>(bits >> 32);
  const int32_t ends[2][3] = {{color0 >> 11, (color0 >> 5) & 63, color0 & 31},
                              {color1 >> 11, (color1 >> 5) & 63, color1 & 31}};
  for (int c = 0; c < 3; ++c) {
    const int32_t a = ends[0][c], b = ends[1][c];
    palette.rgb[0][c] = 6 * a;
    palette.rgb[1][c] = 6 * b;
    palette.rgb[2][c] = thirds ? 2 * (2 * a + b) : 3 * (a + b);
    palette.rgb[3][c] = thirds ? 2 * (a + 2 * b) : 0;
  }
  return palette;
}

/// Four bytes a texel with alpha 255, or 0 for the transparent entry.
void writeColors(const ColorPalette& palette, std::byte* texels, size_t rowPitch_B) {
  uint32_t entries[4];
  for (int i = 0; i < 4; ++i) {
    const int32_t* rgb = palette.rgb[i];
    entries[i] = static_cast<uint32_t>(scaleRounded(rgb[0], 255, kFive)) |
                 static_cast<uint32_t>(scaleRounded(rgb[1], 255, kSix)) << 8 |
                 static_cast<uint32_t>(scaleRounded(rgb[2], 255, kFive)) << 16 |
                 (palette.transparent && i == 3 ? 0 : 0xFF000000);
  }
  for (size_t i = 0; i < 16; ++i) {
    std::memcpy(texels + i / 4 * rowPitch_B + i % 4 * 4, &entries[(palette.indices >> (2 * i)) & 3], 4);
  }
}

void writeColorsFloat(const FormatInfo& info, const ColorPalette& palette, float* rgba) {
  float entries[4][4];
  for (int i = 0; i < 4; ++i) {
    for (int c = 0; c < 3; ++c) {
      const int32_t n = palette.rgb[i][c];
      const int32_t denominator = c == 1 ? kSix : kFive;
      entries[i][c] = isSrgb(info) ? kSrgbToLinear[scaleRounded(n, 255, denominator)]
                                   : static_cast<float>(n) / static_cast<float>(denominator);
    }
    entries[i][3] = palette.transparent && i == 3 ? 0.0f : 1.0f;
  }
  for (size_t i = 0; i < 16; ++i) std::copy_n(entries[(palette.indices >> (2 * i)) & 3], 4, rgba + 4 * i);
}

ColorKind bc1Kind(const FormatInfo& info) {
  return info.componentCount == 4 ? ColorKind::kPunchThrough : ColorKind::kOpaque;
}

// ---- one channel
// ---------------------------------------------------------------------------------------------------------
/// Eight values over a denominator of 35 times the endpoints' own: sevenths and fifths.
struct ChannelPalette {
  int32_t values[8];
  int32_t denominator;
  uint64_t indices;  // three bits a texel
};

ChannelPalette readChannel(const std::byte* block, bool isSigned) {
  const uint64_t bits = loadLittle64(block);
  auto first = static_cast<int32_t>(bits & 0xFF);
  auto second = static_cast<int32_t>((bits >> 8) & 0xFF);
  int32_t largest = 255;
  if (isSigned) {
    // The comparison below is left open for -127 and -128; here it sees the codes as they are stored.
    first = static_cast<int8_t>(first);
    second = static_cast<int8_t>(second);
    largest = 127;
  }
  ChannelPalette palette;
  palette.denominator = largest * 35;
  palette.indices = bits >> 16;
  const bool sevenths = first > second;
  const int32_t a = std::max(first, -127), b = std::max(second, -127);
  palette.values[0] = 35 * a;
  palette.values[1] = 35 * b;
  if (sevenths) {
    for (int i = 1; i < 7; ++i) palette.values[1 + i] = 5 * ((7 - i) * a + i * b);
  } else {
    for (int i = 1; i < 5; ++i) palette.values[1 + i] = 7 * ((5 - i) * a + i * b);
    palette.values[6] = isSigned ? -palette.denominator : 0;
    palette.values[7] = palette.denominator;
  }
  return palette;
}

size_t indexOf(const ChannelPalette& palette, size_t texel) {
  return (palette.indices >> (3 * texel)) & 7;
}

bool isSnorm(const FormatInfo& info) {
  return info.components[0].numeric == NumericFormat::kSnorm;
}

}  // namespace

void decodeBc1(const FormatInfo& info, const std::byte* block, std::byte* texels, size_t rowPitch_B) {
  writeColors(readColors(block, bc1Kind(info)), texels, rowPitch_B);
}

void decodeBc1Float(const FormatInfo& info, const std::byte* block, float* rgba) {
  writeColorsFloat(info, readColors(block, bc1Kind(info)), rgba);
}

void decodeBc2(const FormatInfo&, const std::byte* block, std::byte* texels, size_t rowPitch_B) {
  writeColors(readColors(block + 8, ColorKind::kAlwaysThirds), texels, rowPitch_B);
  const uint64_t alpha = loadLittle64(block);
  for (size_t i = 0; i < 16; ++i) {
    texels[i / 4 * rowPitch_B + i % 4 * 4 + 3] = static_cast<std::byte>(((alpha >> (4 * i)) & 15) * 17);
  }
}

void decodeBc2Float(const FormatInfo& info, const std::byte* block, float* rgba) {
  writeColorsFloat(info, readColors(block + 8, ColorKind::kAlwaysThirds), rgba);
  const uint64_t alpha = loadLittle64(block);
  for (size_t i = 0; i < 16; ++i) rgba[4 * i + 3] = static_cast<float>((alpha >> (4 * i)) & 15) / 15.0f;
}

void decodeBc3(const FormatInfo&, const std::byte* block, std::byte* texels, size_t rowPitch_B) {
  writeColors(readColors(block + 8, ColorKind::kAlwaysThirds), texels, rowPitch_B);
  const ChannelPalette alpha = readChannel(block, false);
  std::byte entries[8];
  for (int i = 0; i < 8; ++i) {
    entries[i] = static_cast<std::byte>(scaleRounded(alpha.values[i], 255, alpha.denominator));
  }
  for (size_t i = 0; i < 16; ++i) texels[i / 4 * rowPitch_B + i % 4 * 4 + 3] = entries[indexOf(alpha, i)];
}

void decodeBc3Float(const FormatInfo& info, const std::byte* block, float* rgba) {
  writeColorsFloat(info, readColors(block + 8, ColorKind::kAlwaysThirds), rgba);
  const ChannelPalette alpha = readChannel(block, false);
  for (size_t i = 0; i < 16; ++i) {
    rgba[4 * i + 3] = static_cast<float>(alpha.values[indexOf(alpha, i)]) / static_cast<float>(alpha.denominator);
  }
}

void decodeBc4Or5(const FormatInfo& info, const std::byte* block, std::byte* texels, size_t rowPitch_B) {
  const size_t texelBytes = size_t{2} * info.componentCount;
  for (size_t c = 0; c < info.componentCount; ++c) {
    const ChannelPalette palette = readChannel(block + 8 * c, isSnorm(info));
    uint16_t entries[8];
    for (int i = 0; i < 8; ++i) {
      entries[i] =
          static_cast<uint16_t>(scaleRounded(palette.values[i], isSnorm(info) ? 32767 : 65535, palette.denominator));
    }
    for (size_t i = 0; i < 16; ++i) {
      std::memcpy(texels + i / 4 * rowPitch_B + i % 4 * texelBytes + 2 * c, &entries[indexOf(palette, i)], 2);
    }
  }
}

void decodeBc4Or5Float(const FormatInfo& info, const std::byte* block, float* rgba) {
  for (size_t i = 0; i < 16; ++i) {
    rgba[4 * i + 1] = 0.0f;
    rgba[4 * i + 2] = 0.0f;
    rgba[4 * i + 3] = 1.0f;
  }
  for (size_t c = 0; c < info.componentCount; ++c) {
    const ChannelPalette palette = readChannel(block + 8 * c, isSnorm(info));
    for (size_t i = 0; i < 16; ++i) {
      rgba[4 * i + c] =
          static_cast<float>(palette.values[indexOf(palette, i)]) / static_cast<float>(palette.denominator);
    }
  }
}

}  // namespace pumice::formats
