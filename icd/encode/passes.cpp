// Render passes, dynamic rendering, clears in them.
#include "gen/entrypoints.h"
#include "icd/objects/command_buffer.h"
#include "icd/objects/framebuffer.h"
#include "icd/objects/image_view.h"
#include "icd/objects/pnext.h"

namespace pumice::icd {
namespace {

// The one device of a group may have an area of its own.
VkRect2D areaOf(const VkRect2D& area, const void* chain) {
  const auto* group = findInChain<VkDeviceGroupRenderPassBeginInfo>(chain);
  return group != nullptr && group->deviceRenderAreaCount != 0 ? group->pDeviceRenderAreas[0] : area;
}

void beginRenderPass(VkCommandBuffer commandBuffer, const VkRenderPassBeginInfo& info) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  const Framebuffer& framebuffer = *Framebuffer::from(info.framebuffer);
  std::vector<const ImageView*> late;  // of an imageless framebuffer
  if (framebuffer.imageless()) {
    if (const auto* attachments = findInChain<VkRenderPassAttachmentBeginInfo>(info.pNext)) {
      for (uint32_t i = 0; i < attachments->attachmentCount; ++i) {
        late.push_back(ImageView::from(attachments->pAttachments[i]));
      }
    }
  }
  self.pass().begin(self.stream(), *RenderPass::from(info.renderPass),
                    framebuffer.imageless() ? late : framebuffer.views(), framebuffer.layerCount(),
                    areaOf(info.renderArea, info.pNext), {info.pClearValues, info.clearValueCount});
  self.targetsChanged(true);
}

// When memory ran out in the begin, the pass is not known.
void nextSubpass(VkCommandBuffer commandBuffer) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  if (self.stream().outOfMemory()) return;
  self.pass().nextSubpass(self.stream());
  self.targetsChanged(true);
}

void endRenderPass(VkCommandBuffer commandBuffer) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  if (self.stream().outOfMemory()) return;
  self.pass().end(self.stream());
  self.targetsChanged(false);
}

}  // namespace

VKAPI_ATTR void VKAPI_CALL vkCmdBeginRenderPass(VkCommandBuffer commandBuffer,
                                                const VkRenderPassBeginInfo* pRenderPassBegin, VkSubpassContents) {
  beginRenderPass(commandBuffer, *pRenderPassBegin);
}

VKAPI_ATTR void VKAPI_CALL vkCmdBeginRenderPass2(VkCommandBuffer commandBuffer,
                                                 const VkRenderPassBeginInfo* pRenderPassBegin,
                                                 const VkSubpassBeginInfo*) {
  beginRenderPass(commandBuffer, *pRenderPassBegin);
}

VKAPI_ATTR void VKAPI_CALL vkCmdNextSubpass(VkCommandBuffer commandBuffer, VkSubpassContents) {
  nextSubpass(commandBuffer);
}

VKAPI_ATTR void VKAPI_CALL vkCmdNextSubpass2(VkCommandBuffer commandBuffer, const VkSubpassBeginInfo*,
                                             const VkSubpassEndInfo*) {
  nextSubpass(commandBuffer);
}

VKAPI_ATTR void VKAPI_CALL vkCmdEndRenderPass(VkCommandBuffer commandBuffer) {
  endRenderPass(commandBuffer);
}

VKAPI_ATTR void VKAPI_CALL vkCmdEndRenderPass2(VkCommandBuffer commandBuffer, const VkSubpassEndInfo*) {
  endRenderPass(commandBuffer);
}

VKAPI_ATTR void VKAPI_CALL vkCmdBeginRendering(VkCommandBuffer commandBuffer, const VkRenderingInfo* pRenderingInfo) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  VkRenderingInfo info = *pRenderingInfo;
  info.renderArea = areaOf(info.renderArea, info.pNext);
  self.pass().beginRendering(self.stream(), info);
  self.targetsChanged(true);
}

VKAPI_ATTR void VKAPI_CALL vkCmdEndRendering(VkCommandBuffer commandBuffer) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  if (!self.insidePass()) return;
  self.pass().endRendering(self.stream());
  self.targetsChanged(false);
}

VKAPI_ATTR void VKAPI_CALL vkCmdClearAttachments(VkCommandBuffer commandBuffer, uint32_t attachmentCount,
                                                 const VkClearAttachment* pAttachments, uint32_t rectCount,
                                                 const VkClearRect* pRects) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  if (!self.insidePass()) return;
  self.pass().clear(self.stream(), {pAttachments, attachmentCount}, {pRects, rectCount});
}

}  // namespace pumice::icd
