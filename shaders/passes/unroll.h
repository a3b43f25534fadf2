// Full unrolling of loops with a constant number of iterations, innermost first.
#pragma once

#include <cstdint>

#include "shaders/ir/ir.h"

namespace pumice::shader::passes {

// Instructions that a loop may grow to.
struct UnrollLimits {
  uint32_t plain = 256;
  // If it indexes private arrays with its counter (they become values afterwards) or the shader asks for unrolling.
  uint32_t wanted = 4096;
  // All loops of a function together.
  uint32_t total = 16384;
};

// Returns whether anything was unrolled. The copies still hold constant conditions: simplify() afterwards.
bool unrollLoops(ir::Function& fn, const UnrollLimits& limits = {});

}  // namespace pumice::shader::passes
