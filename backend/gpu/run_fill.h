// What a run covers becomes one element: clears of attachments in the middle of a pass.
#pragma once

#include <cstddef>

#include "backend/abi/fragment_abi.h"

namespace pumice::gpu {

/// `surface` is quad-major, of one layer; `element` has surface.elementBytes bytes. Inside a guarded call.
void fillRun(const abi::Surface& surface, const abi::FragmentRun& run, const std::byte* element);

}  // namespace pumice::gpu
