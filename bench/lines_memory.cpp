// Lines that memory bandwidth limits.
#include <algorithm>
#include <cmath>

#include "bench/line.h"
#include "bench/shaders/copy_vec4.h"
#include "bench/shaders/saxpy.h"

namespace pumice::bench {

namespace {

constexpr uint32_t kFloats = 16u << 20;

void buildSaxpy(Job& job) {
  struct Push {
    uint32_t n;
    float a;
  };
  constexpr float kA = 0.5f;
  Buffer& x = job.buffer(kFloats * 4ull);
  Buffer& y = job.buffer(kFloats * 4ull);
  for (uint32_t i = 0; i < kFloats; ++i) x.as<float>()[i] = static_cast<float>(i & 0xffff) * 0.25f;
  Kernel& kernel = job.kernel(shaders::saxpy, 2, sizeof(Push));
  Commands& commands = job.record();
  commands.dispatch(kernel, kernel.bind({&x, &y}), Push{kFloats, kA}, kFloats / 256);
  commands.finish();
  job.reset = [&y] {
    for (uint32_t i = 0; i < kFloats; ++i) y.as<float>()[i] = static_cast<float>(i >> 8);
  };
  job.verify = [&y] {
    // All values are exact in fp32.
    return compare(
        y.as<float>(),
        [](size_t i) { return kA * (static_cast<double>(i & 0xffff) * 0.25) + static_cast<double>(i >> 8); },
        [](double) { return 0.0; });
  };
  job.work = 3.0 * kFloats * 4 / 1e9;
}

void buildCopy(Job& job) {
  constexpr uint32_t kVectors = kFloats / 4;
  Buffer& source = job.buffer(kVectors * 16ull);
  Buffer& target = job.buffer(kVectors * 16ull);
  for (uint32_t i = 0; i < kFloats; ++i) source.as<float>()[i] = static_cast<float>(i % 9973u);
  Kernel& kernel = job.kernel(shaders::copy_vec4, 2, sizeof(uint32_t));
  Commands& commands = job.record();
  commands.dispatch(kernel, kernel.bind({&source, &target}), kVectors, kVectors / 256);
  commands.finish();
  job.reset = [&target] { std::ranges::fill(target.as<float>(), -1.0f); };
  job.verify = [&target] {
    return compare(
        target.as<float>(), [](size_t i) { return static_cast<double>(i % 9973u); }, [](double) { return 0.0; });
  };
  job.work = 2.0 * kVectors * 16 / 1e9;
}

}  // namespace

void addMemoryLines(std::vector<Line>& lines) {
  lines.push_back(steadyLine("saxpy", "GB/s", "y = a*x + y over 16 Mi floats", buildSaxpy));
  lines.push_back(steadyLine("copy_vec4", "GB/s", "copy of 64 MiB as vec4, read and written bytes", buildCopy));
}

}  // namespace pumice::bench
