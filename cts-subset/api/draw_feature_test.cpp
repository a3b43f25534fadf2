// Optional features of drawing, one by one.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "cts-subset/support/draw_test.h"
#include "shaders/color_frag.spv.h"
#include "shaders/color_vert.spv.h"
#include "shaders/counting_frag.spv.h"
#include "shaders/counting_vert.spv.h"
#include "shaders/distances_vert.spv.h"
#include "shaders/dual_source_frag.spv.h"
#include "shaders/flat_color_frag.spv.h"
#include "shaders/flat_color_vert.spv.h"
#include "shaders/input_attachment_frag.spv.h"
#include "shaders/large_index_vert.spv.h"
#include "shaders/layers_vert.spv.h"
#include "shaders/numbers_frag.spv.h"
#include "shaders/push_color_frag.spv.h"
#include "shaders/sample_number_frag.spv.h"
#include "shaders/stencil_export_frag.spv.h"
#include "shaders/subgroup_stage_frag.spv.h"
#include "shaders/subgroup_stage_vert.spv.h"
#include "shaders/texture_frag.spv.h"
#include "shaders/texture_vert.spv.h"
#include "shaders/two_targets_frag.spv.h"
#include "shaders/views_vert.spv.h"
#include "shaders/whole_vert.spv.h"
#include "shaders/wide_point_vert.spv.h"

namespace pumice::cts {
namespace {

constexpr Rgba kBlack{0, 0, 0, 1}, kWhite{1, 1, 1, 1};

class DrawFeatureTest : public FilledTargetTest {
 protected:
  void prepareFull() {
    createFullDevice();
    prepareTargets();
  }
  // Whether a pipeline's whole triangle at this depth is seen, in the midst of the target.
  bool isSeen(VkPipeline pipeline, float depth, float cleared = 1) {
    draw(
        [&](VkCommandBuffer c) {
          vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
          drawWhole(c, kWhite, depth);
        },
        cleared);
    return picture().at(32, 32) == kWhite;
  }
  // A set with one storage buffer for both stages.
  VkDescriptorSet makeBufferSet(const TestBuffer& buffer, VkDescriptorSetLayout* layout) {
    const VkDescriptorSetLayoutBinding binding{0, kStorageBuffer, 1, kStages, nullptr};
    VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.bindingCount = 1;
    info.pBindings = &binding;
    EXPECT_EQ(vkCreateDescriptorSetLayout(device(), &info, nullptr, layout), VK_SUCCESS);
    const VkDescriptorPoolSize size{kStorageBuffer, 1};
    VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    poolInfo.maxSets = poolInfo.poolSizeCount = 1;
    poolInfo.pPoolSizes = &size;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateDescriptorPool(device(), &poolInfo, nullptr, &pool), VK_SUCCESS);
    VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    allocate.descriptorPool = pool;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = layout;
    VkDescriptorSet set = VK_NULL_HANDLE;
    EXPECT_EQ(vkAllocateDescriptorSets(device(), &allocate, &set), VK_SUCCESS);
    const VkDescriptorBufferInfo whole{buffer.buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.descriptorCount = 1;
    write.descriptorType = kStorageBuffer;
    write.pBufferInfo = &whole;
    vkUpdateDescriptorSets(device(), 1, &write, 0, nullptr);
    defer([this, pool, made = *layout] {
      vkDestroyDescriptorPool(device(), pool, nullptr);
      vkDestroyDescriptorSetLayout(device(), made, nullptr);
    });
    return set;
  }
  // A pass of one color target with four samples that is resolved into targets_[0].
  VkRenderPass makeResolvingPass() {
    VkAttachmentDescription attachments[2]{};
    for (int i = 0; i < 2; ++i) {
      attachments[i].format = kRgba8;
      attachments[i].samples = i == 0 ? VK_SAMPLE_COUNT_4_BIT : VK_SAMPLE_COUNT_1_BIT;
      attachments[i].loadOp = i == 0 ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_DONT_CARE;
      attachments[i].storeOp = i == 0 ? VK_ATTACHMENT_STORE_OP_DONT_CARE : VK_ATTACHMENT_STORE_OP_STORE;
      attachments[i].stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
      attachments[i].stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
      attachments[i].initialLayout = attachments[i].finalLayout = VK_IMAGE_LAYOUT_GENERAL;
    }
    const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL}, resolve{1, VK_IMAGE_LAYOUT_GENERAL};
    VkSubpassDescription subpass{};
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &color;
    subpass.pResolveAttachments = &resolve;
    const VkSubpassDependency toCopy{0,
                                     VK_SUBPASS_EXTERNAL,
                                     VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT,
                                     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                     VK_ACCESS_MEMORY_WRITE_BIT,
                                     VK_ACCESS_MEMORY_READ_BIT,
                                     0};
    VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
    info.attachmentCount = 2;
    info.pAttachments = attachments;
    info.subpassCount = 1;
    info.pSubpasses = &subpass;
    info.dependencyCount = 1;
    info.pDependencies = &toCopy;
    return makeRenderPass(info);
  }
};

// covers: feature:depthClamp, VK_EXT_depth_clip_enable, feature:depthClipEnable
// covers: VK_EXT_depth_clip_control, feature:depthClipControl
TEST_F(DrawFeatureTest, DepthIsClampedOrClipped) {
  prepareFull();
  VkPipelineRasterizationDepthClipStateCreateInfoEXT clip{
      VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT};
  VkPipelineViewportDepthClipControlCreateInfoEXT control{
      VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLIP_CONTROL_CREATE_INFO_EXT};
  control.negativeOneToOne = VK_TRUE;
  const VkPipeline plain = makeWhole([](PipelineState&) {});
  const VkPipeline clamped = makeWhole([](PipelineState& s) {
    s.raster.depthClampEnable = VK_TRUE;
    s.depth.depthTestEnable = VK_TRUE;
    s.depth.depthCompareOp = VK_COMPARE_OP_EQUAL;
  });
  const VkPipeline neither = makeWhole([&](PipelineState& s) { s.raster.pNext = &clip; });
  const VkPipeline symmetric = makeWhole([&](PipelineState& s) { s.viewports.pNext = &control; });
  EXPECT_TRUE(isSeen(plain, 0.5f));
  EXPECT_FALSE(isSeen(plain, 1.5f));
  EXPECT_FALSE(isSeen(plain, -0.5f));
  EXPECT_TRUE(isSeen(clamped, 1.5f, 1));  // equal to what depth was cleared to
  EXPECT_TRUE(isSeen(clamped, -2, 0));
  EXPECT_FALSE(isSeen(clamped, -2, 0.5f));
  EXPECT_TRUE(isSeen(neither, 1.5f));
  EXPECT_TRUE(isSeen(symmetric, -0.5f));
  EXPECT_FALSE(isSeen(symmetric, -1.5f));
}

// covers: feature:depthBounds, vkCmdSetDepthBounds
TEST_F(DrawFeatureTest, DepthBounds) {
  prepareFull();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) {
    s.depth.depthBoundsTestEnable = VK_TRUE;
    s.dynamic = {VK_DYNAMIC_STATE_DEPTH_BOUNDS};
  });
  const auto seen = [&](float stored) {
    draw(
        [&](VkCommandBuffer c) {
          vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
          vkCmdSetDepthBounds(c, 0.25f, 0.5f);
          drawWhole(c, kWhite, 0.9f);  // what counts is what is stored
        },
        stored);
    return picture().at(3, 60) == kWhite;
  };
  EXPECT_FALSE(seen(0.125f));
  EXPECT_TRUE(seen(0.25f));
  EXPECT_TRUE(seen(0.5f));
  EXPECT_FALSE(seen(0.75f));
}

