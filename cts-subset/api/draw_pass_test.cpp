// Render passes and dynamic rendering: clears, loads, subpasses that read each other, samples that are resolved, areas,
// secondary command buffers, clears in passes.
//
// covers: vkCreateRenderPass, vkCmdBeginRenderPass, vkCmdNextSubpass, vkCmdEndRenderPass, vkCmdClearAttachments,
// covers: vkCmdExecuteCommands, vkGetRenderAreaGranularity
#include <algorithm>
#include <array>
#include <cstring>

#include "cts-subset/support/draw_test.h"
#include "shaders/color_frag.spv.h"
#include "shaders/color_vert.spv.h"
#include "shaders/input_attachment_frag.spv.h"
#include "shaders/push_color_frag.spv.h"
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
const TriangleModel::Corner kCorners[3] = {{5.25, 3.5}, {60.125, 20.75}, {17, 58.0625}};
constexpr VkExtent2D kExtent{64, 64};

class DrawPassTest : public DrawTest {
 protected:
  static constexpr VkShaderStageFlags kStages = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;

  // The triangle of kCorners in one color.
  TestBuffer makeTriangle(const Rgba& color) {
    std::vector<Vertex> vertices;
    for (const auto& c : kCorners) {
      vertices.push_back({static_cast<float>(c.x / 32 - 1), static_cast<float>(c.y / 32 - 1), 0, 1, color.r, color.g,
                          color.b, color.a});
    }
    return makeVertices(vertices);
  }
  void drawTriangle(VkCommandBuffer c, VkPipeline pipeline, const TestBuffer& triangle) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, triangle);
    vkCmdDraw(c, 3, 1, 0, 0);
  }
  VkPipelineLayout makePushLayout() {
    const VkPushConstantRange range{kStages, 0, sizeof(Push)};
    return makeLayout({}, {&range, 1});
  }
  const TriangleModel model_{kCorners[0], kCorners[1], kCorners[2]};
};

TEST_F(DrawPassTest, APassThatOnlyClears) {
  createDevice();
  // Sizes that are no multiple of a block, more than one tile, several layers.
  for (const VkExtent2D extent : {VkExtent2D{1, 1}, VkExtent2D{7, 5}, VkExtent2D{300, 200}}) {
    const Target target = makeTarget(kRgba8, extent, VK_SAMPLE_COUNT_1_BIT, 0, 3);
    const VkRenderPass pass = makeRenderPass({&target, 1});
    const VkFramebuffer framebuffer = makeFramebuffer(pass, {&target, 1}, 3);
    const VkClearValue clear = clearColor(0.2f, 0.4f, 0.6f, 0.8f);
    run([&](VkCommandBuffer c) {
      beginPass(c, pass, framebuffer, extent, {&clear, 1});
      vkCmdEndRenderPass(c);
    });
    for (uint32_t layer = 0; layer < 3; ++layer) {
      expectPicture(readColor(target, layer), [](uint32_t, uint32_t) -> Rgba { return {0.2f, 0.4f, 0.6f, 0.8f}; });
    }
  }
}

TEST_F(DrawPassTest, OnlyTheAreaIsClearedAndDrawnTo) {
  createDevice();
  const Target target = makeTarget(kRgba8, kExtent);
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = makeRenderPass({&target, 1});
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
  const TestBuffer triangle = makeTriangle({1, 1, 1, 1});
  VkExtent2D granularity{};
  vkGetRenderAreaGranularity(device(), state.renderPass, &granularity);
  EXPECT_GE(granularity.width, 1u);
  EXPECT_GE(granularity.height, 1u);
  const VkClearValue red = clearColor(1, 0, 0), blue = clearColor(0, 0, 1);
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, {&red, 1});
    vkCmdEndRenderPass(c);
    barrier(c, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT);
    VkRenderPassBeginInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    info.renderPass = state.renderPass;
    info.framebuffer = framebuffer;
    info.renderArea = {{13, 9}, {30, 21}};
    info.clearValueCount = 1;
    info.pClearValues = &blue;
    vkCmdBeginRenderPass(c, &info, VK_SUBPASS_CONTENTS_INLINE);
    drawTriangle(c, pipeline, triangle);
    vkCmdEndRenderPass(c);
  });
  expectPicture(readColor(target), [&](uint32_t x, uint32_t y) -> Rgba {
    if (x < 13 || x >= 43 || y < 9 || y >= 30) return {1, 0, 0, 1};
    return model_.covers(x, y) ? Rgba{1, 1, 1, 1} : Rgba{0, 0, 1, 1};
  });
}

