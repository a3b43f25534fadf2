// Constant folding, algebra that is exact under the semantics of ops.def, common subexpressions (also of loads, while
// nothing can have written), removal of constructs whose way is known, and of everything that nobody uses.
#pragma once

#include "shaders/ir/ir.h"

namespace pumice::shader::passes {

void simplify(ir::Function& fn);

// Only the last step: drops unused instructions, results, parameters and constructs without effect. Loops stay, because
// they may not terminate.
void removeDeadCode(ir::Function& fn);

}  // namespace pumice::shader::passes
