// Texels of hot formats at columns and rows of one slice: of the same place of all lanes' footprints at once.

/// One slice of a level. Its rows take less than 4 GiB, a texel has one sample.
struct HotSlice {
  const std::byte* base;
  int32_t width, height;
  uint32_t rowPitch_B;
  bool quadMajor;
};

/// What a texel's column (or row) adds to its offset: in both orders it is a sum of the two.
template <uint32_t kBytes>
PUMICE_INLINE U columnOffset(const HotSlice& slice, const I& column) {
  const U x = asUint(column);
  if (!slice.quadMajor) return x * kBytes;
  return (x >> 2) * (16 * kBytes) + ((x & 1u) | (x & 2u) << 1) * kBytes;
}
template <uint32_t kBytes>
PUMICE_INLINE U rowOffset(const HotSlice& slice, const I& row) {
  const U y = asUint(row);
  if (!slice.quadMajor) return y * slice.rowPitch_B;
  return (y >> 2) * slice.rowPitch_B + ((y & 1u) << 1 | (y & 2u) << 2) * kBytes;
}

/// The words of a texel of kBytes at each offset.
template <uint32_t kBytes, uint32_t kWords>
PUMICE_INLINE void loadTexels(const std::byte* base, const U& offset, U (&word)[kWords]) {
  alignas(64) uint32_t at[kLanes];
  store(at, offset);
  if constexpr (kBytes == 1) {
    word[0] = ofEachLane([&](size_t l) PUMICE_LAMBDA { return uint32_t{loadAt<uint8_t>(base + at[l])}; });
  } else if constexpr (kBytes == 2) {
    word[0] = ofEachLane([&](size_t l) PUMICE_LAMBDA { return uint32_t{loadAt<uint16_t>(base + at[l])}; });
  } else if constexpr (kBytes == 4) {
    word[0] = ofEachLane([&](size_t l) PUMICE_LAMBDA { return loadAt<uint32_t>(base + at[l]); });
  } else if constexpr (kBytes == 8) {
    ofEachLanePair([&](size_t l) PUMICE_LAMBDA { return loadAt<uint64_t>(base + at[l]); }, word[0], word[1]);
  } else {
    ofEachLaneQuad([&](size_t l) PUMICE_LAMBDA { return base + at[l]; }, word);
  }
}

/// Texels that are neighbours in memory, as one.
template <uint32_t kWords>
PUMICE_INLINE void loadNeighbours(const std::byte* base, const U& offset, U (&first)[kWords], U (&second)[kWords]) {
  U both[2 * kWords];
  loadTexels<8 * kWords>(base, offset, both);
  for (uint32_t w = 0; w < kWords; ++w) {
    first[w] = both[w];
    second[w] = both[kWords + w];
  }
}

#if PUMICE_WIDTH == 16
/// 256 bytes around all lanes' texels, held in registers: eight rows of 32 bytes, or two by two blocks. Pixels that lie
/// together mostly see texels that do.
template <uint32_t kBytes>
class HotWindow {
 public:
  /// False: the texels of these lanes (one at least) are not all near enough.
  PUMICE_INLINE bool open(const HotSlice& slice, const I& lanes, const I (&column)[2], const I (&row)[2]) {
    quadMajor_ = slice.quadMajor;
    const I leftFirst = column[0] < column[1];
    const I upperFirst = row[0] < row[1];
    x_ = smallest16(select(leftFirst, column[0], column[1]), lanes);
    y_ = smallest16(select(upperFirst, row[0], row[1]), lanes);
    if (quadMajor_) x_ &= ~3, y_ &= ~3;
    const uint32_t columns = quadMajor_ ? 8 : 32 / kBytes;
    const I farX = asUint(select(leftFirst, column[1], column[0]) - x_) >= columns;
    const I farY = asUint(select(upperFirst, row[1], row[0]) - y_) >= 8u;
    if (any((farX | farY) & lanes)) return false;
    quadMajor_ ? loadBlocks(slice) : loadRows(slice);
    return true;
  }

  PUMICE_INLINE U columnPart(const I& column) const {
    const U x = asUint(column - x_);
    if (!quadMajor_) return x * kBytes;
    return (x & 4u) << 4 | ((x & 1u) | (x & 2u) << 1) * kBytes;
  }
  PUMICE_INLINE U rowPart(const I& row) const {
    const U y = asUint(row - y_);
    if (!quadMajor_) return y * 32u;
    return (y & 4u) << 5 | ((y & 1u) << 1 | (y & 2u) << 2) * kBytes;
  }

  PUMICE_INLINE U texel(const U& place) const {
    const auto dword = reinterpret_cast<__m512i>((place >> 2).part[0]);
    const __m512i low = _mm512_permutex2var_epi32(word_[0], dword, word_[1]);
    const __m512i high = _mm512_permutex2var_epi32(word_[2], dword, word_[3]);
    U out;
    out.part[0] = reinterpret_cast<U::Part>(
        _mm512_mask_blend_epi32(_mm512_test_epi32_mask(dword, _mm512_set1_epi32(32)), low, high));
    return kBytes == 4 ? out : out >> ((place & 3u) << 3);
  }

 private:
  PUMICE_INLINE void loadRows(const HotSlice& slice) {
    const uint32_t here_B = static_cast<uint32_t>(slice.width - x_) * kBytes;
    const auto inRow = static_cast<__mmask32>(here_B >= 32 ? ~0u : (1u << here_B) - 1);
    const std::byte* first = slice.base + static_cast<uint32_t>(x_) * kBytes;
    const auto row = [&](int32_t n) PUMICE_LAMBDA {
      const int32_t y = y_ + n < slice.height ? y_ + n : slice.height - 1;  // rows that are not there have no texels
      return _mm256_maskz_loadu_epi8(inRow, first + uint64_t{slice.rowPitch_B} * static_cast<uint32_t>(y));
    };
    for (int32_t n = 0; n < 4; ++n)
      word_[n] = _mm512_maskz_inserti64x4(0xFF, _mm512_castsi256_si512(row(2 * n)), row(2 * n + 1), 1);
  }
  PUMICE_INLINE void loadBlocks(const HotSlice& slice) {
    const int32_t lastX = (slice.width - 1) >> 2;
    const int32_t lastY = (slice.height - 1) >> 2;
    for (int32_t n = 0; n < 4; ++n) {
      // Blocks that are not there have no texels.
      const int32_t x = (x_ >> 2) + (n & 1);
      const int32_t y = (y_ >> 2) + (n >> 1);
      const std::byte* block = slice.base + uint64_t{slice.rowPitch_B} * static_cast<uint32_t>(y < lastY ? y : lastY) +
                               static_cast<uint32_t>(x < lastX ? x : lastX) * (16 * kBytes);
      if constexpr (kBytes == 1) {
        word_[n] = _mm512_zextsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block)));
      } else if constexpr (kBytes == 2) {
        word_[n] = _mm512_zextsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block)));
      } else {
        word_[n] = _mm512_loadu_si512(block);
      }
    }
  }

  bool quadMajor_;
  int32_t x_, y_;
  __m512i word_[4];
};
#endif
