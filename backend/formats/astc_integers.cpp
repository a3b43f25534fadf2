#include "backend/formats/astc_integers.h"

#include <algorithm>
#include <array>

namespace pumice::formats::astc {
namespace {

struct Digits {
  uint8_t d[5];
};

/// Five base-3 digits of eight bits.
constexpr Digits tritsOf(unsigned t) {
  const auto bits = [](unsigned value, int high, int low) { return (value >> low) & ((1u << (high - low + 1)) - 1); };
  unsigned c, t4, t3, t2, t1, t0;
  if (bits(t, 4, 2) == 7) {
    c = bits(t, 7, 5) << 2 | bits(t, 1, 0);
    t4 = t3 = 2;
  } else {
    c = bits(t, 4, 0);
    const bool upper = bits(t, 6, 5) == 3;
    t4 = upper ? 2 : bits(t, 7, 7);
    t3 = upper ? bits(t, 7, 7) : bits(t, 6, 5);
  }
  if (bits(c, 1, 0) == 3) {
    t2 = 2;
    t1 = bits(c, 4, 4);
    t0 = bits(c, 3, 3) << 1 | (bits(c, 2, 2) & ~bits(c, 3, 3) & 1);
  } else if (bits(c, 3, 2) == 3) {
    t2 = 2;
    t1 = 2;
    t0 = bits(c, 1, 0);
  } else {
    t2 = bits(c, 4, 4);
    t1 = bits(c, 3, 2);
    t0 = bits(c, 1, 1) << 1 | (bits(c, 0, 0) & ~bits(c, 1, 1) & 1);
  }
  return {{static_cast<uint8_t>(t0), static_cast<uint8_t>(t1), static_cast<uint8_t>(t2), static_cast<uint8_t>(t3),
           static_cast<uint8_t>(t4)}};
}

/// Three base-5 digits of seven bits.
constexpr Digits quintsOf(unsigned q) {
  const auto bits = [](unsigned value, int high, int low) { return (value >> low) & ((1u << (high - low + 1)) - 1); };
  unsigned q2, q1, q0;
  if (bits(q, 2, 1) == 3 && bits(q, 6, 5) == 0) {
    const unsigned off = ~bits(q, 0, 0) & 1;
    q2 = bits(q, 0, 0) << 2 | (bits(q, 4, 4) & off) << 1 | (bits(q, 3, 3) & off);
    q1 = q0 = 4;
  } else {
    unsigned c;
    if (bits(q, 2, 1) == 3) {
      q2 = 4;
      c = bits(q, 4, 3) << 3 | (~bits(q, 6, 5) & 3) << 1 | bits(q, 0, 0);
    } else {
      q2 = bits(q, 6, 5);
      c = bits(q, 4, 0);
    }
    const bool four = bits(c, 2, 0) == 5;
    q1 = four ? 4 : bits(c, 4, 3);
    q0 = four ? bits(c, 4, 3) : bits(c, 2, 0);
  }
  return {{static_cast<uint8_t>(q0), static_cast<uint8_t>(q1), static_cast<uint8_t>(q2), 0, 0}};
}

template <size_t kCount, typename F>
constexpr std::array<Digits, kCount> tabulate(F f) {
  std::array<Digits, kCount> table{};
  for (size_t i = 0; i < kCount; ++i) table[i] = f(static_cast<unsigned>(i));
  return table;
}

constexpr auto kTrits = tabulate<256>(tritsOf);
constexpr auto kQuints = tabulate<128>(quintsOf);

/// How many bits of the packed digits follow each value's own bits.
constexpr uint8_t kTritBits[5] = {2, 2, 1, 2, 1};
constexpr uint8_t kQuintBits[3] = {3, 2, 2};

/// Parameters of the unquantization by the number of bits: the letters a, b, ... are the value's bits from the lowest
/// on.
struct Scaling {
  const char* b;  // the highest bit first
  uint16_t c;
};

constexpr Scaling kColorTrits[7] = {{},
                                    {"000000000", 204},
                                    {"b000b0bb0", 93},
                                    {"cb000cbcb", 44},
                                    {"dcb000dcb", 22},
                                    {"edcb000ed", 11},
                                    {"fedcb000f", 5}};
constexpr Scaling kColorQuints[6] = {
    {}, {"000000000", 113}, {"b0000bb00", 54}, {"cb0000cbc", 26}, {"dcb0000dc", 13}, {"edcb0000e", 6}};
constexpr Scaling kWeightTrits[4] = {{}, {"0000000", 50}, {"b000b0b", 23}, {"cb000cb", 11}};
constexpr Scaling kWeightQuints[3] = {{}, {"0000000", 28}, {"b0000b0", 13}};

constexpr unsigned pattern(const char* letters, unsigned value) {
  unsigned result = 0;
  for (; *letters != 0; ++letters) result = result << 1 | (*letters == '0' ? 0 : (value >> (*letters - 'a')) & 1);
  return result;
}

/// width: 9 bits for colors, 7 for weights.
constexpr unsigned unquantize(const Scaling& scaling, unsigned value, unsigned bits, unsigned width) {
  const unsigned digit = value >> bits;
  const unsigned low = value & ((1u << bits) - 1);
  const unsigned a = (low & 1) != 0 ? (1u << width) - 1 : 0;
  const unsigned mixed = (digit * scaling.c + pattern(scaling.b, low)) ^ a;
  return (a & (1u << (width - 2))) | mixed >> 2;
}

/// The leading bits of a value, repeated to fill `width` bits.
constexpr unsigned replicate(unsigned value, unsigned bits, unsigned width) {
  unsigned result = 0;
  for (int shift = static_cast<int>(width - bits); shift > -static_cast<int>(bits); shift -= static_cast<int>(bits)) {
    result |= shift >= 0 ? value << shift : value >> -shift;
  }
  return result;
}

constexpr uint8_t color(Range range, unsigned value) {
  switch (range.base) {
    case 3:
      return static_cast<uint8_t>(unquantize(kColorTrits[range.bits], value, range.bits, 9));
    case 5:
      return static_cast<uint8_t>(unquantize(kColorQuints[range.bits], value, range.bits, 9));
    default:
      return static_cast<uint8_t>(replicate(value, range.bits, 8));
  }
}

constexpr Range kRanges[kColorRangeCount] = {{0, 8}, {3, 6}, {5, 5}, {0, 7}, {3, 5}, {5, 4}, {0, 6}, {3, 4}, {5, 3},
                                             {0, 5}, {3, 3}, {5, 2}, {0, 4}, {3, 2}, {5, 1}, {0, 3}, {3, 1}};

constexpr auto kColors = [] {
  std::array<std::array<uint8_t, 256>, kColorRangeCount> table{};
  for (size_t r = 0; r < kColorRangeCount; ++r) {
    const unsigned steps = (kRanges[r].base == 0 ? 1u : kRanges[r].base) << kRanges[r].bits;
    for (unsigned value = 0; value < steps; ++value) table[r][value] = color(kRanges[r], value);
  }
  return table;
}();

constexpr unsigned weight(Range range, unsigned value) {
  constexpr uint8_t kTritsAlone[3] = {0, 32, 63};
  constexpr uint8_t kQuintsAlone[5] = {0, 16, 32, 47, 63};
  if (range.base == 0) return replicate(value, range.bits, 6);
  if (range.bits == 0) return range.base == 3 ? kTritsAlone[value] : kQuintsAlone[value];
  return unquantize(range.base == 3 ? kWeightTrits[range.bits] : kWeightQuints[range.bits], value, range.bits, 7);
}

/// By base / 2, bits, value: 0 to 64.
constexpr auto kWeights = [] {
  std::array<std::array<std::array<uint8_t, 32>, 6>, 3> table{};
  constexpr Range kUsed[] = {{0, 1}, {3, 0}, {0, 2}, {5, 0}, {3, 1}, {0, 3},
                             {5, 1}, {3, 2}, {0, 4}, {5, 2}, {3, 3}, {0, 5}};
  for (const Range& range : kUsed) {
    const unsigned steps = (range.base == 0 ? 1u : range.base) << range.bits;
    for (unsigned value = 0; value < steps; ++value) {
      const unsigned full = weight(range, value);
      table[range.base / 2][range.bits][value] = static_cast<uint8_t>(full > 32 ? full + 1 : full);
    }
  }
  return table;
}();

/// Packs of values that share the packed digits. The last one may be cut short: digit bits that are not there count as
/// zero, and exactly sequenceBits() bits are read.
template <size_t kValues, size_t kTableSize>
void readDigits(const Bits128& stream, const std::array<Digits, kTableSize>& table, const uint8_t (&digitBits)[kValues],
                unsigned bits, unsigned count, uint8_t* values) {
  BitReader reader(stream, 0);
  for (unsigned first = 0; first < count; first += kValues) {
    uint32_t low[kValues] = {};
    uint32_t packed = 0;
    unsigned at = 0;
    for (unsigned i = 0; i < kValues && first + i < count; ++i) {
      low[i] = reader.take(bits);
      packed |= reader.take(digitBits[i]) << at;
      at += digitBits[i];
    }
    for (unsigned i = 0; i < kValues && first + i < count; ++i) {
      values[first + i] = static_cast<uint8_t>(table[packed].d[i] << bits | low[i]);
    }
  }
}

}  // namespace

const Range kColorRanges[kColorRangeCount] = {
    kRanges[0], kRanges[1],  kRanges[2],  kRanges[3],  kRanges[4],  kRanges[5],  kRanges[6],  kRanges[7], kRanges[8],
    kRanges[9], kRanges[10], kRanges[11], kRanges[12], kRanges[13], kRanges[14], kRanges[15], kRanges[16]};

void readSequence(const Bits128& stream, Range range, unsigned count, uint8_t* values) {
  switch (range.base) {
    case 3:
      return readDigits(stream, kTrits, kTritBits, range.bits, count, values);
    case 5:
      return readDigits(stream, kQuints, kQuintBits, range.bits, count, values);
    default: {
      BitReader reader(stream, 0);
      for (unsigned i = 0; i < count; ++i) values[i] = static_cast<uint8_t>(reader.take(range.bits));
    }
  }
}

uint8_t unquantizeColor(int rangeIndex, uint8_t value) {
  return kColors[static_cast<size_t>(rangeIndex)][value];
}

uint8_t unquantizeWeight(Range range, uint8_t value) {
  return kWeights[range.base / 2][range.bits][value];
}

}  // namespace pumice::formats::astc
