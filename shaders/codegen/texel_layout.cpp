#include "shaders/codegen/texel_layout.h"

#include <vulkan/vulkan_core.h>

#include <spirv/unified1/spirv.hpp11>

#include "backend/abi/descriptor.h"
#include "backend/formats/format_table.h"

namespace pumice::shader::codegen {

namespace {

using Numeric = TexelLayout::Numeric;

TexelLayout layoutOf(VkFormat format, uint8_t channels, uint8_t bits, Numeric numeric, bool swapped = false) {
  const auto index = static_cast<uint16_t>(&formats::formatInfo(format) - formats::allFormats().data());
  return {abi::makeViewClass(abi::ViewShape::k2D, false, index), channels, bits, numeric, swapped};
}

}  // namespace

std::vector<TexelLayout> likelyLayouts(uint8_t format, ir::Kind kind) {
  using F = spv::ImageFormat;
  const auto one = [kind](VkFormat of, uint8_t channels, uint8_t bits, Numeric numeric) {
    const TexelLayout layout = layoutOf(of, channels, bits, numeric);
    std::vector<TexelLayout> out;
    if (layout.isFloat() == (kind == ir::Kind::kF32)) out.push_back(layout);
    return out;
  };
  switch (static_cast<F>(format)) {
    case F::Rgba32f:
      return one(VK_FORMAT_R32G32B32A32_SFLOAT, 4, 32, Numeric::kFloat);
    case F::Rg32f:
      return one(VK_FORMAT_R32G32_SFLOAT, 2, 32, Numeric::kFloat);
    case F::R32f:
      return one(VK_FORMAT_R32_SFLOAT, 1, 32, Numeric::kFloat);
    case F::Rgba16f:
      return one(VK_FORMAT_R16G16B16A16_SFLOAT, 4, 16, Numeric::kFloat);
    case F::Rg16f:
      return one(VK_FORMAT_R16G16_SFLOAT, 2, 16, Numeric::kFloat);
    case F::R16f:
      return one(VK_FORMAT_R16_SFLOAT, 1, 16, Numeric::kFloat);
    case F::Rgba16:
      return one(VK_FORMAT_R16G16B16A16_UNORM, 4, 16, Numeric::kUnorm);
    case F::Rg16:
      return one(VK_FORMAT_R16G16_UNORM, 2, 16, Numeric::kUnorm);
    case F::R16:
      return one(VK_FORMAT_R16_UNORM, 1, 16, Numeric::kUnorm);
    case F::Rgba8:
      return one(VK_FORMAT_R8G8B8A8_UNORM, 4, 8, Numeric::kUnorm);
    case F::Rg8:
      return one(VK_FORMAT_R8G8_UNORM, 2, 8, Numeric::kUnorm);
    case F::R8:
      return one(VK_FORMAT_R8_UNORM, 1, 8, Numeric::kUnorm);
    case F::Rgba32ui:
      return one(VK_FORMAT_R32G32B32A32_UINT, 4, 32, Numeric::kUint);
    case F::Rg32ui:
      return one(VK_FORMAT_R32G32_UINT, 2, 32, Numeric::kUint);
    case F::R32ui:
      return one(VK_FORMAT_R32_UINT, 1, 32, Numeric::kUint);
    case F::Rgba16ui:
      return one(VK_FORMAT_R16G16B16A16_UINT, 4, 16, Numeric::kUint);
    case F::Rg16ui:
      return one(VK_FORMAT_R16G16_UINT, 2, 16, Numeric::kUint);
    case F::R16ui:
      return one(VK_FORMAT_R16_UINT, 1, 16, Numeric::kUint);
    case F::Rgba8ui:
      return one(VK_FORMAT_R8G8B8A8_UINT, 4, 8, Numeric::kUint);
    case F::Rg8ui:
      return one(VK_FORMAT_R8G8_UINT, 2, 8, Numeric::kUint);
    case F::R8ui:
      return one(VK_FORMAT_R8_UINT, 1, 8, Numeric::kUint);
    case F::Rgba32i:
      return one(VK_FORMAT_R32G32B32A32_SINT, 4, 32, Numeric::kSint);
    case F::Rg32i:
      return one(VK_FORMAT_R32G32_SINT, 2, 32, Numeric::kSint);
    case F::R32i:
      return one(VK_FORMAT_R32_SINT, 1, 32, Numeric::kSint);
    case F::Rgba16i:
      return one(VK_FORMAT_R16G16B16A16_SINT, 4, 16, Numeric::kSint);
    case F::Rg16i:
      return one(VK_FORMAT_R16G16_SINT, 2, 16, Numeric::kSint);
    case F::R16i:
      return one(VK_FORMAT_R16_SINT, 1, 16, Numeric::kSint);
    case F::Rgba8i:
      return one(VK_FORMAT_R8G8B8A8_SINT, 4, 8, Numeric::kSint);
    case F::Rg8i:
      return one(VK_FORMAT_R8G8_SINT, 2, 8, Numeric::kSint);
    case F::R8i:
      return one(VK_FORMAT_R8_SINT, 1, 8, Numeric::kSint);
    case F::Unknown:
      break;
    default:
      return {};
  }
  if (kind == ir::Kind::kF32)
    return {layoutOf(VK_FORMAT_R8G8B8A8_UNORM, 4, 8, Numeric::kUnorm),
            layoutOf(VK_FORMAT_R8_UNORM, 1, 8, Numeric::kUnorm),
            layoutOf(VK_FORMAT_R16G16B16A16_SFLOAT, 4, 16, Numeric::kFloat),
            layoutOf(VK_FORMAT_R32G32B32A32_SFLOAT, 4, 32, Numeric::kFloat),
            layoutOf(VK_FORMAT_R32_SFLOAT, 1, 32, Numeric::kFloat)};
  if (kind == ir::Kind::kI32) return {layoutOf(VK_FORMAT_R32_UINT, 1, 32, Numeric::kUint)};
  return {};
}

}  // namespace pumice::shader::codegen
