// Copies between buffers and images, and between images, against models that hold one element after the other.
//
// covers: vkCmdCopyBufferToImage, vkCmdCopyBufferToImage2, vkCmdCopyImageToBuffer, vkCmdCopyImageToBuffer2,
// covers: vkCmdCopyImage, vkCmdCopyImage2, vkCreateImage, vkDestroyImage, vkGetImageMemoryRequirements,
// covers: vkBindImageMemory
#include <algorithm>
#include <cstring>

#include "cts-subset/support/image_test.h"

namespace pumice::cts {
namespace {

const FormatFacts& factsOf(VkFormat format) {
  return *std::find_if(transferFormats().begin(), transferFormats().end(),
                       [&](const FormatFacts& f) { return f.format == format; });
}

bool isPlanar(const FormatFacts& f) {
  return f.aspects[0].aspect == VK_IMAGE_ASPECT_PLANE_0_BIT;
}

// How images are made: what may be drawn to lies in memory in another order.
enum class Kind { kOptimal, kLinear, kTarget, kDepth };

class ImageCopyTest : public ImageTest, public testing::WithParamInterface<Kind> {
 protected:
  // The layer refuses attachments as long as no format can be drawn to, and copies to depth as long as no queue draws.
  void start() {
    createFullDevice(GetParam() < Kind::kTarget);
    copyBufferToImage2_ =
        reinterpret_cast<PFN_vkCmdCopyBufferToImage2>(vkGetDeviceProcAddr(device(), "vkCmdCopyBufferToImage2KHR"));
    copyImageToBuffer2_ =
        reinterpret_cast<PFN_vkCmdCopyImageToBuffer2>(vkGetDeviceProcAddr(device(), "vkCmdCopyImageToBuffer2KHR"));
    copyImage2_ = reinterpret_cast<PFN_vkCmdCopyImage2>(vkGetDeviceProcAddr(device(), "vkCmdCopyImage2KHR"));
  }

  bool fits(const FormatFacts& facts, VkImageType type) const {
    const bool depthStencil =
        (facts.aspects[0].aspect & (VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT)) != 0;
    const bool blocks = facts.aspects[0].blockWidth != 1;
    const bool chroma = isPlanar(facts) || facts.format == VK_FORMAT_G8B8G8R8_422_UNORM;
    if (depthStencil != (GetParam() == Kind::kDepth) && (GetParam() != Kind::kTarget || !depthStencil)) return false;
    if (GetParam() == Kind::kTarget && (blocks || chroma)) return false;
    if (type != VK_IMAGE_TYPE_2D && chroma) return false;
    return type != VK_IMAGE_TYPE_1D || !blocks;
  }

  TestImage makeRandomImage(const FormatFacts& facts, VkImageType type) {
    VkExtent3D extent{upTo(70), 1, 1};
    if (type != VK_IMAGE_TYPE_1D) extent.height = upTo(50);
    if (type == VK_IMAGE_TYPE_3D) extent.depth = upTo(6);
    const bool chroma = isPlanar(facts) || facts.format == VK_FORMAT_G8B8G8R8_422_UNORM;
    if (chroma) extent = {2 * upTo(30), 2 * upTo(20), 1};
    uint32_t most = 1;
    for (uint32_t edge = std::max({extent.width, extent.height, extent.depth}); edge > 1; edge /= 2) ++most;
    VkImageCreateInfo info = imageInfo(facts.format, type, extent, chroma ? 1 : upTo(most),
                                       type == VK_IMAGE_TYPE_3D || chroma ? 1 : upTo(4));
    if (GetParam() == Kind::kLinear) info.tiling = VK_IMAGE_TILING_LINEAR;
    if (GetParam() == Kind::kTarget) {
      info.usage |= facts.aspects[0].aspect == VK_IMAGE_ASPECT_COLOR_BIT ? VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
                                                                         : VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    }
    return makeImage(info);
  }

