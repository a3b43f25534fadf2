// The loops for machines with AVX2 and FMA.
#include "backend/raster/kernels_includes.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,bmi2")
#endif

#define PUMICE_VARIANT avx2
#define PUMICE_WIDTH 8
#include "backend/raster/kernels.inl"

#if defined(__clang__)
#pragma clang attribute pop
#endif

namespace pumice::raster {

const Kernels kKernelsAvx2 = avx2::kAll;

}  // namespace pumice::raster

#endif
