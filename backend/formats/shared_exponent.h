// E5B9G9R9: three 9-bit mantissas without a hidden bit, one exponent. Vulkan specification: "RGB to Shared Exponent
// Conversion" and "Shared Exponent to RGB", with N = 9, B = 15, Emax = 31.
#pragma once

#include <bit>
#include <cstdint>

namespace pumice::formats {

inline void sharedExponentToFloat(uint32_t texel, float* rgb) {
  // 2^(exponent - B - N): between 2^-24 and 2^7, so a normal float.
  const float scale = std::bit_cast<float>(((texel >> 27) + 127 - 24) << 23);
  rgb[0] = static_cast<float>(texel & 0x1FF) * scale;
  rgb[1] = static_cast<float>((texel >> 9) & 0x1FF) * scale;
  rgb[2] = static_cast<float>((texel >> 18) & 0x1FF) * scale;
}

inline uint32_t floatToSharedExponent(const float* rgb) {
  constexpr float kLargest = 65408.0f;  // (2^N - 1) / 2^N x 2^(Emax - B)
  float clamped[3];
  float largest = 0.0f;
  for (int i = 0; i < 3; ++i) {
    const float low = rgb[i] > 0.0f ? rgb[i] : 0.0f;  // NaN as well
    clamped[i] = low < kLargest ? low : kLargest;
    largest = clamped[i] > largest ? clamped[i] : largest;
  }
  // max(-B - 1, floor(log2(largest))) + 1 + B, where a float's exponent field is the logarithm's floor + 127.
  const auto field = static_cast<int32_t>(std::bit_cast<uint32_t>(largest) >> 23);
  int32_t exponent = (field > 127 - 16 ? field - 127 : -16) + 16;
  // x / 2^(exponent - B - N), exact; the sum with one half is exact in double precision only.
  double scale = std::bit_cast<double>(static_cast<uint64_t>(1023 + 24 - exponent) << 52);
  if (static_cast<int32_t>(largest * scale + 0.5) == 512) {
    ++exponent;
    scale *= 0.5;
  }
  uint32_t texel = static_cast<uint32_t>(exponent) << 27;
  for (int i = 0; i < 3; ++i) {
    texel |= static_cast<uint32_t>(static_cast<int32_t>(clamped[i] * scale + 0.5)) << (9 * i);
  }
  return texel;
}

}  // namespace pumice::formats
