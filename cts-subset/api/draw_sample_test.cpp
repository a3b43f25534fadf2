// What decides which samples of a fragment are written: alpha to coverage, the pipeline's sample mask, tests of single
// samples.
#include <bit>
#include <cmath>

#include "cts-subset/support/draw_test.h"
#include "shaders/push_color_frag.spv.h"
#include "shaders/whole_vert.spv.h"

namespace pumice::cts {
namespace {

constexpr VkSampleCountFlagBits kCounts[] = {VK_SAMPLE_COUNT_2_BIT, VK_SAMPLE_COUNT_4_BIT, VK_SAMPLE_COUNT_8_BIT};

class DrawSampleTest : public FilledTargetTest {
 protected:
  // A color target of many samples that is resolved into another one, and depth.
  void makeTargets(VkSampleCountFlagBits count) {
    count_ = count;
    const Target targets[] = {makeTarget(kRgba8, kExtent, count), makeTarget(kRgba8, kExtent),
                              makeTarget(VK_FORMAT_D16_UNORM, kExtent, count)};
    resolved_ = targets[1];
    const VkAttachmentDescription attachments[] = {
        attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_DONT_CARE, count),
        attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_DONT_CARE),
        attachment(VK_FORMAT_D16_UNORM, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_DONT_CARE, count)};
    const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL}, resolve{1, VK_IMAGE_LAYOUT_GENERAL},
        depth{2, VK_IMAGE_LAYOUT_GENERAL};
    VkSubpassDescription subpass{};
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &color;
    subpass.pResolveAttachments = &resolve;
    subpass.pDepthStencilAttachment = &depth;
    const VkSubpassDependency dependency = toCopy();
    pass_ = makeRenderPass(attachments, {&subpass, 1}, {&dependency, 1});
    framebuffer_ = makeFramebuffer(pass_, targets);
  }

  VkPipeline makeSampled(const std::function<void(PipelineState&)>& change) {
    return makeWhole([&](PipelineState& s) {
      s.samples.rasterizationSamples = count_;
      change(s);
    });
  }

  struct Layer {
    VkPipeline pipeline;
    Rgba color;
    float depth = 0;
  };
  // The layers over black and the farthest depth; red of a pixel, in samples.
  float redSamples(std::initializer_list<Layer> layers) {
    const VkClearValue clears[] = {clearColor(0, 0, 0), {}, clearDepth(1)};
    run([&](VkCommandBuffer c) {
      beginPass(c, pass_, framebuffer_, kExtent, clears);
      for (const Layer& l : layers) {
        vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, l.pipeline);
        drawWhole(c, l.color, l.depth);
      }
      vkCmdEndRenderPass(c);
    });
    const Picture picture = readColor(resolved_);
    const Rgba& first = picture.at(0, 0);
    expectPicture(
        picture, [&](uint32_t, uint32_t) { return first; }, 0);
    return first.r * static_cast<float>(count_);
  }

  VkSampleCountFlagBits count_ = VK_SAMPLE_COUNT_4_BIT;
  Target resolved_;
};

constexpr float kStep = 8.01f / 255;  // of redSamples, by rounding of 8-bit averages

// How many samples is the implementation's, but it follows alpha.
TEST_F(DrawSampleTest, AlphaToCoverage) {
  prepare();
  for (const VkSampleCountFlagBits count : kCounts) {
    makeTargets(count);
    const VkPipeline pipeline = makeSampled([](PipelineState& s) { s.samples.alphaToCoverageEnable = VK_TRUE; });
    float last = 0;
    for (int i = 0; i <= 16; ++i) {
      const float alpha = static_cast<float>(i) / 16;
      const float covered = redSamples({{pipeline, {1, 1, 1, alpha}}});
      EXPECT_NEAR(covered, alpha * static_cast<float>(count), 0.5f + kStep) << alpha;
      EXPECT_GE(covered, last);
      last = covered;
    }
    EXPECT_NEAR(last, static_cast<float>(count), kStep);
    EXPECT_EQ(redSamples({{pipeline, {1, 1, 1, 0}}}), 0);
  }
}

