// Commands of drawing and what they depend on: dynamic state, push constants, arguments in buffers, queries, many
// draws.
//
// covers: vkCmdSetViewport, vkCmdSetScissor, vkCmdSetLineWidth, vkCmdSetDepthBias, vkCmdSetBlendConstants,
// covers: vkCmdSetDepthBounds, vkCmdSetStencilCompareMask, vkCmdSetStencilWriteMask, vkCmdSetStencilReference,
// covers: feature:multiDrawIndirect, feature:drawIndirectFirstInstance, feature:occlusionQueryPrecise
// covers: vkCmdDrawIndirect, vkCmdDrawIndexedIndirect, vkCmdBeginQuery, vkCmdEndQuery
#include <array>
#include <cmath>
#include <cstring>

#include "cts-subset/support/draw_test.h"
#include "shaders/color_frag.spv.h"
#include "shaders/color_vert.spv.h"
#include "shaders/grid_vert.spv.h"
#include "shaders/numbers_frag.spv.h"

namespace pumice::cts {
namespace {

class DrawCommandTest : public FilledTargetTest {};

TEST_F(DrawCommandTest, ViewportsAndScissors) {
  prepare();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) {
    s.dynamic = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
  });
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    const VkViewport all{0, 0, 64, 64, 0, 1};
    vkCmdSetViewport(c, 0, 1, &all);
    const VkRect2D left{{0, 0}, {20, 64}}, block{{30, 10}, {17, 23}};
    vkCmdSetScissor(c, 0, 1, &left);
    drawWhole(c, {1, 0, 0, 1});
    vkCmdSetScissor(c, 0, 1, &block);
    drawWhole(c, {0, 1, 0, 1});
    // The triangle is larger than the viewport, which cuts it.
    const VkRect2D everywhere{{0, 0}, {64, 64}};
    const VkViewport corner{40, 48, 16, 8, 0, 1};
    vkCmdSetScissor(c, 0, 1, &everywhere);
    vkCmdSetViewport(c, 0, 1, &corner);
    drawWhole(c, {0, 0, 1, 1});
  });
  expectPicture(picture(), [](uint32_t x, uint32_t y) -> Rgba {
    if (x >= 40 && x < 56 && y >= 48 && y < 56) return {0, 0, 1, 1};
    if (x >= 30 && x < 47 && y >= 10 && y < 33) return {0, 1, 0, 1};
    if (x < 20) return {1, 0, 0, 1};
    return {0, 0, 0, 1};
  });
}

TEST_F(DrawCommandTest, PushConstantsOfEachDraw) {
  prepare();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) { s.dynamic = {VK_DYNAMIC_STATE_SCISSOR}; });
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    Push push{{0, 0, 0.5f, 1}, 0};
    vkCmdPushConstants(c, layout_, kStages, 0, sizeof push, &push);
    for (uint32_t i = 0; i < 16; ++i) {
      const VkRect2D column{{static_cast<int32_t>(4 * i), 0}, {4, 64}};
      vkCmdSetScissor(c, 0, 1, &column);
      const float red = static_cast<float>(i) / 15;  // the rest stays what it was
      vkCmdPushConstants(c, layout_, kStages, 0, 4, &red);
      vkCmdDraw(c, 3, 1, 0, 0);
    }
  });
  expectPicture(picture(), [](uint32_t x, uint32_t) -> Rgba { return {static_cast<float>(x / 4) / 15, 0, 0.5f, 1}; });
}

TEST_F(DrawCommandTest, BlendConstants) {
  prepare();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) {
    s.dynamic = {VK_DYNAMIC_STATE_BLEND_CONSTANTS};
    s.blend[0] = {VK_TRUE,
                  VK_BLEND_FACTOR_CONSTANT_COLOR,
                  VK_BLEND_FACTOR_ONE,
                  VK_BLEND_OP_ADD,
                  VK_BLEND_FACTOR_ZERO,
                  VK_BLEND_FACTOR_ONE,
                  VK_BLEND_OP_ADD,
                  0xf};
  });
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    const float first[4] = {0.25f, 0, 0, 0}, second[4] = {0.25f, 0.5f, 1, 0};
    vkCmdSetBlendConstants(c, first);
    drawWhole(c, {1, 1, 1, 1});
    vkCmdSetBlendConstants(c, second);
    drawWhole(c, {1, 1, 1, 1});
  });
  expectPicture(picture(), [](uint32_t, uint32_t) -> Rgba { return {0.5f, 0.5f, 1, 1}; });
}

