// The copy engine's image loops against one element after the other.
#include "backend/gpu/image_copy.h"

#include <gtest/gtest.h>

#include <thread>

#include "backend/gpu/image_test_support.h"

namespace pumice::gpu::test {
namespace {

constexpr VkImageUsageFlags kLinear = VK_IMAGE_USAGE_SAMPLED_BIT;
constexpr VkImageUsageFlags kQuads = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;

class ImageCopy : public testing::Test {
 protected:
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  uint32_t upTo(uint32_t most) { return 1 + below(most); }

  formats::ImageShape randomShape(uint8_t elementBytes, uint32_t samples) {
    formats::ImageShape shape;
    shape.width = upTo(below(8) == 0 ? 700 : 40);
    shape.height = upTo(40);
    if (samples == 1 && below(2) == 0) {
      shape.type = VK_IMAGE_TYPE_3D;
      shape.depth = 3;
    } else {
      shape.layerCount = 3;
    }
    shape.sampleCount = samples;
    shape.elementBytes = elementBytes;
    shape.usage = below(2) == 0 ? kLinear : kQuads;
    return shape;
  }

  std::mt19937 random_{7};
};

TEST_F(ImageCopy, RandomRegionsOfAllOrdersAndSizes) {
  constexpr uint8_t kBytes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  for (int i = 0; i < 2500; ++i) {
    const uint8_t bytes = kBytes[below(std::size(kBytes))];
    const uint32_t samples = below(4) == 0 ? 4 : 1;
    TestImage src(randomShape(bytes, samples), random_), dst(randomShape(bytes, samples), random_);
    abi::CopyImagePacket p{};
    p.width = upTo(std::min(src.shape().width, dst.shape().width));
    p.height = upTo(std::min(src.shape().height, dst.shape().height));
    p.sliceCount = upTo(3);
    const uint32_t srcSlice = below(4 - p.sliceCount), dstSlice = below(4 - p.sliceCount);
    p.src = src.surface(0, srcSlice);
    p.dst = dst.surface(0, dstSlice);
    const auto place = [&](uint32_t size, uint32_t part) {
      const uint32_t at = below(size - part + 1);
      return below(2) == 0 ? at / 4 * 4 : at;  // whole blocks are a case of their own
    };
    p.srcOrigin = {place(src.shape().width, p.width), place(src.shape().height, p.height)};
    p.dstOrigin = {place(dst.shape().width, p.width), place(dst.shape().height, p.height)};

    std::vector<std::byte> expected = dst.content();
    for (uint32_t slice = 0; slice < p.sliceCount; ++slice)
      for (uint32_t sample = 0; sample < samples; ++sample)
        for (uint32_t y = 0; y < p.height; ++y)
          for (uint32_t x = 0; x < p.width; ++x)
            std::memcpy(expected.data() + dst.offset(0, dstSlice + slice, sample, p.dstOrigin.x + x, p.dstOrigin.y + y),
                        src.at(0, srcSlice + slice, sample, p.srcOrigin.x + x, p.srcOrigin.y + y), bytes);
    const uint64_t units = copyBands(p).unitCount();
    copyImage(p, 0, units, below(2) == 0);
    ASSERT_TRUE(expected == dst.content()) << "case " << i << ": " << int{bytes} << " bytes, " << p.width << " x "
                                           << p.height << ", quads " << src.quads() << " to " << dst.quads();
  }
}

// Rows so long, and so many, that a region has many units; they may run in any order.
TEST_F(ImageCopy, UnitsTogetherAreTheWhole) {
  for (VkImageUsageFlags dstUsage : {kLinear, kQuads})
    for (VkImageUsageFlags srcUsage : {kLinear, kQuads}) {
      formats::ImageShape shape;
      shape.width = 3001;
      shape.height = 203;
      shape.layerCount = 2;
      shape.usage = srcUsage;
      TestImage src(shape, random_);
      shape.usage = dstUsage;
      TestImage dst(shape, random_);
      abi::CopyImagePacket p{};
      p.dst = dst.surface(0, 0);
      p.src = src.surface(0, 0);
      p.dstOrigin = {2, 3};
      p.srcOrigin = {1, 1};
      p.width = 2999;
      p.height = 199;
      p.sliceCount = 2;
      const uint64_t units = copyBands(p).unitCount();
      ASSERT_GT(units, 40u);
      for (uint64_t u = units; u-- > 0;) copyImage(p, u, u + 1, u % 2 == 0);
      for (uint32_t slice = 0; slice < 2; ++slice)
        for (uint32_t y = 0; y < p.height; ++y)
          for (uint32_t x = 0; x < p.width; ++x)
            ASSERT_EQ(std::memcmp(dst.at(0, slice, 0, x + 2, y + 3), src.at(0, slice, 0, x + 1, y + 1), 4), 0)
                << x << ", " << y;
    }
}

// Four threads write the columns and rows that are theirs, over and over; nobody's texels may be lost.
TEST_F(ImageCopy, ConcurrentCopiesToNeighbouringTexelsAreExact) {
  formats::ImageShape shape;
  shape.width = 64;
  shape.height = 64;
  shape.usage = kQuads;
  for (uint8_t bytes : {1, 2, 4, 8, 16}) {
    shape.elementBytes = bytes;
    TestImage dst(shape, random_), src(shape, random_);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < 200; ++round)
          for (uint32_t column = t; column < 64; column += 4) {
            abi::CopyImagePacket p{};
            p.dst = dst.surface(0, 0);
            p.src = src.surface(0, 0);
            const bool row = column % 8 < 4;  // a column below row 32, a row above
            p.dstOrigin = p.srcOrigin = row ? abi::SurfaceOrigin{0, column / 2} : abi::SurfaceOrigin{column, 32};
            if (row && column % 2 != 0) continue;
            p.width = row ? 64 : 1;
            p.height = row ? 1 : 32;
            p.sliceCount = 1;
            copyImage(p, 0, copyBands(p).unitCount(), round % 2 == 0);
          }
      });
    }
    for (std::thread& t : threads) t.join();
    for (uint32_t column = 0; column < 64; ++column) {
      const bool row = column % 8 < 4;
      if (row && column % 2 != 0) continue;
      for (uint32_t i = 0; i < (row ? 64u : 32u); ++i) {
        const uint32_t x = row ? i : column, y = row ? column / 2 : 32 + i;
        ASSERT_EQ(std::memcmp(dst.at(0, 0, 0, x, y), src.at(0, 0, 0, x, y), bytes), 0) << x << ", " << y;
      }
    }
  }
}

