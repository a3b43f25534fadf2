#include "backend/raster/kernels.h"

namespace pumice::raster {

uint32_t usableKernels(const Kernels* out[3]) {
  uint32_t count = 0;
  out[count++] = &kKernelsBaseline;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    out[count++] = &kKernelsAvx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
      out[count++] = &kKernelsAvx512;
    }
  }
#endif
  return count;
}

const Kernels& kernels() {
  static const Kernels* const best = [] {
    const Kernels* usable[3];
    return usable[usableKernels(usable) - 1];
  }();
  return *best;
}

}  // namespace pumice::raster
