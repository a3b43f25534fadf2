// Every pass on random programs: the interpreter must leave the same memory before and after.
#include <gtest/gtest.h>

#include "shaders/ir/printer.h"
#include "shaders/ir/verifier.h"
#include "shaders/passes/fold_addresses.h"
#include "shaders/passes/hoist.h"
#include "shaders/passes/promote_locals.h"
#include "shaders/passes/simplify.h"
#include "shaders/passes/unroll.h"
#include "shaders/random/machine.h"
#include "shaders/random/program.h"

namespace pumice::shader::passes {
namespace {

constexpr uint64_t kSeeds = 300;
constexpr uint64_t kMaxSteps = 1'500'000;  // longer programs are skipped

struct NamedPass {
  const char* name;
  void (*run)(ir::Function&);
};

constexpr NamedPass kPasses[] = {
    {"removeDeadCode", removeDeadCode},
    {"simplify", simplify},
    {"promoteLocals", [](ir::Function& fn) { promoteLocals(fn); }},
    {"hoistInvariants", hoistInvariants},
    {"foldAddresses", foldAddresses},
    {"unrollLoops", [](ir::Function& fn) { unrollLoops(fn); }},
    {"all",
     [](ir::Function& fn) {
       promoteLocals(fn);
       simplify(fn);
       unrollLoops(fn);
       foldAddresses(fn);
       hoistInvariants(fn);
       promoteLocals(fn);
       simplify(fn);
     }},
};

TEST(RandomPasses, KeepMeaning) {
  uint64_t ran = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    random::GeneratorOptions options;
    options.maxInvocations = 32;
    options.maxStatements = 40;
    const random::Program program = random::generate(seed, options);
    random::Machine machine(program);
    const auto before = machine.interpret(*program.fn, kMaxSteps);
    if (!before.error.empty()) continue;
    ++ran;
    for (const NamedPass& pass : kPasses) {
      SCOPED_TRACE(std::string(pass.name) + ", seed " + std::to_string(seed));
      const random::Program changed = random::generate(seed, options);
      pass.run(*changed.fn);
      ASSERT_EQ(ir::verify(*changed.fn), "") << ir::print(*program.fn) << "\n" << ir::print(*changed.fn);
      const auto after = machine.interpret(*changed.fn, 2 * kMaxSteps);
      ASSERT_EQ(after.error, "");
      ASSERT_EQ(machine.difference(before, after), "") << ir::print(*program.fn) << "\n" << ir::print(*changed.fn);
    }
  }
  EXPECT_GT(ran, kSeeds / 2);
}

}  // namespace
}  // namespace pumice::shader::passes
