// `if (i >= n) return; rest` becomes `if (i >= n) return; else rest`.
//
// The lanes that run `rest` are then exactly those of one side of an If, which the code generator can decide for a
// whole gang at once and give a copy without masks. Not done in front of a workgroup barrier, which would end up under
// the condition.
#pragma once

#include "shaders/ir/ir.h"

namespace pumice::shader::passes {

// Returns whether anything was moved.
bool sinkTails(ir::Function& fn);

}  // namespace pumice::shader::passes
