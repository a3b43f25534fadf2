#include "cts-subset/support/compressed_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pumice::cts {
namespace {

using Texel = std::array<double, 4>;
using Texels = std::vector<Texel>;

uint64_t bits(const uint64_t* words, int first, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) value |= (words[(first + i) / 64] >> ((first + i) % 64) & 1) << i;
  return value;
}

void setBits(uint64_t* words, int first, int count, uint64_t value) {
  for (int i = 0; i < count; ++i) {
    const uint64_t mask = uint64_t{1} << ((first + i) % 64);
    uint64_t& word = words[(first + i) / 64];
    word = (value >> i & 1) != 0 ? word | mask : word & ~mask;
  }
}

uint64_t random64(std::mt19937& random) {
  return uint64_t{random()} << 32 | random();
}

uint64_t byteSwapped(uint64_t v) {
  return __builtin_bswap64(v);
}

double linearOfSrgb(double code) {
  return code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
}

// sRGB formats decode to codes of 8 bits first.
void toLinear(Texels& texels) {
  for (Texel& t : texels) {
    for (int c = 0; c < 3; ++c) t[c] = linearOfSrgb(std::round(t[c] * 255) / 255);
  }
}

// -- BC1 to BC5

enum class Alpha { kOpaque, kPunchThrough, kIgnored };

void bc1Colors(uint64_t word, Alpha alpha, Texels& out) {
  const auto color = [word](int first) {
    return Texel{static_cast<double>(word >> (first + 11) & 31) / 31,
                 static_cast<double>(word >> (first + 5) & 63) / 63, static_cast<double>(word >> first & 31) / 31, 1};
  };
  const Texel a = color(0), b = color(16);
  const bool four = alpha == Alpha::kIgnored || (word & 0xffff) > (word >> 16 & 0xffff);
  for (int t = 0; t < 16; ++t) {
    const auto code = static_cast<int>(word >> (32 + 2 * t) & 3);
    for (int c = 0; c < 3; ++c) {
      const double four4[] = {a[c], b[c], (2 * a[c] + b[c]) / 3, (a[c] + 2 * b[c]) / 3};
      const double three[] = {a[c], b[c], (a[c] + b[c]) / 2, 0};
      out[t][c] = four ? four4[code] : three[code];
    }
    if (alpha != Alpha::kIgnored) out[t][3] = !four && code == 3 && alpha == Alpha::kPunchThrough ? 0 : 1;
  }
}

void bc4Channel(uint64_t word, bool isSigned, int channel, Texels& out) {
  const auto end = [&](int first) {
    const auto code = static_cast<uint8_t>(word >> first);
    return isSigned ? std::max<double>(static_cast<int8_t>(code), -127) / 127 : code / 255.0;
  };
  const double a = end(0), b = end(8);
  const bool eight = isSigned ? static_cast<int8_t>(word) > static_cast<int8_t>(word >> 8)
                              : static_cast<uint8_t>(word) > static_cast<uint8_t>(word >> 8);
  for (int t = 0; t < 16; ++t) {
    const auto code = static_cast<int>(word >> (16 + 3 * t) & 7);
    double value = code == 0 ? a : b;
    if (code >= 2) {
      if (eight) {
        value = ((8 - code) * a + (code - 1) * b) / 7;
      } else {
        value = code == 6 ? (isSigned ? -1 : 0) : code == 7 ? 1 : ((6 - code) * a + (code - 1) * b) / 5;
      }
    }
    out[t][channel] = value;
  }
}

bool isSrgbFormat(VkFormat f) {
  return f == VK_FORMAT_BC1_RGB_SRGB_BLOCK || f == VK_FORMAT_BC1_RGBA_SRGB_BLOCK || f == VK_FORMAT_BC2_SRGB_BLOCK ||
         f == VK_FORMAT_BC3_SRGB_BLOCK || f == VK_FORMAT_BC7_SRGB_BLOCK || f == VK_FORMAT_ETC2_R8G8B8_SRGB_BLOCK ||
         f == VK_FORMAT_ETC2_R8G8B8A1_SRGB_BLOCK || f == VK_FORMAT_ETC2_R8G8B8A8_SRGB_BLOCK ||
         (f >= VK_FORMAT_ASTC_4x4_UNORM_BLOCK && f <= VK_FORMAT_ASTC_12x12_SRGB_BLOCK &&
          (f - VK_FORMAT_ASTC_4x4_UNORM_BLOCK) % 2 == 1);
}

