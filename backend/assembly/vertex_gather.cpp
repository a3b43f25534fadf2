#include "backend/assembly/vertex_gather.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pumice::assembly {

#if defined(__x86_64__)
namespace {

#define PUMICE_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
constexpr uint32_t kWidth = 16;
// Masks of ones where they make no difference: the forms without them make GCC 12 warn of values that it never uses.
constexpr __mmask16 kAll = 0xFFFF;

// Sixteen vertices: which there are, which of them have an element, and where that is.
struct Places {
  __mmask16 present, safe;
  __m512i offset_B;
};

PUMICE_TARGET inline Places placesOf(const GatherSource& from, uint32_t first) {
  const uint32_t left = from.count > first ? from.count - first : 0;
  const auto present = static_cast<__mmask16>(left >= kWidth ? 0xFFFFu : (1u << left) - 1);
  const __m512i index = _mm512_maskz_loadu_epi32(present, from.index + first);
  const __mmask16 safe = _mm512_mask_cmplt_epu32_mask(present, index, _mm512_set1_epi32(static_cast<int>(from.safe)));
  return {present, safe, _mm512_mullo_epi32(index, _mm512_set1_epi32(static_cast<int>(from.stride_B)))};
}

PUMICE_TARGET inline __m512i gather(const GatherSource& from, const Places& places, uint32_t word) {
  return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), places.safe, places.offset_B, from.base + 4 * word, 1);
}

template <uint32_t kComponents>
PUMICE_TARGET void gatherWords(const GatherSource& from, uint32_t alpha, abi::VertexRow* rows) {
  for (uint32_t first = 0; first < abi::kVertexBlockLanes; first += kWidth) {
    const Places places = placesOf(from, first);
    for (uint32_t c = 0; c < kComponents; ++c) _mm512_storeu_si512(rows[c] + first, gather(from, places, c));
    for (uint32_t c = kComponents; c < 4; ++c) {
      const uint32_t value = c == 3 ? alpha : 0;
      _mm512_storeu_si512(rows[c] + first, _mm512_maskz_set1_epi32(places.present, static_cast<int>(value)));
    }
  }
}

PUMICE_TARGET void gatherWords(const GatherSource& from, uint32_t components, uint32_t alpha, abi::VertexRow* rows) {
  switch (components) {
    case 1:
      return gatherWords<1>(from, alpha, rows);
    case 2:
      return gatherWords<2>(from, alpha, rows);
    case 3:
      return gatherWords<3>(from, alpha, rows);
    default:
      return gatherWords<4>(from, alpha, rows);
  }
}

// formats::unormToFloat<8>: 1 / 255 in two parts, the product with the first of which is exact, so that it makes no
// difference whether it is rounded.
PUMICE_TARGET void gatherUnorm8(const GatherSource& from, abi::VertexRow* rows) {
  constexpr double kReciprocal = 1.0 / 255;
  constexpr float kHigh = static_cast<float>(static_cast<int32_t>(0x1p23 * kReciprocal) * 0x1p-23);
  constexpr float kLow = static_cast<float>(kReciprocal - static_cast<double>(kHigh));
  const __m512 high = _mm512_set1_ps(kHigh);
  const __m512 low = _mm512_set1_ps(kLow);
  const __m512i byte = _mm512_set1_epi32(0xFF);
  for (uint32_t first = 0; first < abi::kVertexBlockLanes; first += kWidth) {
    __m512i texels = gather(from, placesOf(from, first), 0);
    for (uint32_t c = 0; c < 4; ++c) {
      const __m512 number = _mm512_maskz_cvtepi32_ps(kAll, _mm512_and_si512(texels, byte));
      _mm512_storeu_ps(rows[c] + first, _mm512_fmadd_ps(number, high, _mm512_mul_ps(number, low)));
      texels = _mm512_maskz_srli_epi32(kAll, texels, 8);
    }
  }
}

constexpr GatherFunctions kAvx512 = {gatherWords, gatherUnorm8};

}  // namespace
#endif

const GatherFunctions* gatherFunctions() {
#if defined(__x86_64__)
  static const bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (usable) return &kAvx512;
#endif
  return nullptr;
}

}  // namespace pumice::assembly
