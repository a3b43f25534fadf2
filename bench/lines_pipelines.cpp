// A program with 100 pipelines: started for the first time, started again, and making its pipelines once more.
//
// Each measurement is a process of its own (this program again, with --pipelines-worker), so that a driver finds
// nothing but what it has kept itself. Every driver may use what it has: its disk cache, in a directory that only this
// line's processes see, and a VkPipelineCache whose data a file carries from one process to the next.
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "bench/line.h"
#include "bench/shaders/sgemm_tiled.h"
#include "bench/shaders/sha256.h"
#include "bench/shaders/softmax.h"
#include "testing/temporary_directory.h"

namespace pumice::bench {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kPipelines = 100;
constexpr uint32_t kSize = 16;  // one workgroup of each shader
constexpr VkDeviceSize kBytes = 4096;

// The program's buffers, made before anything is measured.
struct Data {
  explicit Data(Host& host) : a(host, kBytes), b(host, kBytes) {
    for (Buffer* buffer : {&a, &b}) {
      for (float& value : buffer->as<float>()) value = 1.0f;
    }
    for (uint32_t i = 0; i < kPipelines; ++i) outputs.emplace_back(host, kBytes);
  }
  Buffer a, b;
  std::deque<Buffer> outputs;
};

// Makes the pipelines, runs one workgroup of each and waits; seconds.
double createAndRunAll(Host& host, Data& data) {
  const double start = secondsNow();
  std::deque<Kernel> kernels;
  Commands commands(host);
  const std::array<uint32_t, 7> push{kSize};  // as long as the longest push block of the shaders
  for (uint32_t i = 0; i < kPipelines; ++i) {
    const std::array<uint32_t, 1> salt{i + 1};
    const Buffer& out = data.outputs[i];
    switch (i % 3) {
      case 0: {
        Kernel& kernel = kernels.emplace_back(host, shaders::sgemm_tiled, 3, sizeof push, salt);
        commands.dispatch(kernel, kernel.bind({&data.a, &data.b, &out}), push, 1);
        break;
      }
      case 1: {
        Kernel& kernel = kernels.emplace_back(host, shaders::softmax, 2, sizeof push, salt);
        commands.dispatch(kernel, kernel.bind({&data.a, &out}), push, 1);
        break;
      }
      default: {
        Kernel& kernel = kernels.emplace_back(host, shaders::sha256, 1, sizeof push, salt);
        commands.dispatch(kernel, kernel.bind({&out}), push, 1);
      }
    }
  }
  commands.finish();
  host.submitAndWait(commands.handle());
  return secondsNow() - start;
}

// Empty if all is right. Digests have no reference here (the line sha256 checks the shader): they must differ.
std::string verify(const Data& data) {
  std::vector<uint32_t> digests;
  for (uint32_t i = 0; i < kPipelines; ++i) {
    const float first = data.outputs[i].as<float>()[0];
    if (i % 3 == 0 && first != static_cast<float>(kSize + i + 1)) {
      return fmt::format("sgemm {}: got {}, expected {}", i, first, kSize + i + 1);
    }
    if (i % 3 == 1 && !(first > 0 && first < 1)) return fmt::format("softmax {}: got {}", i, first);
    if (i % 3 == 2) digests.push_back(data.outputs[i].as<uint32_t>()[0]);
  }
  std::ranges::sort(digests);
  if (std::ranges::adjacent_find(digests) != digests.end()) return "sha256: two digests are the same";
  return {};
}

std::vector<char> readFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Times {
  double first, again;  // seconds
};

// Runs the program with its caches in `directory`.
Times start(const TemporaryDirectory& directory) {
  const std::string path = directory.path().string();
  const std::string command = fmt::format(
      "PUMICE_CACHE=1 PUMICE_CACHE_DIR='{0}/pumice' MESA_SHADER_CACHE_DISABLE=false MESA_SHADER_CACHE_DIR='{0}' "
      "XDG_CACHE_HOME='{0}' '{1}' --pipelines-worker '{0}'",
      path, fs::read_symlink("/proc/self/exe").string());
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no process for the worker");
  char text[1000] = "";
  const bool answered = std::fgets(text, sizeof text, pipe) != nullptr;
  const int status = pclose(pipe);
  Times times{};
  if (!answered || status != 0 || std::sscanf(text, "%lf %lf", &times.first, &times.again) != 2) {
    throw std::runtime_error(fmt::format("the worker failed: {}", text));
  }
  return times;
}

// At least one start, and as many as the time allows; the median.
Measurement measure(const Settings& settings, const std::function<double()>& once) {
  std::vector<double> seconds;
  const double end = secondsNow() + settings.seconds;
  do {
    seconds.push_back(once());
  } while (secondsNow() < end);
  std::ranges::sort(seconds);
  Measurement result;
  result.value = median(seconds) * 1e3;
  result.best = seconds.front() * 1e3;
  return result;
}

Measurement measureCold(Context& context) {
  return measure(context.settings, [] { return start(TemporaryDirectory()).first; });
}

Measurement measureRestart(Context& context) {
  const TemporaryDirectory directory;
  start(directory);
  return measure(context.settings, [&] { return start(directory).first; });
}

Measurement measureAgain(Context& context) {
  return measure(context.settings, [] { return start(TemporaryDirectory()).again; });
}

}  // namespace

int runPipelinesWorker(const std::string& directory) {
  Host host("pumice-bench");
  Data data(host);
  const fs::path file = fs::path(directory) / "pipeline_cache";
  const std::vector<char> kept = readFile(file);
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  info.initialDataSize = kept.size();
  info.pInitialData = kept.data();

  const double start = secondsNow();
  VkPipelineCache cache = VK_NULL_HANDLE;
  check(vkCreatePipelineCache(host.device(), &info, nullptr, &cache), "vkCreatePipelineCache");
  const double reading = secondsNow() - start;
  host.setPipelineCache(cache);
  const double first = reading + createAndRunAll(host, data);
  std::string problem = verify(data);
  for (Buffer& out : data.outputs) std::ranges::fill(out.as<uint32_t>(), 0u);
  const double again = createAndRunAll(host, data);
  if (problem.empty()) problem = verify(data);

  size_t size = 0;
  check(vkGetPipelineCacheData(host.device(), cache, &size, nullptr), "vkGetPipelineCacheData");
  std::vector<char> bytes(size);
  check(vkGetPipelineCacheData(host.device(), cache, &size, bytes.data()), "vkGetPipelineCacheData");
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(size));
  vkDestroyPipelineCache(host.device(), cache, nullptr);
  if (!problem.empty()) {
    fmt::print("{}\n", problem);
    return 1;
  }
  fmt::print("{:.9f} {:.9f}\n", first, again);
  return 0;
}

void addPipelineLines(std::vector<Line>& lines) {
  lines.push_back({"pipelines_100_cold", "ms", Better::Lower,
                   "first start of a program: 100 pipelines of three shaders created and run once", measureCold});
  lines.push_back({"pipelines_100_restart", "ms", Better::Lower,
                   "the same in the program's next start, with all caches that the driver has", measureRestart});
  lines.push_back({"pipelines_100_again", "ms", Better::Lower,
                   "the same once more in one process, with the same VkPipelineCache", measureAgain});
}

}  // namespace pumice::bench