void makeBc(const CompressedFormat& format, std::mt19937& random, std::byte* block, Texels& texels) {
  uint64_t words[2] = {random64(random), random64(random)};
  const VkFormat f = format.format;
  const uint64_t colors = format.bytes == 8 ? words[0] : words[1];
  switch (f) {
    case VK_FORMAT_BC4_UNORM_BLOCK:
    case VK_FORMAT_BC4_SNORM_BLOCK:
    case VK_FORMAT_BC5_UNORM_BLOCK:
    case VK_FORMAT_BC5_SNORM_BLOCK: {
      const bool isSigned = f == VK_FORMAT_BC4_SNORM_BLOCK || f == VK_FORMAT_BC5_SNORM_BLOCK;
      for (uint32_t c = 0; c < format.bytes / 8; ++c) bc4Channel(words[c], isSigned, static_cast<int>(c), texels);
      break;
    }
    case VK_FORMAT_BC1_RGB_UNORM_BLOCK:
    case VK_FORMAT_BC1_RGB_SRGB_BLOCK:
      bc1Colors(colors, Alpha::kOpaque, texels);
      break;
    case VK_FORMAT_BC1_RGBA_UNORM_BLOCK:
    case VK_FORMAT_BC1_RGBA_SRGB_BLOCK:
      bc1Colors(colors, Alpha::kPunchThrough, texels);
      break;
    case VK_FORMAT_BC2_UNORM_BLOCK:
    case VK_FORMAT_BC2_SRGB_BLOCK:
      for (int t = 0; t < 16; ++t) texels[t][3] = static_cast<double>(words[0] >> (4 * t) & 15) / 15;
      bc1Colors(colors, Alpha::kIgnored, texels);
      break;
    default:  // BC3
      bc4Channel(words[0], false, 3, texels);
      bc1Colors(colors, Alpha::kIgnored, texels);
      break;
  }
  if (isSrgbFormat(f)) toLinear(texels);
  std::memcpy(block, words, format.bytes);
}

// -- BC6H and BC7

constexpr int kWeights[16] = {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64};

// The indices of sixteen texels: the first one has a bit less.
int indexAt(const uint64_t* words, int first, int texel) {
  return static_cast<int>(texel == 0 ? bits(words, first, 3) : bits(words, first + 4 * texel - 1, 4));
}

void makeBc7(const CompressedFormat& format, std::mt19937& random, std::byte* block, Texels& texels) {
  uint64_t words[2] = {random64(random), random64(random)};
  setBits(words, 0, 7, 1u << 6);  // mode 6: one pair of endpoints of 7 bits, each with a last bit of its own
  for (int t = 0; t < 16; ++t) {
    for (int c = 0; c < 4; ++c) {
      const auto end = [&](int e) {
        return static_cast<int>(bits(words, 7 + 14 * c + 7 * e, 7) << 1 | bits(words, 63 + e, 1));
      };
      const int w = kWeights[indexAt(words, 65, t)];
      texels[t][c] = (((64 - w) * end(0) + w * end(1) + 32) >> 6) / 255.0;
    }
  }
  if (isSrgbFormat(format.format)) toLinear(texels);
  std::memcpy(block, words, 16);
}

