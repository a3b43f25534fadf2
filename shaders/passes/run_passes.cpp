#include "shaders/passes/contract.h"
#include "shaders/passes/fold_addresses.h"
#include "shaders/passes/hoist.h"
#include "shaders/passes/passes.h"
#include "shaders/passes/promote_locals.h"
#include "shaders/passes/simplify.h"
#include "shaders/passes/sink_tails.h"
#include "shaders/passes/unroll.h"

namespace pumice::shader::passes {

void runPasses(ir::Function& fn, Tier tier) {
  promoteLocals(fn);
  simplify(fn);
  // Before lowerMath: its expansions rely on the rounding of each of their operations. Before unrolling: a product that
  // travels from one iteration to the next must not be contracted in one tier alone, as code may be replaced between
  // two dispatches and has to leave the same bits.
  contract(fn);
  if (tier == Tier::kBetter && unrollLoops(fn)) {
    simplify(fn);  // makes addresses of private arrays constant
    if (promoteLocals(fn)) simplify(fn);
  }
  lowerMath(fn);
  simplify(fn);
  foldAddresses(fn);
  hoistInvariants(fn);
  simplify(fn);  // merges what was hoisted and drops what the addresses needed
  sinkTails(fn);
}

}  // namespace pumice::shader::passes
