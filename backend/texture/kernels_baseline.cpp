// The loops for every machine of the architecture.
#include "backend/texture/kernels_includes.h"

#define PUMICE_VARIANT baseline
#define PUMICE_WIDTH 4
#include "backend/texture/kernels.inl"

namespace pumice::texture {

const Kernels kKernelsBaseline = {baseline::read, baseline::sample, baseline::gather, baseline::queryLod};

}  // namespace pumice::texture
