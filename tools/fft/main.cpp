// pumice-fft: fast Fourier transforms through VkFFT on the Vulkan driver that the loader finds, each compared with
// double-precision FFTW. Prints a table; exit code 1 when a result is further off than its limit.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tools/fft/reference.h"
#include "tools/fft/vkfft_plan.h"

namespace {

using pumice::bench::Host;
using pumice::fft::Plan;
using pumice::fft::Shape;
using Clock = std::chrono::steady_clock;

struct Options {
  double seconds = 0.1;  // measured per transform
  bool cpu = true;       // the FFTW column
  bool plain = false;    // one "name GFLOP/s" per line, for the process that asked for a peer
  bool quick = false;
  std::vector<std::string> peers;
};

struct Outcome {
  double error = 0;  // relative, L2
  double limit = 0;
  double gflops = 0;
  double planMs = 0;
};

std::string nameOf(const Shape& shape) {
  std::string size;
  if (shape.height > 1) {
    size = fmt::format("{}x{}", shape.width, shape.height);
  } else if (std::has_single_bit(shape.width)) {
    size = fmt::format("2^{}", std::bit_width(shape.width) - 1);
  } else {
    size = fmt::format("{}", shape.width);
  }
  return fmt::format("{}{}/{}", size, shape.real ? " real" : "", shape.fp64 ? "fp64" : "fp32");
}

std::vector<Shape> chooseShapes(bool fp64, bool quick) {
  std::vector<Shape> shapes;
  // Small transforms are batched so that one submission has enough to do.
  constexpr uint32_t kBatchedPoints = 1u << 17;
  for (uint32_t exponent = 3; exponent <= 22; exponent += quick ? 5 : 1) {
    const uint32_t n = 1u << exponent;
    shapes.push_back({.width = n, .batch = std::max(1u, kBatchedPoints / n), .fp64 = fp64});
  }
  shapes.push_back({.width = 10007, .batch = 8, .fp64 = fp64});  // a prime
  shapes.push_back({.width = 360, .batch = 256, .fp64 = fp64});
  shapes.push_back({.width = 512, .height = 256, .fp64 = fp64});
  shapes.push_back({.width = 1u << 14, .batch = 8, .real = true, .fp64 = fp64});
  shapes.push_back({.width = 256, .height = 256, .real = true, .fp64 = fp64});
  return shapes;
}

double floatingPointOperations(const Shape& shape) {
  // The usual count, whatever the algorithm does.
  const auto n = static_cast<double>(shape.points());
  return (shape.real ? 2.5 : 5.0) * n * std::log2(n) * shape.batch;
}

double errorLimit(const Shape& shape) {
  return shape.fp64 ? 1e-14 : 3e-7 * std::log2(static_cast<double>(shape.points()));
}

// Runs one transform of random numbers and compares it with FFTW's.
template <typename Real>
double transformError(const Shape& shape, Plan& plan) {
  std::mt19937_64 random(shape.points());
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto data = plan.buffer().template as<Real>();
  std::vector<double> input(data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<Real>(uniform(random));
    input[i] = data[i];
  }
  plan.run();
  const std::vector<double> want = pumice::fft::referenceTransform(shape, input);
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    difference += (data[i] - want[i]) * (data[i] - want[i]);
    norm += want[i] * want[i];
  }
  return std::sqrt(difference / norm);
}

Outcome runShape(Host& host, const Shape& shape, double seconds) {
  Outcome outcome;
  const auto start = Clock::now();
  Plan plan(host, shape);
  outcome.planMs = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  outcome.limit = errorLimit(shape);
  outcome.error = shape.fp64 ? transformError<double>(shape, plan) : transformError<float>(shape, plan);

  // Zeros stay zeros, so that repeated transforms cannot overflow.
  std::ranges::fill(plan.buffer().as<uint32_t>(), 0u);
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    const auto begin = Clock::now();
    plan.run();
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  } while (times.size() < 3 || Clock::now() < end);
  std::ranges::sort(times);
  outcome.gflops = floatingPointOperations(shape) / times[times.size() / 2] / 1e9;
  return outcome;
}

