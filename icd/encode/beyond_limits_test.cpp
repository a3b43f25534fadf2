// Commands with numbers beyond the limits, which are errors of the application: nothing is written beyond what there
// is. The driver is linked into this program, so that no validation layer is between.

#include <array>
#include <cstring>
#include <vector>

#include "icd/objects/command_buffer.h"
#include "icd/objects/linked_device.h"

namespace pumice::icd {
namespace {

class BeyondLimitsTest : public LinkedDeviceTest {
 protected:
  BeyondLimitsTest() {
    const VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    EXPECT_EQ(icd::vkCreateCommandPool(device_, &pool, nullptr, &pool_), VK_SUCCESS);
    const VkCommandBufferAllocateInfo wish{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool_,
                                           VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    EXPECT_EQ(icd::vkAllocateCommandBuffers(device_, &wish, &commands_), VK_SUCCESS);
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    EXPECT_EQ(icd::vkBeginCommandBuffer(commands_, &begin), VK_SUCCESS);
  }
  ~BeyondLimitsTest() override {
    EXPECT_EQ(icd::vkEndCommandBuffer(commands_), VK_SUCCESS);
    icd::vkDestroyCommandPool(device_, pool_, nullptr);
  }
  const DrawValues& values() { return CommandBuffer::from(commands_)->draws().values(); }

  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

TEST_F(BeyondLimitsTest, ViewportsAndScissors) {
  std::array<VkViewport, 20> viewports{};
  std::array<VkRect2D, 20> scissors{};
  for (uint32_t i = 0; i < 20; ++i) {
    viewports[i] = {float(i + 1), 0, 1, 1, 0, 1};
    scissors[i] = {{int32_t(i + 1), 0}, {1, 1}};
  }
  icd::vkCmdSetViewport(commands_, 14, 20, viewports.data());
  icd::vkCmdSetViewport(commands_, ~0u, 20, viewports.data());
  icd::vkCmdSetScissor(commands_, 15, 20, scissors.data());
  EXPECT_EQ(values().viewports.viewports[13].x, 0);
  EXPECT_EQ(values().viewports.viewports[14].x, 1);
  EXPECT_EQ(values().viewports.viewports[15].x, 2);
  EXPECT_EQ(values().viewports.scissors[0].x, 0);
  EXPECT_EQ(values().viewports.scissors[15].x, 1);
  EXPECT_EQ(values().scissorCount, 0u);
  icd::vkCmdSetViewportWithCount(commands_, 20, viewports.data());
  icd::vkCmdSetScissorWithCount(commands_, 20, scissors.data());
  EXPECT_EQ(values().viewports.count, 16u);
  EXPECT_EQ(values().scissorCount, 16u);
  EXPECT_EQ(values().viewports.viewports[15].x, 16);
}

TEST_F(BeyondLimitsTest, VertexInput) {
  std::array<VkVertexInputBindingDescription2EXT, 2> bindings{};
  bindings[0].binding = 31;
  bindings[0].stride = 8;
  bindings[1].binding = 32;
  bindings[1].stride = 9;
  std::vector<VkVertexInputAttributeDescription2EXT> attributes(40);
  for (uint32_t i = 0; i < 40; ++i) {
    attributes[i].location = i;
    attributes[i].binding = i == 3 ? 32 : 31;
    attributes[i].format = VK_FORMAT_R32_SFLOAT;
  }
  icd::vkCmdSetVertexInputEXT(commands_, 2, bindings.data(), 40, attributes.data());
  EXPECT_EQ(values().vertexStride_B[31], 8u);
  EXPECT_EQ(values().vertexInput.attributeCount, 31u);  // all locations but the third
  EXPECT_EQ(values().vertexInput.attributes[3].location, 4);
  EXPECT_EQ(values().vertexInput.attributes[30].location, 31);

  const VkBuffer none[4] = {};
  const VkDeviceSize zeros[4] = {}, strides[4] = {16, 16, 16, 16};
  icd::vkCmdBindVertexBuffers2(commands_, 30, 4, none, zeros, nullptr, strides);
  icd::vkCmdBindVertexBuffers2(commands_, ~0u, 4, none, zeros, nullptr, strides);
  EXPECT_EQ(values().vertexStride_B[31], 16u);
  EXPECT_EQ(values().viewports.count, 0u);  // what lies behind the strides
}

TEST_F(BeyondLimitsTest, PushConstants) {
  const std::vector<std::byte> bytes(512, std::byte{7});
  icd::vkCmdPushConstants(commands_, VK_NULL_HANDLE, VK_SHADER_STAGE_ALL, 240, 512, bytes.data());
  icd::vkCmdPushConstants(commands_, VK_NULL_HANDLE, VK_SHADER_STAGE_ALL, 256, 4, bytes.data());
  icd::vkCmdPushConstants(commands_, VK_NULL_HANDLE, VK_SHADER_STAGE_ALL, ~0u, 4, bytes.data());
}

// What a part of a pipeline does not have may be anything.
TEST_F(BeyondLimitsTest, LibrariesLookAtWhatIsTheirs) {
  const auto make = [&](VkGraphicsPipelineLibraryFlagsEXT parts, VkRenderPass pass, void* next, bool discards) {
    const VkGraphicsPipelineLibraryCreateInfoEXT subset{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
                                                        next, parts};
    const VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.rasterizerDiscardEnable = discards;
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &subset,
                                      VK_PIPELINE_CREATE_LIBRARY_BIT_KHR};
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pRasterizationState = &raster;
    info.renderPass = pass;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result = icd::vkCreateGraphicsPipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
    icd::vkDestroyPipeline(device_, pipeline, nullptr);
    return result;
  };
  const auto dangling = reinterpret_cast<uintptr_t>(this) | 1;  // not even aligned
  EXPECT_EQ(make(VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT, reinterpret_cast<VkRenderPass>(dangling),
                 nullptr, false),
            VK_SUCCESS);
  VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  rendering.colorAttachmentCount = 8;
  rendering.pColorAttachmentFormats = reinterpret_cast<const VkFormat*>(uintptr_t{1});
  constexpr VkGraphicsPipelineLibraryFlagsEXT kPre = VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT;
  EXPECT_EQ(make(kPre, VK_NULL_HANDLE, &rendering, false), VK_SUCCESS);
  EXPECT_EQ(
      make(kPre | VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT, VK_NULL_HANDLE, &rendering, true),
      VK_SUCCESS);
}

// Nor does a pass end, go on or get cleared that has not begun.
TEST_F(BeyondLimitsTest, PassesThatHaveNotBegun) {
  icd::vkCmdNextSubpass(commands_, VK_SUBPASS_CONTENTS_INLINE);
  icd::vkCmdEndRenderPass(commands_);
  icd::vkCmdEndRendering(commands_);
  const VkClearAttachment clear{VK_IMAGE_ASPECT_COLOR_BIT, 0, {}};
  const VkClearRect rect{{{0, 0}, {1, 1}}, 0, 1};
  icd::vkCmdClearAttachments(commands_, 1, &clear, 1, &rect);
  icd::vkCmdDraw(commands_, 3, 1, 0, 0);
}

}  // namespace
}  // namespace pumice::icd
