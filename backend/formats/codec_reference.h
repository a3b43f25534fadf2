// For tests: texels by the letter of the specification, one bit and one double at a time. It reads the format's name
// and shares nothing with the table or the codecs.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace pumice::formats::reference {

enum class Numeric { kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kUfloat, kSfloat, kSrgb };

struct Channel {
  char letter;  // R G B A D S, X for padding
  int bits;
  int offset;  // of the lowest bit from the texel's start
  Numeric numeric;
};

inline Numeric numericOf(const std::string& word) {
  static constexpr const char* kWords[] = {"UNORM", "SNORM",  "USCALED", "SSCALED", "UINT",
                                           "SINT",  "UFLOAT", "SFLOAT",  "SRGB"};
  for (size_t i = 0; i < std::size(kWords); ++i) {
    if (word == kWords[i]) return static_cast<Numeric>(i);
  }
  throw std::invalid_argument(word);
}

/// Of a format of one plane that is neither compressed nor 4:2:2.
inline std::vector<Channel> channelsOf(const char* name) {
  std::vector<Channel> channels;
  std::string numeric;
  int word = 0;
  const std::string text = std::string(name).substr(std::strlen("VK_FORMAT_")) + "_";
  for (size_t start = 0; start < text.size();) {
    const size_t end = text.find('_', start);
    const std::string part = text.substr(start, end - start);
    start = end + 1;
    if (part.size() > 1 && std::strchr("RGBADSXE", part[0]) != nullptr && std::isdigit(part[1]) != 0) {
      for (size_t i = 0; i < part.size();) {
        size_t digits = 0;
        channels.push_back({part[i], std::stoi(part.substr(i + 1), &digits), 0, Numeric::kUnorm});
        i += 1 + digits;
      }
    } else if (const size_t pack = part.find("PACK"); pack != std::string::npos) {
      word = std::stoi(part.substr(pack + 4));
    } else if (numeric.empty()) {
      numeric = part;
    }
  }
  int bit = 0;
  for (Channel& c : channels) {
    c.offset = word == 0 ? bit : bit / word * word + word - bit % word - c.bits;
    c.numeric = numeric == "SRGB" && c.letter == 'A' ? Numeric::kUnorm : numericOf(numeric);
    bit += c.bits;
  }
  return channels;
}

inline uint64_t bitsOf(const std::byte* texel, int offset, int bits) {
  uint64_t value = 0;
  for (int byte = (offset + bits - 1) / 8; byte >= offset / 8; --byte) {
    value = value << 8 | static_cast<uint64_t>(texel[byte]);
  }
  return value >> (offset % 8) & ((uint64_t{1} << bits) - 1);
}

inline void setBits(std::byte* texel, int offset, int bits, uint64_t value) {
  for (int i = 0; i < bits; ++i) {
    const int bit = offset + i;
    const auto mask = static_cast<std::byte>(1u << (bit % 8));
    texel[bit / 8] = (value >> i & 1) != 0 ? texel[bit / 8] | mask : texel[bit / 8] & ~mask;
  }
}

inline int64_t asSigned(uint64_t value, int bits) {
  return value >> (bits - 1) != 0 ? static_cast<int64_t>(value) - (int64_t{1} << bits) : static_cast<int64_t>(value);
}

/// A float with `mantissa` mantissa and 5 exponent bits, without sign.
inline double smallFloat(uint64_t value, int mantissa) {
  const auto exponent = static_cast<int>(value >> mantissa);
  const double fraction = static_cast<double>(value & ((1u << mantissa) - 1)) / (1 << mantissa);
  if (exponent == 31) return fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  return exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
}

inline long double srgbToLinear(long double c) {
  return c <= 0.04045L ? c / 12.92L : std::pow((c + 0.055L) / 1.055L, 2.4L);
}

inline long double linearToSrgb(long double c) {
  return c <= 0.0031308L ? c * 12.92L : 1.055L * std::pow(c, 1 / 2.4L) - 0.055L;
}

