// The loops for every machine of the architecture.
#include "backend/raster/kernels_includes.h"

#define PUMICE_VARIANT baseline
#define PUMICE_WIDTH 4
#include "backend/raster/kernels.inl"

namespace pumice::raster {

const Kernels kKernelsBaseline = baseline::kAll;

}  // namespace pumice::raster
