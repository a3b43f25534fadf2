// Moves constant parts of index computations into the offset and scale of memory operations, where the ranges of the
// values prove that the sum or product cannot wrap. Addresses then differ by constants that machine instructions
// encode.
#pragma once

#include "shaders/ir/ir.h"

namespace pumice::shader::passes {

void foldAddresses(ir::Function& fn);

}  // namespace pumice::shader::passes
