// What a pass does to the attachments of one tile besides drawing: clears, and resolves of samples. Called inside a
// guarded call by the worker that has the tile; nothing but the area's own texels is written.
//
// Surfaces are those of one layer or view: slices but the first are left alone. Areas are in elements.
#pragma once

#include <cstddef>

#include "backend/abi/draw_packets.h"

namespace pumice::gpu {

/// Every sample of every element of the area becomes `element` (surface.elementBytes bytes).
void fillTile(const abi::Surface& surface, const abi::PassArea& area, const std::byte* element);

/// Samples of `src` into the texels of `dst` at the same place. format: VkFormat of both, of the plane; mode: not kNone
/// (what an average of integers is: resolve.h).
void resolveTile(const abi::Surface& dst, const abi::Surface& src, const abi::PassArea& area, uint32_t format,
                 abi::ResolveMode mode);

}  // namespace pumice::gpu
