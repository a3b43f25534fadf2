#include "tools/fft/reference.h"

#include <fftw3.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace pumice::fft {

namespace {

// FFTW's two precisions under one set of names.
template <typename Real>
struct Fftw;

template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  static constexpr auto planMany = fftw_plan_many_dft;
  static constexpr auto planManyReal = fftw_plan_many_dft_r2c;
  static constexpr auto execute = fftw_execute;
  static constexpr auto destroy = fftw_destroy_plan;
  static void useThreads(int count) {
    static const int initialized = fftw_init_threads();
    if (initialized) fftw_plan_with_nthreads(count);
  }
  static constexpr auto setTimeLimit = fftw_set_timelimit;
};

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  static constexpr auto planMany = fftwf_plan_many_dft;
  static constexpr auto planManyReal = fftwf_plan_many_dft_r2c;
  static constexpr auto execute = fftwf_execute;
  static constexpr auto destroy = fftwf_destroy_plan;
  static void useThreads(int count) {
    static const int initialized = fftwf_init_threads();
    if (initialized) fftwf_plan_with_nthreads(count);
  }
  static constexpr auto setTimeLimit = fftwf_set_timelimit;
};

// An in-place plan in the layout of Shape. Planning with FFTW_MEASURE overwrites the data.
template <typename Real>
typename Fftw<Real>::Plan makePlan(const Shape& shape, Real* data, unsigned flags) {
  const int sizes[2] = {static_cast<int>(shape.height), static_cast<int>(shape.width)};
  const int rank = shape.height > 1 ? 2 : 1;
  const int* n = rank == 2 ? sizes : sizes + 1;
  const auto row = static_cast<int>(shape.rowComplex());
  const int complexSizes[2] = {sizes[0], row};
  const int realSizes[2] = {sizes[0], 2 * row};
  const int* complexEmbed = rank == 2 ? complexSizes : complexSizes + 1;
  const int* realEmbed = rank == 2 ? realSizes : realSizes + 1;
  const auto batch = static_cast<int>(shape.batch);
  const int distance = row * sizes[0];
  auto* complexData = reinterpret_cast<typename Fftw<Real>::Complex*>(data);
  if (shape.real) {
    return Fftw<Real>::planManyReal(rank, n, batch, data, realEmbed, 1, 2 * distance, complexData, complexEmbed, 1,
                                    distance, flags);
  }
  return Fftw<Real>::planMany(rank, n, batch, complexData, complexEmbed, 1, distance, complexData, complexEmbed, 1,
                              distance, FFTW_FORWARD, flags);
}

template <typename Real>
double measure(const Shape& shape, double secondsToMeasure) {
  using Clock = std::chrono::steady_clock;
  std::vector<Real> data(shape.totalComplex() * 2);
  Fftw<Real>::useThreads(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  Fftw<Real>::setTimeLimit(1.0);
  const auto plan = makePlan<Real>(shape, data.data(), FFTW_MEASURE);
  // Zeros stay zeros: repeated transforms cannot overflow.
  std::ranges::fill(data, Real{0});
  Fftw<Real>::execute(plan);
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(secondsToMeasure);
  do {
    const auto start = Clock::now();
    Fftw<Real>::execute(plan);
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  } while (times.size() < 3 || Clock::now() < end);
  Fftw<Real>::destroy(plan);
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

std::vector<double> referenceTransform(const Shape& shape, std::span<const double> input) {
  std::vector<double> data(input.size());
  Fftw<double>::useThreads(1);
  const auto plan = makePlan<double>(shape, data.data(), FFTW_ESTIMATE);
  std::ranges::copy(input, data.begin());
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return data;
}

double fftwSeconds(const Shape& shape, double secondsToMeasure) {
  return shape.fp64 ? measure<double>(shape, secondsToMeasure) : measure<float>(shape, secondsToMeasure);
}

}  // namespace pumice::fft