// covers: feature:depthBiasClamp
TEST_F(DrawFeatureTest, DepthBiasHasALimit) {
  prepareFull();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) {
    s.raster.depthBiasEnable = VK_TRUE;
    s.raster.depthBiasConstantFactor = 1 << 22;  // a quarter and more
    s.raster.depthBiasClamp = 0.125f;
    s.depth.depthTestEnable = VK_TRUE;
    s.depth.depthCompareOp = VK_COMPARE_OP_EQUAL;
  });
  EXPECT_TRUE(isSeen(pipeline, 0.5f, 0.625f));
  EXPECT_FALSE(isSeen(pipeline, 0.5f, 0.5f));
}

// covers: feature:logicOp
TEST_F(DrawFeatureTest, LogicOperations) {
  prepareFull();
  const uint32_t under = 0x35, over = 0x5c;
  for (const auto& [op, expected] :
       {std::pair(VK_LOGIC_OP_XOR, under ^ over), std::pair(VK_LOGIC_OP_AND, under & over),
        std::pair(VK_LOGIC_OP_OR_REVERSE, (over | ~under) & 0xff), std::pair(VK_LOGIC_OP_INVERT, ~under & 0xff)}) {
    const VkPipeline first = makeWhole([](PipelineState&) {});
    const VkPipeline second = makeWhole([&](PipelineState& s) {
      s.colors.logicOpEnable = VK_TRUE;
      s.colors.logicOp = op;
    });
    draw([&](VkCommandBuffer c) {
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, first);
      drawWhole(c, {under / 255.0f, 0, 1, 1});
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, second);
      drawWhole(c, {over / 255.0f, 0, 1, 1});
    });
    EXPECT_EQ(std::lround(picture().at(40, 40).r * 255), static_cast<long>(expected)) << op;
  }
}

