// Copies, clears, blits and resolves of images. Everything is resolved here into addresses, pitches and elements: the
// engine knows no aspect, no compressed block and no mip level.
#include <algorithm>
#include <cstring>

#include "backend/formats/block_decode.h"
#include "backend/formats/format_table.h"
#include "backend/formats/texel_codec.h"
#include "gen/entrypoints.h"
#include "icd/encode/clear_value.h"
#include "icd/objects/buffer.h"
#include "icd/objects/command_buffer.h"
#include "icd/objects/image.h"

namespace pumice::icd {
namespace {

using formats::FormatInfo;

uint32_t divideUp(uint64_t n, uint32_t by) {
  return static_cast<uint32_t>((n + by - 1) / by);
}

// Calls use(aspect) for each bit.
template <typename Use>
void forEachAspect(VkImageAspectFlags aspects, Use&& use) {
  for (; aspects != 0; aspects &= aspects - 1) use(static_cast<VkImageAspectFlagBits>(aspects & (~aspects + 1)));
}

// The plane of an image that an aspect lies in, in elements.
struct AspectPlane {
  const Image& image;
  uint32_t index;
  const FormatInfo& texel;

  AspectPlane(const Image& of, VkImageAspectFlagBits aspect)
      : image(of),
        index(formats::aspectPlane(of.form().format, aspect)),
        texel(formats::formatInfo(of.plane(index).format)) {}

