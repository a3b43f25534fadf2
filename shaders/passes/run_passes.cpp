#include "shaders/passes/passes.h"
#include "shaders/passes/promote_locals.h"
#include "shaders/passes/simplify.h"

namespace pumice::shader::passes {

void runPasses(ir::Function& fn, Tier) {
  promoteLocals(fn);
  simplify(fn);
  lowerMath(fn);
  simplify(fn);
}

}  // namespace pumice::shader::passes
