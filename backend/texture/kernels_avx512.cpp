// The loops for machines with AVX-512 (F, BW, DQ, VL).
#include "backend/texture/kernels_includes.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2,prefer-vector-width=512")
#endif

#define PUMICE_VARIANT avx512
#define PUMICE_WIDTH 16
#include "backend/texture/kernels.inl"

#if defined(__clang__)
#pragma clang attribute pop
#endif

namespace pumice::texture {

const Kernels kKernelsAvx512 = {avx512::read, avx512::sample, avx512::gather, avx512::queryLod, avx512::trySampleHot};

}  // namespace pumice::texture

#endif
