// Drawing, from the application's calls to pixels: coverage and interpolation, indices and instances, tests, blending,
// several targets.
//
// covers: vkCreateGraphicsPipelines, vkDestroyPipeline, vkCmdBindPipeline, vkCmdBindVertexBuffers
// covers: vkCmdBindIndexBuffer, vkCmdDraw, vkCmdDrawIndexed, vkCreateRenderPass, vkDestroyRenderPass
// covers: vkCreateFramebuffer, vkDestroyFramebuffer, vkCmdBeginRenderPass, vkCmdEndRenderPass
#include <array>
#include <cmath>

#include "cts-subset/support/draw_test.h"
#include "shaders/color_frag.spv.h"
#include "shaders/color_vert.spv.h"
#include "shaders/flat_color_frag.spv.h"
#include "shaders/flat_color_vert.spv.h"
#include "shaders/grid_vert.spv.h"
#include "shaders/numbers_frag.spv.h"
#include "shaders/push_color_frag.spv.h"
#include "shaders/texture_frag.spv.h"
#include "shaders/texture_vert.spv.h"
#include "shaders/two_targets_frag.spv.h"
#include "shaders/whole_vert.spv.h"

namespace pumice::cts {
namespace {

struct Vertex {
  float x, y, z, w;
  float r, g, b, a;
};
struct Push {
  float color[4];
  float depth;
};

class DrawingTest : public DrawTest {
 protected:
  static constexpr VkExtent2D kExtent{64, 64};

  VkPipelineLayout makePushLayout() {
    const VkPushConstantRange range{VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(Push)};
    return makeLayout({}, {&range, 1});
  }
  void drawWhole(VkCommandBuffer c, VkPipelineLayout layout, const Push& push) {
    vkCmdPushConstants(c, layout, VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof push, &push);
    vkCmdDraw(c, 3, 1, 0, 0);
  }
};

// Corners in pixels, multiples of 1/256, and what they are in clip space.
const TriangleModel::Corner kCorners[3] = {{5.25, 3.5}, {60.125, 20.75}, {17, 58.0625}};
Vertex atPixel(const TriangleModel::Corner& c, const Rgba& color, float w = 1) {
  return {static_cast<float>(c.x / 32 - 1) * w,
          static_cast<float>(c.y / 32 - 1) * w,
          0,
          w,
          color.r,
          color.g,
          color.b,
          color.a};
}

TEST_F(DrawingTest, ATriangleOfThreeColors) {
  createDevice();
  const Target target = makeTarget(kRgba8, kExtent);
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = makeRenderPass({&target, 1});
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
  const Rgba colors[3] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 0.5f}};
  std::vector<Vertex> vertices;
  for (int i = 0; i < 3; ++i) vertices.push_back(atPixel(kCorners[i], colors[i]));
  const TestBuffer buffer = makeVertices(vertices);
  const VkClearValue clear = clearColor(0.2f, 0.4f, 0.6f, 0.8f);
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, {&clear, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, buffer);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndRenderPass(c);
  });
  const TriangleModel model(kCorners[0], kCorners[1], kCorners[2]);
  expectPicture(readColor(target), [&](uint32_t x, uint32_t y) -> Rgba {
    if (!model.covers(x, y)) return {0.2f, 0.4f, 0.6f, 0.8f};
    const auto w = model.weights(x, y);
    return {static_cast<float>(w[0]), static_cast<float>(w[1]), static_cast<float>(w[2]),
            static_cast<float>(w[0] + w[1] + 0.5 * w[2])};
  });
}

