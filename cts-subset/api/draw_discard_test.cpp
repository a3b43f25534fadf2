// Invocations that end or turn into helpers before the fragment shader's end.
//
// covers: feature:shaderDemoteToHelperInvocation, VK_EXT_shader_demote_to_helper_invocation
// covers: feature:shaderTerminateInvocation, VK_KHR_shader_terminate_invocation
#include "cts-subset/support/draw_test.h"
#include "shaders/demote_frag.spv.h"
#include "shaders/initial_outputs.spv.h"
#include "shaders/terminate_frag.spv.h"
#include "shaders/volatile_helper.spv.h"
#include "shaders/whole_vert.spv.h"

namespace pumice::cts {
namespace {

constexpr VkExtent2D kExtent{64, 64};

class DrawDiscardTest : public DrawTest {
 protected:
  // The target after a triangle over all of it, cleared to -1 before.
  Picture draw(std::span<const uint32_t> fragment, const Set& set) {
    const Target target = makeTarget(VK_FORMAT_R32G32B32A32_SFLOAT, kExtent);
    PipelineState state(kExtent);
    const VkPushConstantRange range{VK_SHADER_STAGE_VERTEX_BIT, 0, 20};
    state.layout =
        makeLayout(set.layout ? std::span(&set.layout, 1) : std::span<const VkDescriptorSetLayout>(), {&range, 1});
    state.renderPass = makeRenderPass({&target, 1});
    const VkPipeline pipeline = makePipeline(state, k_whole_vert, fragment);
    const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
    const VkClearValue clear = clearColor(-1, -1, -1, -1);
    run([&](VkCommandBuffer c) {
      beginPass(c, state.renderPass, framebuffer, kExtent, {&clear, 1});
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      const float push[5] = {};
      vkCmdPushConstants(c, state.layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof push, push);
      if (set.set != VK_NULL_HANDLE)
        vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, state.layout, 0, 1, &set.set, 0, nullptr);
      vkCmdDraw(c, 3, 1, 0, 0);
      vkCmdEndRenderPass(c);
    });
    return readColor(target);
  }

  Set makeBufferSet(const TestBuffer& buffer) {
    const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_FRAGMENT_BIT};
    VkDescriptorSetLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    layoutInfo.bindingCount = 1;
    layoutInfo.pBindings = &binding;
    Set out;
    EXPECT_EQ(vkCreateDescriptorSetLayout(device(), &layoutInfo, nullptr, &out.layout), VK_SUCCESS);
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    poolInfo.maxSets = poolInfo.poolSizeCount = 1;
    poolInfo.pPoolSizes = &size;
    VkDescriptorPool descriptorPool = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateDescriptorPool(device(), &poolInfo, nullptr, &descriptorPool), VK_SUCCESS);
    VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    info.descriptorPool = descriptorPool;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &out.layout;
    EXPECT_EQ(vkAllocateDescriptorSets(device(), &info, &out.set), VK_SUCCESS);
    const VkDescriptorBufferInfo range{buffer.buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = out.set;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &range;
    vkUpdateDescriptorSets(device(), 1, &write, 0, nullptr);
    defer([this, out, descriptorPool] {
      vkDestroyDescriptorPool(device(), descriptorPool, nullptr);
      vkDestroyDescriptorSetLayout(device(), out.layout, nullptr);
    });
    return out;
  }
};

TEST_F(DrawDiscardTest, DemotedInvocationsServeTheirNeighbours) {
  createFullDevice();
  expectPicture(draw(k_demote_frag, {}), [](uint32_t x, uint32_t y) -> Rgba {
    if ((x + y) % 3 == 0) return {-1, -1, -1, -1};
    // ((x0 + 1.5)^2 - (x0 + 0.5)^2) of the quad's columns.
    const float left = static_cast<float>(x / 2 * 2);
    const float center = static_cast<float>(x) + 0.5f;
    return {2 * left + 2, 0, center * center, 1};
  });
}

// What demotion has changed shows in HelperInvocation, if it is read as volatile.
TEST_F(DrawDiscardTest, VolatileReadsOfHelperInvocation) {
  createFullDevice();
  const auto gone = [](uint32_t x, uint32_t y) { return (x + y) % 3 == 0; };
  expectPicture(draw(k_volatile_helper, {}), [&](uint32_t x, uint32_t y) -> Rgba {
    if (gone(x, y)) return {-1, -1, -1, -1};
    const uint32_t left = x / 2 * 2;
    return {static_cast<float>(gone(left + 1, y)) - static_cast<float>(gone(left, y)), 0, 0, 1};
  });
}

// Not about discarding: outputs that the shader leaves at their initial values.
TEST_F(DrawDiscardTest, InitialValuesOfOutputsAreWritten) {
  createFullDevice();
  const Target targets[] = {makeTarget(kRgba8, kExtent), makeTarget(VK_FORMAT_D32_SFLOAT, kExtent)};
  PipelineState state(kExtent);
  const VkPushConstantRange range{VK_SHADER_STAGE_VERTEX_BIT, 0, 20};
  state.layout = makeLayout({}, {&range, 1});
  state.renderPass = makeRenderPass(targets);
  state.depth.depthTestEnable = state.depth.depthWriteEnable = VK_TRUE;
  state.depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
  const VkPipeline pipeline = makePipeline(state, k_whole_vert, k_initial_outputs);
  const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, targets);
  const VkClearValue clears[] = {clearColor(1, 0, 0), clearDepth(1)};
  run([&](VkCommandBuffer c) {
    beginPass(c, state.renderPass, framebuffer, kExtent, clears);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    const float push[5] = {};
    vkCmdPushConstants(c, state.layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof push, push);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndRenderPass(c);
  });
  expectPicture(readColor(targets[0]), [](uint32_t, uint32_t) -> Rgba { return {0, 1, 0, 1}; });
  for (const float depth : readDepth(targets[1])) ASSERT_EQ(depth, 0.25f);
}

TEST_F(DrawDiscardTest, TerminatedInvocationsDoNothingMore) {
  createFullDevice();
  const TestBuffer counters = makeBuffer(8);
  counters.as<uint32_t>()[0] = counters.as<uint32_t>()[1] = 0;
  const Picture picture = draw(k_terminate_frag, makeBufferSet(counters));
  uint32_t alive = 0;
  const auto terminates = [](uint32_t x, uint32_t y) { return (x * 5 + y) % 7 < 3; };
  for (uint32_t y = 0; y < kExtent.height; ++y)
    for (uint32_t x = 0; x < kExtent.width; ++x) alive += terminates(x, y) ? 0 : 1;
  expectPicture(picture, [&](uint32_t x, uint32_t y) -> Rgba {
    return terminates(x, y) ? Rgba{-1, -1, -1, -1} : Rgba{0, 1, 0, 1};
  });
  EXPECT_EQ(counters.as<uint32_t>()[0], kExtent.width * kExtent.height);
  EXPECT_EQ(counters.as<uint32_t>()[1], alive);
}

}  // namespace
}  // namespace pumice::cts