// Where there is no color attachment, location 0's alpha still decides what depth is written.
TEST_F(DrawSampleTest, AlphaToCoverageOfDepthAlone) {
  prepare();
  const Target depth = makeTarget(VK_FORMAT_D32_SFLOAT, kExtent);
  const VkRenderPass pass = makeRenderPass({&depth, 1});
  const VkFramebuffer framebuffer = makeFramebuffer(pass, {&depth, 1});
  PipelineState state(kExtent, 0);
  state.renderPass = pass;
  state.layout = layout_;
  state.samples.alphaToCoverageEnable = VK_TRUE;
  state.depth.depthTestEnable = state.depth.depthWriteEnable = VK_TRUE;
  state.depth.depthCompareOp = VK_COMPARE_OP_LESS;
  const VkPipeline pipeline = makePipeline(state, k_whole_vert, k_push_color_frag);
  for (const float alpha : {0.0f, 0.25f, 0.75f, 1.0f}) {
    const VkClearValue clear = clearDepth(1);
    run([&](VkCommandBuffer c) {
      beginPass(c, pass, framebuffer, kExtent, {&clear, 1});
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      drawWhole(c, {1, 1, 1, alpha}, 0.5f);
      vkCmdEndRenderPass(c);
    });
    for (const float d : readDepth(depth)) ASSERT_EQ(d, alpha < 0.5f ? 1.0f : 0.5f) << alpha;
  }
}

TEST_F(DrawSampleTest, SampleMasksOfPipelines) {
  prepare();
  for (const VkSampleCountFlagBits count : kCounts) {
    makeTargets(count);
    const uint32_t all = (1u << count) - 1;
    for (const VkSampleMask mask : {~0u, 0u, 1u, 0xaau, 0x7cu}) {
      const VkPipeline pipeline = makeSampled([&](PipelineState& s) { s.samples.pSampleMask = &mask; });
      EXPECT_NEAR(redSamples({{pipeline, {1, 1, 1, 1}}}), static_cast<float>(std::popcount(mask & all)), kStep) << mask;
    }
  }
}

// Depth of some samples is written; a layer behind it is seen in the others, and blended over them alone.
TEST_F(DrawSampleTest, EverySampleHasItsDepthAndBlends) {
  prepare();
  for (const VkSampleCountFlagBits count : kCounts) {
    makeTargets(count);
    const VkSampleMask some = 0x2du;  // 1 of 2, 3 of 4, 4 of 8
    const auto tested = [](PipelineState& s) {
      s.depth.depthTestEnable = s.depth.depthWriteEnable = VK_TRUE;
      s.depth.depthCompareOp = VK_COMPARE_OP_LESS;
    };
    const VkPipeline front = makeSampled([&](PipelineState& s) {
      tested(s);
      s.samples.pSampleMask = &some;
    });
    const VkPipeline behind = makeSampled([&](PipelineState& s) {
      tested(s);
      s.blend[0].blendEnable = VK_TRUE;
      s.blend[0].srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
      s.blend[0].dstColorBlendFactor = VK_BLEND_FACTOR_ONE;
    });
    const auto covered = static_cast<float>(std::popcount(some & ((1u << count) - 1)));
    const float uncovered = static_cast<float>(count) - covered;
    EXPECT_NEAR(redSamples({{front, {0.2f, 0, 0, 1}, 0.25f}, {behind, {0.8f, 0, 0, 0.5f}, 0.5f}}),
                0.2f * covered + 0.4f * uncovered, 2 * kStep);
    EXPECT_NEAR(redSamples({{behind, {0.8f, 0, 0, 0.5f}, 0.5f}, {front, {0.2f, 0, 0, 1}, 0.25f}}),
                0.2f * covered + 0.4f * uncovered, 2 * kStep);
  }
}

}  // namespace
}  // namespace pumice::cts
