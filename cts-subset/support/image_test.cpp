#include "cts-subset/support/image_test.h"

#include <algorithm>
#include <cstring>

namespace pumice::cts {
namespace {

constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;
constexpr VkImageAspectFlagBits kDepth = VK_IMAGE_ASPECT_DEPTH_BIT;
constexpr VkImageAspectFlagBits kStencil = VK_IMAGE_ASPECT_STENCIL_BIT;

VkBufferImageCopy wholeLevel(const Model& model, const TestImage& image, uint32_t level) {
  const Size texels = model.texels(level);
  VkBufferImageCopy region{};
  region.imageSubresource = {static_cast<VkImageAspectFlags>(model.facts().aspect), level, 0,
                             image.isVolume() ? 1 : image.layers()};
  region.imageExtent = {texels.width, texels.height, image.isVolume() ? texels.depth : 1};
  return region;
}

}  // namespace

Model::Model(const TestImage& image, const AspectFacts& facts) : info_(image.info), facts_(facts) {
  for (uint32_t l = 0; l < info_.mipLevels; ++l) {
    const Size size = elements(l);
    levels_.emplace_back(size_t{size.width} * size.height * size.depth * facts.bytes);
  }
}

Size Model::texels(uint32_t level) const {
  const auto at = [&](uint32_t full) { return std::max(full >> level, 1u); };
  return {at(info_.extent.width / facts_.divisor[0]), at(info_.extent.height / facts_.divisor[1]),
          info_.imageType == VK_IMAGE_TYPE_3D ? at(info_.extent.depth) : info_.arrayLayers};
}

Size Model::elements(uint32_t level) const {
  const Size t = texels(level);
  return {(t.width + facts_.blockWidth - 1) / facts_.blockWidth,
          (t.height + facts_.blockHeight - 1) / facts_.blockHeight, t.depth};
}

void Model::randomise(std::mt19937& random) {
  for (auto& level : levels_) {
    for (std::byte& b : level) b = static_cast<std::byte>(random());
    if (facts_.validBits == 24)  // the upper byte of 24-bit depth means nothing
      for (size_t i = 3; i < level.size(); i += 4) level[i] = std::byte{0};
    if (facts_.aspect == kDepth && facts_.bytes == 4 && facts_.validBits == 0)  // floats between 0 and 1
      for (size_t i = 3; i < level.size(); i += 4) level[i] = std::byte{0x3e};
  }
}

VkImageCreateInfo ImageTest::imageInfo(VkFormat format, VkImageType type, VkExtent3D extent, uint32_t levels,
                                       uint32_t layers) {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = type;
  info.format = format;
  info.extent = extent;
  info.mipLevels = levels;
  info.arrayLayers = layers;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  return info;
}

TestImage ImageTest::makeImage(const VkImageCreateInfo& info) {
  TestImage out;
  out.info = info;
  out.info.pNext = nullptr;
  EXPECT_EQ(vkCreateImage(device(), &info, nullptr, &out.image), VK_SUCCESS);
  VkMemoryRequirements need{};
  vkGetImageMemoryRequirements(device(), out.image, &need);
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.allocationSize = need.size;
  EXPECT_EQ(vkAllocateMemory(device(), &allocate, nullptr, &out.memory), VK_SUCCESS);
  EXPECT_EQ(vkBindImageMemory(device(), out.image, out.memory, 0), VK_SUCCESS);
  defer([this, out] {
    vkDestroyImage(device(), out.image, nullptr);
    vkFreeMemory(device(), out.memory, nullptr);
  });
  VkImageMemoryBarrier toGeneral{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  toGeneral.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  toGeneral.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  toGeneral.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  toGeneral.srcQueueFamilyIndex = toGeneral.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  toGeneral.image = out.image;
  toGeneral.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS};
  for (const FormatFacts& f : transferFormats()) {
    if (f.format != info.format || f.aspects[0].aspect == VK_IMAGE_ASPECT_PLANE_0_BIT) continue;
    toGeneral.subresourceRange.aspectMask = 0;
    for (const AspectFacts& a : f.aspects) toGeneral.subresourceRange.aspectMask |= a.aspect;
  }
  run([&](VkCommandBuffer c) {
    vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0,
                         nullptr, 1, &toGeneral);
  });
  return out;
}

