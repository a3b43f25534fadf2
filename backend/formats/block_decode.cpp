#include "backend/formats/block_decode.h"

#include "backend/formats/block_kernels.h"
#include "backend/formats/fixed_point.h"
#include "backend/formats/srgb.h"

namespace pumice::formats {

void bytesToFloat(const FormatInfo& info, const std::byte* texels, size_t count, float* rgba) {
  const bool srgb = isSrgb(info);
  for (size_t i = 0; i < 4 * count; ++i) {
    const auto code = std::to_integer<uint32_t>(texels[i]);
    rgba[i] = srgb && i % 4 != 3 ? kSrgbToLinear[code] : unormToFloat<8>(code);
  }
}

BlockCodec blockCodec(VkFormat format) {
  const FormatInfo& info = formatInfo(format);
  const VkFormat bytes = isKnown(info) && isSrgb(info) ? VK_FORMAT_R8G8B8A8_SRGB : VK_FORMAT_R8G8B8A8_UNORM;
  switch (format) {
    case VK_FORMAT_BC1_RGB_UNORM_BLOCK:
    case VK_FORMAT_BC1_RGB_SRGB_BLOCK:
    case VK_FORMAT_BC1_RGBA_UNORM_BLOCK:
    case VK_FORMAT_BC1_RGBA_SRGB_BLOCK:
      return {&info, bytes, decodeBc1, decodeBc1Float};
    case VK_FORMAT_BC2_UNORM_BLOCK:
    case VK_FORMAT_BC2_SRGB_BLOCK:
      return {&info, bytes, decodeBc2, decodeBc2Float};
    case VK_FORMAT_BC3_UNORM_BLOCK:
    case VK_FORMAT_BC3_SRGB_BLOCK:
      return {&info, bytes, decodeBc3, decodeBc3Float};
    case VK_FORMAT_BC4_UNORM_BLOCK:
      return {&info, VK_FORMAT_R16_UNORM, decodeBc4Or5, decodeBc4Or5Float};
    case VK_FORMAT_BC4_SNORM_BLOCK:
      return {&info, VK_FORMAT_R16_SNORM, decodeBc4Or5, decodeBc4Or5Float};
    case VK_FORMAT_BC5_UNORM_BLOCK:
      return {&info, VK_FORMAT_R16G16_UNORM, decodeBc4Or5, decodeBc4Or5Float};
    case VK_FORMAT_BC5_SNORM_BLOCK:
      return {&info, VK_FORMAT_R16G16_SNORM, decodeBc4Or5, decodeBc4Or5Float};
    case VK_FORMAT_BC6H_UFLOAT_BLOCK:
    case VK_FORMAT_BC6H_SFLOAT_BLOCK:
      return {&info, VK_FORMAT_R16G16B16A16_SFLOAT, decodeBc6h, decodeBc6hFloat};
    case VK_FORMAT_BC7_UNORM_BLOCK:
    case VK_FORMAT_BC7_SRGB_BLOCK:
      return {&info, bytes, decodeBc7, decodeBytesFloat<decodeBc7>};
    case VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK:
    case VK_FORMAT_ETC2_R8G8B8_SRGB_BLOCK:
    case VK_FORMAT_ETC2_R8G8B8A1_UNORM_BLOCK:
    case VK_FORMAT_ETC2_R8G8B8A1_SRGB_BLOCK:
    case VK_FORMAT_ETC2_R8G8B8A8_UNORM_BLOCK:
    case VK_FORMAT_ETC2_R8G8B8A8_SRGB_BLOCK:
      return {&info, bytes, decodeEtc2, decodeBytesFloat<decodeEtc2>};
    case VK_FORMAT_EAC_R11_UNORM_BLOCK:
      return {&info, VK_FORMAT_R16_UNORM, decodeEac, decodeEacFloat};
    case VK_FORMAT_EAC_R11_SNORM_BLOCK:
      return {&info, VK_FORMAT_R16_SNORM, decodeEac, decodeEacFloat};
    case VK_FORMAT_EAC_R11G11_UNORM_BLOCK:
      return {&info, VK_FORMAT_R16G16_UNORM, decodeEac, decodeEacFloat};
    case VK_FORMAT_EAC_R11G11_SNORM_BLOCK:
      return {&info, VK_FORMAT_R16G16_SNORM, decodeEac, decodeEacFloat};
    default:
      if (info.compression == Compression::kAstcLdr && info.blockExtent[2] == 1) {
        return {&info, bytes, decodeAstc, isSrgb(info) ? decodeBytesFloat<decodeAstc> : decodeAstcFloat};
      }
      return {&info, VK_FORMAT_UNDEFINED, nullptr, nullptr};
  }
}

}  // namespace pumice::formats
