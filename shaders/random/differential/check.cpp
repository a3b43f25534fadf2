#include "shaders/random/differential/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "shaders/cache/code_arena.h"
#include "shaders/cache/elf_loader.h"
#include "shaders/codegen/codegen.h"
#include "shaders/ir/clone.h"
#include "shaders/ir/verifier.h"
#include "shaders/passes/passes.h"
#include "shaders/random/machine.h"
#include "shaders/random/rng.h"

namespace pumice::shader::random {
namespace {

bool isStepLimit(const std::string& error) {
  return error.find("step limit") != std::string::npos;
}

Report checkSetting(const Program& program, Machine& machine, const Machine::Outcome& expected, const Setting& setting,
                    const CheckOptions& options) {
  const auto report = [&](Verdict v, std::string text) { return Report{v, setting, std::move(text)}; };
  const auto fn = ir::clone(*program.fn);
  if (!setting.passes) passes::lowerMath(*fn);
  const Machine::Outcome* right = &expected;
  Machine::Outcome afterPasses;
  if (setting.passes) {
    passes::runPasses(*fn, setting.target.tier);
    const std::string fault = ir::verify(*fn);
    if (!fault.empty()) return report(Verdict::kBrokenByPass, fault);
    afterPasses = machine.interpret(*fn, options.maxSteps * 4);
    if (!afterPasses.error.empty()) return report(Verdict::kBrokenByPass, afterPasses.error);
    std::string difference = program.contractable ? std::string() : machine.difference(expected, afterPasses);
    if (!difference.empty()) return report(Verdict::kBrokenByPass, std::move(difference));
    right = &afterPasses;

    // Code of one tier may replace the other's while a program runs: both must contract the same sums.
    const Tier other = setting.target.tier == Tier::kQuick ? Tier::kBetter : Tier::kQuick;
    const auto twin = ir::clone(*program.fn);
    passes::runPasses(*twin, other);
    const Machine::Outcome afterOther = machine.interpret(*twin, options.maxSteps * 4);
    if (!afterOther.error.empty()) return report(Verdict::kBrokenByPass, "other tier: " + afterOther.error);
    difference = machine.difference(afterPasses, afterOther);
    if (!difference.empty()) return report(Verdict::kTiersDiffer, std::move(difference));
  }

  const CompileResult compiled = codegen::generateCode(*fn, program.slots, setting.target);
  if (compiled.status != CompileStatus::kOk) {
    return report(Verdict::kNotCompiled,
                  fmt::format("status {}: {}", static_cast<int>(compiled.status), compiled.message));
  }
  auto& arena = cache::CodeArena::instance();
  const cache::LoadResult loaded = cache::loadObject(arena, compiled.object.elf, kEntrySymbol);
  if (loaded.status != cache::LoadStatus::kOk) return report(Verdict::kNotCompiled, "loader: " + loaded.message);
  const auto entry =
      reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry));  // data to code pointer
  const Machine::Outcome actual = machine.execute(entry, compiled.object.info.frameBytes);
  arena.free(loaded.code.block);
  std::string difference = machine.difference(*right, actual);
  if (!difference.empty()) return report(Verdict::kDifferent, std::move(difference));
  return {};
}

}  // namespace

std::string describe(const Setting& s) {
  return fmt::format("V={} k={} {}{}", s.target.vectorLanes, s.target.gangVectors,
                     s.target.tier == Tier::kQuick ? "quick" : "better", s.passes ? " passes" : "");
}

const char* name(Verdict v) {
  static constexpr const char* kNames[] = {"equal",          "skipped",      "different", "not compiled",
                                           "broken by pass", "tiers differ", "crashed",   "timeout"};
  return kNames[static_cast<size_t>(v)];
}

std::vector<Setting> allSettings() {
  std::vector<Setting> all;
  const uint32_t widest = codegen::resolveTarget({}).vectorLanes;
  for (const bool passes : {false, true}) {
    for (const uint32_t v : {4u, 8u, 16u}) {
      if (v > widest) continue;
      for (const uint32_t k : {1u, 2u, 3u, 4u, 8u, 0u}) {
        for (const Tier tier : {Tier::kBetter, Tier::kQuick}) {
          if (tier == Tier::kQuick && k > 1) continue;
          Setting s;
          s.target.vectorLanes = v;
          s.target.gangVectors = k;
          s.target.tier = tier;
          s.passes = passes;
          all.push_back(s);
        }
      }
    }
  }
  return all;
}

std::vector<Setting> someSettings(uint64_t seed, uint32_t count) {
  std::vector<Setting> all = allSettings();
  Rng rng(seed ^ 0x5e771465);
  for (size_t i = 0; i < all.size(); i++) {
    std::swap(all[i], all[i + rng.below(static_cast<uint32_t>(all.size() - i))]);
  }
  // The first three at three vector widths (where the machine has them).
  for (size_t i = 1; i < std::min<size_t>(3, all.size()); i++) {
    const auto isNew = [&](const Setting& s) {
      return std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i),
                          [&](const Setting& t) { return t.target.vectorLanes == s.target.vectorLanes; });
    };
    const auto found = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(i), all.end(), isNew);
    if (found != all.end()) std::swap(all[i], *found);
  }
  all.resize(std::min<size_t>(count, all.size()));
  return all;
}

Report check(const Program& program, std::span<const Setting> settings, const CheckOptions& options,
             const std::function<void(uint32_t)>& onStage) {
  Machine machine(program);
  const auto lowered = ir::clone(*program.fn);
  passes::lowerMath(*lowered);
  const Machine::Outcome expected = machine.interpret(*lowered, options.maxSteps, options.checkRaces);
  if (!expected.error.empty()) {
    const bool isExpected = isStepLimit(expected.error) || options.checkRaces;
    return {isExpected ? Verdict::kSkipped : Verdict::kBrokenByPass, {}, expected.error};
  }
  for (uint32_t i = 0; i < settings.size(); i++) {
    if (onStage) onStage(i);
    Setting s = settings[i];
    // Wider gangs only cost compile time: 128 lanes are more than any machine has registers for.
    const uint32_t lanes = std::max(program.fn->subgroupSize, s.target.vectorLanes);
    s.target.gangVectors = std::min(s.target.gangVectors, 128 / lanes);
    Report r = checkSetting(program, machine, expected, s, options);
    if (r.isFailure()) return r;
  }
  return {};
}

}  // namespace pumice::shader::random
