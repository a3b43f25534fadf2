#include "backend/formats/format_table.h"

#include "backend/formats/format_table_data.h"

namespace pumice::formats {

const FormatInfo& formatInfo(VkFormat format) {
  static constexpr FormatInfo kUnknown{};
  const auto value = static_cast<uint32_t>(format);
  // Core formats are the first range; the others are a handful of extensions of some formats each.
  for (uint32_t i = 0; i < kRangeCount; ++i) {
    const FormatRange& range = kRanges[i];
    if (value - range.first < range.count) {
      const uint16_t index = range.indices[value - range.first];
      return index == kNoFormat ? kUnknown : kFormats[index];
    }
  }
  return kUnknown;
}

std::span<const FormatInfo> allFormats() {
  return {kFormats, kFormatCount};
}

const char* compatibilityClassName(uint8_t compatibilityClass) {
  return compatibilityClass < kClassCount ? kClassNames[compatibilityClass] : "none";
}

bool hasDepth(const FormatInfo& info) {
  return isKnown(info) && info.components[0].name == ComponentName::kD;
}

bool hasStencil(const FormatInfo& info) {
  return isKnown(info) && info.components[info.componentCount - 1].name == ComponentName::kS;
}

VkImageAspectFlags formatAspects(const FormatInfo& info) {
  if (!isKnown(info)) return 0;
  VkImageAspectFlags aspects = 0;
  if (hasDepth(info)) aspects |= VK_IMAGE_ASPECT_DEPTH_BIT;
  if (hasStencil(info)) aspects |= VK_IMAGE_ASPECT_STENCIL_BIT;
  return aspects != 0 ? aspects : VkImageAspectFlags{VK_IMAGE_ASPECT_COLOR_BIT};
}

uint32_t aspectPlane(VkFormat format, VkImageAspectFlagBits aspect) {
  switch (aspect) {
    case VK_IMAGE_ASPECT_PLANE_1_BIT:
      return 1;
    case VK_IMAGE_ASPECT_PLANE_2_BIT:
      return 2;
    case VK_IMAGE_ASPECT_STENCIL_BIT:
      return hasDepth(formatInfo(format)) ? 1 : 0;
    default:
      return 0;
  }
}

VkFormat aspectFormat(VkFormat format, VkImageAspectFlagBits aspect) {
  const FormatInfo& info = formatInfo(format);
  const uint32_t plane = aspectPlane(format, aspect);
  switch (aspect) {
    case VK_IMAGE_ASPECT_COLOR_BIT:
    case VK_IMAGE_ASPECT_DEPTH_BIT:
    case VK_IMAGE_ASPECT_STENCIL_BIT:
      if ((formatAspects(info) & aspect) == 0) return VK_FORMAT_UNDEFINED;
      return aspect == VK_IMAGE_ASPECT_COLOR_BIT ? format : info.planes[plane].format;
    case VK_IMAGE_ASPECT_PLANE_0_BIT:
    case VK_IMAGE_ASPECT_PLANE_1_BIT:
    case VK_IMAGE_ASPECT_PLANE_2_BIT:
      if (!isMultiPlanar(info) || plane >= info.planeCount) return VK_FORMAT_UNDEFINED;
      return info.planes[plane].format;
    default:
      return VK_FORMAT_UNDEFINED;
  }
}

TexelType texelType(const FormatInfo& info) {
  switch (info.components[0].numeric) {
    case NumericFormat::kUint:
      return TexelType::kUint;
    case NumericFormat::kSint:
      return TexelType::kSint;
    default:
      return TexelType::kFloat;
  }
}

}  // namespace pumice::formats
