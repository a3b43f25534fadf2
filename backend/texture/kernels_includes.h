// What the loops of kernels.inl use: included before their target is set.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backend/formats/srgb.h"
#include "backend/texture/access.h"
#include "backend/texture/address.h"
#include "backend/texture/texture.h"
