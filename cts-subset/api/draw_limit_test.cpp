// Drawing at its edges: numbers that are none, targets of extreme shape, none at all, attachments that are not used,
// very many draws of nothing, what is hidden and what only seems to be.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "cts-subset/support/draw_test.h"
#include "shaders/color_frag.spv.h"
#include "shaders/color_vert.spv.h"
#include "shaders/numbers_frag.spv.h"
#include "shaders/push_color_frag.spv.h"
#include "shaders/views_vert.spv.h"
#include "shaders/whole_vert.spv.h"

namespace pumice::cts {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class DrawLimitTest : public FilledTargetTest {
 protected:
  VkQueryPool makeQueries(VkQueryType type, uint32_t count) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = type;
    info.queryCount = count;
    VkQueryPool pool = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateQueryPool(device(), &info, nullptr, &pool), VK_SUCCESS);
    defer([this, pool] { vkDestroyQueryPool(device(), pool, nullptr); });
    return pool;
  }
};

// One vertex that is not a number takes its primitive away and harms no other.
TEST_F(DrawLimitTest, PositionsThatAreNoNumbers) {
  prepare();
  for (const VkPrimitiveTopology topology :
       {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, VK_PRIMITIVE_TOPOLOGY_LINE_LIST, VK_PRIMITIVE_TOPOLOGY_POINT_LIST}) {
    PipelineState state(kExtent);
    state.addFloats({4, 4});
    state.renderPass = pass_;
    state.assembly.topology = topology;
    const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
    std::vector<ColorVertex> vertices;
    for (const float bad : {kNaN, kInf, -kInf}) {
      for (uint32_t component = 0; component < 4; ++component) {
        // Six are two triangles, three lines, six points: all of them have a bad one.
        for (uint32_t i = 0; i < 6; ++i) {
          float p[4] = {i % 3 == 1 ? 0.9f : -0.9f, i % 3 == 2 ? 0.9f : -0.9f, 0, 1};
          p[component] = bad;
          vertices.push_back({p[0], p[1], p[2], p[3], 1, 1, 1, 1});
        }
      }
    }
    const auto count = static_cast<uint32_t>(vertices.size());
    const TestBuffer buffer = makeVertices(vertices);
    const TestBuffer good = makeTriangle({0, 1, 0, 1});
    PipelineState triangles(kExtent);
    triangles.addFloats({4, 4});
    triangles.renderPass = pass_;
    const VkPipeline goodPipeline = makePipeline(triangles, k_color_vert, k_color_frag);
    draw([&](VkCommandBuffer c) {
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      bindVertices(c, buffer);
      // w of infinity is the middle of the screen, and legal: those are left out.
      vkCmdDraw(c, 18, 1, 0, 0);
      vkCmdDraw(c, 18, 1, 24, 0);
      vkCmdDraw(c, count - 54, 1, 48, 0);
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, goodPipeline);
      bindVertices(c, good);
      vkCmdDraw(c, 3, 1, 0, 0);
    });
    const TriangleModel model(kTriangle[0], kTriangle[1], kTriangle[2]);
    expectPicture(picture(), [&](uint32_t x, uint32_t y) -> Rgba {
      return {0, model.covers(x, y) ? 1.0f : 0.0f, 0, 1};
    });
  }
}

