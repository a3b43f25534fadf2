// Where a draw goes: layers, viewports, views.
#include "cts-subset/support/draw_test.h"
#include "shaders/input_attachment_frag.spv.h"
#include "shaders/layers_vert.spv.h"
#include "shaders/numbers_frag.spv.h"
#include "shaders/push_color_frag.spv.h"
#include "shaders/views_vert.spv.h"
#include "shaders/whole_vert.spv.h"

namespace pumice::cts {
namespace {

using DrawViewTest = FilledTargetTest;

// covers: feature:multiViewport, VK_EXT_shader_viewport_index_layer, feature:shaderOutputViewportIndex
// covers: feature:shaderOutputLayer
TEST_F(DrawViewTest, LayersAndViewportsOfVertices) {
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
TEST_F(DrawViewTest, ViewsOfOneDraw) {
  prepareFull();
  const Target target = makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_1_BIT, 0, 4);
  const VkAttachmentDescription description = attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR);
  const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL};
  VkSubpassDescription subpass{};
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &color;
  const VkSubpassDependency dependency = toCopy();
  const uint32_t mask = 0b1011;  // views 0, 1, 3
  VkRenderPassMultiviewCreateInfo multiview{VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO};
  multiview.subpassCount = 1;
  multiview.pViewMasks = &mask;
  PipelineState state(kExtent);
  state.renderPass = makeRenderPass({&description, 1}, {&subpass, 1}, {&dependency, 1}, &multiview);
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
TEST_F(DrawViewTest, ViewsBeginInTheirFirstSubpass) {
  prepareFull();
  const Target targets[] = {makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT, 3),
                            makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_1_BIT, 0, 3)};
  const VkAttachmentDescription attachments[] = {attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR),
                                                 attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR)};
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
  dependencies.push_back(toCopy(2));
  const uint32_t masks[] = {0b001, 0b100, 0b101};
  VkRenderPassMultiviewCreateInfo multiview{VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO};
  multiview.subpassCount = 3;
  multiview.pViewMasks = masks;
  const VkRenderPass pass = makeRenderPass(attachments, subpasses, dependencies, &multiview);
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

}  // namespace
}  // namespace pumice::cts
