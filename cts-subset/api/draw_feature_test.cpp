// Optional features of what happens to fragments, one by one: tests, blending, samples.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cts-subset/support/draw_test.h"
#include "shaders/color_vert.spv.h"
#include "shaders/dual_source_frag.spv.h"
#include "shaders/sample_number_frag.spv.h"
#include "shaders/stencil_export_frag.spv.h"
#include "shaders/texture_vert.spv.h"
#include "shaders/two_targets_frag.spv.h"
#include "shaders/whole_vert.spv.h"

namespace pumice::cts {
namespace {

class DrawFeatureTest : public FilledTargetTest {
 protected:
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
  // A pass of one color target with four samples that is resolved into targets_[0].
  VkRenderPass makeResolvingPass() {
    const VkAttachmentDescription attachments[] = {
        attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_DONT_CARE, VK_SAMPLE_COUNT_4_BIT),
        attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_DONT_CARE)};
    const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL}, resolve{1, VK_IMAGE_LAYOUT_GENERAL};
    VkSubpassDescription subpass{};
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &color;
    subpass.pResolveAttachments = &resolve;
    const VkSubpassDependency dependency = toCopy();
    return makeRenderPass(attachments, {&subpass, 1}, {&dependency, 1});
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
    const VkPipeline second = makeWhole([operation = op](PipelineState& s) {
      s.colors.logicOpEnable = VK_TRUE;
      s.colors.logicOp = operation;
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

// What blending takes is clamped to [-1, 1], and so is the result; 1 - x is up to 2.
TEST_F(DrawFeatureTest, BlendingOfSnorm) {
  prepareFull();
  const Target target = makeTarget(VK_FORMAT_R16G16B16A16_SNORM, kExtent);
  const VkRenderPass pass = makeRenderPass({&target, 1});
  const VkFramebuffer framebuffer = makeFramebuffer(pass, {&target, 1});
  const VkPipeline pipeline = makeWhole([&](PipelineState& s) {
    s.renderPass = pass;
    s.blend[0] = {VK_TRUE,
                  VK_BLEND_FACTOR_ONE,
                  VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR,
                  VK_BLEND_OP_ADD,
                  VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
                  VK_BLEND_FACTOR_ZERO,
                  VK_BLEND_OP_ADD,
                  0xf};
  });
  const VkClearValue clear = clearColor(-0.5f, 0.25f, -0.75f, 0.5f);
  run([&](VkCommandBuffer c) {
    beginPass(c, pass, framebuffer, kExtent, {&clear, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    drawWhole(c, {0.25f, -3, -0.5f, -0.5f});
    vkCmdEndRenderPass(c);
  });
  // 0.25 - 0.5 * 1.5; -1 + 0.25 * 0.75; -0.5 - 0.75 * 1.75 is less than -1; -0.5 * 1.5
  constexpr double kExpected[4] = {-0.5, -0.8125, -1, -0.75};
  const std::vector<std::byte> bytes = readBytes(target, VK_IMAGE_ASPECT_COLOR_BIT, 8);
  std::vector<int16_t> got(bytes.size() / 2);
  std::memcpy(got.data(), bytes.data(), bytes.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], kExpected[i % 4] * 32767, 1.001) << i;
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
