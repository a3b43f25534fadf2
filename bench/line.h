// What a line of the benchmark is, and the runner's interface. All of it runs on the main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/common/draw_pipeline.h"
#include "bench/common/graphics_host.h"
#include "bench/common/vulkan_host.h"

namespace pumice::bench {

struct Settings {
  double seconds = 0.5;  // how long one line is measured, after its first run
};

// The outcome of one line.
struct Measurement {
  double value = 0;               // median over the repetitions, in the line's unit
  double best = 0;                // the best repetition
  std::optional<double> firstMs;  // GPU lines: pipeline creation plus first execution, milliseconds
  std::string problem;            // empty when the result agreed with the CPU's
  std::string skipped;            // what the device lacks for this line; empty when the line ran
};

enum class Better { Higher, Lower };

// The Vulkan side, made when the first GPU line asks for it.
class Context {
 public:
  explicit Context(Settings chosen) : settings(chosen) {}
  Host& host() {
    if (!host_) host_ = std::make_unique<Host>("pumice-bench");
    return *host_;
  }
  const Settings settings;

 private:
  std::unique_ptr<Host> host_;
};

struct Line {
  std::string name;
  std::string unit;
  Better better = Better::Higher;
  std::string description;
  std::function<Measurement(Context&)> run;
};

// A GPU workload that can be submitted again and again. The builder functions make kernels and pipelines through
// kernel() and pipeline(), which count the time, and record everything into the command buffer of record(); where
// recording belongs to what is measured, they do it in `frame`.
class Job {
 public:
  explicit Job(Host& jobHost) : host(jobHost) {}

  Buffer& buffer(VkDeviceSize bytes) { return *buffers_.emplace_back(std::make_unique<Buffer>(host, bytes)); }
  Image& image(VkFormat format, uint32_t width, uint32_t height, bool storage, VkFilter filter = VK_FILTER_NEAREST) {
    return *images_.emplace_back(std::make_unique<Image>(host, format, width, height, storage, filter));
  }
  Kernel& kernel(std::span<const uint32_t> spirv, uint32_t bufferCount, uint32_t pushBytes);
  Kernel& kernel(std::span<const uint32_t> spirv, std::span<const VkDescriptorType> types, uint32_t pushBytes);
  DrawPipeline& pipeline(const RenderTarget& target, const DrawState& state);
  // Anything else that has to live as long as the job.
  template <typename T, typename... Arguments>
  T& make(Arguments&&... arguments) {
    auto owned = std::make_shared<T>(std::forward<Arguments>(arguments)...);
    others_.push_back(owned);
    return *owned;
  }
  // Starts the command buffer.
  Commands& record();
  // One execution: `frame`, or a submission of the command buffer; waits for the GPU.
  void execute();

  Host& host;
  double work = 0;                      // amount of one submission; work per second is in the line's unit
  std::function<void()> frame;          // records, submits and waits (empty: the command buffer stays as it is)
  std::function<void()> reset;          // brings the inputs back (may be empty)
  std::function<std::string()> verify;  // empty string when the result is right

  double creationSeconds() const { return creationSeconds_; }

 private:
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::unique_ptr<Image>> images_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::shared_ptr<void>> others_;
  std::unique_ptr<Commands> commands_;
  double creationSeconds_ = 0;
};

// Repeats `once` for the settings' time (at least three times, unless that takes many seconds) and returns the seconds
// of each repetition, sorted.
std::vector<double> repeat(const Settings& settings, const std::function<void()>& once);
double median(std::span<const double> sorted);
double secondsNow();

// A steady-state line: first run (timed apart) and verified, then repeated, then reset, run and verified again, so that
// code which a driver swaps in while it is hot is checked too.
Line steadyLine(std::string name, std::string unit, std::string description, std::function<void(Job&)> build);

// The lines, by file.
void addMemoryLines(std::vector<Line>& lines);
void addMathLines(std::vector<Line>& lines);
void addMatrixLines(std::vector<Line>& lines);
void addGroupLines(std::vector<Line>& lines);
void addFilterLines(std::vector<Line>& lines);
void addTransferLines(std::vector<Line>& lines);
void addLatencyLines(std::vector<Line>& lines);
void addPipelineLines(std::vector<Line>& lines);
void addDrawFillLines(std::vector<Line>& lines);
void addDrawGeometryLines(std::vector<Line>& lines);
void addDrawTextureLines(std::vector<Line>& lines);
void addDrawSceneLines(std::vector<Line>& lines);
void addDrawCallLines(std::vector<Line>& lines);
void addCpuLines(std::vector<Line>& lines);

// The program that the lines of pipelines start (lines_pipelines.cpp): the exit code. Prints two numbers of seconds.
int runPipelinesWorker(const std::string& directory);

// Deterministic pseudo-random numbers (splitmix64), the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Uniform in [low, high).
  float uniform(float low, float high) {
    return low + (high - low) * static_cast<float>(next() >> 40) * (1.0f / 16777216.0f);
  }

 private:
  uint64_t state_;
};

// Compares element by element: |got - expected(i)| <= limit(expected). Returns the first disagreement as text.
std::string compare(std::span<const float> got, const std::function<double(size_t)>& expected,
                    const std::function<double(double)>& limit, size_t stride = 1);

}  // namespace pumice::bench
