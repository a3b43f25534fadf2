// The loops of the rasteriser, compiled for several instruction sets. All give the same results.
#pragma once

#include "backend/raster/coverage.h"
#include "backend/raster/setup.h"

namespace pumice::raster {

struct Kernels {
  CoverFunction* cover3[4];  // polygons of three edges; by log2 of the sample count
  CoverFunction* cover4[4];
  TransformFunction* transform;
  SetUpGroupFunction* setUpGroup;
};

extern const Kernels kKernelsBaseline;
extern const Kernels kKernelsAvx2;
extern const Kernels kKernelsAvx512;

// Those that this machine can run, best last.
uint32_t usableKernels(const Kernels* out[3]);
// The best.
const Kernels& kernels();

}  // namespace pumice::raster
