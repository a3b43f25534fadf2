#include "icd/objects/format_features.h"

#include <algorithm>
#include <bit>

#include "backend/formats/attachment_formats.h"
#include "backend/formats/block_decode.h"
#include "backend/formats/format_table.h"
#include "backend/formats/image_layout.h"
#include "backend/formats/texel_codec.h"
#include "backend/texture/texel_format.h"
#include "gen/entrypoints.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/external_memory.h"
#include "icd/objects/pnext.h"

namespace pumice::icd {
namespace {

using formats::Compression;
using formats::FormatInfo;

constexpr VkFormatFeatureFlags2 kTransfer = VK_FORMAT_FEATURE_2_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_2_TRANSFER_DST_BIT;

// Scaled formats are for vertices. Their images exist for views of other formats, and can be copied from.
bool isScaled(const FormatInfo& info) {
  const formats::NumericFormat numeric = info.components[0].numeric;
  return numeric == formats::NumericFormat::kUscaled || numeric == formats::NumericFormat::kSscaled;
}

// Copies move blocks as they are, so that nothing of a format but its sizes need be understood.
bool canTransfer(const FormatInfo& info) {
  return formats::isKnown(info) && info.compression != Compression::kPvrtc && info.compression != Compression::kAstcHdr;
}

// What filters do with floats. Cubic ones are not for depth.
VkFormatFeatureFlags2 colorFilters(const FormatInfo& info) {
  const bool color = formats::formatAspects(info) == VK_IMAGE_ASPECT_COLOR_BIT;
  if (!color || formats::texelType(info) != formats::TexelType::kFloat) return 0;
  return VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_LINEAR_BIT | VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_CUBIC_BIT_EXT;
}

// Blits work with four numbers of 32 bits a texel, and do not convert from Y'CbCr. Compressed blocks are only read.
VkFormatFeatureFlags2 blitFeatures(const FormatInfo& info) {
  if (formats::isMultiPlanar(info) || info.chroma != formats::Chroma::kNone) return 0;
  if (formats::blockCodec(info.format)) return VK_FORMAT_FEATURE_2_BLIT_SRC_BIT | colorFilters(info);
  for (uint32_t p = 0; p < info.planeCount; ++p) {
    const formats::TexelCodec codec = formats::texelCodec(info.planes[p].format);
    if (!codec || codec.channelBytes != 4) return 0;
  }
  return VK_FORMAT_FEATURE_2_BLIT_SRC_BIT | VK_FORMAT_FEATURE_2_BLIT_DST_BIT | colorFilters(info);
}

// Formats of GLSL's format qualifiers (SPIR-V, "Image Format"), and blue before red, which accesses without a format
// reach.
bool isStorage(VkFormat format) {
  switch (format) {
    case VK_FORMAT_R8_UNORM:
    case VK_FORMAT_R8_SNORM:
    case VK_FORMAT_R8_UINT:
    case VK_FORMAT_R8_SINT:
    case VK_FORMAT_R8G8_UNORM:
    case VK_FORMAT_R8G8_SNORM:
    case VK_FORMAT_R8G8_UINT:
    case VK_FORMAT_R8G8_SINT:
    case VK_FORMAT_R8G8B8A8_UNORM:
    case VK_FORMAT_R8G8B8A8_SNORM:
    case VK_FORMAT_R8G8B8A8_UINT:
    case VK_FORMAT_R8G8B8A8_SINT:
    case VK_FORMAT_A8B8G8R8_UNORM_PACK32:
    case VK_FORMAT_A8B8G8R8_SNORM_PACK32:
    case VK_FORMAT_A8B8G8R8_UINT_PACK32:
    case VK_FORMAT_A8B8G8R8_SINT_PACK32:
    case VK_FORMAT_B8G8R8A8_UNORM:
    case VK_FORMAT_A2B10G10R10_UNORM_PACK32:
    case VK_FORMAT_A2B10G10R10_UINT_PACK32:
    case VK_FORMAT_B10G11R11_UFLOAT_PACK32:
    case VK_FORMAT_R16_UNORM:
    case VK_FORMAT_R16_SNORM:
    case VK_FORMAT_R16_UINT:
    case VK_FORMAT_R16_SINT:
    case VK_FORMAT_R16_SFLOAT:
    case VK_FORMAT_R16G16_UNORM:
    case VK_FORMAT_R16G16_SNORM:
    case VK_FORMAT_R16G16_UINT:
    case VK_FORMAT_R16G16_SINT:
    case VK_FORMAT_R16G16_SFLOAT:
    case VK_FORMAT_R16G16B16A16_UNORM:
    case VK_FORMAT_R16G16B16A16_SNORM:
    case VK_FORMAT_R16G16B16A16_UINT:
    case VK_FORMAT_R16G16B16A16_SINT:
    case VK_FORMAT_R16G16B16A16_SFLOAT:
    case VK_FORMAT_R32_UINT:
    case VK_FORMAT_R32_SINT:
    case VK_FORMAT_R32_SFLOAT:
    case VK_FORMAT_R32G32_UINT:
    case VK_FORMAT_R32G32_SINT:
    case VK_FORMAT_R32G32_SFLOAT:
    case VK_FORMAT_R32G32B32A32_UINT:
    case VK_FORMAT_R32G32B32A32_SINT:
    case VK_FORMAT_R32G32B32A32_SFLOAT:
      return true;
    default:
      return false;
  }
}

// Images of 64-bit integers are for storage alone.
bool is64BitStorage(VkFormat format) {
  return format == VK_FORMAT_R64_UINT || format == VK_FORMAT_R64_SINT;
}

bool hasAtomics(VkFormat format) {
  return format == VK_FORMAT_R32_UINT || format == VK_FORMAT_R32_SINT || format == VK_FORMAT_R32_SFLOAT ||
         is64BitStorage(format);
}

constexpr VkFormatFeatureFlags2 kStorageWithoutFormat =
    VK_FORMAT_FEATURE_2_STORAGE_READ_WITHOUT_FORMAT_BIT | VK_FORMAT_FEATURE_2_STORAGE_WRITE_WITHOUT_FORMAT_BIT;

// Whether the texture unit makes numbers of the texels of a view of this format.
bool canRead(const FormatInfo& info) {
  if (formats::isMultiPlanar(info) || info.chroma != formats::Chroma::kNone) return false;
  const texture::TexelFormat& texels = texture::texelFormat(texture::texelFormatIndex(info.planes[0].format));
  return texels.kind != texture::TexelKind::kNone && texels.kind != texture::TexelKind::kWide;
}

// Y'CbCr formats are read through a sampler's conversion alone.
constexpr VkFormatFeatureFlags2 kConversion =
    VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT | VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_LINEAR_BIT |
    VK_FORMAT_FEATURE_2_MIDPOINT_CHROMA_SAMPLES_BIT | VK_FORMAT_FEATURE_2_COSITED_CHROMA_SAMPLES_BIT |
    VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER_BIT |
    VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER_BIT |
    VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE_BIT;

// What shaders do with views.
VkFormatFeatureFlags2 shaderFeatures(const FormatInfo& info) {
  if (is64BitStorage(info.format)) {
    return VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT | VK_FORMAT_FEATURE_2_STORAGE_IMAGE_ATOMIC_BIT | kStorageWithoutFormat;
  }
  if (info.chroma != formats::Chroma::kNone) return kConversion;
  if (!canRead(info)) return 0;
  VkFormatFeatureFlags2 features = VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT | colorFilters(info);
  if (formats::texelType(info) == formats::TexelType::kFloat) {
    features |=
        VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_LINEAR_BIT | VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_MINMAX_BIT;
  }
  if (formats::hasDepth(info)) features |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_DEPTH_COMPARISON_BIT;
  if (isStorage(info.format)) {
    features |= VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT | kStorageWithoutFormat;
  }
  if (hasAtomics(info.format)) features |= VK_FORMAT_FEATURE_2_STORAGE_IMAGE_ATOMIC_BIT;
  return features;
}

// What passes over tiles do in place (docs/graphics.md).
VkFormatFeatureFlags2 attachmentFeatures(const FormatInfo& info) {
  if (formats::isDepthStencilAttachmentFormat(info.format)) return VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT;
  if (!formats::isColorAttachmentFormat(info.format)) return 0;
  VkFormatFeatureFlags2 features = VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT;
  if (formats::isBlendableFormat(info.format)) features |= VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BLEND_BIT;
  return features;
}

// Whatever has texels of one to four components that are numbers.
VkFormatFeatureFlags2 vertexFeatures(const FormatInfo& info) {
  const bool plain = formats::isKnown(info) && info.planeCount == 1 && !formats::isCompressed(info) &&
                     info.chroma == formats::Chroma::kNone && info.sharedExponentBits == 0 && !formats::isSrgb(info) &&
                     formats::formatAspects(info) == VK_IMAGE_ASPECT_COLOR_BIT;
  return plain && formats::texelCodec(info.format) ? VK_FORMAT_FEATURE_2_VERTEX_BUFFER_BIT : 0;
}

VkFormatFeatureFlags2 bufferFeatures(const FormatInfo& info) {
  if (is64BitStorage(info.format)) {
    return VK_FORMAT_FEATURE_2_UNIFORM_TEXEL_BUFFER_BIT | VK_FORMAT_FEATURE_2_STORAGE_TEXEL_BUFFER_BIT |
           VK_FORMAT_FEATURE_2_STORAGE_TEXEL_BUFFER_ATOMIC_BIT | kStorageWithoutFormat;
  }
  if (!canRead(info) || formats::isCompressed(info)) return 0;
  if (formats::formatAspects(info) != VK_IMAGE_ASPECT_COLOR_BIT) return 0;
  VkFormatFeatureFlags2 features = VK_FORMAT_FEATURE_2_UNIFORM_TEXEL_BUFFER_BIT;
  if (isStorage(info.format)) {
    features |= VK_FORMAT_FEATURE_2_STORAGE_TEXEL_BUFFER_BIT | kStorageWithoutFormat;
  }
  if (hasAtomics(info.format)) features |= VK_FORMAT_FEATURE_2_STORAGE_TEXEL_BUFFER_ATOMIC_BIT;
  return features;
}

// The bits of the first structure: higher ones exist in VkFormatFeatureFlags2 alone.
VkFormatFeatureFlags oldBits(VkFormatFeatureFlags2 features) {
  return static_cast<VkFormatFeatureFlags>(features & 0x7fffffffu);
}

void fill(VkFormat format, VkFormatProperties* out) {
  const FormatFeatures features = formatFeatures(format);
  *out = {oldBits(features.linear), oldBits(features.optimal), oldBits(features.buffer)};
}

struct UsageFeature {
  VkImageUsageFlags usage;
  VkFormatFeatureFlags2 features;  // one of them
};
constexpr UsageFeature kUsageFeatures[] = {
    {VK_IMAGE_USAGE_TRANSFER_SRC_BIT, VK_FORMAT_FEATURE_2_TRANSFER_SRC_BIT},
    {VK_IMAGE_USAGE_TRANSFER_DST_BIT, VK_FORMAT_FEATURE_2_TRANSFER_DST_BIT},
    {VK_IMAGE_USAGE_SAMPLED_BIT, VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT},
    {VK_IMAGE_USAGE_STORAGE_BIT, VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT},
    {VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT},
    {VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT},
    {VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT,
     VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT},
    {VK_IMAGE_USAGE_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT,
     VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT},
    {VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT,
     VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT},
};

bool usageFits(VkImageUsageFlags usage, VkFormatFeatureFlags2 features, bool extended) {
  VkImageUsageFlags known = 0;
  for (const UsageFeature& u : kUsageFeatures) {
    known |= u.usage;
    // A view of another format may have what this one has not.
    if ((usage & u.usage) != 0 && (features & u.features) == 0 && !extended) return false;
  }
  return (usage & ~known) == 0;
}

constexpr VkImageCreateFlags kFlags =
    VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT | VK_IMAGE_CREATE_ALIAS_BIT |
    VK_IMAGE_CREATE_SPLIT_INSTANCE_BIND_REGIONS_BIT | VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT |
    VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT |
    VK_IMAGE_CREATE_DISJOINT_BIT | VK_IMAGE_CREATE_2D_VIEW_COMPATIBLE_BIT_EXT;

bool flagsFit(VkImageCreateFlags flags, const FormatInfo& info, VkImageType type, VkFormatFeatureFlags2 features) {
  if ((flags & ~kFlags) != 0) return false;
  if ((flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) != 0 && type != VK_IMAGE_TYPE_2D) return false;
  constexpr VkImageCreateFlags kVolumes =
      VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT | VK_IMAGE_CREATE_2D_VIEW_COMPATIBLE_BIT_EXT;
  if ((flags & kVolumes) != 0 && type != VK_IMAGE_TYPE_3D) return false;
  if ((flags & VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT) != 0 && !formats::isCompressed(info)) return false;
  if ((flags & VK_IMAGE_CREATE_DISJOINT_BIT) != 0 && (features & VK_FORMAT_FEATURE_2_DISJOINT_BIT) == 0) return false;
  return true;
}

// Cubes and volumes have none.
VkBool32 hasCubicFilter(const VkPhysicalDeviceImageFormatInfo2& info, VkImageViewType view) {
  const FormatFeatures all = formatFeatures(info.format);
  const VkFormatFeatureFlags2 features = info.tiling == VK_IMAGE_TILING_LINEAR ? all.linear : all.optimal;
  const bool flat = view == VK_IMAGE_VIEW_TYPE_1D || view == VK_IMAGE_VIEW_TYPE_1D_ARRAY ||
                    view == VK_IMAGE_VIEW_TYPE_2D || view == VK_IMAGE_VIEW_TYPE_2D_ARRAY;
  return flat && (features & VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_CUBIC_BIT_EXT) != 0;
}

VkSampleCountFlags sampleCounts(VkImageType type, VkImageTiling tiling, VkImageCreateFlags flags,
                                VkFormatFeatureFlags2 features) {
  constexpr VkFormatFeatureFlags2 kAttachment =
      VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT;
  const bool many = tiling == VK_IMAGE_TILING_OPTIMAL && type == VK_IMAGE_TYPE_2D &&
                    (flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) == 0 && (features & kAttachment) != 0;
  return many ? kSampleCounts : VkSampleCountFlags{VK_SAMPLE_COUNT_1_BIT};
}

}  // namespace

FormatFeatures formatFeatures(VkFormat format) {
  const FormatInfo& info = formats::formatInfo(format);
  FormatFeatures out;
  out.buffer = vertexFeatures(info);
  if (!canTransfer(info)) return out;
  if (isScaled(info)) {
    out.linear = out.optimal = VK_FORMAT_FEATURE_2_TRANSFER_SRC_BIT;
    return out;
  }
  out.optimal = kTransfer | blitFeatures(info) | shaderFeatures(info);
  out.buffer |= bufferFeatures(info);
  if (formats::isMultiPlanar(info)) out.optimal |= VK_FORMAT_FEATURE_2_DISJOINT_BIT;
  const bool depthStencil = formats::hasDepth(info) || formats::hasStencil(info);
  if (!depthStencil) out.linear = out.optimal;
  out.optimal |= attachmentFeatures(info);  // tiles work on blocks, not on rows
  return out;
}

VkResult imageFormatProperties(VkFormat format, VkImageType type, VkImageTiling tiling, VkImageUsageFlags usage,
                               VkImageCreateFlags flags, VkImageFormatProperties* out) {
  *out = {};
  const FormatInfo& info = formats::formatInfo(format);
  const FormatFeatures all = formatFeatures(format);
  const VkFormatFeatureFlags2 features = tiling == VK_IMAGE_TILING_LINEAR    ? all.linear
                                         : tiling == VK_IMAGE_TILING_OPTIMAL ? all.optimal
                                                                             : 0;
  if (features == 0 || !usageFits(usage, features, (flags & VK_IMAGE_CREATE_EXTENDED_USAGE_BIT) != 0) ||
      !flagsFit(flags, info, type, features)) {
    return VK_ERROR_FORMAT_NOT_SUPPORTED;
  }
  // Blocks of several rows have no meaning in one dimension; Y'CbCr images are pictures.
  const bool chroma = info.chroma != formats::Chroma::kNone;
  if (type != VK_IMAGE_TYPE_2D && chroma) return VK_ERROR_FORMAT_NOT_SUPPORTED;
  if (type == VK_IMAGE_TYPE_1D && formats::isCompressed(info)) return VK_ERROR_FORMAT_NOT_SUPPORTED;
  switch (type) {
    case VK_IMAGE_TYPE_1D:
      out->maxExtent = {kMaxImageDimension, 1, 1};
      break;
    case VK_IMAGE_TYPE_2D:
      out->maxExtent = {kMaxImageDimension, kMaxImageDimension, 1};
      break;
    default:
      out->maxExtent = {kMaxImageDimension3D, kMaxImageDimension3D, kMaxImageDimension3D};
      break;
  }
  out->maxMipLevels = chroma ? 1 : static_cast<uint32_t>(std::bit_width(out->maxExtent.width));
  out->maxArrayLayers = type == VK_IMAGE_TYPE_3D ? 1 : kMaxImageLayers;
  out->sampleCounts = sampleCounts(type, tiling, flags, features);
  out->maxResourceSize = formats::kMaxImageBytes;
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceFormatProperties(VkPhysicalDevice, VkFormat format,
                                                               VkFormatProperties* pFormatProperties) {
  fill(format, pFormatProperties);
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceFormatProperties2(VkPhysicalDevice, VkFormat format,
                                                                VkFormatProperties2* pFormatProperties) {
  fill(format, &pFormatProperties->formatProperties);
  if (auto* flags = findInChain<VkFormatProperties3>(pFormatProperties->pNext)) {
    const FormatFeatures features = formatFeatures(format);
    flags->linearTilingFeatures = features.linear;
    flags->optimalTilingFeatures = features.optimal;
    flags->bufferFeatures = features.buffer;
  }
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceImageFormatProperties(VkPhysicalDevice, VkFormat format,
                                                                        VkImageType type, VkImageTiling tiling,
                                                                        VkImageUsageFlags usage,
                                                                        VkImageCreateFlags flags,
                                                                        VkImageFormatProperties* pProperties) {
  return imageFormatProperties(format, type, tiling, usage, flags, pProperties);
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceImageFormatProperties2(VkPhysicalDevice,
                                                                         const VkPhysicalDeviceImageFormatInfo2* pInfo,
                                                                         VkImageFormatProperties2* pProperties) {
  const auto* handle = findInChain<VkPhysicalDeviceExternalImageFormatInfo>(pInfo->pNext);
  if (auto* external = findInChain<VkExternalImageFormatProperties>(pProperties->pNext)) {
    external->externalMemoryProperties =
        handle != nullptr ? externalMemoryProperties(handle->handleType) : VkExternalMemoryProperties{};
  }
  if (auto* conversion = findInChain<VkSamplerYcbcrConversionImageFormatProperties>(pProperties->pNext)) {
    conversion->combinedImageSamplerDescriptorCount = 1;
  }
  if (auto* cubic = findInChain<VkFilterCubicImageViewImageFormatPropertiesEXT>(pProperties->pNext)) {
    const auto* view = findInChain<VkPhysicalDeviceImageViewImageFormatInfoEXT>(pInfo->pNext);
    cubic->filterCubic = view != nullptr && hasCubicFilter(*pInfo, view->imageViewType);
    cubic->filterCubicMinmax = cubic->filterCubic;
  }
  VkImageUsageFlags usage = pInfo->usage;
  if (const auto* stencil = findInChain<VkImageStencilUsageCreateInfo>(pInfo->pNext)) usage |= stencil->stencilUsage;
  if (handle != nullptr && handle->handleType != 0 &&
      externalMemoryProperties(handle->handleType).externalMemoryFeatures == 0) {
    pProperties->imageFormatProperties = {};
    return VK_ERROR_FORMAT_NOT_SUPPORTED;
  }
  return imageFormatProperties(pInfo->format, pInfo->type, pInfo->tiling, usage, pInfo->flags,
                               &pProperties->imageFormatProperties);
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceSparseImageFormatProperties(VkPhysicalDevice, VkFormat, VkImageType,
                                                                          VkSampleCountFlagBits, VkImageUsageFlags,
                                                                          VkImageTiling, uint32_t* pPropertyCount,
                                                                          VkSparseImageFormatProperties*) {
  *pPropertyCount = 0;
}

VKAPI_ATTR void VKAPI_CALL
vkGetPhysicalDeviceSparseImageFormatProperties2(VkPhysicalDevice, const VkPhysicalDeviceSparseImageFormatInfo2*,
                                                uint32_t* pPropertyCount, VkSparseImageFormatProperties2*) {
  *pPropertyCount = 0;
}

}  // namespace pumice::icd