TEST_F(DrawCommandTest, StencilReferenceAndMasks) {
  prepare();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) {
    s.dynamic = {VK_DYNAMIC_STATE_STENCIL_REFERENCE, VK_DYNAMIC_STATE_STENCIL_WRITE_MASK,
                 VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK};
    s.depth.stencilTestEnable = VK_TRUE;
    s.depth.front = {VK_STENCIL_OP_KEEP, VK_STENCIL_OP_REPLACE, VK_STENCIL_OP_KEEP, VK_COMPARE_OP_EQUAL, 0, 0, 0};
    s.depth.back = s.depth.front;
  });
  draw(
      [&](VkCommandBuffer c) {
        vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
        vkCmdSetStencilReference(c, VK_STENCIL_FACE_FRONT_AND_BACK, 0xc5);
        vkCmdSetStencilCompareMask(c, VK_STENCIL_FACE_FRONT_AND_BACK, 0x0f);
        vkCmdSetStencilWriteMask(c, VK_STENCIL_FACE_FRONT_AND_BACK, 0xf0);
        drawWhole(c, {1, 0, 0, 1});  // 5 = 5: 0x35 becomes 0xc5
        vkCmdSetStencilCompareMask(c, VK_STENCIL_FACE_FRONT_AND_BACK, 0xff);
        vkCmdSetStencilReference(c, VK_STENCIL_FACE_FRONT_AND_BACK, 0x35);
        drawWhole(c, {0, 1, 0, 1});  // not any more
      },
      1, 0x35);
  expectPicture(picture(), [](uint32_t, uint32_t) -> Rgba { return {1, 0, 0, 1}; });
  for (int s : stencil()) ASSERT_EQ(s, 0xc5);
}

TEST_F(DrawCommandTest, DepthBias) {
  prepare();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) {
    s.dynamic = {VK_DYNAMIC_STATE_DEPTH_BIAS};
    s.raster.depthBiasEnable = VK_TRUE;
    s.depth.depthTestEnable = s.depth.depthWriteEnable = VK_TRUE;
    s.depth.depthCompareOp = VK_COMPARE_OP_LESS;
  });
  const auto seen = [&](float bias) {
    draw(
        [&](VkCommandBuffer c) {
          vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
          vkCmdSetDepthBias(c, bias, 0, 0);
          drawWhole(c, {1, 1, 1, 1}, 0.5f);
        },
        0.5f);
    return picture().at(32, 32).r;
  };
  EXPECT_EQ(seen(0), 0);
  EXPECT_EQ(seen(-4), 1);  // nearer by four units in the last place
  EXPECT_EQ(seen(4), 0);
}

TEST_F(DrawCommandTest, IndirectDraws) {
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.features.multiDrawIndirect = features.features.drawIndirectFirstInstance = VK_TRUE;
  prepare({.features = &features});
  PipelineState state(kExtent);
  state.renderPass = pass_;
  const VkPipeline pipeline = makePipeline(state, k_grid_vert, k_numbers_frag);
  const TestBuffer indices = makeVertices<uint16_t>({0, 1, 2, 1, 3, 2});
  // Squares 1 to 3, then 8; strides with room behind each command.
  const TestBuffer args = makeBuffer(256, kVertexUsages);
  const VkDrawIndexedIndirectCommand commands[] = {{6, 3, 0, 0, 1}, {6, 0, 0, 0, 5}, {6, 1, 0, 0, 8}};
  for (uint32_t i = 0; i < 3; ++i) std::memcpy(args.bytes + 16 + 32 * i, &commands[i], sizeof commands[i]);
  const VkDrawIndirectCommand lone{3, 1, 0, 15};  // half of the last square
  std::memcpy(args.bytes + 128, &lone, sizeof lone);
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindIndexBuffer(c, indices.buffer, 0, VK_INDEX_TYPE_UINT16);
    vkCmdDrawIndexedIndirect(c, args.buffer, 16, 3, 32);
    vkCmdDrawIndirect(c, args.buffer, 128, 1, 0);
  });
  const TriangleModel half({48, 48}, {64, 48}, {48, 64});
  expectPicture(picture(), [&](uint32_t x, uint32_t y) -> Rgba {
    const uint32_t square = x / 16 + y / 16 * 4;
    if (square == 15) return half.covers(x, y) ? Rgba{15.0f / 255, 0, 0, 1} : Rgba{0, 0, 0, 1};
    const bool drawn = (square >= 1 && square <= 3) || square == 8;
    return {drawn ? static_cast<float>(square) / 255 : 0, 0, 0, 1};
  });
}