// covers: feature:dualSrcBlend
TEST_F(DrawFeatureTest, TwoSourcesOfBlending) {
  prepareFull();
  PipelineState state(kExtent);
  state.renderPass = pass_;
  state.layout = layout_;
  state.blend[0] = {VK_TRUE,
                    VK_BLEND_FACTOR_SRC1_COLOR,
                    VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR,
                    VK_BLEND_OP_ADD,
                    VK_BLEND_FACTOR_ONE,
                    VK_BLEND_FACTOR_ZERO,
                    VK_BLEND_OP_ADD,
                    0xf};
  const VkPipeline blends = makePipeline(state, k_whole_vert, k_dual_source_frag);
  const VkPipeline fills = makeWhole([](PipelineState&) {});
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, fills);
    drawWhole(c, {1, 0, 1, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, blends);
    drawWhole(c, {0, 1, 0.2f, 1});
  });
  expectPicture(picture(), [](uint32_t, uint32_t) -> Rgba { return {0.75f, 0.5f, 0.15f + 0.25f, 1}; });
}

// covers: feature:independentBlend
TEST_F(DrawFeatureTest, EachTargetBlendsOnItsOwn) {
  prepareFull();
  const Target pair[] = {makeTarget(kRgba8, kExtent), makeTarget(kRgba8, kExtent)};
  PipelineState state(kExtent, 2);
  state.addFloats({4, 4});
  state.renderPass = makeRenderPass(pair);
  state.blend[0].blendEnable = VK_TRUE;
  state.blend[0].srcColorBlendFactor = state.blend[0].dstColorBlendFactor = VK_BLEND_FACTOR_ONE;
  state.blend[1].colorWriteMask = VK_COLOR_COMPONENT_G_BIT;
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_two_targets_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, pair);
  const TestBuffer triangle = makeTriangle({0.2f, 0.4f, 0.6f, 1});
  const VkClearValue clears[] = {clearColor(0.2f, 0.2f, 0.2f), clearColor(0.2f, 0.2f, 0.2f)};
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, clears);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, triangle);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndRenderPass(c);
  });
  const TriangleModel model(kTriangle[0], kTriangle[1], kTriangle[2]);
  expectPicture(readColor(pair[0]), [&](uint32_t x, uint32_t y) -> Rgba {
    return model.covers(x, y) ? Rgba{0.4f, 0.6f, 0.8f, 0} : Rgba{0.2f, 0.2f, 0.2f, 1};
  });
  expectPicture(readColor(pair[1]), [&](uint32_t x, uint32_t y) -> Rgba {
    return model.covers(x, y) ? Rgba{0.2f, 0.6f, 0.2f, 1} : Rgba{0.2f, 0.2f, 0.2f, 1};
  });
}

// covers: feature:alphaToOne
TEST_F(DrawFeatureTest, AlphaToOne) {
  prepareFull();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) { s.samples.alphaToOneEnable = VK_TRUE; });
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    drawWhole(c, {0.2f, 0.4f, 0.6f, 0.4f});
  });
  expectPicture(picture(), [](uint32_t, uint32_t) -> Rgba { return {0.2f, 0.4f, 0.6f, 1}; });
}

// Each sample is shaded: the mean of what four invocations of a pixel write.
// covers: feature:sampleRateShading
TEST_F(DrawFeatureTest, EverySampleIsShaded) {
  prepareFull();
  const Target pair[] = {makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_4_BIT), targets_[0]};
  PipelineState state(kExtent);
  state.renderPass = makeResolvingPass();
  state.samples.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
  state.samples.sampleShadingEnable = VK_TRUE;
  state.samples.minSampleShading = 1;
  const VkPipeline pipeline = makePipeline(state, k_texture_vert, k_sample_number_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, pair);
  const VkClearValue clear = clearColor(0, 0, 0);
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, {&clear, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndRenderPass(c);
  });
  // (0 + 1 + 2 + 3) / 3 / 4; the standard places are around the middle.
  expectPicture(
      picture(),
      [](uint32_t, uint32_t) -> Rgba {
        return {0.5f, 0.5f, 0.5f, 1};
      },
      1.6f / 255);
}

