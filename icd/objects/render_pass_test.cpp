// What the driver reads out of both forms of a render pass, and of framebuffers. The driver is linked into this
// program.
//
// covers: vkCreateRenderPass, vkCreateRenderPass2, vkDestroyRenderPass, vkCreateFramebuffer, vkDestroyFramebuffer
// covers: vkGetRenderAreaGranularity
#include "icd/objects/render_pass.h"

#include "icd/objects/framebuffer.h"
#include "icd/objects/image_view.h"
#include "icd/objects/linked_device.h"

namespace pumice::icd {
namespace {

constexpr VkPipelineStageFlags kColorOutput = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
constexpr VkPipelineStageFlags kFragment = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT;

using RenderPassTest = LinkedDeviceTest;

VkAttachmentDescription attachment(VkFormat format, VkSampleCountFlagBits samples, VkAttachmentLoadOp load,
                                   VkAttachmentStoreOp store) {
  return {0,
          format,
          samples,
          load,
          store,
          VK_ATTACHMENT_LOAD_OP_DONT_CARE,
          VK_ATTACHMENT_STORE_OP_STORE,
          VK_IMAGE_LAYOUT_UNDEFINED,
          VK_IMAGE_LAYOUT_GENERAL};
}

// A 4-sample color attachment resolved into another one, depth and stencil, and a second subpass that reads them.
TEST_F(RenderPassTest, FormOfVulkan10) {
  const VkAttachmentDescription attachments[] = {
      attachment(VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_4_BIT, VK_ATTACHMENT_LOAD_OP_CLEAR,
                 VK_ATTACHMENT_STORE_OP_DONT_CARE),
      attachment(VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_1_BIT, VK_ATTACHMENT_LOAD_OP_LOAD,
                 VK_ATTACHMENT_STORE_OP_STORE),
      attachment(VK_FORMAT_D24_UNORM_S8_UINT, VK_SAMPLE_COUNT_4_BIT, VK_ATTACHMENT_LOAD_OP_CLEAR,
                 VK_ATTACHMENT_STORE_OP_DONT_CARE)};
  const VkAttachmentReference colors[] = {{VK_ATTACHMENT_UNUSED, {}}, {0, VK_IMAGE_LAYOUT_GENERAL}};
  const VkAttachmentReference resolves[] = {{VK_ATTACHMENT_UNUSED, {}}, {1, VK_IMAGE_LAYOUT_GENERAL}};
  const VkAttachmentReference depth{2, VK_IMAGE_LAYOUT_GENERAL};
  const VkAttachmentReference inputs[] = {{2, VK_IMAGE_LAYOUT_GENERAL}, {0, VK_IMAGE_LAYOUT_GENERAL}};
  VkSubpassDescription subpasses[2]{};
  subpasses[0].colorAttachmentCount = 2;
  subpasses[0].pColorAttachments = colors;
  subpasses[0].pResolveAttachments = resolves;
  subpasses[0].pDepthStencilAttachment = &depth;
  subpasses[1].inputAttachmentCount = 2;
  subpasses[1].pInputAttachments = inputs;
  const VkSubpassDependency dependencies[] = {{0, 1, kColorOutput, kFragment, 0, 0, 0},
                                              {1, 1, kFragment, kFragment, 0, 0, VK_DEPENDENCY_BY_REGION_BIT}};
  const VkInputAttachmentAspectReference stencilOnly{1, 0, VK_IMAGE_ASPECT_STENCIL_BIT};
  const VkRenderPassInputAttachmentAspectCreateInfo aspects{
      VK_STRUCTURE_TYPE_RENDER_PASS_INPUT_ATTACHMENT_ASPECT_CREATE_INFO, nullptr, 1, &stencilOnly};
  const uint32_t viewMasks[] = {5, 5};
  const VkRenderPassMultiviewCreateInfo multiview{
      VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO, &aspects, 2, viewMasks, 0, nullptr, 0, nullptr};
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO, &multiview};
  info.attachmentCount = 3;
  info.pAttachments = attachments;
  info.subpassCount = 2;
  info.pSubpasses = subpasses;
  info.dependencyCount = 2;
  info.pDependencies = dependencies;
  VkRenderPass handle = VK_NULL_HANDLE;
  ASSERT_EQ(icd::vkCreateRenderPass(device_, &info, nullptr, &handle), VK_SUCCESS);
  const RenderPass& pass = *RenderPass::from(handle);

