// Lines that arithmetic limits.
#include <array>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "bench/line.h"
#include "bench/shaders/exp.h"
#include "bench/shaders/fma_peak.h"
#include "bench/shaders/mandelbrot.h"
#include "bench/shaders/sha256.h"
#include "bench/shaders/sin.h"

namespace pumice::bench {

namespace {

void buildFma(Job& job) {
  struct Push {
    uint32_t rounds;
    float m;
    float c;
  };
  constexpr uint32_t kInvocations = 32768;
  static constexpr Push kPush{4096, 0.999f, 0.001f};
  constexpr int kChains = 8;
  Buffer& result = job.buffer(kInvocations * 4ull);
  Kernel& kernel = job.kernel(shaders::fma_peak, 1, sizeof(Push));
  Commands& commands = job.record();
  commands.dispatch(kernel, kernel.bind({&result}), kPush, kInvocations / 256);
  commands.finish();
  job.verify = [&result] {
    const auto expected = [](size_t i) {
      double sum = 0;
      for (int chain = 0; chain < kChains; ++chain) {
        const double start = 0.25 * (chain % 4) + static_cast<double>(i & 1023) / 1024 + (chain >= 4 ? 1 : 0);
        // a -> m*a + c has the fixed point c/(1-m) and contracts by m a round.
        const double m = kPush.m;
        const double fixed = kPush.c / (1 - m);
        sum += fixed + (start - fixed) * std::pow(m, kPush.rounds);
      }
      return sum;
    };
    // Rounding errors contract too: at most 2^-24 / (1 - m) per chain, fused or not.
    return compare(
        result.as<float>(), expected, [](double) { return kChains * 2.0e-4; }, 7);
  };
  job.work = 2.0 * kChains * kPush.rounds * kInvocations / 1e9;
}

// exp and sin: 64 evaluations per invocation.
void buildFunction(Job& job, std::span<const uint32_t> spirv, double (*function)(double), float low, float high,
                   double absoluteLimit, double relativeLimit) {
  constexpr uint32_t kInvocations = 1u << 18;
  constexpr float kDelta = 0.015625f;
  Buffer& x = job.buffer(kInvocations * 4ull);
  Buffer& y = job.buffer(kInvocations * 4ull);
  Random random(1);
  for (float& value : x.as<float>()) value = random.uniform(low, high);
  Kernel& kernel = job.kernel(spirv, 2, sizeof(float));
  Commands& commands = job.record();
  commands.dispatch(kernel, kernel.bind({&x, &y}), kDelta, kInvocations / 256);
  commands.finish();
  job.verify = [&x, &y, function, absoluteLimit, relativeLimit] {
    const auto expected = [&](size_t i) {
      double sum = 0;
      float argument = x.as<float>()[i];
      for (int k = 0; k < 64; ++k) {
        sum += function(argument);
        argument += kDelta;
      }
      return sum;
    };
    return compare(
        y.as<float>(), expected, [&](double want) { return 64 * absoluteLimit + relativeLimit * std::abs(want); }, 13);
  };
  job.work = 64.0 * kInvocations / 1e9;
}

void buildMandelbrot(Job& job) {
  struct Push {
    uint32_t width;
    uint32_t height;
    uint32_t limit;
  };
  static constexpr Push kPush{1024, 1024, 256};
  Buffer& counts = job.buffer(static_cast<VkDeviceSize>(kPush.width) * kPush.height * 4);
  Kernel& kernel = job.kernel(shaders::mandelbrot, 1, sizeof(Push));
  Commands& commands = job.record();
  commands.dispatch(kernel, kernel.bind({&counts}), kPush, kPush.width / 16, kPush.height / 16);
  commands.finish();
  job.verify = [&counts]() -> std::string {
    // Points at the set's edge are chaotic, so that contraction may change their count: a few may differ.
    uint32_t different = 0;
    uint32_t checked = 0;
    for (uint32_t py = 0; py < kPush.height; py += 3) {
      for (uint32_t px = 0; px < kPush.width; px += 3) {
        const float cx = static_cast<float>(px) / kPush.width * 3.0f - 2.25f;
        const float cy = static_cast<float>(py) / kPush.height * 2.5f - 1.25f;
        float zx = 0;
        float zy = 0;
        uint32_t n = 0;
        while (n < kPush.limit && zx * zx + zy * zy <= 4.0f) {
          const float next = zx * zx - zy * zy + cx;
          zy = 2.0f * zx * zy + cy;
          zx = next;
          ++n;
        }
        different += counts.as<uint32_t>()[py * kPush.width + px] != n;
        ++checked;
      }
    }
    if (different * 100 <= checked) return {};
    return fmt::format("{} of {} checked pixels differ", different, checked);
  };
  job.work = kPush.width * kPush.height / 1e6;
}

// SHA-256 of one padded block, first word; written after FIPS 180-4, apart from the shader.
uint32_t sha256FirstWord(const std::array<uint32_t, 8>& message) {
  const auto fraction = [](double root) { return static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0); };
  std::array<uint32_t, 64> constants{};
  std::array<uint32_t, 8> state{};
  for (uint32_t candidate = 2, found = 0; found < 64; ++candidate) {
    bool prime = true;
    for (uint32_t divisor = 2; divisor * divisor <= candidate; ++divisor) prime = prime && candidate % divisor != 0;
    if (!prime) continue;
    constants[found] = fraction(std::cbrt(static_cast<double>(candidate)));
    if (found < 8) state[found] = fraction(std::sqrt(static_cast<double>(candidate)));
    ++found;
  }
  std::array<uint32_t, 64> w{};
  std::copy(message.begin(), message.end(), w.begin());
  w[8] = 0x80000000u;
  w[15] = 256;
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    const uint32_t t1 =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
    const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  return a + state[0];
}

void buildSha256(Job& job) {
  constexpr uint32_t kHashes = 1u << 18;
  struct Push {
    uint32_t key[7];
  };
  static constexpr Push kPush{{0x50756d69, 0x63652069, 0x73206120, 0x766f6c63, 0x616e6963, 0x20726f63, 0x6b2e2e2e}};
  Buffer& digests = job.buffer(kHashes * 4ull);
  Kernel& kernel = job.kernel(shaders::sha256, 1, sizeof(Push));
  Commands& commands = job.record();
  commands.dispatch(kernel, kernel.bind({&digests}), kPush, kHashes / 64);
  commands.finish();
  job.verify = [&digests]() -> std::string {
    for (uint32_t i = 0; i < kHashes; i += 61) {
      std::array<uint32_t, 8> message{i};
      std::copy(std::begin(kPush.key), std::end(kPush.key), message.begin() + 1);
      const uint32_t want = sha256FirstWord(message);
      if (const uint32_t got = digests.as<uint32_t>()[i]; got != want) {
        return fmt::format("hash {}: got {:08x}, expected {:08x}", i, got, want);
      }
    }
    return {};
  };
  job.work = kHashes / 1e6;
}

}  // namespace

void addMathLines(std::vector<Line>& lines) {
  lines.push_back(steadyLine("fma_peak", "GFLOP/s", "eight independent chains of fma per invocation", buildFma));
  // Limits from the specification's precision table: exp 3 + 2|x| ULP, sin 2^-11 absolute (between -pi and pi).
  lines.push_back(steadyLine("exp", "Gexp/s", "64 exponentials per invocation", [](Job& job) {
    buildFunction(
        job, shaders::exp, [](double v) { return std::exp(v); }, -3.0f, 3.0f, 0.0, 16 * 0x1p-23);
  }));
  lines.push_back(steadyLine("sin", "Gsin/s", "64 sines per invocation", [](Job& job) {
    buildFunction(
        job, shaders::sin, [](double v) { return std::sin(v); }, -3.1f, 2.1f, 0x1p-11, 0x1p-20);
  }));
  lines.push_back(steadyLine("mandelbrot", "Mpixel/s", "1024x1024 pixels, at most 256 rounds", buildMandelbrot));
  lines.push_back(steadyLine("sha256", "Mhash/s", "one block per invocation", buildSha256));
}

}  // namespace pumice::bench