void ImageTest::upload(const TestImage& image, Model& model) {
  for (uint32_t l = 0; l < image.info.mipLevels; ++l) {
    const TestBuffer staging = makeBuffer(model.level(l).size());
    std::memcpy(staging.bytes, model.level(l).data(), model.level(l).size());
    const VkBufferImageCopy region = wholeLevel(model, image, l);
    run([&](VkCommandBuffer c) {
      vkCmdCopyBufferToImage(c, staging.buffer, image.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    });
  }
}

void ImageTest::download(const TestImage& image, Model& into) {
  for (uint32_t l = 0; l < image.info.mipLevels; ++l) {
    const TestBuffer staging = makeBuffer(into.level(l).size());
    const VkBufferImageCopy region = wholeLevel(into, image, l);
    run([&](VkCommandBuffer c) {
      vkCmdCopyImageToBuffer(c, image.image, VK_IMAGE_LAYOUT_GENERAL, staging.buffer, 1, &region);
    });
    std::memcpy(into.level(l).data(), staging.bytes, into.level(l).size());
    if (into.facts().validBits == 24)
      for (size_t i = 3; i < into.level(l).size(); i += 4) into.level(l)[i] = std::byte{0};
  }
}

void ImageTest::expectEqual(Model& expected, Model& actual, uint32_t levels) {
  for (uint32_t l = 0; l < levels; ++l) {
    if (expected.level(l) == actual.level(l)) continue;
    const Size size = expected.elements(l);
    for (uint32_t z = 0; z < size.depth; ++z)
      for (uint32_t y = 0; y < size.height; ++y)
        for (uint32_t x = 0; x < size.width; ++x)
          if (std::memcmp(expected.at(l, z, y, x), actual.at(l, z, y, x), expected.facts().bytes) != 0) {
            FAIL() << "level " << l << " of " << size.width << " x " << size.height << " x " << size.depth
                   << ": element (" << x << ", " << y << ") of slice " << z << ", aspect " << expected.facts().aspect;
          }
  }
}

const std::vector<FormatFacts>& transferFormats() {
  constexpr VkImageAspectFlagBits kP0 = VK_IMAGE_ASPECT_PLANE_0_BIT, kP1 = VK_IMAGE_ASPECT_PLANE_1_BIT,
                                  kP2 = VK_IMAGE_ASPECT_PLANE_2_BIT;
  static const std::vector<FormatFacts> formats{
      {VK_FORMAT_R8_UNORM, {{kColor, 1}}},
      {VK_FORMAT_R5G6B5_UNORM_PACK16, {{kColor, 2}}},
      {VK_FORMAT_R8G8B8_UNORM, {{kColor, 3}}},
      {VK_FORMAT_R8G8B8A8_UNORM, {{kColor, 4}}},
      {VK_FORMAT_B10G11R11_UFLOAT_PACK32, {{kColor, 4}}},
      {VK_FORMAT_R16G16B16_SINT, {{kColor, 6}}},
      {VK_FORMAT_R16G16B16A16_SFLOAT, {{kColor, 8}}},
      {VK_FORMAT_R32G32B32_UINT, {{kColor, 12}}},
      {VK_FORMAT_R32G32B32A32_SINT, {{kColor, 16}}},
      {VK_FORMAT_R64G64B64_UINT, {{kColor, 24}}},
      {VK_FORMAT_R64G64B64A64_SFLOAT, {{kColor, 32}}},
      {VK_FORMAT_BC1_RGB_UNORM_BLOCK, {{kColor, 8, 4, 4}}},
      {VK_FORMAT_BC7_SRGB_BLOCK, {{kColor, 16, 4, 4}}},
      {VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, {{kColor, 8, 4, 4}}},
      {VK_FORMAT_ASTC_8x5_UNORM_BLOCK, {{kColor, 16, 8, 5}}},
      {VK_FORMAT_ASTC_12x12_SRGB_BLOCK, {{kColor, 16, 12, 12}}},
      {VK_FORMAT_D16_UNORM, {{kDepth, 2}}},
      {VK_FORMAT_X8_D24_UNORM_PACK32, {{kDepth, 4, 1, 1, {1, 1}, 24}}},
      {VK_FORMAT_D32_SFLOAT, {{kDepth, 4}}},
      {VK_FORMAT_S8_UINT, {{kStencil, 1}}},
      {VK_FORMAT_D16_UNORM_S8_UINT, {{kDepth, 2}, {kStencil, 1}}},
      {VK_FORMAT_D24_UNORM_S8_UINT, {{kDepth, 4, 1, 1, {1, 1}, 24}, {kStencil, 1}}},
      {VK_FORMAT_D32_SFLOAT_S8_UINT, {{kDepth, 4}, {kStencil, 1}}},
      {VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM, {{kP0, 1}, {kP1, 1, 1, 1, {2, 2}}, {kP2, 1, 1, 1, {2, 2}}}},
      {VK_FORMAT_G8_B8R8_2PLANE_422_UNORM, {{kP0, 1}, {kP1, 2, 1, 1, {2, 1}}}},
      {VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16, {{kP0, 2}, {kP1, 4, 1, 1, {2, 2}}}},
      {VK_FORMAT_G8B8G8R8_422_UNORM, {{kColor, 4, 2, 1}}},
  };
  return formats;
}

}  // namespace pumice::cts