// Weights of corners that are 1, 2 and 5 away: what is linear in space is not so on the screen.
TEST_F(DrawingTest, PerspectiveInterpolation) {
  createDevice();
  const Target target = makeTarget(VK_FORMAT_R32G32B32A32_SFLOAT, kExtent);
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = makeRenderPass({&target, 1});
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
  const float far[3] = {1, 2, 5};
  const TestBuffer buffer = makeVertices(std::vector<Vertex>{atPixel(kCorners[0], {1, 0, 0, 1}, far[0]),
                                                             atPixel(kCorners[1], {0, 1, 0, 1}, far[1]),
                                                             atPixel(kCorners[2], {0, 0, 1, 1}, far[2])});
  const VkClearValue clear = clearColor(0, 0, 0, 0);
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, {&clear, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, buffer);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndRenderPass(c);
  });
  const TriangleModel model(kCorners[0], kCorners[1], kCorners[2]);
  expectPicture(
      readColor(target),
      [&](uint32_t x, uint32_t y) -> Rgba {
        if (!model.covers(x, y)) return {0, 0, 0, 0};
        auto w = model.weights(x, y);
        double sum = 0;
        for (int i = 0; i < 3; ++i) sum += w[i] /= far[i];
        for (double& v : w) v /= sum;
        return {static_cast<float>(w[0]), static_cast<float>(w[1]), static_cast<float>(w[2]), 1};
      },
      1e-5f);
}

// Each square of a grid of sixteen is an instance of two triangles of six indices, of each type of index.
TEST_F(DrawingTest, IndicesAndInstances) {
  createDevice();
  const Target target = makeTarget(kRgba8, kExtent);
  PipelineState state(kExtent);
  state.renderPass = makeRenderPass({&target, 1});
  const VkPipeline pipeline = makePipeline(state, k_grid_vert, k_numbers_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
  // Vertex numbers are counted from -4 on, indices from the third on.
  const TestBuffer wide = makeVertices<uint32_t>({99, 99, 4, 5, 6, 5, 7, 6});
  const TestBuffer narrow = makeVertices<uint16_t>({99, 99, 4, 5, 6, 5, 7, 6});
  for (const auto& indices : {std::pair(wide, VK_INDEX_TYPE_UINT32), std::pair(narrow, VK_INDEX_TYPE_UINT16)}) {
    const VkClearValue clear = clearColor(1, 1, 1, 1);
    run([&](VkCommandBuffer c) {
      beginPass(c, state.renderPass, framebuffer, kExtent, {&clear, 1});
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      vkCmdBindIndexBuffer(c, indices.first.buffer, 0, indices.second);
      vkCmdDrawIndexed(c, 6, 13, 2, -4, 2);  // squares 2 to 14
      vkCmdEndRenderPass(c);
    });
    expectPicture(readColor(target), [&](uint32_t x, uint32_t y) -> Rgba {
      const uint32_t square = x / 16 + y / 16 * 4;
      if (square < 2 || square > 14) return {1, 1, 1, 1};
      return {static_cast<float>(square) / 255, 0, 0, 1};
    });
  }
}

TEST_F(DrawingTest, AttributesOfInstances) {
  createDevice();
  const Target target = makeTarget(kRgba8, kExtent);
  PipelineState state(kExtent);
  state.addFloats({4});
  state.addFloats({4}, VK_VERTEX_INPUT_RATE_INSTANCE);
  state.renderPass = makeRenderPass({&target, 1});
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
  const TestBuffer places = makeVertices<std::array<float, 4>>({{-1, -1, 0, 1}, {3, -1, 0, 1}, {-1, 3, 0, 1}});
  const TestBuffer colors = makeVertices<std::array<float, 4>>({{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}});
  const VkClearValue clear = clearColor(1, 1, 1, 1);
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, {&clear, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, places, 0);
    bindVertices(c, colors, 1);
    vkCmdDraw(c, 3, 2, 0, 1);  // instances are drawn in order: blue lies over green
    vkCmdEndRenderPass(c);
  });
  expectPicture(readColor(target), [](uint32_t, uint32_t) -> Rgba { return {0, 0, 1, 1}; });
}

