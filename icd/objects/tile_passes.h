// Which subpasses of a render pass run as one pass over the tiles.
//
// A tile works on attachment memory in place, so a subpass may follow another in the same tile when what it needs of it
// lies in the tile: when every dependency between the two says BY_REGION (Vulkan 1.3, 7.1: "framebuffer-local") and is
// of stages that work on the framebuffer; vertices have no region. A subpass that depends on the whole of an earlier
// one has to wait until that one's tiles are done, and so do all after it. Resolves happen at the end of a tile pass,
// so nothing in it may come after one and use what it writes, or write what it reads. Views of multiview are passes of
// their own, so that a change of the view mask ends a tile pass too.
#pragma once

#include <span>
#include <vector>

#include "icd/objects/render_pass.h"

namespace pumice::icd {

/// Numbers the subpasses: rising from 0, without gaps.
void assignTilePasses(std::span<Subpass> subpasses, std::span<const SubpassDependency> dependencies);

/// Which attachments are color or depth-stencil attachments of a subpass of the tile pass. At most kMostDrawnTo are.
std::vector<bool> drawnTo(std::span<const Subpass> subpasses, uint32_t tilePass, size_t attachmentCount);
inline constexpr uint32_t kMostDrawnTo = 100;

/// The views in which an attachment is used before the tile pass. Each view of it is loaded where it is used first
/// (Vulkan 1.3, 8.1, VkRenderPassMultiviewCreateInfo).
uint32_t viewsBefore(std::span<const Subpass> subpasses, uint32_t tilePass, uint32_t attachment);

/// Sets the first and last tile pass of every attachment that a subpass uses.
void assignLifetimes(std::span<PassAttachment> attachments, std::span<const Subpass> subpasses);

}  // namespace pumice::icd
