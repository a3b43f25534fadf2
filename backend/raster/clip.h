// Triangles that reach out of the clip volume, behind the eye or beyond the guard band: the part that is inside, as a
// polygon. One at a time, in double precision. Pure functions; any thread.
//
// New corners are positions alone: attributes and depth come from planes of the whole triangle in homogeneous
// coordinates. A new corner on an edge depends on that edge only, and on which end is inside, so two triangles that
// share the edge get the same corner.
#pragma once

#include "backend/raster/setup.h"

namespace pumice::raster {

// Three, and one more per plane: near, far, behind, four of the guard, eight distances.
inline constexpr uint32_t kMaxCorners = 3 + 15;
inline constexpr uint32_t kMaxClippedTriangles = kMaxCorners - 2;

struct ClippedTriangle {
  uint32_t cornerCount;
  Point corners[kMaxCorners];  // clockwise, no two neighbours alike
  bool backFacing;
  abi::PrimitiveRecord record;  // all but primitiveId and viewport
};

// False: nothing is left, or it is culled.
bool clipTriangle(const uint16_t vertices[3], const ScreenVertices& screen, const VertexOutputs& outputs,
                  const SetupState& state, ClippedTriangle& out);

}  // namespace pumice::raster