TEST_F(DrawCommandTest, OcclusionQueries) {
  prepare();
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = pass_;
  state.depth.depthTestEnable = state.depth.depthWriteEnable = VK_TRUE;
  state.depth.depthCompareOp = VK_COMPARE_OP_LESS;
  const VkPipeline triangles = makePipeline(state, k_color_vert, k_color_frag);
  const TestBuffer buffer = makeTriangle({1, 1, 1, 1}, 0.5f);
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_OCCLUSION;
  info.queryCount = 3;
  VkQueryPool queries = VK_NULL_HANDLE;
  VK_OK(vkCreateQueryPool(device(), &info, nullptr, &queries));
  defer([this, queries] { vkDestroyQueryPool(device(), queries, nullptr); });
  const VkClearValue clears[] = {clearColor(0, 0, 0), clearDepth(1)};
  run([&](VkCommandBuffer c) {
    vkCmdResetQueryPool(c, queries, 0, 3);
    beginPass(c, pass_, framebuffer_, kExtent, clears);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, triangles);
    bindVertices(c, buffer);
    vkCmdBeginQuery(c, queries, 0, 0);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndQuery(c, queries, 0);
    vkCmdBeginQuery(c, queries, 1, 0);
    vkCmdDraw(c, 3, 1, 0, 0);  // behind itself: nothing passes
    vkCmdEndQuery(c, queries, 1);
    vkCmdBeginQuery(c, queries, 2, 0);
    vkCmdEndQuery(c, queries, 2);
    vkCmdEndRenderPass(c);
  });
  uint64_t results[3]{};
  VK_OK(vkGetQueryPoolResults(device(), queries, 0, 3, sizeof results, results, 8,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
  const TriangleModel model(kTriangle[0], kTriangle[1], kTriangle[2]);
  uint64_t covered = 0;
  for (uint32_t i = 0; i < 64 * 64; ++i) covered += model.covers(i % 64, i / 64);
  EXPECT_EQ(results[0] != 0, covered != 0);
  EXPECT_LE(results[0], covered);
  EXPECT_EQ(results[1], 0u);
  EXPECT_EQ(results[2], 0u);
}

TEST_F(DrawCommandTest, PreciseOcclusionAndStatistics) {
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.features.pipelineStatisticsQuery = features.features.occlusionQueryPrecise = VK_TRUE;
  prepare({.features = &features});
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = pass_;
  const VkPipeline triangles = makePipeline(state, k_color_vert, k_color_frag);
  const TestBuffer buffer = makeTriangle({1, 1, 1, 1}, 0.5f);
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_OCCLUSION;
  info.queryCount = 1;
  VkQueryPool occlusion = VK_NULL_HANDLE, statistics = VK_NULL_HANDLE;
  VK_OK(vkCreateQueryPool(device(), &info, nullptr, &occlusion));
  info.queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS;
  info.pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT |
                            VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_PRIMITIVES_BIT |
                            VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT |
                            VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT |
                            VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT |
                            VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT;
  VK_OK(vkCreateQueryPool(device(), &info, nullptr, &statistics));
  defer([this, occlusion, statistics] {
    vkDestroyQueryPool(device(), occlusion, nullptr);
    vkDestroyQueryPool(device(), statistics, nullptr);
  });
  const VkClearValue clears[] = {clearColor(0, 0, 0), clearDepth(1)};
  run([&](VkCommandBuffer c) {
    vkCmdResetQueryPool(c, occlusion, 0, 1);
    vkCmdResetQueryPool(c, statistics, 0, 1);
    vkCmdBeginQuery(c, statistics, 0, 0);  // around the pass
    beginPass(c, pass_, framebuffer_, kExtent, clears);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, triangles);
    bindVertices(c, buffer);
    vkCmdBeginQuery(c, occlusion, 0, VK_QUERY_CONTROL_PRECISE_BIT);
    vkCmdDraw(c, 3, 2, 0, 0);
    vkCmdEndQuery(c, occlusion, 0);
    vkCmdEndRenderPass(c);
    vkCmdEndQuery(c, statistics, 0);
  });
  uint64_t samples = 0, counts[6]{};
  VK_OK(vkGetQueryPoolResults(device(), occlusion, 0, 1, 8, &samples, 8,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
  VK_OK(vkGetQueryPoolResults(device(), statistics, 0, 1, sizeof counts, counts, sizeof counts,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
  const TriangleModel model(kTriangle[0], kTriangle[1], kTriangle[2]);
  uint64_t covered = 0;
  for (uint32_t i = 0; i < 64 * 64; ++i) covered += model.covers(i % 64, i / 64);
  EXPECT_EQ(samples, 2 * covered);
  EXPECT_EQ(counts[0], 6u);
  EXPECT_EQ(counts[1], 2u);
  EXPECT_GE(counts[2], 3u);  // vertices may be shaded once for both instances' equal ones, or again
  EXPECT_LE(counts[2], 6u);
  EXPECT_EQ(counts[3], 2u);
  EXPECT_GE(counts[4], covered);
  EXPECT_EQ(counts[5], 0u);
}

// One submission, a thousand draws with push constants of their own; the later ones lie above.
TEST_F(DrawCommandTest, AThousandDraws) {
  prepare();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) { s.dynamic = {VK_DYNAMIC_STATE_SCISSOR}; });
  std::vector<Rgba> expected(64 * 64, Rgba{0, 0, 0, 1});
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    for (uint32_t i = 0; i < 1000; ++i) {
      const uint32_t x = below(60), y = below(60), width = 1 + below(63 - x), height = 1 + below(63 - y);
      const Rgba color{static_cast<float>(below(256)) / 255, static_cast<float>(below(256)) / 255,
                       static_cast<float>(below(256)) / 255, 1};
      const VkRect2D scissor{{static_cast<int32_t>(x), static_cast<int32_t>(y)}, {width, height}};
      vkCmdSetScissor(c, 0, 1, &scissor);
      drawWhole(c, color);
      for (uint32_t row = y; row < y + height; ++row) {
        for (uint32_t column = x; column < x + width; ++column) expected[row * 64 + column] = color;
      }
    }
  });
  expectPicture(
      picture(), [&](uint32_t x, uint32_t y) { return expected[y * 64 + x]; }, 0.1f / 255);
}

}  // namespace
}  // namespace pumice::cts
