// Rows of elements into and out of quad-major blocks (backend/abi/image_layout.h).
//
// Inside a block, the rows 2n and 2n+1 are the half n: eight elements, of which pairs alternate between the two rows.
// So two rows of elements become one run of half blocks by interleaving pairs, and each row by itself can be read and
// written in pieces of one pair, with nothing of the other row touched.
#pragma once

#include <immintrin.h>

#include <cstring>

#include "backend/gpu/surface.h"

namespace pumice::gpu {

template <size_t kBytes>
struct QuadRows {
  static constexpr size_t kPair = 2 * kBytes;
  static constexpr size_t kRow = 4 * kBytes;   // of one block
  static constexpr size_t kHalf = 8 * kBytes;  // of one block

  static __m128i load(const std::byte* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }
  static void store(std::byte* at, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(at), v); }

  /// Past the caches, or not. `at` is aligned to 16 bytes then.
  template <bool kStream>
  static void put(std::byte* at, __m128i v) {
    if constexpr (kStream) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(at), v);
    } else {
      store(at, v);
    }
  }
  template <bool kStream>
  static void putPair(std::byte* at, const std::byte* from) {
    for (size_t i = 0; i < kPair; i += 16) put<kStream>(at + i, load(from + i));
  }

  /// A whole block of four rows, `pitch_B` apart.
  template <bool kStream>
  static void interleaveBlock(std::byte* block, const std::byte* row, size_t pitch_B) {
    const std::byte *row1 = row + pitch_B, *row2 = row + 2 * pitch_B, *row3 = row + 3 * pitch_B;
    if constexpr (kBytes == 1) {
      int32_t r[4];
      std::memcpy(&r[0], row, 4);
      std::memcpy(&r[1], row1, 4);
      std::memcpy(&r[2], row2, 4);
      std::memcpy(&r[3], row3, 4);
      const __m128i upper = _mm_unpacklo_epi16(_mm_cvtsi32_si128(r[0]), _mm_cvtsi32_si128(r[1]));
      const __m128i lower = _mm_unpacklo_epi16(_mm_cvtsi32_si128(r[2]), _mm_cvtsi32_si128(r[3]));
      put<kStream>(block, _mm_unpacklo_epi64(upper, lower));
    } else if constexpr (kBytes == 2) {
      const auto half = [](const std::byte* at) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)); };
      put<kStream>(block, _mm_unpacklo_epi32(half(row), half(row1)));
      put<kStream>(block + 16, _mm_unpacklo_epi32(half(row2), half(row3)));
    } else if constexpr (kBytes == 4) {
      const __m128i a = load(row), b = load(row1), c = load(row2), d = load(row3);
      put<kStream>(block, _mm_unpacklo_epi64(a, b));
      put<kStream>(block + 16, _mm_unpackhi_epi64(a, b));
      put<kStream>(block + 32, _mm_unpacklo_epi64(c, d));
      put<kStream>(block + 48, _mm_unpackhi_epi64(c, d));
    } else {
      for (size_t half = 0; half < 2; ++half, row = row2, row1 = row3, block += kHalf) {
        putPair<kStream>(block, row);
        putPair<kStream>(block + kPair, row1);
        putPair<kStream>(block + 2 * kPair, row + kPair);
        putPair<kStream>(block + 3 * kPair, row1 + kPair);
      }
    }
  }

  /// The way back, for elements of four bytes and more.
  static void streamBlockToRows(const std::byte* block, std::byte* row, size_t pitch_B) {
    for (size_t half = 0; half < 2; ++half, row += 2 * pitch_B, block += kHalf) {
      std::byte* row1 = row + pitch_B;
      if constexpr (kBytes == 4) {
        const __m128i a = load(block), b = load(block + 16);
        put<true>(row, _mm_unpacklo_epi64(a, b));
        put<true>(row1, _mm_unpackhi_epi64(a, b));
      } else {
        putPair<true>(row, block);
        putPair<true>(row1, block + kPair);
        putPair<true>(row + kPair, block + 2 * kPair);
        putPair<true>(row1 + kPair, block + 3 * kPair);
      }
    }
  }

  /// Four elements of both rows.
  static void interleave(std::byte* half, const std::byte* row0, const std::byte* row1) {
    if constexpr (kBytes == 1) {
      int32_t a, b;
      std::memcpy(&a, row0, 4);
      std::memcpy(&b, row1, 4);
      _mm_storel_epi64(reinterpret_cast<__m128i*>(half),
                       _mm_unpacklo_epi16(_mm_cvtsi32_si128(a), _mm_cvtsi32_si128(b)));
    } else if constexpr (kBytes == 2) {
      const __m128i a = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row0));
      const __m128i b = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row1));
      store(half, _mm_unpacklo_epi32(a, b));
    } else if constexpr (kBytes == 4) {
      const __m128i a = load(row0), b = load(row1);
      store(half, _mm_unpacklo_epi64(a, b));
      store(half + 16, _mm_unpackhi_epi64(a, b));
    } else {
      std::memcpy(half, row0, kPair);
      std::memcpy(half + kPair, row1, kPair);
      std::memcpy(half + 2 * kPair, row0 + kPair, kPair);
      std::memcpy(half + 3 * kPair, row1 + kPair, kPair);
    }
  }

  static void separate(const std::byte* half, std::byte* row0, std::byte* row1) {
    if constexpr (kBytes == 1) {
      const __m128i v = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(half));
      const __m128i rows = _mm_shufflelo_epi16(v, _MM_SHUFFLE(3, 1, 2, 0));
      const int64_t both = _mm_cvtsi128_si64(rows);
      std::memcpy(row0, &both, 4);
      std::memcpy(row1, reinterpret_cast<const std::byte*>(&both) + 4, 4);
    } else if constexpr (kBytes == 2) {
      const __m128i rows = _mm_shuffle_epi32(load(half), _MM_SHUFFLE(3, 1, 2, 0));
      _mm_storel_epi64(reinterpret_cast<__m128i*>(row0), rows);
      _mm_storel_epi64(reinterpret_cast<__m128i*>(row1), _mm_unpackhi_epi64(rows, rows));
    } else if constexpr (kBytes == 4) {
      const __m128i a = load(half), b = load(half + 16);
      store(row0, _mm_unpacklo_epi64(a, b));
      store(row1, _mm_unpackhi_epi64(a, b));
    } else {
      std::memcpy(row0, half, kPair);
      std::memcpy(row1, half + kPair, kPair);
      std::memcpy(row0 + kPair, half + 2 * kPair, kPair);
      std::memcpy(row1 + kPair, half + 3 * kPair, kPair);
    }
  }

  /// `whole(block, offset_B)` for each block that the run [x, x + width) covers wholly across, `single(x, offset_B)`
  /// for each element of the others; offsets are into the linear row.
  template <typename Single, typename Whole>
  static void run(uint32_t x, uint32_t width, Single&& single, Whole&& whole) {
    size_t at = 0;
    for (; width != 0 && x % 4 != 0; ++x, --width, at += kBytes) single(x, at);
    for (; width >= 4; x += 4, width -= 4, at += kRow) whole(x / 4, at);
    for (; width != 0; ++x, --width, at += kBytes) single(x, at);
  }

  static void writeRow(const Plane& to, uint32_t x, uint32_t y, uint32_t width, const std::byte* from) {
    std::byte* row = to.element(0, y);
    run(
        x, width, [&](uint32_t at, size_t o) { std::memcpy(to.element(at, y), from + o, kBytes); },
        [&](size_t block, size_t o) {
          std::byte* pairs = row + block * to.blockPitch_B;
          std::memcpy(pairs, from + o, kPair);
          std::memcpy(pairs + 2 * kPair, from + o + kPair, kPair);
        });
  }

  static void readRow(const Plane& from, uint32_t x, uint32_t y, uint32_t width, std::byte* to) {
    const std::byte* row = from.element(0, y);
    run(
        x, width, [&](uint32_t at, size_t o) { std::memcpy(to + o, from.element(at, y), kBytes); },
        [&](size_t block, size_t o) {
          const std::byte* pairs = row + block * from.blockPitch_B;
          std::memcpy(to + o, pairs, kPair);
          std::memcpy(to + o + kPair, pairs + 2 * kPair, kPair);
        });
  }

  /// Rows y and y + 1, y even.
  static void writeTwoRows(const Plane& to, uint32_t x, uint32_t y, uint32_t width, const std::byte* row0,
                           const std::byte* row1) {
    std::byte* halves = to.element(0, y);
    run(
        x, width,
        [&](uint32_t at, size_t o) {
          std::byte* first = to.element(at, y);
          std::memcpy(first, row0 + o, kBytes);
          std::memcpy(first + kPair, row1 + o, kBytes);
        },
        [&](size_t block, size_t o) { interleave(halves + block * to.blockPitch_B, row0 + o, row1 + o); });
  }

  /// Rows y to y + 3, y a multiple of 4; `row` is the first, the others follow at `pitch_B`.
  template <bool kStream>
  static void writeFourRows(const Plane& to, uint32_t x, uint32_t y, uint32_t width, const std::byte* row,
                            size_t pitch_B) {
    std::byte* blocks = to.element(0, y);
    run(
        x, width,
        [&](uint32_t at, size_t o) {
          for (uint32_t i = 0; i < 4; ++i) std::memcpy(to.element(at, y + i), row + i * pitch_B + o, kBytes);
        },
        [&](size_t block, size_t o) { interleaveBlock<kStream>(blocks + block * to.blockPitch_B, row + o, pitch_B); });
  }

  /// Whether the rows can be written by streamFourRows: elements of whole blocks begin at multiples of 16 bytes.
  static bool canStreamRows(uint32_t x, const std::byte* row, size_t pitch_B) {
    const size_t head_B = (4 - x % 4) % 4 * kBytes;
    return kBytes >= 4 && (reinterpret_cast<uintptr_t>(row) + head_B) % 16 == 0 && pitch_B % 16 == 0;
  }
  static void streamFourRows(const Plane& from, uint32_t x, uint32_t y, uint32_t width, std::byte* row,
                             size_t pitch_B) {
    if constexpr (kBytes >= 4) {
      const std::byte* blocks = from.element(0, y);
      run(
          x, width,
          [&](uint32_t at, size_t o) {
            for (uint32_t i = 0; i < 4; ++i) std::memcpy(row + i * pitch_B + o, from.element(at, y + i), kBytes);
          },
          [&](size_t block, size_t o) { streamBlockToRows(blocks + block * from.blockPitch_B, row + o, pitch_B); });
    }
  }

  static void readTwoRows(const Plane& from, uint32_t x, uint32_t y, uint32_t width, std::byte* row0, std::byte* row1) {
    const std::byte* halves = from.element(0, y);
    run(
        x, width,
        [&](uint32_t at, size_t o) {
          const std::byte* first = from.element(at, y);
          std::memcpy(row0 + o, first, kBytes);
          std::memcpy(row1 + o, first + kPair, kBytes);
        },
        [&](size_t block, size_t o) { separate(halves + block * from.blockPitch_B, row0 + o, row1 + o); });
  }
};

}  // namespace pumice::gpu