TEST_F(DrawPassTest, WhatIsLoadedStays) {
  createDevice();
  const Target target = makeTarget(kRgba8, kExtent);
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  const VkRenderPass clears = makeRenderPass({&target, 1});
  state.renderPass = makeRenderPass({&target, 1}, VK_ATTACHMENT_LOAD_OP_LOAD);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
  const TestBuffer triangle = makeTriangle({1, 1, 0, 1});
  const VkClearValue green = clearColor(0, 1, 0);
  run([&](VkCommandBuffer c) {
    beginPass(c, clears, framebuffer, kExtent, {&green, 1});
    vkCmdEndRenderPass(c);
    barrier(c, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT);
    beginPass(c, state.renderPass, framebuffer, kExtent, {});
    drawTriangle(c, pipeline, triangle);
    vkCmdEndRenderPass(c);
  });
  expectPicture(readColor(target), [&](uint32_t x, uint32_t y) -> Rgba {
    return model_.covers(x, y) ? Rgba{1, 1, 0, 1} : Rgba{0, 1, 0, 1};
  });
}

// The second subpass reads what the first has drawn, pixel by pixel (one pass over the tiles), or by a dependency of
// the whole framebuffer (two).
TEST_F(DrawPassTest, ASubpassReadsAnother) {
  createDevice();
  for (const VkDependencyFlags flags : {VkDependencyFlags{VK_DEPENDENCY_BY_REGION_BIT}, VkDependencyFlags{0}}) {
    const Target targets[] = {makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT),
                              makeTarget(kRgba8, kExtent)};
    const VkAttachmentDescription attachments[] = {attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR),
                                                   attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR)};
    const VkAttachmentReference first{0, VK_IMAGE_LAYOUT_GENERAL}, second{1, VK_IMAGE_LAYOUT_GENERAL};
    VkSubpassDescription subpasses[2]{};
    subpasses[0].colorAttachmentCount = 1;
    subpasses[0].pColorAttachments = &first;
    subpasses[1].inputAttachmentCount = 1;
    subpasses[1].pInputAttachments = &first;
    subpasses[1].colorAttachmentCount = 1;
    subpasses[1].pColorAttachments = &second;
    const VkSubpassDependency dependencies[] = {
        {0, 1, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
         VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_ACCESS_INPUT_ATTACHMENT_READ_BIT, flags},
        toCopy(1)};
    const VkRenderPass pass = makeRenderPass(attachments, subpasses, dependencies);
    const VkFramebuffer framebuffer = makeFramebuffer(pass, targets);

    PipelineState draw(kExtent);
    draw.addFloats({4, 4});
    draw.renderPass = pass;
    const VkPipeline draws = makePipeline(draw, k_color_vert, k_color_frag);
    const VkDescriptorImageInfo source{VK_NULL_HANDLE, targets[0].view, VK_IMAGE_LAYOUT_GENERAL};
    const Set set = makeSet(VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, {&source, 1});
    PipelineState read(kExtent);
    read.renderPass = pass;
    read.subpass = 1;
    const VkPushConstantRange range{kStages, 0, sizeof(Push)};
    read.layout = makeLayout({&set.layout, 1}, {&range, 1});
    const VkPipeline reads = makePipeline(read, k_whole_vert, k_input_attachment_frag);

    const TestBuffer triangle = makeTriangle({0.2f, 0.4f, 0.8f, 1});
    const VkClearValue clears[] = {clearColor(1, 0, 0.5f), clearColor(0, 0, 0)};
    const Push push{{}, 0};
    run([&](VkCommandBuffer c) {
      beginPass(c, pass, framebuffer, kExtent, clears);
      drawTriangle(c, draws, triangle);
      vkCmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, reads);
      vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, read.layout, 0, 1, &set.set, 0, nullptr);
      vkCmdPushConstants(c, read.layout, kStages, 0, sizeof push, &push);
      vkCmdDraw(c, 3, 1, 0, 0);
      vkCmdEndRenderPass(c);
    });
    expectPicture(readColor(targets[1]), [&](uint32_t x, uint32_t y) -> Rgba {
      return model_.covers(x, y) ? Rgba{0.8f, 0.2f, 0.4f, 1} : Rgba{0.5f, 1, 0, 1};  // .brga
    });
  }
}

