// Images seen as something else: blocks as texels, slices of a volume as 2D images; samples one by one.
//
// covers: VK_EXT_image_2d_view_of_3d, feature:image2DViewOf3D, feature:sampler2DViewOf3D
// covers: feature:shaderStorageImageMultisample
#include <array>
#include <cstring>

#include "cts-subset/support/compressed_blocks.h"
#include "cts-subset/support/shader_image_test.h"
#include "shaders/fetch_float_and_uint.spv.h"
#include "shaders/multisampled.spv.h"
#include "shaders/store_words.spv.h"

namespace pumice::cts {
namespace {

constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;

class ImageAliasTest : public ShaderImageTest {
 protected:
  // Stores four words for each texel of the view.
  void store(VkImageView view, const TestBuffer& words, uint32_t width, uint32_t height) {
    const Binding bindings[] = {bufferBinding(words), {.type = kStorageImage, .images = {imageOf(view)}}};
    runOnce(k_store_words, bindings, {(width + 7) / 8, (height + 7) / 8, 1});
  }
  TestBuffer fetchFloats(VkImageView view, uint32_t width, uint32_t height) {
    const TestImage other = makeShaderImage(VK_FORMAT_R8_UINT, VK_IMAGE_USAGE_SAMPLED_BIT, {1, 1, 1});
    const TestBuffer floats = makeBuffer(16 * width * height), uints = makeBuffer(16 * width * height);
    const Binding bindings[] = {bufferBinding(floats),
                                bufferBinding(uints),
                                {.type = kSampledImage, .images = {imageOf(view)}},
                                {.type = kSampledImage, .images = {imageOf(makeView(other))}}};
    runOnce(k_fetch_float_and_uint, bindings, {(width + 7) / 8, (height + 7) / 8, 1});
    return floats;
  }
};

// Written block by block by a shader, read as what the blocks decode to: 8 and 16 bytes, square blocks and others, in
// level 1 and layer 1.
TEST_F(ImageAliasTest, BlocksAsTexels) {
  createFullDevice();
  for (const CompressedFormat& format : compressedFormats()) {
    const bool wanted = format.format == VK_FORMAT_BC1_RGB_UNORM_BLOCK || format.format == VK_FORMAT_BC7_UNORM_BLOCK ||
                        format.format == VK_FORMAT_ETC2_R8G8B8A8_UNORM_BLOCK ||
                        format.format == VK_FORMAT_ASTC_8x5_UNORM_BLOCK;
    if (!wanted) continue;
    SCOPED_TRACE(format.name);
    const TestImage image = makeShaderImage(format.format, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT,
                                            {70, 46, 1}, 2, 2, [](VkImageCreateInfo& info) {
                                              info.flags = VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT |
                                                           VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT |
                                                           VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
                                            });
    constexpr uint32_t kWidth = 35, kHeight = 23;
    const uint32_t columns = (kWidth + format.blockWidth - 1) / format.blockWidth;
    const uint32_t rows = (kHeight + format.blockHeight - 1) / format.blockHeight;
    const auto view = [&](VkFormat as, VkImageUsageFlags usage) {
      const VkImageViewUsageCreateInfo used{VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO, nullptr, usage};
      return makeView(image, VK_IMAGE_VIEW_TYPE_2D, [&](VkImageViewCreateInfo& info) {
        info.pNext = &used;
        info.format = as;
        info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 1, 1};
      });
    };
    const TestBuffer words = makeBuffer(16 * columns * rows);
    std::vector<std::array<double, 4>> expected(kWidth * kHeight);
    for (uint32_t block = 0; block < columns * rows; ++block) {
      std::vector<std::array<double, 4>> texels(format.blockWidth * format.blockHeight, {0, 0, 0, 1});
      format.make(format, random_, words.bytes + 16 * block, texels);
      for (uint32_t t = 0; t < texels.size(); ++t) {
        const uint32_t x = block % columns * format.blockWidth + t % format.blockWidth;
        const uint32_t y = block / columns * format.blockHeight + t / format.blockWidth;
        if (x < kWidth && y < kHeight) expected[y * kWidth + x] = texels[t];
      }
    }
    const VkFormat blocks = format.bytes == 8 ? VK_FORMAT_R32G32_UINT : VK_FORMAT_R32G32B32A32_UINT;
    store(view(blocks, VK_IMAGE_USAGE_STORAGE_BIT), words, columns, rows);
    const TestBuffer floats = fetchFloats(view(format.format, VK_IMAGE_USAGE_SAMPLED_BIT), kWidth, kHeight);
    for (uint32_t i = 0; i < kWidth * kHeight; ++i) {
      for (uint32_t c = 0; c < 4; ++c) {
        ASSERT_NEAR(floats.as<float>()[4 * i + c], expected[i][c], format.step / 2 + 1e-6)
            << "texel " << i % kWidth << ", " << i / kWidth << ", component " << c;
      }
    }
  }
}

TEST_F(ImageAliasTest, SlicesOfVolumes) {
  createFullDevice();
  VkImageCreateInfo info = imageInfo(VK_FORMAT_R32G32B32A32_UINT, VK_IMAGE_TYPE_3D, {20, 14, 6}, 2);
  info.flags = VK_IMAGE_CREATE_2D_VIEW_COMPATIBLE_BIT_EXT | VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
  info.usage |= VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT;
  const TestImage volume = makeImage(info);
  Model model(volume, {kColor, 16});
  for (uint32_t l = 0; l < 2; ++l) {
    for (size_t at = 0; at < model.level(l).size(); at += 4) {
      const auto value = static_cast<float>(1000 * l + at / 4);
      std::memcpy(&model.level(l)[at], &value, 4);
    }
  }
  upload(volume, model);
  const auto slice = [&](uint32_t level, uint32_t z, VkFormat format) {
    return makeView(volume, VK_IMAGE_VIEW_TYPE_2D, [&](VkImageViewCreateInfo& view) {
      view.format = format;
      view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, level, 1, z, 1};
    });
  };
  for (uint32_t level = 0; level < 2; ++level) {
    const uint32_t width = 20 >> level, height = 14 >> level, z = 2 - level;
    const TestBuffer floats = fetchFloats(slice(level, z, VK_FORMAT_R32G32B32A32_SFLOAT), width, height);
    const TestBuffer words = makeBuffer(16 * width * height);
    for (uint32_t i = 0; i < 4 * width * height; ++i) {
      EXPECT_EQ(floats.as<float>()[i], static_cast<float>(1000 * level + z * 4 * width * height + i));
      words.as<uint32_t>()[i] = 7 * i + level;
    }
    store(slice(level, z + 1, VK_FORMAT_R32G32B32A32_UINT), words, width, height);
    std::memcpy(model.at(level, z + 1, 0, 0), words.bytes, words.size);
  }
  Model after(volume, {kColor, 16});
  download(volume, after);
  expectEqual(model, after, 2);
}

