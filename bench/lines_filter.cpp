// A 5x5 filter over an image, by texel fetches, by linear samples and from storage image to storage image.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/common/half.h"
#include "bench/line.h"
#include "bench/shaders/filter_fetch_rgba16f.h"
#include "bench/shaders/filter_fetch_rgba8.h"
#include "bench/shaders/filter_linear_rgba16f.h"
#include "bench/shaders/filter_linear_rgba8.h"
#include "bench/shaders/filter_storage_rgba16f.h"
#include "bench/shaders/filter_storage_rgba8.h"

namespace pumice::bench {

namespace {

constexpr uint32_t kEdge = 1024;

// Number i of a tightly packed image.
double channel(const Buffer& texels, bool half, size_t i) {
  return half ? halfToDouble(texels.as<uint16_t>()[i]) : texels.as<uint8_t>()[i] / 255.0;
}

// Every 37th texel against the filter in double precision; the edge texel repeats.
std::string compareFiltered(const Buffer& source, const Buffer& result, bool half, double tolerance) {
  constexpr double kWeight[5] = {1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16};
  constexpr int kLast = kEdge - 1;
  for (uint32_t texel = 0; texel < kEdge * kEdge; texel += 37) {
    const int x = static_cast<int>(texel % kEdge), y = static_cast<int>(texel / kEdge);
    for (uint32_t c = 0; c < 4; ++c) {
      double want = 0;
      for (int j = -2; j <= 2; ++j) {
        for (int i = -2; i <= 2; ++i) {
          const auto from = static_cast<size_t>(std::clamp(y + j, 0, kLast) * int{kEdge} + std::clamp(x + i, 0, kLast));
          want += kWeight[i + 2] * kWeight[j + 2] * channel(source, half, 4 * from + c);
        }
      }
      const double got = channel(result, half, 4 * size_t{texel} + c);
      // Written so that NaN fails.
      if (!(std::abs(got - want) <= tolerance))
        return fmt::format("texel {},{} channel {}: got {}, expected {}", x, y, c, got, want);
    }
  }
  return {};
}

struct Variant {
  std::span<const uint32_t> spirv;
  bool half;  // rgba16f, else rgba8
  VkDescriptorType source;
  VkFilter filter;
  // Rounding of the result, and of the weights of linear filters, of which eight bits count.
  double tolerance;
};

void build(Job& job, const Variant& v) {
  const VkFormat format = v.half ? VK_FORMAT_R16G16B16A16_SFLOAT : VK_FORMAT_R8G8B8A8_UNORM;
  const uint32_t bytes = kEdge * kEdge * (v.half ? 8 : 4);
  Buffer& pixels = job.buffer(bytes);
  Buffer& result = job.buffer(bytes);
  Random random(8);
  for (size_t i = 0; i < kEdge * kEdge * 4; ++i) {
    const auto byte = static_cast<uint8_t>(random.next());
    if (v.half)
      pixels.as<uint16_t>()[i] = halfOfByte(byte);
    else
      pixels.as<uint8_t>()[i] = byte;
  }
  Image& source = job.image(format, kEdge, kEdge, v.source == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, v.filter);
  Image& target = job.image(format, kEdge, kEdge, true);
  source.upload(pixels);
  const VkDescriptorType types[] = {v.source, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE};
  Kernel& kernel = job.kernel(v.spirv, types, 0);
  Commands& commands = job.record();
  commands.dispatchGrid(kernel, kernel.bind({{&source, types[0]}, {&target, types[1]}}), kEdge / 16, kEdge / 16);
  commands.finish();
  job.reset = [&target, &result] {
    std::ranges::fill(result.as<uint32_t>(), 0x12345678u);
    target.upload(result);
  };
  job.verify = [&pixels, &target, &result, v] {
    target.download(result);
    return compareFiltered(pixels, result, v.half, v.tolerance);
  };
  job.work = kEdge * kEdge / 1e6;
}

}  // namespace

void addFilterLines(std::vector<Line>& lines) {
  constexpr VkDescriptorType kSampled = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  constexpr VkDescriptorType kStorage = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
  constexpr double kByte = 0.6 / 255, kHalf = 1.0 / 2048;
  // Two filters of two texels a sample, each with a weight that is off by 1/512 at most, of numbers in [0, 1].
  constexpr double kWeights = 2.0 / 512;
  const auto add = [&lines](const char* name, const char* description, const Variant& v) {
    lines.push_back(steadyLine(name, "Mpixel/s", description, [v](Job& job) { build(job, v); }));
  };
  add("filter_fetch_rgba8", "5x5 filter of 1024x1024 texels, 25 texel fetches",
      {shaders::filter_fetch_rgba8, false, kSampled, VK_FILTER_NEAREST, kByte});
  add("filter_fetch_rgba16f", "the same in half floats",
      {shaders::filter_fetch_rgba16f, true, kSampled, VK_FILTER_NEAREST, kHalf});
  add("filter_linear_rgba8", "the same filter, 9 linear samples",
      {shaders::filter_linear_rgba8, false, kSampled, VK_FILTER_LINEAR, kByte + kWeights});
  add("filter_linear_rgba16f", "the same in half floats",
      {shaders::filter_linear_rgba16f, true, kSampled, VK_FILTER_LINEAR, kHalf + kWeights});
  add("filter_storage_rgba8", "the same filter, 25 loads from a storage image",
      {shaders::filter_storage_rgba8, false, kStorage, VK_FILTER_NEAREST, kByte});
  add("filter_storage_rgba16f", "the same in half floats",
      {shaders::filter_storage_rgba16f, true, kStorage, VK_FILTER_NEAREST, kHalf});
}

}  // namespace pumice::bench
