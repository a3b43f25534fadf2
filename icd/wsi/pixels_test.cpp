// Pixels of windows against one texel after the other.
#include "icd/wsi/pixels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "backend/formats/image_layout.h"

namespace pumice::icd {
namespace {

constexpr PixelForm kXrgb{4, 0xff0000, 0xff00, 0xff, 0};
constexpr PixelForm kArgb{4, 0xff0000, 0xff00, 0xff, 0xff000000};
constexpr PixelForm kXbgr{4, 0xff, 0xff00, 0xff0000, 0};
constexpr PixelForm kTenBits{4, 0x3ff00000, 0xffc00, 0x3ff, 0};
constexpr PixelForm k565{2, 0xf800, 0x7e0, 0x1f, 0};

double unorm(uint32_t pixel, uint32_t mask) {
  return mask == 0 ? 1.0
                   : static_cast<double>((pixel & mask) >> std::countr_zero(mask)) / (mask >> std::countr_zero(mask));
}

uint32_t fromUnorm(double v, uint32_t mask) {
  if (mask == 0) return 0;
  return static_cast<uint32_t>(std::lround(v * (mask >> std::countr_zero(mask)))) << std::countr_zero(mask);
}

uint32_t expected(uint32_t texel, const PixelForm& from, const PixelForm& to, bool opaque) {
  return fromUnorm(unorm(texel, from.red), to.red) | fromUnorm(unorm(texel, from.green), to.green) |
         fromUnorm(unorm(texel, from.blue), to.blue) | fromUnorm(opaque ? 1.0 : unorm(texel, from.alpha), to.alpha);
}

struct Texels {
  formats::PlaneLayout layout;
  std::vector<std::byte> bytes;
  abi::Surface surface{};

  Texels(uint32_t width, uint32_t height, uint8_t elementBytes, VkImageUsageFlags usage, std::mt19937& random) {
    formats::ImageShape shape;
    shape.width = width;
    shape.height = height;
    shape.elementBytes = elementBytes;
    shape.usage = usage;
    EXPECT_TRUE(formats::computeLayout(shape, &layout));
    bytes.resize(layout.size_B);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    surface.address = reinterpret_cast<uint64_t>(bytes.data()) + layout.levels[0].offset_B;
    surface.rowPitch_B = layout.levels[0].rowPitch_B;
    surface.slicePitch_B = layout.layerPitch_B;
    surface.samplePitch_B = layout.samplePitch_B(0);
    surface.elementBytes = elementBytes;
    surface.order = layout.kind.order;
    surface.sampleCount = 1;
    surface.blockPitch_B = layout.blockPitch_B();
  }
  uint32_t at(uint32_t x, uint32_t y) const {
    uint32_t texel = 0;
    std::memcpy(&texel, bytes.data() + formats::elementOffset_B(layout, 0, 0, 0, 0, x, y), layout.kind.elementBytes);
    return texel;
  }
};

struct Case {
  VkFormat format;
  PixelForm to;
  bool opaque;
};

TEST(Pixels, EveryTexelOfTheAreaAndNoOther) {
  std::mt19937 random(1);
  const Case cases[] = {
      {VK_FORMAT_B8G8R8A8_UNORM, kXrgb, true},    {VK_FORMAT_B8G8R8A8_SRGB, kArgb, false},
      {VK_FORMAT_B8G8R8A8_UNORM, kArgb, true},    {VK_FORMAT_R8G8B8A8_UNORM, kXrgb, true},
      {VK_FORMAT_R8G8B8A8_SRGB, kArgb, false},    {VK_FORMAT_R8G8B8A8_UNORM, kArgb, true},
      {VK_FORMAT_B8G8R8A8_UNORM, kXbgr, true},    {VK_FORMAT_A2B10G10R10_UNORM_PACK32, kTenBits, true},
      {VK_FORMAT_R8G8B8A8_UNORM, kTenBits, true}, {VK_FORMAT_A2R10G10B10_UNORM_PACK32, kTenBits, true},
      {VK_FORMAT_B8G8R8A8_UNORM, k565, true},     {VK_FORMAT_R5G6B5_UNORM_PACK16, k565, true},
  };
  for (const Case& c : cases) {
    const PixelForm from = pixelForm(c.format);
    ASSERT_NE(from.bytes, 0u);
    for (int round = 0; round < 12; ++round) {
      const auto width = static_cast<uint32_t>(1 + random() % 300), height = static_cast<uint32_t>(1 + random() % 200);
      const VkImageUsageFlags usage =
          round % 2 == 0 ? VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT : VK_IMAGE_USAGE_TRANSFER_DST_BIT;
      const Texels image(width, height, static_cast<uint8_t>(from.bytes), usage, random);
      VkRect2D area{{0, 0}, {width, height}};
      if (round >= 4) {
        area.offset = {static_cast<int32_t>(random() % width), static_cast<int32_t>(random() % height)};
        area.extent = {static_cast<uint32_t>(random()) % (width - static_cast<uint32_t>(area.offset.x) + 1),
                       static_cast<uint32_t>(random()) % (height - static_cast<uint32_t>(area.offset.y) + 1)};
      }
      const uint64_t pitch = (uint64_t{width} * c.to.bytes + 3) / 4 * 4;
      std::vector<std::byte> window(pitch * height, std::byte{0xa5});
      writePixels(image.surface, from, area, {window.data(), pitch}, c.to, c.opaque);
      for (uint32_t y = 0; y < height; ++y) {
        for (uint32_t x = 0; x < width; ++x) {
          uint32_t pixel = 0;
          std::memcpy(&pixel, window.data() + y * pitch + x * c.to.bytes, c.to.bytes);
          const bool inside = x - static_cast<uint32_t>(area.offset.x) < area.extent.width &&
                              y - static_cast<uint32_t>(area.offset.y) < area.extent.height;
          const uint32_t used = c.to.red | c.to.green | c.to.blue | c.to.alpha;
          const uint32_t want =
              inside ? expected(image.at(x, y), from, c.to, c.opaque) : (c.to.bytes == 2 ? 0xa5a5u : 0xa5a5a5a5u);
          ASSERT_EQ(pixel & used, want & used) << c.format << ' ' << x << ' ' << y;
        }
      }
    }
  }
}

TEST(Pixels, FormatsOfAWindow) {
  EXPECT_EQ(presentableFormats(kXrgb), (std::vector<VkFormat>{VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB,
                                                              VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB}));
  EXPECT_EQ(presentableFormats(kXbgr).front(), VK_FORMAT_R8G8B8A8_UNORM);
  EXPECT_EQ(presentableFormats(kTenBits).front(), VK_FORMAT_A2R10G10B10_UNORM_PACK32);
  EXPECT_EQ(presentableFormats(kTenBits).size(), 6u);
  EXPECT_EQ(presentableFormats(k565).front(), VK_FORMAT_R5G6B5_UNORM_PACK16);
}

}  // namespace
}  // namespace pumice::icd