// covers: feature:fillModeNonSolid
TEST_F(DrawFeatureTest, PolygonsAsLinesAndPoints) {
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
TEST_F(DrawFeatureTest, WideLines) {
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
TEST_F(DrawFeatureTest, LinesOfBresenham) {
  prepareFull();
  DEVICE_FN(vkCmdSetLineStippleEXT);
  for (const VkLineRasterizationModeEXT mode :
       {VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT, VK_LINE_RASTERIZATION_MODE_RECTANGULAR_EXT}) {
    VkPipelineRasterizationLineStateCreateInfoEXT line{
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT};
    line.lineRasterizationMode = mode;
    PipelineState state(kExtent);
    state.addFloats({4, 4});
    state.renderPass = pass_;
    state.raster.pNext = &line;
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
    if (mode != VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT) continue;
    expectPicture(got, [](uint32_t x, uint32_t y) { return x == y + 5 && x >= 10 && x < 40 ? kWhite : kBlack; });
  }
}

// covers: VK_EXT_primitive_topology_list_restart, feature:primitiveTopologyListRestart
TEST_F(DrawFeatureTest, ListsBeginAgain) {
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

// covers: VK_EXT_shader_stencil_export
TEST_F(DrawFeatureTest, ShadersGiveTheStencilReference) {
  prepareFull();
  PipelineState state(kExtent);
  state.renderPass = pass_;
  state.depth.stencilTestEnable = VK_TRUE;
  state.depth.front = {
      VK_STENCIL_OP_KEEP, VK_STENCIL_OP_REPLACE, VK_STENCIL_OP_KEEP, VK_COMPARE_OP_GREATER, 0xff, 0xff, 0};
  state.depth.back = state.depth.front;
  const VkPipeline pipeline = makePipeline(state, k_texture_vert, k_stencil_export_frag);
  draw(
      [&](VkCommandBuffer c) {
        vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
        vkCmdDraw(c, 3, 1, 0, 0);
      },
      1, 20);
  const std::vector<int> got = stencil();
  for (int i = 0; i < 64 * 64; ++i) ASSERT_EQ(got[i], std::max(i % 64, 20)) << i;
  expectPicture(picture(), [](uint32_t x, uint32_t) { return x > 20 ? kWhite : kBlack; });
}

// A draw samples the image that it draws to, texel by texel: what is there is added to itself.
// covers: VK_EXT_attachment_feedback_loop_layout, feature:attachmentFeedbackLoopLayout
TEST_F(DrawFeatureTest, ATargetIsSampled) {
  prepareFull();
  constexpr VkImageLayout kLoop = VK_IMAGE_LAYOUT_ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT;
  const Target target = makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_1_BIT,
                                   VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT);
  const VkAttachmentDescription attachment{0,
                                           kRgba8,
                                           VK_SAMPLE_COUNT_1_BIT,
                                           VK_ATTACHMENT_LOAD_OP_CLEAR,
                                           VK_ATTACHMENT_STORE_OP_STORE,
                                           VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                                           VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                           VK_IMAGE_LAYOUT_GENERAL,
                                           VK_IMAGE_LAYOUT_GENERAL};
  const VkAttachmentReference color{0, kLoop};
  VkSubpassDescription subpass{};
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &color;
  const VkSubpassDependency dependencies[] = {
      {0, 0, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
       VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT,
       VK_DEPENDENCY_BY_REGION_BIT | VK_DEPENDENCY_FEEDBACK_LOOP_BIT_EXT},
      {0, VK_SUBPASS_EXTERNAL, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
       VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_MEMORY_READ_BIT, 0}};
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = info.subpassCount = 1;
  info.pAttachments = &attachment;
  info.pSubpasses = &subpass;
  info.dependencyCount = 2;
  info.pDependencies = dependencies;
  const VkRenderPass pass = makeRenderPass(info);
  const VkFramebuffer framebuffer = makeFramebuffer(pass, {&target, 1});
  PipelineState first(kExtent);
  first.addFloats({4, 4});
  first.renderPass = pass;
  const VkPipeline draws = makePipeline(first, k_color_vert, k_color_frag);
  const VkDescriptorImageInfo image{makeSampler(VK_FILTER_NEAREST), target.view, kLoop};
  const Set set = makeSet(kCombined, {&image, 1});
  PipelineState second(kExtent);
  second.renderPass = pass;
  second.layout = makeLayout({&set.layout, 1});
  second.flags = VK_PIPELINE_CREATE_COLOR_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT;
  const VkPipeline copies = makePipeline(second, k_texture_vert, k_texture_frag);
  second.blend[0].blendEnable = VK_TRUE;
  second.blend[0].srcColorBlendFactor = second.blend[0].dstColorBlendFactor = VK_BLEND_FACTOR_ONE;
  second.blend[0].srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
  const VkPipeline adds = makePipeline(second, k_texture_vert, k_texture_frag);
  const TestBuffer triangle = makeTriangle({0.2f, 0.4f, 0, 1});
  const VkClearValue clear = clearColor(0.1f, 0, 0.3f);
  run([&](VkCommandBuffer c) {
    const auto between = [&] {
      VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
      barrier.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
      barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
      barrier.oldLayout = barrier.newLayout = kLoop;
      barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
      barrier.image = target.image.image;
      barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
      vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                           VK_DEPENDENCY_BY_REGION_BIT | VK_DEPENDENCY_FEEDBACK_LOOP_BIT_EXT, 0, nullptr, 0, nullptr, 1,
                           &barrier);
    };
    beginPass(c, pass, framebuffer, kExtent, {&clear, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, draws);
    bindVertices(c, triangle);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, second.layout, 0, 1, &set.set, 0, nullptr);
    for (const VkPipeline p : {copies, adds}) {
      between();
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, p);
      vkCmdDraw(c, 3, 1, 0, 0);
    }
    vkCmdEndRenderPass(c);
  });
  // The layer does not know that these pipelines may.
  for (const std::string& message : takeMessages()) {
    EXPECT_NE(message.find("VUID-vkCmdDraw-None-06538"), std::string::npos) << message;
  }
  const TriangleModel model(kTriangle[0], kTriangle[1], kTriangle[2]);
  expectPicture(
      readColor(target),
      [&](uint32_t x, uint32_t y) {
        return model.covers(x, y) ? Rgba{0.4f, 0.8f, 0, 1} : Rgba{0.2f, 0, 0.6f, 1};
      },
      2.001f / 255);
}

