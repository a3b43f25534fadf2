// The sRGB transfer functions for 8-bit components. Khronos Data Format Specification, "sRGB transfer functions".
// Decoding gives the float nearest to the formula's value; encoding rounds the formula's exact value to the nearest
// code. The tables come from gen/gen_srgb_tables.py.
#pragma once

#include <bit>
#include <cstdint>

namespace pumice::formats {

inline constexpr int kSrgbBucketShift = 16;  // a bucket is all floats that agree in the bits above
inline constexpr uint32_t kSrgbFirstBucket = (127 - 13) << 7;
inline constexpr uint32_t kSrgbBucketCount = 13 << 7;  // 2^-13 to 1

extern const float kSrgbToLinear[256];
// The first code of a bucket above, and in the lower 17 bits where in it the next one begins: a float's lower 16 bits,
// or 2^16 for nowhere.
extern const uint32_t kSrgbBuckets[kSrgbBucketCount];

[[gnu::always_inline]] inline uint32_t linearToSrgb8(float linear) {
  constexpr float kLeast = 0x1p-13f;       // code 0, as everything below and NaN
  constexpr float kMost = 0x1.FFFFFEp-1f;  // code 255
  const float low = linear > kLeast ? linear : kLeast;
  const auto bits = std::bit_cast<uint32_t>(low < kMost ? low : kMost);
  const uint32_t bucket = kSrgbBuckets[(bits >> kSrgbBucketShift) - kSrgbFirstBucket];
  return (bucket >> 17) + static_cast<uint32_t>((bits & 0xFFFF) >= (bucket & 0x1FFFF));
}

}  // namespace pumice::formats