  // A part of a level, in elements: the edges of compressed images are reached with incomplete blocks.
  struct Part {
    uint32_t level, x, y, slice, width, height, slices;
  };
  Part randomPart(const Model& model, const TestImage& image) {
    Part p{};
    p.level = below(image.info.mipLevels);
    const Size size = model.elements(p.level);
    p.width = upTo(size.width);
    p.height = upTo(size.height);
    p.slices = upTo(size.depth);
    p.x = below(size.width - p.width + 1);
    p.y = below(size.height - p.height + 1);
    p.slice = below(size.depth - p.slices + 1);
    return p;
  }
  static VkExtent3D texelExtent(const Model& model, const Part& p, bool volume) {
    const AspectFacts& f = model.facts();
    const Size texels = model.texels(p.level);
    return {std::min(p.width * f.blockWidth, texels.width - p.x * f.blockWidth),
            std::min(p.height * f.blockHeight, texels.height - p.y * f.blockHeight), volume ? p.slices : 1};
  }
  static VkOffset3D texelOffset(const Model& model, const Part& p, bool volume) {
    return {static_cast<int32_t>(p.x * model.facts().blockWidth), static_cast<int32_t>(p.y * model.facts().blockHeight),
            static_cast<int32_t>(volume ? p.slice : 0)};
  }
  static VkImageSubresourceLayers layersOf(const Model& model, const Part& p, bool volume) {
    return {static_cast<VkImageAspectFlags>(model.facts().aspect), p.level, volume ? 0 : p.slice,
            volume ? 1 : p.slices};
  }

  // Where a part lies in a buffer: with strides of its own.
  struct BufferPlace {
    VkBufferImageCopy region{};
    uint64_t rowBytes, sliceBytes, total;
  };
  BufferPlace randomPlace(const Model& model, const Part& p, bool volume) {
    const AspectFacts& f = model.facts();
    BufferPlace out;
    VkBufferImageCopy& r = out.region;
    r.imageSubresource = layersOf(model, p, volume);
    r.imageOffset = texelOffset(model, p, volume);
    r.imageExtent = texelExtent(model, p, volume);
    uint32_t rowElements = p.width, rows = p.height;
    if (below(2) == 0) {
      rowElements += below(5);
      r.bufferRowLength = rowElements * f.blockWidth;
    }
    if (below(2) == 0) {
      rows += below(3);
      r.bufferImageHeight = rows * f.blockHeight;
    }
    // Multiples of 4 for depth and stencil, of the element's size for the others.
    r.bufferOffset = uint64_t{f.bytes} * 4 * below(5);
    out.rowBytes = uint64_t{rowElements} * f.bytes;
    out.sliceBytes = out.rowBytes * rows;
    out.total = r.bufferOffset + out.sliceBytes * p.slices;
    return out;
  }
  template <typename Use>
  static void forEachElement(const Part& p, Use&& use) {
    for (uint32_t z = 0; z < p.slices; ++z)
      for (uint32_t y = 0; y < p.height; ++y)
        for (uint32_t x = 0; x < p.width; ++x) use(x, y, z);
  }
  static VkBufferImageCopy2 asCopy2(const VkBufferImageCopy& r) {
    return {VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2,
            nullptr,
            r.bufferOffset,
            r.bufferRowLength,
            r.bufferImageHeight,
            r.imageSubresource,
            r.imageOffset,
            r.imageExtent};
  }

  void writePart(const TestImage& image, Model& model) {
    const Part p = randomPart(model, image);
    const BufferPlace place = randomPlace(model, p, image.isVolume());
    const TestBuffer buffer = makeBuffer(place.total);
    const uint32_t bytes = model.facts().bytes;
    Model fresh = model;
    fresh.randomise(random_);
    forEachElement(p, [&](uint32_t x, uint32_t y, uint32_t z) {
      const std::byte* from = fresh.at(p.level, p.slice + z, p.y + y, p.x + x);
      std::memcpy(model.at(p.level, p.slice + z, p.y + y, p.x + x), from, bytes);
      std::memcpy(buffer.bytes + place.region.bufferOffset + z * place.sliceBytes + y * place.rowBytes + x * bytes,
                  from, bytes);
    });
    run([&](VkCommandBuffer c) {
      if (below(2) == 0) {
        vkCmdCopyBufferToImage(c, buffer.buffer, image.image, VK_IMAGE_LAYOUT_GENERAL, 1, &place.region);
      } else {
        const VkBufferImageCopy2 region = asCopy2(place.region);
        const VkCopyBufferToImageInfo2 info{VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2,
                                            nullptr,
                                            buffer.buffer,
                                            image.image,
                                            VK_IMAGE_LAYOUT_GENERAL,
                                            1,
                                            &region};
        copyBufferToImage2_(c, &info);
      }
    });
  }

