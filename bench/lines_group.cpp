// Lines whose workgroups co-operate through shared memory and barriers.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "bench/line.h"
#include "bench/shaders/bitonic_global.h"
#include "bench/shaders/bitonic_local.h"
#include "bench/shaders/reduction.h"
#include "bench/shaders/scan_add.h"
#include "bench/shaders/scan_block.h"
#include "bench/shaders/softmax.h"

namespace pumice::bench {

namespace {

constexpr uint32_t kGroup = 256;

void buildReduction(Job& job) {
  constexpr uint32_t kN = kGroup * kGroup * 32;
  constexpr uint32_t kFirst = kN / kGroup;
  constexpr uint32_t kSecond = kFirst / kGroup;
  Buffer& source = job.buffer(kN * 4ull);
  Buffer& first = job.buffer(kFirst * 4ull);
  Buffer& second = job.buffer(kSecond * 4ull);
  Buffer& total = job.buffer(16);
  Random random(4);
  for (float& value : source.as<float>()) value = random.uniform(0, 1);
  Kernel& kernel = job.kernel(shaders::reduction, 2, sizeof(uint32_t));
  Commands& commands = job.record();
  commands.dispatch(kernel, kernel.bind({&source, &first}), kN, kFirst);
  commands.barrier();
  commands.dispatch(kernel, kernel.bind({&first, &second}), kFirst, kSecond);
  commands.barrier();
  commands.dispatch(kernel, kernel.bind({&second, &total}), kSecond, 1);
  commands.finish();
  job.reset = [&total] { total.as<float>()[0] = -1; };
  job.verify = [&source, &total] {
    const auto values = source.as<float>();
    const double want = std::accumulate(values.begin(), values.end(), 0.0);
    // Three trees of 8 levels: 24 roundings.
    return compare(
        total.as<float>().first(1), [&](size_t) { return want; }, [](double v) { return v * 24 * 0x1p-24; });
  };
  job.work = kN * 4.0 / 1e9;
}

void buildScan(Job& job) {
  constexpr uint32_t kN = kGroup * kGroup * 16;
  Buffer& source = job.buffer(kN * 4ull);
  Buffer& target = job.buffer(kN * 4ull);
  Buffer& totals = job.buffer(kN / kGroup * 4ull);
  Buffer& scannedTotals = job.buffer(kN / kGroup * 4ull);
  Buffer& upper = job.buffer(kGroup * 4ull);
  Buffer& scannedUpper = job.buffer(kGroup * 4ull);
  Buffer& unused = job.buffer(kGroup * 4ull);
  Random random(5);
  for (uint32_t& value : source.as<uint32_t>()) value = static_cast<uint32_t>(random.next());
  constexpr uint32_t kBlocks = kN / kGroup;
  constexpr uint32_t kUpper = kBlocks / kGroup;
  Kernel& block = job.kernel(shaders::scan_block, 3, sizeof(uint32_t));
  Kernel& add = job.kernel(shaders::scan_add, 2, sizeof(uint32_t));
  Commands& commands = job.record();
  commands.dispatch(block, block.bind({&source, &target, &totals}), kN, kBlocks);
  commands.barrier();
  commands.dispatch(block, block.bind({&totals, &scannedTotals, &upper}), kBlocks, kUpper);
  commands.barrier();
  commands.dispatch(block, block.bind({&upper, &scannedUpper, &unused}), kUpper, 1);
  commands.barrier();
  commands.dispatch(add, add.bind({&scannedTotals, &scannedUpper}), kBlocks, kUpper);
  commands.barrier();
  commands.dispatch(add, add.bind({&target, &scannedTotals}), kN, kBlocks);
  commands.finish();
  job.reset = [&target] { std::ranges::fill(target.as<uint32_t>(), 0u); };
  job.verify = [&source, &target]() -> std::string {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < kN; ++i) {
      sum += source.as<uint32_t>()[i];
      if (target.as<uint32_t>()[i] != sum) {
        return fmt::format("element {}: got {}, expected {}", i, target.as<uint32_t>()[i], sum);
      }
    }
    return {};
  };
  job.work = kN / 1e6;
}

void buildBitonic(Job& job) {
  constexpr uint32_t kN = 1u << 18;
  constexpr uint32_t kBlock = 1024;
  struct LocalPush {
    uint32_t k;
    uint32_t full;
  };
  struct GlobalPush {
    uint32_t k;
    uint32_t j;
  };
  Buffer& keys = job.buffer(kN * 4ull);
  // Repetitions sort what is sorted already: the same passes (descending blocks are turned round and back), so the time
  // is the same; the verified runs start from these.
  auto original = std::make_shared<std::vector<uint32_t>>(kN);
  Random random(6);
  for (uint32_t& key : *original) key = static_cast<uint32_t>(random.next());
  Kernel& local = job.kernel(shaders::bitonic_local, 1, sizeof(LocalPush));
  Kernel& global = job.kernel(shaders::bitonic_global, 1, sizeof(GlobalPush));
  const VkDescriptorSet localSet = local.bind({&keys});
  const VkDescriptorSet globalSet = global.bind({&keys});
  Commands& commands = job.record();
  commands.dispatch(local, localSet, LocalPush{kBlock, 1}, kN / kBlock);
  for (uint32_t k = 2 * kBlock; k <= kN; k *= 2) {
    for (uint32_t j = k / 2; j >= kBlock; j /= 2) {
      commands.barrier();
      commands.dispatch(global, globalSet, GlobalPush{k, j}, kN / 2 / kGroup);
    }
    commands.barrier();
    commands.dispatch(local, localSet, LocalPush{k, 0}, kN / kBlock);
  }
  commands.finish();
  job.reset = [&keys, original] { std::ranges::copy(*original, keys.as<uint32_t>().begin()); };
  job.verify = [&keys, original]() -> std::string {
    std::vector<uint32_t> want = *original;
    std::ranges::sort(want);
    for (uint32_t i = 0; i < kN; ++i) {
      if (keys.as<uint32_t>()[i] != want[i]) {
        return fmt::format("key {}: got {}, expected {}", i, keys.as<uint32_t>()[i], want[i]);
      }
    }
    return {};
  };
  job.work = kN / 1e6;
}

void buildSoftmax(Job& job) {
  constexpr uint32_t kRows = 2048;
  constexpr uint32_t kColumns = 1024;
  Buffer& x = job.buffer(static_cast<VkDeviceSize>(kRows) * kColumns * 4);
  Buffer& y = job.buffer(static_cast<VkDeviceSize>(kRows) * kColumns * 4);
  Random random(7);
  for (float& value : x.as<float>()) value = random.uniform(-8, 8);
  Kernel& kernel = job.kernel(shaders::softmax, 2, sizeof(uint32_t));
  Commands& commands = job.record();
  commands.dispatch(kernel, kernel.bind({&x, &y}), kColumns, kRows);
  commands.finish();
  job.verify = [&x, &y]() -> std::string {
    for (uint32_t row = 0; row < kRows; row += 31) {
      const auto in = x.as<float>().subspan(row * kColumns, kColumns);
      double sum = 0;
      for (const float value : in) sum += std::exp(static_cast<double>(value));
      // The arguments reach -16, where exp may be off by 35 ULP.
      std::string problem = compare(
          y.as<float>().subspan(row * kColumns, kColumns),
          [&](size_t i) { return std::exp(static_cast<double>(in[i])) / sum; },
          [](double want) { return want * 80 * 0x1p-23; });
      if (!problem.empty()) return fmt::format("row {}, {}", row, problem);
    }
    return {};
  };
  job.work = kRows * kColumns / 1e6;
}

}  // namespace

void addGroupLines(std::vector<Line>& lines) {
  lines.push_back(
      steadyLine("reduction", "GB/s", "sum of 2 Mi floats, a tree with barriers per workgroup", buildReduction));
  lines.push_back(steadyLine("scan", "Melement/s", "inclusive prefix sum of 1 Mi integers", buildScan));
  lines.push_back(steadyLine("bitonic_sort", "Mkey/s", "256 Ki keys, shared-memory and global passes", buildBitonic));
  lines.push_back(steadyLine("softmax", "Melement/s", "2048 rows of 1024, a workgroup per row", buildSoftmax));
}

}  // namespace pumice::bench
