// covers: feature:shaderStorageImageExtendedFormats, feature:shaderStorageImageReadWithoutFormat,
// covers: feature:shaderStorageImageWriteWithoutFormat, feature:shaderImageGatherExtended,
// covers: feature:shaderSampledImageArrayDynamicIndexing, feature:shaderStorageImageArrayDynamicIndexing
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "cts-subset/support/image_test.h"
#include "shaders/image_filter.spv.h"

namespace pumice::cts {
namespace {

constexpr uint32_t kWidth = 37, kHeight = 29;  // no multiple of a workgroup or a block

class ImageShaderTest : public ImageTest {
 protected:
  TestImage makeShaderImage(VkFormat format, VkImageUsageFlags usage, uint32_t width, uint32_t height,
                            uint32_t levels = 1, uint32_t layers = 1) {
    VkImageCreateInfo info = imageInfo(format, VK_IMAGE_TYPE_2D, {width, height, 1}, levels, layers);
    info.usage |= usage;
    return makeImage(info);
  }

  VkImageView makeView(const TestImage& image, VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D,
                       uint32_t levels = VK_REMAINING_MIP_LEVELS) {
    VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    info.image = image.image;
    info.viewType = type;
    info.format = image.info.format;
    info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, levels, 0, VK_REMAINING_ARRAY_LAYERS};
    VkImageView view = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateImageView(device(), &info, nullptr, &view), VK_SUCCESS);
    defer([this, view] { vkDestroyImageView(device(), view, nullptr); });
    return view;
  }

  VkBufferView makeBufferView(const TestBuffer& buffer, VkFormat format) {
    VkBufferViewCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
    info.buffer = buffer.buffer;
    info.format = format;
    info.range = VK_WHOLE_SIZE;
    VkBufferView view = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateBufferView(device(), &info, nullptr, &view), VK_SUCCESS);
    defer([this, view] { vkDestroyBufferView(device(), view, nullptr); });
    return view;
  }

  VkSampler makeSampler(VkFilter filter) {
    VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    info.magFilter = info.minFilter = filter;
    info.maxLod = VK_LOD_CLAMP_NONE;
    VkSampler sampler = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateSampler(device(), &info, nullptr, &sampler), VK_SUCCESS);
    defer([this, sampler] { vkDestroySampler(device(), sampler, nullptr); });
    return sampler;
  }
};

// 16-bit floats by the definition.
double halfToDouble(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double v = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (h >> 15) != 0 ? -v : v;
}

