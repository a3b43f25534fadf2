// Makes a failing program small: delta debugging on the tree of its IR. Every candidate verifies; which of them still
// "fails" is the caller's to say (it should also refuse programs with data races: removing code can make them).
#pragma once

#include <cstdint>
#include <functional>

#include "shaders/random/program.h"

namespace pumice::shader::random {

struct ShrinkLimits {
  uint32_t maxAttempts = 20'000;
  double maxSeconds = 120;
};

// A copy with a function of its own.
Program copyProgram(const Program& p);

// Number of nodes in the tree: what shrinking reduces.
uint32_t nodeCount(const ir::Function& fn);

// The smallest program found for which `stillFails` holds; `program` itself must fail.
Program shrink(const Program& program, const std::function<bool(const Program&)>& stillFails,
               const ShrinkLimits& limits = {});

}  // namespace pumice::shader::random