  void readPart(const TestImage& image, Model& model) {
    const Part p = randomPart(model, image);
    const BufferPlace place = randomPlace(model, p, image.isVolume());
    const TestBuffer buffer = makeBuffer(place.total);
    const uint32_t bytes = model.facts().bytes;
    std::memset(buffer.bytes, 0xa5, buffer.size);
    std::vector<std::byte> expected(buffer.size, std::byte{0xa5});
    const bool depth24 = model.facts().validBits == 24;
    forEachElement(p, [&](uint32_t x, uint32_t y, uint32_t z) {
      const uint64_t at = place.region.bufferOffset + z * place.sliceBytes + y * place.rowBytes + x * bytes;
      std::memcpy(expected.data() + at, model.at(p.level, p.slice + z, p.y + y, p.x + x), bytes);
    });
    run([&](VkCommandBuffer c) {
      if (below(2) == 0) {
        vkCmdCopyImageToBuffer(c, image.image, VK_IMAGE_LAYOUT_GENERAL, buffer.buffer, 1, &place.region);
      } else {
        const VkBufferImageCopy2 region = asCopy2(place.region);
        const VkCopyImageToBufferInfo2 info{VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2,
                                            nullptr,
                                            image.image,
                                            VK_IMAGE_LAYOUT_GENERAL,
                                            buffer.buffer,
                                            1,
                                            &region};
        copyImageToBuffer2_(c, &info);
      }
    });
    if (depth24) {
      forEachElement(p, [&](uint32_t x, uint32_t y, uint32_t z) {
        const uint64_t at = place.region.bufferOffset + z * place.sliceBytes + y * place.rowBytes + x * bytes;
        buffer.bytes[at + 3] = expected[at + 3];
      });
    }
    ASSERT_EQ(std::memcmp(expected.data(), buffer.bytes, expected.size()), 0)
        << p.width << " x " << p.height << " x " << p.slices << " at (" << p.x << ", " << p.y << ", " << p.slice
        << ") of level " << p.level;
  }

