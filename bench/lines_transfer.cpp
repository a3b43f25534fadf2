// Blits and copies of images.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/line.h"

namespace pumice::bench {

namespace {

constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;

void fillRandom(Buffer& pixels) {
  Random random(9);
  for (uint32_t& word : pixels.as<uint32_t>()) word = static_cast<uint32_t>(random.next());
}

// -- blits

constexpr uint32_t kFrom = 1024, kTo = 1600;

// Position of a target texel's centre in the source.
double sourcePosition(uint32_t texel) {
  return (texel + 0.5) * kFrom / kTo;
}

double nearestTexel(const Buffer& source, uint32_t x, uint32_t y, uint32_t c) {
  const auto i = static_cast<size_t>(sourcePosition(x)), j = static_cast<size_t>(sourcePosition(y));
  return source.as<uint8_t>()[4 * (j * kFrom + i) + c];
}

double linearTexel(const Buffer& source, uint32_t x, uint32_t y, uint32_t c) {
  const double u = sourcePosition(x) - 0.5, v = sourcePosition(y) - 0.5;
  const double i = std::floor(u), j = std::floor(v);
  const auto at = [&](double column, double row) -> double {
    const auto clamped = [](double n) { return static_cast<size_t>(std::clamp(n, 0.0, kFrom - 1.0)); };
    return source.as<uint8_t>()[4 * (clamped(row) * kFrom + clamped(column)) + c];
  };
  const double a = u - i, b = v - j;
  return (at(i, j) * (1 - a) + at(i + 1, j) * a) * (1 - b) + (at(i, j + 1) * (1 - a) + at(i + 1, j + 1) * a) * b;
}

void buildBlit(Job& job, VkFilter filter) {
  Buffer& pixels = job.buffer(kFrom * kFrom * 4);
  Buffer& result = job.buffer(kTo * kTo * 4);
  fillRandom(pixels);
  Image& source = job.image(kFormat, kFrom, kFrom, false);
  Image& target = job.image(kFormat, kTo, kTo, false);
  source.upload(pixels);
  Commands& commands = job.record();
  commands.blit(source, target, filter);
  commands.finish();
  job.reset = [&target, &result] {
    std::ranges::fill(result.as<uint32_t>(), 0x12345678u);
    target.upload(result);
  };
  const bool linear = filter == VK_FILTER_LINEAR;
  job.verify = [&pixels, &target, &result, linear]() -> std::string {
    target.download(result);
    // Two filters with weights of which eight bits count, and rounding.
    const double tolerance = linear ? 2 * 255.0 / 512 + 0.6 : 0;
    for (uint32_t texel = 0; texel < kTo * kTo; texel += 37) {
      const uint32_t x = texel % kTo, y = texel / kTo;
      for (uint32_t c = 0; c < 4; ++c) {
        const double want = linear ? linearTexel(pixels, x, y, c) : nearestTexel(pixels, x, y, c);
        const double got = result.as<uint8_t>()[4 * size_t{texel} + c];
        if (std::abs(got - want) > tolerance)
          return fmt::format("texel {},{} channel {}: got {}, expected {}", x, y, c, got, want);
      }
    }
    return {};
  };
  job.work = kTo * kTo / 1e6;
}

// -- copies

constexpr uint32_t kEdge = 2048;

std::string compareBytes(const Buffer& got, const Buffer& expected) {
  const auto a = got.as<uint32_t>(), b = expected.as<uint32_t>();
  const auto different = std::ranges::mismatch(a, b);
  if (different.in1 == a.end()) return {};
  return fmt::format("texel {}: got {:08x}, expected {:08x}", different.in1 - a.begin(), *different.in1,
                     *different.in2);
}

void buildCopy(Job& job, bool toImage) {
  Buffer& pixels = job.buffer(kEdge * kEdge * 4);
  Buffer& result = job.buffer(kEdge * kEdge * 4);
  fillRandom(pixels);
  Image& image = job.image(kFormat, kEdge, kEdge, false);
  if (!toImage) image.upload(pixels);
  Commands& commands = job.record();
  if (toImage)
    commands.copy(pixels, image);
  else
    commands.copy(image, result);
  commands.finish();
  job.reset = [&image, &result, toImage] {
    std::ranges::fill(result.as<uint32_t>(), 0x12345678u);
    if (toImage) image.upload(result);
  };
  job.verify = [&pixels, &image, &result, toImage] {
    if (toImage) image.download(result);
    return compareBytes(result, pixels);
  };
  job.work = 2.0 * kEdge * kEdge * 4 / 1e9;
}

}  // namespace

void addTransferLines(std::vector<Line>& lines) {
  lines.push_back(steadyLine("blit_linear", "Mpixel/s", "1024x1024 to 1600x1600, rgba8, linear filter",
                             [](Job& job) { buildBlit(job, VK_FILTER_LINEAR); }));
  lines.push_back(steadyLine("blit_nearest", "Mpixel/s", "the same without filter",
                             [](Job& job) { buildBlit(job, VK_FILTER_NEAREST); }));
  lines.push_back(steadyLine("copy_buffer_image", "GB/s", "2048x2048 rgba8 from buffer to image, read and written",
                             [](Job& job) { buildCopy(job, true); }));
  lines.push_back(steadyLine("copy_image_buffer", "GB/s", "the same from image to buffer",
                             [](Job& job) { buildCopy(job, false); }));
}

}  // namespace pumice::bench
