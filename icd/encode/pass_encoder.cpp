#include "icd/encode/pass_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/formats/format_table.h"
#include "icd/encode/clear_value.h"
#include "icd/encode/stage_masks.h"
#include "icd/encode/tile_size.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/image.h"
#include "icd/objects/image_view.h"
#include "icd/objects/tile_passes.h"

namespace pumice::icd {
namespace {

constexpr uint32_t kMaxEdge = 16384;  // of a framebuffer (raster/fixed_point.h)
constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;
constexpr VkImageAspectFlagBits kDepth = VK_IMAGE_ASPECT_DEPTH_BIT;
constexpr VkImageAspectFlagBits kStencil = VK_IMAGE_ASPECT_STENCIL_BIT;

bool hasAspect(VkFormat format, VkImageAspectFlagBits aspect) {
  return (formats::formatAspects(formats::formatInfo(format)) & aspect) != 0;
}

bool isInteger(VkFormat format) {
  return formats::texelType(formats::formatInfo(format)) != formats::TexelType::kFloat;
}

abi::LoadOp loadOp(VkAttachmentLoadOp op) {
  switch (op) {
    case VK_ATTACHMENT_LOAD_OP_LOAD:
      return abi::LoadOp::kLoad;
    case VK_ATTACHMENT_LOAD_OP_CLEAR:
      return abi::LoadOp::kClear;
    default:
      return abi::LoadOp::kDontCare;
  }
}

// NONE keeps what is there, and so does STORE.
abi::StoreOp storeOp(VkAttachmentStoreOp op) {
  return op == VK_ATTACHMENT_STORE_OP_DONT_CARE ? abi::StoreOp::kDontCare : abi::StoreOp::kStore;
}

abi::ResolveMode resolveMode(VkResolveModeFlagBits mode) {
  switch (mode) {
    case VK_RESOLVE_MODE_AVERAGE_BIT:
      return abi::ResolveMode::kAverage;
    case VK_RESOLVE_MODE_MIN_BIT:
      return abi::ResolveMode::kMin;
    case VK_RESOLVE_MODE_MAX_BIT:
      return abi::ResolveMode::kMax;
    case VK_RESOLVE_MODE_SAMPLE_ZERO_BIT:
      return abi::ResolveMode::kSampleZero;
    default:
      return abi::ResolveMode::kNone;
  }
}

abi::Surface surfaceOf(const ImageView* view, VkImageAspectFlagBits aspect) {
  if (view == nullptr) return {};
  const Image& image = view->image();
  return image.surface(formats::aspectPlane(image.form().format, aspect), view->range().baseMipLevel,
                       view->range().baseArrayLayer);
}

// Array layers, or slices of a volume, that the image has behind the view's first: a view that claims more is not
// allowed.
uint32_t layersOf(const ImageView& view) {
  const ImageForm& form = view.image().form();
  const VkImageSubresourceRange& range = view.range();
  const bool isVolume = form.type == VK_IMAGE_TYPE_3D;
  const uint32_t all = isVolume ? view.image().levelExtent(0, range.baseMipLevel).depth : form.layerCount;
  return std::min(range.layerCount, all - std::min(all, range.baseArrayLayer));
}

// How an attachment begins and ends, and what it is resolved into.
struct AttachmentUse {
  const ImageView* view = nullptr;
  const ImageView* resolveView = nullptr;
  abi::LoadOp load = abi::LoadOp::kLoad;
  abi::StoreOp store = abi::StoreOp::kStore;
  abi::ResolveMode resolve = abi::ResolveMode::kNone;
  uint32_t loadViews = ~0u;  // multiview: those that `load` is for
  VkClearValue clear{};
};

// Collects the attachments of one pass.
class PassWriter {
 public:
  void add(const AttachmentUse& use, VkFormat format, VkImageAspectFlagBits aspect) {
    abi::PassAttachment& a = attachments_.emplace_back();
    a.surface = surfaceOf(use.view, aspect);
    a.format = static_cast<uint32_t>(aspect == kColor ? format : formats::aspectFormat(format, aspect));
    a.loadOp = use.load;
    a.storeOp = use.store;
    a.loadViews = static_cast<uint8_t>(use.loadViews);
    // What the other attachment does not have is not resolved, whatever the mode.
    const bool resolves = use.resolveView != nullptr && hasAspect(use.resolveView->image().form().format, aspect);
    a.resolveMode = resolves ? use.resolve : abi::ResolveMode::kNone;
    if (a.resolveMode != abi::ResolveMode::kNone) a.resolve = surfaceOf(use.resolveView, aspect);
    if (a.resolve.elementBytes != a.surface.elementBytes) a.resolveMode = abi::ResolveMode::kNone;  // not allowed
    if (use.view == nullptr) return;
    bound(*use.view);
    if (a.resolveMode != abi::ResolveMode::kNone) bound(*use.resolveView);
    samples_ = std::max<uint32_t>(samples_, a.surface.sampleCount);
    pixel_B_ += uint32_t{a.surface.elementBytes} * a.surface.sampleCount;
    if (use.load != abi::LoadOp::kClear) return;
    std::byte element[32];
    if (aspect == kColor) {
      encodeClear(format, &use.clear.color, element);
    } else {
      encodeClear(format, aspect, use.clear.depthStencil, element);
    }
    std::memcpy(a.clearElement, element, sizeof a.clearElement);  // what can be drawn to has at most 16 bytes
  }