// Vertices and fragments have subgroups, and the pixels of a quad are neighbours in them.
TEST_F(DrawFeatureTest, SubgroupsOfDrawing) {
  prepareFull();
  VkPhysicalDeviceSubgroupProperties subgroups{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &subgroups};
  vkGetPhysicalDeviceProperties2(physicalDevice(), &properties);
  EXPECT_EQ(subgroups.supportedStages & kStages, kStages);
  EXPECT_TRUE(subgroups.quadOperationsInAllStages);
  PipelineState state(kExtent);
  state.renderPass = pass_;
  const VkPipeline pipeline = makePipeline(state, k_subgroup_stage_vert, k_subgroup_stage_frag);
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdDraw(c, 3, 1, 0, 0);
  });
  expectPicture(picture(), [](uint32_t x, uint32_t y) -> Rgba {
    return {static_cast<float>(x ^ 1) / 255, static_cast<float>(y ^ 1) / 255, 1, 1};
  });
}

// covers: feature:largePoints
TEST_F(DrawFeatureTest, LargePoints) {
  prepareFull();
  PipelineState state(kExtent);
  state.addFloats({4});
  state.renderPass = pass_;
  state.layout = layout_;
  state.assembly.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
  const VkPipeline pipeline = makePipeline(state, k_wide_point_vert, k_push_color_frag);
  const TestBuffer buffer = makeVertices<std::array<float, 4>>({{0, 0.25f, 0, 1}});  // (32, 40)
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, buffer);
    const Push push{{1, 1, 1, 1}, 10};
    vkCmdPushConstants(c, layout_, kStages, 0, sizeof push, &push);
    vkCmdDraw(c, 1, 1, 0, 0);
  });
  expectPicture(picture(), [](uint32_t x, uint32_t y) -> Rgba {
    return x >= 27 && x < 37 && y >= 35 && y < 45 ? kWhite : kBlack;
  });
}

// covers: feature:multiViewport, VK_EXT_shader_viewport_index_layer, feature:shaderOutputViewportIndex
// covers: feature:shaderOutputLayer
TEST_F(DrawFeatureTest, LayersAndViewportsOfVertices) {
  prepareFull();
  const Target target = makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_1_BIT, 0, 3);
  PipelineState state(kExtent);
  state.renderPass = makeRenderPass({&target, 1});
  state.viewports.viewportCount = state.viewports.scissorCount = 4;
  state.dynamic = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
  const VkPipeline pipeline = makePipeline(state, k_layers_vert, k_numbers_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1}, 3);
  VkViewport viewports[4];
  VkRect2D scissors[4];
  for (uint32_t i = 0; i < 4; ++i) {
    viewports[i] = {static_cast<float>(16 * i), 0, 16, 64, 0, 1};
    scissors[i] = {{0, static_cast<int32_t>(4 * i)}, {64, 40}};
  }
  const VkClearValue clear = clearColor(0, 0, 0);
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, {&clear, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdSetViewport(c, 0, 4, viewports);
    vkCmdSetScissor(c, 0, 4, scissors);
    vkCmdDraw(c, 3, 12, 0, 0);
    vkCmdEndRenderPass(c);
  });
  for (uint32_t layer = 0; layer < 3; ++layer) {
    expectPicture(readColor(target, layer), [&](uint32_t x, uint32_t y) -> Rgba {
      const uint32_t viewport = x / 16;
      if (y < 4 * viewport || y >= 4 * viewport + 40) return kBlack;
      return {static_cast<float>(10 * (4 * layer + viewport + 1)) / 255, 0, 0, 1};
    });
  }
}