// Of the samples at their standard places, those that the triangle covers count.
TEST_F(DrawPassTest, SamplesAreResolved) {
  createDevice();
  for (const VkSampleCountFlagBits count : {VK_SAMPLE_COUNT_2_BIT, VK_SAMPLE_COUNT_4_BIT, VK_SAMPLE_COUNT_8_BIT}) {
    const Target targets[] = {makeTarget(kRgba8, kExtent, count), makeTarget(kRgba8, kExtent)};
    const VkAttachmentDescription attachments[] = {
        attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_DONT_CARE, count),
        attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_DONT_CARE)};
    const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL}, resolve{1, VK_IMAGE_LAYOUT_GENERAL};
    VkSubpassDescription subpass{};
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &color;
    subpass.pResolveAttachments = &resolve;
    const VkSubpassDependency dependency = toCopy();
    PipelineState state(kExtent);
    state.addFloats({4, 4});
    state.renderPass = makeRenderPass(attachments, {&subpass, 1}, {&dependency, 1});
    state.samples.rasterizationSamples = count;
    const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
    const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, targets);
    const TestBuffer triangle = makeTriangle({1, 1, 1, 1});
    const VkClearValue clear = clearColor(0, 0, 0);
    run([&](VkCommandBuffer c) {
      beginPass(c, state.renderPass, framebuffer, kExtent, {&clear, 1});
      drawTriangle(c, pipeline, triangle);
      vkCmdEndRenderPass(c);
    });
    const std::vector<TriangleModel> samples = samplesOf(kCorners, count);
    uint32_t partial = 0;
    expectPicture(readColor(targets[1]), [&](uint32_t x, uint32_t y) -> Rgba {
      float covered = 0;
      for (const TriangleModel& s : samples)
        covered += s.covers(x, y) ? 1.0f / static_cast<float>(samples.size()) : 0.0f;
      partial += covered != 0 && covered != 1;
      return {covered, covered, covered, 1};
    });
    EXPECT_GT(partial, 50u);
  }
}

TEST_F(DrawPassTest, SecondaryCommandBuffers) {
  createDevice();
  const Target targets[] = {makeTarget(kRgba8, kExtent), makeTarget(VK_FORMAT_D32_SFLOAT, kExtent)};
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = makeRenderPass(targets);
  state.depth.depthTestEnable = state.depth.depthWriteEnable = VK_TRUE;
  state.depth.depthCompareOp = VK_COMPARE_OP_LESS;
  const VkPipeline triangles = makePipeline(state, k_color_vert, k_color_frag);
  PipelineState whole(kExtent);
  whole.renderPass = state.renderPass;
  whole.depth = state.depth;
  whole.layout = makePushLayout();
  const VkPipeline wholes = makePipeline(whole, k_whole_vert, k_push_color_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, targets);
  const TestBuffer triangle = makeTriangle({1, 0, 0, 1});  // at depth 0
  const auto record = [&](VkFramebuffer known, const std::function<void(VkCommandBuffer)>& commands) {
    const VkCommandBuffer c = makeCommands(0, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkCommandBufferInheritanceInfo inherited{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    inherited.renderPass = state.renderPass;
    inherited.framebuffer = known;
    VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    info.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT;
    info.pInheritanceInfo = &inherited;
    EXPECT_EQ(vkBeginCommandBuffer(c, &info), VK_SUCCESS);
    commands(c);
    EXPECT_EQ(vkEndCommandBuffer(c), VK_SUCCESS);
    return c;
  };
  const VkCommandBuffer secondaries[] = {
      record(VK_NULL_HANDLE, [&](VkCommandBuffer c) { drawTriangle(c, triangles, triangle); }),
      record(framebuffer, [&](VkCommandBuffer c) {
        const Push push{{0, 1, 0, 1}, 0.5f};
        vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, wholes);
        vkCmdPushConstants(c, whole.layout, kStages, 0, sizeof push, &push);
        vkCmdDraw(c, 3, 1, 0, 0);
        // Half of it is cleared again.
        VkClearAttachment attachment{VK_IMAGE_ASPECT_COLOR_BIT, 0, clearColor(0, 0, 1)};
        const VkClearRect rect{{{32, 0}, {32, 64}}, 0, 1};
        vkCmdClearAttachments(c, 1, &attachment, 1, &rect);
      })};
  const VkClearValue clears[] = {clearColor(0, 0, 0), clearDepth(1)};
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, clears, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
    vkCmdExecuteCommands(c, 2, secondaries);
    vkCmdEndRenderPass(c);
  });
  expectPicture(readColor(targets[0]), [&](uint32_t x, uint32_t y) -> Rgba {
    if (x >= 32) return {0, 0, 1, 1};
    return model_.covers(x, y) ? Rgba{1, 0, 0, 1} : Rgba{0, 1, 0, 1};
  });
}

