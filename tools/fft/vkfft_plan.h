// One forward FFT through VkFFT's Vulkan backend: plan, in-place buffer and a recorded command buffer.
//
// VkFFT generates GLSL and compiles it with glslang while the plan is made, so that a plan exercises a driver's shader
// compiler with code nobody wrote by hand. Single-threaded, like bench::Host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "bench/common/vulkan_host.h"

namespace pumice::fft {

struct Shape {
  uint32_t width = 1;   // the fastest dimension
  uint32_t height = 1;  // 1: one-dimensional
  uint32_t batch = 1;   // transforms in one submission; one-dimensional shapes only
  bool real = false;    // real to complex: rows of width reals become width / 2 + 1 complex numbers
  bool fp64 = false;

  size_t points() const { return static_cast<size_t>(width) * height; }
  // Complex numbers of a row in the buffer; real rows are padded to the same bytes.
  size_t rowComplex() const { return real ? width / 2 + 1 : width; }
  size_t totalComplex() const { return rowComplex() * height * batch; }
  size_t bytes() const { return totalComplex() * 2 * (fp64 ? sizeof(double) : sizeof(float)); }
};

class Plan {
 public:
  // Throws std::runtime_error when VkFFT cannot make the plan.
  Plan(bench::Host& host, const Shape& shape);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // The data, transformed in place.
  const bench::Buffer& buffer() const;
  // Transforms the buffer once and waits.
  void run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pumice::fft