  void copyPart(const TestImage& src, Model& from, const TestImage& dst, Model& to) {
    Part s = randomPart(from, src), d = randomPart(to, dst);
    s.width = d.width = std::min(s.width, d.width);
    s.height = d.height = std::min(s.height, d.height);
    s.slices = d.slices = std::min(s.slices, d.slices);
    // Incomplete blocks at an edge: on both sides, or not at all (the layer wants whole blocks on the compressed side).
    VkExtent3D extent = texelExtent(from, s, src.isVolume());
    const VkExtent3D other = texelExtent(to, d, dst.isVolume());
    const AspectFacts &f = from.facts(), &t = to.facts();
    const bool sameBlocks = f.blockWidth == t.blockWidth && f.blockHeight == t.blockHeight;
    if (sameBlocks && (extent.width != other.width || extent.height != other.height)) return;
    if (!sameBlocks && (other.width % t.blockWidth != 0 || other.height % t.blockHeight != 0)) return;
    if (src.isVolume() != dst.isVolume()) extent.depth = s.slices;
    VkImageCopy region{layersOf(from, s, src.isVolume()), texelOffset(from, s, src.isVolume()),
                       layersOf(to, d, dst.isVolume()), texelOffset(to, d, dst.isVolume()), extent};
    forEachElement(s, [&](uint32_t x, uint32_t y, uint32_t z) {
      std::memcpy(to.at(d.level, d.slice + z, d.y + y, d.x + x), from.at(s.level, s.slice + z, s.y + y, s.x + x),
                  f.bytes);
    });
    ++copies_;
    run([&](VkCommandBuffer c) {
      if (below(2) == 0) {
        vkCmdCopyImage(c, src.image, VK_IMAGE_LAYOUT_GENERAL, dst.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
      } else {
        const VkImageCopy2 region2{
            VK_STRUCTURE_TYPE_IMAGE_COPY_2, nullptr,          region.srcSubresource, region.srcOffset,
            region.dstSubresource,          region.dstOffset, region.extent};
        const VkCopyImageInfo2 info{VK_STRUCTURE_TYPE_COPY_IMAGE_INFO_2,
                                    nullptr,
                                    src.image,
                                    VK_IMAGE_LAYOUT_GENERAL,
                                    dst.image,
                                    VK_IMAGE_LAYOUT_GENERAL,
                                    1,
                                    &region2};
        copyImage2_(c, &info);
      }
    });
  }

  // Images of both formats, filled; copies from one to the other; the destination compared.
  void copyBetween(const FormatFacts& a, VkImageType aType, uint32_t aAspect, const FormatFacts& b, VkImageType bType,
                   uint32_t bAspect) {
    const TestImage src = makeRandomImage(a, aType), dst = makeRandomImage(b, bType);
    Model from(src, a.aspects[aAspect]), to(dst, b.aspects[bAspect]), result(dst, b.aspects[bAspect]);
    from.randomise(random_);
    to.randomise(random_);
    upload(src, from);
    upload(dst, to);
    for (int i = 0; i < 4; ++i) copyPart(src, from, dst, to);
    download(dst, result);
    expectEqual(to, result, dst.info.mipLevels);
  }

  PFN_vkCmdCopyBufferToImage2 copyBufferToImage2_ = nullptr;
  PFN_vkCmdCopyImageToBuffer2 copyImageToBuffer2_ = nullptr;
  PFN_vkCmdCopyImage2 copyImage2_ = nullptr;
  int copies_ = 0;
};

TEST_P(ImageCopyTest, PartsOfImagesFromAndToBuffers) {
  start();
  for (const FormatFacts& facts : transferFormats())
    for (VkImageType type : {VK_IMAGE_TYPE_1D, VK_IMAGE_TYPE_2D, VK_IMAGE_TYPE_3D}) {
      if (!fits(facts, type)) continue;
      SCOPED_TRACE(testing::Message() << "format " << facts.format << ", type " << type);
      const TestImage image = makeRandomImage(facts, type);
      std::vector<Model> models;
      for (const AspectFacts& a : facts.aspects) {
        models.emplace_back(image, a);
        models.back().randomise(random_);
        upload(image, models.back());
      }
      for (int round = 0; round < 4; ++round)
        for (Model& m : models) writePart(image, m);
      for (Model& m : models) {
        for (int round = 0; round < 2; ++round) readPart(image, m);
        Model result(image, m.facts());
        download(image, result);
        expectEqual(m, result, image.info.mipLevels);
      }
      if (HasFatalFailure()) return;
    }
}

TEST_P(ImageCopyTest, BetweenImagesOfOneFormat) {
  start();
  for (const FormatFacts& facts : transferFormats())
    for (VkImageType type : {VK_IMAGE_TYPE_1D, VK_IMAGE_TYPE_2D, VK_IMAGE_TYPE_3D}) {
      if (!fits(facts, type)) continue;
      SCOPED_TRACE(testing::Message() << "format " << facts.format << ", type " << type);
      for (uint32_t aspect = 0; aspect < facts.aspects.size(); ++aspect)
        copyBetween(facts, type, aspect, facts, type, aspect);
      if (HasFatalFailure()) return;
    }
  EXPECT_GT(copies_, 20);
}

TEST_P(ImageCopyTest, BetweenLayersAndDepthSlices) {
  if (GetParam() == Kind::kDepth) GTEST_SKIP() << "no depth format is three-dimensional";
  start();
  for (VkFormat format : {VK_FORMAT_R8_UNORM, VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32G32B32A32_SINT})
    for (int round = 0; round < 4; ++round) {
      const FormatFacts& facts = factsOf(format);
      copyBetween(facts, VK_IMAGE_TYPE_2D, 0, facts, VK_IMAGE_TYPE_3D, 0);
      copyBetween(facts, VK_IMAGE_TYPE_3D, 0, facts, VK_IMAGE_TYPE_2D, 0);
    }
  EXPECT_GT(copies_, 50);
}

TEST_P(ImageCopyTest, BetweenCompressedAndUncompressedBlocks) {
  if (GetParam() >= Kind::kTarget) GTEST_SKIP() << "compressed images are no attachments";
  start();
  const FormatFacts &bc1 = factsOf(VK_FORMAT_BC1_RGB_UNORM_BLOCK), &half = factsOf(VK_FORMAT_R16G16B16A16_SFLOAT);
  const FormatFacts &bc7 = factsOf(VK_FORMAT_BC7_SRGB_BLOCK), &quad = factsOf(VK_FORMAT_R32G32B32A32_SINT);
  for (int round = 0; round < 8; ++round) {
    copyBetween(bc1, VK_IMAGE_TYPE_2D, 0, half, VK_IMAGE_TYPE_2D, 0);
    copyBetween(half, VK_IMAGE_TYPE_2D, 0, bc1, VK_IMAGE_TYPE_2D, 0);
    copyBetween(bc7, VK_IMAGE_TYPE_2D, 0, quad, VK_IMAGE_TYPE_2D, 0);
    copyBetween(quad, VK_IMAGE_TYPE_2D, 0, bc7, VK_IMAGE_TYPE_2D, 0);
  }
  EXPECT_GT(copies_, 20);
}

TEST_P(ImageCopyTest, BetweenPlanesAndColorImages) {
  if (GetParam() >= Kind::kTarget) GTEST_SKIP() << "multi-planar images are no attachments";
  start();
  const FormatFacts &planar = factsOf(VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM), &r8 = factsOf(VK_FORMAT_R8_UNORM);
  for (uint32_t plane = 0; plane < 3; ++plane) {
    copyBetween(planar, VK_IMAGE_TYPE_2D, plane, r8, VK_IMAGE_TYPE_2D, 0);
    copyBetween(r8, VK_IMAGE_TYPE_2D, 0, planar, VK_IMAGE_TYPE_2D, plane);
  }
}

// Five queues of all families write columns and rows that touch each other; every texel is somebody's.
TEST_P(ImageCopyTest, ManyQueuesWriteNeighbouringTexelsOfOneImage) {
  if (GetParam() == Kind::kDepth) GTEST_SKIP() << "colors will do";
  start();
  for (VkFormat format : {VK_FORMAT_R8_UNORM, VK_FORMAT_R5G6B5_UNORM_PACK16, VK_FORMAT_R8G8B8A8_UNORM}) {
    VkImageCreateInfo info = imageInfo(format, VK_IMAGE_TYPE_2D, {61, 64, 1});
    if (GetParam() == Kind::kLinear) info.tiling = VK_IMAGE_TILING_LINEAR;
    if (GetParam() == Kind::kTarget) info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    const uint32_t families[] = {0, 1, 2};
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = 3;
    info.pQueueFamilyIndices = families;
    const TestImage image = makeImage(info);
    Model model(image, factsOf(format).aspects[0]), result = model;
    model.randomise(random_);
    const uint32_t bytes = model.facts().bytes;
    // Rows of the lower half, 64 texels apart, then columns of the upper one.
    const uint32_t columnsAt = 32 * 64 * bytes;
    const TestBuffer staging = makeBuffer(columnsAt + 61 * 32 * bytes);
    for (uint32_t x = 0; x < 61; ++x)
      for (uint32_t y = 0; y < 32; ++y) {
        std::memcpy(staging.bytes + columnsAt + (x * 32 + y) * bytes, model.at(0, 0, y, x), bytes);
        std::memcpy(staging.bytes + (y * 64 + x) * bytes, model.at(0, 0, 32 + y, x), bytes);
      }
    const struct { uint32_t family, index; } queues[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}};
    VkCommandBuffer commands[5];
    for (uint32_t q = 0; q < 5; ++q) {
      std::vector<VkBufferImageCopy> regions;
      // Columns of the upper half, rows of the lower one, dealt out to the queues in turn.
      for (uint32_t i = q; i < 61; i += 5) {
        VkBufferImageCopy r{};
        r.bufferOffset = columnsAt + uint64_t{i} * 32 * bytes;  // offsets of transfer queues are multiples of 4
        r.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        r.imageOffset = {static_cast<int32_t>(i), 0, 0};
        r.imageExtent = {1, 32, 1};
        regions.push_back(r);
      }
      for (uint32_t y = 32 + q; y < 64; y += 5) {
        VkBufferImageCopy r{};
        r.bufferOffset = uint64_t{y - 32} * 64 * bytes;
        r.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        r.imageOffset = {0, static_cast<int32_t>(y), 0};
        r.imageExtent = {61, 1, 1};
        regions.push_back(r);
      }
      commands[q] = makeCommands(queues[q].family);
      begin(commands[q], VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
      vkCmdCopyBufferToImage(commands[q], staging.buffer, image.image, VK_IMAGE_LAYOUT_GENERAL,
                             static_cast<uint32_t>(regions.size()), regions.data());
      VK_OK(vkEndCommandBuffer(commands[q]));
    }
    for (int round = 0; round < 20; ++round) {
      for (uint32_t q = 0; q < 5; ++q) submit(commands[q], VK_NULL_HANDLE, queues[q].family, queues[q].index);
    }
    VK_OK(vkDeviceWaitIdle(device()));
    download(image, result);
    expectEqual(model, result, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ImageCopyTest,
                         testing::Values(Kind::kOptimal, Kind::kLinear, Kind::kTarget, Kind::kDepth));

}  // namespace
}  // namespace pumice::cts
