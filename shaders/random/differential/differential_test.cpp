#include <gtest/gtest.h>

#include <chrono>

#include "shaders/ir/printer.h"
#include "shaders/random/differential/check.h"

namespace pumice::shader::random {
namespace {

class Differential : public testing::TestWithParam<uint32_t> {};

// One subgroup size for half a minute; the nightly program pumice-random does many more, and shrinks failures.
TEST_P(Differential, MachineCodeAgreesWithTheInterpreter) {
  const auto start = std::chrono::steady_clock::now();
  const auto isOver = [&] { return std::chrono::steady_clock::now() - start > std::chrono::seconds(30); };
  GeneratorOptions options;
  options.subgroupSize = GetParam();
  options.maxStatements = 25;
  options.transcendental = GetParam() == 8;
  const uint64_t first = uint64_t{GetParam()} * 1'000'000;
  uint32_t skipped = 0;
  const uint64_t done = checkSeeds({first, 100'000}, options, 1, {}, isOver, [&](uint64_t seed, const Report& r) {
    if (!r.isFailure()) {
      skipped++;
      return;
    }
    ADD_FAILURE() << name(r.verdict) << " at " << describe(r.setting) << ": " << r.text
                  << "\npumice-random --settings 1 --statements 25 --subgroup " << GetParam()
                  << (options.transcendental ? " --math" : "") << " --count 1 --seed " << seed << " shrinks it";
  });
  EXPECT_GT(done, 0u);  // how many depends on the machine
  EXPECT_LT(skipped * 20, done + 20);
}

INSTANTIATE_TEST_SUITE_P(SubgroupSizes, Differential, testing::Values(4u, 8u, 16u, 32u));

}  // namespace
}  // namespace pumice::shader::random
