// Optional features of primitives, one by one: polygon modes, lines, points, lists, provoking vertices, clip distances.
#include <array>
#include <cstdlib>
#include <utility>

#include "cts-subset/support/draw_test.h"
#include "shaders/color_frag.spv.h"
#include "shaders/color_vert.spv.h"
#include "shaders/distances_vert.spv.h"
#include "shaders/flat_color_frag.spv.h"
#include "shaders/flat_color_vert.spv.h"
#include "shaders/large_index_vert.spv.h"
#include "shaders/push_color_frag.spv.h"
#include "shaders/wide_point_vert.spv.h"

namespace pumice::cts {
namespace {

using DrawPrimitiveTest = FilledTargetTest;

// covers: feature:fillModeNonSolid
TEST_F(DrawPrimitiveTest, PolygonsAsLinesAndPoints) {
  prepareFull();
  const TriangleModel model(kTriangle[0], kTriangle[1], kTriangle[2]);
  for (const VkPolygonMode mode : {VK_POLYGON_MODE_LINE, VK_POLYGON_MODE_POINT}) {
    PipelineState state(kExtent);
    state.addFloats({4, 4});
    state.renderPass = pass_;
    state.raster.polygonMode = mode;
    const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
    const TestBuffer triangle = makeTriangle(kWhite);
    draw([&](VkCommandBuffer c) {
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      bindVertices(c, triangle);
      vkCmdDraw(c, 3, 1, 0, 0);
    });
    const Picture got = picture();
    uint32_t count = 0;
    for (const Rgba& p : got.pixels) count += p == kWhite;
    EXPECT_EQ(got.at(25, 27), kBlack);  // inside
    if (mode == VK_POLYGON_MODE_POINT) {
      EXPECT_LE(count, 3u);
      EXPECT_EQ(got.at(60, 20), kWhite);
    } else {
      // Along three edges of together about 170 pixels, 55 + 43 + 55 of them in steps of the longer axis.
      EXPECT_GE(count, 120u);
      EXPECT_LE(count, 260u);
      for (uint32_t x = 10; x < 55; ++x) {  // the upper edge passes through each of these columns
        const double y = 3.5 + (x + 0.5 - 5.25) * (20.75 - 3.5) / (60.125 - 5.25);
        EXPECT_EQ(got.at(x, static_cast<uint32_t>(y)), kWhite) << x;
      }
    }
  }
}

// covers: feature:wideLines, vkCmdSetLineWidth
TEST_F(DrawPrimitiveTest, WideLines) {
  prepareFull();
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = pass_;
  state.assembly.topology = VK_PRIMITIVE_TOPOLOGY_LINE_LIST;
  state.dynamic = {VK_DYNAMIC_STATE_LINE_WIDTH};
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
  const auto at = [](float x, float y) { return ColorVertex{x / 32 - 1, y / 32 - 1, 0, 1, 1, 1, 1, 1}; };
  const TestBuffer buffer = makeVertices(std::vector<ColorVertex>{at(8, 20), at(40, 20)});
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, buffer);
    vkCmdSetLineWidth(c, 6);
    vkCmdDraw(c, 2, 1, 0, 0);
  });
  expectPicture(picture(),
                [](uint32_t x, uint32_t y) -> Rgba { return x >= 8 && x < 40 && y >= 17 && y < 23 ? kWhite : kBlack; });
}

// A line's fragments are those whose diamonds it leaves: its last one is not drawn.
// covers: VK_EXT_line_rasterization, feature:bresenhamLines, feature:rectangularLines, vkCmdSetLineStippleEXT
TEST_F(DrawPrimitiveTest, LinesOfBresenham) {
  prepareFull();
  DEVICE_FN(vkCmdSetLineStippleEXT);
  constexpr auto kBresenham = VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT;
  for (const auto& [mode, width] : {std::pair(kBresenham, 1u), std::pair(kBresenham, 3u),
                                    std::pair(VK_LINE_RASTERIZATION_MODE_RECTANGULAR_EXT, 1u)}) {
    VkPipelineRasterizationLineStateCreateInfoEXT line{
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT};
    line.lineRasterizationMode = mode;
    PipelineState state(kExtent);
    state.addFloats({4, 4});
    state.renderPass = pass_;
    state.raster.pNext = &line;
    state.raster.lineWidth = static_cast<float>(width);
    state.assembly.topology = VK_PRIMITIVE_TOPOLOGY_LINE_LIST;
    state.dynamic = {VK_DYNAMIC_STATE_LINE_STIPPLE_EXT};
    const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
    const auto at = [](float x, float y) { return ColorVertex{x / 32 - 1, y / 32 - 1, 0, 1, 1, 1, 1, 1}; };
    const TestBuffer buffer = makeVertices(std::vector<ColorVertex>{at(10.5f, 5.5f), at(40.5f, 35.5f)});
    draw([&](VkCommandBuffer c) {
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      vkCmdSetLineStippleEXT(c, 1, 0x5555);  // stippling is off
      bindVertices(c, buffer);
      vkCmdDraw(c, 2, 1, 0, 0);
    });
    const Picture got = picture();
    for (uint32_t x = 11; x < 40; ++x) EXPECT_EQ(got.at(x, x - 5), kWhite) << x;
    if (mode != kBresenham) continue;
    expectPicture(got, [reach = static_cast<int>(width / 2)](uint32_t x, uint32_t y) {
      const int across = static_cast<int>(y + 5) - static_cast<int>(x);
      return std::abs(across) <= reach && x >= 10 && x < 40 ? kWhite : kBlack;
    });
  }
}