// covers: VK_KHR_multiview, feature:multiview
TEST_F(DrawFeatureTest, ViewsOfOneDraw) {
  prepareFull();
  const Target target = makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_1_BIT, 0, 4);
  VkAttachmentDescription attachment{0,
                                     kRgba8,
                                     VK_SAMPLE_COUNT_1_BIT,
                                     VK_ATTACHMENT_LOAD_OP_CLEAR,
                                     VK_ATTACHMENT_STORE_OP_STORE,
                                     VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                                     VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                     VK_IMAGE_LAYOUT_GENERAL,
                                     VK_IMAGE_LAYOUT_GENERAL};
  const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL};
  VkSubpassDescription subpass{};
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &color;
  const VkSubpassDependency toCopy{0,
                                   VK_SUBPASS_EXTERNAL,
                                   VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT,
                                   VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                   VK_ACCESS_MEMORY_WRITE_BIT,
                                   VK_ACCESS_MEMORY_READ_BIT,
                                   0};
  const uint32_t mask = 0b1011;  // views 0, 1, 3
  VkRenderPassMultiviewCreateInfo multiview{VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO};
  multiview.subpassCount = 1;
  multiview.pViewMasks = &mask;
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO, &multiview};
  info.attachmentCount = info.subpassCount = info.dependencyCount = 1;
  info.pAttachments = &attachment;
  info.pSubpasses = &subpass;
  info.pDependencies = &toCopy;
  PipelineState state(kExtent);
  state.renderPass = makeRenderPass(info);
  const VkPipeline pipeline = makePipeline(state, k_views_vert, k_numbers_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
  const VkClearValue clear = clearColor(0, 0, 0), before = clearColor(1, 1, 1);
  run([&](VkCommandBuffer c) {
    const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 4};
    vkCmdClearColorImage(c, target.image.image, VK_IMAGE_LAYOUT_GENERAL, &before.color, 1, &all);
    barrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT);
    beginPass(c, state.renderPass, framebuffer, kExtent, {&clear, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndRenderPass(c);
  });
  for (uint32_t view = 0; view < 4; ++view) {
    expectPicture(readColor(target, view), [&](uint32_t, uint32_t) -> Rgba {
      return view == 2 ? kWhite : Rgba{static_cast<float>(50 * (view + 1)) / 255, 0, 0, 1};
    });
  }
}

