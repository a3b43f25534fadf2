#include "bench/line.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace pumice::bench {

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Kernel& Job::kernel(std::span<const uint32_t> spirv, uint32_t bufferCount, uint32_t pushBytes) {
  return kernel(spirv, std::vector<VkDescriptorType>(bufferCount, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER), pushBytes);
}

Kernel& Job::kernel(std::span<const uint32_t> spirv, std::span<const VkDescriptorType> types, uint32_t pushBytes) {
  const double start = secondsNow();
  kernels_.push_back(std::make_unique<Kernel>(host, spirv, types, pushBytes));
  creationSeconds_ += secondsNow() - start;
  return *kernels_.back();
}

DrawPipeline& Job::pipeline(const RenderTarget& target, const DrawState& state) {
  const double start = secondsNow();
  DrawPipeline& made = make<DrawPipeline>(host, target, state);
  creationSeconds_ += secondsNow() - start;
  return made;
}

void Job::execute() {
  if (frame)
    frame();
  else
    host.submitAndWait(commands_->handle());
}

Commands& Job::record() {
  commands_ = std::make_unique<Commands>(host);
  return *commands_;
}

std::vector<double> repeat(const Settings& settings, const std::function<void()>& once) {
  constexpr size_t kLeast = 3;
  constexpr double kPatience = 5;  // seconds after which fewer repetitions have to do
  std::vector<double> times;
  const double begin = secondsNow();
  double now = begin;
  do {
    const double start = now;
    once();
    now = secondsNow();
    times.push_back(now - start);
  } while (now < begin + settings.seconds || (times.size() < kLeast && now < begin + kPatience));
  std::sort(times.begin(), times.end());
  return times;
}

double median(std::span<const double> sorted) {
  return sorted[sorted.size() / 2];
}

Line steadyLine(std::string name, std::string unit, std::string description, std::function<void(Job&)> build) {
  Line line{std::move(name), std::move(unit), Better::Higher, std::move(description), {}};
  line.run = [build = std::move(build)](Context& context) {
    Job job(context.host());
    build(job);
    Measurement result;
    const auto runAndVerify = [&](const char* when) {
      if (job.reset) job.reset();
      const double start = secondsNow();
      job.execute();
      const double seconds = secondsNow() - start;
      if (result.problem.empty()) {
        if (std::string problem = job.verify(); !problem.empty()) {
          result.problem = fmt::format("{} ({})", problem, when);
        }
      }
      return seconds;
    };
    result.firstMs = (job.creationSeconds() + runAndVerify("first run")) * 1e3;
    const std::vector<double> times = repeat(context.settings, [&] { job.execute(); });
    runAndVerify("after the measurement");
    result.value = job.work / median(times);
    result.best = job.work / times.front();
    return result;
  };
  return line;
}

std::string compare(std::span<const float> got, const std::function<double(size_t)>& expected,
                    const std::function<double(double)>& limit, size_t stride) {
  for (size_t i = 0; i < got.size(); i += stride) {
    const double want = expected(i);
    // Written so that NaN fails.
    if (!(std::abs(static_cast<double>(got[i]) - want) <= limit(want))) {
      return fmt::format("element {}: got {}, expected {}", i, got[i], want);
    }
  }
  return {};
}

}  // namespace pumice::bench
