#include "backend/raster/clip.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>

#include "backend/raster/depth_bias.h"

namespace pumice::raster {
namespace {

// A corner as weights of the triangle's vertices.
using Weights = std::array<double, 3>;

// Something linear, by its values at the vertices.
double at(const Weights& w, const double* values) {
  return w[0] * values[0] + w[1] * values[1] + w[2] * values[2];
}

struct Homogeneous {
  double x[3], y[3], z[3], w[3];  // x and y in pixels times w
};

struct Polygon {
  uint32_t count = 3;
  Weights corners[kMaxCorners] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

  // Keeps what is not negative.
  void cut(const double* distance) {
    Weights kept[kMaxCorners];
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const Weights& p = corners[i];
      const Weights& q = corners[(i + 1) % count];
      const double dp = at(p, distance);
      const double dq = at(q, distance);
      if (dp >= 0 && n < kMaxCorners) kept[n++] = p;
      if ((dp >= 0) != (dq >= 0) && n < kMaxCorners) {
        // From the inside to the outside, whatever way the edge is walked.
        const Weights& in = dp >= 0 ? p : q;
        const Weights& out = dp >= 0 ? q : p;
        const double dIn = std::max(dp, dq);
        const double t = dIn / (dIn - std::min(dp, dq));
        for (size_t k = 0; k < 3; ++k) kept[n][k] = in[k] + t * (out[k] - in[k]);
        ++n;
      }
    }
    count = n;
    std::copy_n(kept, n, corners);
  }
};

// A distance that shaders have written.
double finiteDistance(float d) {
  return d >= 0.0f ? std::min(d, FLT_MAX) : d < 0.0f ? std::max(d, -FLT_MAX) : -1.0;
}

void cutAll(const Homogeneous& h, const ViewTransform& view, uint32_t any, const uint16_t vertices[3],
            const VertexOutputs& outputs, uint32_t clipDistanceCount, Polygon& polygon) {
  double d[3];
  const auto cut = [&](auto distance) {
    for (uint32_t k = 0; k < 3; ++k) d[k] = distance(k);
    polygon.cut(d);
  };
  if (any & kOutBehind) cut([&](uint32_t k) { return h.w[k] - double{kMinW}; });
  if (any & kOutNear) cut([&](uint32_t k) { return h.z[k] + double{view.nearW} * h.w[k]; });
  if (any & kOutFar) cut([&](uint32_t k) { return h.w[k] - h.z[k]; });
  // What is near the eye's plane projects to anywhere, even if the vertices themselves do not.
  if (any & (kOutGuard | kOutBehind)) {
    constexpr double kPixel = 1.0 / kSubpixels;
    cut([&](uint32_t k) { return h.x[k] - double{view.guardMinX} * kPixel * h.w[k]; });
    cut([&](uint32_t k) { return double{view.guardMaxX} * kPixel * h.w[k] - h.x[k]; });
    cut([&](uint32_t k) { return h.y[k] - double{view.guardMinY} * kPixel * h.w[k]; });
    cut([&](uint32_t k) { return double{view.guardMaxY} * kPixel * h.w[k] - h.y[k]; });
  }
  for (uint32_t i = 0; i < clipDistanceCount; ++i)
    if (any & (kOutDistance0 << i))
      cut([&](uint32_t k) { return finiteDistance(outputs.at(abi::kRowDistances + i, vertices[k])); });
}

int32_t snap(double pixels) {
  const double fixed = std::floor(pixels * kSubpixels + 0.5);
  if (!(fixed > double{kMinCoordinate})) return kMinCoordinate;
  return static_cast<int32_t>(std::min(fixed, double{kMaxCoordinate}));
}

void addCorner(ClippedTriangle& out, Point p) {
  if (out.cornerCount > 0) {
    const Point last = out.corners[out.cornerCount - 1];
    if (p.x == last.x && p.y == last.y) return;
  }
  out.corners[out.cornerCount++] = p;
}

struct Plane {
  double atOrigin = 0, dx = 0, dy = 0;

