// Lines with the parts of real scenes: lighting with a normal map, a shadow map, many instances.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "bench/cube_field.h"
#include "bench/drawing.h"
#include "bench/phong_scene.h"
#include "bench/shaders/shadow_frag.h"
#include "bench/shaders/texture_vert.h"

namespace pumice::bench {

namespace {

void buildPhong(Job& job) {
  RenderTarget& target = job.make<RenderTarget>(job.host, RenderTarget::Info{.depth = kDepthFormat});
  const PhongScene& scene = job.make<PhongScene>(job.host);
  DrawPipeline& pipeline = job.pipeline(target, PhongScene::state());
  const VkDescriptorSet set = scene.makeSet(pipeline);
  recordPass(job, target, [&](VkCommandBuffer commands) { scene.draw(commands, pipeline, set); });
  job.verify = [&target, &scene] {
    return comparePicture(
        target.pixels(), [&](uint32_t x, uint32_t y) { return scene.colorAt(x, y); }, PhongScene::kTolerance);
  };
  job.work = kMegapixels;
}

void buildCubes(Job& job) {
  RenderTarget& target = job.make<RenderTarget>(job.host, RenderTarget::Info{.depth = kDepthFormat});
  const CubeField& cubes = job.make<CubeField>(job.host);
  DrawPipeline& pipeline = job.pipeline(target, CubeField::state());
  recordPass(job, target, [&](VkCommandBuffer commands) { cubes.draw(commands, pipeline); });
  job.verify = [&target, &cubes] { return cubes.verify(target.pixels()); };
  job.work = CubeField::kTriangles / 1e6;
}

// -- shadow map

constexpr uint32_t kMapEdge = 2048;
constexpr uint32_t kBlockers = 100;    // squares a row and a column, seen from the light
constexpr double kBlockerShare = 0.5;  // of a cell's edge

struct ReceiverPush {
  float rowU[4], rowV[4];
  float wTop = 1, wBottom = 1;
};

// The part of the map that the picture shows, turned by 20 degrees.
ReceiverPush receiver() {
  const double sine = std::sin(std::numbers::pi / 9), cosine = std::cos(std::numbers::pi / 9);
  const double x = 0.36, y = x * kPicture.height / kPicture.width;
  const auto f = [](double value) { return static_cast<float>(value); };
  return {{f(x * cosine), f(-y * sine), 0.5f, 0}, {f(x * sine), f(y * cosine), 0.5f, 0}, 1, 1};
}

// Which squares are between the light and the receiver; the others are behind it.
bool blocks(uint32_t column, uint32_t row) {
  return (column * 7 + row * 11) % 3 != 0;
}

// Triangles of the squares of one kind, from vertex `v` on; returns the number of the vertex behind them.
uint32_t fillBlockers(std::span<MeshVertex> vertices, uint32_t v, bool blocking) {
  for (uint32_t cell = 0; cell < kBlockers * kBlockers; ++cell) {
    const uint32_t column = cell % kBlockers, row = cell / kBlockers;
    if (blocks(column, row) != blocking) continue;
    for (const uint32_t corner : {0, 1, 2, 1, 3, 2}) {
      const auto place = [&](uint32_t index, bool far) {
        return static_cast<float>((index + 0.5 + (far ? 0.5 : -0.5) * kBlockerShare) / kBlockers * 2 - 1);
      };
      vertices[v++] = {place(column, corner & 1), place(row, corner & 2), 0xffffffff};
    }
  }
  return v;
}

std::string verifyShadows(std::span<const uint8_t> pixels, const ReceiverPush& push) {
  uint32_t lit = 0, dark = 0;
  const auto expected = [&](uint32_t px, uint32_t py) -> std::optional<Color> {
    const double x = (px + 0.5) / kPicture.width * 2 - 1, y = (py + 0.5) / kPicture.height * 2 - 1;
    const auto inCells = [&](const float* row) { return (row[0] * x + row[1] * y + row[2]) * kBlockers; };
    const double u = inCells(push.rowU), v = inCells(push.rowV);
    const auto column = static_cast<uint32_t>(u), row = static_cast<uint32_t>(v);
    // Distance from the square's edge, the greater of both directions; negative inside; in texels.
    const double du = std::abs(u - column - 0.5), dv = std::abs(v - row - 0.5);
    const double distance = (std::max(du, dv) - kBlockerShare / 2) * kMapEdge / kBlockers;
    if (std::abs(distance) < 1.6) return std::nullopt;  // the filters reach over the edge
    const bool shadow = distance < 0 && blocks(column, row);
    ++(shadow ? dark : lit);
    const double light = 255 * (shadow ? 0.1 : 0.9);
    return Color{light, light, light, 255};
  };
  if (std::string problem = comparePicture(pixels, expected, 1); !problem.empty()) return problem;
  return lit && dark ? std::string{} : "no light or no shadow";
}

void buildShadow(Job& job) {
  RenderTarget& map = job.make<RenderTarget>(
      job.host,
      RenderTarget::Info{.extent = {kMapEdge, kMapEdge}, .colors = 0, .depth = kDepthFormat, .keepDepth = true});
  RenderTarget& target = job.make<RenderTarget>(job.host, RenderTarget::Info{});
  DrawState casting = meshState();
  casting.fragment = {};
  DrawPipeline& blockers = job.pipeline(map, casting);
  DrawPipeline& lighting = job.pipeline(target, {.vertex = shaders::texture_vert,
                                                 .fragment = shaders::shadow_frag,
                                                 .descriptors = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER},
                                                 .pushBytes = sizeof(ReceiverPush)});
  const bool linear = job.host.formatFeatures(kDepthFormat) & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
  const Sampler& sampler = job.make<Sampler>(
      job.host, Sampler::Info{.filter = linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST, .compare = true});
  const VkDescriptorSet set = lighting.makeSet({{map.depth(), sampler}});
  Buffer& vertices = job.buffer(6 * kBlockers * kBlockers * sizeof(MeshVertex));
  const uint32_t blocking = fillBlockers(vertices.as<MeshVertex>(), 0, true);
  const uint32_t all = fillBlockers(vertices.as<MeshVertex>(), blocking, false);
  const ReceiverPush push = receiver();