TEST_F(DrawingTest, DepthTestOfEveryFormat) {
  createDevice();
  for (VkFormat format : {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D16_UNORM}) {
    const Target targets[] = {makeTarget(kRgba8, kExtent), makeTarget(format, kExtent)};
    PipelineState state(kExtent);
    state.addFloats({4, 4});
    state.renderPass = makeRenderPass(targets);
    state.depth.depthTestEnable = state.depth.depthWriteEnable = VK_TRUE;
    state.depth.depthCompareOp = VK_COMPARE_OP_LESS;
    const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
    const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, targets);
    // Two planes that cross in the middle column, in both orders of drawing.
    const auto plane = [](float left, float right, const Rgba& color) {
      const float wide = right + (right - left);  // at x = 3, where the triangle's corner is
      return std::vector<Vertex>{{-1, -1, left, 1, color.r, color.g, color.b, color.a},
                                 {3, -1, wide, 1, color.r, color.g, color.b, color.a},
                                 {-1, 3, left, 1, color.r, color.g, color.b, color.a}};
    };
    std::vector<Vertex> vertices = plane(0.25f, 0.5f, {1, 0, 0, 1});
    const std::vector<Vertex> other = plane(0.5f, 0.25f, {0, 1, 0, 1});
    vertices.insert(vertices.end(), other.begin(), other.end());
    const TestBuffer buffer = makeVertices(vertices);
    for (const bool redFirst : {true, false}) {
      const VkClearValue clears[] = {clearColor(0, 0, 0, 1), clearDepth(1)};
      run([&](VkCommandBuffer c) {
        beginPass(c, state.renderPass, framebuffer, kExtent, clears);
        vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
        bindVertices(c, buffer);
        vkCmdDraw(c, 3, 1, redFirst ? 0 : 3, 0);
        vkCmdDraw(c, 3, 1, redFirst ? 3 : 0, 0);
        vkCmdEndRenderPass(c);
      });
      expectPicture(readColor(targets[0]), [](uint32_t x, uint32_t) -> Rgba {
        return x < 32 ? Rgba{1, 0, 0, 1} : Rgba{0, 1, 0, 1};
      });
      const std::vector<float> depth = readDepth(targets[1]);
      for (uint32_t i = 0; i < 64 * 64; ++i) {
        const float x = static_cast<float>(i % 64) + 0.5f;
        const float red = 0.25f + 0.25f * x / 64, green = 0.5f - 0.25f * x / 64;
        ASSERT_NEAR(depth[i], std::min(red, green), 1.0f / 65535) << format << ", pixel " << i;
      }
    }
  }
}

TEST_F(DrawingTest, EveryCompareOperation) {
  createDevice();
  const Target targets[] = {makeTarget(kRgba8, kExtent), makeTarget(VK_FORMAT_D32_SFLOAT, kExtent)};
  const VkRenderPass pass = makeRenderPass(targets);
  const VkFramebuffer framebuffer = makeFramebuffer(pass, targets);
  const VkPipelineLayout layout = makePushLayout();
  for (uint32_t op = VK_COMPARE_OP_NEVER; op <= VK_COMPARE_OP_ALWAYS; ++op) {
    PipelineState state(kExtent);
    state.renderPass = pass;
    state.layout = layout;
    state.depth.depthTestEnable = VK_TRUE;
    state.depth.depthCompareOp = static_cast<VkCompareOp>(op);
    const VkPipeline pipeline = makePipeline(state, k_whole_vert, k_push_color_frag);
    for (const float depth : {0.25f, 0.5f, 0.75f}) {
      const VkClearValue clears[] = {clearColor(0, 0, 0, 1), clearDepth(0.5f)};
      run([&](VkCommandBuffer c) {
        beginPass(c, pass, framebuffer, kExtent, clears);
        vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
        drawWhole(c, layout, {{1, 1, 1, 1}, depth});
        vkCmdEndRenderPass(c);
      });
      // NEVER, LESS, EQUAL, LESS_OR_EQUAL, GREATER, NOT_EQUAL, GREATER_OR_EQUAL, ALWAYS
      const bool passes[3][8] = {{false, true, false, true, false, true, false, true},
                                 {false, false, true, true, false, false, true, true},
                                 {false, false, false, false, true, true, true, true}};
      const float white = passes[depth < 0.5f ? 0 : depth == 0.5f ? 1 : 2][op] ? 1.0f : 0.0f;
      expectPicture(readColor(targets[0]), [&](uint32_t, uint32_t) -> Rgba { return {white, white, white, 1}; });
    }
  }
}