  void add(const Plane& p, double factor) {
    atOrigin += p.atOrigin * factor;
    dx += p.dx * factor;
    dy += p.dy * factor;
  }
  abi::ScreenPlane rounded() const {
    return {static_cast<float>(atOrigin), static_cast<float>(dx), static_cast<float>(dy)};
  }
};

// weight[k] / w as a plane, for each vertex: A x + B y + C with A X + B Y + C W = 1 at vertex k and 0 at the others.
void weightPlanes(const Homogeneous& h, double originX, double originY, Plane out[3]) {
  double x[3];
  double y[3];
  for (uint32_t k = 0; k < 3; ++k) {
    x[k] = h.x[k] - originX * h.w[k];
    y[k] = h.y[k] - originY * h.w[k];
  }
  double determinant = 0;
  for (uint32_t k = 0; k < 3; ++k) {
    const uint32_t m = (k + 1) % 3;
    const uint32_t n = (k + 2) % 3;
    out[k].dx = y[m] * h.w[n] - h.w[m] * y[n];
    out[k].dy = h.w[m] * x[n] - x[m] * h.w[n];
    out[k].atOrigin = x[m] * y[n] - y[m] * x[n];
    if (k == 0) determinant = x[0] * out[0].dx + y[0] * out[0].dy + h.w[0] * out[0].atOrigin;
  }
  for (uint32_t k = 0; k < 3; ++k) {
    out[k].dx /= determinant;
    out[k].dy /= determinant;
    out[k].atOrigin /= determinant;
  }
}

// The middle of a polygon's bounding box, as far as pixels may be covered.
Point middle(const ClippedTriangle& polygon, const PixelRect& clip) {
  Point low = polygon.corners[0];
  Point high = low;
  for (uint32_t i = 1; i < polygon.cornerCount; ++i) {
    low = {std::min(low.x, polygon.corners[i].x), std::min(low.y, polygon.corners[i].y)};
    high = {std::max(high.x, polygon.corners[i].x), std::max(high.y, polygon.corners[i].y)};
  }
  const auto clamped = [](int32_t v, int32_t first, int32_t end) {
    return std::clamp(v, first * kSubpixels, std::max(first, end) * kSubpixels);
  };
  return {(clamped(low.x, clip.x0, clip.x1) + clamped(high.x, clip.x0, clip.x1)) / 2,
          (clamped(low.y, clip.y0, clip.y1) + clamped(high.y, clip.y0, clip.y1)) / 2};
}

void makeRecord(const Homogeneous& h, const uint16_t vertices[3], const SetupState& state, ClippedTriangle& out) {
  abi::PrimitiveRecord& record = out.record;
  record = {};
  // Corners may be far outside, where planes have values that are large beside those in sight.
  const Point origin = middle(out, state.clip);
  record.originX = static_cast<float>(origin.x) / kSubpixels;
  record.originY = static_cast<float>(origin.y) / kSubpixels;
  Plane weight[3];
  weightPlanes(h, record.originX, record.originY, weight);
  Plane oneOverW;
  Plane depth;
  Plane linear[2];
  for (uint32_t k = 0; k < 3; ++k) {
    oneOverW.add(weight[k], 1);
    depth.add(weight[k], h.z[k] * double{state.view.scaleZ});
    if (k > 0) linear[k - 1].add(weight[k], h.w[k]);
  }
  depth.atOrigin += double{state.view.offsetZ};
  record.oneOverW = oneOverW.rounded();
  record.iOverW = weight[1].rounded();
  record.jOverW = weight[2].rounded();
  record.iLinear = linear[0].rounded();
  record.jLinear = linear[1].rounded();
  record.vertex0 = vertices[0] * state.varyingSlots;
  record.vertex1 = vertices[1] * state.varyingSlots;
  record.vertex2 = vertices[2] * state.varyingSlots;
  record.provokingVertex = state.provokingLast ? record.vertex2 : record.vertex0;
  record.flags = out.backFacing ? uint32_t{abi::kPrimitiveBackFacing} : 0;

  double low = DBL_MAX;
  double high = -DBL_MAX;
  for (uint32_t i = 0; i < out.cornerCount; ++i) {
    const double z = depth.atOrigin + (out.corners[i].x - origin.x) * depth.dx / kSubpixels +
                     (out.corners[i].y - origin.y) * depth.dy / kSubpixels;
    low = std::min(low, z);
    high = std::max(high, z);
  }
  const double largest = std::max(std::fabs(low), std::fabs(high));
  float bias = 0;
  if (state.depthKind != DepthKind::kNone)
    bias = depthBias(state, static_cast<float>(depth.dx), static_cast<float>(depth.dy), static_cast<float>(largest));
  depth.atOrigin += double{bias};
  record.depth = depth.rounded();
  // Room for the rounding of what fragments compute, whose terms may be as large as the plane is over the polygon.
  const double slack = (largest + std::fabs(double{bias})) * 0x1p-18;
  record.depthMin = static_cast<float>(low + double{bias} - slack);
  record.depthMax = static_cast<float>(high + double{bias} + slack);
}

}  // namespace

