#include "backend/draw/polygon_face.h"

#include <algorithm>
#include <cmath>

#include "backend/raster/depth_bias.h"

namespace pumice::draw {
namespace {

double determinant(const double (&a)[3], const double (&b)[3], const double (&c)[3]) {
  return a[0] * (b[1] * c[2] - c[1] * b[2]) + b[0] * (c[1] * a[2] - a[1] * c[2]) + c[0] * (a[1] * b[2] - b[1] * a[2]);
}

}  // namespace

// In homogeneous coordinates, so that triangles that reach behind the eye have a face, too: the sign of the determinant
// is the facing of what is in front, and the depth's slopes follow by Cramer's rule.
PolygonFace faceOf(const uint16_t vertices[3], const raster::ScreenVertices& screen,
                   const raster::VertexOutputs& outputs, const raster::SetupState& state) {
  const raster::ViewTransform& view = state.view;
  double x[3];
  double y[3];
  double z[3];
  double w[3];
  float largest = 0;
  for (uint32_t k = 0; k < 3; ++k) {
    const uint32_t v = vertices[k];
    w[k] = double{outputs.at(abi::kRowPosition + 3, v)};
    x[k] = double{outputs.at(abi::kRowPosition, v)} * double{view.scaleX} + double{view.offsetX} * w[k];
    y[k] = double{outputs.at(abi::kRowPosition + 1, v)} * double{view.scaleY} + double{view.offsetY} * w[k];
    z[k] = double{outputs.at(abi::kRowPosition + 2, v)} * double{view.scaleZ} + double{view.offsetZ} * w[k];
    if (!(screen.vertex[v].outcode & raster::kOutBehind)) largest = raster::largerMagnitude(largest, screen.depth[v]);
  }
  const double area = determinant(x, y, w);
  if (!(area != 0) || !std::isfinite(area)) return {true, false, 0};
  const bool back = (area > 0) != state.frontClockwise;
  if (back ? state.cullBack : state.cullFront) return {true, back, 0};
  if (state.depthKind == raster::DepthKind::kNone) return {false, back, 0};
  const double slopeX = determinant(z, y, w) / area;
  const double slopeY = determinant(x, z, w) / area;
  return {false, back, raster::depthBias(state, static_cast<float>(slopeX), static_cast<float>(slopeY), largest)};
}

}  // namespace pumice::draw
