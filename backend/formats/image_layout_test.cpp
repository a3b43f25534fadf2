#include "backend/formats/image_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "backend/abi/memory_map.h"

namespace pumice::formats {
namespace {

constexpr VkImageUsageFlags kSampled = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
constexpr VkImageUsageFlags kTarget = kSampled | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;

// Marks every byte of every element: none may be used twice, none may lie outside.
void checkAllElements(const ImageShape& shape) {
  PlaneLayout layout;
  ASSERT_TRUE(computeLayout(shape, &layout));
  std::vector<uint8_t> used(layout.size_B, 0);
  for (uint32_t level = 0; level < shape.levelCount; ++level) {
    ASSERT_EQ(layout.levels[level].offset_B % abi::kResourceAlignBytes, 0u);
    const auto count = [&](uint32_t texels, uint32_t element) {
      const uint32_t here = std::max(texels >> level, 1u);
      return here / element + (here % element != 0);
    };
    for (uint32_t layer = 0; layer < shape.layerCount; ++layer)
      for (uint32_t z = 0; z < count(shape.depth, shape.elementDepth); ++z)
        for (uint32_t sample = 0; sample < shape.sampleCount; ++sample)
          for (uint32_t y = 0; y < count(shape.height, shape.elementHeight); ++y)
            for (uint32_t x = 0; x < count(shape.width, shape.elementWidth); ++x) {
              const uint64_t at = elementOffset_B(layout, level, layer, z, sample, x, y);
              ASSERT_LE(at + shape.elementBytes, layout.size_B);
              for (uint32_t i = 0; i < shape.elementBytes; ++i) ASSERT_EQ(used[at + i]++, 0);
            }
  }
}

TEST(ImageLayout, EveryElementOfRandomSmallImagesHasItsOwnBytes) {
  std::mt19937 random(1);
  const auto upTo = [&](uint32_t most) { return 1 + static_cast<uint32_t>(random()) % most; };
  constexpr uint8_t kBytes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  constexpr uint8_t kBlocks[][2] = {{1, 1}, {1, 1}, {1, 1}, {4, 4}, {2, 1}, {8, 5}, {12, 12}};
  for (int i = 0; i < 2000; ++i) {
    ImageShape shape;
    shape.type = static_cast<VkImageType>(random() % 3);
    shape.width = upTo(37);
    if (shape.type != VK_IMAGE_TYPE_1D) shape.height = upTo(21);
    if (shape.type == VK_IMAGE_TYPE_3D) shape.depth = upTo(7);
    if (shape.type != VK_IMAGE_TYPE_3D) shape.layerCount = upTo(4);
    shape.elementBytes = kBytes[random() % std::size(kBytes)];
    const auto& block = kBlocks[random() % std::size(kBlocks)];
    shape.elementWidth = block[0];
    shape.elementHeight = shape.type == VK_IMAGE_TYPE_1D ? 1 : block[1];
    shape.tiling = random() % 3 == 0 ? VK_IMAGE_TILING_LINEAR : VK_IMAGE_TILING_OPTIMAL;
    shape.usage = random() % 2 == 0 ? kSampled : kTarget;
    if (shape.type == VK_IMAGE_TYPE_2D && random() % 3 == 0) {
      shape.sampleCount = 1u << random() % 4;
    } else {
      shape.levelCount = upTo(6);
    }
    checkAllElements(shape);
    if (HasFatalFailure()) FAIL() << "image " << i;
  }
}

TEST(ImageLayout, OrderFollowsUsageTilingAndBytes) {
  ImageShape shape;
  shape.width = shape.height = 64;
  for (VkImageUsageFlags attachment : {VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
                                       VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT}) {
    shape.usage = kSampled | attachment;
    EXPECT_EQ(blockOrder(shape), abi::BlockOrder::kQuadMajor4);
  }
  shape.usage = kSampled | VK_IMAGE_USAGE_STORAGE_BIT;
  EXPECT_EQ(blockOrder(shape), abi::BlockOrder::kRowLinear);
  shape.usage = kTarget;
  const auto linear = [&](auto change) {
    ImageShape other = shape;
    change(other);
    return blockOrder(other) == abi::BlockOrder::kRowLinear;
  };
  EXPECT_FALSE(linear([](ImageShape& s) { s.type = VK_IMAGE_TYPE_3D; }));
  EXPECT_TRUE(linear([](ImageShape& s) { s.tiling = VK_IMAGE_TILING_LINEAR; }));
  EXPECT_FALSE(linear([](ImageShape& s) { s.type = VK_IMAGE_TYPE_1D; }));
  EXPECT_TRUE(linear([](ImageShape& s) { s.elementBytes = 12; }));
  EXPECT_TRUE(linear([](ImageShape& s) { s.elementWidth = s.elementHeight = 4; }));
}

// Worked by hand: 5 x 6 texels of 4 bytes, two levels, two layers, 4 samples of the first level alone.
TEST(ImageLayout, ExamplesByHand) {
  ImageShape shape;
  shape.width = 5;
  shape.height = 6;
  shape.levelCount = 2;
  shape.layerCount = 2;
  shape.usage = kSampled;
  PlaneLayout layout;
  ASSERT_TRUE(computeLayout(shape, &layout));  // rows of 20 bytes, padded to 64: 6 and 3 of them
  EXPECT_EQ(layout.levels[1].offset_B, 6u * 64);
  EXPECT_EQ(layout.layerPitch_B, 9u * 64);
  EXPECT_EQ(elementOffset_B(layout, 1, 1, 0, 0, 1, 2), 9u * 64 + 6 * 64 + 2 * 64 + 4);

  shape.usage = kTarget;
  ASSERT_TRUE(computeLayout(shape, &layout));  // 2 x 2 blocks of 64 bytes, then one block
  EXPECT_EQ(layout.levels[0].rowPitch_B, 128u);
  EXPECT_EQ(layout.layerPitch_B, 5u * 64);
  EXPECT_EQ(elementOffset_B(layout, 0, 0, 0, 0, 4, 5), 128u + 64 + 2 * 4);  // block (1, 1), texel (0, 1)
  EXPECT_EQ(elementOffset_B(layout, 1, 1, 0, 0, 1, 2), 5u * 64 + 4 * 64 + 9 * 4);

  shape.levelCount = 1;
  shape.sampleCount = 4;
  ASSERT_TRUE(computeLayout(shape, &layout));  // four planes to a block
  EXPECT_EQ(layout.levels[0].rowPitch_B, 2u * 256);
  EXPECT_EQ(elementOffset_B(layout, 0, 0, 0, 3, 4, 5), 512u + 256 + 3 * 64 + 8);

  shape.usage = kSampled;
  ASSERT_TRUE(computeLayout(shape, &layout));  // four rows to a row
  EXPECT_EQ(layout.levels[0].rowPitch_B, 4u * 64);
  EXPECT_EQ(elementOffset_B(layout, 0, 0, 0, 3, 4, 5), 5u * 256 + 3 * 64 + 16);

  shape.tiling = VK_IMAGE_TILING_LINEAR;
  shape.sampleCount = 1;
  ASSERT_TRUE(computeLayout(shape, &layout));
  EXPECT_EQ(layout.levels[0].rowPitch_B, 32u);
}

TEST(ImageLayout, RowsAreNeverAPageApart) {
  ImageShape shape;
  shape.width = 1024;
  shape.height = 1024;
  PlaneLayout layout;
  ASSERT_TRUE(computeLayout(shape, &layout));
  EXPECT_EQ(layout.levels[0].rowPitch_B, 4096u + 64);
  shape.usage = kTarget;
  ASSERT_TRUE(computeLayout(shape, &layout));
  EXPECT_EQ(layout.levels[0].rowPitch_B, 4u * 4096 + 64);
  shape.tiling = VK_IMAGE_TILING_LINEAR;
  ASSERT_TRUE(computeLayout(shape, &layout));
  EXPECT_EQ(layout.levels[0].rowPitch_B, 4096u);
}

TEST(ImageLayout, TheLargestImagesOfTheLimitsAndBeyond) {
  ImageShape shape;
  PlaneLayout layout;
  shape.width = shape.height = 16384;
  shape.levelCount = 15;
  shape.elementBytes = 16;
  shape.layerCount = 32;
  ASSERT_TRUE(computeLayout(shape, &layout));
  EXPECT_GT(layout.size_B, (32ull << 32) + (8ull << 32));  // level 0 alone has 4 GiB a layer, level 1 has 1 GiB
  EXPECT_LT(layout.size_B, 43ull << 32);
  shape.layerCount = 2048;  // 10 TiB
  EXPECT_FALSE(computeLayout(shape, &layout));
  shape.levelCount = 1;
  shape.width = shape.height = shape.depth = shape.layerCount = UINT32_MAX;
  shape.sampleCount = 64;
  shape.elementBytes = 32;
  EXPECT_FALSE(computeLayout(shape, &layout));
  shape.width = 4;
  EXPECT_FALSE(computeLayout(shape, &layout));
}

}  // namespace
}  // namespace pumice::formats