void makeBc6h(const CompressedFormat& format, std::mt19937& random, std::byte* block, Texels& texels) {
  const bool isSigned = format.format == VK_FORMAT_BC6H_SFLOAT_BLOCK;
  uint64_t words[2] = {random64(random), random64(random)};
  setBits(words, 0, 5, 3);  // mode 11: one pair of endpoints of 10 bits, red, green and blue of each in turn
  for (int t = 0; t < 16; ++t) {
    for (int c = 0; c < 3; ++c) {
      const auto end = [&](int e) {
        const auto raw = static_cast<int>(bits(words, 5 + 30 * e + 10 * c, 10));
        if (!isSigned) return raw == 0 ? 0 : raw == 1023 ? 0xffff : ((raw << 16) + 0x8000) >> 10;
        const int value = raw >= 512 ? raw - 1024 : raw, magnitude = std::abs(value);
        const int wide = magnitude == 0 ? 0 : magnitude >= 511 ? 0x7fff : ((magnitude << 15) + 0x4000) >> 9;
        return value < 0 ? -wide : wide;
      };
      const int w = kWeights[indexAt(words, 65, t)];
      const int mixed = ((64 - w) * end(0) + w * end(1) + 32) >> 6;
      // To a float of 16 bits: 31/64 of the unsigned numbers, 31/32 of the signed ones.
      const int half = isSigned ? (std::abs(mixed) * 31) >> 5 : (mixed * 31) >> 6;
      const int exponent = half >> 10, fraction = half & 1023;
      const double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      texels[t][c] = mixed < 0 ? -value : value;
    }
    texels[t][3] = 1;
  }
  std::memcpy(block, words, 16);
}

// -- ETC2 and EAC. Words are big-endian, texels go down the columns.

constexpr int kEtcModifiers[8][2] = {{2, 8}, {5, 17}, {9, 29}, {13, 42}, {18, 60}, {24, 80}, {33, 106}, {47, 183}};
constexpr int kEacModifiers[16][8] = {
    {-3, -6, -9, -15, 2, 5, 8, 14}, {-3, -7, -10, -13, 2, 6, 9, 12}, {-2, -5, -8, -13, 1, 4, 7, 12},
    {-2, -4, -6, -13, 1, 3, 5, 12}, {-3, -6, -8, -12, 2, 5, 7, 11},  {-3, -7, -9, -11, 2, 6, 8, 10},
    {-4, -7, -8, -11, 3, 6, 7, 10}, {-3, -5, -8, -11, 2, 4, 7, 10},  {-2, -6, -8, -10, 1, 5, 7, 9},
    {-2, -5, -8, -10, 1, 4, 7, 9},  {-2, -4, -8, -10, 1, 3, 7, 9},   {-2, -5, -7, -10, 1, 4, 6, 9},
    {-3, -4, -7, -10, 2, 3, 6, 9},  {-1, -2, -3, -10, 0, 1, 2, 9},   {-4, -6, -8, -9, 3, 5, 7, 8},
    {-3, -5, -7, -9, 2, 4, 6, 8}};

// punchThrough: bit 33 says that the block is opaque, and the mode is always differential.
void etcColors(uint64_t word, bool punchThrough, Texels& out) {
  const bool flip = (word >> 32 & 1) != 0, opaque = !punchThrough || (word >> 33 & 1) != 0;
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 4; ++y) {
      const int t = 4 * y + x, bit = 4 * x + y, half = (flip ? y : x) >= 2 ? 1 : 0;
      const auto table = static_cast<int>(word >> (half == 0 ? 37 : 34) & 7);
      const int high = static_cast<int>(word >> (16 + bit) & 1), low = static_cast<int>(word >> bit & 1);
      int modifier = kEtcModifiers[table][low];
      if (high != 0) modifier = -modifier;
      if (!opaque && low == 0) modifier = 0;
      const bool hole = !opaque && high != 0 && low == 0;
      for (int c = 0; c < 3; ++c) {
        int base = 0;
        if (punchThrough) {  // five bits, and the same again: the difference is zero
          const auto five = static_cast<int>(word >> (59 - 8 * c) & 31);
          base = five << 3 | five >> 2;
        } else {
          base = static_cast<int>(word >> (60 - 8 * c - 4 * half) & 15) * 17;
        }
        out[t][c] = hole ? 0 : std::clamp(base + modifier, 0, 255) / 255.0;
      }
      if (punchThrough) out[t][3] = hole ? 0 : 1;
    }
  }
}

