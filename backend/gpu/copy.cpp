#include "backend/gpu/copy.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "backend/trace/seeded_fault.h"

namespace pumice::gpu {
namespace {

constexpr size_t kLineBytes = 64;

size_t bytesToLine(uint64_t address, size_t size_B) {
  return std::min<size_t>((kLineBytes - address % kLineBytes) % kLineBytes, size_B);
}

}  // namespace

void copyBytes(uint64_t dstAddress, uint64_t srcAddress, uint64_t size_B, bool nonTemporal) {
  auto* dst = reinterpret_cast<std::byte*>(dstAddress);
  auto* src = reinterpret_cast<const std::byte*>(srcAddress);
  if (!nonTemporal) {
    std::memcpy(dst, src, size_B);
    return;
  }
  const size_t head_B = bytesToLine(dstAddress, size_B);
  std::memcpy(dst, src, head_B);
  dst += head_B;
  src += head_B;
  size_t left_B = size_B - head_B;
  for (; left_B >= kLineBytes; left_B -= kLineBytes, dst += kLineBytes, src += kLineBytes) {
    auto* from = reinterpret_cast<const __m128i*>(src);
    auto* to = reinterpret_cast<__m128i*>(dst);
    const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    const __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  if (PUMICE_SEEDED_FAULT("copy-drop-tail")) left_B = 0;
  std::memcpy(dst, src, left_B);
  // Non-temporal stores are not ordered by the release that tells of the span's completion.
  _mm_sfence();
}

void fillBytes(uint64_t dstAddress, uint64_t size_B, uint32_t value, bool nonTemporal) {
  auto* dst = reinterpret_cast<uint32_t*>(dstAddress);
  if (!nonTemporal) {
    std::fill_n(dst, size_B / 4, value);
    return;
  }
  const size_t head = bytesToLine(dstAddress, size_B) / 4;
  std::fill_n(dst, head, value);
  dst += head;
  size_t left = size_B / 4 - head;
  const __m128i four = _mm_set1_epi32(static_cast<int>(value));
  for (; left >= 16; left -= 16, dst += 16)
    for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(dst) + i, four);
  std::fill_n(dst, left, value);
  _mm_sfence();
}

}  // namespace pumice::gpu