// Vertices behind their buffer are zeros, and so is their position: no primitive. Indices behind theirs are zero.
TEST_F(DrawLimitTest, IndicesAndVerticesBehindTheirBuffers) {
  prepareFull();
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = pass_;
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
  const TestBuffer triangle = makeTriangle({0, 1, 0, 1});
  const TestBuffer wide = makeVertices<uint32_t>({3, 4, 5, 1'000'000, 0xfffffff0, 0x80000000, 0, 1, 2});
  const TestBuffer narrow = makeVertices<uint16_t>({3, 4, 5, 1000, 0xfff0, 0x8000, 0, 1, 2});
  const TestBuffer arguments = makeBuffer(sizeof(VkDrawIndexedIndirectCommand), VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
  arguments.as<VkDrawIndexedIndirectCommand>()[0] = {3000, 2, 0xffffff00, 0, 0};
  const TriangleModel model(kTriangle[0], kTriangle[1], kTriangle[2]);
  const auto expectTriangle = [&](bool there) {
    expectPicture(picture(), [&](uint32_t x, uint32_t y) -> Rgba {
      return {0, there && model.covers(x, y) ? 1.0f : 0.0f, 0, 1};
    });
  };
  for (const auto& [indices, type] : {std::pair(wide, VK_INDEX_TYPE_UINT32), std::pair(narrow, VK_INDEX_TYPE_UINT16)}) {
    for (const bool there : {false, true}) {
      draw([&](VkCommandBuffer c) {
        vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
        bindVertices(c, triangle);
        vkCmdBindIndexBuffer(c, indices.buffer, 0, type);
        vkCmdDrawIndexed(c, there ? 9 : 6, 1, 0, 0, 0);
        vkCmdDrawIndexed(c, 3, 1, 6, INT32_MIN, 0);
        vkCmdDrawIndexed(c, 3, 1, 6, INT32_MAX, 0);
        vkCmdDrawIndexed(c, 3000, 1, 9, 0, 0);
        vkCmdDrawIndexed(c, 3, 1, 0xffffff00, 0, 0);
        vkCmdDrawIndexedIndirect(c, arguments.buffer, 0, 1, sizeof(VkDrawIndexedIndirectCommand));
        vkCmdDraw(c, 3000, 1, 3, 0);
        vkCmdDraw(c, 30, 1, 0xffffff00, 0);
      });
      expectTriangle(there);
    }
  }
}

TEST_F(DrawLimitTest, ViewportsAndScissorsOfExtremeSize) {
  prepare();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) {
    s.dynamic = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
  });
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    const VkRect2D largest{{0, 0}, {INT32_MAX, INT32_MAX}}, nothing{{5, 5}, {0, 0}};
    const VkRect2D last{{63, 63}, {INT32_MAX - 63, INT32_MAX - 63}};
    const VkRect2D outside{{INT32_MAX, INT32_MAX}, {0, 0}};
    const VkViewport all{0, 0, 64, 64, 0, 1}, tiny{3.25f, 3.25f, 1e-30f, 1e-30f, 0, 1};
    const VkViewport flat{0, 10, 64, 0, 0, 1};  // a height of zero is legal
    const VkViewport turned{0, 64, 64, -64, 0, 1};
    const VkViewport huge{-32768, -32768, 16384, 16384, 0, 1};
    vkCmdSetViewport(c, 0, 1, &all);
    vkCmdSetScissor(c, 0, 1, &largest);
    drawWhole(c, {0, 0, 1, 1});
    for (const VkViewport& v : {tiny, flat, huge}) {
      vkCmdSetViewport(c, 0, 1, &v);
      drawWhole(c, {1, 0, 0, 1});
    }
    vkCmdSetViewport(c, 0, 1, &turned);
    for (const VkRect2D& s : {nothing, outside}) {
      vkCmdSetScissor(c, 0, 1, &s);
      drawWhole(c, {1, 0, 0, 1});
    }
    vkCmdSetScissor(c, 0, 1, &last);
    drawWhole(c, {0, 1, 0, 1});
  });
  expectPicture(picture(), [](uint32_t x, uint32_t y) -> Rgba {
    return x == 63 && y == 63 ? Rgba{0, 1, 0, 1} : Rgba{0, 0, 1, 1};
  });
}

// As long as a target may be, and one pixel thin; an area at its very end.
TEST_F(DrawLimitTest, ThinTargets) {
  createDevice();
  const VkPushConstantRange range{kStages, 0, sizeof(Push)};
  layout_ = makeLayout({}, {&range, 1});
  constexpr uint32_t kLong = 16384;
  for (const VkExtent2D extent : {VkExtent2D{kLong, 1}, VkExtent2D{1, kLong}}) {
    const Target target = makeTarget(kRgba8, extent);
    PipelineState state(extent);
    state.renderPass = makeRenderPass({&target, 1});
    state.layout = layout_;
    const VkPipeline pipeline = makePipeline(state, k_whole_vert, k_push_color_frag);
    const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
    const VkClearValue clears[] = {clearColor(1, 0, 0), clearColor(0, 1, 0)};
    run([&](VkCommandBuffer c) {
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      beginPass(c, state.renderPass, framebuffer, extent, {&clears[0], 1});
      drawWhole(c, {0, 0, 1, 1});
      vkCmdEndRenderPass(c);
      barrier(c, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT);
      VkRenderPassBeginInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
      info.renderPass = state.renderPass;
      info.framebuffer = framebuffer;
      info.renderArea = {{static_cast<int32_t>(extent.width - 1), static_cast<int32_t>(extent.height - 1)}, {1, 1}};
      info.clearValueCount = 1;
      info.pClearValues = &clears[1];
      vkCmdBeginRenderPass(c, &info, VK_SUBPASS_CONTENTS_INLINE);
      vkCmdEndRenderPass(c);
    });
    expectPicture(readColor(target), [](uint32_t x, uint32_t y) -> Rgba {
      return x + y == kLong - 1 ? Rgba{0, 1, 0, 1} : Rgba{0, 0, 1, 1};
    });
  }
}

