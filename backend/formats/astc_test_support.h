// For tests: an ASTC block's meaning in plain numbers, its bits, and its texels by the specification's formulas.
// Nothing here is shared with the decoder.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/formats/block_test_support.h"

namespace pumice::formats::test {

// ---- integer sequences
// ---------------------------------------------------------------------------------------------------
struct AstcRange {
  int base;  // 1, 3 or 5
  int bits;
  int steps() const { return base << bits; }
  int sequenceBits(int count) const {
    const double digits = base == 3 ? std::ceil(count * 8 / 5.0) : base == 5 ? std::ceil(count * 7 / 3.0) : 0;
    return static_cast<int>(digits) + count * bits;
  }
};

/// bits "high..low" of a number written as the specification writes it.
inline int slice(int value, int high, int low) {
  return (value >> low) & ((1 << (high - low + 1)) - 1);
}

inline std::vector<int> tritsOfPack(int t) {
  int c, d[5];
  if (slice(t, 4, 2) == 0b111) {
    c = slice(t, 7, 5) * 4 + slice(t, 1, 0);
    d[4] = d[3] = 2;
  } else {
    c = slice(t, 4, 0);
    if (slice(t, 6, 5) == 0b11) {
      d[4] = 2;
      d[3] = slice(t, 7, 7);
    } else {
      d[4] = slice(t, 7, 7);
      d[3] = slice(t, 6, 5);
    }
  }
  if (slice(c, 1, 0) == 0b11) {
    d[2] = 2;
    d[1] = slice(c, 4, 4);
    d[0] = slice(c, 3, 3) * 2 + (slice(c, 3, 3) == 0 ? slice(c, 2, 2) : 0);
  } else if (slice(c, 3, 2) == 0b11) {
    d[2] = d[1] = 2;
    d[0] = slice(c, 1, 0);
  } else {
    d[2] = slice(c, 4, 4);
    d[1] = slice(c, 3, 2);
    d[0] = slice(c, 1, 1) * 2 + (slice(c, 1, 1) == 0 ? slice(c, 0, 0) : 0);
  }
  return {d[0], d[1], d[2], d[3], d[4]};
}

inline std::vector<int> quintsOfPack(int q) {
  if (slice(q, 2, 1) == 0b11 && slice(q, 6, 5) == 0) {
    return {4, 4, slice(q, 0, 0) != 0 ? 4 : slice(q, 4, 3)};
  }
  int top, c;
  if (slice(q, 2, 1) == 0b11) {
    top = 4;
    c = slice(q, 4, 3) * 8 + (3 - slice(q, 6, 5)) * 2 + slice(q, 0, 0);
  } else {
    top = slice(q, 6, 5);
    c = slice(q, 4, 0);
  }
  if (slice(c, 2, 0) == 0b101) return {slice(c, 4, 3), 4, top};
  return {slice(c, 2, 0), slice(c, 4, 3), top};
}

/// The sequence's bits, first bit first. Any of the packs that mean the same digits will do: choice takes one.
inline std::vector<int> sequenceOf(const AstcRange& range, const std::vector<int>& values, unsigned choice) {
  std::vector<int> out;
  const auto append = [&](int value, int first, int count) {
    for (int i = 0; i < count; ++i) out.push_back((value >> (first + i)) & 1);
  };
  const int perPack = range.base == 3 ? 5 : range.base == 5 ? 3 : 1;
  const int packedBits[5] = {range.base == 3 ? 2 : 3, 2, range.base == 3 ? 1 : 2, 2, 1};
  for (size_t first = 0; first < values.size(); first += static_cast<size_t>(perPack)) {
    const size_t count = std::min(values.size() - first, static_cast<size_t>(perPack));
    int available = 0;
    for (size_t i = 0; i < count && range.base != 1; ++i) available += packedBits[i];
    std::vector<int> packs;
    for (int pack = 0; pack < 1 << available; ++pack) {
      const std::vector<int> digits = range.base == 3   ? tritsOfPack(pack)
                                      : range.base == 5 ? quintsOfPack(pack)
                                                        : std::vector<int>{0};
      bool same = true;
      for (size_t i = 0; i < count; ++i) same = same && digits[i] == values[first + i] >> range.bits;
      if (same) packs.push_back(pack);
    }
    const int pack = packs.at(choice % packs.size());
    for (size_t i = 0, at = 0; i < count; ++i) {
      append(values[first + i], 0, range.bits);
      if (range.base != 1) {
        append(pack, static_cast<int>(at), packedBits[i]);
        at += static_cast<size_t>(packedBits[i]);
      }
    }
  }
  return out;
}

// ---- unquantization
// -----------------------------------------------------------------------------------------------------
struct AstcScale {
  int base, bits;
  const char* pattern;  // B
  int factor;           // C
};

inline int unquantize(const AstcScale* scales, const AstcRange& range, int value, int width) {
  const AstcScale* scale = scales;
  while (scale->base != range.base || scale->bits != range.bits) ++scale;
  const std::string pattern = scale->pattern;
  int b = 0;
  for (char letter : pattern) b = b * 2 + (letter == '0' ? 0 : (value >> (letter - 'a')) & 1);
  const int a = value % 2 != 0 ? (1 << width) - 1 : 0;
  const int mixed = ((value >> range.bits) * scale->factor + b) ^ a;
  return (a & (1 << (width - 2))) | mixed >> 2;
}

inline int unquantizedColor(const AstcRange& range, int value) {
  static constexpr AstcScale kScales[] = {{3, 1, "000000000", 204}, {5, 1, "000000000", 113}, {3, 2, "b000b0bb0", 93},
                                          {5, 2, "b0000bb00", 54},  {3, 3, "cb000cbcb", 44},  {5, 3, "cb0000cbc", 26},
                                          {3, 4, "dcb000dcb", 22},  {5, 4, "dcb0000dc", 13},  {3, 5, "edcb000ed", 11},
                                          {5, 5, "edcb0000e", 6},   {3, 6, "fedcb000f", 5}};
  if (range.base == 1) return repeatedBits(static_cast<uint32_t>(value), range.bits, 8);
  return unquantize(kScales, range, value, 9);
}

inline int unquantizedWeight(const AstcRange& range, int value) {
  static constexpr AstcScale kScales[] = {{3, 1, "0000000", 50},
                                          {5, 1, "0000000", 28},
                                          {3, 2, "b000b0b", 23},
                                          {5, 2, "b0000b0", 13},
                                          {3, 3, "cb000cb", 11}};
  int weight;
  if (range.base == 1) {
    weight = repeatedBits(static_cast<uint32_t>(value), range.bits, 6);
  } else if (range.bits == 0) {
    static constexpr int kThree[] = {0, 32, 63}, kFive[] = {0, 16, 32, 47, 63};
    weight = range.base == 3 ? kThree[value] : kFive[value];
  } else {
    weight = unquantize(kScales, range, value, 7);
  }
  return weight > 32 ? weight + 1 : weight;
}

// ---- block modes
// -----------------------------------------------------------------------------------------------------------
struct AstcGrid {
  int bits;  // the block mode
  int width, height;
  bool dual;
  AstcRange range;
};

/// Every 2D block mode that is not reserved, row by row of the specification's table.
inline std::vector<AstcGrid> allGrids() {
  static constexpr AstcRange kLow[8] = {{}, {}, {1, 1}, {3, 0}, {1, 2}, {5, 0}, {3, 1}, {1, 3}};
  static constexpr AstcRange kHigh[8] = {{}, {}, {5, 1}, {3, 2}, {1, 4}, {5, 2}, {3, 3}, {1, 5}};
  std::vector<AstcGrid> grids;
  for (int rho = 2; rho < 8; ++rho) {
    // rho's bits 2 and 1 are bits 1 and 0 of the mode, or bits 3 and 2; bit 0 is bit 4.
    const int low = (rho & 1) << 4 | rho >> 1, high = (rho & 1) << 4 | (rho >> 1) << 2;
    for (int dual = 0; dual < 2; ++dual) {
      for (int p = 0; p < 2; ++p) {
        const int top = dual << 10 | p << 9;
        const AstcRange range = p != 0 ? kHigh[rho] : kLow[rho];
        const auto add = [&](int bits, int width, int height) {
          grids.push_back({top | bits, width, height, dual != 0, range});
        };
        for (int a = 0; a < 4; ++a) {
          for (int b = 0; b < 4; ++b) {
            add(low | 0 << 2 | a << 7 | b << 5, a + 4, b + 2);
            add(low | 1 << 2 | a << 7 | b << 5, a + 8, b + 2);
            add(low | 2 << 2 | a << 7 | b << 5, b + 2, a + 8);
            if (a < 2) add(low | 3 << 2 | 0 << 8 | a << 7 | b << 5, b + 2, a + 6);
            if (a < 2) add(low | 3 << 2 | 1 << 8 | a << 7 | b << 5, a + 2, b + 2);
          }
          add(high | 0 << 7 | a << 5, 12, a + 2);
          add(high | 1 << 7 | a << 5, a + 2, 12);
        }
        add(high | 3 << 7 | 0 << 5, 6, 10);
        add(high | 3 << 7 | 1 << 5, 10, 6);
      }
    }
    for (int w = 0; w < 4; ++w) {  // neither dual nor of high precision: those bits are the height
      for (int h = 0; h < 4; ++h) grids.push_back({high | 2 << 7 | w << 5 | h << 9, w + 6, h + 6, false, kLow[rho]});
    }
  }
  return grids;
}

// ---- colors
// -----------------------------------------------------------------------------------------------------------------
struct AstcColors {
  bool error = false;
  Rgba8 from, to;
};

inline AstcColors astcColors(int mode, std::vector<int> v) {
  const auto transfer = [&](size_t offset, size_t base) {
    v[base] = v[base] / 2 + (v[offset] >= 128 ? 128 : 0);
    v[offset] = (v[offset] / 2) % 64;
    if (v[offset] >= 32) v[offset] -= 64;
  };
  const auto contract = [](Rgba8 c) {
    return Rgba8{{static_cast<int>(std::floor((c.c[0] + c.c[2]) / 2.0)),
                  static_cast<int>(std::floor((c.c[1] + c.c[2]) / 2.0)), c.c[2], c.c[3]}};
  };
  AstcColors out;
  const int alphas = mode >= 12 ? 6 : 4;
  switch (mode) {
    case 0:
      out.from = {{v[0], v[0], v[0], 255}};
      out.to = {{v[1], v[1], v[1], 255}};
      break;
    case 1: {
      const int base = v[0] / 4 + (v[1] & 0xC0), sum = std::min(base + (v[1] & 0x3F), 255);
      out.from = {{base, base, base, 255}};
      out.to = {{sum, sum, sum, 255}};
      break;
    }
    case 4:
      out.from = {{v[0], v[0], v[0], v[2]}};
      out.to = {{v[1], v[1], v[1], v[3]}};
      break;
    case 5:
      transfer(1, 0);
      transfer(3, 2);
      out.from = {{v[0], v[0], v[0], v[2]}};
      out.to = {{v[0] + v[1], v[0] + v[1], v[0] + v[1], v[2] + v[3]}};
      break;
    case 6:
    case 10:
      out.to = {{v[0], v[1], v[2], mode == 6 ? 255 : v[5]}};
      out.from = {{v[0] * v[3] / 256, v[1] * v[3] / 256, v[2] * v[3] / 256, mode == 6 ? 255 : v[4]}};
      break;
    case 8:
    case 12:
      out.from = {{v[0], v[2], v[4], mode == 8 ? 255 : v[6]}};
      out.to = {{v[1], v[3], v[5], mode == 8 ? 255 : v[7]}};
      if (v[1] + v[3] + v[5] < v[0] + v[2] + v[4]) {
        std::swap(out.from, out.to);
        out.from = contract(out.from);
        out.to = contract(out.to);
      }
      break;
    case 9:
    case 13:
      for (size_t i = 0; i < static_cast<size_t>(mode == 9 ? 6 : 8); i += 2) transfer(i + 1, i);
      out.from = {{v[0], v[2], v[4], mode == 9 ? 255 : v[static_cast<size_t>(alphas)]}};
      out.to = {{v[0] + v[1], v[2] + v[3], v[4] + v[5], mode == 9 ? 255 : v[6] + v[7]}};
      if (v[1] + v[3] + v[5] < 0) {
        std::swap(out.from, out.to);
        out.from = contract(out.from);
        out.to = contract(out.to);
      }
      break;
    default:
      out.error = true;
  }
  for (int c = 0; c < 4; ++c) {
    out.from.c[c] = std::clamp(out.from.c[c], 0, 255);
    out.to.c[c] = std::clamp(out.to.c[c], 0, 255);
  }
  return out;
}

// ---- partitions and weights
// ------------------------------------------------------------------------------------------------
inline int astcPartition(int index, int x, int y, int count, bool small) {
  if (count == 1) return 0;
  if (small) {
    x *= 2;
    y *= 2;
  }
  const uint32_t seed = static_cast<uint32_t>(index + (count - 1) * 1024);
  uint32_t r = seed;
  r ^= r >> 15;
  r = r * (1u - (1u << 17));
  r = r * ((1u << 7) + 1);
  r = r * ((1u << 4) + 1);
  r ^= r >> 5;
  r = r * ((1u << 16) + 1);
  r ^= r >> 7;
  r ^= r >> 3;
  r ^= r << 6;
  r ^= r >> 17;
  int s[8];
  for (int i = 0; i < 8; ++i) {
    const int nibble = static_cast<int>(r >> (4 * i)) & 15;
    s[i] = nibble * nibble;
  }
  int sh1 = (seed & 2) != 0 ? 4 : 5, sh2 = count == 3 ? 6 : 5;
  if ((seed & 1) == 0) std::swap(sh1, sh2);
  const auto line = [&](int first, int shift) {
    return static_cast<int>((static_cast<uint32_t>((s[first] >> sh1) * x + (s[first + 1] >> sh2) * y) + (r >> shift)) &
                            63);
  };
  const int a = line(0, 14), b = line(2, 10), c = count < 3 ? 0 : line(4, 6), d = count < 4 ? 0 : line(6, 2);
  if (a >= b && a >= c && a >= d) return 0;
  if (b >= c && b >= d) return 1;
  return c >= d ? 2 : 3;
}

/// weights: the grid's, 0 to 64.
inline int astcWeight(const std::vector<int>& weights, int gridWidth, int gridHeight, int x, int y, int width,
                      int height) {
  const int gs = ((1024 + width / 2) / (width - 1) * x * (gridWidth - 1) + 32) >> 6;
  const int gt = ((1024 + height / 2) / (height - 1) * y * (gridHeight - 1) + 32) >> 6;
  const int js = gs / 16, fs = gs % 16, jt = gt / 16, ft = gt % 16;
  const auto at = [&](int i, int j) {
    return i < gridWidth && j < gridHeight ? weights[static_cast<size_t>(j * gridWidth + i)] : 0;
  };
  const int w11 = (fs * ft + 8) / 16, w10 = ft - w11, w01 = fs - w11, w00 = 16 - fs - ft + w11;
  return (at(js, jt) * w00 + at(js + 1, jt) * w01 + at(js, jt + 1) * w10 + at(js + 1, jt + 1) * w11 + 8) / 16;
}

}  // namespace pumice::formats::test