// Marks a triangle in the stencil, then draws where it is not marked.
TEST_F(DrawingTest, Stencil) {
  createDevice();
  const Target targets[] = {makeTarget(kRgba8, kExtent), makeTarget(VK_FORMAT_D32_SFLOAT_S8_UINT, kExtent)};
  const VkRenderPass pass = makeRenderPass(targets);
  const VkFramebuffer framebuffer = makeFramebuffer(pass, targets);
  PipelineState mark(kExtent);
  mark.addFloats({4, 4});
  mark.renderPass = pass;
  mark.depth.stencilTestEnable = VK_TRUE;
  mark.depth.front = {
      VK_STENCIL_OP_KEEP, VK_STENCIL_OP_REPLACE, VK_STENCIL_OP_KEEP, VK_COMPARE_OP_ALWAYS, 0xff, 0x0f, 0x35};
  mark.depth.back = mark.depth.front;
  mark.blend[0].colorWriteMask = 0;
  const VkPipeline marks = makePipeline(mark, k_color_vert, k_color_frag);
  PipelineState fill(kExtent);
  fill.renderPass = pass;
  fill.layout = makePushLayout();
  fill.depth.stencilTestEnable = VK_TRUE;
  fill.depth.front = {VK_STENCIL_OP_INVERT,
                      VK_STENCIL_OP_INCREMENT_AND_CLAMP,
                      VK_STENCIL_OP_KEEP,
                      VK_COMPARE_OP_NOT_EQUAL,
                      0x0f,
                      0xff,
                      0x45};
  fill.depth.back = fill.depth.front;
  const VkPipeline fills = makePipeline(fill, k_whole_vert, k_push_color_frag);
  const TestBuffer buffer =
      makeVertices(std::vector<Vertex>{atPixel(kCorners[0], {}), atPixel(kCorners[1], {}), atPixel(kCorners[2], {})});
  const VkClearValue clears[] = {clearColor(0, 0, 1, 1), clearDepth(1, 0xa0)};
  run([&](VkCommandBuffer c) {
    beginPass(c, pass, framebuffer, kExtent, clears);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, marks);
    bindVertices(c, buffer);
    vkCmdDraw(c, 3, 1, 0, 0);  // 0xa0 becomes 0xa5: only the low bits are written
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, fills);
    drawWhole(c, fill.layout, {{1, 1, 0, 1}, 0});  // 5 against 5 fails: inverted; 5 against 0 passes: one more
    vkCmdEndRenderPass(c);
  });
  const TriangleModel model(kCorners[0], kCorners[1], kCorners[2]);
  expectPicture(readColor(targets[0]), [&](uint32_t x, uint32_t y) -> Rgba {
    return model.covers(x, y) ? Rgba{0, 0, 1, 1} : Rgba{1, 1, 0, 1};
  });
  const std::vector<std::byte> stencil = readBytes(targets[1], VK_IMAGE_ASPECT_STENCIL_BIT, 1);
  for (uint32_t i = 0; i < 64 * 64; ++i) {
    ASSERT_EQ(static_cast<int>(stencil[i]), model.covers(i % 64, i / 64) ? 0x5a : 0xa1) << i;
  }
}