  bool isVolume() const { return image.form().type == VK_IMAGE_TYPE_3D; }
  abi::SurfaceOrigin origin(const VkOffset3D& o) const {
    return {static_cast<uint32_t>(o.x) / texel.blockExtent[0], static_cast<uint32_t>(o.y) / texel.blockExtent[1]};
  }
  uint32_t columns(uint64_t texels) const { return divideUp(texels, texel.blockExtent[0]); }
  uint32_t rows(uint64_t texels) const { return divideUp(texels, texel.blockExtent[1]); }
  // From the first layer, or depth slice, of a region.
  abi::Surface surface(const VkImageSubresourceLayers& layers, const VkOffset3D& offset) const {
    const uint32_t slice = isVolume() ? static_cast<uint32_t>(offset.z) : layers.baseArrayLayer;
    return image.surface(index, layers.mipLevel, slice);
  }
  uint32_t slices(const VkImageSubresourceLayers& layers, const VkExtent3D& extent) const {
    return isVolume() ? extent.depth : image.layersFrom(layers.baseArrayLayer, layers.layerCount);
  }
};

CommandStream& streamOf(VkCommandBuffer commandBuffer) {
  return CommandBuffer::from(commandBuffer)->stream();
}

enum class Direction { kToImage, kToBuffer };

template <typename Region>
void copyBufferImage(VkCommandBuffer commandBuffer, VkBuffer buffer, VkImage image, uint32_t count,
                     const Region* regions, Direction direction) {
  for (uint32_t i = 0; i < count; ++i) {
    const Region& r = regions[i];
    const AspectPlane plane(*Image::from(image), static_cast<VkImageAspectFlagBits>(r.imageSubresource.aspectMask));
    abi::Surface memory{};
    memory.address = Buffer::from(buffer)->address() + r.bufferOffset;
    memory.elementBytes = plane.texel.blockBytes;
    memory.sampleCount = 1;
    memory.rowPitch_B = uint64_t{plane.columns(r.bufferRowLength != 0 ? r.bufferRowLength : r.imageExtent.width)} *
                        plane.texel.blockBytes;
    memory.slicePitch_B =
        memory.rowPitch_B * plane.rows(r.bufferImageHeight != 0 ? r.bufferImageHeight : r.imageExtent.height);
    auto* packet = streamOf(commandBuffer).append<abi::CopyImagePacket>(abi::PacketOp::kCopyImage);
    const bool toImage = direction == Direction::kToImage;
    (toImage ? packet->dst : packet->src) = plane.surface(r.imageSubresource, r.imageOffset);
    (toImage ? packet->src : packet->dst) = memory;
    (toImage ? packet->dstOrigin : packet->srcOrigin) = plane.origin(r.imageOffset);
    (toImage ? packet->srcOrigin : packet->dstOrigin) = {0, 0};
    packet->width = plane.columns(r.imageExtent.width);
    packet->height = plane.rows(r.imageExtent.height);
    packet->sliceCount = plane.slices(r.imageSubresource, r.imageExtent);
    packet->reserved = 0;
  }
}

template <typename Region>
void copyImageAspect(CommandStream& stream, const AspectPlane& src, const AspectPlane& dst, const Region& r) {
  auto* packet = stream.append<abi::CopyImagePacket>(abi::PacketOp::kCopyImage);
  packet->src = src.surface(r.srcSubresource, r.srcOffset);
  packet->dst = dst.surface(r.dstSubresource, r.dstOffset);
  packet->srcOrigin = src.origin(r.srcOffset);
  packet->dstOrigin = dst.origin(r.dstOffset);
  // The extent is in texels of the source; between compressed and uncompressed images blocks are texels.
  packet->width = src.columns(r.extent.width);
  packet->height = src.rows(r.extent.height);
  // Layers on one side may be depth slices on the other.
  packet->sliceCount = src.slices(r.srcSubresource, r.extent);
  packet->reserved = 0;
}

template <typename Region>
void copyImages(VkCommandBuffer commandBuffer, VkImage srcImage, VkImage dstImage, uint32_t count,
                const Region* regions) {
  const Image& src = *Image::from(srcImage);
  const Image& dst = *Image::from(dstImage);
  for (uint32_t i = 0; i < count; ++i) {
    const Region& r = regions[i];
    const VkImageAspectFlags to = r.dstSubresource.aspectMask;
    forEachAspect(r.srcSubresource.aspectMask, [&](VkImageAspectFlagBits from) {
      // Depth and stencil go to the same aspects; a plane may go to a color image, and back.
      const auto same = (to & from) != 0 ? from : static_cast<VkImageAspectFlagBits>(to);
      copyImageAspect(streamOf(commandBuffer), AspectPlane(src, from), AspectPlane(dst, same), r);
    });
  }
}

// ---- clears

void clearRange(CommandStream& stream, const Image& image, VkImageAspectFlagBits aspect,
                const VkImageSubresourceRange& range, const std::byte (&element)[32]) {
  const AspectPlane plane(image, aspect);
  const uint32_t levels = image.levelsFrom(range.baseMipLevel, range.levelCount);
  for (uint32_t level = range.baseMipLevel; level < range.baseMipLevel + levels; ++level) {
    const VkExtent3D extent = image.levelExtent(plane.index, level);
    auto* packet = stream.append<abi::ClearImagePacket>(abi::PacketOp::kClearImage);
    packet->dst = image.surface(plane.index, level, plane.isVolume() ? 0 : range.baseArrayLayer);
    packet->width = extent.width;
    packet->height = extent.height;
    packet->sliceCount = plane.isVolume() ? extent.depth : image.layersFrom(range.baseArrayLayer, range.layerCount);
    packet->reserved = 0;
    std::memcpy(packet->element, element, sizeof element);
  }
}

// ---- blits and resolves

// The engine works with four numbers of 32 bits.
bool canConvert(VkFormat format) {
  const formats::TexelCodec codec = formats::texelCodec(format);
  return codec && codec.channelBytes == 4;
}

void copyCorners(const VkOffset3D (&from)[2], int32_t (&to)[2][3]) {
  for (int i = 0; i < 2; ++i) {
    to[i][0] = from[i].x;
    to[i][1] = from[i].y;
    to[i][2] = from[i].z;
  }
}

// Neither scales nor mirrors: the same texels in another place.
template <typename Region>
bool isPlainCopy(const Region& r) {
  const auto size = [](const VkOffset3D(&c)[2]) {
    return VkOffset3D{c[1].x - c[0].x, c[1].y - c[0].y, c[1].z - c[0].z};
  };
  const VkOffset3D a = size(r.srcOffsets), b = size(r.dstOffsets);
  return a.x == b.x && a.y == b.y && a.z == b.z && a.x > 0 && a.y > 0 && a.z > 0;
}

template <typename Region>
void blitAspect(CommandStream& stream, const Image& src, const Image& dst, VkImageAspectFlagBits aspect,
                const Region& r, VkFilter filter) {
  const AspectPlane from(src, aspect), to(dst, aspect);
  if (from.texel.format == to.texel.format && isPlainCopy(r)) {
    VkImageCopy copy{r.srcSubresource, r.srcOffsets[0], r.dstSubresource, r.dstOffsets[0], {}};
    copy.extent = {static_cast<uint32_t>(r.srcOffsets[1].x - r.srcOffsets[0].x),
                   static_cast<uint32_t>(r.srcOffsets[1].y - r.srcOffsets[0].y),
                   static_cast<uint32_t>(r.srcOffsets[1].z - r.srcOffsets[0].z)};
    return copyImageAspect(stream, from, to, copy);
  }
  // No other format is blitted.
  const bool readable = canConvert(from.texel.format) || formats::blockCodec(from.texel.format);
  if (!readable || !canConvert(to.texel.format)) return;
  const VkExtent3D extent = src.levelExtent(from.index, r.srcSubresource.mipLevel);
  const uint32_t layers = src.layersFrom(r.srcSubresource.baseArrayLayer, r.srcSubresource.layerCount);
  for (uint32_t layer = 0; layer < layers; ++layer) {
    auto* packet = stream.append<abi::BlitImagePacket>(abi::PacketOp::kBlitImage);
    packet->src = src.surface(from.index, r.srcSubresource.mipLevel, r.srcSubresource.baseArrayLayer + layer);
    packet->dst = dst.surface(to.index, r.dstSubresource.mipLevel, r.dstSubresource.baseArrayLayer + layer);
    copyCorners(r.srcOffsets, packet->srcCorner);
    copyCorners(r.dstOffsets, packet->dstCorner);
    packet->srcExtent[0] = extent.width;
    packet->srcExtent[1] = extent.height;
    packet->srcExtent[2] = from.isVolume() ? extent.depth : 1;
    packet->srcFormat = static_cast<uint32_t>(src.plane(from.index).format);
    packet->dstFormat = static_cast<uint32_t>(dst.plane(to.index).format);
    packet->filter = static_cast<uint32_t>(filter);
  }
}

template <typename Region>
void blit(VkCommandBuffer commandBuffer, VkImage src, VkImage dst, uint32_t count, const Region* regions,
          VkFilter filter) {
  for (uint32_t i = 0; i < count; ++i) {
    forEachAspect(regions[i].srcSubresource.aspectMask, [&](VkImageAspectFlagBits aspect) {
      blitAspect(streamOf(commandBuffer), *Image::from(src), *Image::from(dst), aspect, regions[i], filter);
    });
  }
}

template <typename Region>
void resolve(VkCommandBuffer commandBuffer, VkImage srcImage, VkImage dstImage, uint32_t count, const Region* regions) {
  for (uint32_t i = 0; i < count; ++i) {
    const Region& r = regions[i];
    const AspectPlane src(*Image::from(srcImage), VK_IMAGE_ASPECT_COLOR_BIT);
    const AspectPlane dst(*Image::from(dstImage), VK_IMAGE_ASPECT_COLOR_BIT);
    if (!canConvert(src.texel.format)) continue;
    auto* packet = streamOf(commandBuffer).append<abi::ResolveImagePacket>(abi::PacketOp::kResolveImage);
    packet->src = src.surface(r.srcSubresource, r.srcOffset);
    packet->dst = dst.surface(r.dstSubresource, r.dstOffset);
    packet->srcOrigin = src.origin(r.srcOffset);
    packet->dstOrigin = dst.origin(r.dstOffset);
    packet->width = r.extent.width;
    packet->height = r.extent.height;
    packet->sliceCount = src.slices(r.srcSubresource, r.extent);
    packet->format = static_cast<uint32_t>(src.texel.format);
  }
}

}  // namespace

VKAPI_ATTR void VKAPI_CALL vkCmdCopyBufferToImage(VkCommandBuffer commandBuffer, VkBuffer srcBuffer, VkImage dstImage,
                                                  VkImageLayout, uint32_t regionCount,
                                                  const VkBufferImageCopy* pRegions) {
  copyBufferImage(commandBuffer, srcBuffer, dstImage, regionCount, pRegions, Direction::kToImage);
}

VKAPI_ATTR void VKAPI_CALL vkCmdCopyBufferToImage2(VkCommandBuffer commandBuffer,
                                                   const VkCopyBufferToImageInfo2* pInfo) {
  copyBufferImage(commandBuffer, pInfo->srcBuffer, pInfo->dstImage, pInfo->regionCount, pInfo->pRegions,
                  Direction::kToImage);
}

VKAPI_ATTR void VKAPI_CALL vkCmdCopyImageToBuffer(VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout,
                                                  VkBuffer dstBuffer, uint32_t regionCount,
                                                  const VkBufferImageCopy* pRegions) {
  copyBufferImage(commandBuffer, dstBuffer, srcImage, regionCount, pRegions, Direction::kToBuffer);
}

VKAPI_ATTR void VKAPI_CALL vkCmdCopyImageToBuffer2(VkCommandBuffer commandBuffer,
                                                   const VkCopyImageToBufferInfo2* pInfo) {
  copyBufferImage(commandBuffer, pInfo->dstBuffer, pInfo->srcImage, pInfo->regionCount, pInfo->pRegions,
                  Direction::kToBuffer);
}

VKAPI_ATTR void VKAPI_CALL vkCmdCopyImage(VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout,
                                          VkImage dstImage, VkImageLayout, uint32_t regionCount,
                                          const VkImageCopy* pRegions) {
  copyImages(commandBuffer, srcImage, dstImage, regionCount, pRegions);
}

VKAPI_ATTR void VKAPI_CALL vkCmdCopyImage2(VkCommandBuffer commandBuffer, const VkCopyImageInfo2* pInfo) {
  copyImages(commandBuffer, pInfo->srcImage, pInfo->dstImage, pInfo->regionCount, pInfo->pRegions);
}

VKAPI_ATTR void VKAPI_CALL vkCmdClearColorImage(VkCommandBuffer commandBuffer, VkImage image, VkImageLayout,
                                                const VkClearColorValue* pColor, uint32_t rangeCount,
                                                const VkImageSubresourceRange* pRanges) {
  const Image& self = *Image::from(image);
  std::byte element[32];
  encodeClear(self.form().format, pColor, element);
  for (uint32_t i = 0; i < rangeCount; ++i) {
    clearRange(streamOf(commandBuffer), self, VK_IMAGE_ASPECT_COLOR_BIT, pRanges[i], element);
  }
}

VKAPI_ATTR void VKAPI_CALL vkCmdClearDepthStencilImage(VkCommandBuffer commandBuffer, VkImage image, VkImageLayout,
                                                       const VkClearDepthStencilValue* pDepthStencil,
                                                       uint32_t rangeCount, const VkImageSubresourceRange* pRanges) {
  const Image& self = *Image::from(image);
  for (uint32_t i = 0; i < rangeCount; ++i) {
    forEachAspect(pRanges[i].aspectMask, [&](VkImageAspectFlagBits aspect) {
      std::byte element[32];
      encodeClear(self.form().format, aspect, *pDepthStencil, element);
      clearRange(streamOf(commandBuffer), self, aspect, pRanges[i], element);
    });
  }
}

VKAPI_ATTR void VKAPI_CALL vkCmdBlitImage(VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout,
                                          VkImage dstImage, VkImageLayout, uint32_t regionCount,
                                          const VkImageBlit* pRegions, VkFilter filter) {
  blit(commandBuffer, srcImage, dstImage, regionCount, pRegions, filter);
}

VKAPI_ATTR void VKAPI_CALL vkCmdBlitImage2(VkCommandBuffer commandBuffer, const VkBlitImageInfo2* pInfo) {
  blit(commandBuffer, pInfo->srcImage, pInfo->dstImage, pInfo->regionCount, pInfo->pRegions, pInfo->filter);
}

VKAPI_ATTR void VKAPI_CALL vkCmdResolveImage(VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout,
                                             VkImage dstImage, VkImageLayout, uint32_t regionCount,
                                             const VkImageResolve* pRegions) {
  resolve(commandBuffer, srcImage, dstImage, regionCount, pRegions);
}

VKAPI_ATTR void VKAPI_CALL vkCmdResolveImage2(VkCommandBuffer commandBuffer, const VkResolveImageInfo2* pInfo) {
  resolve(commandBuffer, pInfo->srcImage, pInfo->dstImage, pInfo->regionCount, pInfo->pRegions);
}

}  // namespace pumice::icd