// A pass without attachments still counts samples.
TEST_F(DrawLimitTest, NoAttachments) {
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.features.occlusionQueryPrecise = VK_TRUE;
  createDevice({.features = &features});
  VkSubpassDescription subpass{};
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.subpassCount = 1;
  info.pSubpasses = &subpass;
  PipelineState state({100, 70}, 0);
  state.renderPass = makeRenderPass(info);
  const VkPushConstantRange range{kStages, 0, sizeof(Push)};
  state.layout = layout_ = makeLayout({}, {&range, 1});
  state.samples.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
  const VkPipeline pipeline = makePipeline(state, k_whole_vert, {});
  VkFramebufferCreateInfo frame{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  frame.renderPass = state.renderPass;
  frame.width = 100;
  frame.height = 70;
  frame.layers = 1;
  VkFramebuffer framebuffer = VK_NULL_HANDLE;
  VK_OK(vkCreateFramebuffer(device(), &frame, nullptr, &framebuffer));
  defer([this, framebuffer] { vkDestroyFramebuffer(device(), framebuffer, nullptr); });
  const VkQueryPool queries = makeQueries(VK_QUERY_TYPE_OCCLUSION, 2);
  run([&](VkCommandBuffer c) {
    vkCmdResetQueryPool(c, queries, 0, 2);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBeginQuery(c, queries, 0, VK_QUERY_CONTROL_PRECISE_BIT);  // over two passes
    for (int i = 0; i < 2; ++i) {
      beginPass(c, state.renderPass, framebuffer, {100, 70}, {});
      if (i == 1) vkCmdBeginQuery(c, queries, 1, VK_QUERY_CONTROL_PRECISE_BIT), vkCmdEndQuery(c, queries, 1);
      if (i == 0) drawWhole(c, {1, 1, 1, 1});
      vkCmdEndRenderPass(c);
      if (i == 0) vkCmdEndQuery(c, queries, 0);
    }
  });
  uint64_t results[2]{};
  VK_OK(vkGetQueryPoolResults(device(), queries, 0, 2, sizeof results, results, 8,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
  EXPECT_EQ(results[0], 4u * 100 * 70);
  EXPECT_EQ(results[1], 0u);
}

// References and clears of color attachments that are not used.
TEST_F(DrawLimitTest, UnusedAttachments) {
  createDevice();
  const Target target = makeTarget(kRgba8, kExtent);
  const VkAttachmentDescription description = attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR);
  const VkAttachmentReference unused{VK_ATTACHMENT_UNUSED, VK_IMAGE_LAYOUT_UNDEFINED};
  const VkAttachmentReference colors[] = {unused, {0, VK_IMAGE_LAYOUT_GENERAL}, unused};
  const VkAttachmentReference resolves[] = {unused, unused, unused};
  VkSubpassDescription subpass{};
  subpass.colorAttachmentCount = 3;
  subpass.pColorAttachments = colors;
  subpass.pResolveAttachments = resolves;
  subpass.pDepthStencilAttachment = &unused;
  subpass.inputAttachmentCount = 1;
  subpass.pInputAttachments = &unused;
  const VkSubpassDependency dependency = toCopy(0);
  const VkRenderPass pass = makeRenderPass({&description, 1}, {&subpass, 1}, {&dependency, 1});
  const VkFramebuffer framebuffer = makeFramebuffer(pass, {&target, 1});
  const VkClearValue clear = clearColor(0, 0, 1);
  run([&](VkCommandBuffer c) {
    beginPass(c, pass, framebuffer, kExtent, {&clear, 1});
    const VkClearAttachment attachments[] = {
        {VK_IMAGE_ASPECT_COLOR_BIT, 0, clearColor(1, 0, 0)},
        {VK_IMAGE_ASPECT_COLOR_BIT, 1, clearColor(0, 1, 0)},
        {VK_IMAGE_ASPECT_COLOR_BIT, VK_ATTACHMENT_UNUSED, clearColor(1, 0, 0)},
        {VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT, 0, clearDepth(0.5f, 3)}};
    const VkClearRect rect{{{8, 8}, {16, 16}}, 0, 1};
    vkCmdClearAttachments(c, 4, attachments, 1, &rect);
    vkCmdEndRenderPass(c);
  });
  expectPicture(readColor(target), [](uint32_t x, uint32_t y) -> Rgba {
    return x >= 8 && x < 24 && y >= 8 && y < 24 ? Rgba{0, 1, 0, 1} : Rgba{0, 0, 1, 1};
  });
}

// A draw that covers all of its target hides nothing of the other subpass's target.
TEST_F(DrawLimitTest, ClearsOfAnotherTargetAreNotHidden) {
  createDevice();
  const Target targets[] = {makeTarget(kRgba8, kExtent), makeTarget(kRgba8, kExtent)};
  const VkAttachmentDescription attachments[] = {attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR),
                                                 attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR)};
  const VkAttachmentReference references[] = {{0, VK_IMAGE_LAYOUT_GENERAL}, {1, VK_IMAGE_LAYOUT_GENERAL}};
  VkSubpassDescription subpasses[2]{};
  for (uint32_t i = 0; i < 2; ++i) {
    subpasses[i].colorAttachmentCount = 1;
    subpasses[i].pColorAttachments = &references[i];
  }
  const VkSubpassDependency dependencies[] = {
      {0, 1, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
       VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_DEPENDENCY_BY_REGION_BIT},
      toCopy(0),
      toCopy(1)};
  PipelineState state(kExtent);
  state.renderPass = makeRenderPass(attachments, subpasses, dependencies);
  state.subpass = 1;
  const VkPushConstantRange range{kStages, 0, sizeof(Push)};
  state.layout = layout_ = makeLayout({}, {&range, 1});
  const VkPipeline pipeline = makePipeline(state, k_whole_vert, k_push_color_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, targets);
  const VkClearValue clears[] = {clearColor(0, 0, 0), clearColor(0, 0, 0)};
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, clears);
    const VkClearAttachment attachment{VK_IMAGE_ASPECT_COLOR_BIT, 0, clearColor(1, 0, 0)};
    const VkClearRect rect{{{0, 0}, kExtent}, 0, 1};
    vkCmdClearAttachments(c, 1, &attachment, 1, &rect);
    vkCmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    drawWhole(c, {0, 1, 0, 1});
    vkCmdEndRenderPass(c);
  });
  expectPicture(readColor(targets[0]), [](uint32_t, uint32_t) -> Rgba { return {1, 0, 0, 1}; });
  expectPicture(readColor(targets[1]), [](uint32_t, uint32_t) -> Rgba { return {0, 1, 0, 1}; });
}

