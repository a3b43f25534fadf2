// What plain C++ does on all cores of this machine, without Vulkan: the yardstick for the GPU lines.
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "bench/line.h"

namespace pumice::bench {

namespace {

// Runs body(thread index) on every core again and again: one round per call of run(). The threads stay alive between
// rounds, so that a round costs a wake-up and not a thread's creation.
class AllCores {
 public:
  explicit AllCores(std::function<void(unsigned)> body)
      : body_(std::move(body)), gate_(static_cast<std::ptrdiff_t>(count()) + 1) {
    for (unsigned i = 0; i < count(); ++i) threads_.emplace_back([this, i] { loop(i); });
  }
  ~AllCores() {
    stop_ = true;
    gate_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }
  AllCores(const AllCores&) = delete;
  AllCores& operator=(const AllCores&) = delete;

  void run() {
    gate_.arrive_and_wait();
    gate_.arrive_and_wait();
  }
  static unsigned count() { return std::max(1u, std::thread::hardware_concurrency()); }

 private:
  void loop(unsigned index) {
    for (;;) {
      gate_.arrive_and_wait();
      if (stop_) return;
      body_(index);
      gate_.arrive_and_wait();
    }
  }

  std::function<void(unsigned)> body_;
  std::barrier<> gate_;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

#if defined(__clang__)
#define PUMICE_VECTORIZE __attribute__((noinline))
#else
#define PUMICE_VECTORIZE __attribute__((noinline, optimize("O3")))
#endif

PUMICE_VECTORIZE void saxpy(float a, const float* __restrict x, float* __restrict y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

Measurement measureSaxpy(Context& context) {
  constexpr size_t kFloats = 16u << 20;
  constexpr float kA = 0.5f;
  std::vector<float> x(kFloats);
  std::vector<float> y(kFloats);
  for (size_t i = 0; i < kFloats; ++i) {
    x[i] = static_cast<float>(i & 0xffff) * 0.25f;
    y[i] = static_cast<float>(i >> 8);
  }
  const size_t part = kFloats / AllCores::count();
  AllCores cores([&](unsigned index) {
    const size_t begin = index * part;
    const size_t end = index + 1 == AllCores::count() ? kFloats : begin + part;
    saxpy(kA, x.data() + begin, y.data() + begin, end - begin);
  });
  Measurement result;
  cores.run();
  result.problem = compare(
      y, [](size_t i) { return kA * (static_cast<double>(i & 0xffff) * 0.25) + static_cast<double>(i >> 8); },
      [](double) { return 0.0; });
  const std::vector<double> times = repeat(context.settings, [&] { cores.run(); });
  constexpr double kGigabytes = 3.0 * kFloats * sizeof(float) / 1e9;
  result.value = kGigabytes / median(times);
  result.best = kGigabytes / times.front();
  return result;
}

// Chains of dependent multiply-add, as many as hide the latency; returns the sum of the chains' first elements.
constexpr int kChains = 12;

__attribute__((target("avx512f"))) double fmaRounds512(int rounds, float m, float c) {
  __m512 chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = _mm512_set1_ps(0.25f * static_cast<float>(i));
  const __m512 factor = _mm512_set1_ps(m);
  const __m512 addend = _mm512_set1_ps(c);
  for (int r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = _mm512_fmadd_ps(chain[i], factor, addend);
  }
  double sum = 0;
  for (int i = 0; i < kChains; ++i) sum += static_cast<double>(_mm512_cvtss_f32(chain[i]));
  return sum;
}

__attribute__((target("avx2,fma"))) double fmaRounds256(int rounds, float m, float c) {
  __m256 chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = _mm256_set1_ps(0.25f * static_cast<float>(i));
  const __m256 factor = _mm256_set1_ps(m);
  const __m256 addend = _mm256_set1_ps(c);
  for (int r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = _mm256_fmadd_ps(chain[i], factor, addend);
  }
  double sum = 0;
  for (int i = 0; i < kChains; ++i) sum += static_cast<double>(_mm256_cvtss_f32(chain[i]));
  return sum;
}

// SSE2: multiply, then add.
double fmaRounds128(int rounds, float m, float c) {
  __m128 chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = _mm_set1_ps(0.25f * static_cast<float>(i));
  const __m128 factor = _mm_set1_ps(m);
  const __m128 addend = _mm_set1_ps(c);
  for (int r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = _mm_add_ps(_mm_mul_ps(chain[i], factor), addend);
  }
  double sum = 0;
  for (int i = 0; i < kChains; ++i) sum += static_cast<double>(_mm_cvtss_f32(chain[i]));
  return sum;
}

Measurement measureFma(Context& context) {
  struct Kind {
    double (*rounds)(int, float, float);
    int lanes;
  };
  Kind kind{fmaRounds128, 4};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) kind = {fmaRounds256, 8};
  if (__builtin_cpu_supports("avx512f")) kind = {fmaRounds512, 16};

  constexpr int kRounds = 1 << 20;
  constexpr float kM = 0.999f;
  constexpr float kC = 0.001f;
  std::vector<double> sums(AllCores::count());
  AllCores cores([&](unsigned index) { sums[index] = kind.rounds(kRounds, kM, kC); });
  Measurement result;
  cores.run();
  const std::vector<double> times = repeat(context.settings, [&] { cores.run(); });
  // After a million rounds every chain sits at the fixed point.
  const double want = kChains * static_cast<double>(kC) / (1 - static_cast<double>(kM));
  for (const double sum : sums) {
    if (!(std::abs(sum - want) < 1e-2)) result.problem = fmt::format("got {}, expected {}", sum, want);
  }
  const double gigaflop = 2.0 * kChains * kRounds * kind.lanes * AllCores::count() / 1e9;
  result.value = gigaflop / median(times);
  result.best = gigaflop / times.front();
  return result;
}

Measurement measureFill(Context& context) {
  constexpr size_t kBytes = size_t{4} * kPicture.width * kPicture.height;
  std::vector<uint8_t> picture(kBytes);
  int value = 0;
  AllCores cores([&](unsigned index) {
    const size_t begin = kBytes * index / AllCores::count(), end = kBytes * (index + 1) / AllCores::count();
    std::memset(picture.data() + begin, value, end - begin);
  });
  Measurement result;
  cores.run();
  const std::vector<double> times = repeat(context.settings, [&] {
    value = (value + 1) % 256;
    cores.run();
  });
  if (std::ranges::any_of(picture, [&](uint8_t byte) { return byte != value; }))
    result.problem = "a byte is not filled";
  result.value = kBytes / 4 / 1e6 / median(times);
  result.best = kBytes / 4 / 1e6 / times.front();
  return result;
}

}  // namespace

void addCpuLines(std::vector<Line>& lines) {
  lines.push_back({"cpu_saxpy", "GB/s", Better::Higher, "saxpy in plain C++ on all cores, no Vulkan", measureSaxpy});
  lines.push_back({"cpu_fma_peak", "GFLOP/s", Better::Higher, "multiply-add peak of all cores, no Vulkan", measureFma});
  lines.push_back(
      {"cpu_fill", "Mpixel/s", Better::Higher, "memset of 1920x1080 pixels on all cores, no Vulkan", measureFill});
}

}  // namespace pumice::bench
