// What each format can be used for: the one place that all format queries answer from. A bit is set here when the thing
// works and has a test.
#pragma once

#include <vulkan/vulkan_core.h>

namespace pumice::icd {

struct FormatFeatures {
  VkFormatFeatureFlags2 linear = 0;
  VkFormatFeatureFlags2 optimal = 0;
  VkFormatFeatureFlags2 buffer = 0;
};

/// All zero for formats that are unknown or cannot be used.
FormatFeatures formatFeatures(VkFormat format);

/// VK_ERROR_FORMAT_NOT_SUPPORTED, and zeros, when no such image can be made.
VkResult imageFormatProperties(VkFormat format, VkImageType type, VkImageTiling tiling, VkImageUsageFlags usage,
                               VkImageCreateFlags flags, VkImageFormatProperties* out);

}  // namespace pumice::icd
