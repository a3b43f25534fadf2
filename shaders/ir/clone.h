// A deep copy of a function, to keep one before a pass changes it or to try a change out.
#pragma once

#include <memory>

#include "shaders/ir/ir.h"

namespace pumice::shader::ir {

// Copies what the tree of `fn` reaches; nodes that were taken out of it are dropped, and values are numbered anew.
// `fn` must be well formed.
std::unique_ptr<Function> clone(const Function& fn);

}  // namespace pumice::shader::ir
