#include "icd/objects/image_view.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/formats/format_table.h"
#include "backend/texture/texel_format.h"
#include "gen/entrypoints.h"
#include "icd/objects/component_mapping.h"
#include "icd/objects/device.h"
#include "icd/objects/image.h"
#include "icd/objects/pnext.h"
#include "icd/objects/status_result.h"

namespace pumice::icd {
namespace {

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

/// Formats that see a 4:2:2 block of four components as two texels, and as one.
struct BlockFormats {
  VkFormat pair, block;
};
BlockFormats blockFormats(uint32_t bits) {
  switch (bits) {
    case 8:
      return {VK_FORMAT_R8G8_UNORM, VK_FORMAT_R8G8B8A8_UNORM};
    case 10:
      return {VK_FORMAT_R10X6G10X6_UNORM_2PACK16, VK_FORMAT_R10X6G10X6B10X6A10X6_UNORM_4PACK16};
    case 12:
      return {VK_FORMAT_R12X4G12X4_UNORM_2PACK16, VK_FORMAT_R12X4G12X4B12X4A12X4_UNORM_4PACK16};
    default:
      return {VK_FORMAT_R16G16_UNORM, VK_FORMAT_R16G16B16A16_UNORM};
  }
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

ImageView::~ImageView() {
  device_.gpu().free(chroma_);
}

VkResult ImageView::init(const VkImageViewCreateInfo& info) {
  image_ = Image::from(info.image);
  format_ = info.format;
  viewType_ = info.viewType;
  range_ = info.subresourceRange;
  const ImageForm& form = image_->form();
  const uint32_t planeIndex = planeOf(form.format, range_.aspectMask);
  const bool slices = form.type == VK_IMAGE_TYPE_3D && viewType_ != VK_IMAGE_VIEW_TYPE_3D;
  range_.levelCount = image_->levelsFrom(range_.baseMipLevel, range_.levelCount);
  // 2D views of a 3D image: what is called layers are slices of the one level.
  range_.layerCount = slices && range_.layerCount == VK_REMAINING_ARRAY_LAYERS
                          ? image_->levelExtent(planeIndex, range_.baseMipLevel).depth - range_.baseArrayLayer
                          : image_->layersFrom(range_.baseArrayLayer, range_.layerCount);
  // What a shader sees is the view's format where it is one of texels, and the aspect's own where it is not.
  const formats::FormatInfo& as = formats::formatInfo(format_);
  descriptor_ = describe(planeIndex, as.planeCount == 1 ? format_ : image_->plane(planeIndex).format);
  descriptor_.swizzle = packMapping(info.components);
  descriptor_.minLod_8 = minLodOf(info);
  // Texels of one plane that have all components to themselves need nothing more.
  const bool whole = as.planeCount == 1 && as.chroma == formats::Chroma::k444;
  if (as.chroma != formats::Chroma::kNone && !whole) return addChroma(as);
  abi::setPlainRows(descriptor_, image_->plane(planeIndex).layout.levels[range_.baseMipLevel]);
  return VK_SUCCESS;
}

/// One plane, its texels in a format of the same size.
abi::ImageDescriptor ImageView::describe(uint32_t planeIndex, VkFormat texels) const {
  const ImageForm& form = image_->form();
  const ImagePlane& plane = image_->plane(planeIndex);
  const bool slices = form.type == VK_IMAGE_TYPE_3D && viewType_ != VK_IMAGE_VIEW_TYPE_3D;
  const VkExtent3D extent = image_->levelExtent(planeIndex, range_.baseMipLevel);
  // Level offsets count from the first layer. A slice of a 3D image stands for one, of the view's only level.
  const formats::PlaneLayout& layout = plane.layout;
  const uint64_t pitch_B = slices ? layout.slicePitch_B(range_.baseMipLevel) : layout.layerPitch_B;
  abi::ImageDescriptor d{};
  d.address = image_->address(planeIndex) + range_.baseArrayLayer * pitch_B;
  d.layerPitch_B = pitch_B;
  d.levelTable = image_->levelTable(planeIndex) + range_.baseMipLevel * sizeof(abi::ImageLevel);
  // An uncompressed view of a compressed image has one texel per block.
  const formats::FormatInfo& of = formats::formatInfo(plane.format);
  const bool blocksAsTexels = formats::isCompressed(of) && !formats::isCompressed(formats::formatInfo(format_));
  d.width = blocksAsTexels ? divideUp(extent.width, of.blockExtent[0]) : extent.width;
  d.height = blocksAsTexels ? divideUp(extent.height, of.blockExtent[1]) : extent.height;
  d.depthOrLayers = viewType_ == VK_IMAGE_VIEW_TYPE_3D ? extent.depth : range_.layerCount;
  d.viewClass = abi::makeViewClass(shapeOf(viewType_), layout.kind.order == abi::BlockOrder::kQuadMajor4,
                                   texture::texelFormatIndex(texels));
  d.levelCount = static_cast<uint8_t>(range_.levelCount);
  d.samples_log2 = static_cast<uint8_t>(std::countr_zero(form.sampleCount));
  d.samplePitch_B = layout.samplePitch_B(range_.baseMipLevel);
  d.swizzle = abi::kIdentitySwizzle;
  return d;
}

/// Of a view that is sampled with a Y'CbCr conversion.
VkResult ImageView::addChroma(const formats::FormatInfo& as) {
  kmd::AllocationInfo wish;
  wish.size_B = sizeof(abi::ChromaPlanes);
  wish.zero = false;
  const VkResult result = toResult(device_.gpu().allocate(wish, &chroma_));
  if (result != VK_SUCCESS) return result;
  abi::ChromaPlanes planes{};
  if (as.planeCount > 1) {
    for (uint32_t p = 1; p < as.planeCount; ++p) planes.plane[p - 1] = describe(p, image_->plane(p).format);
  } else {
    // 4:2:2 in one plane: pairs of components are luma's texels, blocks are chroma's.
    using enum abi::Swizzle;
    const bool greenFirst = as.components[0].name == formats::ComponentName::kG;
    const BlockFormats texels = blockFormats(as.components[0].bits);
    descriptor_ = describe(0, texels.pair);
    descriptor_.swizzle = abi::packSwizzle(greenFirst ? kRed : kGreen, kZero, kZero, kOne);
    abi::ImageDescriptor& chroma = planes.plane[0];
    chroma = describe(0, texels.block);
    chroma.width /= 2;
    chroma.swizzle = greenFirst ? abi::packSwizzle(kGreen, kAlpha, kZero, kOne)  // G B G R
                                : abi::packSwizzle(kRed, kBlue, kZero, kOne);    // B G R G
  }
  descriptor_.chroma = kmd::allocationAddress(chroma_);
  std::memcpy(reinterpret_cast<void*>(descriptor_.chroma), &planes, sizeof planes);
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
