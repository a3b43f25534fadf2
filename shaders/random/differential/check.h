// One random program: interpreter against machine code, bit for bit, in several settings of the code generator.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "shaders/compiler.h"
#include "shaders/random/program.h"

namespace pumice::shader::random {

// One way to compile a program.
struct Setting {
  TargetOptions target;
  bool passes = false;  // runs the pass pipeline first; the interpreter then runs its result as well
};
std::string describe(const Setting& s);

// Every V that this machine can run x k x tier, with and without passes.
std::vector<Setting> allSettings();
// `count` of them, by seed; three or more are at every V.
std::vector<Setting> someSettings(uint64_t seed, uint32_t count);

enum class Verdict : uint8_t {
  kEqual,
  kSkipped,       // too long for the interpreter, or (with checkRaces) not a program that has one right result
  kDifferent,     // the machine code leaves something else in memory
  kNotCompiled,   // code generation or the loader failed
  kBrokenByPass,  // the result of the passes does not verify or behaves differently
  kTiersDiffer,   // the passes of the two tiers leave different bits
  kCrashed,       // a signal, only found in isolation
  kTimeout,       // as well
};
struct Report {
  Verdict verdict = Verdict::kEqual;
  Setting setting;  // of the failure
  std::string text;
  bool isFailure() const { return verdict >= Verdict::kDifferent; }
};
const char* name(Verdict v);

struct CheckOptions {
  uint64_t maxSteps = 20'000'000;
  bool checkRaces = false;  // for shrinking
};

// `onStage` is told what comes next, so that a crash can be placed: number of the setting.
Report check(const Program& program, std::span<const Setting> settings, const CheckOptions& options,
             const std::function<void(uint32_t)>& onStage = {});

// The same in a process of its own, killed after `timeout_s`.
Report checkIsolated(const Program& program, std::span<const Setting> settings, const CheckOptions& options,
                     double timeout_s);

// Checks programs of seeds [first, first + count) in one child process; restarts behind a failure. Calls `onReport` for
// each seed that is not equal. Returns the number of seeds done (less than count if `isOver` said so).
struct SeedRange {
  uint64_t first, count;
};
using SeedReport = std::function<void(uint64_t seed, const Report&)>;
uint64_t checkSeeds(SeedRange seeds, const GeneratorOptions& generator, uint32_t settingsPerSeed,
                    const CheckOptions& options, const std::function<bool()>& isOver, const SeedReport& onReport);

}  // namespace pumice::shader::random
