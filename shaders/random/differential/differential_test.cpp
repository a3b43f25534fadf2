#include <gtest/gtest.h>

#include <chrono>

#include "shaders/cache/code_arena.h"
#include "shaders/cache/elf_loader.h"
#include "shaders/codegen/codegen.h"
#include "shaders/ir/clone.h"
#include "shaders/random/differential/check.h"
#include "shaders/random/machine.h"

namespace pumice::shader::random {
namespace {

// Maximum for minimum, everywhere (not the unsigned one, which bounds loops).
void mutate(ir::Region& r) {
  for (ir::Node* n : r.nodes) {
    if (n->tag == ir::Node::Tag::kInst) {
      auto* i = static_cast<ir::Inst*>(n);
      if (i->op == ir::Op::FMin) i->op = ir::Op::FMax;
      if (i->op == ir::Op::SMin) i->op = ir::Op::SMax;
    } else {
      mutate(static_cast<ir::Construct*>(n)->body);
      mutate(static_cast<ir::Construct*>(n)->otherwise);
    }
  }
}

class Differential : public testing::TestWithParam<uint32_t> {};

// One subgroup size: 1,000 programs, or 40 seconds on a slow machine. The nightly program pumice-random does many more,
// and shrinks failures.
TEST_P(Differential, MachineCodeAgreesWithTheInterpreter) {
  const auto start = std::chrono::steady_clock::now();
  const auto isOver = [&] { return std::chrono::steady_clock::now() - start > std::chrono::seconds(40); };
  GeneratorOptions options;
  options.subgroupSize = GetParam();
  options.maxStatements = 16;
  options.transcendental = GetParam() == 8;
  const uint64_t first = uint64_t{GetParam()} * 1'000'000;
  uint32_t skipped = 0;
  const uint64_t done = checkSeeds({first, 1000}, options, 1, {}, isOver, [&](uint64_t seed, const Report& r) {
    if (!r.isFailure()) {
      skipped++;
      return;
    }
    ADD_FAILURE() << name(r.verdict) << " at " << describe(r.setting) << ": " << r.text
                  << "\npumice-random --settings 1 --statements 16 --subgroup " << GetParam()
                  << (options.transcendental ? " --math" : "") << " --count 1 --seed " << seed << " shrinks it";
  });
  EXPECT_GT(done, 0u);  // how many depends on the machine
  EXPECT_LT(skipped * 20, done + 20);
}

// A test of the test: code that takes one operation for another must be noticed.
TEST(DifferentialItself, NoticesAWrongOperation) {
  uint32_t noticed = 0;
  for (uint64_t seed = 0; seed < 40; seed++) {
    const Program p = generate(seed, {16, 25, 64, false});
    const auto wrong = ir::clone(*p.fn);
    mutate(wrong->body->body);
    Machine machine(p);
    const auto expected = machine.interpret(*p.fn, 1'000'000);
    if (!expected.error.empty()) continue;
    const CompileResult compiled = codegen::generateCode(*wrong, p.slots, {});
    ASSERT_EQ(compiled.status, CompileStatus::kOk) << compiled.message;
    const auto loaded = cache::loadObject(cache::CodeArena::instance(), compiled.object.elf, kEntrySymbol);
    ASSERT_EQ(loaded.status, cache::LoadStatus::kOk) << loaded.message;
    const auto entry = reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry));
    if (!machine.difference(expected, machine.execute(entry, compiled.object.info.frameBytes)).empty()) noticed++;
    cache::CodeArena::instance().free(loaded.code.block);
  }
  EXPECT_GT(noticed, 2u);
}

INSTANTIATE_TEST_SUITE_P(SubgroupSizes, Differential, testing::Values(4u, 8u, 16u, 32u));

}  // namespace
}  // namespace pumice::shader::random
