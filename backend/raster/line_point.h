// Lines and points as polygons of four edges, so that bins and coverage need not know of them. One at a time, in double
// precision. Pure functions; any thread.
#pragma once

#include "backend/raster/setup.h"

namespace pumice::raster {

// Adds the line from vertex a to vertex b to the set, if anything of it may be visible; the set has room for one more.
//
// Rectangular: the corners of the line's rectangle. Bresenham: the fragments of the diamond-exit rule
// (Vulkan 1.3, 28.12.1), which are the pixel centers inside of a parallelogram; a covered pixel is covered with all
// samples (kPrimitiveAllSamples), and the width is a whole number of pixels. `width` is at most 64. Unlike triangles,
// lines are clipped to the whole volume: state.clip is scissor and render area alone.
void setUpLine(uint16_t a, uint16_t b, bool bresenham, float width, uint32_t primitiveId, uint32_t source,
               const ScreenVertices& screen, const VertexOutputs& outputs, const SetupState& state, PrimitiveSet& out);

// A square of `size` pixels around a vertex; nothing if the vertex is outside of the volume. state.clip as for lines.
void setUpPoint(uint16_t vertex, float size, uint32_t primitiveId, uint32_t source, const ScreenVertices& screen,
                const SetupState& state, PrimitiveSet& out);

}  // namespace pumice::raster