  ASSERT_EQ(pass.attachments().size(), 3u);
  EXPECT_EQ(pass.attachments()[0].sampleCount, 4u);
  EXPECT_EQ(pass.attachments()[0].loadOp, VK_ATTACHMENT_LOAD_OP_CLEAR);
  EXPECT_EQ(pass.attachments()[0].storeOp, VK_ATTACHMENT_STORE_OP_DONT_CARE);
  EXPECT_EQ(pass.attachments()[2].stencilLoadOp, VK_ATTACHMENT_LOAD_OP_DONT_CARE);
  EXPECT_EQ(pass.attachments()[2].stencilStoreOp, VK_ATTACHMENT_STORE_OP_STORE);
  ASSERT_EQ(pass.subpasses().size(), 2u);
  const Subpass& draws = pass.subpasses()[0];
  ASSERT_EQ(draws.colors.size(), 2u);
  EXPECT_FALSE(draws.colors[0].used());
  EXPECT_EQ(draws.colors[1].attachment, 0u);
  EXPECT_FALSE(draws.resolves[0].used());
  EXPECT_EQ(draws.resolves[1].attachment, 1u);
  EXPECT_EQ(draws.depthStencil.attachment, 2u);
  EXPECT_FALSE(draws.depthStencilResolve.used());
  EXPECT_EQ(draws.viewMask, 5u);
  const Subpass& reads = pass.subpasses()[1];
  ASSERT_EQ(reads.inputs.size(), 2u);
  EXPECT_EQ(reads.inputs[0].aspects, VkImageAspectFlags{VK_IMAGE_ASPECT_STENCIL_BIT});
  EXPECT_EQ(reads.inputs[1].aspects, VkImageAspectFlags{VK_IMAGE_ASPECT_COLOR_BIT});
  EXPECT_FALSE(reads.depthStencil.used());
  // The second dependency only allows barriers; the first is on the whole, so that there are two passes over the tiles.
  ASSERT_EQ(pass.dependencies().size(), 1u);
  EXPECT_EQ(pass.dependencies()[0].sourceStages, kColorOutput);
  EXPECT_EQ(pass.dependencies()[0].destinationStages, kFragment);
  EXPECT_EQ(pass.tilePassCount(), 2u);
  EXPECT_EQ(pass.attachments()[0].lastTilePass, 1u);
  EXPECT_EQ(pass.attachments()[1].lastTilePass, 0u);

  VkExtent2D granularity{};
  icd::vkGetRenderAreaGranularity(device_, handle, &granularity);
  EXPECT_GE(granularity.width, 1u);
  EXPECT_GE(granularity.height, 1u);
  icd::vkDestroyRenderPass(device_, handle, nullptr);
}

TEST_F(RenderPassTest, FormOfVulkan12) {
  VkAttachmentDescription2 attachments[2]{};
  for (auto& a : attachments) a.sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2;
  attachments[0].format = attachments[1].format = VK_FORMAT_D32_SFLOAT_S8_UINT;
  attachments[0].samples = VK_SAMPLE_COUNT_4_BIT;
  attachments[1].samples = VK_SAMPLE_COUNT_1_BIT;
  attachments[0].flags = VK_ATTACHMENT_DESCRIPTION_MAY_ALIAS_BIT;
  VkAttachmentReference2 depth{VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2};
  VkAttachmentReference2 resolved = depth, input = depth;
  depth.attachment = 0;
  resolved.attachment = 1;
  input.attachment = 0;
  input.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT;
  const VkSubpassDescriptionDepthStencilResolve resolve{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE,
                                                        nullptr, VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, VK_RESOLVE_MODE_NONE,
                                                        &resolved};
  VkSubpassDescription2 subpasses[2]{};
  for (auto& s : subpasses) s.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2;
  subpasses[0].pNext = &resolve;
  subpasses[0].pDepthStencilAttachment = &depth;
  subpasses[1].inputAttachmentCount = 1;
  subpasses[1].pInputAttachments = &input;
  const VkMemoryBarrier2 stages{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,          nullptr,
                                VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT, 0,
                                VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,     0};
  VkSubpassDependency2 dependency{VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2, &stages, 0, 1, kColorOutput, kColorOutput};
  dependency.dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT;
  VkRenderPassCreateInfo2 info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2};
  info.attachmentCount = 2;
  info.pAttachments = attachments;
  info.subpassCount = 2;
  info.pSubpasses = subpasses;
  info.dependencyCount = 1;
  info.pDependencies = &dependency;
  VkRenderPass handle = VK_NULL_HANDLE;
  ASSERT_EQ(icd::vkCreateRenderPass2(device_, &info, nullptr, &handle), VK_SUCCESS);
  const RenderPass& pass = *RenderPass::from(handle);

