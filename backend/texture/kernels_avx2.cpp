// The loops for machines with AVX2 and FMA.
#include "backend/texture/kernels_includes.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c,bmi2")
#endif

#define PUMICE_VARIANT avx2
#define PUMICE_WIDTH 8
#include "backend/texture/kernels.inl"

#if defined(__clang__)
#pragma clang attribute pop
#endif

namespace pumice::texture {

const Kernels kKernelsAvx2 = {avx2::read, avx2::sample, avx2::gather, avx2::queryLod, avx2::trySampleHot};

}  // namespace pumice::texture

#endif
