// Random programs: machine code against the interpreter, bit for bit, at every subgroup size, vector width and gang
// width. (The long runs are shaders/random's; this is the smoke test beside the code.)
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "shaders/cache/code_arena.h"
#include "shaders/cache/elf_loader.h"
#include "shaders/codegen/codegen.h"
#include "shaders/codegen/target_features.h"
#include "shaders/ir/printer.h"
#include "shaders/random/machine.h"
#include "shaders/random/program.h"

namespace pumice::shader::codegen {
namespace {

TEST(GenerateRandom, MachineCodeEqualsInterpreter) {
  const char* from = std::getenv("PUMICE_RANDOM_FROM");
  const char* count = std::getenv("PUMICE_RANDOM_COUNT");
  const uint64_t first = from ? std::strtoull(from, nullptr, 10) : 0;
  const uint64_t n = count ? std::strtoull(count, nullptr, 10) : 12;
  for (uint64_t seed = first; seed < first + n; ++seed) {
    const random::Program p = random::generate(seed);
    random::Machine machine(p);
    const auto expected = machine.interpret(*p.fn, 20'000'000);
    if (!expected.error.empty()) continue;
    for (const uint32_t v : {4u, 8u, 16u}) {
      if (v > hostVectorLanes()) continue;
      for (const uint32_t k : {1u, 2u, 4u}) {
        TargetOptions target;
        target.vectorLanes = v;
        target.gangVectors = k;
        const CompileResult r = generateCode(*p.fn, p.slots, target);
        ASSERT_EQ(r.status, CompileStatus::kOk) << r.message << " seed " << seed;
        const auto loaded = cache::loadObject(cache::CodeArena::instance(), r.object.elf, kEntrySymbol);
        ASSERT_EQ(loaded.status, cache::LoadStatus::kOk) << loaded.message;
        const auto entry = reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry));
        const auto got = machine.execute(entry, r.object.info.frameBytes);
        EXPECT_EQ(machine.difference(expected, got), "") << "seed " << seed << " V " << v << " k " << k;
        cache::CodeArena::instance().free(loaded.code.block);
      }
    }
  }
}

}  // namespace
}  // namespace pumice::shader::codegen
