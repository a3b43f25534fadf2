// Fixed-point screen coordinates and what follows for the integers of edge functions.
//
// A coordinate counts 1/256 pixels. Framebuffers have at most 16384 pixels a side; a guard band of 8192 pixels around
// them is what triangles may reach into without being clipped at the sides. So every coordinate of a primitive that is
// set up is an integer in [kMinCoordinate, kMaxCoordinate] = [-2^21, 3 * 2^21].
//
// Edge functions E(x, y) = a x + b y + c over such coordinates, a and b being differences of two of them:
//   |a|, |b| <= 4 * 2^21 = 2^23;
//   |c| = |a x0 + b y0| <= 2 * 2^23 * 3 * 2^21 < 2^47, one less for edges that do not own their points: fits int64, and
//   a double holds it exactly (as it does products a b' <= 2^46 and the doubled area, their difference, <= 2^47);
//   |E| < 2^47 + 2 * 2^23 * 2^22 < 2^48 anywhere in the framebuffer.
//
// In pixels: at sample (sx, sy) of pixel (px, py), E = 256 (a px + b py) + (a sx + b sy + c). The first term is a
// multiple of 256, so E >= 0 exactly if e = a px + b py + ((a sx + b sy + c) >> 8) >= 0. Inside a block of 64 pixels,
// counted from its corner, an edge that is neither negative nor non-negative at all samples has values of both signs,
// and two values of e in the block differ by at most 63 (|a| + |b|) between pixels and (|a| + |b|) + 1 between samples
// of a pixel: so
//   |e| <= 64 (|a| + |b|) + 1 <= 64 * 2^24 + 1 = 2^30 + 1: fits int32.
// Edges of one sign are decided at the corner in int64 and not looked at in the block.
#pragma once

#include <cstdint>

namespace pumice::raster {

inline constexpr int32_t kSubpixelBits = 8;
inline constexpr int32_t kSubpixels = 1 << kSubpixelBits;
inline constexpr int32_t kMaxFramebufferEdge = 16384;
inline constexpr int32_t kGuardPixels = 8192;
inline constexpr int32_t kMinCoordinate = -kGuardPixels * kSubpixels;
inline constexpr int32_t kMaxCoordinate = (kMaxFramebufferEdge + kGuardPixels) * kSubpixels;

inline constexpr int64_t kMaxSlope = int64_t{kMaxCoordinate} - kMinCoordinate;
static_assert(kMaxSlope == 1 << 23);
static_assert(64 * 2 * kMaxSlope + 1 < INT32_MAX);
static_assert(2 * kMaxSlope * kMaxCoordinate + 1 < int64_t{1} << 47);

struct Point {
  int32_t x, y;
};

}  // namespace pumice::raster
