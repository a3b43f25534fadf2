// Lines that measure fixed costs: dispatches, round trips, pipeline creation.
#include <array>
#include <random>

#include <fmt/format.h>

#include "bench/line.h"
#include "bench/shaders/sgemm_tiled.h"
#include "bench/shaders/sha256.h"
#include "bench/shaders/softmax.h"
#include "bench/shaders/step.h"

namespace pumice::bench {

namespace {

void buildDependentDispatches(Job& job) {
  constexpr uint32_t kDispatches = 1000;
  Buffer& data = job.buffer(64 * 4);
  Kernel& kernel = job.kernel(shaders::step, 1, 0);
  const VkDescriptorSet set = kernel.bind({&data});
  Commands& commands = job.record();
  for (uint32_t i = 0; i < kDispatches; ++i) {
    commands.dispatch(kernel, set, 1);
    commands.barrier();
  }
  commands.finish();
  job.reset = [&data] {
    for (uint32_t i = 0; i < 64; ++i) data.as<uint32_t>()[i] = i;
  };
  job.verify = [&data]() -> std::string {
    for (uint32_t i = 0; i < 64; ++i) {
      uint32_t want = i;
      for (uint32_t k = 0; k < kDispatches; ++k) want = want * 1664525u + 1013904223u;
      if (data.as<uint32_t>()[i] != want) {
        return fmt::format("element {}: got {}, expected {}", i, data.as<uint32_t>()[i], want);
      }
    }
    return {};
  };
  job.work = kDispatches / 1e3;
}

Measurement measureEmptySubmit(Context& context) {
  Host& host = context.host();
  host.submitAndWait(VK_NULL_HANDLE);
  const std::vector<double> times = repeat(context.settings, [&] { host.submitAndWait(VK_NULL_HANDLE); });
  Measurement result;
  result.value = median(times) * 1e6;
  result.best = times.front() * 1e6;
  return result;
}

// Creates a pipeline whose code no cache can have seen (its specialisation constant is new), runs one workgroup and
// waits; returns seconds.
double createAndRun(Host& host, std::span<const uint32_t> spirv, std::initializer_list<Resource> buffers,
                    std::span<const uint32_t, 7> push, uint32_t salt) {
  const double start = secondsNow();
  const std::array<uint32_t, 1> constants{salt};
  const auto bufferCount = static_cast<uint32_t>(buffers.size());
  // The push block is as long as the longest one of the shaders.
  Kernel kernel(host, spirv, bufferCount, static_cast<uint32_t>(push.size_bytes()), constants);
  Commands commands(host);
  std::array<uint32_t, 7> words{};
  std::copy(push.begin(), push.end(), words.begin());
  commands.dispatch(kernel, kernel.bind(buffers), words, 1);
  commands.finish();
  host.submitAndWait(commands.handle());
  return secondsNow() - start;
}

Measurement measurePipelineCreation(Context& context) {
  Host& host = context.host();
  constexpr uint32_t kSize = 16;  // the matrices are one tile
  Buffer a(host, 4096);
  Buffer b(host, 4096);
  Buffer c(host, 4096);
  for (Buffer* buffer : {&a, &b, &c}) {
    for (float& value : buffer->as<float>()) value = 1.0f;
  }
  std::random_device entropy;
  // Below 2^23, so that it is exact as a float; never the default 0.
  uint32_t salt = entropy() % (1u << 22) + 1;
  Measurement result;
  const std::array<uint32_t, 7> push{kSize};
  const std::vector<double> times = repeat(context.settings, [&] {
    createAndRun(host, shaders::sgemm_tiled, {&a, &b, &c}, push, ++salt);
    // Rows of ones times columns of ones, plus the salt.
    if (const float want = static_cast<float>(kSize + salt); c.as<float>()[0] != want && result.problem.empty()) {
      result.problem = fmt::format("sgemm: got {}, expected {}", c.as<float>()[0], want);
    }
    createAndRun(host, shaders::softmax, {&a, &c}, push, ++salt);
    if (!(c.as<float>()[0] > 0 && c.as<float>()[0] < 1.0f) && result.problem.empty()) {
      result.problem = fmt::format("softmax: got {}", c.as<float>()[0]);
    }
    createAndRun(host, shaders::sha256, {&c}, push, ++salt);
  });
  constexpr double kShaders = 3;
  result.value = median(times) * 1e3 / kShaders;
  result.best = times.front() * 1e3 / kShaders;
  return result;
}

}  // namespace

void addLatencyLines(std::vector<Line>& lines) {
  lines.push_back(steadyLine("dependent_dispatches", "kdispatch/s",
                             "1,000 one-workgroup dispatches with a barrier between, in one command buffer",
                             buildDependentDispatches));
  lines.push_back({"empty_submit", "us", Better::Lower, "empty submission and wait for its fence", measureEmptySubmit});
  lines.push_back({"pipeline_creation", "ms", Better::Lower,
                   "a never-seen pipeline created and run once; mean of sgemm, softmax and sha256",
                   measurePipelineCreation});
}

}  // namespace pumice::bench
