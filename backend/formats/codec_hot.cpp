// Straight loops for the formats that images mostly have. Each format is a struct of two inline functions for one texel
// with everything about it constant; the loops over them are compiled for the baseline and again for AVX2 with FMA, and
// the choice is made when a codec is asked for.
#include <cstring>

#include "backend/formats/codec_kernels.h"
#include "backend/formats/fixed_point.h"
#include "backend/formats/half.h"
#include "backend/formats/srgb.h"

#define PUMICE_INLINE [[gnu::always_inline]] static inline
#if defined(__x86_64__)
#define PUMICE_TARGET_AVX2 __attribute__((target("avx2,fma")))
#endif

namespace pumice::formats {
namespace {

template <typename T>
PUMICE_INLINE T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
PUMICE_INLINE void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// floatToUnorm with the instruction set's best way to round the exact product.
template <int Bits, bool kFma>
PUMICE_INLINE uint32_t toUnorm(float value) {
  static_assert(Bits <= 16);
  constexpr float kLargest = (1 << Bits) - 1;
  if constexpr (kFma) {
    const float low = value > 0.0f ? value : 0.0f;
    const float clamped = low < 1.0f ? low : 1.0f;
    // One rounding, of the exact product, where the sum's unit in the last place is one.
    return std::bit_cast<uint32_t>(__builtin_fmaf(clamped, kLargest, 0x1.8p23f)) & 0x3FFFFF;
  } else {
    return floatToUnorm(value, kLargest);
  }
}

// ---- texels
// ------------------------------------------------------------------------------------------------------------ kBytes;
// decode(texel, rgba); encode<kFma>(rgba, texel). rgba points to 16 bytes.

struct Unorm8 {
  PUMICE_INLINE float decode(uint32_t code) { return unormToFloat<8>(code); }
  template <bool kFma>
  PUMICE_INLINE uint32_t encode(float number) {
    return toUnorm<8, kFma>(number);
  }
};

struct Srgb8 {
  PUMICE_INLINE float decode(uint32_t code) { return kSrgbToLinear[code]; }
  template <bool kFma>
  PUMICE_INLINE uint32_t encode(float number) {
    return linearToSrgb8(number);
  }
};

/// Four bytes: R, G, B in that order or swapped, then A. One 32-bit word, so that whole texels move at once.
template <typename Color, bool kSwapped>
struct Bytes4 {
  static constexpr size_t kBytes = 4;
  static constexpr int kRed = kSwapped ? 16 : 0;
  static constexpr int kBlue = kSwapped ? 0 : 16;
  PUMICE_INLINE void decode(const std::byte* texel, std::byte* rgba) {
    const auto word = load<uint32_t>(texel);
    store(rgba, Color::decode((word >> kRed) & 0xFF));
    store(rgba + 4, Color::decode((word >> 8) & 0xFF));
    store(rgba + 8, Color::decode((word >> kBlue) & 0xFF));
    store(rgba + 12, Unorm8::decode(word >> 24));
  }
  template <bool kFma>
  PUMICE_INLINE void encode(const std::byte* rgba, std::byte* texel) {
    const uint32_t red = Color::template encode<kFma>(load<float>(rgba));
    const uint32_t green = Color::template encode<kFma>(load<float>(rgba + 4));
    const uint32_t blue = Color::template encode<kFma>(load<float>(rgba + 8));
    const uint32_t alpha = Unorm8::encode<kFma>(load<float>(rgba + 12));
    store(texel, red << kRed | green << 8 | blue << kBlue | alpha << 24);
  }
};

struct Uint8x4 {
  static constexpr size_t kBytes = 4;
  PUMICE_INLINE void decode(const std::byte* texel, std::byte* rgba) {
    const auto word = load<uint32_t>(texel);
    store(rgba, word & 0xFF);
    store(rgba + 4, (word >> 8) & 0xFF);
    store(rgba + 8, (word >> 16) & 0xFF);
    store(rgba + 12, word >> 24);
  }
  PUMICE_INLINE uint32_t clamp(uint32_t value) { return value < 255 ? value : 255; }
  template <bool kFma>
  PUMICE_INLINE void encode(const std::byte* rgba, std::byte* texel) {
    store(texel, clamp(load<uint32_t>(rgba)) | clamp(load<uint32_t>(rgba + 4)) << 8 |
                     clamp(load<uint32_t>(rgba + 8)) << 16 | clamp(load<uint32_t>(rgba + 12)) << 24);
  }
};

template <int Channels>
struct Unorm8s {
  static constexpr size_t kBytes = Channels;
  PUMICE_INLINE void decode(const std::byte* texel, std::byte* rgba) {
    store(rgba, Unorm8::decode(load<uint8_t>(texel)));
    store(rgba + 4, Channels > 1 ? Unorm8::decode(load<uint8_t>(texel + (Channels > 1 ? 1 : 0))) : 0.0f);
    store(rgba + 8, 0.0f);
    store(rgba + 12, 1.0f);
  }
  template <bool kFma>
  PUMICE_INLINE void encode(const std::byte* rgba, std::byte* texel) {
    store(texel, static_cast<uint8_t>(Unorm8::encode<kFma>(load<float>(rgba))));
    if constexpr (Channels > 1) store(texel + 1, static_cast<uint8_t>(Unorm8::encode<kFma>(load<float>(rgba + 4))));
  }
};

template <int Channels>
struct Halves {
  static constexpr size_t kBytes = 2 * Channels;
  PUMICE_INLINE float channel(const std::byte* texel, int i) {
    return i < Channels ? halfToFloat(load<uint16_t>(texel + 2 * (i < Channels ? i : 0))) : i == 3 ? 1.0f : 0.0f;
  }
  PUMICE_INLINE void decode(const std::byte* texel, std::byte* rgba) {
    store(rgba, channel(texel, 0));
    store(rgba + 4, channel(texel, 1));
    store(rgba + 8, channel(texel, 2));
    store(rgba + 12, channel(texel, 3));
  }
  template <bool kFma>
  PUMICE_INLINE void encode(const std::byte* rgba, std::byte* texel) {
    store(texel, static_cast<uint16_t>(floatToHalf(load<float>(rgba))));
    if constexpr (Channels > 1) store(texel + 2, static_cast<uint16_t>(floatToHalf(load<float>(rgba + 4))));
    if constexpr (Channels > 2) store(texel + 4, static_cast<uint16_t>(floatToHalf(load<float>(rgba + 8))));
    if constexpr (Channels > 3) store(texel + 6, static_cast<uint16_t>(floatToHalf(load<float>(rgba + 12))));
  }
};

/// 32-bit channels of any type: the bits are copied. kOne is the missing alpha.
template <int Channels, uint32_t kOne>
struct Words {
  static constexpr size_t kBytes = 4 * Channels;
  PUMICE_INLINE uint32_t channel(const std::byte* texel, int i) {
    return i < Channels ? load<uint32_t>(texel + 4 * (i < Channels ? i : 0)) : i == 3 ? kOne : 0;
  }
  PUMICE_INLINE void decode(const std::byte* texel, std::byte* rgba) {
    store(rgba, channel(texel, 0));
    store(rgba + 4, channel(texel, 1));
    store(rgba + 8, channel(texel, 2));
    store(rgba + 12, channel(texel, 3));
  }
  template <bool kFma>
  PUMICE_INLINE void encode(const std::byte* rgba, std::byte* texel) {
    std::memcpy(texel, rgba, kBytes);
  }
};

struct A2B10G10R10 {
  static constexpr size_t kBytes = 4;
  PUMICE_INLINE void decode(const std::byte* texel, std::byte* rgba) {
    const auto word = load<uint32_t>(texel);
    store(rgba, unormToFloat<10>(word & 0x3FF));
    store(rgba + 4, unormToFloat<10>((word >> 10) & 0x3FF));
    store(rgba + 8, unormToFloat<10>((word >> 20) & 0x3FF));
    store(rgba + 12, unormToFloat<2>(word >> 30));
  }
  template <bool kFma>
  PUMICE_INLINE void encode(const std::byte* rgba, std::byte* texel) {
    store(texel, toUnorm<10, kFma>(load<float>(rgba)) | toUnorm<10, kFma>(load<float>(rgba + 4)) << 10 |
                     toUnorm<10, kFma>(load<float>(rgba + 8)) << 20 | toUnorm<2, kFma>(load<float>(rgba + 12)) << 30);
  }
};

struct B10G11R11 {
  static constexpr size_t kBytes = 4;
  PUMICE_INLINE void decode(const std::byte* texel, std::byte* rgba) {
    const auto word = load<uint32_t>(texel);
    store(rgba, smallFloatToFloat<6>(word & 0x7FF));
    store(rgba + 4, smallFloatToFloat<6>((word >> 11) & 0x7FF));
    store(rgba + 8, smallFloatToFloat<5>(word >> 22));
    store(rgba + 12, 1.0f);
  }
  template <bool kFma>
  PUMICE_INLINE void encode(const std::byte* rgba, std::byte* texel) {
    store(texel, floatToUnsignedFloat<6>(load<float>(rgba)) | floatToUnsignedFloat<6>(load<float>(rgba + 4)) << 11 |
                     floatToUnsignedFloat<5>(load<float>(rgba + 8)) << 22);
  }
};

// ---- loops
// -------------------------------------------------------------------------------------------------------------
template <typename Texel>
PUMICE_INLINE void decodeLoop(const void* texels, size_t stride_B, size_t count, void* rgba) {
  const auto* in = static_cast<const std::byte*>(texels);
  auto* __restrict out = static_cast<std::byte*>(rgba);
  if (stride_B == Texel::kBytes) {  // the constant stride is what vector code needs
    for (size_t i = 0; i < count; ++i) Texel::decode(in + i * Texel::kBytes, out + 16 * i);
  } else {
    for (size_t i = 0; i < count; ++i) Texel::decode(in + i * stride_B, out + 16 * i);
  }
}

template <typename Texel, bool kFma>
PUMICE_INLINE void encodeLoop(const void* rgba, size_t count, void* texels, size_t stride_B) {
  const auto* in = static_cast<const std::byte*>(rgba);
  auto* __restrict out = static_cast<std::byte*>(texels);
  if (stride_B == Texel::kBytes) {
    for (size_t i = 0; i < count; ++i) Texel::template encode<kFma>(in + 16 * i, out + i * Texel::kBytes);
  } else {
    for (size_t i = 0; i < count; ++i) Texel::template encode<kFma>(in + 16 * i, out + i * stride_B);
  }
}

template <typename Texel>
void decodeBaseline(const FormatInfo&, const void* texels, size_t stride_B, size_t count, void* rgba) {
  decodeLoop<Texel>(texels, stride_B, count, rgba);
}

template <typename Texel>
void encodeBaseline(const FormatInfo&, const void* rgba, size_t count, void* texels, size_t stride_B) {
  encodeLoop<Texel, false>(rgba, count, texels, stride_B);
}

#if defined(PUMICE_TARGET_AVX2)
template <typename Texel>
PUMICE_TARGET_AVX2 void decodeAvx2(const FormatInfo&, const void* texels, size_t stride_B, size_t count, void* rgba) {
  decodeLoop<Texel>(texels, stride_B, count, rgba);
}

template <typename Texel>
PUMICE_TARGET_AVX2 void encodeAvx2(const FormatInfo&, const void* rgba, size_t count, void* texels, size_t stride_B) {
  encodeLoop<Texel, true>(rgba, count, texels, stride_B);
}
#endif

template <typename Texel>
RowFunctions rowsOf(bool wide) {
#if defined(PUMICE_TARGET_AVX2)
  if (wide) return {decodeAvx2<Texel>, encodeAvx2<Texel>};
#endif
  (void)wide;
  return {decodeBaseline<Texel>, encodeBaseline<Texel>};
}

}  // namespace

RowFunctions hotRowFunctions(VkFormat format, bool wide) {
  constexpr uint32_t kFloatOne = std::bit_cast<uint32_t>(1.0f);
  switch (format) {
    case VK_FORMAT_R8G8B8A8_UNORM:
    case VK_FORMAT_A8B8G8R8_UNORM_PACK32:
      return rowsOf<Bytes4<Unorm8, false>>(wide);
    case VK_FORMAT_R8G8B8A8_SRGB:
    case VK_FORMAT_A8B8G8R8_SRGB_PACK32:
      return rowsOf<Bytes4<Srgb8, false>>(wide);
    case VK_FORMAT_B8G8R8A8_UNORM:
      return rowsOf<Bytes4<Unorm8, true>>(wide);
    case VK_FORMAT_B8G8R8A8_SRGB:
      return rowsOf<Bytes4<Srgb8, true>>(wide);
    case VK_FORMAT_R8G8B8A8_UINT:
    case VK_FORMAT_A8B8G8R8_UINT_PACK32:
      return rowsOf<Uint8x4>(wide);
    case VK_FORMAT_R8_UNORM:
      return rowsOf<Unorm8s<1>>(wide);
    case VK_FORMAT_R8G8_UNORM:
      return rowsOf<Unorm8s<2>>(wide);
    case VK_FORMAT_R16_SFLOAT:
      return rowsOf<Halves<1>>(wide);
    case VK_FORMAT_R16G16_SFLOAT:
      return rowsOf<Halves<2>>(wide);
    case VK_FORMAT_R16G16B16A16_SFLOAT:
      return rowsOf<Halves<4>>(wide);
    case VK_FORMAT_R32_SFLOAT:
    case VK_FORMAT_D32_SFLOAT:
      return rowsOf<Words<1, kFloatOne>>(wide);
    case VK_FORMAT_R32_UINT:
    case VK_FORMAT_R32_SINT:
      return rowsOf<Words<1, 1>>(wide);
    case VK_FORMAT_R32G32_SFLOAT:
      return rowsOf<Words<2, kFloatOne>>(wide);
    case VK_FORMAT_R32G32B32A32_SFLOAT:
    case VK_FORMAT_R32G32B32A32_UINT:
    case VK_FORMAT_R32G32B32A32_SINT:
      return rowsOf<Words<4, 1>>(wide);
    case VK_FORMAT_A2B10G10R10_UNORM_PACK32:
      return rowsOf<A2B10G10R10>(wide);
    case VK_FORMAT_B10G11R11_UFLOAT_PACK32:
      return rowsOf<B10G11R11>(wide);
    default:
      return {};
  }
}

bool hasWideVectors() {
#if defined(PUMICE_TARGET_AVX2)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

}  // namespace pumice::formats
