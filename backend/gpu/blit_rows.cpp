#include "backend/gpu/blit_rows.h"

#include <immintrin.h>

namespace pumice::gpu {

// A tap without weight does not count, not even as infinity or NaN: it takes the zero texel.
void FilteredRows::begin(int64_t x, uint32_t count) {
  std::fill_n(cachedRow_, kCachedRows, kNoRow);
  count_ = count;
  uint32_t texel[Taps::kMost][kBlitRun];
  uint32_t first = UINT32_MAX, last = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Taps taps = x_.taps(x + i, filter_);
    taps_ = taps.count;
    for (uint32_t k = 0; k < taps.count; ++k) {
      texel[k][i] = taps.texel[k];
      weight_[k][i] = taps.weight[k];
      if (taps.weight[k] == 0) continue;
      first = std::min(first, taps.texel[k]);
      last = std::max(last, taps.texel[k]);
    }
  }
  // Texels between that nobody needs are decoded too, as long as these are fewer than decoding shared ones again.
  isSpan_ = last - first < taps_ * count;
  spanFirst_ = first;
  texelCount_ = isSpan_ ? last - first + 1 : taps_ * count;
  for (uint32_t k = 0; k < taps_; ++k)
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t at = k * count + i;
      if (!isSpan_) list_[at] = texel[k][i];
      place_[k][i] = 4 * (weight_[k][i] == 0 ? texelCount_ : isSpan_ ? texel[k][i] - first : at);
    }
  std::fill_n(texels_ + size_t{4} * texelCount_, 4, 0.0f);
}

const float* FilteredRows::row(uint32_t slice, uint32_t y) {
  const uint32_t slot = slice % 2 * Taps::kMost + y % Taps::kMost;
  float* sum = cached_[slot];
  const uint64_t key = uint64_t{slice} << 32 | y;
  if (cachedRow_[slot] == key) return sum;
  cachedRow_[slot] = key;
  decodeTexels(slice, y);
  taps_ == 2 ? mix<2>(sum) : mix<4>(sum);
  return sum;
}

void FilteredRows::decodeTexels(uint32_t slice, uint32_t y) {
  for (uint32_t done = 0; done < texelCount_; done += kBlitRun) {
    const uint32_t count = std::min(kBlitRun, texelCount_ - done);
    float* out = texels_ + size_t{4} * done;
    if (isSpan_) {
      source_.fetchRow(slice, spanFirst_ + done, y, count, out);
    } else {
      source_.fetch(slice, list_ + done, y, count, out);
    }
  }
}

template <uint32_t kTaps>
void FilteredRows::mix(float* sum) const {
  for (uint32_t i = 0; i < count_; ++i) {
    __m128 texel = _mm_mul_ps(_mm_load_ps(texels_ + place_[0][i]), _mm_set1_ps(weight_[0][i]));
    for (uint32_t k = 1; k < kTaps; ++k)
      texel = _mm_add_ps(texel, _mm_mul_ps(_mm_load_ps(texels_ + place_[k][i]), _mm_set1_ps(weight_[k][i])));
    _mm_store_ps(sum + size_t{4} * i, texel);
  }
}

}  // namespace pumice::gpu