TEST_F(DrawLimitTest, ManyIndirectDrawsOfNothing) {
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.features.multiDrawIndirect = VK_TRUE;
  prepare({.features = &features});
  const VkPipeline pipeline = makeWhole([](PipelineState&) {});
  constexpr uint32_t kDraws = 1 << 20;
  const TestBuffer args =
      makeBuffer(uint64_t{kDraws} * sizeof(VkDrawIndirectCommand), kVertexUsages | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
  std::memset(args.bytes, 0, args.size);
  const VkDrawIndirectCommand last{3, 1, 0, 0}, noInstance{3, 0, 0, 0};
  std::memcpy(args.bytes + args.size - sizeof last, &last, sizeof last);
  std::memcpy(args.bytes, &noInstance, sizeof noInstance);
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    const Push push{{0, 1, 0, 1}, 0};
    vkCmdPushConstants(c, layout_, kStages, 0, sizeof push, &push);
    vkCmdDrawIndirect(c, args.buffer, 0, kDraws, sizeof last);
  });
  expectPicture(picture(), [](uint32_t, uint32_t) -> Rgba { return {0, 1, 0, 1}; });
}

// One secondary command buffer twice in a pass and in another submission's at the same time.
TEST_F(DrawLimitTest, SecondariesAreUsedSimultaneously) {
  prepare();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) {
    s.blend[0] = {VK_TRUE,
                  VK_BLEND_FACTOR_ONE,
                  VK_BLEND_FACTOR_ONE,
                  VK_BLEND_OP_ADD,
                  VK_BLEND_FACTOR_ONE,
                  VK_BLEND_FACTOR_ONE,
                  VK_BLEND_OP_ADD,
                  0xf};
  });
  const VkCommandBuffer secondary = makeCommands(0, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  VkCommandBufferInheritanceInfo inherited{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  inherited.renderPass = pass_;
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT | VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  info.pInheritanceInfo = &inherited;
  VK_OK(vkBeginCommandBuffer(secondary, &info));
  vkCmdBindPipeline(secondary, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
  drawWhole(secondary, {1.0f / 255, 2.0f / 255, 0, 0});
  VK_OK(vkEndCommandBuffer(secondary));
  const VkClearValue clears[] = {clearColor(0, 0, 0), clearDepth(1)};
  const std::array<VkCommandBuffer, 20> all = [&] {
    std::array<VkCommandBuffer, 20> out;
    out.fill(secondary);
    return out;
  }();
  run([&](VkCommandBuffer c) {
    for (uint32_t i = 1; i <= 3; ++i) {
      beginPass(c, pass_, framebuffer_, kExtent, clears, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
      vkCmdExecuteCommands(c, 10 * i > 20 ? 20 : 10 * i, all.data());
      if (i == 3) vkCmdExecuteCommands(c, 10, all.data());
      vkCmdEndRenderPass(c);
      barrier(c, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT);
    }
  });
  expectPicture(
      picture(),
      [](uint32_t, uint32_t) -> Rgba {
        return {30.0f / 255, 60.0f / 255, 0, 1};
      },
      0.1f / 255);
}

// Queries and timestamps of a pass with several views take one query of each view, and all of them become available.
TEST_F(DrawLimitTest, QueriesOfViews) {
  createFullDevice();
  const Target target = makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_1_BIT, 0, 3);
  const VkAttachmentDescription description = attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR);
  const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL};
  VkSubpassDescription subpass{};
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &color;
  const uint32_t mask = 0b101;
  VkRenderPassMultiviewCreateInfo multiview{VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO};
  multiview.subpassCount = 1;
  multiview.pViewMasks = &mask;
  PipelineState state(kExtent);
  state.renderPass = makeRenderPass({&description, 1}, {&subpass, 1}, {}, &multiview);
  const VkPipeline pipeline = makePipeline(state, k_views_vert, k_numbers_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
  const VkQueryPool occlusion = makeQueries(VK_QUERY_TYPE_OCCLUSION, 2);
  const VkQueryPool times = makeQueries(VK_QUERY_TYPE_TIMESTAMP, 2);
  const VkClearValue clear = clearColor(0, 0, 0);
  run([&](VkCommandBuffer c) {
    vkCmdResetQueryPool(c, occlusion, 0, 2);
    vkCmdResetQueryPool(c, times, 0, 2);
    beginPass(c, state.renderPass, framebuffer, kExtent, {&clear, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBeginQuery(c, occlusion, 0, VK_QUERY_CONTROL_PRECISE_BIT);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndQuery(c, occlusion, 0);
    vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, times, 0);
    vkCmdEndRenderPass(c);
  });
  uint64_t samples[2][2]{}, time[2][2]{};
  VK_OK(vkGetQueryPoolResults(device(), occlusion, 0, 2, sizeof samples, samples, 16,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT));
  EXPECT_EQ(samples[0][0] + samples[1][0], 2u * 64 * 64);
  VK_OK(vkGetQueryPoolResults(device(), times, 0, 2, sizeof time, time, 16,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(samples[i][1], 1u) << i;
    EXPECT_EQ(time[i][1], 1u) << i;
  }
}

// covers: vkCmdSetLogicOpEXT, vkCmdSetPatchControlPointsEXT
// Functions of an extension are there whatever its features are, and change nothing while these are off. (The layer,
// rightly, does not like the calls.)
TEST_F(DrawLimitTest, StatesThatCannotBeDynamic) {
  createFullDevice(false);
  prepareTargets();
  DEVICE_FN(vkCmdSetLogicOpEXT);
  DEVICE_FN(vkCmdSetPatchControlPointsEXT);
  const VkPipeline pipeline = makeWhole([](PipelineState&) {});
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdSetLogicOpEXT(c, VK_LOGIC_OP_CLEAR);
    vkCmdSetPatchControlPointsEXT(c, 3);
    drawWhole(c, {0, 1, 0, 1});
  });
  expectPicture(picture(), [](uint32_t, uint32_t) -> Rgba { return {0, 1, 0, 1}; });
}

}  // namespace
}  // namespace pumice::cts
