// Writes passes: render passes subpass by subpass, dynamic rendering, clears of attachments
// (backend/abi/draw_packets.h).
//
// The order of a pass's attachments follows from what a secondary command buffer knows, so that its draws can name them
// without the framebuffer:
//  - of a render pass: those that any subpass of the tile pass draws to, in the render pass's order, depth before
//  stencil;
//    behind them what is only cleared there, to be read as an input or by a later subpass;
//  - of dynamic rendering: the color attachments, used or not, then depth, then stencil.
//
// Thread rules: those of the command buffer. Allocates in the stream; may throw std::bad_alloc where it says so.
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "backend/abi/draw_packets.h"
#include "icd/encode/command_stream.h"
#include "icd/objects/render_pass.h"

namespace pumice::icd {

class Framebuffer;
class ImageView;

/// What draws of a subpass name their attachments by.
abi::TargetState targetsOf(const RenderPass& pass, uint32_t subpass);
/// The same of dynamic rendering, by the formats that pipelines and secondary command buffers state.
abi::TargetState targetsOf(std::span<const VkFormat> colors, VkFormat depth, VkFormat stencil);

class PassEncoder {
 public:
  /// The first subpass begins. `views` are the framebuffer's, or those that come with the begin. Throws std::bad_alloc.
  void begin(CommandStream& stream, const RenderPass& pass, std::span<const ImageView* const> views,
             uint32_t layerCount, const VkRect2D& area, std::span<const VkClearValue> clearValues);
  void nextSubpass(CommandStream& stream);
  void end(CommandStream& stream);

  void beginRendering(CommandStream& stream, const VkRenderingInfo& info);
  void endRendering(CommandStream& stream);

  /// Of the subpass or of the dynamic rendering that is open; in a secondary command buffer what it inherits.
  const abi::TargetState& targets() const { return targets_; }
  /// Views that draws go to; 1 without multiview.
  uint32_t viewCount() const { return viewMask_ != 0 ? static_cast<uint32_t>(std::popcount(viewMask_)) : 1; }
  void inherit(const RenderPass& pass, uint32_t subpass);
  void inherit(const VkCommandBufferInheritanceRenderingInfo& info);

  /// vkCmdClearAttachments, inside of a pass.
  void clear(CommandStream& stream, std::span<const VkClearAttachment> attachments, std::span<const VkClearRect> rects);

  void forget() { *this = {}; }

 private:
  void beginTilePass(CommandStream& stream);
  void depend(CommandStream& stream, uint32_t tilePass);
  void setTargets(const abi::TargetState& targets, std::span<const VkFormat> colors, VkFormat depthStencil,
                  uint32_t viewMask);

  // Of a render pass.
  const RenderPass* pass_ = nullptr;
  uint32_t subpass_ = 0;
  std::vector<const ImageView*> views_;
  std::vector<VkClearValue> clearValues_;
  VkRect2D area_{};
  uint32_t layerCount_ = 0;

  // Of what is open.
  abi::TargetState targets_{};
  VkFormat colorFormats_[abi::kMaxColorAttachments]{};
  VkFormat depthStencilFormat_ = VK_FORMAT_UNDEFINED;
  uint32_t viewMask_ = 0;
};

}  // namespace pumice::icd
