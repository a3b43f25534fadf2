#include "icd/objects/image.h"

#include <algorithm>
#include <cstring>

#include "backend/abi/memory_map.h"
#include "backend/formats/format_table.h"
#include "backend/trace/log.h"
#include "gen/entrypoints.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/device.h"
#include "icd/objects/device_memory.h"
#include "icd/objects/pnext.h"
#include "icd/objects/status_result.h"
#include "icd/wsi/swapchain.h"

namespace pumice::icd {
namespace {

uint64_t alignUp(uint64_t n) {
  return (n + abi::kResourceAlignBytes - 1) & ~(abi::kResourceAlignBytes - 1);
}

VkImageAspectFlagBits planeAspectOf(const void* chain) {
  const auto* plane = findInChain<VkImagePlaneMemoryRequirementsInfo>(chain);
  return plane != nullptr ? plane->planeAspect : VkImageAspectFlagBits{};
}

void fillDedicated(VkMemoryRequirements2* out) {
  if (auto* dedicated = findInChain<VkMemoryDedicatedRequirements>(out->pNext)) {
    dedicated->prefersDedicatedAllocation = VK_FALSE;
    dedicated->requiresDedicatedAllocation = VK_FALSE;
  }
}

}  // namespace

ImageForm::ImageForm(const VkImageCreateInfo& info)
    : type(info.imageType),
      format(info.format),
      extent(info.extent),
      levelCount(std::min(info.mipLevels, abi::kMaxImageLevels)),
      layerCount(info.arrayLayers),
      sampleCount(static_cast<uint32_t>(info.samples)),
      flags(info.flags),
      transient((info.usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) != 0) {
  const formats::FormatInfo& whole = formats::formatInfo(info.format);
  const auto* stencilUsage = findInChain<VkImageStencilUsageCreateInfo>(info.pNext);
  planeCount = whole.planeCount;
  for (uint32_t p = 0; p < planeCount; ++p) {
    ImagePlane& plane = planes[p];
    plane.format = whole.planes[p].format;
    plane.width = extent.width / std::max<uint32_t>(whole.planes[p].widthDivisor, 1);
    plane.height = extent.height / std::max<uint32_t>(whole.planes[p].heightDivisor, 1);
    const formats::FormatInfo& texel = formats::formatInfo(plane.format);
    formats::ImageShape shape;
    shape.type = info.imageType;
    shape.width = plane.width;
    shape.height = plane.height;
    shape.depth = extent.depth;
    shape.levelCount = levelCount;
    shape.layerCount = layerCount;
    shape.sampleCount = sampleCount;
    shape.elementBytes = texel.blockBytes;
    shape.elementWidth = texel.blockExtent[0];
    shape.elementHeight = texel.blockExtent[1];
    shape.elementDepth = texel.blockExtent[2];
    shape.tiling = info.tiling;
    shape.usage = stencilUsage != nullptr && formats::hasStencil(texel) ? stencilUsage->stencilUsage : info.usage;
    tooLarge = tooLarge || !formats::computeLayout(shape, &plane.layout);
    if (!disjoint()) plane.offset_B = size_B;
    size_B += plane.layout.size_B;
  }
}

void ImageForm::requirements(VkImageAspectFlagBits planeAspect, VkMemoryRequirements* out) const {
  uint64_t bytes = size_B;
  if (disjoint() && planeAspect != 0) bytes = planes[formats::aspectPlane(format, planeAspect)].layout.size_B;
  // An image that no memory can hold asks for more than there is: allocating that much fails.
  out->size = tooLarge ? 2 * formats::kMaxImageBytes : alignUp(bytes);
  out->alignment = abi::kResourceAlignBytes;
  out->memoryTypeBits = 1u << kMemoryTypeUnified | (transient ? 1u << kMemoryTypeLazy : 0);
}

Image::~Image() {
  device_.gpu().free(table_);
}

VkResult Image::init(const VkImageCreateInfo& info) {
  form_ = ImageForm(info);
  if (form_.planeCount == 0) {
    PUMICE_ERROR("icd", "vkCreateImage: format %d is not known", info.format);
    return VK_ERROR_FORMAT_NOT_SUPPORTED;
  }
  if (form_.tooLarge) {
    PUMICE_WARNING("icd", "vkCreateImage: %u x %u x %u texels of format %d are more than an image may have",
                   info.extent.width, info.extent.height, info.extent.depth, info.format);
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  kmd::AllocationInfo wish;
  wish.size_B = tableOffset_B(form_.planeCount);
  wish.zero = false;
  const VkResult result = toResult(device_.gpu().allocate(wish, &table_));
  if (result != VK_SUCCESS) return result;
  for (uint32_t p = 0; p < form_.planeCount; ++p) {
    std::memcpy(reinterpret_cast<void*>(levelTable(p)), plane(p).layout.levels,
                form_.levelCount * sizeof(abi::ImageLevel));
  }
  return VK_SUCCESS;
}

uint64_t Image::tableOffset_B(uint32_t plane) const {
  return uint64_t{plane} * form_.levelCount * sizeof(abi::ImageLevel);
}

void Image::bind(const DeviceMemory& memory, VkDeviceSize offset, VkImageAspectFlags aspect) {
  const uint64_t first = memory.address() + offset;
  if (aspect != 0 && form_.disjoint()) {
    address_[formats::aspectPlane(form_.format, static_cast<VkImageAspectFlagBits>(aspect))] = first;
    return;
  }
  bindTo(first);
}

void Image::bindTo(uint64_t address) {
  for (uint32_t p = 0; p < form_.planeCount; ++p) address_[p] = address + plane(p).offset_B;
}

abi::Surface Image::surface(uint32_t planeIndex, uint32_t level, uint32_t firstSlice) const {
  const formats::PlaneLayout& layout = plane(planeIndex).layout;
  abi::Surface out{};
  out.slicePitch_B = form_.type == VK_IMAGE_TYPE_3D ? layout.slicePitch_B(level) : layout.layerPitch_B;
  out.address = address_[planeIndex] + layout.levels[level].offset_B + firstSlice * out.slicePitch_B;
  out.rowPitch_B = layout.levels[level].rowPitch_B;
  out.samplePitch_B = layout.samplePitch_B(level);
  out.elementBytes = layout.kind.elementBytes;
  out.order = layout.kind.order;
  out.sampleCount = static_cast<uint8_t>(form_.sampleCount);
  out.blockPitch_B = layout.blockPitch_B();
  return out;
}

VkExtent3D Image::levelExtent(uint32_t planeIndex, uint32_t level) const {
  const ImagePlane& p = plane(planeIndex);
  return {std::max(p.width >> level, 1u), std::max(p.height >> level, 1u), std::max(form_.extent.depth >> level, 1u)};
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateImage(VkDevice device, const VkImageCreateInfo* pCreateInfo,
                                             const VkAllocationCallbacks* pAllocator, VkImage* pImage) {
  return Image::create(pAllocator, pImage, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyImage(VkDevice, VkImage image, const VkAllocationCallbacks* pAllocator) {
  Image::destroy(image, pAllocator);
}

VKAPI_ATTR void VKAPI_CALL vkGetImageMemoryRequirements(VkDevice, VkImage image,
                                                        VkMemoryRequirements* pMemoryRequirements) {
  Image::from(image)->form().requirements(VkImageAspectFlagBits{}, pMemoryRequirements);
}

VKAPI_ATTR void VKAPI_CALL vkGetImageMemoryRequirements2(VkDevice, const VkImageMemoryRequirementsInfo2* pInfo,
                                                         VkMemoryRequirements2* pMemoryRequirements) {
  Image::from(pInfo->image)->form().requirements(planeAspectOf(pInfo->pNext), &pMemoryRequirements->memoryRequirements);
  fillDedicated(pMemoryRequirements);
}

VKAPI_ATTR void VKAPI_CALL vkGetDeviceImageMemoryRequirements(VkDevice, const VkDeviceImageMemoryRequirements* pInfo,
                                                              VkMemoryRequirements2* pMemoryRequirements) {
  ImageForm(*pInfo->pCreateInfo).requirements(pInfo->planeAspect, &pMemoryRequirements->memoryRequirements);
  fillDedicated(pMemoryRequirements);
}

VKAPI_ATTR VkResult VKAPI_CALL vkBindImageMemory(VkDevice, VkImage image, VkDeviceMemory memory,
                                                 VkDeviceSize memoryOffset) {
  Image::from(image)->bind(*DeviceMemory::from(memory), memoryOffset, 0);
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkBindImageMemory2(VkDevice, uint32_t bindInfoCount,
                                                  const VkBindImageMemoryInfo* pBindInfos) {
  for (uint32_t i = 0; i < bindInfoCount; ++i) {
    const auto* swapchain = findInChain<VkBindImageMemorySwapchainInfoKHR>(pBindInfos[i].pNext);
    if (swapchain != nullptr && swapchain->swapchain != VK_NULL_HANDLE) {
      Image::from(pBindInfos[i].image)
          ->bindTo(Swapchain::from(swapchain->swapchain)->imageAddress(swapchain->imageIndex));
      continue;
    }
    const auto* plane = findInChain<VkBindImagePlaneMemoryInfo>(pBindInfos[i].pNext);
    Image::from(pBindInfos[i].image)
        ->bind(*DeviceMemory::from(pBindInfos[i].memory), pBindInfos[i].memoryOffset,
               plane != nullptr ? VkImageAspectFlags{plane->planeAspect} : 0);
  }
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL vkGetImageSubresourceLayout(VkDevice, VkImage image, const VkImageSubresource* pSubresource,
                                                       VkSubresourceLayout* pLayout) {
  const Image& self = *Image::from(image);
  const ImageForm& form = self.form();
  const ImagePlane& plane =
      self.plane(formats::aspectPlane(form.format, static_cast<VkImageAspectFlagBits>(pSubresource->aspectMask)));
  const abi::ImageLevel& level = plane.layout.levels[pSubresource->mipLevel];
  const uint64_t slice_B = plane.layout.slicePitch_B(pSubresource->mipLevel);
  const uint32_t depth = form.type == VK_IMAGE_TYPE_3D ? std::max(form.extent.depth >> pSubresource->mipLevel, 1u) : 1;
  pLayout->offset = plane.offset_B + pSubresource->arrayLayer * plane.layout.layerPitch_B + level.offset_B;
  pLayout->size = slice_B * depth;
  pLayout->rowPitch = level.rowPitch_B;
  pLayout->arrayPitch = plane.layout.layerPitch_B;
  pLayout->depthPitch = slice_B;
}

// No image is sparse.
VKAPI_ATTR void VKAPI_CALL vkGetImageSparseMemoryRequirements(VkDevice, VkImage, uint32_t* pCount,
                                                              VkSparseImageMemoryRequirements*) {
  *pCount = 0;
}

VKAPI_ATTR void VKAPI_CALL vkGetImageSparseMemoryRequirements2(VkDevice, const VkImageSparseMemoryRequirementsInfo2*,
                                                               uint32_t* pCount, VkSparseImageMemoryRequirements2*) {
  *pCount = 0;
}

VKAPI_ATTR void VKAPI_CALL vkGetDeviceImageSparseMemoryRequirements(VkDevice, const VkDeviceImageMemoryRequirements*,
                                                                    uint32_t* pCount,
                                                                    VkSparseImageMemoryRequirements2*) {
  *pCount = 0;
}

}  // namespace pumice::icd
