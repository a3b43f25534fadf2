#include <gtest/gtest.h>

#include "shaders/ir/clone.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/verifier.h"
#include "shaders/random/machine.h"
#include "shaders/random/program.h"

namespace pumice::shader::random {
namespace {

constexpr uint64_t kMaxSteps = 20'000'000;

TEST(RandomPrograms, VerifyRunWithoutRacesAndRepeat) {
  uint32_t tooLong = 0;
  for (uint64_t seed = 0; seed < 150; seed++) {
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
  for (uint64_t seed = 0; seed < 60; seed++) {
    const Program p = generate(seed);
    const auto copy = ir::clone(*p.fn);
    ASSERT_EQ(ir::verify(*copy), "");
    Machine machine(p);
    EXPECT_EQ(machine.difference(machine.interpret(*p.fn, kMaxSteps), machine.interpret(*copy, kMaxSteps)), "");
  }
}

}  // namespace
}  // namespace pumice::shader::random