  EXPECT_TRUE(pass.attachments()[0].mayAlias);
  EXPECT_FALSE(pass.attachments()[1].mayAlias);
  EXPECT_EQ(pass.subpasses()[0].depthStencilResolve.attachment, 1u);
  EXPECT_EQ(pass.subpasses()[0].depthResolveMode, VK_RESOLVE_MODE_SAMPLE_ZERO_BIT);
  EXPECT_EQ(pass.subpasses()[0].stencilResolveMode, VK_RESOLVE_MODE_NONE);
  EXPECT_EQ(pass.subpasses()[1].inputs[0].aspects, VkImageAspectFlags{VK_IMAGE_ASPECT_DEPTH_BIT});
  ASSERT_EQ(pass.dependencies().size(), 1u);
  EXPECT_EQ(pass.dependencies()[0].sourceStages, VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT);
  EXPECT_EQ(pass.dependencies()[0].destinationStages, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT);
  EXPECT_EQ(pass.tilePassCount(), 1u);
  icd::vkDestroyRenderPass(device_, handle, nullptr);
}

TEST_F(RenderPassTest, Framebuffers) {
  VkFramebufferCreateInfo info{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  info.flags = VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT;
  info.attachmentCount = 3;  // without views
  info.width = 640;
  info.height = 480;
  info.layers = 2;
  VkFramebuffer handle = VK_NULL_HANDLE;
  ASSERT_EQ(icd::vkCreateFramebuffer(device_, &info, nullptr, &handle), VK_SUCCESS);
  EXPECT_TRUE(Framebuffer::from(handle)->imageless());
  EXPECT_TRUE(Framebuffer::from(handle)->views().empty());
  EXPECT_EQ(Framebuffer::from(handle)->extent().width, 640u);
  EXPECT_EQ(Framebuffer::from(handle)->extent().height, 480u);
  EXPECT_EQ(Framebuffer::from(handle)->layerCount(), 2u);
  icd::vkDestroyFramebuffer(device_, handle, nullptr);

  // A framebuffer only remembers its views.
  VkImageCreateInfo imageInfo{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  imageInfo.imageType = VK_IMAGE_TYPE_2D;
  imageInfo.format = VK_FORMAT_R8G8B8A8_UNORM;
  imageInfo.extent = {16, 16, 1};
  imageInfo.mipLevels = imageInfo.arrayLayers = 1;
  imageInfo.samples = VK_SAMPLE_COUNT_1_BIT;
  imageInfo.usage = VK_IMAGE_USAGE_STORAGE_BIT;
  VkImage image = VK_NULL_HANDLE;
  ASSERT_EQ(icd::vkCreateImage(device_, &imageInfo, nullptr, &image), VK_SUCCESS);
  VkImageViewCreateInfo viewInfo{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  viewInfo.image = image;
  viewInfo.viewType = VK_IMAGE_VIEW_TYPE_2D;
  viewInfo.format = imageInfo.format;
  viewInfo.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  VkImageView view = VK_NULL_HANDLE;
  ASSERT_EQ(icd::vkCreateImageView(device_, &viewInfo, nullptr, &view), VK_SUCCESS);
  info.flags = 0;
  info.attachmentCount = 1;
  info.pAttachments = &view;
  ASSERT_EQ(icd::vkCreateFramebuffer(device_, &info, nullptr, &handle), VK_SUCCESS);
  EXPECT_FALSE(Framebuffer::from(handle)->imageless());
  ASSERT_EQ(Framebuffer::from(handle)->views().size(), 1u);
  EXPECT_EQ(Framebuffer::from(handle)->views()[0], ImageView::from(view));
  icd::vkDestroyFramebuffer(device_, handle, nullptr);
  icd::vkDestroyImageView(device_, view, nullptr);
  icd::vkDestroyImage(device_, image, nullptr);
}

}  // namespace
}  // namespace pumice::icd