TEST_F(DrawingTest, Blending) {
  createDevice();
  const Target target = makeTarget(kRgba8, kExtent);
  const VkRenderPass pass = makeRenderPass({&target, 1});
  const VkFramebuffer framebuffer = makeFramebuffer(pass, {&target, 1});
  const VkPipelineLayout layout = makePushLayout();
  constexpr Rgba kUnder{0.2f, 0.4f, 0.6f, 0.8f}, kOver{0.9f, 0.5f, 0.1f, 0.3f};
  struct Case {
    VkBlendFactor source, destination;
    VkBlendOp op;
    std::function<float(float s, float d, float sa, float da)> expected;
  };
  const Case cases[] = {
      {VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA, VK_BLEND_OP_ADD,
       [](float s, float d, float sa, float) { return s * sa + d * (1 - sa); }},
      {VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD, [](float s, float d, float, float) { return s + d; }},
      {VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_DST_ALPHA, VK_BLEND_OP_REVERSE_SUBTRACT,
       [](float s, float d, float, float da) { return d * da - s; }},
      {VK_BLEND_FACTOR_ZERO, VK_BLEND_FACTOR_ZERO, VK_BLEND_OP_MAX,
       [](float s, float d, float, float) { return std::max(s, d); }},
      {VK_BLEND_FACTOR_CONSTANT_ALPHA, VK_BLEND_FACTOR_ZERO, VK_BLEND_OP_SUBTRACT,
       [](float s, float, float, float) { return s * 0.25f; }},
  };
  for (const Case& k : cases) {
    PipelineState state(kExtent);
    state.renderPass = pass;
    state.layout = layout;
    state.blend[0] = {VK_TRUE, k.source, k.destination, k.op, k.source, k.destination, k.op, 0xf};
    state.colors.blendConstants[3] = 0.25f;
    const VkPipeline pipeline = makePipeline(state, k_whole_vert, k_push_color_frag);
    const VkClearValue clear = clearColor(kUnder.r, kUnder.g, kUnder.b, kUnder.a);
    run([&](VkCommandBuffer c) {
      beginPass(c, pass, framebuffer, kExtent, {&clear, 1});
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      drawWhole(c, layout, {{kOver.r, kOver.g, kOver.b, kOver.a}, 0});
      vkCmdEndRenderPass(c);
    });
    const auto blend = [&](float s, float d) { return std::clamp(k.expected(s, d, kOver.a, kUnder.a), 0.0f, 1.0f); };
    expectPicture(readColor(target), [&](uint32_t, uint32_t) -> Rgba {
      return {blend(kOver.r, kUnder.r), blend(kOver.g, kUnder.g), blend(kOver.b, kUnder.b), blend(kOver.a, kUnder.a)};
    });
  }
}

TEST_F(DrawingTest, TwoTargetsOfDifferentFormatsAndMasks) {
  createDevice();
  const Target targets[] = {makeTarget(kRgba8, kExtent), makeTarget(VK_FORMAT_R32G32B32A32_SFLOAT, kExtent)};
  PipelineState state(kExtent, 2);
  state.addFloats({4, 4});
  state.renderPass = makeRenderPass(targets);
  state.blend[0].colorWriteMask = state.blend[1].colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_B_BIT;
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_two_targets_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, targets);
  const Rgba color{0.25f, 0.5f, 0.75f, 1};
  const TestBuffer buffer = makeVertices(
      std::vector<Vertex>{atPixel(kCorners[0], color), atPixel(kCorners[1], color), atPixel(kCorners[2], color)});
  const VkClearValue clears[] = {clearColor(0, 0, 0, 0), clearColor(8, 8, 8, 8)};
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, clears);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, buffer);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndRenderPass(c);
  });
  const TriangleModel model(kCorners[0], kCorners[1], kCorners[2]);
  expectPicture(readColor(targets[0]), [&](uint32_t x, uint32_t y) -> Rgba {
    return model.covers(x, y) ? Rgba{0.25f, 0, 0.75f, 0} : Rgba{0, 0, 0, 0};
  });
  expectPicture(readColor(targets[1]), [&](uint32_t x, uint32_t y) -> Rgba {
    return model.covers(x, y) ? Rgba{0.75f, 8, 0.25f, 8} : Rgba{8, 8, 8, 8};
  });
}

