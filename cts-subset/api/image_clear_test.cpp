// Clears, blits and resolves through the API. Expected bytes are worked out by hand from the formats' definitions.
//
// covers: vkCmdClearColorImage, vkCmdClearDepthStencilImage, vkCmdBlitImage, vkCmdBlitImage2, vkCmdResolveImage,
// covers: vkCmdResolveImage2
#include <bit>
#include <cstring>

#include "cts-subset/support/image_test.h"

namespace pumice::cts {
namespace {

VkClearColorValue floats(float r, float g, float b, float a) {
  VkClearColorValue v{};
  v.float32[0] = r;
  v.float32[1] = g;
  v.float32[2] = b;
  v.float32[3] = a;
  return v;
}
VkClearColorValue ints(int32_t r, int32_t g, int32_t b, int32_t a) {
  VkClearColorValue v{};
  v.int32[0] = r;
  v.int32[1] = g;
  v.int32[2] = b;
  v.int32[3] = a;
  return v;
}

template <typename... T>
std::vector<std::byte> bytesOf(T... values) {
  std::vector<std::byte> out((sizeof(T) + ...));
  size_t at = 0;
  const auto append = [&](auto v) {
    std::memcpy(out.data() + at, &v, sizeof v);
    at += sizeof v;
  };
  (append(values), ...);
  return out;
}

using U8 = uint8_t;
using U16 = uint16_t;
using U32 = uint32_t;

struct Clear {
  VkFormat format;
  VkClearColorValue value;
  std::vector<std::byte> texel;
};

const std::vector<Clear>& clears() {
  static const std::vector<Clear> list{
      {VK_FORMAT_R8_UNORM, floats(2, 0, 0, 0), bytesOf(U8{255})},
      {VK_FORMAT_R8_SNORM, floats(-1, 0, 0, 0), bytesOf(U8{0x81})},
      {VK_FORMAT_R8G8_UINT, ints(7, 200, 1, 1), bytesOf(U8{7}, U8{200})},
      {VK_FORMAT_R8G8B8_UNORM, floats(1, 0, 0.2f, 0), bytesOf(U8{255}, U8{0}, U8{51})},
      {VK_FORMAT_R5G6B5_UNORM_PACK16, floats(1, 0, 1, 0), bytesOf(U16{0xf81f})},
      {VK_FORMAT_R8G8B8A8_UNORM, floats(0.5f, 0, 1, 0.25f), bytesOf(U8{128}, U8{0}, U8{255}, U8{64})},
      {VK_FORMAT_B8G8R8A8_SRGB, floats(1, 0.5f, 0, 0.5f), bytesOf(U8{0}, U8{188}, U8{255}, U8{128})},
      {VK_FORMAT_A2B10G10R10_UINT_PACK32, ints(1023, 1, 2, 3), bytesOf(U32{1023u | 1u << 10 | 2u << 20 | 3u << 30})},
      {VK_FORMAT_B10G11R11_UFLOAT_PACK32, floats(1, 2, 0.5f, 0), bytesOf(U32{0x3c0u | 0x400u << 11 | 0x1c0u << 22})},
      {VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, floats(1, 0.5f, 0, 0), bytesOf(U32{256u | 128u << 9 | 16u << 27})},
      {VK_FORMAT_R16G16_SFLOAT, floats(1.5f, -2, 0, 0), bytesOf(U16{0x3e00}, U16{0xc000})},
      {VK_FORMAT_R16G16B16_SINT, ints(-1, 2, -3, 0), bytesOf(int16_t{-1}, int16_t{2}, int16_t{-3})},
      {VK_FORMAT_R32_SINT, ints(-5, 0, 0, 0), bytesOf(int32_t{-5})},
      {VK_FORMAT_R32G32B32_SFLOAT, floats(0.1f, -3, 1e30f, 0), bytesOf(0.1f, -3.0f, 1e30f)},
      {VK_FORMAT_R32G32B32A32_UINT, ints(1, -1, 3, 4), bytesOf(U32{1}, U32{0xffffffff}, U32{3}, U32{4})},
      // Two elements of the value make a component of 64 bits.
      {VK_FORMAT_R64_UINT, ints(-1, 2, 7, 7), bytesOf(uint64_t{0x2ffffffff})},
      {VK_FORMAT_R64G64_SINT, ints(-5, -1, 5, 1), bytesOf(int64_t{-5}, int64_t{0x100000005})},
      {VK_FORMAT_R64G64_SFLOAT, ints(0, 0x3ff80000, 0, -0x40000000), bytesOf(1.5, -2.0)},
  };
  return list;
}

class ImageClearTest : public ImageTest {
 protected:
  void clearAndCheck(const Clear& clear, VkImageType type, VkImageUsageFlags moreUsage) {
    SCOPED_TRACE(testing::Message() << "format " << clear.format << ", type " << type);
    const bool volume = type == VK_IMAGE_TYPE_3D;
    VkImageCreateInfo info =
        imageInfo(clear.format, type, {67, type == VK_IMAGE_TYPE_1D ? 1u : 43u, volume ? 9u : 1u}, 4, volume ? 1 : 5);
    info.usage |= moreUsage;
    const TestImage image = makeImage(info);
    Model model(image, {VK_IMAGE_ASPECT_COLOR_BIT, static_cast<uint32_t>(clear.texel.size())}), result = model;
    model.randomise(random_);
    upload(image, model);
    // A part of the levels and layers, and one more level to the end.
    VkImageSubresourceRange ranges[] = {
        {VK_IMAGE_ASPECT_COLOR_BIT, 0, 2, volume ? 0u : 1u, volume ? 1u : 3u},
        {VK_IMAGE_ASPECT_COLOR_BIT, 3, VK_REMAINING_MIP_LEVELS, volume ? 0u : 4u, VK_REMAINING_ARRAY_LAYERS}};
    run([&](VkCommandBuffer c) {
      vkCmdClearColorImage(c, image.image, VK_IMAGE_LAYOUT_GENERAL, &clear.value, 2, ranges);
    });
    for (uint32_t level = 0; level < 4; ++level) {
      const Size size = model.elements(level);
      for (uint32_t slice = 0; slice < size.depth; ++slice) {
        const bool cleared =
            (level < 2 && (volume || (slice >= 1 && slice < 4))) || (level == 3 && (volume || slice == 4));
        for (uint32_t y = 0; cleared && y < size.height; ++y)
          for (uint32_t x = 0; x < size.width; ++x)
            std::memcpy(model.at(level, slice, y, x), clear.texel.data(), clear.texel.size());
      }
    }
    download(image, result);
    expectEqual(model, result, 4);
  }
};

TEST_F(ImageClearTest, ColorsOfEveryKindOfFormat) {
  createFullDevice();
  for (const Clear& clear : clears())
    for (VkImageType type : {VK_IMAGE_TYPE_1D, VK_IMAGE_TYPE_2D, VK_IMAGE_TYPE_3D}) {
      clearAndCheck(clear, type, 0);
      if (HasFatalFailure()) return;
    }
}

// Attachments lie in memory in another order. No format can be drawn to yet: the layer would complain.
TEST_F(ImageClearTest, ColorsOfAttachments) {
  createFullDevice(false);
  for (const Clear& clear : clears()) {
    clearAndCheck(clear, VK_IMAGE_TYPE_2D, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
    if (HasFatalFailure()) return;
  }
}

TEST_F(ImageClearTest, DepthAndStencilEachForItself) {
  createFullDevice(false);  // the layer wants a queue that can draw
  const struct {
    VkFormat format;
    std::vector<std::byte> depth, stencil;
  } formats[] = {
      {VK_FORMAT_D16_UNORM, bytesOf(U16{0x4000}), {}},  // 65535 / 4 = 16383.75
      {VK_FORMAT_X8_D24_UNORM_PACK32, bytesOf(U32{0x400000}), {}},
      {VK_FORMAT_D32_SFLOAT, bytesOf(0.25f), {}},
      {VK_FORMAT_S8_UINT, {}, bytesOf(U8{0xa5})},
      {VK_FORMAT_D16_UNORM_S8_UINT, bytesOf(U16{0x4000}), bytesOf(U8{0xa5})},
      {VK_FORMAT_D24_UNORM_S8_UINT, bytesOf(U32{0x400000}), bytesOf(U8{0xa5})},
      {VK_FORMAT_D32_SFLOAT_S8_UINT, bytesOf(0.25f), bytesOf(U8{0xa5})},
  };
  for (const auto& f : formats)
    for (VkImageUsageFlags usage : {0u, VkImageUsageFlags{VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT}})
      for (uint32_t variant = 0; variant < 6; ++variant) {
        const VkImageAspectFlags aspects = 1 + variant % 3;  // depth, stencil, both
        const bool volume = variant >= 3;
        VkImageCreateInfo info = volume ? imageInfo(f.format, VK_IMAGE_TYPE_3D, {21, 13, 5}, 2, 1)
                                        : imageInfo(f.format, VK_IMAGE_TYPE_2D, {21, 13, 1}, 2, 3);
        info.usage |= usage;
        const TestImage image = makeImage(info);
        std::vector<Model> models;
        if (!f.depth.empty()) {
          models.emplace_back(image, AspectFacts{VK_IMAGE_ASPECT_DEPTH_BIT, static_cast<uint32_t>(f.depth.size())});
        }
        if (!f.stencil.empty()) models.emplace_back(image, AspectFacts{VK_IMAGE_ASPECT_STENCIL_BIT, 1});
        VkImageSubresourceRange range{0, 1, 1, volume ? 0u : 1u, volume ? 1u : 2u};
        for (Model& m : models) {
          m.randomise(random_);
          upload(image, m);
          const bool depth = m.facts().aspect == VK_IMAGE_ASPECT_DEPTH_BIT;
          if ((aspects & (depth ? 1u : 2u)) == 0) continue;
          range.aspectMask |= m.facts().aspect;
          const auto& texel = depth ? f.depth : f.stencil;
          const Size size = m.elements(1);
          for (uint32_t slice = volume ? 0 : 1; slice < size.depth; ++slice)
            for (uint32_t y = 0; y < size.height; ++y)
              for (uint32_t x = 0; x < size.width; ++x) std::memcpy(m.at(1, slice, y, x), texel.data(), texel.size());
        }
        if (range.aspectMask == 0) continue;
        const VkClearDepthStencilValue value{0.25f, 0x1a5};
        run([&](VkCommandBuffer c) {
          vkCmdClearDepthStencilImage(c, image.image, VK_IMAGE_LAYOUT_GENERAL, &value, 1, &range);
        });
        for (Model& m : models) {
          Model result = m;
          download(image, result);
          expectEqual(m, result, 2);
        }
      }
}

// Blits and resolves are for queues that can draw, which there are not yet: without the layer.
class ImageBlitTest : public ImageTest {
 protected:
  void blit(const TestImage& src, const TestImage& dst, const VkImageBlit& r, VkFilter filter, bool second) {
    DEVICE_FN(vkCmdBlitImage2KHR);
    run([&](VkCommandBuffer c) {
      if (!second) {
        vkCmdBlitImage(c, src.image, VK_IMAGE_LAYOUT_GENERAL, dst.image, VK_IMAGE_LAYOUT_GENERAL, 1, &r, filter);
        return;
      }
      VkImageBlit2 region{VK_STRUCTURE_TYPE_IMAGE_BLIT_2};
      region.srcSubresource = r.srcSubresource;
      region.dstSubresource = r.dstSubresource;
      std::copy_n(r.srcOffsets, 2, region.srcOffsets);
      std::copy_n(r.dstOffsets, 2, region.dstOffsets);
      VkBlitImageInfo2 info{VK_STRUCTURE_TYPE_BLIT_IMAGE_INFO_2};
      info.srcImage = src.image;
      info.srcImageLayout = info.dstImageLayout = VK_IMAGE_LAYOUT_GENERAL;
      info.dstImage = dst.image;
      info.regionCount = 1;
      info.pRegions = &region;
      info.filter = filter;
      vkCmdBlitImage2KHR(c, &info);
    });
  }
};

// A level into the next, as mip chains are made: each texel is the mean of four. Layers 1 and 2 of a level of each.
TEST_F(ImageBlitTest, HalvesALevelOfSomeLayers) {
  createFullDevice(false);
  for (bool second : {false, true}) {
    const TestImage image = makeImage(imageInfo(VK_FORMAT_R32G32_SFLOAT, VK_IMAGE_TYPE_2D, {32, 16, 1}, 2, 4));
    Model model(image, {VK_IMAGE_ASPECT_COLOR_BIT, 8}), result = model;
    for (uint32_t slice = 0; slice < 4; ++slice)
      for (uint32_t y = 0; y < 16; ++y)
        for (uint32_t x = 0; x < 32; ++x) {
          const float texel[2] = {static_cast<float>(below(1024)), static_cast<float>(below(1024))};  // sums are exact
          std::memcpy(model.at(0, slice, y, x), texel, 8);
        }
    upload(image, model);
    VkImageBlit r{};
    r.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 2};
    r.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 2};
    r.srcOffsets[1] = {32, 16, 1};
    r.dstOffsets[1] = {16, 8, 1};
    blit(image, image, r, VK_FILTER_LINEAR, second);
    for (uint32_t slice = 1; slice < 3; ++slice)
      for (uint32_t y = 0; y < 8; ++y)
        for (uint32_t x = 0; x < 16; ++x) {
          float mean[2] = {0, 0};
          for (uint32_t i = 0; i < 4; ++i) {
            float t[2];
            std::memcpy(t, model.at(0, slice, 2 * y + i / 2, 2 * x + i % 2), 8);
            mean[0] += t[0] / 4;
            mean[1] += t[1] / 4;
          }
          std::memcpy(model.at(1, slice, y, x), mean, 8);
        }
    download(image, result);
    expectEqual(model, result, 2);
  }
}

// Turned by 180 degrees into another format, every texel twice as wide.
TEST_F(ImageBlitTest, MirrorsWidensAndConverts) {
  createFullDevice(false);
  const TestImage src = makeImage(imageInfo(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, {13, 9, 1}));
  const TestImage dst = makeImage(imageInfo(VK_FORMAT_B8G8R8A8_UNORM, VK_IMAGE_TYPE_2D, {30, 12, 1}));
  Model from(src, {VK_IMAGE_ASPECT_COLOR_BIT, 4}), to(dst, {VK_IMAGE_ASPECT_COLOR_BIT, 4}), result = to;
  from.randomise(random_);
  to.randomise(random_);
  upload(src, from);
  upload(dst, to);
  VkImageBlit r{};
  r.srcSubresource = r.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  r.srcOffsets[0] = {1, 2, 0};
  r.srcOffsets[1] = {11, 9, 1};
  r.dstOffsets[0] = {25, 10, 0};
  r.dstOffsets[1] = {5, 3, 1};
  blit(src, dst, r, VK_FILTER_NEAREST, false);
  for (uint32_t y = 0; y < 7; ++y)
    for (uint32_t x = 0; x < 20; ++x) {
      std::byte texel[4];
      std::memcpy(texel, from.at(0, 0, 2 + y, 1 + x / 2), 4);
      std::swap(texel[0], texel[2]);
      std::memcpy(to.at(0, 0, 9 - y, 24 - x), texel, 4);
    }
  download(dst, result);
  expectEqual(to, result, 1);
}

// Depth and stencil in one call, and a blit that is a plain copy.
TEST_F(ImageBlitTest, DepthAndStencil) {
  createFullDevice(false);
  for (int32_t factor : {1, 3}) {
    const TestImage src = makeImage(imageInfo(VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_TYPE_2D, {10, 6, 1}));
    const TestImage dst = makeImage(imageInfo(VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_TYPE_2D, {30, 18, 1}));
    const AspectFacts aspects[] = {{VK_IMAGE_ASPECT_DEPTH_BIT, 4, 1, 1, {1, 1}, 24}, {VK_IMAGE_ASPECT_STENCIL_BIT, 1}};
    std::vector<Model> from, to;
    for (const AspectFacts& a : aspects) {
      from.emplace_back(src, a).randomise(random_);
      to.emplace_back(dst, a).randomise(random_);
      upload(src, from.back());
      upload(dst, to.back());
    }
    VkImageBlit r{};
    r.srcSubresource = r.dstSubresource = {VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT, 0, 0, 1};
    r.srcOffsets[1] = {10, 6, 1};
    r.dstOffsets[1] = {10 * factor, 6 * factor, 1};
    blit(src, dst, r, VK_FILTER_NEAREST, false);
    for (size_t a = 0; a < 2; ++a) {
      const auto f = static_cast<uint32_t>(factor);
      for (uint32_t y = 0; y < 6 * f; ++y)
        for (uint32_t x = 0; x < 10 * f; ++x)
          std::memcpy(to[a].at(0, 0, y, x), from[a].at(0, 0, y / f, x / f), aspects[a].bytes);
      Model result = to[a];
      download(dst, result);
      expectEqual(to[a], result, 1);
    }
  }
}

// No format has several samples in the queries until it can be drawn to; the commands work.
TEST_F(ImageBlitTest, ResolvesAndCopiesOfClearedSamples) {
  createFullDevice(false);
  DEVICE_FN(vkCmdResolveImage2KHR);
  for (VkImageUsageFlags usage : {0u, VkImageUsageFlags{VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT}}) {
    VkImageCreateInfo info = imageInfo(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, {23, 17, 1}, 1, 3);
    info.usage |= usage;
    const TestImage flat = makeImage(info);
    info.samples = VK_SAMPLE_COUNT_4_BIT;
    const TestImage many = makeImage(info), copy = makeImage(info);
    Model model(flat, {VK_IMAGE_ASPECT_COLOR_BIT, 4}), result = model;
    model.randomise(random_);
    upload(flat, model);
    const VkClearColorValue colors[] = {floats(0, 0, 0, 0), floats(1, 0, 0.2f, 1)};
    const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 3};
    const VkImageCopy whole{
        {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 3}, {}, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 3}, {}, {23, 17, 1}};
    VkImageResolve2 r{VK_STRUCTURE_TYPE_IMAGE_RESOLVE_2};
    r.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 1};
    r.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 2, 1};
    r.srcOffset = {3, 1, 0};
    r.dstOffset = {5, 6, 0};
    r.extent = {13, 9, 1};
    VkResolveImageInfo2 second{VK_STRUCTURE_TYPE_RESOLVE_IMAGE_INFO_2};
    second.srcImage = copy.image;
    second.dstImage = flat.image;
    second.srcImageLayout = second.dstImageLayout = VK_IMAGE_LAYOUT_GENERAL;
    second.regionCount = 1;
    second.pRegions = &r;
    const VkImageResolve first{
        r.srcSubresource, r.srcOffset, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, r.dstOffset, r.extent};
    run([&](VkCommandBuffer c) {
      const auto next = [&] { barrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT); };
      vkCmdClearColorImage(c, copy.image, VK_IMAGE_LAYOUT_GENERAL, &colors[0], 1, &all);
      vkCmdClearColorImage(c, many.image, VK_IMAGE_LAYOUT_GENERAL, &colors[1], 1, &all);
      next();
      vkCmdCopyImage(c, many.image, VK_IMAGE_LAYOUT_GENERAL, copy.image, VK_IMAGE_LAYOUT_GENERAL, 1, &whole);
      next();
      vkCmdResolveImage2KHR(c, &second);
      vkCmdResolveImage(c, copy.image, VK_IMAGE_LAYOUT_GENERAL, flat.image, VK_IMAGE_LAYOUT_GENERAL, 1, &first);
    });
    const std::vector<std::byte> texel = bytesOf(U8{255}, U8{0}, U8{51}, U8{255});
    for (uint32_t slice : {0u, 2u})
      for (uint32_t y = 6; y < 15; ++y)
        for (uint32_t x = 5; x < 18; ++x) std::memcpy(model.at(0, slice, y, x), texel.data(), 4);
    download(flat, result);
    expectEqual(model, result, 1);
  }
}

}  // namespace
}  // namespace pumice::cts
