// ASTC's integer sequences: values of 2^n, 3 x 2^n or 5 x 2^n steps packed into bits, and what the steps stand for.
// Khronos Data Format Specification, "Integer Sequence Encoding", "Endpoint Unquantization", "Weight Unquantization".
#pragma once

#include <cstdint>

#include "backend/formats/block_bits.h"

namespace pumice::formats::astc {

/// A value is digit x 2^bits + low bits, where the digit has base 3 or 5, or is absent.
struct Range {
  uint8_t base = 0;  // 3, 5, or 0 for bits alone
  uint8_t bits = 0;

  constexpr unsigned sequenceBits(unsigned count) const {
    const unsigned digits = base == 3 ? (count * 8 + 4) / 5 : base == 5 ? (count * 7 + 2) / 3 : 0;
    return digits + count * bits;
  }
};

/// The ranges of color endpoints, the largest first: 256 steps down to 6.
inline constexpr int kColorRangeCount = 17;
extern const Range kColorRanges[kColorRangeCount];

/// count values from the lowest bits of a stream on.
void readSequence(const Bits128& stream, Range range, unsigned count, uint8_t* values);

/// A color value of kColorRanges[rangeIndex] as 0 to 255.
uint8_t unquantizeColor(int rangeIndex, uint8_t value);

/// A weight as 0 to 64.
uint8_t unquantizeWeight(Range range, uint8_t value);

}  // namespace pumice::formats::astc
