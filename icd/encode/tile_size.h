// The edge of a pass's tiles.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

namespace pumice::icd {

/// log2 of the edge in pixels, 4 to 7: the largest tile whose attachments fit half of a core's second-level cache, and
/// smaller where the area has few tiles to share out; but never so small that a layer has more than 16,384 tiles from
/// the framebuffer's first pixel to the end of the area (raster/bins.h). `pixel_B` is the bytes of a pixel in all
/// attachments, all samples.
uint8_t tileEdge_log2(uint32_t pixel_B, const VkRect2D& area, uint32_t layerCount);

}  // namespace pumice::icd