std::string shellQuote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Runs this program on another driver and returns its GFLOP/s by transform.
std::map<std::string, double> runPeer(const std::string& manifest, const Options& options) {
  std::map<std::string, double> speeds;
  const std::string quoted = shellQuote(manifest);
  const std::string command =
      fmt::format("VK_ICD_FILENAMES={0} VK_DRIVER_FILES={0} /proc/{1}/exe --plain --no-cpu --seconds {2}{3}", quoted,
                  getpid(), options.seconds, options.quick ? " --quick" : "");
  const auto close = [](FILE* file) { pclose(file); };
  const std::unique_ptr<FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  if (!pipe) return speeds;
  char line[256];
  while (std::fgets(line, sizeof(line), pipe.get())) {
    const std::string text = line;
    const size_t tab = text.find('\t');
    if (tab != std::string::npos) speeds[text.substr(0, tab)] = std::strtod(text.c_str() + tab, nullptr);
  }
  return speeds;
}

std::string speedText(double gflops) {
  return gflops > 0 ? fmt::format("{:.2f}", gflops) : "-";
}

int run(const Options& options) {
  Host host("pumice-fft");
  const bool fp64 = host.enabledFeatures().shaderFloat64;
  std::vector<std::map<std::string, double>> peers;
  if (!options.plain) {
    for (const std::string& manifest : options.peers) {
      fmt::print(stderr, "running {} ...\n", manifest);
      peers.push_back(runPeer(manifest, options));
    }
    fmt::print("FFTs through VkFFT on {}; errors against double-precision FFTW\n\n", host.properties().deviceName);
    fmt::print("{:18} {:>6} {:>10} {:>9} {:>6} {:>9} {:>9}", "transform", "batch", "rel. error", "limit", "", "plan ms",
               "GFLOP/s");
    for (size_t i = 0; i < peers.size(); ++i) fmt::print(" {:>9}", fmt::format("peer {}", i + 1));
    fmt::print("{}\n", options.cpu ? fmt::format(" {:>9}", "FFTW") : "");
  }
  int failures = 0;
  int count = 0;
  for (const bool wide : {false, true}) {
    if (wide && !fp64) continue;
    for (const Shape& shape : chooseShapes(wide, options.quick)) {
      const std::string name = nameOf(shape);
      ++count;
      Outcome outcome;
      try {
        outcome = runShape(host, shape, options.seconds);
      } catch (const std::exception& error) {
        ++failures;
        fmt::print(options.plain ? stderr : stdout, "{:18} FAILED: {}\n", name, error.what());
        continue;
      }
      // Written so that NaN fails.
      const bool right = outcome.error <= outcome.limit;
      failures += !right;
      if (options.plain) {
        fmt::print("{}\t{}\n", name, outcome.gflops);
        continue;
      }
      fmt::print("{:18} {:6} {:10.2e} {:9.2e} {:>6} {:9.1f} {:>9}", name, shape.batch, outcome.error, outcome.limit,
                 right ? "ok" : "WRONG", outcome.planMs, speedText(outcome.gflops));
      for (auto& peer : peers) fmt::print(" {:>9}", speedText(peer[name]));
      if (options.cpu) {
        const double seconds = pumice::fft::fftwSeconds(shape, options.seconds);
        fmt::print(" {:>9}", speedText(floatingPointOperations(shape) / seconds / 1e9));
      }
      fmt::print("\n");
      std::fflush(stdout);
    }
  }
  if (!options.plain) {
    fmt::print("\n{} of {} transforms are within their limit{}\n", count - failures, count,
               fp64 ? "" : " (fp64 left out: no shaderFloat64)");
    for (size_t i = 0; i < options.peers.size(); ++i) fmt::print("peer {}: {}\n", i + 1, options.peers[i]);
  }
  return failures ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool noCpu = false;
  CLI::App app{"FFTs through VkFFT on the Vulkan driver that the loader finds (choose it with VK_ICD_FILENAMES)."};
  app.add_option("--peer", options.peers, "manifest of another driver whose speed becomes a column; may be repeated");
  app.add_option("--seconds", options.seconds, "measured per transform")->capture_default_str();
  app.add_flag("--no-cpu", noCpu, "leave out the column of FFTW on the CPU");
  app.add_flag("--quick", options.quick, "fewer sizes");
  app.add_flag("--plain", options.plain, "print only names and GFLOP/s, tab-separated");
  CLI11_PARSE(app, argc, argv);
  options.cpu = !noCpu && !options.plain;
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "pumice-fft: {}\n", error.what());
    return 1;
  }
}
