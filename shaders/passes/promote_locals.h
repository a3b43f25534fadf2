// Scalar replacement: private variables whose every access has a constant address become SSA values (results of
// constructs and loop parameters carry them). Small arrays that are indexed dynamically become selections.
#pragma once

#include "shaders/ir/ir.h"

namespace pumice::shader::passes {

// Removes what it can from fn.locals, too. Returns whether anything changed.
bool promoteLocals(ir::Function& fn);

}  // namespace pumice::shader::passes
