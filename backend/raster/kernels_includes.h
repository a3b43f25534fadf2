// What the loops of kernels.inl use: included before their target is set.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backend/raster/depth_bias.h"
#include "backend/raster/kernels.h"