TEST_F(DrawingTest, CullingAndFrontFaces) {
  createDevice();
  const Target target = makeTarget(kRgba8, kExtent);
  const VkRenderPass pass = makeRenderPass({&target, 1});
  const VkFramebuffer framebuffer = makeFramebuffer(pass, {&target, 1});
  // Clockwise on the screen: the corners' area is positive with y downwards.
  const TestBuffer buffer = makeVertices(std::vector<Vertex>{
      atPixel(kCorners[0], {1, 1, 1, 1}), atPixel(kCorners[1], {1, 1, 1, 1}), atPixel(kCorners[2], {1, 1, 1, 1})});
  const TriangleModel model(kCorners[0], kCorners[1], kCorners[2]);
  for (const VkFrontFace front : {VK_FRONT_FACE_CLOCKWISE, VK_FRONT_FACE_COUNTER_CLOCKWISE}) {
    for (const VkCullModeFlags cull :
         {VK_CULL_MODE_NONE, VK_CULL_MODE_FRONT_BIT, VK_CULL_MODE_BACK_BIT, VK_CULL_MODE_FRONT_AND_BACK}) {
      PipelineState state(kExtent);
      state.addFloats({4, 4});
      state.renderPass = pass;
      state.raster.frontFace = front;
      state.raster.cullMode = static_cast<VkCullModeFlags>(cull);
      const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
      const VkClearValue clear = clearColor(0, 0, 0);
      run([&](VkCommandBuffer c) {
        beginPass(c, pass, framebuffer, kExtent, {&clear, 1});
        vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
        bindVertices(c, buffer);
        vkCmdDraw(c, 3, 1, 0, 0);
        vkCmdEndRenderPass(c);
      });
      const auto own = front == VK_FRONT_FACE_CLOCKWISE ? VK_CULL_MODE_FRONT_BIT : VK_CULL_MODE_BACK_BIT;
      const bool seen = (cull & own) == 0;
      expectPicture(readColor(target), [&](uint32_t x, uint32_t y) -> Rgba {
        return seen && model.covers(x, y) ? Rgba{1, 1, 1, 1} : Rgba{0, 0, 0, 1};
      });
    }
  }
}

// Lists, strips and fans with colors of the provoking vertices.
TEST_F(DrawingTest, Topologies) {
  createDevice();
  const Target target = makeTarget(kRgba8, kExtent);
  const VkRenderPass pass = makeRenderPass({&target, 1});
  const VkFramebuffer framebuffer = makeFramebuffer(pass, {&target, 1});
  const Rgba red{1, 0, 0, 1}, green{0, 1, 0, 1}, blue{0, 0, 1, 1}, white{1, 1, 1, 1};
  const TriangleModel::Corner a{4, 4}, b{60, 8}, d{8, 60}, e{56, 56};
  struct Case {
    VkPrimitiveTopology topology;
    std::vector<Vertex> vertices;
    std::vector<std::pair<TriangleModel, Rgba>> triangles;  // the later ones lie above
  };
  const Case cases[] = {
      {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
       {atPixel(a, red), atPixel(b, blue), atPixel(d, blue), atPixel(e, green), atPixel(d, red), atPixel(b, red)},
       {{TriangleModel(a, b, d), red}, {TriangleModel(e, d, b), green}}},
      {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
       {atPixel(a, red), atPixel(b, green), atPixel(d, blue), atPixel(e, white)},
       {{TriangleModel(a, b, d), red}, {TriangleModel(b, e, d), green}}},
      {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN,
       {atPixel(a, red), atPixel(b, green), atPixel(e, blue), atPixel(d, white)},
       {{TriangleModel(a, b, e), green}, {TriangleModel(a, e, d), blue}}},
  };
  for (const Case& k : cases) {
    PipelineState state(kExtent);
    state.addFloats({4, 4});
    state.renderPass = pass;
    state.assembly.topology = k.topology;
    const VkPipeline pipeline = makePipeline(state, k_flat_color_vert, k_flat_color_frag);
    const TestBuffer buffer = makeVertices(k.vertices);
    const VkClearValue clear = clearColor(0, 0, 0);
    run([&](VkCommandBuffer c) {
      beginPass(c, pass, framebuffer, kExtent, {&clear, 1});
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      bindVertices(c, buffer);
      vkCmdDraw(c, static_cast<uint32_t>(k.vertices.size()), 1, 0, 0);
      vkCmdEndRenderPass(c);
    });
    expectPicture(readColor(target), [&](uint32_t x, uint32_t y) -> Rgba {
      Rgba color{0, 0, 0, 1};
      for (const auto& [triangle, own] : k.triangles) {
        if (triangle.covers(x, y)) color = own;
      }
      return color;
    });
  }
}

