// VkRenderPass: attachments, subpasses and dependencies in the form of VK_KHR_create_renderpass2, into which the form
// of Vulkan 1.0 is turned, and what drawing wants to know about them: which subpasses run as one pass over the tiles,
// and where in the render pass each attachment is loaded and stored.
//
// Image layouts are not kept: this device has one (docs/images.md).
#pragma once

#include <vector>

#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

struct PassAttachment {
  VkFormat format = VK_FORMAT_UNDEFINED;
  uint32_t sampleCount = 1;
  bool mayAlias = false;
  VkAttachmentLoadOp loadOp = VK_ATTACHMENT_LOAD_OP_LOAD, stencilLoadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
  VkAttachmentStoreOp storeOp = VK_ATTACHMENT_STORE_OP_STORE, stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE;
  /// The tile passes that load and that store it: of those that use it the first and the last. An attachment that no
  /// subpass uses has first > last.
  uint32_t firstTilePass = ~0u, lastTilePass = 0;
};

/// An attachment by its index, or VK_ATTACHMENT_UNUSED.
struct AttachmentReference {
  uint32_t attachment = VK_ATTACHMENT_UNUSED;
  VkImageAspectFlags aspects = 0;  // of input attachments: what is read; 0 of all others

  bool used() const { return attachment != VK_ATTACHMENT_UNUSED; }
};

struct Subpass {
  std::vector<AttachmentReference> inputs, colors;
  std::vector<AttachmentReference> resolves;  // none, or one for each of colors
  AttachmentReference depthStencil, depthStencilResolve;
  VkResolveModeFlagBits depthResolveMode = VK_RESOLVE_MODE_NONE, stencilResolveMode = VK_RESOLVE_MODE_NONE;
  uint32_t viewMask = 0;  // 0: no multiview
  /// Subpasses of one number run one after the other in each tile.
  uint32_t tilePass = 0;
};

struct SubpassDependency {
  uint32_t source = VK_SUBPASS_EXTERNAL, destination = VK_SUBPASS_EXTERNAL;
  VkPipelineStageFlags2 sourceStages = 0, destinationStages = 0;
  VkAccessFlags2 destinationAccess = 0;
  bool byRegion = false;
};

class RenderPass : public Object<RenderPass, VkRenderPass, VK_OBJECT_TYPE_RENDER_PASS> {
 public:
  explicit RenderPass(Device&) {}

  VkResult init(const VkRenderPassCreateInfo& info);
  VkResult init(const VkRenderPassCreateInfo2& info);

  const std::vector<PassAttachment>& attachments() const { return attachments_; }
  const std::vector<Subpass>& subpasses() const { return subpasses_; }
  /// In the order of the create info; those of a subpass on itself, which only allow barriers, are left out.
  const std::vector<SubpassDependency>& dependencies() const { return dependencies_; }
  uint32_t tilePassCount() const { return subpasses_.back().tilePass + 1; }

 private:
  void finish();

  std::vector<PassAttachment> attachments_;
  std::vector<Subpass> subpasses_;
  std::vector<SubpassDependency> dependencies_;
};

}  // namespace pumice::icd
