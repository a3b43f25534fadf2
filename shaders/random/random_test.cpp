#include <gtest/gtest.h>

#include <functional>

#include "shaders/ir/clone.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/verifier.h"
#include "shaders/random/machine.h"
#include "shaders/random/program.h"
#include "shaders/random/shrinker.h"

namespace pumice::shader::random {
namespace {

constexpr uint64_t kMaxSteps = 20'000'000;

TEST(RandomPrograms, VerifyRunWithoutRacesAndRepeat) {
  uint32_t tooLong = 0;
  for (uint64_t seed = 0; seed < 100; seed++) {
    const Program p = generate(seed);
    const std::string fault = ir::verify(*p.fn);
    ASSERT_EQ(fault, "") << "seed " << seed << "\n" << ir::print(*p.fn);
    Machine machine(p);
    const auto first = machine.interpret(*p.fn, kMaxSteps, true);
    if (first.error.find("step limit") != std::string::npos) {
      tooLong++;
      continue;
    }
    ASSERT_EQ(first.error, "") << "seed " << seed;
    EXPECT_EQ(machine.difference(first, machine.interpret(*p.fn, kMaxSteps)), "") << "seed " << seed;
  }
  EXPECT_LT(tooLong, 4u);
}

TEST(RandomPrograms, AreTheSameFromTheSameSeed) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    EXPECT_EQ(ir::print(*generate(seed).fn), ir::print(*generate(seed).fn));
  }
  EXPECT_NE(ir::print(*generate(1).fn), ir::print(*generate(2).fn));
}

TEST(RandomPrograms, CopiesBehaveAlike) {
  for (uint64_t seed = 0; seed < 40; seed++) {
    const Program p = generate(seed);
    const auto copy = ir::clone(*p.fn);
    ASSERT_EQ(ir::verify(*copy), "");
    Machine machine(p);
    EXPECT_EQ(machine.difference(machine.interpret(*p.fn, kMaxSteps), machine.interpret(*copy, kMaxSteps)), "");
  }
}

void forEachInst(ir::Region& r, const std::function<void(ir::Inst&)>& f) {
  for (ir::Node* n : r.nodes) {
    if (n->tag == ir::Node::Tag::kInst) {
      f(*static_cast<ir::Inst*>(n));
    } else {
      forEachInst(static_cast<ir::Construct*>(n)->body, f);
      forEachInst(static_cast<ir::Construct*>(n)->otherwise, f);
    }
  }
}

// The "fault": FMin is taken for FMax. Small programs that show it need hardly more than a FMin and a store.
TEST(Shrinker, FindsTheFault) {
  const auto fails = [](const Program& p) {
    const auto wrong = ir::clone(*p.fn);
    forEachInst(wrong->body->body, [](ir::Inst& i) {
      if (i.op == ir::Op::FMin) i.op = ir::Op::FMax;
    });
    Machine machine(p);
    const auto right = machine.interpret(*p.fn, 500'000, true);
    return right.error.empty() && !machine.difference(right, machine.interpret(*wrong, kMaxSteps)).empty();
  };
  uint32_t shrunk = 0;
  for (uint64_t seed = 1; seed < 400 && shrunk < 3; seed++) {
    GeneratorOptions options;
    options.maxInvocations = 64;
    const Program p = generate(seed, options);
    if (!fails(p)) continue;
    const Program small = shrink(p, fails, {3000, 20});
    EXPECT_TRUE(fails(small));
    EXPECT_LT(nodeCount(*small.fn), 14u) << "seed " << seed << ", from " << nodeCount(*p.fn) << " nodes\n"
                                         << ir::print(*small.fn);
    shrunk++;
  }
  EXPECT_EQ(shrunk, 3u);
}

}  // namespace
}  // namespace pumice::shader::random