TEST_F(ImageCopy, ClearsWriteEveryElementAndNothingBehindLinearRows) {
  for (uint8_t bytes : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32})
    for (VkImageUsageFlags usage : {kLinear, kQuads})
      for (uint32_t samples : {1u, 4u}) {
        formats::ImageShape shape;
        shape.width = 61;
        shape.height = 1100;
        shape.layerCount = 3;
        shape.levelCount = samples == 1 ? 3 : 1;
        shape.sampleCount = samples;
        shape.elementBytes = bytes;
        shape.usage = usage;
        TestImage image(shape, random_);
        const uint32_t level = samples == 1 ? 1 : 0;
        abi::ClearImagePacket p{};
        p.dst = image.surface(level, 1);
        p.width = shape.width >> level;
        p.height = shape.height >> level;
        p.sliceCount = 2;
        for (size_t b = 0; b < sizeof p.element; ++b) p.element[b] = static_cast<std::byte>(17 + 3 * b);
        std::vector<std::byte> expected = image.content();
        for (uint32_t slice = 1; slice < 3; ++slice)
          for (uint32_t sample = 0; sample < samples; ++sample)
            for (uint32_t y = 0; y < p.height; ++y)
              for (uint32_t x = 0; x < p.width; ++x)
                std::memcpy(expected.data() + image.offset(level, slice, sample, x, y), p.element, bytes);
        const uint64_t units = clearBands(p).unitCount();
        for (uint64_t u = 0; u < units; ++u) clearImage(p, u, u + 1);
        if (!image.quads()) {
          ASSERT_TRUE(expected == image.content()) << int{bytes};
          continue;
        }
        // Blocks at the edge may be written whole.
        for (uint32_t slice = 0; slice < 3; ++slice)
          for (uint32_t l = 0; l < shape.levelCount; ++l)
            for (uint32_t sample = 0; sample < samples; ++sample)
              for (uint32_t y = 0; y < shape.height >> l; ++y)
                for (uint32_t x = 0; x < shape.width >> l; ++x)
                  ASSERT_EQ(std::memcmp(image.at(l, slice, sample, x, y),
                                        expected.data() + image.offset(l, slice, sample, x, y), bytes),
                            0);
      }
}

TEST_F(ImageCopy, NothingToDoHasNoUnits) {
  abi::CopyImagePacket p{};
  p.dst.elementBytes = p.src.elementBytes = 4;
  p.dst.sampleCount = p.src.sampleCount = 1;
  p.width = 0;
  p.height = p.sliceCount = 1;
  EXPECT_EQ(copyBands(p).unitCount(), 0u);
  p.width = 1;
  p.height = 0;
  EXPECT_EQ(copyBands(p).unitCount(), 0u);
}

}  // namespace
}  // namespace pumice::gpu::test
