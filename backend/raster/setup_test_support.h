// Vertices and set-up for the tests.
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "backend/raster/raster_reference.h"
#include "backend/raster/setup.h"

namespace pumice::raster {

struct Clip {
  float x, y, z, w;
};

class Mesh {
 public:
  std::vector<Clip> vertices;
  std::vector<std::array<float, 8>> distances;  // of each vertex, or empty
  std::vector<std::array<uint16_t, 3>> triangles;
  uint32_t distanceCount = 0;

  uint16_t add(const Clip& v) {
    vertices.push_back(v);
    return static_cast<uint16_t>(vertices.size() - 1);
  }
  void triangle(uint16_t a, uint16_t b, uint16_t c) { triangles.push_back({a, b, c}); }

  void transform(const SetupState& state, const Kernels& k = kernels()) {
    constexpr uint32_t kRows = abi::kRowVaryings;
    const uint32_t blocks = static_cast<uint32_t>((vertices.size() + 63) / 64);
    storage_ = std::make_unique<abi::VertexRow[]>(blocks * kRows);
    for (uint32_t v = 0; v < vertices.size(); ++v) {
      const auto set = [&](uint32_t row, float value) {
        storage_[(v / 64) * kRows + row][v % 64] = __builtin_bit_cast(uint32_t, value);
      };
      set(0, vertices[v].x);
      set(1, vertices[v].y);
      set(2, vertices[v].z);
      set(3, vertices[v].w);
      for (uint32_t d = 0; d < distanceCount; ++d) set(abi::kRowDistances + d, distances[v][d]);
    }
    outputs = {storage_.get(), kRows, distanceCount};
    for (uint32_t b = 0; b < blocks; ++b) k.transform(outputs, state.view, b * 64, *screen);
  }

  // From triangle `first` on; returns the first that is not done.
  uint32_t setUp(const SetupState& state, PrimitiveSet& out, uint32_t first = 0) const {
    std::vector<uint32_t> ids(triangles.size());
    for (uint32_t i = 0; i < ids.size(); ++i) ids[i] = i;
    const TriangleInput in = {reinterpret_cast<const uint16_t(*)[3]>(triangles.data()), ids.data(),
                              static_cast<uint32_t>(triangles.size())};
    return setUpTriangles(in, first, *screen, outputs, state, out);
  }

  std::unique_ptr<ScreenVertices> screen = std::make_unique<ScreenVertices>();
  VertexOutputs outputs{};

 private:
  std::unique_ptr<abi::VertexRow[]> storage_;
};

inline SetupState testState(float width, float height, bool depthClip = true) {
  SetupState state;
  state.view = makeViewTransform({0, 0, width, height, 0, 1}, false, depthClip);
  state.clip = {0, 0, static_cast<int32_t>(width), static_cast<int32_t>(height)};
  return state;
}

// Samples covered by primitive i of a set, in the square at (x, y).
inline SquareCoverage coverageOf(const PrimitiveSet& set, uint32_t i, int32_t x, int32_t y, uint32_t samples_log2) {
  BlockList list;
  list.count = 0;
  const PrimitiveRect& r = set.rects[i];
  const PixelRect rect = {std::max(r.x0 - x, 0), std::max(r.y0 - y, 0), std::min(r.x1 - x, 64), std::min(r.y1 - y, 64)};
  if (rect.x0 < rect.x1 && rect.y0 < rect.y1) kernels().cover3[samples_log2](set.edges[i], x, y, rect, list);
  return expand(list, samples_log2);
}

inline double planeAt(const abi::ScreenPlane& p, const abi::PrimitiveRecord& r, double x, double y) {
  const float dx = static_cast<float>(x) - r.originX;
  const float dy = static_cast<float>(y) - r.originY;
  return double{p.atOrigin + dx * p.dx + dy * p.dy};
}

}  // namespace pumice::raster
