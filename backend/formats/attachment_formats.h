// Which formats the output merger (shaders/codegen/output_merger.h) can read and write: what is left of the format
// features of attachments once image layouts and drawing allow them.
#pragma once

#include <vulkan/vulkan_core.h>

namespace pumice::formats {

/// One texel of one, two, four, eight or sixteen bytes, channels of up to 32 bits that cross no 32-bit word.
bool isColorAttachmentFormat(VkFormat format);
/// Of those: not integers.
bool isBlendableFormat(VkFormat format);
/// Depth, stencil, or both.
bool isDepthStencilAttachmentFormat(VkFormat format);

}  // namespace pumice::formats
