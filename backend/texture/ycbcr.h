// Sampling with a Y'CbCr conversion: luma and chroma are views of their own, sampled by the ordinary kernels; what
// comes here is where chroma lies between them and what becomes of the numbers. Vulkan specification: "Chroma
// Reconstruction", "Sampler Y'CbCr Conversion".
#pragma once

#include "backend/texture/access.h"

namespace pumice::texture {

/// kSample of lanes that share descriptors; sampler.conversion is not zero. Any thread.
void sampleConverted(abi::ImageCall* call, uint32_t lanes, const View& view, const Sampler& sampler,
                     const Kernels& kernels);

}  // namespace pumice::texture
