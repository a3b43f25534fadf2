// Moves what every iteration of a loop computes alike in front of the loop: pure operations, loads from read-only
// memory, and other loads if nothing in the loop can write what they read.
#pragma once

#include "shaders/ir/ir.h"

namespace pumice::shader::passes {

void hoistInvariants(ir::Function& fn);

}  // namespace pumice::shader::passes