  // Layers and views that the attachments do not have, which is not allowed, are left out; where none remains, nothing
  // is drawn to.
  void write(CommandStream& stream, const VkRect2D& wanted, uint32_t layerCount, uint32_t viewMask) const {
    VkRect2D area = inBounds(wanted);
    const uint32_t views = layers_ < 32 ? viewMask & ((1u << layers_) - 1) : viewMask;
    if (layers_ == 0 || (viewMask != 0 && views == 0)) area.extent = {};
    if (views != 0) viewMask = views;
    layerCount = std::min(layerCount, layers_);
    const size_t extra_B = attachments_.size() * sizeof(abi::PassAttachment);
    if (extra_B > ChunkPool::kMaxInlineBytes) return stream.fail();  // 630: nobody has so many to be cleared at once
    auto* packet = stream.append<abi::BeginPassPacket>(abi::PacketOp::kBeginPass, extra_B);
    const abi::PacketHeader header = packet->header;
    *packet = {};
    packet->header = header;
    packet->area = {static_cast<uint32_t>(area.offset.x), static_cast<uint32_t>(area.offset.y), area.extent.width,
                    area.extent.height};
    packet->layerCount = layerCount;
    packet->viewMask = viewMask;
    packet->attachmentCount = static_cast<uint16_t>(attachments_.size());
    packet->samples_log2 = static_cast<uint8_t>(std::countr_zero(samples_));
    const uint32_t layers = viewMask != 0 ? static_cast<uint32_t>(std::popcount(viewMask)) : layerCount;
    packet->tileEdge_log2 = tileEdge_log2(pixel_B_, area, layers);
    std::memcpy(packet + 1, attachments_.data(), extra_B);
  }

 private:
  void bound(const ImageView& view) {
    const VkExtent3D e = view.image().levelExtent(0, view.range().baseMipLevel);
    extent_ = {std::min(extent_.width, e.width), std::min(extent_.height, e.height)};
    layers_ = std::min(layers_, layersOf(view));
  }
  // An area that is larger than the attachments, which is not allowed, still writes nothing beyond them.
  VkRect2D inBounds(const VkRect2D& area) const {
    const auto x = std::min(static_cast<uint32_t>(area.offset.x), extent_.width);
    const auto y = std::min(static_cast<uint32_t>(area.offset.y), extent_.height);
    return {{static_cast<int32_t>(x), static_cast<int32_t>(y)},
            {std::min(area.extent.width, extent_.width - x), std::min(area.extent.height, extent_.height - y)}};
  }