bool clipTriangle(const uint16_t vertices[3], const ScreenVertices& screen, const VertexOutputs& outputs,
                  const SetupState& state, ClippedTriangle& out) {
  const ViewTransform& view = state.view;
  Homogeneous h;
  uint32_t any = 0;
  for (uint32_t k = 0; k < 3; ++k) {
    const uint32_t v = vertices[k];
    h.w[k] = outputs.at(abi::kRowPosition + 3, v);
    h.x[k] = double{outputs.at(abi::kRowPosition, v)} * double{view.scaleX} + double{view.offsetX} * h.w[k];
    h.y[k] = double{outputs.at(abi::kRowPosition + 1, v)} * double{view.scaleY} + double{view.offsetY} * h.w[k];
    h.z[k] = outputs.at(abi::kRowPosition + 2, v);
    any |= screen.vertex[v].outcode;
  }
  // Twice the area times w0 w1 w2: its sign is the facing of what is in front of the eye.
  const double area = h.x[0] * (h.y[1] * h.w[2] - h.w[1] * h.y[2]) + h.y[0] * (h.w[1] * h.x[2] - h.x[1] * h.w[2]) +
                      h.w[0] * (h.x[1] * h.y[2] - h.y[1] * h.x[2]);
  if (!(area != 0) || !std::isfinite(area)) return false;
  out.backFacing = (area > 0) != state.frontClockwise;
  if (out.backFacing ? state.cullBack : state.cullFront) return false;

  Polygon polygon;
  cutAll(h, view, any, vertices, outputs, state.clipDistanceCount, polygon);
  out.cornerCount = 0;
  for (uint32_t i = 0; i < polygon.count; ++i) {
    const Weights& corner = polygon.corners[area > 0 ? i : polygon.count - 1 - i];
    const auto original = std::find(corner.begin(), corner.end(), 1.0);
    const uint32_t v = original != corner.end() ? vertices[original - corner.begin()] : 0u;
    // A vertex that remains is where its neighbours that are not clipped have it, unless floats had put it beyond the
    // guard.
    if (original != corner.end() && !(screen.vertex[v].outcode & kOutGuard)) {
      addCorner(out, {screen.vertex[v].x, screen.vertex[v].y});
    } else {
      const double w = std::max(at(corner, h.w), double{kMinW});  // rounding may have left less
      addCorner(out, {snap(at(corner, h.x) / w), snap(at(corner, h.y) / w)});
    }
  }
  if (out.cornerCount > 1 && out.corners[0].x == out.corners[out.cornerCount - 1].x &&
      out.corners[0].y == out.corners[out.cornerCount - 1].y)
    --out.cornerCount;
  if (out.cornerCount < 3) return false;
  makeRecord(h, vertices, state, out);
  return true;
}

}  // namespace pumice::raster
