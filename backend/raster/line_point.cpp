#include "backend/raster/line_point.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>

#include "backend/raster/bounding.h"

namespace pumice::raster {
namespace {

int32_t toCoordinate(double fixed) {
  const double rounded = std::floor(fixed + 0.5);
  if (!(rounded > double{kMinCoordinate})) return kMinCoordinate;
  return static_cast<int32_t>(std::min(rounded, double{kMaxCoordinate}));
}

// A line in clip space: anything linear is f[0] + t * (f[1] - f[0]).
struct Segment {
  double x[2], y[2], z[2], w[2];  // x and y in 1/256 pixel times w
  double begin = 0, end = 1;      // what is left of it

  static double at(const double f[2], double t) { return f[0] + t * (f[1] - f[0]); }

  // Keeps what is not negative; false if nothing is.
  bool cut(double d0, double d1) {
    if (d0 < 0 && d1 < 0) return false;
    if (d0 < 0) begin = std::max(begin, d0 / (d0 - d1));
    if (d1 < 0) end = std::min(end, d0 / (d0 - d1));
    return begin <= end;
  }
};

double finite(float d) {
  return d >= 0.0f ? double{std::min(d, FLT_MAX)} : d < 0.0f ? double{std::max(d, -FLT_MAX)} : -1.0;
}

bool clip(Segment& s, uint16_t a, uint16_t b, uint32_t any, const VertexOutputs& outputs, const SetupState& state) {
  const ViewTransform& view = state.view;
  const auto cut = [&](auto distance) { return s.cut(distance(0), distance(1)); };
  if ((any & kOutBehind) && !cut([&](int k) { return s.w[k] - double{kMinW}; })) return false;
  if ((any & kOutNear) && !cut([&](int k) { return s.z[k] + double{view.nearW} * s.w[k]; })) return false;
  if ((any & kOutFar) && !cut([&](int k) { return s.w[k] - s.z[k]; })) return false;
  // The sides of the volume; y may point either way.
  const double centerX = double{view.offsetX} * kSubpixels;
  const double centerY = double{view.offsetY} * kSubpixels;
  const double halfX = std::fabs(double{view.scaleX}) * kSubpixels;
  const double halfY = std::fabs(double{view.scaleY}) * kSubpixels;
  const double x0 = std::max(centerX - halfX, double{kMinCoordinate});
  const double x1 = std::min(centerX + halfX, double{kMaxCoordinate});
  const double y0 = std::max(centerY - halfY, double{kMinCoordinate});
  const double y1 = std::min(centerY + halfY, double{kMaxCoordinate});
  if (any & (kOutLeft | kOutRight | kOutTop | kOutBottom | kOutGuard | kOutBehind)) {
    if (!cut([&](int k) { return s.x[k] - x0 * s.w[k]; })) return false;
    if (!cut([&](int k) { return x1 * s.w[k] - s.x[k]; })) return false;
    if (!cut([&](int k) { return s.y[k] - y0 * s.w[k]; })) return false;
    if (!cut([&](int k) { return y1 * s.w[k] - s.y[k]; })) return false;
  }
  for (uint32_t i = 0; i < state.clipDistanceCount; ++i)
    if ((any & (kOutDistance0 << i)) &&
        !cut([&](int k) { return finite(outputs.at(abi::kRowDistances + i, k ? b : a)); }))
      return false;
  return true;
}

// Corners of the rectangle, clockwise. False for lines without length.
bool rectangle(Point a, Point b, float width, Point out[4]) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = std::hypot(dx, dy);
  if (length == 0) return false;
  const double half = double{width} * kSubpixels / 2 / length;
  // To the right of the line's direction, on the screen; whole numbers, so that opposite edges are parallel.
  const int32_t ox = static_cast<int32_t>(std::floor(-dy * half + 0.5));
  const int32_t oy = static_cast<int32_t>(std::floor(dx * half + 0.5));
  const auto corner = [](Point p, int32_t x, int32_t y) {
    return Point{std::clamp(p.x + x, kMinCoordinate, kMaxCoordinate),
                 std::clamp(p.y + y, kMinCoordinate, kMaxCoordinate)};
  };
  out[0] = corner(a, -ox, -oy);
  out[1] = corner(b, -ox, -oy);
  out[2] = corner(b, ox, oy);
  out[3] = corner(a, ox, oy);
  return doubleArea(out[0], out[1], out[2]) > 0;
}

// Whether a line's end lies in the diamond of its pixel. Ends are moved by (-e, -e*e), so the point on the border is
// inside if that brings it nearer to the center, which its x decides.
bool inDiamond(Point p) {
  const int32_t x = ((p.x - 1) & (kSubpixels - 1)) + 1 - kSubpixels / 2;
  const int32_t y = ((p.y - 1) & (kSubpixels - 1)) + 1 - kSubpixels / 2;
  const int32_t distance = std::abs(x) + std::abs(y);
  return distance < kSubpixels / 2 || (distance == kSubpixels / 2 && x > 0);
}

// The fragments of a line that is no steeper than 45 degrees in `along` (x or y), as four edges. In each column (row)
// that it goes through there is one: the pixel whose side the line crosses at the column's center. It counts if the
// line leaves its diamond: where it begins, if it begins before the center or in the diamond; where it ends, if it ends
// behind the center and not in the diamond. A line of some width is one that is moved across by half of what it has
// more than one, and has as many fragments side by side from there on.
bool diamondExit(Point a, Point b, int32_t width, Edges& out, Point corners[4]) {
  const int32_t dx = b.x - a.x;
  const int32_t dy = b.y - a.y;
  const bool xMajor = std::abs(dx) >= std::abs(dy);
  for (Point* end : {&a, &b}) (xMajor ? end->y : end->x) -= (width - 1) * kSubpixels / 2;
  const int32_t from = xMajor ? a.x : a.y;
  const int32_t to = xMajor ? b.x : b.y;
  if (from == to) return false;
  const bool ascending = from < to;
  // Columns; ends are a hair before their coordinates.
  const auto column = [](int32_t v) { return (v - 1) >> kSubpixelBits; };
  const auto pastCenter = [](int32_t v) { return ((v - 1) & (kSubpixels - 1)) + 1 > kSubpixels / 2; };
  int32_t first;
  int32_t end;
  if (ascending) {
    first = column(from) + (pastCenter(from) && !inDiamond(a) ? 1 : 0);
    end = column(to) + (pastCenter(to) && !inDiamond(b) ? 1 : 0);
  } else {
    end = column(from) + (pastCenter(from) || inDiamond(a) ? 1 : 0);
    first = column(to) + (pastCenter(to) || inDiamond(b) ? 1 : 0);
  }
  if (first >= end) return false;

  // L = u (v - line) with the greater difference u > 0: v is what is across, half a pixel to both sides.
  const int64_t u = std::abs(xMajor ? dx : dy);
  const int64_t v = (xMajor ? dy : dx) * (ascending ? 1 : -1);
  const int64_t atA = -(u * (xMajor ? a.y : a.x) - v * from);
  // Where the line meets a border between pixels at a center: moved by (-e, -e*e), it is below it if it rises with x;
  // of steep lines, and level ones, it is always above.
  const bool below = xMajor && v > 0;
  const int64_t half = u * (kSubpixels / 2);
  const auto set = [&](uint32_t i, int64_t along, int64_t across, int64_t c) {
    out.a[i] = static_cast<int32_t>(xMajor ? along : across);
    out.b[i] = static_cast<int32_t>(xMajor ? across : along);
    out.c[i] = c;
  };
  set(0, -v, u, atA + half - (below ? 1 : 0));
  set(1, v, -u, -atA + half + u * (width - 1) * kSubpixels - (below ? 0 : 1));
  set(2, 1, 0, -int64_t{first} * kSubpixels);
  set(3, -1, 0, int64_t{end} * kSubpixels - 1);
  for (uint32_t i = 0; i < 4; ++i) {
    corners[i] = i < 2 ? a : b;
    int32_t& side = xMajor ? corners[i].y : corners[i].x;
    side += i % 2 ? width * kSubpixels : -kSubpixels;
    int32_t& front = xMajor ? corners[i].x : corners[i].y;
    front += (i < 2) == ascending ? -kSubpixels : kSubpixels;
  }
  return true;
}

}  // namespace

