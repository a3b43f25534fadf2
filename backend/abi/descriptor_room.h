// Where the parts of a descriptor lie in the room that its binding gives it (BindingSlot::stride_B).
#pragma once

#include <cstdint>

#include "backend/abi/descriptor.h"

namespace pumice::abi {

// A sampler lies at the end, so behind the image of a combined one: a shader may declare the two parts as variables of
// their own, and then only the binding's layout knows what else is there.
constexpr uint32_t samplerOffset_B(uint32_t stride_B) {
  constexpr auto kSize_B = static_cast<uint32_t>(sizeof(SamplerDescriptor));
  return stride_B > kSize_B ? stride_B - kSize_B : 0;
}

}  // namespace pumice::abi
