// From clip space to the framebuffer: one viewport, as front end and clipper use it.
#pragma once

#include "backend/abi/draw_packets.h"
#include "backend/raster/coverage.h"

namespace pumice::raster {

// pixel = clip * scale / w + offset; depth the same with z.
struct ViewTransform {
  float scaleX, scaleY, scaleZ;
  float offsetX, offsetY, offsetZ;
  // The clip volume ends at z = -nearW * w (0 or 1) and z = w.
  float nearW;
  bool depthClip;
  // What triangles may reach to without being clipped at the sides, in 1/256 pixel: the guard band; but the viewport
  // itself where its sides are not between pixels, because then no rectangle of pixels can stand for it.
  float guardMinX, guardMinY, guardMaxX, guardMaxY;
  // Pixels of the viewport. The sides of the clip volume are enforced by this, as long as triangles stay inside the
  // guard.
  PixelRect pixels;
};

ViewTransform makeViewTransform(const abi::Viewport& viewport, bool depthNegativeOneToOne, bool depthClip);

// What `outcode` says of a vertex. A primitive has nothing inside if a bit of kRejectBits is set in all its vertices,
// or kOutBad in one; it must be clipped if a bit of kClipBits is set in one (or of a clip distance).
enum Outcode : uint32_t {
  kOutLeft = 1,
  kOutRight = 2,
  kOutTop = 4,
  kOutBottom = 8,
  kOutNear = 16,
  kOutFar = 32,
  kOutBehind = 64,           // w is not at least kMinW
  kOutGuard = 128,           // beyond the guard
  kOutBad = 256,             // infinities and NaN
  kOutDistance0 = 1u << 16,  // and seven more: negative clip or cull distance (NaN counts as negative)
};
inline constexpr uint32_t kRejectBits = 0x00FF007F;
inline constexpr uint32_t kClipBits = kOutNear | kOutFar | kOutBehind | kOutGuard;

// Vertices are in front of the eye from here on. Smaller numbers have quotients that products of weights would overflow
// with.
inline constexpr float kMinW = 0x1p-80f;

// A vertex on the screen: what set-up loads as one vector. Coordinates of vertices with bits of kClipBits (but
// kOutNear, kOutFar) mean nothing.
struct ScreenVertex {
  int32_t x, y;  // 1/256 pixel
  uint32_t outcode;
  float oneOverW;
};
static_assert(sizeof(ScreenVertex) == 16);

// By number. Depth is apart: triangles that are not seen have no need of it.
inline constexpr uint32_t kMaxChunkVertices = 768;
struct alignas(64) ScreenVertices {
  ScreenVertex vertex[kMaxChunkVertices];
  float depth[kMaxChunkVertices];
};

// What vertex functions have written: blocks of rows (vertex_abi.h), one after the other.
struct VertexOutputs {
  const abi::VertexRow* rows;
  uint32_t rowCount;       // of a block
  uint32_t distanceCount;  // clip and cull distances
  float at(uint32_t row, uint32_t vertex) const {
    return __builtin_bit_cast(
        float, rows[(vertex / abi::kVertexBlockLanes) * rowCount + row][vertex % abi::kVertexBlockLanes]);
  }
};

// One block of vertices, number firstVertex (a multiple of 64) and on.
using TransformFunction = void(const VertexOutputs& in, const ViewTransform& view, uint32_t firstVertex,
                               ScreenVertices& out);

}  // namespace pumice::raster