  std::vector<abi::PassAttachment> attachments_;
  VkExtent2D extent_{kMaxEdge, kMaxEdge};    // of the smallest attachment
  uint32_t layers_ = kMaxFramebufferLayers;  // of the one that has fewest
  uint32_t samples_ = 1;
  uint32_t pixel_B_ = 0;
};

// The aspects of a format that are attachments of their own, in order.
template <typename Use>
void forEachPlane(VkFormat format, Use&& use) {
  for (VkImageAspectFlagBits aspect : {kColor, kDepth, kStencil}) {
    if (hasAspect(format, aspect)) use(aspect);
  }
}

// Where in the pass's list the first plane of an attachment stands that its tile pass draws to.
uint8_t positionOf(const RenderPass& pass, uint32_t tilePass, uint32_t attachment) {
  const std::vector<bool> drawn = drawnTo(pass.subpasses(), tilePass, pass.attachments().size());
  uint32_t position = 0;
  for (uint32_t i = 0; i < attachment; ++i) {
    if (drawn[i]) forEachPlane(pass.attachments()[i].format, [&](VkImageAspectFlagBits) { ++position; });
  }
  return static_cast<uint8_t>(position);
}

abi::TargetState noTargets() {
  abi::TargetState none{};
  std::memset(none.color, abi::kNoAttachment, sizeof none.color);
  none.depth = none.stencil = abi::kNoAttachment;
  return none;
}

void writeBarrier(CommandStream& stream, abi::StageMask src, abi::StageMask dst) {
  if (src == 0 || dst == 0) return;
  auto* packet = stream.append<abi::BarrierPacket>(abi::PacketOp::kBarrier);
  packet->src = src;
  packet->dst = dst;
}
void writeBarrier(CommandStream& stream, const SubpassDependency& d) {
  writeBarrier(stream, sourceStages(d.sourceStages), destinationStages(d.destinationStages));
}

}  // namespace

abi::TargetState targetsOf(const RenderPass& pass, uint32_t subpassIndex) {
  const Subpass& subpass = pass.subpasses()[subpassIndex];
  abi::TargetState targets = noTargets();
  for (uint32_t i = 0; i < subpass.colors.size(); ++i) {
    if (!subpass.colors[i].used()) continue;
    targets.color[i] = positionOf(pass, subpass.tilePass, subpass.colors[i].attachment);
  }
  if (subpass.depthStencil.used()) {
    uint8_t position = positionOf(pass, subpass.tilePass, subpass.depthStencil.attachment);
    const VkFormat format = pass.attachments()[subpass.depthStencil.attachment].format;
    if (hasAspect(format, kDepth)) targets.depth = position++;
    if (hasAspect(format, kStencil)) targets.stencil = position;
  }
  return targets;
}

abi::TargetState targetsOf(std::span<const VkFormat> colors, VkFormat depth, VkFormat stencil) {
  abi::TargetState targets = noTargets();
  const size_t count = std::min<size_t>(colors.size(), abi::kMaxColorAttachments);
  for (uint32_t i = 0; i < count; ++i) {
    if (colors[i] != VK_FORMAT_UNDEFINED) targets.color[i] = static_cast<uint8_t>(i);
  }
  if (depth != VK_FORMAT_UNDEFINED) targets.depth = static_cast<uint8_t>(colors.size());
  if (stencil != VK_FORMAT_UNDEFINED) targets.stencil = static_cast<uint8_t>(colors.size() + 1);
  return targets;
}

// ---- render passes

void PassEncoder::begin(CommandStream& stream, const RenderPass& pass, std::span<const ImageView* const> views,
                        uint32_t layerCount, const VkRect2D& area, std::span<const VkClearValue> clearValues) {
  pass_ = &pass;
  subpass_ = 0;
  views_.assign(views.begin(), views.end());
  views_.resize(pass.attachments().size());  // not allowed to be fewer; then they are not there
  clearValues_.assign(clearValues.begin(), clearValues.end());
  clearValues_.resize(pass.attachments().size());  // those behind the last that is cleared need not be given
  area_ = area;
  layerCount_ = layerCount;
  beginTilePass(stream);
}

void PassEncoder::nextSubpass(CommandStream& stream) {
  if (pass_ == nullptr || subpass_ + 1 == pass_->subpasses().size()) return;  // there is none
  const uint32_t before = pass_->subpasses()[subpass_].tilePass;
  ++subpass_;
  if (pass_->subpasses()[subpass_].tilePass != before) {
    stream.append<abi::EndPassPacket>(abi::PacketOp::kEndPass);
    beginTilePass(stream);
  } else {
    inherit(*pass_, subpass_);
  }
}

void PassEncoder::end(CommandStream& stream) {
  if (pass_ == nullptr) return;  // none has begun
  stream.append<abi::EndPassPacket>(abi::PacketOp::kEndPass);
  for (const SubpassDependency& d : pass_->dependencies()) {
    if (d.destination == VK_SUBPASS_EXTERNAL) writeBarrier(stream, d);
  }
  forget();
}

// What the subpasses of a tile pass wait for: what is outside, and earlier tile passes.
void PassEncoder::depend(CommandStream& stream, uint32_t tilePass) {
  const std::vector<Subpass>& subpasses = pass_->subpasses();
  for (const SubpassDependency& d : pass_->dependencies()) {
    if (d.destination == VK_SUBPASS_EXTERNAL || subpasses[d.destination].tilePass != tilePass) continue;
    if (d.source == VK_SUBPASS_EXTERNAL || subpasses[d.source].tilePass < tilePass) writeBarrier(stream, d);
  }
}

void PassEncoder::beginTilePass(CommandStream& stream) {
  const std::vector<Subpass>& subpasses = pass_->subpasses();
  const uint32_t tilePass = subpasses[subpass_].tilePass;
  depend(stream, tilePass);

  // What is resolved in this tile pass: into which attachment and how, by the attachment's index.
  struct Resolve {
    uint32_t into = VK_ATTACHMENT_UNUSED;
    VkResolveModeFlagBits color = VK_RESOLVE_MODE_NONE, depth = VK_RESOLVE_MODE_NONE, stencil = VK_RESOLVE_MODE_NONE;
  };
  std::vector<Resolve> resolves(pass_->attachments().size());
  for (const Subpass& s : subpasses) {
    if (s.tilePass != tilePass) continue;
    for (size_t i = 0; i < s.resolves.size(); ++i) {
      if (!s.resolves[i].used() || !s.colors[i].used()) continue;
      const bool whole = isInteger(pass_->attachments()[s.colors[i].attachment].format);
      resolves[s.colors[i].attachment] = {s.resolves[i].attachment,
                                          whole ? VK_RESOLVE_MODE_SAMPLE_ZERO_BIT : VK_RESOLVE_MODE_AVERAGE_BIT,
                                          VK_RESOLVE_MODE_NONE, VK_RESOLVE_MODE_NONE};
    }
    if (s.depthStencilResolve.used() && s.depthStencil.used()) {
      resolves[s.depthStencil.attachment] = {s.depthStencilResolve.attachment, VK_RESOLVE_MODE_NONE, s.depthResolveMode,
                                             s.stencilResolveMode};
    }
  }

  const uint32_t viewMask = subpasses[subpass_].viewMask;
  PassWriter writer;
  const auto add = [&](uint32_t i, bool onlyClears) {
    const PassAttachment& a = pass_->attachments()[i];
    uint32_t begins = a.firstTilePass == tilePass ? ~0u : 0;
    if (viewMask != 0) begins = viewMask & ~viewsBefore(subpasses, tilePass, i);
    forEachPlane(a.format, [&](VkImageAspectFlagBits aspect) {
      AttachmentUse use;
      use.view = views_[i];
      use.clear = clearValues_[i];
      if (begins != 0) use.load = loadOp(aspect == kStencil ? a.stencilLoadOp : a.loadOp);
      use.loadViews = begins;
      if (a.lastTilePass == tilePass) use.store = storeOp(aspect == kStencil ? a.stencilStoreOp : a.storeOp);
      const Resolve& resolve = resolves[i];
      if (resolve.into != VK_ATTACHMENT_UNUSED) use.resolveView = views_[resolve.into];
      use.resolve = resolveMode(aspect == kColor ? resolve.color : aspect == kDepth ? resolve.depth : resolve.stencil);
      if (!onlyClears || use.load == abi::LoadOp::kClear) writer.add(use, a.format, aspect);
    });
  };
  const std::vector<bool> drawn = drawnTo(subpasses, tilePass, pass_->attachments().size());
  for (uint32_t i = 0; i < drawn.size(); ++i) {
    if (drawn[i]) add(i, false);
  }
  for (uint32_t i = 0; i < drawn.size(); ++i) {
    const PassAttachment& a = pass_->attachments()[i];
    if (!drawn[i] && a.firstTilePass <= tilePass && tilePass <= a.lastTilePass) add(i, true);
  }
  writer.write(stream, area_, layerCount_, viewMask);
  inherit(*pass_, subpass_);
}

void PassEncoder::inherit(const RenderPass& pass, uint32_t subpassIndex) {
  const Subpass& subpass = pass.subpasses()[subpassIndex];
  VkFormat colors[abi::kMaxColorAttachments]{};
  for (size_t i = 0; i < subpass.colors.size(); ++i) {
    if (subpass.colors[i].used()) colors[i] = pass.attachments()[subpass.colors[i].attachment].format;
  }
  setTargets(
      targetsOf(pass, subpassIndex), {colors, subpass.colors.size()},
      subpass.depthStencil.used() ? pass.attachments()[subpass.depthStencil.attachment].format : VK_FORMAT_UNDEFINED,
      subpass.viewMask);
}

// ---- dynamic rendering

void PassEncoder::beginRendering(CommandStream& stream, const VkRenderingInfo& info) {
  const bool resumes = (info.flags & VK_RENDERING_RESUMING_BIT) != 0;
  const bool suspends = (info.flags & VK_RENDERING_SUSPENDING_BIT) != 0;
  // To the application it is one pass that goes on, so that no barrier of its own stands between: fragments of what was
  // suspended, maybe in another command buffer, come first.
  constexpr abi::StageMask kFragment = abi::stageBit(abi::Stage::kFragment);
  if (resumes) writeBarrier(stream, kFragment, kFragment);
  // Operations happen once: what is suspended goes on as it was (Vulkan 1.3, 8.2).
  const auto useOf = [&](const VkRenderingAttachmentInfo& a) {
    AttachmentUse use;
    use.view = ImageView::from(a.imageView);
    use.load = resumes ? abi::LoadOp::kLoad : loadOp(a.loadOp);
    use.store = suspends ? abi::StoreOp::kStore : storeOp(a.storeOp);
    use.clear = a.clearValue;
    if (!suspends && a.resolveMode != VK_RESOLVE_MODE_NONE) {
      use.resolveView = ImageView::from(a.resolveImageView);
      use.resolve = resolveMode(a.resolveMode);
    }
    return use;
  };
  const auto formatOf = [](const AttachmentUse& use) {
    return use.view != nullptr ? use.view->format() : VK_FORMAT_UNDEFINED;
  };
  PassWriter writer;
  VkFormat colors[abi::kMaxColorAttachments]{};
  const uint32_t colorCount = std::min(info.colorAttachmentCount, abi::kMaxColorAttachments);
  for (uint32_t i = 0; i < colorCount; ++i) {
    const AttachmentUse use = useOf(info.pColorAttachments[i]);
    colors[i] = formatOf(use);
    writer.add(use, colors[i], kColor);
  }
  const AttachmentUse depth = info.pDepthAttachment != nullptr ? useOf(*info.pDepthAttachment) : AttachmentUse{};
  const AttachmentUse stencil = info.pStencilAttachment != nullptr ? useOf(*info.pStencilAttachment) : AttachmentUse{};
  writer.add(depth, formatOf(depth), kDepth);
  writer.add(stencil, formatOf(stencil), kStencil);
  writer.write(stream, info.renderArea, info.layerCount, info.viewMask);
  setTargets(targetsOf({colors, colorCount}, formatOf(depth), formatOf(stencil)), {colors, colorCount},
             depth.view != nullptr ? formatOf(depth) : formatOf(stencil), info.viewMask);
}

void PassEncoder::endRendering(CommandStream& stream) {
  stream.append<abi::EndPassPacket>(abi::PacketOp::kEndPass);
  forget();
}

void PassEncoder::inherit(const VkCommandBufferInheritanceRenderingInfo& info) {
  const std::span<const VkFormat> colors(info.pColorAttachmentFormats, info.colorAttachmentCount);
  const VkFormat depthStencil =
      info.depthAttachmentFormat != VK_FORMAT_UNDEFINED ? info.depthAttachmentFormat : info.stencilAttachmentFormat;
  setTargets(targetsOf(colors, info.depthAttachmentFormat, info.stencilAttachmentFormat), colors, depthStencil,
             info.viewMask);
}

void PassEncoder::setTargets(const abi::TargetState& targets, std::span<const VkFormat> colors, VkFormat depthStencil,
                             uint32_t viewMask) {
  targets_ = targets;
  const size_t count = std::min<size_t>(colors.size(), abi::kMaxColorAttachments);
  std::fill(std::copy_n(colors.begin(), count, colorFormats_), std::end(colorFormats_), VK_FORMAT_UNDEFINED);
  depthStencilFormat_ = depthStencil;
  viewMask_ = viewMask;
}

// ---- clears in a pass

void PassEncoder::clear(CommandStream& stream, std::span<const VkClearAttachment> attachments,
                        std::span<const VkClearRect> rects) {
  const auto write = [&](uint8_t attachment, const std::byte(&element)[32], std::span<const VkClearRect> some) {
    if (attachment == abi::kNoAttachment) return;  // no effect (Vulkan 1.3, 19.2)
    const size_t extra_B = some.size() * sizeof(abi::ClearRect);
    auto* packet = stream.append<abi::ClearAttachmentPacket>(abi::PacketOp::kClearAttachment, extra_B);
    const abi::PacketHeader header = packet->header;
    *packet = {};
    packet->header = header;
    packet->attachment = attachment;
    packet->viewMask = viewMask_;
    packet->rectCount = static_cast<uint32_t>(some.size());
    std::memcpy(packet->element, element, sizeof packet->element);
    auto* out = reinterpret_cast<abi::ClearRect*>(packet + 1);
    for (const VkClearRect& r : some) {
      *out++ = {{static_cast<uint32_t>(r.rect.offset.x), static_cast<uint32_t>(r.rect.offset.y), r.rect.extent.width,
                 r.rect.extent.height},
                r.baseArrayLayer,
                r.layerCount};
    }
  };
  constexpr size_t kMostRects = 1024;  // of one packet, whose size has a bound
  for (size_t first = 0; first < rects.size(); first += kMostRects) {
    const auto some = rects.subspan(first, std::min(kMostRects, rects.size() - first));
    for (const VkClearAttachment& a : attachments) {
      std::byte element[32];
      if ((a.aspectMask & kColor) != 0) {
        if (a.colorAttachment >= abi::kMaxColorAttachments) continue;  // VK_ATTACHMENT_UNUSED, or not allowed
        encodeClear(colorFormats_[a.colorAttachment], &a.clearValue.color, element);
        write(targets_.color[a.colorAttachment], element, some);
        continue;
      }
      for (VkImageAspectFlagBits aspect : {kDepth, kStencil}) {
        if ((a.aspectMask & aspect) == 0) continue;
        encodeClear(depthStencilFormat_, aspect, a.clearValue.depthStencil, element);
        write(aspect == kDepth ? targets_.depth : targets_.stencil, element, some);
      }
    }
  }
}

}  // namespace pumice::icd
