#include "backend/texture/texel_format.h"

#include <algorithm>
#include <bit>

namespace pumice::texture {
namespace {

constexpr uint32_t kMaxFormats = 512;  // the last entry stays of kind kNone

TexelKind kindOf(VkFormat format, const formats::TexelCodec& codec) {
  if (!codec) return TexelKind::kNone;
  switch (format) {
    case VK_FORMAT_R8G8B8A8_UNORM:
    case VK_FORMAT_A8B8G8R8_UNORM_PACK32:
      return TexelKind::kRgba8Unorm;
    case VK_FORMAT_B8G8R8A8_UNORM:
      return TexelKind::kBgra8Unorm;
    case VK_FORMAT_R8G8B8A8_SRGB:
    case VK_FORMAT_A8B8G8R8_SRGB_PACK32:
      return TexelKind::kRgba8Srgb;
    case VK_FORMAT_B8G8R8A8_SRGB:
      return TexelKind::kBgra8Srgb;
    case VK_FORMAT_R8_UNORM:
      return TexelKind::kR8Unorm;
    case VK_FORMAT_R8G8_UNORM:
      return TexelKind::kRg8Unorm;
    case VK_FORMAT_R16_UNORM:
    case VK_FORMAT_D16_UNORM:
      return TexelKind::kR16Unorm;
    case VK_FORMAT_X8_D24_UNORM_PACK32:
      return TexelKind::kD24Unorm;
    case VK_FORMAT_R16_SFLOAT:
      return TexelKind::kR16Float;
    case VK_FORMAT_R16G16_SFLOAT:
      return TexelKind::kRg16Float;
    case VK_FORMAT_R16G16B16A16_SFLOAT:
      return TexelKind::kRgba16Float;
    case VK_FORMAT_R32_SFLOAT:
    case VK_FORMAT_D32_SFLOAT:
    case VK_FORMAT_R32_UINT:
    case VK_FORMAT_R32_SINT:
      return TexelKind::kR32;
    case VK_FORMAT_R32G32_SFLOAT:
    case VK_FORMAT_R32G32_UINT:
    case VK_FORMAT_R32G32_SINT:
      return TexelKind::kRg32;
    case VK_FORMAT_R32G32B32A32_SFLOAT:
    case VK_FORMAT_R32G32B32A32_UINT:
    case VK_FORMAT_R32G32B32A32_SINT:
      return TexelKind::kRgba32;
    default:
      return codec.channelBytes == 8 ? TexelKind::kWide : TexelKind::kCodec;
  }
}

TexelFormat describe(const formats::FormatInfo& info) {
  TexelFormat f{};
  f.codec = formats::texelCodec(info.format);
  f.block = formats::blockCodec(info.format);
  f.kind = f.block ? TexelKind::kBlock : kindOf(info.format, f.codec);
  f.type = formats::texelType(info);
  f.bytes = info.blockBytes;
  f.blockWidth = info.blockExtent[0];
  f.blockHeight = info.blockExtent[1];
  f.one = f.type == formats::TexelType::kFloat ? std::bit_cast<uint32_t>(1.0f) : 1;
  const formats::NumericFormat numeric = info.components[0].numeric;
  f.normalized = numeric == formats::NumericFormat::kUnorm;
  for (uint32_t i = 0; i < info.componentCount; ++i) {
    const formats::ComponentName name = info.components[i].name;
    const bool first = name == formats::ComponentName::kD || name == formats::ComponentName::kS;
    f.present[first ? 0 : static_cast<uint32_t>(name)] = true;
  }
  f.outside[3] = f.present[3] ? 0 : f.one;
  return f;
}

/// Trivially destructible: nothing runs at exit.
struct Table {
  TexelFormat entries[kMaxFormats];
};

const Table& table() {
  static const Table made = [] {
    Table t{};
    uint32_t index = 0;
    for (const formats::FormatInfo& info : formats::allFormats()) {
      if (index < kMaxFormats - 1) t.entries[index++] = describe(info);
    }
    return t;
  }();
  return made;
}

}  // namespace

const TexelFormat& texelFormat(uint32_t index) {
  return table().entries[std::min(index, kMaxFormats - 1)];
}

uint16_t texelFormatIndex(VkFormat format) {
  const formats::FormatInfo& info = formats::formatInfo(format);
  if (!formats::isKnown(info)) return 0xFFFF;
  return static_cast<uint16_t>(&info - formats::allFormats().data());
}

}  // namespace pumice::texture
