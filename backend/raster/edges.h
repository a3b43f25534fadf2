// A convex polygon as edge functions: what a triangle, a rectangular line or a point is to the rasteriser.
#pragma once

#include <cstdint>

#include "backend/raster/fixed_point.h"

namespace pumice::raster {

inline constexpr uint32_t kMaxEdges = 4;

// A point is inside if a[i] x + b[i] y + c[i] >= 0 for all edges, in 1/256 pixel (fixed_point.h for the ranges). Points
// on an edge belong to it if it is a left or a top one; c of other edges is one less, which for integers is the strict
// comparison. Triangles have a fourth edge of zeros, which is never negative.
struct alignas(64) Edges {
  int32_t a[kMaxEdges];
  int32_t b[kMaxEdges];
  int64_t c[kMaxEdges];
};
static_assert(sizeof(Edges) == 64);

// The gradient points inside. y grows downwards: a left edge has its inside at greater x, a top edge is horizontal and
// has its inside at greater y. Of two polygons that share an edge, one has (a, b) and the other (-a, -b), so exactly
// one owns it.
constexpr bool ownsItsPoints(int32_t a, int32_t b) {
  return a > 0 || (a == 0 && b > 0);
}

// Edge `i` from p to q, inside to the right on the screen (clockwise polygons).
constexpr void setEdge(Edges& edges, uint32_t i, Point p, Point q) {
  const int32_t a = p.y - q.y;
  const int32_t b = q.x - p.x;
  edges.a[i] = a;
  edges.b[i] = b;
  edges.c[i] = -(int64_t{a} * p.x + int64_t{b} * p.y) - (ownsItsPoints(a, b) ? 0 : 1);
}

// Twice the area of a triangle, positive if it is clockwise on the screen.
constexpr int64_t doubleArea(Point p, Point q, Point r) {
  return int64_t{q.x - p.x} * (r.y - p.y) - int64_t{q.y - p.y} * (r.x - p.x);
}

// Corners of a convex polygon, clockwise on the screen; three or four.
constexpr Edges makeEdges(const Point* corners, uint32_t count) {
  Edges edges{};
  for (uint32_t i = 0; i < count; ++i) setEdge(edges, i, corners[i], corners[(i + 1) % count]);
  return edges;
}

}  // namespace pumice::raster