TEST_F(DrawPassTest, ClearsInsideOfAPass) {
  createDevice();
  const Target targets[] = {makeTarget(kRgba8, kExtent), makeTarget(VK_FORMAT_D32_SFLOAT_S8_UINT, kExtent)};
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = makeRenderPass(targets);
  state.depth.depthTestEnable = VK_TRUE;
  state.depth.depthCompareOp = VK_COMPARE_OP_LESS;
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, targets);
  const TestBuffer triangle = makeTriangle({1, 1, 1, 1});
  const VkClearValue clears[] = {clearColor(0, 0, 0), clearDepth(0.5f, 3)};
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, clears);
    VkClearAttachment attachments[] = {{VK_IMAGE_ASPECT_COLOR_BIT, 0, clearColor(0.2f, 0.4f, 0.6f)},
                                       {VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT, 0, clearDepth(0, 9)}};
    const VkClearRect rects[] = {{{{3, 5}, {20, 30}}, 0, 1}, {{{40, 40}, {24, 24}}, 0, 1}};
    vkCmdClearAttachments(c, 2, attachments, 2, rects);
    drawTriangle(c, pipeline, triangle);  // fails where depth is 0 now
    vkCmdEndRenderPass(c);
  });
  const auto cleared = [](uint32_t x, uint32_t y) {
    return (x >= 3 && x < 23 && y >= 5 && y < 35) || (x >= 40 && y >= 40);
  };
  expectPicture(readColor(targets[0]), [&](uint32_t x, uint32_t y) -> Rgba {
    if (cleared(x, y)) return {0.2f, 0.4f, 0.6f, 1};
    return model_.covers(x, y) ? Rgba{1, 1, 1, 1} : Rgba{0, 0, 0, 1};
  });
  const std::vector<std::byte> stencil = readBytes(targets[1], VK_IMAGE_ASPECT_STENCIL_BIT, 1);
  for (uint32_t i = 0; i < 64 * 64; ++i) {
    ASSERT_EQ(static_cast<int>(stencil[i]), cleared(i % 64, i / 64) ? 9 : 3) << i;
  }
}

// What a compute shader or a copy reads after the pass is what was drawn, and the other way round.
TEST_F(DrawPassTest, DrawnImagesAreCopiedAndLoadedInOneSubmission) {
  createDevice();
  const Target from = makeTarget(kRgba8, kExtent), to = makeTarget(kRgba8, kExtent);
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = makeRenderPass({&from, 1});
  const VkRenderPass loads = makeRenderPass({&to, 1}, VK_ATTACHMENT_LOAD_OP_LOAD);
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
  const VkFramebuffer first = makeFramebuffer(state.renderPass, {&from, 1}), second = makeFramebuffer(loads, {&to, 1});
  const TestBuffer triangle = makeTriangle({1, 0, 0, 1});
  const VkClearValue clear = clearColor(0, 0, 1);
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, first, kExtent, {&clear, 1});
    drawTriangle(c, pipeline, triangle);
    vkCmdEndRenderPass(c);
    // Moved by 32 pixels to the left.
    VkImageCopy region{};
    region.srcSubresource = region.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.srcOffset = {32, 0, 0};
    region.extent = {32, 64, 1};
    vkCmdCopyImage(c, from.image.image, VK_IMAGE_LAYOUT_GENERAL, to.image.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    region.dstOffset = {32, 0, 0};
    region.srcOffset = {0, 0, 0};
    vkCmdCopyImage(c, from.image.image, VK_IMAGE_LAYOUT_GENERAL, to.image.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    barrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT);
    beginPass(c, loads, second, kExtent, {});
    VkClearAttachment attachment{VK_IMAGE_ASPECT_COLOR_BIT, 0, clearColor(1, 1, 1)};
    const VkClearRect rect{{{0, 60}, {64, 4}}, 0, 1};
    vkCmdClearAttachments(c, 1, &attachment, 1, &rect);
    vkCmdEndRenderPass(c);
  });
  expectPicture(readColor(to), [&](uint32_t x, uint32_t y) -> Rgba {
    if (y >= 60) return {1, 1, 1, 1};
    return model_.covers((x + 32) % 64, y) ? Rgba{1, 0, 0, 1} : Rgba{0, 0, 1, 1};
  });
}

