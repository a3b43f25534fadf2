// Floats of 16, 11 and 10 bits. Vulkan specification: "16-Bit Floating-Point Numbers", "Unsigned 11-Bit Floating-Point
// Numbers", "Unsigned 10-Bit Floating-Point Numbers", "Floating-Point Format Conversions".
//
// To 16 bits: round to nearest even; finite values from 65520 on become infinity, as in IEEE 754.
// To 11 and 10 bits: round to nearest even; finite values above the largest one become the largest (the specification
// leaves it open; an infinity would spread through a later blur). Negative values and -infinity become zero.
// NaN stays NaN everywhere. None of these depends on denormals-are-zero or flush-to-zero.
//
// All of it is straight-line code, so that loops over it become vector code.
#pragma once

#include <bit>
#include <cstdint>

namespace pumice::formats {

inline constexpr uint32_t kFloatInfinity = 0x7F800000;

/// A float of 5 exponent bits and `MantissaBits` mantissa bits, without sign, to float.
template <int MantissaBits>
[[gnu::always_inline]] inline float smallFloatToFloat(uint32_t value) {
  constexpr int kShift = 23 - MantissaBits;
  constexpr uint32_t kRebias = (127u - 15u) << 23;
  const uint32_t shifted = value << kShift;
  const uint32_t exponent = shifted & (31u << 23);
  const uint32_t normal = shifted + kRebias;
  const uint32_t special = normal + kRebias;  // exponent 31 becomes 255
  // A denormal is mantissa x 2^-14 / 2^MantissaBits: put the mantissa under the exponent of 2^-14 and take 2^-14 away.
  constexpr uint32_t kSmallest = kRebias + (1u << 23);
  const float denormal = std::bit_cast<float>(shifted + kSmallest) - std::bit_cast<float>(kSmallest);
  const uint32_t bits = exponent == (31u << 23) ? special : normal;
  return exponent == 0 ? denormal : std::bit_cast<float>(bits);
}

/// Rounds a float's magnitude (sign bit clear, not NaN) to such a float; what is too large becomes infinity.
template <int MantissaBits>
[[gnu::always_inline]] inline uint32_t roundToSmallFloat(uint32_t magnitude) {
  constexpr int kShift = 23 - MantissaBits;
  constexpr uint32_t kRebias = (127u - 15u) << 23;
  constexpr uint32_t kInfinity = 31u << MantissaBits;
  const uint32_t odd = (magnitude >> kShift) & 1;
  const uint32_t normal = (magnitude - kRebias + ((1u << (kShift - 1)) - 1) + odd) >> kShift;
  // The addition rounds where the unit in the last place is the denormals' unit, 2^(-14 - MantissaBits).
  constexpr uint32_t kRounder = (127u + 23 - 14 - MantissaBits) << 23;
  const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kRounder);
  const uint32_t denormal = std::bit_cast<uint32_t>(sum) - kRounder;
  const uint32_t finite = magnitude < kRebias + (1u << 23) ? denormal : normal;
  return magnitude >= (143u << 23) ? kInfinity : finite;  // from 2^16 on
}

[[gnu::always_inline]] inline float halfToFloat(uint32_t half) {
  const float magnitude = smallFloatToFloat<10>(half & 0x7FFF);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | (half & 0x8000) << 16);
}

[[gnu::always_inline]] inline uint32_t floatToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  const uint32_t nan = 0x7E00 | ((magnitude >> 13) & 0x3FF);
  const uint32_t rounded = roundToSmallFloat<10>(magnitude);
  return (magnitude > kFloatInfinity ? nan : rounded) | ((bits >> 16) & 0x8000);
}

/// MantissaBits 6 for the 11-bit float, 5 for the 10-bit one.
template <int MantissaBits>
[[gnu::always_inline]] inline uint32_t floatToUnsignedFloat(float value) {
  constexpr uint32_t kInfinity = 31u << MantissaBits;
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  const uint32_t rounded = roundToSmallFloat<MantissaBits>(magnitude);
  const uint32_t limited = rounded < kInfinity ? rounded : kInfinity - 1;
  // Sums and masks where selections would do: compilers take those for branches and give up on vector code.
  const uint32_t number = limited + static_cast<uint32_t>(magnitude == kFloatInfinity);
  const uint32_t positive = number & ~static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31);
  return magnitude > kFloatInfinity ? (kInfinity | 1u << (MantissaBits - 1)) : positive;
}

}  // namespace pumice::formats