// Subpasses of other views each clear theirs, and an input attachment is read in the view that is drawn.
TEST_F(DrawFeatureTest, ViewsBeginInTheirFirstSubpass) {
  prepareFull();
  const Target targets[] = {makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT, 3),
                            makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_1_BIT, 0, 3)};
  VkAttachmentDescription attachments[2]{};
  for (VkAttachmentDescription& a : attachments) {
    a.format = kRgba8;
    a.samples = VK_SAMPLE_COUNT_1_BIT;
    a.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    a.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    a.initialLayout = a.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
  }
  const VkAttachmentReference references[] = {{0, VK_IMAGE_LAYOUT_GENERAL}, {1, VK_IMAGE_LAYOUT_GENERAL}};
  // View 0 is drawn to, then view 2; then both are read, and copied into the other attachment.
  VkSubpassDescription subpasses[3]{};
  for (VkSubpassDescription& s : subpasses) {
    s.colorAttachmentCount = 1;
    s.pColorAttachments = &references[&s == &subpasses[2] ? 1 : 0];
  }
  subpasses[2].inputAttachmentCount = 1;
  subpasses[2].pInputAttachments = &references[0];
  std::vector<VkSubpassDependency> dependencies;
  for (const auto& [source, destination] : {std::pair(0u, 1u), std::pair(0u, 2u), std::pair(1u, 2u)})
    dependencies.push_back({source, destination, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT,
                            VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_MEMORY_READ_BIT, VK_DEPENDENCY_BY_REGION_BIT});
  dependencies.push_back({2, VK_SUBPASS_EXTERNAL, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT,
                          VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_MEMORY_READ_BIT,
                          0});
  const uint32_t masks[] = {0b001, 0b100, 0b101};
  VkRenderPassMultiviewCreateInfo multiview{VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO};
  multiview.subpassCount = 3;
  multiview.pViewMasks = masks;
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO, &multiview};
  info.attachmentCount = 2;
  info.pAttachments = attachments;
  info.subpassCount = 3;
  info.pSubpasses = subpasses;
  info.dependencyCount = static_cast<uint32_t>(dependencies.size());
  info.pDependencies = dependencies.data();
  const VkRenderPass pass = makeRenderPass(info);
  const VkFramebuffer framebuffer = makeFramebuffer(pass, targets);
  const VkDescriptorImageInfo image{VK_NULL_HANDLE, targets[0].view, VK_IMAGE_LAYOUT_GENERAL};
  const Set set = makeSet(VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, {&image, 1});
  VkPipeline pipelines[3];
  VkPipelineLayout layouts[3] = {layout_, layout_, VK_NULL_HANDLE};
  const VkPushConstantRange range{kStages, 0, sizeof(Push)};
  layouts[2] = makeLayout({&set.layout, 1}, {&range, 1});
  for (uint32_t i = 0; i < 3; ++i) {
    PipelineState state(kExtent);
    state.renderPass = pass;
    state.subpass = i;
    state.layout = layouts[i];
    if (i < 2) state.scissor = {{0, 0}, {32, 64}};
    pipelines[i] = i < 2 ? makePipeline(state, k_whole_vert, k_push_color_frag)
                         : makePipeline(state, k_whole_vert, k_input_attachment_frag);
  }
  const VkClearValue clears[] = {clearColor(0, 0, 1), clearColor(1, 1, 0)};
  const Rgba colors[] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 0, 0}};
  run([&](VkCommandBuffer c) {
    beginPass(c, pass, framebuffer, kExtent, clears);
    for (uint32_t i = 0; i < 3; ++i) {
      if (i > 0) vkCmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines[i]);
      if (i == 2) vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layouts[2], 0, 1, &set.set, 0, nullptr);
      const Push push{{colors[i].r, colors[i].g, colors[i].b, colors[i].a}, 0};
      vkCmdPushConstants(c, layouts[i], kStages, 0, sizeof push, &push);
      vkCmdDraw(c, 3, 1, 0, 0);
    }
    vkCmdEndRenderPass(c);
  });
  for (uint32_t view : {0u, 2u}) {
    const auto drawn = [&](uint32_t x, uint32_t) -> Rgba { return x < 32 ? colors[view / 2] : Rgba{0, 0, 1, 1}; };
    expectPicture(readColor(targets[0], view), drawn);
    expectPicture(readColor(targets[1], view), [&](uint32_t x, uint32_t y) -> Rgba {
      const Rgba read = drawn(x, y);
      return {read.b, read.r, read.g, read.a};  // input_attachment.frag exchanges them
    });
  }
}

// A shader that reads the depth it is about to replace gets what was there before.
TEST_F(DrawFeatureTest, TargetsAreReadBeforeTheTestsWriteThem) {
  prepareFull();
  const Target targets[] = {
      makeTarget(kRgba8, kExtent),
      makeTarget(VK_FORMAT_D32_SFLOAT, kExtent, VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT)};
  VkAttachmentDescription attachments[2]{};
  for (VkAttachmentDescription& a : attachments) {
    a.format = &a == attachments ? kRgba8 : VK_FORMAT_D32_SFLOAT;
    a.samples = VK_SAMPLE_COUNT_1_BIT;
    a.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    a.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    a.initialLayout = a.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
  }
  const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL}, depth{1, VK_IMAGE_LAYOUT_GENERAL};
  VkSubpassDescription subpass{};
  subpass.colorAttachmentCount = subpass.inputAttachmentCount = 1;
  subpass.pColorAttachments = &color;
  subpass.pInputAttachments = subpass.pDepthStencilAttachment = &depth;
  const VkSubpassDependency dependencies[] = {
      {0, 0, VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
       VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT, VK_ACCESS_INPUT_ATTACHMENT_READ_BIT, VK_DEPENDENCY_BY_REGION_BIT},
      {0, VK_SUBPASS_EXTERNAL, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
       VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_MEMORY_READ_BIT, 0}};
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = info.dependencyCount = 2;
  info.pAttachments = attachments;
  info.subpassCount = 1;
  info.pSubpasses = &subpass;
  info.pDependencies = dependencies;
  const VkRenderPass pass = makeRenderPass(info);
  const VkFramebuffer framebuffer = makeFramebuffer(pass, targets);
  const VkDescriptorImageInfo image{VK_NULL_HANDLE, targets[1].view, VK_IMAGE_LAYOUT_GENERAL};
  const Set set = makeSet(VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, {&image, 1});
  const VkPushConstantRange range{kStages, 0, sizeof(Push)};
  PipelineState state(kExtent);
  state.renderPass = pass;
  state.layout = makeLayout({&set.layout, 1}, {&range, 1});
  state.depth.depthTestEnable = state.depth.depthWriteEnable = VK_TRUE;
  state.depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
  const VkPipeline pipeline = makePipeline(state, k_whole_vert, k_input_attachment_frag);
  const VkClearValue clears[] = {clearColor(1, 0, 1), clearDepth(1)};
  run([&](VkCommandBuffer c) {
    beginPass(c, pass, framebuffer, kExtent, clears);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, state.layout, 0, 1, &set.set, 0, nullptr);
    const Push push{{0, 0, 0, 0}, 0.25f};
    vkCmdPushConstants(c, state.layout, kStages, 0, sizeof push, &push);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndRenderPass(c);
  });
  // Red, where the depth is read, goes to green.
  expectPicture(readColor(targets[0]), [](uint32_t, uint32_t) -> Rgba { return {0, 1, 0, 1}; });
  for (const float d : readDepth(targets[1])) ASSERT_EQ(d, 0.25f);
}

