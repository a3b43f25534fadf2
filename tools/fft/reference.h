// FFTs on the CPU by FFTW: the double-precision reference, and the speed of the same transform in its own precision on
// all cores.
#pragma once

#include <span>
#include <vector>

#include "tools/fft/vkfft_plan.h"

namespace pumice::fft {

// The forward transform of `input` (shape.totalComplex() pairs in the buffer's layout) in double precision.
std::vector<double> referenceTransform(const Shape& shape, std::span<const double> input);

// Seconds of one transform of the whole batch on all cores, plan making not counted.
double fftwSeconds(const Shape& shape, double secondsToMeasure);

}  // namespace pumice::fft