void makeEtc(const CompressedFormat& format, std::mt19937& random, std::byte* block, Texels& texels) {
  const VkFormat f = format.format;
  const bool punchThrough = f == VK_FORMAT_ETC2_R8G8B8A1_UNORM_BLOCK || f == VK_FORMAT_ETC2_R8G8B8A1_SRGB_BLOCK;
  uint64_t colors = random64(random);
  if (punchThrough) {
    for (int c = 0; c < 3; ++c) setBits(&colors, 56 - 8 * c, 3, 0);
  } else {
    setBits(&colors, 33, 1, 0);  // individual mode
  }
  for (Texel& t : texels) t[3] = 1;
  uint64_t words[2] = {};
  if (format.bytes == 16) {
    const uint64_t alpha = random64(random);
    const auto base = static_cast<int>(alpha >> 56), multiplier = static_cast<int>(alpha >> 52 & 15);
    for (int x = 0; x < 4; ++x) {
      for (int y = 0; y < 4; ++y) {
        const int modifier = kEacModifiers[alpha >> 48 & 15][alpha >> (45 - 3 * (4 * x + y)) & 7];
        texels[4 * y + x][3] = std::clamp(base + modifier * multiplier, 0, 255) / 255.0;
      }
    }
    words[0] = byteSwapped(alpha);
  }
  etcColors(colors, punchThrough, texels);
  words[format.bytes / 8 - 1] = byteSwapped(colors);
  if (isSrgbFormat(f)) toLinear(texels);
  std::memcpy(block, words, format.bytes);
}

void makeEac(const CompressedFormat& format, std::mt19937& random, std::byte* block, Texels& texels) {
  const bool isSigned =
      format.format == VK_FORMAT_EAC_R11_SNORM_BLOCK || format.format == VK_FORMAT_EAC_R11G11_SNORM_BLOCK;
  for (Texel& t : texels) t = {0, 0, 0, 1};
  for (uint32_t channel = 0; channel < format.bytes / 8; ++channel) {
    uint64_t word = random64(random);
    if (isSigned && word >> 56 == 0x80) word ^= uint64_t{1} << 56;  // -128 is not to be used
    const auto multiplier = static_cast<int>(word >> 52 & 15);
    const int base = isSigned ? static_cast<int8_t>(word >> 56) : static_cast<int>(word >> 56);
    for (int x = 0; x < 4; ++x) {
      for (int y = 0; y < 4; ++y) {
        const int modifier = kEacModifiers[word >> 48 & 15][word >> (45 - 3 * (4 * x + y)) & 7];
        const int change = multiplier == 0 ? modifier : modifier * multiplier * 8;
        texels[4 * y + x][channel] = isSigned ? std::clamp(base * 8 + change, -1023, 1023) / 1023.0
                                              : std::clamp(base * 8 + 4 + change, 0, 2047) / 2047.0;
      }
    }
    word = byteSwapped(word);
    std::memcpy(block + 8 * channel, &word, 8);
  }
}

// -- ASTC: a void extent without bounds, that is one color of 16 bits a component

void makeAstc(const CompressedFormat& format, std::mt19937& random, std::byte* block, Texels& texels) {
  uint64_t words[2] = {0xfffffffffffffdfcu, random64(random)};
  Texel color;
  for (int c = 0; c < 4; ++c) {
    const auto code = static_cast<uint32_t>(words[1] >> (16 * c) & 0xffff);
    color[c] = code / 65535.0;
    // sRGB takes the upper 8 bits.
    if (isSrgbFormat(format.format)) color[c] = c < 3 ? linearOfSrgb((code >> 8) / 255.0) : (code >> 8) / 255.0;
  }
  std::ranges::fill(texels, color);
  std::memcpy(block, words, 16);
}

