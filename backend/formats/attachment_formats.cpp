#include "backend/formats/attachment_formats.h"

#include <algorithm>
#include <bit>

#include "backend/formats/format_table.h"

namespace pumice::formats {
namespace {

bool isWritable(const Component& c) {
  switch (c.numeric) {
    case NumericFormat::kUnorm:
    case NumericFormat::kSnorm:
      if (c.bits > 16) return false;
      break;
    case NumericFormat::kUint:
    case NumericFormat::kSint:
      break;
    case NumericFormat::kSrgb:
      if (c.bits != 8) return false;
      break;
    case NumericFormat::kSfloat:
      if (c.bits != 16 && c.bits != 32) return false;
      break;
    case NumericFormat::kUfloat:
      if (c.bits != 10 && c.bits != 11) return false;
      break;
    default:
      return false;
  }
  return c.name <= ComponentName::kA && c.bitOffset / 32 == (c.bitOffset + c.bits - 1) / 32;
}

}  // namespace

bool isColorAttachmentFormat(VkFormat format) {
  const FormatInfo& info = formatInfo(format);
  if (!isKnown(info) || isCompressed(info) || info.chroma != Chroma::kNone || info.planeCount != 1) return false;
  if (info.texelsPerBlock != 1 || info.sharedExponentBits != 0 || info.componentCount == 0) return false;
  if (!std::has_single_bit(info.blockBytes) || info.blockBytes > 16) return false;
  return std::all_of(info.components, info.components + info.componentCount, isWritable);
}

bool isBlendableFormat(VkFormat format) {
  return isColorAttachmentFormat(format) && texelType(formatInfo(format)) == TexelType::kFloat;
}

bool isDepthStencilAttachmentFormat(VkFormat format) {
  const FormatInfo& info = formatInfo(format);
  return isKnown(info) && (hasDepth(info) || hasStencil(info));
}

}  // namespace pumice::formats
