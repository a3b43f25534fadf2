// Lines whose cost is vertices and triangles: small ones, larger ones, culled ones, instanced cubes.
#include <array>
#include <cmath>
#include <cstddef>

#include "bench/drawing.h"
#include "bench/shaders/color_frag.h"
#include "bench/shaders/cubes_vert.h"

namespace pumice::bench {

namespace {

// -- layers of a mesh

struct MeshSize {
  uint32_t columns, rows, layers;

  uint32_t vertices() const { return (columns + 1) * (rows + 1); }
  uint32_t indices() const { return 6 * columns * rows; }
  double triangles() const { return 2.0 * columns * rows * layers; }
};

uint32_t colorByte(float clip) {
  return static_cast<uint32_t>(std::lround((clip + 1) * 127.5f));
}

// A grid over the whole picture with its inner vertices moved about; red and green grow to the right and downward.
void fillMesh(const MeshSize& size, std::span<MeshVertex> vertices, std::span<uint32_t> indices) {
  Random random(11);
  const float width = 2.0f / static_cast<float>(size.columns), height = 2.0f / static_cast<float>(size.rows);
  size_t v = 0, i = 0;
  for (uint32_t row = 0; row <= size.rows; ++row) {
    for (uint32_t column = 0; column <= size.columns; ++column) {
      float x = static_cast<float>(column) * width - 1, y = static_cast<float>(row) * height - 1;
      if (column > 0 && column < size.columns) x += random.uniform(-0.3f, 0.3f) * width;
      if (row > 0 && row < size.rows) y += random.uniform(-0.3f, 0.3f) * height;
      vertices[v++] = {x, y, colorByte(x) | colorByte(y) << 8 | 0xff000000};
    }
  }
  for (uint32_t row = 0; row < size.rows; ++row) {
    for (uint32_t column = 0; column < size.columns; ++column) {
      const uint32_t corner = row * (size.columns + 1) + column, below = corner + size.columns + 1;
      for (const uint32_t index : {corner, corner + 1, below, corner + 1, below + 1, below}) indices[i++] = index;
    }
  }
}

// All layers, the nearest last.
void buildMesh(Job& job, const MeshSize& size) {
  RenderTarget& target = job.make<RenderTarget>(job.host, RenderTarget::Info{.depth = kDepthFormat});
  DrawState state = meshState();
  state.cull = VK_CULL_MODE_BACK_BIT;
  DrawPipeline& pipeline = job.pipeline(target, state);
  Buffer& vertices = job.buffer(size.vertices() * sizeof(MeshVertex));
  Buffer& indices = job.buffer(size.indices() * sizeof(uint32_t));
  fillMesh(size, vertices.as<MeshVertex>(), indices.as<uint32_t>());
  const auto blueOf = [size](uint32_t layer) {
    return static_cast<float>(layer + 1) / static_cast<float>(size.layers);
  };
  recordPass(job, target, [&](VkCommandBuffer commands) {
    bindVertices(commands, vertices);
    vkCmdBindIndexBuffer(commands, indices.handle(), 0, VK_INDEX_TYPE_UINT32);
    pipeline.bind(commands);
    for (uint32_t layer = 0; layer < size.layers; ++layer) {
      pipeline.push(commands, MeshPush{.depth = 1 - 0.9f * blueOf(layer), .blue = blueOf(layer)});
      vkCmdDrawIndexed(commands, size.indices(), 1, 0, 0, 0);
    }
  });
  job.verify = [&target] {
    const auto expected = [](uint32_t x, uint32_t y) {
      return Color{(x + 0.5) / kPicture.width * 255, (y + 0.5) / kPicture.height * 255, 255, 255};
    };
    return comparePicture(target.pixels(), expected, 0.5 + kRounding, 1);  // the vertices' colors are rounded too
  };
  job.work = size.triangles() / 1e6;
}

// -- culled vertices

constexpr uint32_t kCulledEdge = 1000;
constexpr float kVisibleHalf = 0.25f;  // of the quad that is seen, in clip space

// The upper half of the mesh lies on the screen and faces away, the lower half lies beside it. Then a visible quad.
void fillCulled(std::span<MeshVertex> vertices, std::span<uint32_t> indices) {
  size_t v = 0, i = 0;
  for (uint32_t row = 0; row < kCulledEdge; ++row) {
    for (uint32_t column = 0; column < kCulledEdge; ++column) {
      const float x = static_cast<float>(column) / kCulledEdge * 2 - 1,
                  y = static_cast<float>(row) / kCulledEdge * 2 - 1;
      const bool beside = row >= kCulledEdge / 2;
      vertices[v++] = {beside ? x + 2.5f : x, y, 0xff0000ff};
      if (row + 1 == kCulledEdge || row + 1 == kCulledEdge / 2 || column + 1 == kCulledEdge) continue;
      const uint32_t corner = row * kCulledEdge + column, below = corner + kCulledEdge;
      if (beside) {
        for (const uint32_t index : {corner, corner + 1, below, corner + 1, below + 1, below}) indices[i++] = index;
      } else {
        for (const uint32_t index : {corner, below, corner + 1, corner + 1, below, below + 1}) indices[i++] = index;
      }
    }
  }
  for (const uint32_t corner : {0, 1, 2, 3})
    vertices[v + corner] = {corner & 1 ? kVisibleHalf : -kVisibleHalf, corner & 2 ? kVisibleHalf : -kVisibleHalf,
                            0xff00ff00};
  for (const uint32_t corner : {0, 1, 2, 1, 3, 2}) indices[i++] = static_cast<uint32_t>(v) + corner;
}

void buildCulled(Job& job) {
  constexpr uint32_t kIndices = 6 * (kCulledEdge - 2) * (kCulledEdge - 1) + 6;
  RenderTarget& target = job.make<RenderTarget>(job.host, RenderTarget::Info{.depth = kDepthFormat});
  DrawState state = meshState();
  state.cull = VK_CULL_MODE_BACK_BIT;
  DrawPipeline& pipeline = job.pipeline(target, state);
  Buffer& vertices = job.buffer((kCulledEdge * kCulledEdge + 4) * sizeof(MeshVertex));
  Buffer& indices = job.buffer(kIndices * sizeof(uint32_t));
  fillCulled(vertices.as<MeshVertex>(), indices.as<uint32_t>());
  recordPass(job, target, [&](VkCommandBuffer commands) {
    bindVertices(commands, vertices);
    vkCmdBindIndexBuffer(commands, indices.handle(), 0, VK_INDEX_TYPE_UINT32);
    pipeline.bind(commands);
    pipeline.push(commands, MeshPush{});
    vkCmdDrawIndexed(commands, kIndices, 1, 0, 0, 0);
  });
  job.verify = [&target] {
    const auto expected = [](uint32_t x, uint32_t y) {
      const bool inside = std::abs((x + 0.5) / kPicture.width * 2 - 1) < kVisibleHalf &&
                          std::abs((y + 0.5) / kPicture.height * 2 - 1) < kVisibleHalf;
      return inside ? Color{0, 255, 0, 255} : clearColor();
    };
    return comparePicture(target.pixels(), expected, 0, 1);
  };
  job.work = kCulledEdge * kCulledEdge / 1e6;
}

}  // namespace

void addDrawGeometryLines(std::vector<Line>& lines) {
  const auto add = [&lines](const char* name, const char* description, const MeshSize& size) {
    lines.push_back(steadyLine(name, "Mtriangle/s", description, [size](Job& job) { buildMesh(job, size); }));
  };
  add("draw_triangles_4px", "a million indexed triangles of 4 pixels in 2 layers, depth test", {500, 500, 2});
  add("draw_triangles_200px", "100,000 triangles of 207 pixels in 10 layers, the nearest last", {100, 50, 10});
  lines.push_back(steadyLine("draw_culled", "Mvertex/s",
                             "a million indexed vertices whose 2 million triangles face away or lie off the screen",
                             buildCulled));
}

}  // namespace pumice::bench
