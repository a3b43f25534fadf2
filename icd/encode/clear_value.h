// Clear values of the API as the bytes of texels.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>

namespace pumice::icd {

/// The bytes of a texel. `value` is four components of 32 bits, whatever the format: a VkClearColorValue. Formats that
/// cannot be cleared (compressed and multi-planar ones) give zeros.
void encodeClear(VkFormat format, const void* value, std::byte (&element)[32]);

/// The same of one aspect of a depth-stencil format.
void encodeClear(VkFormat format, VkImageAspectFlagBits aspect, const VkClearDepthStencilValue& value,
                 std::byte (&element)[32]);

}  // namespace pumice::icd
