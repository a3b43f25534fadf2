// Image operations of the interpreter: one invocation's operands as a call of the texture unit.
#pragma once

#include <functional>

#include "backend/abi/shader_abi.h"
#include "shaders/ir/image_access.h"
#include "shaders/ir/ir.h"

namespace pumice::shader::ir {

// The address of a descriptor that can be read, or of the sampler in it: one of zeros if the set is not bound or the
// index is out of range.
uint64_t descriptorAddress(const abi::BindingSlot& slot, const abi::BindingState& state, uint64_t index, bool sampler);

// Runs the operation in lane 0; `operand` gives the bits of an operand. Results: up to four components.
void accessImage(const Inst& inst, abi::ImageCallFunction* textureUnit,
                 const std::function<uint64_t(const Value*)>& operand, uint64_t results[4]);

}  // namespace pumice::shader::ir
