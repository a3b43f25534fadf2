// pumice-random: runs random shaders through interpreter and machine code and prints a shrunk module for each one that
// differs. Exit status 1 if any did.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "shaders/ir/printer.h"
#include "shaders/random/differential/check.h"
#include "shaders/random/shrinker.h"

namespace pumice::shader::random {
namespace {

struct Options {
  uint64_t seed = 0, count = 1000;
  double seconds = 0;
  uint32_t settings = 2, maxFailures = 10;
  double shrinkSeconds = 60;
  bool print = false, all = false;
  GeneratorOptions generator;
};

void printShrunk(uint64_t seed, const Report& found, const Options& o) {
  const Program program = generate(seed, o.generator);
  // Short, so that endless loops that shrinking makes are given up soon; race-free, so that there is one right result.
  const CheckOptions quick{2'000'000, true};
  const Setting settings[] = {found.setting};
  const double timeout_s = found.verdict == Verdict::kTimeout ? 3 : 20;
  const auto fails = [&](const Program& p) {
    const Report r = checkIsolated(p, settings, quick, timeout_s);
    return r.verdict == found.verdict;
  };
  if (!fails(program)) {
    fmt::print("  (does not fail again alone, or is too long to shrink; run with --print to see it)\n");
    return;
  }
  const Program small = shrink(program, fails, {5000, o.shrinkSeconds});
  const Report again = checkIsolated(small, settings, quick, timeout_s);
  fmt::print("  shrunk from {} to {} nodes; workgroups {} to {} of {}x{}x{}; {}\n{}\n", nodeCount(*program.fn),
             nodeCount(*small.fn), small.groupBegin, small.groupEnd, small.groupCount[0], small.groupCount[1],
             small.groupCount[2], again.text, ir::print(*small.fn));
}

int run(const Options& o) {
  if (o.print) {
    fmt::print("{}", ir::print(*generate(o.seed, o.generator).fn));
    return 0;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  uint32_t failures = 0, skipped = 0;
  const auto isOver = [&] { return failures >= o.maxFailures || (o.seconds > 0 && elapsed_s() > o.seconds); };
  const uint32_t settings = o.all ? static_cast<uint32_t>(allSettings().size()) : o.settings;
  const uint64_t done =
      checkSeeds({o.seed, o.count}, o.generator, settings, {}, isOver, [&](uint64_t seed, const Report& r) {
        if (!r.isFailure()) {
          skipped++;
          return;
        }
        failures++;
        fmt::print("seed {}: {} at {}: {}\n", seed, name(r.verdict), describe(r.setting), r.text);
        if (o.shrinkSeconds > 0) printShrunk(seed, r, o);
        std::fflush(stdout);
      });
  fmt::print("{} programs from seed {}, {} settings each: {} failed, {} skipped as too long, {:.1f} s\n", done, o.seed,
             settings, failures, skipped, elapsed_s());
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pumice::shader::random

int main(int argc, char** argv) {
  pumice::shader::random::Options o;
  CLI::App app{"Random shaders: interpreter against machine code"};
  app.add_option("--seed", o.seed, "first seed")->capture_default_str();
  app.add_option("--count", o.count, "number of programs")->capture_default_str();
  app.add_option("--seconds", o.seconds, "stop after this time; 0 = never")->capture_default_str();
  app.add_option("--settings", o.settings, "settings of the code generator per program")->capture_default_str();
  app.add_flag("--all", o.all, "every setting for every program");
  app.add_option("--max-failures", o.maxFailures, "stop after so many")->capture_default_str();
  app.add_option("--shrink", o.shrinkSeconds, "seconds to spend on making a failure small; 0 = none")
      ->capture_default_str();
  app.add_option("--subgroup", o.generator.subgroupSize, "subgroup size; 0 = by seed")->capture_default_str();
  app.add_option("--statements", o.generator.maxStatements, "size of the programs")->capture_default_str();
  app.add_option("--invocations", o.generator.maxInvocations, "most of a workgroup")->capture_default_str();
  app.add_flag("--math", o.generator.transcendental, "transcendental functions too");
  app.add_flag("--print", o.print, "only print the program of --seed");
  CLI11_PARSE(app, argc, argv);
  return pumice::shader::random::run(o);
}
