// A sampler's descriptor, taken apart for the length of a call.
#pragma once

#include <cstdint>

#include "backend/abi/descriptor.h"

namespace pumice::texture {

enum class Filter : uint8_t { kNearest, kLinear, kCubic };  // VkFilter
enum class AddressMode : uint8_t { kRepeat, kMirroredRepeat, kClampToEdge, kClampToBorder, kMirrorClampToEdge };
enum class CompareOp : uint8_t { kNever, kLess, kEqual, kLessOrEqual, kGreater, kNotEqual, kGreaterOrEqual, kAlways };

struct Sampler {
  bool exists;  // else: null
  Filter magFilter, minFilter;
  bool linearMips;
  AddressMode address[3];
  uint16_t flags;  // abi::SamplerFlags
  CompareOp compareOp;
  float lodBias, minLod, maxLod;
  float maxAnisotropy;
  uint32_t borderColor[4];
  uint32_t conversion;  // abi::packConversion(); 0: none
};

Sampler loadSampler(uint64_t descriptor);

}  // namespace pumice::texture
