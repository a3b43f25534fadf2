// Normalised fixed-point numbers. Vulkan specification: "Fixed-Point Data Conversions".
//
// To floats the results are correctly rounded. From floats: clamped, NaN becomes zero, and the exact product with
// 2^b - 1 is rounded to nearest even. The product is taken in double precision, where it is exact for up to 29 bits.
#pragma once

#include <bit>
#include <cstdint>

namespace pumice::formats {

/// value in [-2^31, 2^31], rounded to nearest even: the sum's unit in the last place is one. (std::lrint is a call, and
/// no vector code.)
[[gnu::always_inline]] inline int32_t roundToNearestEven(double value) {
  const double shifted = value + 6755399441055744.0;  // 1.5 x 2^52
  return static_cast<int32_t>(static_cast<uint32_t>(std::bit_cast<uint64_t>(shifted)));
}

/// bits <= 24, so that both numbers are floats exactly and the division rounds once.
inline float unormToFloat(uint32_t value, float largest) {
  return static_cast<float>(value) / largest;
}

/// The same quotient without a division, for constant widths up to 16 bits: 1 / largest in two parts, the first of at
/// most 24 - Bits significant bits, so that its product with a code is exact. That the rounded sum of both products is
/// the correctly rounded quotient is shown by going through all codes in the test.
template <int Bits>
[[gnu::always_inline]] inline float unormToFloat(uint32_t value) {
  constexpr double kReciprocal = 1.0 / ((1 << Bits) - 1);
  constexpr float kHigh = static_cast<float>(static_cast<int32_t>(0x1p23 * kReciprocal) * 0x1p-23);
  constexpr float kLow = static_cast<float>(kReciprocal - static_cast<double>(kHigh));
  const auto number = static_cast<float>(static_cast<int32_t>(value));
  return number * kHigh + number * kLow;
}

/// The most negative code and the next one are both -1.
inline float snormToFloat(int32_t value, float largest) {
  const float quotient = static_cast<float>(value) / largest;
  return quotient < -1.0f ? -1.0f : quotient;
}

[[gnu::always_inline]] inline uint32_t floatToUnorm(float value, double largest) {
  const float low = value > 0.0f ? value : 0.0f;  // NaN as well
  const float clamped = low < 1.0f ? low : 1.0f;
  return static_cast<uint32_t>(roundToNearestEven(clamped * largest));
}

inline int32_t floatToSnorm(float value, double largest) {
  const float number = value == value ? value : 0.0f;
  const float low = number > -1.0f ? number : -1.0f;
  const float clamped = low < 1.0f ? low : 1.0f;
  return roundToNearestEven(clamped * largest);
}

/// For the scaled formats, which the specification only ever reads: clamped and rounded to nearest even.
inline int32_t floatToScaled(float value, float smallest, float largest) {
  const float number = value == value ? value : 0.0f;
  const float low = number > smallest ? number : smallest;
  return roundToNearestEven(low < largest ? low : largest);
}

}  // namespace pumice::formats
