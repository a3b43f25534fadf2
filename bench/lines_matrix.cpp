// Matrix products.
#include <cmath>

#include <fmt/format.h>

#include "bench/line.h"
#include "bench/shaders/matvec_int8.h"
#include "bench/shaders/sgemm_blocked.h"
#include "bench/shaders/sgemm_tiled.h"

namespace pumice::bench {

namespace {

// tile: edge of the square of C that one workgroup makes.
void buildSgemm(Job& job, std::span<const uint32_t> spirv, uint32_t tile) {
  constexpr uint32_t kN = 512;
  constexpr VkDeviceSize kBytes = kN * kN * 4;
  Buffer& a = job.buffer(kBytes);
  Buffer& b = job.buffer(kBytes);
  Buffer& c = job.buffer(kBytes);
  Random random(2);
  for (float& value : a.as<float>()) value = random.uniform(-1, 1);
  for (float& value : b.as<float>()) value = random.uniform(-1, 1);
  Kernel& kernel = job.kernel(spirv, 3, sizeof(uint32_t));
  Commands& commands = job.record();
  commands.dispatch(kernel, kernel.bind({&a, &b, &c}), kN, kN / tile, kN / tile);
  commands.finish();
  job.verify = [&a, &b, &c] {
    const auto expected = [&](size_t i) {
      double sum = 0;
      for (size_t k = 0; k < kN; ++k) {
        sum += static_cast<double>(a.as<float>()[i / kN * kN + k]) * b.as<float>()[k * kN + i % kN];
      }
      return sum;
    };
    // 512 products below 1, each rounded at most twice while the sum stays below about 64.
    return compare(
        c.as<float>(), expected, [](double) { return 5e-4; }, 131);
  };
  job.work = 2.0 * kN * kN * kN / 1e9;
}

void buildMatvec(Job& job) {
  constexpr uint32_t kRows = 4096;
  constexpr uint32_t kColumns = 4096;
  Buffer& w = job.buffer(static_cast<VkDeviceSize>(kRows) * kColumns);
  Buffer& x = job.buffer(kColumns);
  Buffer& y = job.buffer(kRows * 4);
  Random random(3);
  for (uint32_t& word : w.as<uint32_t>()) word = static_cast<uint32_t>(random.next());
  for (uint32_t& word : x.as<uint32_t>()) word = static_cast<uint32_t>(random.next());
  Kernel& kernel = job.kernel(shaders::matvec_int8, 3, sizeof(uint32_t));
  Commands& commands = job.record();
  commands.dispatch(kernel, kernel.bind({&w, &x, &y}), kColumns / 4, kRows);
  commands.finish();
  job.verify = [&w, &x, &y]() -> std::string {
    for (uint32_t row = 0; row < kRows; row += 17) {
      int32_t want = 0;
      for (uint32_t k = 0; k < kColumns; ++k) want += w.as<int8_t>()[row * kColumns + k] * x.as<int8_t>()[k];
      if (y.as<int32_t>()[row] != want) {
        return fmt::format("row {}: got {}, expected {}", row, y.as<int32_t>()[row], want);
      }
    }
    return {};
  };
  job.work = 2.0 * kRows * kColumns / 1e9;
}

}  // namespace

void addMatrixLines(std::vector<Line>& lines) {
  lines.push_back(steadyLine("sgemm_tiled", "GFLOP/s", "textbook 16x16 tiles in shared memory, 512x512",
                             [](Job& job) { buildSgemm(job, shaders::sgemm_tiled, 16); }));
  lines.push_back(steadyLine("sgemm_blocked", "GFLOP/s", "64x64 tiles, 4x4 in registers, 512x512",
                             [](Job& job) { buildSgemm(job, shaders::sgemm_blocked, 64); }));
  lines.push_back(steadyLine("matvec_int8", "GOP/s", "4096x4096 packed 8-bit weights times a vector", buildMatvec));
}

}  // namespace pumice::bench