TEST_F(ImageShaderTest, ReadsWritesAtomicsAndFilters) {
  createFullDevice();
  const TestImage source = makeShaderImage(VK_FORMAT_R8G8B8A8_UNORM,
                                           VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT, kWidth, kHeight, 2);
  const TestImage swapped = makeShaderImage(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_USAGE_STORAGE_BIT, kWidth, kHeight);
  const TestImage halves = makeShaderImage(VK_FORMAT_R16G16B16A16_SFLOAT, VK_IMAGE_USAGE_STORAGE_BIT, kWidth, kHeight);
  const TestImage pairs[] = {makeShaderImage(VK_FORMAT_R16G16_UNORM, VK_IMAGE_USAGE_STORAGE_BIT, 5, 5),
                             makeShaderImage(VK_FORMAT_R16G16_UNORM, VK_IMAGE_USAGE_STORAGE_BIT, kWidth, kHeight)};
  const TestImage other = makeShaderImage(VK_FORMAT_R8_UNORM, VK_IMAGE_USAGE_SAMPLED_BIT, 4, 4);
  const TestImage histogram = makeShaderImage(VK_FORMAT_R32_UINT, VK_IMAGE_USAGE_STORAGE_BIT, 256, 1);
  const TestImage layers =
      makeShaderImage(VK_FORMAT_R16G16_UINT, VK_IMAGE_USAGE_SAMPLED_BIT, 2 * kWidth, 2 * kHeight, 2, 3);
  constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;
  Model sourceModel(source, {kColor, 4}), swappedModel(swapped, {kColor, 4}), halvesModel(halves, {kColor, 8}),
      pairsModel(pairs[1], {kColor, 4});
  Model histogramModel(histogram, {kColor, 4}), layersModel(layers, {kColor, 4});
  sourceModel.randomise(random_);
  layersModel.randomise(random_);
  upload(source, sourceModel);
  upload(layers, layersModel);
  Model zeros(histogram, {kColor, 4});
  upload(histogram, zeros);

  constexpr uint32_t kTexels = kWidth * kHeight, kPalette = 21;
  const TestBuffer palette = makeBuffer(kPalette * 4, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT);
  for (uint32_t i = 0; i < kPalette * 4; ++i) palette.as<int8_t>()[i] = static_cast<int8_t>(i * 37);
  const TestBuffer counters = makeBuffer(16 * 4, VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
  std::ranges::fill(counters.as<uint32_t>(), 0u);
  const TestBuffer out = makeBuffer(kTexels * 64);

  constexpr VkDescriptorType kTypes[] = {
      VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
      VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,          VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
      VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,   VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
      VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,         VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
      VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,          VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
      VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER};
  constexpr uint32_t kCounts[] = {1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 2};
  const Compute filter = makeCompute(k_image_filter, kTypes, 8, nullptr, kCounts);
  const VkSampler linear = makeSampler(VK_FILTER_LINEAR), nearest = makeSampler(VK_FILTER_NEAREST);
  const VkDescriptorImageInfo images[] = {
      {linear, makeView(source), VK_IMAGE_LAYOUT_GENERAL},
      {VK_NULL_HANDLE, makeView(swapped), VK_IMAGE_LAYOUT_GENERAL},
      {VK_NULL_HANDLE, makeView(halves), VK_IMAGE_LAYOUT_GENERAL},
      {VK_NULL_HANDLE, makeView(histogram), VK_IMAGE_LAYOUT_GENERAL},
      {nearest, makeView(layers, VK_IMAGE_VIEW_TYPE_2D_ARRAY), VK_IMAGE_LAYOUT_GENERAL},
      {VK_NULL_HANDLE, makeView(pairs[0]), VK_IMAGE_LAYOUT_GENERAL},
      {VK_NULL_HANDLE, makeView(pairs[1]), VK_IMAGE_LAYOUT_GENERAL},
      {VK_NULL_HANDLE, makeView(source, VK_IMAGE_VIEW_TYPE_2D, 1), VK_IMAGE_LAYOUT_GENERAL},
      {linear, makeView(other), VK_IMAGE_LAYOUT_GENERAL},
      {linear, makeView(source), VK_IMAGE_LAYOUT_GENERAL}};
  const VkBufferView views[] = {makeBufferView(palette, VK_FORMAT_R8G8B8A8_SNORM),
                                makeBufferView(counters, VK_FORMAT_R32_UINT)};
  const VkDescriptorBufferInfo buffer{out.buffer, 0, VK_WHOLE_SIZE};
  // Where each binding's infos start: images, views or the buffer.
  constexpr uint32_t kFirst[] = {0, 1, 2, 3, 0, 1, 0, 4, 5, 7, 8};
  std::array<VkWriteDescriptorSet, std::size(kTypes)> writes{};
  for (uint32_t i = 0; i < writes.size(); ++i) {
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = filter.set;
    writes[i].dstBinding = i;
    writes[i].descriptorCount = kCounts[i];
    writes[i].descriptorType = kTypes[i];
    if (i == 4 || i == 5) {
      writes[i].pTexelBufferView = &views[kFirst[i]];
    } else if (i == 6) {
      writes[i].pBufferInfo = &buffer;
    } else {
      writes[i].pImageInfo = &images[kFirst[i]];
    }
  }
  vkUpdateDescriptorSets(device(), writes.size(), writes.data(), 0, nullptr);
  const int32_t size[2] = {kWidth, kHeight};
  run([&](VkCommandBuffer c) {
    bindAll(c, filter);
    vkCmdPushConstants(c, filter.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof size, size);
    vkCmdDispatch(c, (kWidth + 7) / 8, (kHeight + 7) / 8, 1);
  });
  download(swapped, swappedModel);
  download(halves, halvesModel);
  download(pairs[1], pairsModel);
  download(histogram, histogramModel);

  const auto channel = [&](uint32_t x, uint32_t y, uint32_t c) {
    return static_cast<uint32_t>(sourceModel.at(0, 0, y % kHeight, x % kWidth)[c]);
  };
  std::array<uint32_t, 256> counts{};
  std::array<uint32_t, 16> largest{};
  const std::span<const float> texels = out.as<float>();
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      const uint32_t index = y * kWidth + x;
      ++counts[channel(x, y, 0)];
      largest[x & 15] = std::max(largest[x & 15], index);
      for (uint32_t c = 0; c < 4; ++c) {
        SCOPED_TRACE(testing::Message() << "texel " << x << ", " << y << " component " << c);
        // Exactly what was read: unorm to float and back is the identity.
        const uint32_t fromRed[] = {2, 1, 0, 3};
        ASSERT_EQ(static_cast<uint32_t>(swappedModel.at(0, 0, y, kWidth - 1 - x)[c]), channel(x, y, fromRed[c]));
        const double value = channel(x, y, c) / 255.0;
        uint16_t half = 0;
        std::memcpy(&half, halvesModel.at(0, 0, y, x) + 2 * c, 2);
        ASSERT_NEAR(halfToDouble(half), value * 2 - 1, 0x1p-11);  // one unit in the last place below 1
        ASSERT_NEAR(texels[16 * index + c], value, 1e-7);
        // Half way between four texels, to the eight bits of precision of a coordinate's fraction. The four one by one,
        // green, counter-clockwise from the lower left.
        const double sum = channel(x, y, c) + channel(x + 1, y, c) + channel(x, y + 1, c) + channel(x + 1, y + 1, c);
        const uint32_t gathered[4][2] = {{x, y + 1}, {x + 1, y + 1}, {x + 1, y}, {x, y}};
        const double green = channel(gathered[c][0], gathered[c][1], 1) / 255.0;
        ASSERT_NEAR(texels[16 * index + 4 + c], sum / 1020 + 2 * green, 2.0 / 256);
        if (c < 2) {
          uint16_t pair = 0;
          std::memcpy(&pair, pairsModel.at(0, 0, y, x) + 2 * c, 2);
          ASSERT_EQ(pair, channel(x, y, 1 - c) * 257) << "8 bits of green and red as 16";
        }
        const int8_t code = palette.as<int8_t>()[index % kPalette * 4 + c];
        const double levelSize[] = {kWidth / 2, kHeight / 2, 0, 0};
        ASSERT_NEAR(texels[16 * index + 8 + c], std::max(code / 127.0, -1.0) + levelSize[c], 1e-5);
        uint16_t layered[2] = {};
        std::memcpy(layered, layersModel.at(1, 1, y, x), 4);
        const double word[] = {layered[0] + 256.0, layered[1] + 1.0, 0 + 3.0, 1};
        ASSERT_EQ(texels[16 * index + 12 + c], word[c]);
      }
    }
  }
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t count = 0;
    std::memcpy(&count, histogramModel.at(0, 0, 0, i), 4);
    EXPECT_EQ(count, counts[i]) << i;
  }
  for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(counters.as<uint32_t>()[i], largest[i]) << i;
}

}  // namespace
}  // namespace pumice::cts