TEST_F(DrawingTest, PointsAndLines) {
  createDevice();
  const Target target = makeTarget(kRgba8, kExtent);
  const VkRenderPass pass = makeRenderPass({&target, 1});
  const VkFramebuffer framebuffer = makeFramebuffer(pass, {&target, 1});
  const Rgba white{1, 1, 1, 1};
  const auto draw = [&](VkPrimitiveTopology topology, const std::vector<Vertex>& vertices) {
    PipelineState state(kExtent);
    state.addFloats({4, 4});
    state.renderPass = pass;
    state.assembly.topology = topology;
    const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
    const TestBuffer buffer = makeVertices(vertices);
    const VkClearValue clear = clearColor(0, 0, 0);
    run([&](VkCommandBuffer c) {
      beginPass(c, pass, framebuffer, kExtent, {&clear, 1});
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      bindVertices(c, buffer);
      vkCmdDraw(c, static_cast<uint32_t>(vertices.size()), 1, 0, 0);
      vkCmdEndRenderPass(c);
    });
    return readColor(target);
  };
  // Points of one pixel, centers on centers.
  expectPicture(draw(VK_PRIMITIVE_TOPOLOGY_POINT_LIST,
                     {atPixel({10.5, 20.5}, white), atPixel({0.5, 0.5}, white), atPixel({63.5, 33.5}, white)}),
                [](uint32_t x, uint32_t y) -> Rgba {
                  const bool on = (x == 10 && y == 20) || (x == 0 && y == 0) || (x == 63 && y == 33);
                  return on ? Rgba{1, 1, 1, 1} : Rgba{0, 0, 0, 1};
                });
  // A line in the middle of a row and one in the middle of a column.
  expectPicture(draw(VK_PRIMITIVE_TOPOLOGY_LINE_LIST, {atPixel({8, 20.5}, white), atPixel({40, 20.5}, white),
                                                       atPixel({50.5, 10}, white), atPixel({50.5, 30}, white)}),
                [](uint32_t x, uint32_t y) -> Rgba {
                  const bool on = (y == 20 && x >= 8 && x < 40) || (x == 50 && y >= 10 && y < 30);
                  return on ? Rgba{1, 1, 1, 1} : Rgba{0, 0, 0, 1};
                });
}

