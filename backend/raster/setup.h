// Triangles to edges and records: culling, bounding boxes, edge functions, planes. Sixteen at a time; those that have
// to be clipped go one by one through clip.h. Pure functions; any thread.
#pragma once

#include "backend/abi/draw_packets.h"
#include "backend/raster/edges.h"
#include "backend/raster/viewport.h"

namespace pumice::raster {

enum class DepthKind : uint8_t { kNone, kUnorm16, kUnorm24, kFloat };

// State of a draw, as set-up wants it.
struct SetupState {
  ViewTransform view;
  // Pixels that may be covered: scissor, render area, and for triangles the viewport. Inside [0, 16384).
  PixelRect clip;
  uint8_t samples_log2 = 0;
  bool frontClockwise = false;
  bool cullFront = false, cullBack = false;
  bool provokingLast = false;
  uint8_t clipDistanceCount = 0, cullDistanceCount = 0;
  uint32_t varyingSlots = 0;  // rows of a vertex
  uint32_t viewport = 0;      // its index
  DepthKind depthKind = DepthKind::kNone;
  float biasConstant = 0, biasSlope = 0, biasClamp = 0;  // kNone ignores them
};

// Pixels that have a sample in the bounding box, clipped; never empty.
struct PrimitiveRect {
  uint16_t x0, y0, x1, y1;
};

// What consecutive primitives of a set have in common.
struct SetDraw {
  const void* payload;      // the machine's: programs, state, counters, or what to clear
  uint32_t firstPrimitive;  // of the set; the draw ends where the next one begins
  uint8_t edgeCount;        // 3 or 4
  uint8_t samples_log2;
  bool allSamples;  // as kPrimitiveAllSamples
  uint8_t reserved;
};
static_assert(sizeof(SetDraw) == 16);

// Where primitives go, in order. Owned by the caller, who adds a draw before its first primitive.
inline constexpr uint32_t kMaxSetPrimitives = 256;
struct PrimitiveSet {
  uint32_t count = 0;
  uint32_t drawCount = 0;
  Edges edges[kMaxSetPrimitives];
  abi::PrimitiveRecord records[kMaxSetPrimitives];
  PrimitiveRect rects[kMaxSetPrimitives];
  uint16_t source[kMaxSetPrimitives];  // number of the triangle that it comes from
  SetDraw draws[kMaxSetPrimitives];
};

// Triangle list of vertex numbers. Vertex 0 is the provoking one, or vertex 2 if provokingLast.
struct TriangleInput {
  const uint16_t (*vertices)[3];
  const uint32_t* primitiveId;
  uint32_t count;
};

// Sets up triangles from `first` on until they end or the set is full (no room for one more triangle after clipping).
// Returns the first that is not done.
uint32_t setUpTriangles(const TriangleInput& in, uint32_t first, const ScreenVertices& screen,
                        const VertexOutputs& outputs, const SetupState& state, PrimitiveSet& out);

// ---- The parts.

// Sixteen triangles, structure of arrays. `visible` and `mustClip` have a bit per triangle; the rest is defined for
// visible ones.
struct alignas(64) TriangleGroup {
  uint32_t visible, mustClip;
  uint32_t backFacing;
  int32_t a[3][16], b[3][16];
  int64_t c[3][16];
  int32_t rect[4][16];
  float words[24][16];  // of abi::PrimitiveRecord; integers where it has integers
  float depthMin[16], depthMax[16];
};

// in.vertices has at least 16 triangles from `first` on that may be read (the caller pads the last group).
using SetUpGroupFunction = void(const uint16_t (*vertices)[3], uint32_t count, const ScreenVertices& screen,
                                const SetupState& state, TriangleGroup& out);

}  // namespace pumice::raster