// covers: VK_EXT_primitive_topology_list_restart, feature:primitiveTopologyListRestart
TEST_F(DrawPrimitiveTest, ListsBeginAgain) {
  prepareFull();
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = pass_;
  state.assembly.primitiveRestartEnable = VK_TRUE;
  const VkPipeline pipeline = makePipeline(state, k_flat_color_vert, k_flat_color_frag);
  const TestBuffer triangle = makeTriangle(kWhite);
  const TestBuffer indices = makeVertices<uint16_t>({0, 1, 0xffff, 0, 1, 2});  // two of a triangle are none
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, triangle);
    vkCmdBindIndexBuffer(c, indices.buffer, 0, VK_INDEX_TYPE_UINT16);
    vkCmdDrawIndexed(c, 6, 1, 0, 0, 0);
  });
  const TriangleModel model(kTriangle[0], kTriangle[1], kTriangle[2]);
  expectPicture(picture(), [&](uint32_t x, uint32_t y) { return model.covers(x, y) ? kWhite : kBlack; });
}

// covers: feature:largePoints
TEST_F(DrawPrimitiveTest, LargePoints) {
  prepareFull();
  PipelineState state(kExtent);
  state.addFloats({4});
  state.renderPass = pass_;
  state.layout = layout_;
  state.assembly.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
  const VkPipeline pipeline = makePipeline(state, k_wide_point_vert, k_push_color_frag);
  const TestBuffer buffer = makeVertices<std::array<float, 4>>({{0, 0.25f, 0, 1}});  // (32, 40)
  const auto drawPoint = [&](float size) {
    draw([&](VkCommandBuffer c) {
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      bindVertices(c, buffer);
      const Push push{{1, 1, 1, 1}, size};
      vkCmdPushConstants(c, layout_, kStages, 0, sizeof push, &push);
      vkCmdDraw(c, 1, 1, 0, 0);
    });
    return picture();
  };
  expectPicture(drawPoint(10), [](uint32_t x, uint32_t y) -> Rgba {
    return x >= 27 && x < 37 && y >= 35 && y < 45 ? kWhite : kBlack;
  });
  // Sizes are clamped to the range, which begins with one pixel.
  expectPicture(drawPoint(0.25f), [](uint32_t x, uint32_t y) { return x == 31 && y == 39 ? kWhite : kBlack; });
}

// covers: VK_EXT_provoking_vertex, feature:provokingVertexLast
TEST_F(DrawPrimitiveTest, TheLastVertexProvokes) {
  prepareFull();
  VkPipelineRasterizationProvokingVertexStateCreateInfoEXT provoking{
      VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_PROVOKING_VERTEX_STATE_CREATE_INFO_EXT};
  provoking.provokingVertexMode = VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT;
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = pass_;
  state.raster.pNext = &provoking;
  const VkPipeline pipeline = makePipeline(state, k_flat_color_vert, k_flat_color_frag);
  const TestBuffer buffer = makeVertices(
      std::vector<ColorVertex>{{-1, -1, 0, 1, 1, 0, 0, 1}, {3, -1, 0, 1, 0, 1, 0, 1}, {-1, 3, 0, 1, 0, 0, 1, 1}});
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, buffer);
    vkCmdDraw(c, 3, 1, 0, 0);
  });
  expectPicture(picture(), [](uint32_t, uint32_t) -> Rgba { return {0, 0, 1, 1}; });
}

// covers: feature:shaderClipDistance, feature:shaderCullDistance
TEST_F(DrawPrimitiveTest, ClipAndCullDistances) {
  prepareFull();
  PipelineState state(kExtent);
  state.renderPass = pass_;
  state.layout = layout_;
  const VkPipeline pipeline = makePipeline(state, k_distances_vert, k_push_color_frag);
  for (const float cull : {1.0f, -1.0f}) {
    draw([&](VkCommandBuffer c) {
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      drawWhole(c, kWhite, cull);
    });
    expectPicture(picture(), [&](uint32_t x, uint32_t) { return cull > 0 && x >= 16 ? kWhite : kBlack; });
  }
}

// covers: feature:fullDrawIndexUint32
TEST_F(DrawPrimitiveTest, TheLargestIndices) {
  prepareFull();
  PipelineState state(kExtent);
  state.renderPass = pass_;
  state.layout = layout_;
  const VkPipeline pipeline = makePipeline(state, k_large_index_vert, k_push_color_frag);
  const TestBuffer indices = makeVertices<uint32_t>({0xfffffffe, 0xfffffffd, 0xfffffffc});
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindIndexBuffer(c, indices.buffer, 0, VK_INDEX_TYPE_UINT32);
    const Push push{{1, 1, 1, 1}, 0};
    vkCmdPushConstants(c, layout_, kStages, 0, sizeof push, &push);
    vkCmdDrawIndexed(c, 3, 1, 0, 0, 0);
  });
  expectPicture(picture(), [](uint32_t, uint32_t) { return kWhite; });
}

}  // namespace
}  // namespace pumice::cts
