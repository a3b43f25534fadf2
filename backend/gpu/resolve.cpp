#include "backend/gpu/resolve.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace pumice::gpu {
namespace {

using abi::ResolveMode;
using formats::NumericFormat;

constexpr uint32_t kMost = SampleResolver::kMost;

bool allChannels(const formats::FormatInfo& info, NumericFormat numeric, uint8_t bits) {
  return std::all_of(info.components, info.components + info.componentCount,
                     [&](const formats::Component& c) { return c.numeric == numeric && c.bits == bits; });
}

template <typename T, typename Combine>
void combine(T* into, const T* more, uint32_t count, Combine&& with) {
  for (uint32_t i = 0; i < count; ++i) into[i] = with(into[i], more[i]);
}

// next(numbers, s) gives the numbers of sample s, `count` of them, in `numbers` or elsewhere.
template <typename T, typename Next>
void reduce(ResolveMode mode, uint32_t samples, uint32_t count, T* result, Next&& next) {
  alignas(64) T more[4 * kMost];
  for (uint32_t s = 1; s < samples; ++s) {
    const T* numbers = next(more, s);
    if (mode == ResolveMode::kMin) {
      combine(result, numbers, count, [](T a, T b) { return b < a ? b : a; });
    } else if (mode == ResolveMode::kMax) {
      combine(result, numbers, count, [](T a, T b) { return b > a ? b : a; });
    } else {
      combine(result, numbers, count, [](T a, T b) { return a + b; });
    }
  }
  if (mode != ResolveMode::kAverage) return;
  const T share = T(1) / static_cast<T>(samples);
  for (uint32_t i = 0; i < count; ++i) result[i] *= share;
}

template <typename T>
void reduceNumbers(const formats::TexelCodec& codec, ResolveMode mode, uint32_t sampleCount,
                   const std::byte* const* samples, uint32_t count, std::byte* out) {
  alignas(64) T result[4 * kMost];
  codec.decode(samples[0], count, result);
  reduce(mode, sampleCount, 4 * count, result, [&](T* numbers, uint32_t s) {
    codec.decode(samples[s], count, numbers);
    return numbers;
  });
  codec.encode(result, count, out);
}

}  // namespace

SampleResolver::SampleResolver(VkFormat format, ResolveMode mode, uint32_t samples)
    : codec_(formats::texelCodec(format)), mode_(mode), samples_(samples), way_(Way::kNumbers) {
  const formats::FormatInfo& info = *codec_.info;
  const bool average = mode == ResolveMode::kAverage;
  if (mode == ResolveMode::kSampleZero || samples == 1 || codec_.channelBytes != 4 ||
      (average && codec_.type != formats::TexelType::kFloat)) {
    way_ = Way::kFirst;
  } else if (average && allChannels(info, NumericFormat::kUnorm, 8)) {
    way_ = Way::kAverageBytes;
  } else if (allChannels(info, NumericFormat::kSfloat, 32)) {
    way_ = Way::kFloats;
  }
}

// In integers: the average of codes is that of the numbers.
void SampleResolver::averageBytes(const std::byte* const* samples, uint32_t count, std::byte* out) const {
  const uint32_t bytes = count * codec_.texelBytes;  // at most 4 * kMost
  const auto shift = static_cast<uint32_t>(std::countr_zero(samples_));
  const uint32_t belowHalf = samples_ / 2 - 1;
  alignas(64) uint16_t sum[4 * kMost] = {};
  for (uint32_t s = 0; s < samples_; ++s) {
    const auto* from = reinterpret_cast<const uint8_t*>(samples[s]);
    for (uint32_t i = 0; i < bytes; ++i) sum[i] = static_cast<uint16_t>(sum[i] + from[i]);
  }
  for (uint32_t i = 0; i < bytes; ++i)
    out[i] = static_cast<std::byte>((sum[i] + belowHalf + ((sum[i] >> shift) & 1u)) >> shift);
}

void SampleResolver::run(const std::byte* const* samples, uint32_t count, std::byte* out) const {
  switch (way_) {
    case Way::kFirst:
      std::memcpy(out, samples[0], size_t{count} * codec_.texelBytes);
      return;
    case Way::kAverageBytes:
      return averageBytes(samples, count, out);
    case Way::kFloats: {
      const uint32_t floats = count * codec_.texelBytes / 4;
      alignas(64) float result[4 * kMost];
      std::memcpy(result, samples[0], size_t{floats} * 4);
      reduce(mode_, samples_, floats, result, [&](float* numbers, uint32_t s) {
        std::memcpy(numbers, samples[s], size_t{floats} * 4);
        return numbers;
      });
      std::memcpy(out, result, size_t{floats} * 4);
      return;
    }
    case Way::kNumbers:
      break;
  }
  if (codec_.type == formats::TexelType::kFloat) {
    reduceNumbers<float>(codec_, mode_, samples_, samples, count, out);
  } else if (codec_.type == formats::TexelType::kUint) {
    reduceNumbers<uint32_t>(codec_, mode_, samples_, samples, count, out);
  } else {
    reduceNumbers<int32_t>(codec_, mode_, samples_, samples, count, out);
  }
}

}  // namespace pumice::gpu
