// The loops for every machine of the architecture.
#include "backend/texture/kernels_includes.h"

#define PUMICE_VARIANT baseline
#define PUMICE_WIDTH 4
#include "backend/texture/kernels.inl"

namespace pumice::texture {
namespace {

// A road for plain calls would take longer to compile than the machines are worth that have no more than this.
bool neverPlain(abi::ImageCall*) {
  return false;
}

}  // namespace

const Kernels kKernelsBaseline = {baseline::read, baseline::sample, baseline::gather, baseline::queryLod, neverPlain};

}  // namespace pumice::texture
