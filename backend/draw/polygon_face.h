// Facing and depth bias of triangles that are drawn as lines or points. Pure functions; any thread.
#pragma once

#include "backend/raster/setup.h"

namespace pumice::draw {

struct PolygonFace {
  bool culled, back;
  float bias;
};

PolygonFace faceOf(const uint16_t vertices[3], const raster::ScreenVertices& screen,
                   const raster::VertexOutputs& outputs, const raster::SetupState& state);

}  // namespace pumice::draw
