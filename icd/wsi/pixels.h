// Pixels of a window: from the texels of a presentable image, whatever its layout, to rows in the window system's form.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/abi/packets.h"

namespace pumice::icd {

/// How a pixel or texel of at most 32 bits is made up; little endian.
struct PixelForm {
  uint32_t bytes = 0;  // 2 or 4
  uint32_t red = 0, green = 0, blue = 0;
  uint32_t alpha = 0;  // 0: the window system ignores what is left of the pixel

  bool operator==(const PixelForm&) const = default;
};

/// bytes == 0 for formats that cannot be presented. An sRGB format has the form of its UNORM one: windows hold sRGB.
PixelForm pixelForm(VkFormat format);

/// Formats that windows of this form show without loss, the one that needs no conversion first; formats of more
/// precision than the window are left out, if others are there.
std::vector<VkFormat> presentableFormats(const PixelForm& window);

struct PixelRows {
  std::byte* first;
  uint64_t pitch_B;
};

/// Writes `area` of the image, whose texels have the form `from`, to the same place of the window's rows. With `opaque`
/// the window's alpha becomes 1.
void writePixels(const abi::Surface& image, const PixelForm& from, const VkRect2D& area, const PixelRows& rows,
                 const PixelForm& to, bool opaque);

}  // namespace pumice::icd
