#include "backend/raster/setup.h"

#include <algorithm>
#include <cstring>

#include "backend/raster/bounding.h"
#include "backend/raster/clip.h"
#include "backend/raster/kernels.h"

namespace pumice::raster {
namespace {

constexpr uint32_t kGroup = 16;

void addVisible(const TriangleGroup& group, uint32_t lane, const SetupState& state, uint32_t primitiveId,
                uint32_t source, PrimitiveSet& out) {
  const uint32_t n = out.count++;
  Edges& edges = out.edges[n];
  for (uint32_t e = 0; e < 3; ++e) {
    edges.a[e] = group.a[e][lane];
    edges.b[e] = group.b[e][lane];
    edges.c[e] = group.c[e][lane];
  }
  edges.a[3] = edges.b[3] = 0;
  edges.c[3] = 0;
  float words[24];
  for (uint32_t w = 0; w < 24; ++w) words[w] = group.words[w][lane];
  abi::PrimitiveRecord& record = out.records[n];
  static_assert(offsetof(abi::PrimitiveRecord, primitiveId) == sizeof(words));
  std::memcpy(static_cast<void*>(&record), words, sizeof(words));
  record.primitiveId = primitiveId;
  record.flags = group.backFacing >> lane & 1 ? uint32_t{abi::kPrimitiveBackFacing} : 0;
  record.viewport = state.viewport;
  record.depthMin = group.depthMin[lane];
  record.depthMax = group.depthMax[lane];
  out.rects[n] = {static_cast<uint16_t>(group.rect[0][lane]), static_cast<uint16_t>(group.rect[1][lane]),
                  static_cast<uint16_t>(group.rect[2][lane]), static_cast<uint16_t>(group.rect[3][lane])};
  out.source[n] = static_cast<uint16_t>(source);
}

bool holdsStrictly(const Point t[3], Point p) {
  return doubleArea(t[0], t[1], p) > 0 && doubleArea(t[1], t[2], p) > 0 && doubleArea(t[2], t[0], p) > 0;
}

// Takes a triangle off a polygon, cutting off one corner. Snapping may have made the polygon hollow by a hair, so not
// every corner will do: the triangle has to be inside.
void takeEar(Point* corners, uint32_t& count, Point ear[3]) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    ear[0] = corners[(i + count - 1) % count];
    ear[1] = corners[i];
    ear[2] = corners[(i + 1) % count];
    found = i;
    if (doubleArea(ear[0], ear[1], ear[2]) < 0) continue;
    if (std::none_of(corners, corners + count, [&](Point p) { return holdsStrictly(ear, p); })) break;
  }
  std::copy(corners + found + 1, corners + count, corners + found);
  --count;
}

void addClipped(const ClippedTriangle& clipped, const SetupState& state, uint32_t primitiveId, uint32_t source,
                PrimitiveSet& out) {
  Point corners[kMaxCorners];
  uint32_t count = clipped.cornerCount;
  std::copy_n(clipped.corners, count, corners);
  while (count >= 3) {
    Point ear[3];
    takeEar(corners, count, ear);
    const uint32_t n = out.count;
    if (doubleArea(ear[0], ear[1], ear[2]) <= 0 || !boundingRect(ear, 3, state.samples_log2, state.clip, out.rects[n]))
      continue;
    out.edges[n] = makeEdges(ear, 3);
    out.records[n] = clipped.record;
    out.records[n].primitiveId = primitiveId;
    out.records[n].viewport = state.viewport;
    out.source[n] = static_cast<uint16_t>(source);
    ++out.count;
  }
}

}  // namespace

uint32_t setUpTriangles(const TriangleInput& in, uint32_t first, const ScreenVertices& screen,
                        const VertexOutputs& outputs, const SetupState& state, PrimitiveSet& out) {
  SetUpGroupFunction* const setUpGroup = kernels().setUpGroup;
  TriangleGroup group;
  for (uint32_t begin = first; begin < in.count; begin += kGroup) {
    const uint32_t count = std::min(kGroup, in.count - begin);
    setUpGroup(in.vertices + begin, count, screen, state, group);
    for (uint32_t left = group.visible | group.mustClip; left; left &= left - 1) {
      const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left));
      const uint32_t i = begin + lane;
      const bool visible = (group.visible >> lane & 1) != 0;
      if (out.count + (visible ? 1 : kMaxClippedTriangles) > kMaxSetPrimitives) return i;
      if (visible) {
        addVisible(group, lane, state, in.primitiveId[i], i, out);
      } else if (ClippedTriangle clipped; clipTriangle(in.vertices[i], screen, outputs, state, clipped)) {
        addClipped(clipped, state, in.primitiveId[i], i, out);
      }
    }
  }
  return in.count;
}

}  // namespace pumice::raster