  Commands& recording = job.record();
  VkCommandBuffer commands = recording.handle();
  map.begin(commands);
  bindVertices(commands, vertices);
  blockers.bind(commands);
  blockers.push(commands, MeshPush{.depth = 0.25f});
  vkCmdDraw(commands, blocking, 1, 0, 0);
  blockers.push(commands, MeshPush{.depth = 0.75f});
  vkCmdDraw(commands, all - blocking, 1, blocking, 0);
  vkCmdEndRenderPass(commands);
  target.begin(commands);
  lighting.bind(commands);
  lighting.bindSet(commands, set);
  lighting.push(commands, push);
  vkCmdDraw(commands, 6, 1, 0, 0);
  vkCmdEndRenderPass(commands);
  recording.finish();
  job.reset = [&target] { target.scrub(); };
  job.verify = [&target, push] { return verifyShadows(target.pixels(), push); };
  job.work = kMegapixels;
}

}  // namespace

void addDrawSceneLines(std::vector<Line>& lines) {
  lines.push_back(steadyLine("draw_phong", "Mpixel/s", "Phong's lighting of a curtain with a texture and a normal map",
                             buildPhong));
  lines.push_back(
      steadyLine("draw_cubes", "Mtriangle/s", "100,000 instanced cubes with depth test and culling", buildCubes));
  lines.push_back(steadyLine(
      "draw_shadow_map", "Mpixel/s",
      "a shadow map of 2048x2048 with 10,000 squares, and a picture lit by 4 comparisons a pixel", buildShadow));
}

}  // namespace pumice::bench
