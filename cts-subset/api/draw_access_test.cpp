// What shaders of drawing read and write besides their inputs and outputs: what they draw to, each other, buffers.
#include <cstring>
#include <string>

#include "cts-subset/support/draw_test.h"
#include "shaders/color_frag.spv.h"
#include "shaders/color_vert.spv.h"
#include "shaders/counting_frag.spv.h"
#include "shaders/counting_vert.spv.h"
#include "shaders/input_attachment_frag.spv.h"
#include "shaders/subgroup_stage_frag.spv.h"
#include "shaders/subgroup_stage_vert.spv.h"
#include "shaders/texture_frag.spv.h"
#include "shaders/texture_vert.spv.h"
#include "shaders/whole_vert.spv.h"

namespace pumice::cts {
namespace {

class DrawAccessTest : public FilledTargetTest {
 protected:
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
};

// A draw samples the image that it draws to, texel by texel: what is there is added to itself.
// covers: VK_EXT_attachment_feedback_loop_layout, feature:attachmentFeedbackLoopLayout
TEST_F(DrawAccessTest, ATargetIsSampled) {
  prepareFull();
  constexpr VkImageLayout kLoop = VK_IMAGE_LAYOUT_ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT;
  const Target target = makeTarget(kRgba8, kExtent, VK_SAMPLE_COUNT_1_BIT,
                                   VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT);
  const VkAttachmentDescription description = attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR);
  const VkAttachmentReference color{0, kLoop};
  VkSubpassDescription subpass{};
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &color;
  const VkSubpassDependency dependencies[] = {
      {0, 0, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
       VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT,
       VK_DEPENDENCY_BY_REGION_BIT | VK_DEPENDENCY_FEEDBACK_LOOP_BIT_EXT},
      toCopy()};
  const VkRenderPass pass = makeRenderPass({&description, 1}, {&subpass, 1}, dependencies);
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
TEST_F(DrawAccessTest, SubgroupsOfDrawing) {
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

// A shader that reads the depth it is about to replace gets what was there before.
TEST_F(DrawAccessTest, TargetsAreReadBeforeTheTestsWriteThem) {
  prepareFull();
  const Target targets[] = {
      makeTarget(kRgba8, kExtent),
      makeTarget(VK_FORMAT_D32_SFLOAT, kExtent, VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT)};
  const VkAttachmentDescription attachments[] = {attachment(kRgba8, VK_ATTACHMENT_LOAD_OP_CLEAR),
                                                 attachment(VK_FORMAT_D32_SFLOAT, VK_ATTACHMENT_LOAD_OP_CLEAR)};
  const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_GENERAL}, depth{1, VK_IMAGE_LAYOUT_GENERAL};
  VkSubpassDescription subpass{};
  subpass.colorAttachmentCount = subpass.inputAttachmentCount = 1;
  subpass.pColorAttachments = &color;
  subpass.pInputAttachments = subpass.pDepthStencilAttachment = &depth;
  const VkSubpassDependency dependencies[] = {
      {0, 0, VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
       VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT, VK_ACCESS_INPUT_ATTACHMENT_READ_BIT, VK_DEPENDENCY_BY_REGION_BIT},
      toCopy()};
  const VkRenderPass pass = makeRenderPass(attachments, {&subpass, 1}, dependencies);
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

// covers: feature:fragmentStoresAndAtomics
TEST_F(DrawAccessTest, FragmentShadersStore) {
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
TEST_F(DrawAccessTest, VertexShadersStore) {
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

}  // namespace
}  // namespace pumice::cts
