#include "icd/objects/tile_passes.h"

#include <algorithm>

#include "icd/encode/stage_masks.h"

namespace pumice::icd {

namespace {

template <typename Use>
void forEachReference(const Subpass& subpass, Use&& use) {
  for (const auto* references : {&subpass.inputs, &subpass.colors, &subpass.resolves}) {
    for (const AttachmentReference& r : *references) {
      if (r.used()) use(r.attachment);
    }
  }
  if (subpass.depthStencil.used()) use(subpass.depthStencil.attachment);
  if (subpass.depthStencilResolve.used()) use(subpass.depthStencilResolve.attachment);
}

template <typename Use>
void forEachDrawnTo(const Subpass& subpass, Use&& use) {
  for (const AttachmentReference& r : subpass.colors) {
    if (r.used()) use(r.attachment);
  }
  if (subpass.depthStencil.used()) use(subpass.depthStencil.attachment);
}

// Calls use(from, into) for its resolves.
template <typename Use>
void forEachResolve(const Subpass& subpass, Use&& use) {
  for (size_t i = 0; i < subpass.resolves.size(); ++i) {
    if (subpass.resolves[i].used() && subpass.colors[i].used()) {
      use(subpass.colors[i].attachment, subpass.resolves[i].attachment);
    }
  }
  if (subpass.depthStencilResolve.used() && subpass.depthStencil.used()) {
    use(subpass.depthStencil.attachment, subpass.depthStencilResolve.attachment);
  }
}

// Does the later one read or write a result, or draw to what it is made from?
bool comesAfterResolve(const Subpass& later, const Subpass& earlier) {
  bool after = false;
  forEachResolve(earlier, [&](uint32_t from, uint32_t into) {
    forEachReference(later, [&](uint32_t used) { after = after || used == into; });
    forEachDrawnTo(later, [&](uint32_t drawn) { after = after || drawn == from; });
  });
  return after;
}

// Does something before the fragments wait? What names all stages but only accesses to attachments means fragments.
bool reachesGeometry(const SubpassDependency& d) {
  constexpr abi::StageMask kBefore = abi::stageBit(abi::Stage::kIndirect) | abi::stageBit(abi::Stage::kGeometry);
  constexpr VkAccessFlags2 kOfAttachments =
      VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |
      VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
      VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_NONCOHERENT_BIT_EXT;
  if ((destinationStages(d.destinationStages) & kBefore) == 0) return false;
  return d.destinationAccess == 0 || (d.destinationAccess & ~kOfAttachments) != 0;
}

}  // namespace

void assignTilePasses(std::span<Subpass> subpasses, std::span<const SubpassDependency> dependencies) {
  uint32_t first = 0, number = 0;  // of the tile pass in work: its first subpass, its number
  uint32_t references = 0;         // of its subpasses to what they draw to: not less than there are attachments
  for (uint32_t i = 0; i < subpasses.size(); ++i) {
    const auto inWork = subpasses.subspan(first, i - first);
    const auto separates = [&](const SubpassDependency& d) {
      return d.destination == i && d.source != VK_SUBPASS_EXTERNAL && d.source >= first && d.source < i &&
             (!d.byRegion || reachesGeometry(d));
    };
    const auto isResolved = [&](const Subpass& earlier) { return comesAfterResolve(subpasses[i], earlier); };
    uint32_t own = 0;
    forEachDrawnTo(subpasses[i], [&](uint32_t) { ++own; });
    references += own;
    const bool isNew = i > 0 && (subpasses[i].viewMask != subpasses[first].viewMask || references > kMostDrawnTo ||
                                 std::any_of(dependencies.begin(), dependencies.end(), separates) ||
                                 std::any_of(inWork.begin(), inWork.end(), isResolved));
    if (isNew) {
      first = i;
      references = own;
      ++number;
    }
    subpasses[i].tilePass = number;
  }
}

std::vector<bool> drawnTo(std::span<const Subpass> subpasses, uint32_t tilePass, size_t attachmentCount) {
  std::vector<bool> drawn(attachmentCount);
  for (const Subpass& subpass : subpasses) {
    if (subpass.tilePass == tilePass) forEachDrawnTo(subpass, [&](uint32_t attachment) { drawn[attachment] = true; });
  }
  return drawn;
}

uint32_t viewsBefore(std::span<const Subpass> subpasses, uint32_t tilePass, uint32_t attachment) {
  uint32_t views = 0;
  for (const Subpass& subpass : subpasses) {
    if (subpass.tilePass >= tilePass) break;
    forEachReference(subpass, [&](uint32_t used) { views |= used == attachment ? subpass.viewMask : 0; });
  }
  return views;
}

void assignLifetimes(std::span<PassAttachment> attachments, std::span<const Subpass> subpasses) {
  for (const Subpass& subpass : subpasses) {
    forEachReference(subpass, [&](uint32_t attachment) {
      PassAttachment& a = attachments[attachment];
      a.firstTilePass = std::min(a.firstTilePass, subpass.tilePass);
      a.lastTilePass = std::max(a.lastTilePass, subpass.tilePass);
    });
  }
}

}  // namespace pumice::icd
