// ETC2 (which contains ETC1) and EAC. Khronos Data Format Specification, "ETC2". Texels are numbered down the columns,
// and blocks are big-endian words.
#include <algorithm>
#include <cstdlib>

#include "backend/formats/block_bits.h"
#include "backend/formats/block_kernels.h"

namespace pumice::formats {
namespace {

struct Rgb {
  int32_t c[3];
};

constexpr int32_t kSmallAndLarge[8][2] = {{2, 8}, {5, 17}, {9, 29}, {13, 42}, {18, 60}, {24, 80}, {33, 106}, {47, 183}};
constexpr int32_t kDistances[8] = {3, 6, 11, 16, 23, 32, 41, 64};

constexpr int8_t kEacModifiers[16][8] = {
    {-3, -6, -9, -15, 2, 5, 8, 14}, {-3, -7, -10, -13, 2, 6, 9, 12}, {-2, -5, -8, -13, 1, 4, 7, 12},
    {-2, -4, -6, -13, 1, 3, 5, 12}, {-3, -6, -8, -12, 2, 5, 7, 11},  {-3, -7, -9, -11, 2, 6, 8, 10},
    {-4, -7, -8, -11, 3, 6, 7, 10}, {-3, -5, -8, -11, 2, 4, 7, 10},  {-2, -6, -8, -10, 1, 5, 7, 9},
    {-2, -5, -8, -10, 1, 4, 7, 9},  {-2, -4, -8, -10, 1, 3, 7, 9},   {-2, -5, -7, -10, 1, 4, 6, 9},
    {-3, -4, -7, -10, 2, 3, 6, 9},  {-1, -2, -3, -10, 0, 1, 2, 9},   {-4, -6, -8, -9, 3, 5, 7, 8},
    {-3, -5, -7, -9, 2, 4, 6, 8}};

/// bits high to low of a block, as the specification numbers them.
int32_t field(uint64_t block, int high, int low) {
  return static_cast<int32_t>((block >> low) & ((uint64_t{1} << (high - low + 1)) - 1));
}

int32_t signed3(int32_t value) {
  return value >= 4 ? value - 8 : value;
}
int32_t extend4(int32_t value) {
  return value * 17;
}
int32_t extend5(int32_t value) {
  return value << 3 | value >> 2;
}
int32_t extend6(int32_t value) {
  return value << 2 | value >> 4;
}
int32_t extend7(int32_t value) {
  return value << 1 | value >> 6;
}

uint32_t clamp255(int32_t value) {
  return static_cast<uint32_t>(std::clamp(value, 0, 255));
}

/// base with d added to each component, opaque.
uint32_t shifted(const Rgb& base, int32_t d) {
  return clamp255(base.c[0] + d) | clamp255(base.c[1] + d) << 8 | clamp255(base.c[2] + d) << 16 | 0xFF000000;
}

/// Entry `index` of a texel, in the order of the two index bits.
uint32_t pixelIndex(uint64_t block, size_t x, size_t y) {
  const size_t bit = 4 * x + y;
  return static_cast<uint32_t>(((block >> (16 + bit)) & 1) << 1 | ((block >> bit) & 1));
}

void store(std::byte* texels, size_t rowPitch_B, size_t x, size_t y, uint32_t rgba) {
  std::memcpy(texels + y * rowPitch_B + 4 * x, &rgba, 4);
}

/// Four colors a base, by modifiers; without `opaque` the small modifiers are zero and index 2 is transparent black.
void modifierPalette(const Rgb& base, int32_t table, bool opaque, uint32_t palette[4]) {
  const int32_t small = opaque ? kSmallAndLarge[table][0] : 0;
  const int32_t large = kSmallAndLarge[table][1];
  palette[0] = shifted(base, small);
  palette[1] = shifted(base, large);
  palette[2] = opaque ? shifted(base, -small) : 0;
  palette[3] = shifted(base, -large);
}

void decodeSubblocks(uint64_t block, const Rgb bases[2], bool opaque, std::byte* texels, size_t rowPitch_B) {
  uint32_t palettes[2][4];
  modifierPalette(bases[0], field(block, 39, 37), opaque, palettes[0]);
  modifierPalette(bases[1], field(block, 36, 34), opaque, palettes[1]);
  const bool flip = field(block, 32, 32) != 0;
  for (size_t x = 0; x < 4; ++x) {
    for (size_t y = 0; y < 4; ++y) {
      store(texels, rowPitch_B, x, y, palettes[(flip ? y : x) / 2][pixelIndex(block, x, y)]);
    }
  }
}

void decodePainted(uint64_t block, const uint32_t paint[4], std::byte* texels, size_t rowPitch_B) {
  for (size_t x = 0; x < 4; ++x) {
    for (size_t y = 0; y < 4; ++y) store(texels, rowPitch_B, x, y, paint[pixelIndex(block, x, y)]);
  }
}

void decodeT(uint64_t block, bool opaque, std::byte* texels, size_t rowPitch_B) {
  const Rgb first{{extend4(field(block, 60, 59) << 2 | field(block, 57, 56)), extend4(field(block, 55, 52)),
                   extend4(field(block, 51, 48))}};
  const Rgb second{{extend4(field(block, 47, 44)), extend4(field(block, 43, 40)), extend4(field(block, 39, 36))}};
  const int32_t d = kDistances[field(block, 35, 34) << 1 | field(block, 32, 32)];
  const uint32_t paint[4] = {shifted(first, 0), shifted(second, d), opaque ? shifted(second, 0) : 0,
                             shifted(second, -d)};
  decodePainted(block, paint, texels, rowPitch_B);
}

void decodeH(uint64_t block, bool opaque, std::byte* texels, size_t rowPitch_B) {
  const Rgb first{{extend4(field(block, 62, 59)), extend4(field(block, 58, 56) << 1 | field(block, 52, 52)),
                   extend4(field(block, 51, 51) << 3 | field(block, 49, 47))}};
  const Rgb second{{extend4(field(block, 46, 43)), extend4(field(block, 42, 39)), extend4(field(block, 38, 35))}};
  const auto value = [](const Rgb& color) { return color.c[0] << 16 | color.c[1] << 8 | color.c[2]; };
  const int32_t order = value(first) >= value(second) ? 1 : 0;
  const int32_t d = kDistances[field(block, 34, 34) << 2 | field(block, 32, 32) << 1 | order];
  const uint32_t paint[4] = {shifted(first, d), shifted(first, -d), opaque ? shifted(second, d) : 0,
                             shifted(second, -d)};
  decodePainted(block, paint, texels, rowPitch_B);
}

void decodePlanar(uint64_t block, std::byte* texels, size_t rowPitch_B) {
  const int32_t origin[3] = {extend6(field(block, 62, 57)), extend7(field(block, 56, 56) << 6 | field(block, 54, 49)),
                             extend6(field(block, 48, 48) << 5 | field(block, 44, 43) << 3 | field(block, 41, 39))};
  const int32_t right[3] = {extend6(field(block, 38, 34) << 1 | field(block, 32, 32)), extend7(field(block, 31, 25)),
                            extend6(field(block, 24, 19))};
  const int32_t below[3] = {extend6(field(block, 18, 13)), extend7(field(block, 12, 6)), extend6(field(block, 5, 0))};
  for (int32_t y = 0; y < 4; ++y) {
    for (int32_t x = 0; x < 4; ++x) {
      uint32_t rgba = 0xFF000000;
      for (int c = 0; c < 3; ++c) {
        const int32_t value = x * (right[c] - origin[c]) + y * (below[c] - origin[c]) + 4 * origin[c] + 2;
        rgba |= clamp255(value >> 2) << (8 * c);
      }
      store(texels, rowPitch_B, static_cast<size_t>(x), static_cast<size_t>(y), rgba);
    }
  }
}

/// punchThrough: bit 33 says whether the block is opaque, and there is no individual mode.
void decodeColor(uint64_t block, bool punchThrough, std::byte* texels, size_t rowPitch_B) {
  const bool bit33 = field(block, 33, 33) != 0;
  const bool opaque = !punchThrough || bit33;
  if (!punchThrough && !bit33) {  // individual
    const Rgb bases[2] = {
        {{extend4(field(block, 63, 60)), extend4(field(block, 55, 52)), extend4(field(block, 47, 44))}},
        {{extend4(field(block, 59, 56)), extend4(field(block, 51, 48)), extend4(field(block, 43, 40))}}};
    return decodeSubblocks(block, bases, opaque, texels, rowPitch_B);
  }
  const int32_t base[3] = {field(block, 63, 59), field(block, 55, 51), field(block, 47, 43)};
  const int32_t sum[3] = {base[0] + signed3(field(block, 58, 56)), base[1] + signed3(field(block, 50, 48)),
                          base[2] + signed3(field(block, 42, 40))};
  const auto outside = [](int32_t value) { return value < 0 || value > 31; };
  if (outside(sum[0])) return decodeT(block, opaque, texels, rowPitch_B);
  if (outside(sum[1])) return decodeH(block, opaque, texels, rowPitch_B);
  if (outside(sum[2])) return decodePlanar(block, texels, rowPitch_B);
  const Rgb bases[2] = {{{extend5(base[0]), extend5(base[1]), extend5(base[2])}},
                        {{extend5(sum[0]), extend5(sum[1]), extend5(sum[2])}}};
  decodeSubblocks(block, bases, opaque, texels, rowPitch_B);
}

/// Modifier index of a texel of an EAC block.
size_t eacIndex(uint64_t block, size_t x, size_t y) {
  return (block >> (45 - 3 * (4 * x + y))) & 7;
}

void decodeAlpha(uint64_t block, std::byte* texels, size_t rowPitch_B) {
  const int32_t base = field(block, 63, 56);
  const int32_t multiplier = field(block, 55, 52);
  const int8_t* modifiers = kEacModifiers[field(block, 51, 48)];
  for (size_t x = 0; x < 4; ++x) {
    for (size_t y = 0; y < 4; ++y) {
      const uint32_t alpha = clamp255(base + modifiers[eacIndex(block, x, y)] * multiplier);
      texels[y * rowPitch_B + 4 * x + 3] = static_cast<std::byte>(alpha);
    }
  }
}

/// The eight 11-bit values of a block: 0 to 2047, or -1023 to 1023.
void eacPalette(uint64_t block, bool isSigned, int32_t values[8]) {
  const int32_t multiplier = field(block, 55, 52);
  const int32_t scale = multiplier == 0 ? 1 : multiplier * 8;  // a multiplier of zero means one eighth
  const int8_t* modifiers = kEacModifiers[field(block, 51, 48)];
  int32_t base = field(block, 63, 56);
  if (isSigned) base = std::max<int32_t>(static_cast<int8_t>(base), -127);
  for (int i = 0; i < 8; ++i) {
    const int32_t offset = modifiers[i] * scale;
    values[i] = isSigned ? std::clamp(base * 8 + offset, -1023, 1023) : std::clamp(base * 8 + 4 + offset, 0, 2047);
  }
}

/// To 16 bits by repeating the leading bits of the magnitude.
uint16_t extend11(int32_t value, bool isSigned) {
  if (!isSigned) return static_cast<uint16_t>(value << 5 | value >> 6);
  const int32_t magnitude = std::abs(value);
  const int32_t wide = magnitude << 5 | magnitude >> 5;
  return static_cast<uint16_t>(value < 0 ? -wide : wide);
}

bool isSnorm(const FormatInfo& info) {
  return info.components[0].numeric == NumericFormat::kSnorm;
}

}  // namespace

void decodeEtc2(const FormatInfo& info, const std::byte* block, std::byte* texels, size_t rowPitch_B) {
  if (info.blockBytes == 16) {
    decodeColor(loadBig64(block + 8), false, texels, rowPitch_B);
    decodeAlpha(loadBig64(block), texels, rowPitch_B);
  } else {
    decodeColor(loadBig64(block), info.componentCount == 4, texels, rowPitch_B);
  }
}

void decodeEac(const FormatInfo& info, const std::byte* block, std::byte* texels, size_t rowPitch_B) {
  const size_t texelBytes = size_t{2} * info.componentCount;
  for (size_t c = 0; c < info.componentCount; ++c) {
    const uint64_t word = loadBig64(block + 8 * c);
    int32_t values[8];
    eacPalette(word, isSnorm(info), values);
    uint16_t entries[8];
    for (int i = 0; i < 8; ++i) entries[i] = extend11(values[i], isSnorm(info));
    for (size_t x = 0; x < 4; ++x) {
      for (size_t y = 0; y < 4; ++y) {
        std::memcpy(texels + y * rowPitch_B + x * texelBytes + 2 * c, &entries[eacIndex(word, x, y)], 2);
      }
    }
  }
}

void decodeEacFloat(const FormatInfo& info, const std::byte* block, float* rgba) {
  for (size_t i = 0; i < 16; ++i) {
    rgba[4 * i + 1] = 0.0f;
    rgba[4 * i + 2] = 0.0f;
    rgba[4 * i + 3] = 1.0f;
  }
  for (size_t c = 0; c < info.componentCount; ++c) {
    const uint64_t word = loadBig64(block + 8 * c);
    int32_t values[8];
    eacPalette(word, isSnorm(info), values);
    for (size_t x = 0; x < 4; ++x) {
      for (size_t y = 0; y < 4; ++y) {
        rgba[4 * (4 * y + x) + c] =
            static_cast<float>(values[eacIndex(word, x, y)]) / (isSnorm(info) ? 1023.0f : 2047.0f);
      }
    }
  }
}

}  // namespace pumice::formats