/// A channel's number; integers of up to 32 bits are exact in a double.
inline double decodeChannel(const Channel& c, uint64_t code) {
  const double largest = static_cast<double>((uint64_t{1} << c.bits) - 1);
  if (c.numeric == Numeric::kUnorm) return static_cast<double>(code) / largest;
  if (c.numeric == Numeric::kSnorm) {
    return std::fmax(static_cast<double>(asSigned(code, c.bits)) / ((largest - 1) / 2), -1.0);
  }
  if (c.numeric == Numeric::kUscaled || c.numeric == Numeric::kUint) return static_cast<double>(code);
  if (c.numeric == Numeric::kSscaled || c.numeric == Numeric::kSint) return static_cast<double>(asSigned(code, c.bits));
  if (c.numeric == Numeric::kSrgb) return static_cast<double>(srgbToLinear(static_cast<long double>(code) / 255));
  if (c.numeric == Numeric::kUfloat) return smallFloat(code, c.bits - 5);
  if (c.bits == 16) return (code >> 15 != 0 ? -1 : 1) * smallFloat(code & 0x7FFF, 10);
  float value;
  const auto word = static_cast<uint32_t>(code);
  std::memcpy(&value, &word, 4);
  return static_cast<double>(value);
}

/// A non-negative number rounded to nearest even; limit: finite results stay finite.
inline uint64_t encodeSmallFloat(double value, int mantissa, bool limit) {
  const uint64_t infinity = uint64_t{31} << mantissa;
  if (std::isinf(value)) return infinity;
  if (value == 0) return 0;
  const int exponent = std::max(std::ilogb(value), -14);
  // value = number x 2^(exponent - mantissa), where a number of 2^mantissa or more has its leading bit hidden.
  const auto number = static_cast<uint64_t>(std::nearbyint(std::ldexp(value, mantissa - exponent)));
  const uint64_t code = number + (static_cast<uint64_t>(exponent + 14) << mantissa);
  if (code < infinity) return code;
  return limit ? infinity - 1 : infinity;
}

/// Any code of a NaN counts as NaN: see isNan.
inline uint64_t encodeChannel(const Channel& c, double value) {
  const uint64_t mask = (uint64_t{1} << c.bits) - 1;
  const auto largest = static_cast<double>(mask);
  if (c.numeric == Numeric::kUfloat) {
    if (std::isnan(value)) return mask;
    return value < 0 ? 0 : encodeSmallFloat(value, c.bits - 5, true);
  }
  if (c.numeric == Numeric::kSfloat && c.bits == 16) {
    if (std::isnan(value)) return 0x7E00;
    return encodeSmallFloat(std::fabs(value), 10, false) | (std::signbit(value) ? 0x8000 : 0);
  }
  if (std::isnan(value)) value = 0;
  const double half = (largest - 1) / 2;
  if (c.numeric == Numeric::kUnorm)
    return static_cast<uint64_t>(std::nearbyint(std::fmin(std::fmax(value, 0), 1) * largest));
  if (c.numeric == Numeric::kSrgb) {
    return static_cast<uint64_t>(std::nearbyint(255 * linearToSrgb(std::fmin(std::fmax(value, 0), 1))));
  }
  if (c.numeric == Numeric::kUscaled || c.numeric == Numeric::kUint) {
    return static_cast<uint64_t>(std::nearbyint(std::fmin(std::fmax(value, 0), largest)));
  }
  const double code = c.numeric == Numeric::kSnorm ? std::fmin(std::fmax(value, -1), 1) * half
                                                   : std::fmin(std::fmax(value, -half - 1), half);
  return static_cast<uint64_t>(static_cast<int64_t>(std::nearbyint(code))) & mask;
}

inline bool isNan(const Channel& c, uint64_t code) {
  if (c.numeric != Numeric::kUfloat && c.numeric != Numeric::kSfloat) return false;
  return std::isnan(decodeChannel(c, code));
}

}  // namespace pumice::formats::reference