TEST_F(DrawingTest, ATexturedSquare) {
  createDevice();
  const Target target = makeTarget(kRgba8, kExtent);
  PipelineState state(kExtent);
  state.renderPass = makeRenderPass({&target, 1});
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
  const TestImage texture = makeShaderImage(kRgba8, VK_IMAGE_USAGE_SAMPLED_BIT, {8, 8, 1});
  Model texels(texture, {VK_IMAGE_ASPECT_COLOR_BIT, 4});
  texels.randomise(random_);
  upload(texture, texels);
  const VkDescriptorImageInfo info = imageOf(makeView(texture), makeSampler(VK_FILTER_NEAREST));
  const Set set = makeSet(kCombined, {&info, 1});
  state.layout = makeLayout({&set.layout, 1});
  const VkPipeline pipeline = makePipeline(state, k_texture_vert, k_texture_frag);
  const VkClearValue clear = clearColor(0, 0, 0);
  run([&](VkCommandBuffer c) {
    barrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT);
    beginPass(c, state.renderPass, framebuffer, kExtent, {&clear, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, state.layout, 0, 1, &set.set, 0, nullptr);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndRenderPass(c);
  });
  expectPicture(
      readColor(target),
      [&](uint32_t x, uint32_t y) -> Rgba {
        const std::byte* texel = texels.at(0, 0, y / 8, x / 8);
        const auto channel = [&](int c) { return static_cast<float>(texel[c]) / 255; };
        return {channel(0), channel(1), channel(2), channel(3)};
      },
      0.1f / 255);
}

// Thousands of triangles in several batches, with depth and blending: whatever worker draws what when, every bit is the
// same each time.
TEST_F(DrawingTest, TheSamePictureEveryTime) {
  createDevice();
  constexpr VkExtent2D kLarge{300, 200};
  const Target targets[] = {makeTarget(kRgba8, kLarge), makeTarget(VK_FORMAT_D32_SFLOAT, kLarge)};
  PipelineState state(kLarge);
  state.addFloats({4, 4});
  state.renderPass = makeRenderPass(targets);
  state.depth.depthTestEnable = state.depth.depthWriteEnable = VK_TRUE;
  state.depth.depthCompareOp = VK_COMPARE_OP_LESS;
  state.blend[0] = {VK_TRUE,
                    VK_BLEND_FACTOR_SRC_ALPHA,
                    VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
                    VK_BLEND_OP_ADD,
                    VK_BLEND_FACTOR_ONE,
                    VK_BLEND_FACTOR_ZERO,
                    VK_BLEND_OP_ADD,
                    0xf};
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, targets);
  constexpr uint32_t kTriangles = 6000;
  std::vector<Vertex> vertices;
  const auto number = [&](float from, float to) {
    return from + (to - from) * static_cast<float>(below(1 << 20)) / (1 << 20);
  };
  for (uint32_t i = 0; i < kTriangles; ++i) {
    // Most are small, some cover half of the target.
    const float size = below(50) == 0 ? 1.0f : 0.1f, x = number(-1, 1), y = number(-1, 1), z = number(0, 1);
    const float r = number(0, 1), g = number(0, 1), b = number(0, 1);
    for (int k = 0; k < 3; ++k) {
      vertices.push_back(
          {x + number(-size, size), y + number(-size, size), z + number(-0.1f, 0.1f) * size, 1, r, g, b, number(0, 1)});
    }
  }
  const TestBuffer buffer = makeVertices(vertices);
  std::vector<std::byte> color, depth;
  for (int round = 0; round < 12; ++round) {
    const VkClearValue clears[] = {clearColor(0, 0, 0), clearDepth(1)};
    run([&](VkCommandBuffer c) {
      beginPass(c, state.renderPass, framebuffer, kLarge, clears);
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      bindVertices(c, buffer);
      vkCmdDraw(c, 3 * (kTriangles - 1000), 1, 0, 0);
      for (uint32_t i = kTriangles - 1000; i < kTriangles; ++i) vkCmdDraw(c, 3, 1, 3 * i, 0);
      vkCmdEndRenderPass(c);
    });
    const auto colorNow = readBytes(targets[0], VK_IMAGE_ASPECT_COLOR_BIT, 4);
    const auto depthNow = readBytes(targets[1], VK_IMAGE_ASPECT_DEPTH_BIT, 4);
    if (round == 0) {
      color = colorNow;
      depth = depthNow;
    }
    ASSERT_TRUE(depthNow == depth) << "round " << round;
    ASSERT_TRUE(colorNow == color) << "round " << round;
  }
}

}  // namespace
}  // namespace pumice::cts