// Images of several samples need formats that can be drawn to; as long as there is none, the layer stays away.
TEST_F(ImageAliasTest, SamplesOneByOne) {
  createFullDevice(false);
  VkPhysicalDeviceProperties properties{};
  vkGetPhysicalDeviceProperties(physicalDevice(), &properties);
  EXPECT_TRUE((properties.limits.storageImageSampleCounts & VK_SAMPLE_COUNT_4_BIT) != 0);
  constexpr uint32_t kWidth = 19, kHeight = 9;
  for (const VkImageUsageFlags more : {0, static_cast<int>(VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT)}) {
    const auto many = [more](VkImageCreateInfo& info) {
      info.samples = VK_SAMPLE_COUNT_4_BIT;
      info.usage |= more;
    };
    constexpr VkImageUsageFlags kUsages = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
    const TestImage image = makeShaderImage(VK_FORMAT_R8G8B8A8_UNORM, kUsages, {kWidth, kHeight, 1}, 1, 1, many);
    const TestImage counters = makeShaderImage(VK_FORMAT_R32_UINT, kUsages, {2, 1, 1}, 1, 2, many);
    run([&](VkCommandBuffer c) {
      const VkClearColorValue zero{};
      const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 2};
      vkCmdClearColorImage(c, counters.image, VK_IMAGE_LAYOUT_GENERAL, &zero, 1, &all);
    });
    const TestBuffer out = makeBuffer(kWidth * kHeight * 8 * 16);
    const VkImageView view = makeView(image);
    const Binding bindings[] = {
        bufferBinding(out),
        {.type = kStorageImage, .images = {imageOf(view)}},
        {.type = kSampledImage, .images = {imageOf(view)}},
        {.type = kStorageImage, .images = {imageOf(makeView(counters, VK_IMAGE_VIEW_TYPE_2D_ARRAY))}}};
    const Compute program = makeProgram(k_multisampled, bindings, 4);
    writeAll(program, bindings);
    for (const uint32_t store : {1u, 0u}) {
      run([&](VkCommandBuffer c) {
        bindAll(c, program);
        vkCmdPushConstants(c, program.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &store);
        vkCmdDispatch(c, (kWidth + 7) / 8, (kHeight + 7) / 8, 1);
      });
    }
    uint32_t sums[2][2] = {};
    for (uint32_t i = 0; i < kWidth * kHeight; ++i) {
      const uint32_t x = i % kWidth, y = i / kWidth;
      sums[y & 1][x & 1] += i;
      for (uint32_t s = 0; s < 4; ++s) {
        const double code[] = {x / 255.0, y / 255.0, s / 255.0, 1 / 255.0};
        const double samples[] = {4, 4, 0, 0};
        for (uint32_t c = 0; c < 4; ++c) {
          ASSERT_NEAR(out.as<float>()[4 * (8 * i + s) + c], code[c], 1e-7) << x << ", " << y << ", sample " << s;
          ASSERT_NEAR(out.as<float>()[4 * (8 * i + 4 + s) + c], code[c] + samples[c], 1e-6)
              << x << ", " << y << ", sample " << s;
        }
      }
    }
    // All four samples of a counter have the same sum: so has what they resolve to (integers: sample 0).
    const TestImage single = makeImage(imageInfo(VK_FORMAT_R32_UINT, VK_IMAGE_TYPE_2D, {2, 1, 1}, 1, 2));
    run([&](VkCommandBuffer c) {
      VkImageResolve region{};
      region.srcSubresource = region.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 2};
      region.extent = {2, 1, 1};
      vkCmdResolveImage(c, counters.image, VK_IMAGE_LAYOUT_GENERAL, single.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    });
    Model model(single, {kColor, 4});
    download(single, model);
    for (uint32_t layer = 0; layer < 2; ++layer) {
      for (uint32_t x = 0; x < 2; ++x) {
        uint32_t value = 0;
        std::memcpy(&value, model.at(0, layer, 0, x), 4);
        EXPECT_EQ(value, sums[layer][x]) << layer << ", " << x;
      }
    }
  }
}

}  // namespace
}  // namespace pumice::cts
