// Checks every rule that ir.h and ops.def state: types, dominance, terminators, branch targets enclose the branch,
// operand counts of branches and results. Run after the reader and after every pass in debug builds, after the reader
// always.
#pragma once

#include <string>

#include "shaders/ir/ir.h"

namespace pumice::shader::ir {

// Empty if the function is well formed, else the first fault with the printed instruction.
std::string verify(const Function& fn);

}  // namespace pumice::shader::ir
