#include "backend/gpu/pattern.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pumice::gpu {

void Pattern::fillAnywhere(const std::byte* pattern, std::byte* to, uint64_t size_B) {
  for (; size_B >= kBytes; size_B -= kBytes, to += kBytes) std::memcpy(to, pattern, kBytes);
  std::memcpy(to, pattern, size_B);
}

#if defined(__x86_64__)
// A store of a whole line does not read it first: three times as fast as parts of it, where the memory is not in the
// first-level cache.
__attribute__((target("avx512f"))) void Pattern::fillAvx512(const std::byte* pattern, std::byte* to, uint64_t size_B) {
  const __m512i line[3] = {_mm512_load_si512(pattern), _mm512_load_si512(pattern + 64),
                           _mm512_load_si512(pattern + 128)};
  for (; size_B >= kBytes; size_B -= kBytes, to += kBytes)
    for (size_t i = 0; i < 3; ++i) _mm512_storeu_si512(to + 64 * i, line[i]);
  for (; size_B >= 64; size_B -= 64, to += 64, pattern += 64) _mm512_storeu_si512(to, _mm512_load_si512(pattern));
  std::memcpy(to, pattern, size_B);
}
#endif

Pattern::Fill* Pattern::best() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return fillAvx512;
#endif
  return fillAnywhere;
}

Pattern::Fill* const Pattern::fill_ = Pattern::best();

}  // namespace pumice::gpu