// A level of a layer of images of every dimension, as a target and copied out.
TEST_F(DrawPassTest, LevelsLayersAndSlices) {
  createDevice();
  const VkPipelineLayout layout = makePushLayout();
  struct Case {
    VkImageType type;
    VkExtent3D extent;
    uint32_t layers;
    VkImageViewType view;
    VkImageCreateFlags flags;
  };
  const Case cases[] = {
      {VK_IMAGE_TYPE_1D, {70, 1, 1}, 3, VK_IMAGE_VIEW_TYPE_1D, 0},
      {VK_IMAGE_TYPE_2D, {70, 36, 1}, 3, VK_IMAGE_VIEW_TYPE_2D, 0},
      {VK_IMAGE_TYPE_3D, {70, 36, 7}, 1, VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT},
  };
  for (const Case& k : cases) {
    constexpr uint32_t kLevel = 1, kSlice = 2;
    VkImageCreateInfo info = imageInfo(kRgba8, k.type, k.extent, 3, k.layers);
    info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    info.flags = k.flags;
    Target target;
    target.image = makeImage(info);
    Model model(target.image, {VK_IMAGE_ASPECT_COLOR_BIT, 4});
    model.randomise(random_);
    upload(target.image, model);
    target.view = makeView(target.image, k.view, [](VkImageViewCreateInfo& v) {
      v.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, kLevel, 1, kSlice, 1};
    });
    const VkExtent2D extent{k.extent.width / 2, std::max(k.extent.height / 2, 1u)};
    PipelineState state(extent);
    state.renderPass = makeRenderPass({&target, 1}, VK_ATTACHMENT_LOAD_OP_LOAD);
    state.layout = layout;
    state.scissor = {{3, 0}, {extent.width - 5, extent.height}};
    const VkPipeline pipeline = makePipeline(state, k_whole_vert, k_push_color_frag);
    VkFramebufferCreateInfo framebufferInfo{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
    framebufferInfo.renderPass = state.renderPass;
    framebufferInfo.attachmentCount = 1;
    framebufferInfo.pAttachments = &target.view;
    framebufferInfo.width = extent.width;
    framebufferInfo.height = extent.height;
    framebufferInfo.layers = 1;
    VkFramebuffer framebuffer = VK_NULL_HANDLE;
    VK_OK(vkCreateFramebuffer(device(), &framebufferInfo, nullptr, &framebuffer));
    defer([this, framebuffer] { vkDestroyFramebuffer(device(), framebuffer, nullptr); });
    run([&](VkCommandBuffer c) {
      barrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT);
      beginPass(c, state.renderPass, framebuffer, extent, {});
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      const Push push{{1, 0, 1, 0}, 0};
      vkCmdPushConstants(c, layout, kStages, 0, sizeof push, &push);
      vkCmdDraw(c, 3, 1, 0, 0);
      vkCmdEndRenderPass(c);
    });
    Model got(target.image, {VK_IMAGE_ASPECT_COLOR_BIT, 4});
    download(target.image, got);
    for (uint32_t y = 0; y < extent.height; ++y) {
      for (uint32_t x = 3; x < extent.width - 2; ++x) {
        constexpr uint8_t kDrawn[4] = {255, 0, 255, 0};
        std::memcpy(model.at(kLevel, kSlice, y, x), kDrawn, 4);
      }
    }
    expectEqual(model, got, 3);
  }
}

}  // namespace
}  // namespace pumice::cts