void setUpLine(uint16_t a, uint16_t b, bool bresenham, float width, uint32_t primitiveId, uint32_t source,
               const ScreenVertices& screen, const VertexOutputs& outputs, const SetupState& state, PrimitiveSet& out) {
  const uint32_t any = screen.vertex[a].outcode | screen.vertex[b].outcode;
  if ((screen.vertex[a].outcode & screen.vertex[b].outcode & kRejectBits) || (any & kOutBad)) return;
  Segment s;
  for (uint32_t k = 0; k < 2; ++k) {
    const uint32_t v = k ? b : a;
    const ViewTransform& view = state.view;
    s.w[k] = outputs.at(abi::kRowPosition + 3, v);
    s.x[k] =
        (double{outputs.at(abi::kRowPosition, v)} * double{view.scaleX} + double{view.offsetX} * s.w[k]) * kSubpixels;
    s.y[k] = (double{outputs.at(abi::kRowPosition + 1, v)} * double{view.scaleY} + double{view.offsetY} * s.w[k]) *
             kSubpixels;
    s.z[k] = outputs.at(abi::kRowPosition + 2, v);
  }
  if (!clip(s, a, b, any, outputs, state)) return;

  Point ends[2];
  double t[2] = {s.begin, s.end};
  double w[2];
  for (uint32_t k = 0; k < 2; ++k) {
    w[k] = std::max(Segment::at(s.w, t[k]), double{kMinW});
    const uint32_t v = k ? b : a;
    if (t[k] == k && !(screen.vertex[v].outcode & kOutGuard))
      ends[k] = {screen.vertex[v].x, screen.vertex[v].y};
    else
      ends[k] = {toCoordinate(Segment::at(s.x, t[k]) / w[k]), toCoordinate(Segment::at(s.y, t[k]) / w[k])};
  }

  const uint32_t n = out.count;
  Point corners[4];
  if (bresenham) {
    const auto pixels = static_cast<int32_t>(std::max(width, 1.0f) + 0.5f);
    if (!diamondExit(ends[0], ends[1], pixels, out.edges[n], corners)) return;
  } else {
    if (!rectangle(ends[0], ends[1], width, corners)) return;
    out.edges[n] = makeEdges(corners, 4);
  }
  if (!boundingRect(corners, 4, state.samples_log2, state.clip, out.rects[n])) return;

  // Everything is linear along the line and constant across.
  const double dx = static_cast<double>(ends[1].x - ends[0].x) / kSubpixels;
  const double dy = static_cast<double>(ends[1].y - ends[0].y) / kSubpixels;
  const double square = dx * dx + dy * dy;
  const auto plane = [&](double first, double last) {
    const double step = (last - first) / square;
    return abi::ScreenPlane{static_cast<float>(first), static_cast<float>(step * dx), static_cast<float>(step * dy)};
  };
  double depth[2];
  for (uint32_t k = 0; k < 2; ++k)
    depth[k] = Segment::at(s.z, t[k]) / w[k] * double{state.view.scaleZ} + double{state.view.offsetZ};
  abi::PrimitiveRecord& record = out.records[n];
  record = {};
  record.originX = static_cast<float>(ends[0].x) / kSubpixels;
  record.originY = static_cast<float>(ends[0].y) / kSubpixels;
  record.oneOverW = plane(1 / w[0], 1 / w[1]);
  record.iOverW = plane(t[0] / w[0], t[1] / w[1]);
  record.iLinear = plane(t[0] * s.w[1] / w[0], t[1] * s.w[1] / w[1]);
  record.depth = plane(depth[0], depth[1]);
  record.vertex0 = a * state.varyingSlots;
  record.vertex1 = record.vertex2 = b * state.varyingSlots;
  record.provokingVertex = state.provokingLast ? record.vertex1 : record.vertex0;
  record.primitiveId = primitiveId;
  record.viewport = state.viewport;
  record.flags = bresenham ? uint32_t{abi::kPrimitiveAllSamples} : 0;
  // Fragments may lie beyond the ends, by half the width or a pixel.
  const double reach =
      std::max(double{width}, 1.0) * (std::fabs(double{record.depth.dx}) + std::fabs(double{record.depth.dy}));
  const double slack = reach + std::max(std::fabs(depth[0]), std::fabs(depth[1])) * 0x1p-20;
  record.depthMin = static_cast<float>(std::min(depth[0], depth[1]) - slack);
  record.depthMax = static_cast<float>(std::max(depth[0], depth[1]) + slack);
  out.source[n] = static_cast<uint16_t>(source);
  ++out.count;
}

