#include "icd/objects/image_view.h"

#include <algorithm>
#include <bit>

#include "backend/formats/format_table.h"
#include "backend/texture/texel_format.h"
#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/image.h"
#include "icd/objects/pnext.h"

namespace pumice::icd {
namespace {

abi::Swizzle source(VkComponentSwizzle s, abi::Swizzle identity) {
  switch (s) {
    case VK_COMPONENT_SWIZZLE_ZERO:
      return abi::Swizzle::kZero;
    case VK_COMPONENT_SWIZZLE_ONE:
      return abi::Swizzle::kOne;
    case VK_COMPONENT_SWIZZLE_R:
      return abi::Swizzle::kRed;
    case VK_COMPONENT_SWIZZLE_G:
      return abi::Swizzle::kGreen;
    case VK_COMPONENT_SWIZZLE_B:
      return abi::Swizzle::kBlue;
    case VK_COMPONENT_SWIZZLE_A:
      return abi::Swizzle::kAlpha;
    default:
      return identity;
  }
}

uint16_t swizzleOf(const VkComponentMapping& map) {
  const abi::Swizzle all[] = {source(map.r, abi::Swizzle::kRed), source(map.g, abi::Swizzle::kGreen),
                              source(map.b, abi::Swizzle::kBlue), source(map.a, abi::Swizzle::kAlpha)};
  uint32_t packed = 0;
  for (uint32_t i = 0; i < 4; ++i) packed |= static_cast<uint32_t>(all[i]) << (3 * i);
  return static_cast<uint16_t>(packed);
}

abi::ViewShape shapeOf(VkImageViewType type) {
  switch (type) {
    case VK_IMAGE_VIEW_TYPE_1D:
    case VK_IMAGE_VIEW_TYPE_1D_ARRAY:
      return abi::ViewShape::k1D;
    case VK_IMAGE_VIEW_TYPE_3D:
      return abi::ViewShape::k3D;
    case VK_IMAGE_VIEW_TYPE_CUBE:
    case VK_IMAGE_VIEW_TYPE_CUBE_ARRAY:
      return abi::ViewShape::kCube;
    default:
      return abi::ViewShape::k2D;
  }
}

/// VkImageViewMinLodCreateInfoEXT counts from the image's first level, the descriptor from the view's.
uint16_t minLodOf(const VkImageViewCreateInfo& info) {
  const auto* minimum = findInChain<VkImageViewMinLodCreateInfoEXT>(info.pNext);
  if (minimum == nullptr) return 0;
  const float levels = minimum->minLod - static_cast<float>(info.subresourceRange.baseMipLevel);
  return static_cast<uint16_t>(std::clamp(levels, 0.0f, static_cast<float>(abi::kMaxImageLevels)) * 256 + 0.5f);
}

uint32_t divideUp(uint32_t n, uint32_t by) {
  return (n + by - 1) / by;
}

/// The plane that a shader reads through the view: the only one that its aspects name. A view of depth and stencil at
/// once can only be an attachment; its descriptor is that of depth.
uint32_t planeOf(VkFormat imageFormat, VkImageAspectFlags aspects) {
  return formats::aspectPlane(imageFormat, static_cast<VkImageAspectFlagBits>(aspects & (~aspects + 1)));
}

}  // namespace

VkResult ImageView::init(const VkImageViewCreateInfo& info) {
  image_ = Image::from(info.image);
  format_ = info.format;
  viewType_ = info.viewType;
  range_ = info.subresourceRange;
  const ImageForm& form = image_->form();
  const uint32_t planeIndex = planeOf(form.format, range_.aspectMask);
  const ImagePlane& plane = image_->plane(planeIndex);
  const bool slices = form.type == VK_IMAGE_TYPE_3D && viewType_ != VK_IMAGE_VIEW_TYPE_3D;
  range_.levelCount = image_->levelsFrom(range_.baseMipLevel, range_.levelCount);
  const VkExtent3D extent = image_->levelExtent(planeIndex, range_.baseMipLevel);
  // 2D views of a 3D image: what is called layers are slices of the one level.
  range_.layerCount = slices && range_.layerCount == VK_REMAINING_ARRAY_LAYERS
                          ? extent.depth - range_.baseArrayLayer
                          : image_->layersFrom(range_.baseArrayLayer, range_.layerCount);

  // Level offsets count from the first layer. A slice of a 3D image stands for one, of the view's only level.
  const formats::PlaneLayout& layout = plane.layout;
  const uint64_t pitch_B = slices ? layout.slicePitch_B(range_.baseMipLevel) : layout.layerPitch_B;
  abi::ImageDescriptor& d = descriptor_;
  d.address = image_->address(planeIndex) + range_.baseArrayLayer * pitch_B;
  d.layerPitch_B = pitch_B;
  d.levelTable = image_->levelTable(planeIndex) + range_.baseMipLevel * sizeof(abi::ImageLevel);
  // An uncompressed view of a compressed image has one texel per block.
  const formats::FormatInfo& of = formats::formatInfo(plane.format);
  const formats::FormatInfo& as = formats::formatInfo(format_);
  const bool blocksAsTexels = formats::isCompressed(of) && !formats::isCompressed(as);
  d.width = blocksAsTexels ? divideUp(extent.width, of.blockExtent[0]) : extent.width;
  d.height = blocksAsTexels ? divideUp(extent.height, of.blockExtent[1]) : extent.height;
  d.depthOrLayers = viewType_ == VK_IMAGE_VIEW_TYPE_3D ? extent.depth : range_.layerCount;
  // What a shader sees is the view's format where it is one of texels, and the aspect's own where it is not.
  const VkFormat texels = as.planeCount == 1 ? format_ : plane.format;
  d.viewClass = abi::makeViewClass(shapeOf(viewType_), layout.kind.order == abi::BlockOrder::kQuadMajor4,
                                   texture::texelFormatIndex(texels));
  d.levelCount = static_cast<uint8_t>(range_.levelCount);
  d.samples_log2 = static_cast<uint8_t>(std::countr_zero(form.sampleCount));
  d.samplePitch_B = layout.samplePitch_B(range_.baseMipLevel);
  d.swizzle = swizzleOf(info.components);
  d.minLod_8 = minLodOf(info);
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateImageView(VkDevice device, const VkImageViewCreateInfo* pCreateInfo,
                                                 const VkAllocationCallbacks* pAllocator, VkImageView* pView) {
  return ImageView::create(pAllocator, pView, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyImageView(VkDevice, VkImageView imageView,
                                              const VkAllocationCallbacks* pAllocator) {
  ImageView::destroy(imageView, pAllocator);
}

}  // namespace pumice::icd
