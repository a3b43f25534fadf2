// Rewrites of single instructions.
#pragma once

#include "shaders/ir/ir.h"

namespace pumice::shader::passes {

// The value that the instruction's result equals for every input, if there is one already (an operand, a constant, a
// value behind an operand), else nullptr. Operands are up to date.
ir::Value* simplerValue(ir::Function& fn, const ir::Inst& inst);

// Turns the instruction into a cheaper one in place (division by a power of two into a shift …). Returns whether it
// did; then simplerValue() is worth another look.
bool makeCheaper(ir::Function& fn, ir::Inst& inst);

}  // namespace pumice::shader::passes
