// Where the elements of an image lie (backend/abi/image_layout.h): a pure function of extent, element bytes, usage and
// tiling. docs/images.md says why it is as it is.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

#include "backend/abi/descriptor.h"
#include "backend/abi/image_layout.h"

namespace pumice::formats {

/// One image, or one plane of a multi-planar or depth-stencil image.
struct ImageShape {
  VkImageType type = VK_IMAGE_TYPE_2D;
  uint32_t width = 1, height = 1, depth = 1;  // of level 0, in texels of the plane
  uint32_t levelCount = 1;                    // at most abi::kMaxImageLevels
  uint32_t layerCount = 1;
  uint32_t sampleCount = 1;
  uint8_t elementBytes = 4;                                       // 1 to 32
  uint8_t elementWidth = 1, elementHeight = 1, elementDepth = 1;  // in texels
  VkImageTiling tiling = VK_IMAGE_TILING_OPTIMAL;
  VkImageUsageFlags usage = 0;
};

/// Offsets are in bytes from the image's (plane's) first byte, which is aligned to abi::kResourceAlignBytes.
struct PlaneLayout {
  abi::ImageLayout kind{};
  uint32_t levelCount = 0;
  uint32_t layerCount = 0;
  uint32_t sampleCount = 0;
  abi::ImageLevel levels[abi::kMaxImageLevels] = {};
  uint64_t layerPitch_B = 0;
  uint64_t size_B = 0;

  uint64_t slicePitch_B(uint32_t level) const {
    return uint64_t{levels[level].slicePitch_64B} * abi::kSlicePitchUnitBytes;
  }
  /// Quad-major: between neighbouring blocks of a row.
  uint32_t blockPitch_B() const { return 16u * kind.elementBytes * sampleCount; }
  /// Between two samples of an element: row-linear, the row of one sample; quad-major, its 4x4 block.
  uint32_t samplePitch_B(uint32_t level) const {
    return kind.order == abi::BlockOrder::kRowLinear ? levels[level].rowPitch_B / sampleCount : 16u * kind.elementBytes;
  }
};

/// No image is larger: VkImageFormatProperties::maxResourceSize. It is what a slice pitch in units of 64 bytes can say.
inline constexpr uint64_t kMaxImageBytes = 1ull << 38;

/// False when the image would be larger than kMaxImageBytes (any extent is allowed; nothing overflows).
[[nodiscard]] bool computeLayout(const ImageShape& shape, PlaneLayout* out);

/// Of the element (x, y); z is the depth slice of a 3D image.
uint64_t elementOffset_B(const PlaneLayout& layout, uint32_t level, uint32_t layer, uint32_t z, uint32_t sample,
                         uint32_t x, uint32_t y);

/// Which order an image has; see computeLayout.
abi::BlockOrder blockOrder(const ImageShape& shape);

}  // namespace pumice::formats