// covers: VK_EXT_provoking_vertex, feature:provokingVertexLast
TEST_F(DrawFeatureTest, TheLastVertexProvokes) {
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
TEST_F(DrawFeatureTest, ClipAndCullDistances) {
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

// covers: feature:fragmentStoresAndAtomics
TEST_F(DrawFeatureTest, FragmentShadersStore) {
  prepareFull();
  const TestBuffer buffer = makeBuffer(4 + 4 * 64 * 64);
  std::memset(buffer.bytes, 0, buffer.size);
  VkDescriptorSetLayout setLayout = VK_NULL_HANDLE;
  const VkDescriptorSet set = makeBufferSet(buffer, &setLayout);
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = pass_;
  state.layout = makeLayout({&setLayout, 1});
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_counting_frag);
  const TestBuffer triangle = makeTriangle(kWhite);
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, state.layout, 0, 1, &set, 0, nullptr);
    bindVertices(c, triangle);
    vkCmdDraw(c, 3, 1, 0, 0);
  });
  const TriangleModel model(kTriangle[0], kTriangle[1], kTriangle[2]);
  uint32_t covered = 0;
  for (uint32_t i = 0; i < 64 * 64; ++i) {
    const bool in = model.covers(i % 64, i / 64);
    covered += in;
    ASSERT_EQ(buffer.as<uint32_t>()[1 + i], in ? i % 64 + 1 : 0) << i;
  }
  EXPECT_EQ(buffer.as<uint32_t>()[0], covered);
}

// covers: feature:vertexPipelineStoresAndAtomics
TEST_F(DrawFeatureTest, VertexShadersStore) {
  prepareFull();
  const TestBuffer buffer = makeBuffer(64);
  std::memset(buffer.bytes, 0, buffer.size);
  VkDescriptorSetLayout setLayout = VK_NULL_HANDLE;
  const VkDescriptorSet set = makeBufferSet(buffer, &setLayout);
  PipelineState state(kExtent);
  state.renderPass = pass_;
  state.layout = makeLayout({&setLayout, 1});
  state.raster.rasterizerDiscardEnable = VK_TRUE;
  const VkPipeline pipeline = makePipeline(state, k_counting_vert, {});
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, state.layout, 0, 1, &set, 0, nullptr);
    vkCmdDraw(c, 3, 1, 0, 0);
  });
  EXPECT_EQ(buffer.as<uint32_t>()[0], 3u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(buffer.as<uint32_t>()[1 + i], 100 + i);
  expectPicture(picture(), [](uint32_t, uint32_t) { return kBlack; });
}

// covers: feature:fullDrawIndexUint32
TEST_F(DrawFeatureTest, TheLargestIndices) {
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

// Depth alone, no fragment shader: what is drawn hides what is drawn behind it later.
TEST_F(DrawFeatureTest, WithoutAFragmentShader) {
  prepareFull();
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = pass_;
  state.blend[0].colorWriteMask = 0;
  state.depth.depthTestEnable = state.depth.depthWriteEnable = VK_TRUE;
  state.depth.depthCompareOp = VK_COMPARE_OP_LESS;
  const VkPipeline hides = makePipeline(state, k_color_vert, {});
  const VkPipeline fills = makeWhole([](PipelineState& s) {
    s.depth.depthTestEnable = VK_TRUE;
    s.depth.depthCompareOp = VK_COMPARE_OP_LESS;
  });
  const TestBuffer triangle = makeTriangle(kBlack, 0.25f);
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, hides);
    bindVertices(c, triangle);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, fills);
    drawWhole(c, kWhite, 0.5f);
  });
  const TriangleModel model(kTriangle[0], kTriangle[1], kTriangle[2]);
  expectPicture(picture(), [&](uint32_t x, uint32_t y) { return model.covers(x, y) ? kBlack : kWhite; });
}

}  // namespace
}  // namespace pumice::cts
