// Half floats, for results and their references.
#pragma once

#include <cmath>
#include <cstdint>

namespace pumice::bench {

inline double halfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double mantissa = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

// byte / 256, which is exact.
inline uint16_t halfOfByte(uint8_t byte) {
  if (byte == 0) return 0;
  int exponent = 7;
  while ((byte >> exponent & 1) == 0) --exponent;
  const auto mantissa = static_cast<uint32_t>(byte) << (10 - exponent) & 1023u;
  return static_cast<uint16_t>(static_cast<uint32_t>(exponent - 8 + 15) << 10 | mantissa);
}

}  // namespace pumice::bench
