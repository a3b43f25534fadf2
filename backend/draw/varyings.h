// Vertices as fragment functions load them: rows of four components, one vertex after the other.
#pragma once

#include "backend/raster/viewport.h"

namespace pumice::draw {

/// From the rows of `vertices` vertices (structure of arrays) to `out`, which has vertices * slots rows.
void gatherVaryings(const raster::VertexOutputs& outputs, uint32_t vertices, uint32_t slots, float (*out)[4]);

}  // namespace pumice::draw