std::vector<CompressedFormat> makeFormats() {
  std::vector<CompressedFormat> out = {
#define PUMICE_BLOCKS(name, bytes, step, make) {#name, VK_FORMAT_##name##_BLOCK, 4, 4, bytes, step, make}
      PUMICE_BLOCKS(BC1_RGB_UNORM, 8, 1.0 / 255, makeBc),
      PUMICE_BLOCKS(BC1_RGB_SRGB, 8, 1.0 / 100, makeBc),
      PUMICE_BLOCKS(BC1_RGBA_UNORM, 8, 1.0 / 255, makeBc),
      PUMICE_BLOCKS(BC1_RGBA_SRGB, 8, 1.0 / 100, makeBc),
      PUMICE_BLOCKS(BC2_UNORM, 16, 1.0 / 255, makeBc),
      PUMICE_BLOCKS(BC2_SRGB, 16, 1.0 / 100, makeBc),
      PUMICE_BLOCKS(BC3_UNORM, 16, 1.0 / 255, makeBc),
      PUMICE_BLOCKS(BC3_SRGB, 16, 1.0 / 100, makeBc),
      PUMICE_BLOCKS(BC4_UNORM, 8, 1.0 / 255, makeBc),
      PUMICE_BLOCKS(BC4_SNORM, 8, 1.0 / 127, makeBc),
      PUMICE_BLOCKS(BC5_UNORM, 16, 1.0 / 255, makeBc),
      PUMICE_BLOCKS(BC5_SNORM, 16, 1.0 / 127, makeBc),
      PUMICE_BLOCKS(BC6H_UFLOAT, 16, 0, makeBc6h),
      PUMICE_BLOCKS(BC6H_SFLOAT, 16, 0, makeBc6h),
      PUMICE_BLOCKS(BC7_UNORM, 16, 0, makeBc7),
      PUMICE_BLOCKS(BC7_SRGB, 16, 0, makeBc7),
      PUMICE_BLOCKS(ETC2_R8G8B8_UNORM, 8, 0, makeEtc),
      PUMICE_BLOCKS(ETC2_R8G8B8_SRGB, 8, 0, makeEtc),
      PUMICE_BLOCKS(ETC2_R8G8B8A1_UNORM, 8, 0, makeEtc),
      PUMICE_BLOCKS(ETC2_R8G8B8A1_SRGB, 8, 0, makeEtc),
      PUMICE_BLOCKS(ETC2_R8G8B8A8_UNORM, 16, 0, makeEtc),
      PUMICE_BLOCKS(ETC2_R8G8B8A8_SRGB, 16, 0, makeEtc),
      PUMICE_BLOCKS(EAC_R11_UNORM, 8, 0, makeEac),
      PUMICE_BLOCKS(EAC_R11_SNORM, 8, 0, makeEac),
      PUMICE_BLOCKS(EAC_R11G11_UNORM, 16, 0, makeEac),
      PUMICE_BLOCKS(EAC_R11G11_SNORM, 16, 0, makeEac),
#undef PUMICE_BLOCKS
  };
  constexpr uint32_t kFootprints[14][2] = {{4, 4}, {5, 4},  {5, 5},  {6, 5},  {6, 6},   {8, 5},   {8, 6},
                                           {8, 8}, {10, 5}, {10, 6}, {10, 8}, {10, 10}, {12, 10}, {12, 12}};
  for (uint32_t i = 0; i < 28; ++i) {
    const auto format = static_cast<VkFormat>(VK_FORMAT_ASTC_4x4_UNORM_BLOCK + i);
    // ASTC gives floats of 16 bits.
    out.push_back({i % 2 == 0 ? "ASTC_UNORM" : "ASTC_SRGB", format, kFootprints[i / 2][0], kFootprints[i / 2][1], 16,
                   1.0 / 1024, makeAstc});
  }
  return out;
}

}  // namespace

const std::vector<CompressedFormat>& compressedFormats() {
  static const std::vector<CompressedFormat> formats = makeFormats();
  return formats;
}

}  // namespace pumice::cts