void setUpPoint(uint16_t vertex, float size, uint32_t primitiveId, uint32_t source, const ScreenVertices& screen,
                const SetupState& state, PrimitiveSet& out) {
  const uint32_t clipDistances = (kOutDistance0 << (state.clipDistanceCount + state.cullDistanceCount)) - kOutDistance0;
  if (screen.vertex[vertex].outcode & ((kRejectBits & 0xFFFF) | kOutBad | kOutGuard | clipDistances)) return;
  const Point center = {screen.vertex[vertex].x, screen.vertex[vertex].y};
  const int32_t half = static_cast<int32_t>(size * (kSubpixels / 2) + 0.5f);
  const auto side = [](int32_t v) { return std::clamp(v, kMinCoordinate, kMaxCoordinate); };
  const int32_t x0 = side(center.x - half);
  const int32_t y0 = side(center.y - half);
  const int32_t x1 = side(center.x + half);
  const int32_t y1 = side(center.y + half);
  const Point corners[4] = {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
  const uint32_t n = out.count;
  if (x0 >= x1 || y0 >= y1 || !boundingRect(corners, 4, state.samples_log2, state.clip, out.rects[n])) return;
  out.edges[n] = makeEdges(corners, 4);
  abi::PrimitiveRecord& record = out.records[n];
  record = {};
  record.originX = static_cast<float>(center.x) / kSubpixels;
  record.originY = static_cast<float>(center.y) / kSubpixels;
  record.oneOverW = {screen.vertex[vertex].oneOverW, 0, 0};
  record.iLinear = {0.5f, 1 / size, 0};
  record.jLinear = {0.5f, 0, 1 / size};
  record.depth = {screen.depth[vertex], 0, 0};
  record.vertex0 = record.vertex1 = record.vertex2 = record.provokingVertex = vertex * state.varyingSlots;
  record.primitiveId = primitiveId;
  record.viewport = state.viewport;
  record.depthMin = record.depthMax = screen.depth[vertex];
  out.source[n] = static_cast<uint16_t>(source);
  ++out.count;
}

}  // namespace pumice::raster
