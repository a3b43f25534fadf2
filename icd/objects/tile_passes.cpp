#include "icd/objects/tile_passes.h"

#include <algorithm>

namespace pumice::icd {

void assignTilePasses(std::span<Subpass> subpasses, std::span<const SubpassDependency> dependencies) {
  uint32_t first = 0, number = 0;  // of the tile pass in work: its first subpass, its number
  for (uint32_t i = 0; i < subpasses.size(); ++i) {
    const auto separates = [&](const SubpassDependency& d) {
      return d.destination == i && d.source != VK_SUBPASS_EXTERNAL && d.source >= first && d.source < i && !d.byRegion;
    };
    const bool isNew = i > 0 && (subpasses[i].viewMask != subpasses[first].viewMask ||
                                 std::any_of(dependencies.begin(), dependencies.end(), separates));
    if (isNew) {
      first = i;
      ++number;
    }
    subpasses[i].tilePass = number;
  }
}

void assignLifetimes(std::span<PassAttachment> attachments, std::span<const Subpass> subpasses) {
  for (const Subpass& subpass : subpasses) {
    const auto use = [&](const AttachmentReference& reference) {
      if (!reference.used()) return;
      PassAttachment& a = attachments[reference.attachment];
      a.firstTilePass = std::min(a.firstTilePass, subpass.tilePass);
      a.lastTilePass = std::max(a.lastTilePass, subpass.tilePass);
    };
    for (const auto* references : {&subpass.inputs, &subpass.colors, &subpass.resolves}) {
      std::for_each(references->begin(), references->end(), use);
    }
    use(subpass.depthStencil);
    use(subpass.depthStencilResolve);
  }
}

}  // namespace pumice::icd
