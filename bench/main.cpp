// pumice-bench: measures whatever Vulkan driver the loader finds, line by line, and checks every line's result.
// Exit code: 0 when every line was right or skipped because the device lacks something, 1 otherwise.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <regex>

#include "bench/line.h"

namespace {

using namespace pumice::bench;

std::string jsonEscape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out;
}

std::string toJson(const Line& line, const Measurement& m) {
  return fmt::format(
      R"({{"name": "{}", "unit": "{}", "better": "{}", "value": {:.6g}, "best": {:.6g}, "first_ms": {}, "problem": "{}", "skipped": "{}"}})",
      line.name, line.unit, line.better == Better::Higher ? "higher" : "lower", m.value, m.best,
      m.firstMs ? fmt::format("{:.4g}", *m.firstMs) : "null", jsonEscape(m.problem), jsonEscape(m.skipped));
}

std::string deviceJson(const VkPhysicalDeviceProperties& p) {
  return fmt::format(R"({{"name": "{}", "api": "{}.{}.{}", "driver_version": {}}})", jsonEscape(p.deviceName),
                     VK_API_VERSION_MAJOR(p.apiVersion), VK_API_VERSION_MINOR(p.apiVersion),
                     VK_API_VERSION_PATCH(p.apiVersion), p.driverVersion);
}

int run(Context& context, const std::vector<Line>& lines, bool json) {
  const bool needsGpu = std::ranges::any_of(lines, [](const Line& line) { return !line.name.starts_with("cpu_"); });
  double deviceMs = 0;
  if (needsGpu) {
    const double start = secondsNow();
    context.host();
    deviceMs = (secondsNow() - start) * 1e3;
  }
  if (json) {
    fmt::print("{{\"device\": {}, \"device_creation_ms\": {:.4g}, \"lines\": [\n",
               needsGpu ? deviceJson(context.host().properties()) : "null", deviceMs);
  } else if (needsGpu) {
    fmt::print("{} (instance and device creation {:.1f} ms)\n", context.host().properties().deviceName, deviceMs);
  }
  int failures = 0;
  const char* separator = "";
  for (const Line& line : lines) {
    Measurement m;
    try {
      m = line.run(context);
    } catch (const Unsupported& missing) {
      m.skipped = missing.what();
    } catch (const std::exception& error) {
      m.problem = error.what();
    }
    failures += !m.problem.empty();
    if (json) {
      fmt::print("{}{}", separator, toJson(line, m));
      separator = ",\n";
    } else if (!m.skipped.empty()) {
      fmt::print("{:22} skipped: {}\n", line.name, m.skipped);
    } else if (m.problem.empty()) {
      fmt::print("{:22} {:12.4g} {:12} best {:10.4g}{}\n", line.name, m.value, line.unit, m.best,
                 m.firstMs ? fmt::format("  first use {:8.1f} ms", *m.firstMs) : "");
    } else {
      fmt::print("{:22} WRONG: {}\n", line.name, m.problem);
    }
    std::fflush(stdout);
  }
  if (json) fmt::print("\n]}}\n");
  return failures ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Benchmarks of the Vulkan driver that the loader finds (choose it with VK_ICD_FILENAMES)."};
  std::string filter = ".*";
  Settings settings;
  bool list = false;
  bool json = false;
  app.add_option("--filter", filter, "run the lines whose whole name matches this regular expression");
  app.add_option("--seconds", settings.seconds, "time per line")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_flag("--list", list, "list the lines and exit");
  app.add_flag("--json", json, "print JSON");
  std::string workerDirectory;
  app.add_option("--pipelines-worker", workerDirectory)->group("");  // for this program itself
  CLI11_PARSE(app, argc, argv);

  // Creation and first use are measured: no driver may answer from a cache of an earlier run, but where that is meant.
  if (workerDirectory.empty()) {
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
    setenv("PUMICE_CACHE", "0", 1);
  }

  std::vector<Line> all;
  addMemoryLines(all);
  addMathLines(all);
  addMatrixLines(all);
  addGroupLines(all);
  addFilterLines(all);
  addTransferLines(all);
  addLatencyLines(all);
  addPipelineLines(all);
  addDrawFillLines(all);
  addDrawGeometryLines(all);
  addDrawTextureLines(all);
  addDrawSceneLines(all);
  addDrawCallLines(all);
  addCpuLines(all);
  try {
    if (!workerDirectory.empty()) return runPipelinesWorker(workerDirectory);
    const std::regex pattern(filter);
    std::vector<Line> chosen;
    std::ranges::copy_if(all, std::back_inserter(chosen),
                         [&](const Line& line) { return std::regex_match(line.name, pattern); });
    if (list) {
      for (const Line& line : chosen) fmt::print("{:22} {:12} {}\n", line.name, line.unit, line.description);
      return 0;
    }
    Context context(settings);
    return run(context, chosen, json);
  } catch (const std::exception& error) {
    fmt::print(stderr, "pumice-bench: {}\n", error.what());
    return 1;
  }
}
