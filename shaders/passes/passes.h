// The pipeline of IR passes. Each pass stands in its own pair of files; this header is what the compiler calls.
#pragma once

#include "shaders/compiler.h"
#include "shaders/ir/ir.h"

namespace pumice::shader::passes {

// Expands every transcendental operation into basic ones (the same on every machine, so interpreter and generated code
// agree bit for bit), within the precision that Vulkan's "Precision of core SPIR-V instructions" asks.
void lowerMath(ir::Function& fn);

// All passes in their order for a tier: scalar replacement of locals, simplification, contraction, unrolling,
// lowerMath, simplification, hoisting. Afterwards the function verifies and is ready for code generation. What the
// function computes is the same in every tier, bit for bit.
void runPasses(ir::Function& fn, Tier tier);

}  // namespace pumice::shader::passes
