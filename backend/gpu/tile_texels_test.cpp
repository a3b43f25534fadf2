// Clears and resolves of a tile against one element and one double at a time.
#include "backend/gpu/tile_texels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backend/formats/codec_reference.h"
#include "backend/formats/format_table.h"
#include "backend/gpu/image_test_support.h"

namespace pumice::gpu::test {
namespace {

using abi::ResolveMode;
using formats::reference::Numeric;

constexpr VkImageUsageFlags kQuads = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
constexpr VkImageUsageFlags kRows = VK_IMAGE_USAGE_SAMPLED_BIT;

class TileTexels : public testing::Test {
 protected:
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }

  TestImage makeImage(uint32_t bytes, uint32_t samples, VkImageUsageFlags usage = kQuads) {
    formats::ImageShape shape;
    shape.width = 37;
    shape.height = 22;
    shape.layerCount = 2;
    shape.elementBytes = static_cast<uint8_t>(bytes);
    shape.sampleCount = samples;
    shape.usage = usage;
    return TestImage(shape, random_);
  }

  abi::PassArea randomArea(const TestImage& image) {
    abi::PassArea a{};
    a.x = below(image.shape().width);
    a.y = below(image.shape().height);
    a.width = below(image.shape().width - a.x + 1);
    a.height = below(image.shape().height - a.y + 1);
    return a;
  }

  std::mt19937 random_{5};
};

TEST_F(TileTexels, FillsTheAreaAndNothingElse) {
  for (const VkImageUsageFlags usage : {kQuads, kRows})
    for (const uint32_t bytes : {1u, 2u, 4u, 8u, 16u})
      for (const uint32_t samples : {1u, 2u, 4u, 8u})
        for (int i = 0; i < 10; ++i) {
          TestImage image = makeImage(bytes, samples, usage);
          const abi::PassArea a = randomArea(image);
          std::byte element[16];
          for (std::byte& b : element) b = static_cast<std::byte>(below(256));
          std::vector<std::byte> expected = image.content();
          for (uint32_t y = a.y; y < a.y + a.height; ++y)
            for (uint32_t x = a.x; x < a.x + a.width; ++x)
              for (uint32_t s = 0; s < samples; ++s)
                std::memcpy(expected.data() + image.offset(0, 1, s, x, y), element, bytes);
          fillTile(image.surface(0, 1), a, element);
          ASSERT_EQ(image.content(), expected) << bytes << " bytes, " << samples << " samples";
        }
}

struct Case {
  VkFormat format;
  ResolveMode mode;
};

// What the mode says of one channel, as a number.
double expectedChannel(ResolveMode mode, const std::vector<double>& samples) {
  if (mode == ResolveMode::kMin) return *std::min_element(samples.begin(), samples.end());
  if (mode == ResolveMode::kMax) return *std::max_element(samples.begin(), samples.end());
  double sum = 0;
  for (const double v : samples) sum += v;
  return sum / static_cast<double>(samples.size());
}

// What storing a number may change of it.
double roundingOf(const formats::reference::Channel& c, double value) {
  switch (c.numeric) {
    case Numeric::kUnorm:
      return 0.5 / static_cast<double>((uint64_t{1} << c.bits) - 1);
    case Numeric::kSnorm:
      return 0.5 / static_cast<double>((uint64_t{1} << (c.bits - 1)) - 1);
    case Numeric::kSrgb:
      return 0.0065;  // half a code where the curve is steepest: 2.28 / 255, and less elsewhere
    case Numeric::kUfloat:
    case Numeric::kSfloat: {
      const int mantissa = c.bits == 32 ? 20 : c.bits == 16 ? 10 : c.bits - 5;
      return std::fmax(std::fabs(value), 0x1p-14) * std::ldexp(0.5, -mantissa) + 1e-7;  // denormals: as 2^-14
    }
    default:
      return 0;
  }
}

TEST_F(TileTexels, Resolves) {
  const Case cases[] = {
      {VK_FORMAT_R8G8B8A8_UNORM, ResolveMode::kAverage},
      {VK_FORMAT_R8_UNORM, ResolveMode::kAverage},
      {VK_FORMAT_B8G8R8A8_SRGB, ResolveMode::kAverage},
      {VK_FORMAT_R8G8_SNORM, ResolveMode::kAverage},
      {VK_FORMAT_R16G16B16A16_SFLOAT, ResolveMode::kAverage},
      {VK_FORMAT_R32G32B32A32_SFLOAT, ResolveMode::kAverage},
      {VK_FORMAT_R5G6B5_UNORM_PACK16, ResolveMode::kAverage},
      {VK_FORMAT_B10G11R11_UFLOAT_PACK32, ResolveMode::kAverage},
      {VK_FORMAT_R16_UNORM, ResolveMode::kAverage},
      {VK_FORMAT_D32_SFLOAT, ResolveMode::kAverage},
      {VK_FORMAT_D32_SFLOAT, ResolveMode::kMin},
      {VK_FORMAT_D32_SFLOAT, ResolveMode::kMax},
      {VK_FORMAT_D16_UNORM, ResolveMode::kAverage},
      {VK_FORMAT_D16_UNORM, ResolveMode::kMin},
      {VK_FORMAT_X8_D24_UNORM_PACK32, ResolveMode::kMax},
      {VK_FORMAT_S8_UINT, ResolveMode::kMin},
      {VK_FORMAT_S8_UINT, ResolveMode::kMax},
  };
  for (const Case& k : cases)
    for (const uint32_t samples : {2u, 4u, 8u})
      for (const VkImageUsageFlags usage : {kQuads, kQuads, kRows}) {
        const formats::FormatInfo& info = formats::formatInfo(k.format);
        const auto channels = formats::reference::channelsOf(info.name);
        TestImage src = makeImage(info.blockBytes, samples), dst = makeImage(info.blockBytes, 1, usage);
        // Numbers between 0 and 1 in formats of floats, anything else elsewhere.
        for (uint32_t y = 0; y < src.shape().height; ++y)
          for (uint32_t x = 0; x < src.shape().width; ++x)
            for (uint32_t s = 0; s < samples; ++s)
              for (const auto& c : channels) {
                const float number = static_cast<float>(below(4096)) / 4096;
                uint64_t code = random_();
                if (c.numeric == Numeric::kSfloat && c.bits == 32) std::memcpy(&code, &number, 4);
                if (c.numeric == Numeric::kSfloat && c.bits == 16) code = below(0x3C00);
                if (c.numeric == Numeric::kUfloat) code = below(15u << (c.bits - 5));
                formats::reference::setBits(src.at(0, 1, s, x, y), c.offset, c.bits, code);
              }
        const abi::PassArea a = randomArea(dst);
        const std::vector<std::byte> before = dst.content();
        resolveTile(dst.surface(0, 1), src.surface(0, 1), a, static_cast<uint32_t>(k.format), k.mode);
        for (uint32_t y = 0; y < dst.shape().height; ++y)
          for (uint32_t x = 0; x < dst.shape().width; ++x) {
            if (x - a.x >= a.width || y - a.y >= a.height) {
              ASSERT_EQ(std::memcmp(dst.at(0, 1, 0, x, y), before.data() + dst.offset(0, 1, 0, x, y), info.blockBytes),
                        0);
              continue;
            }
            for (const auto& c : channels) {
              if (c.letter == 'X') continue;
              std::vector<double> numbers;
              for (uint32_t s = 0; s < samples; ++s)
                numbers.push_back(formats::reference::decodeChannel(
                    c, formats::reference::bitsOf(src.at(0, 1, s, x, y), c.offset, c.bits)));
              const double expected = expectedChannel(k.mode, numbers);
              const double actual = formats::reference::decodeChannel(
                  c, formats::reference::bitsOf(dst.at(0, 1, 0, x, y), c.offset, c.bits));
              ASSERT_NEAR(actual, expected, roundingOf(c, expected) * 1.001 + 1e-9)
                  << info.name << " " << samples << " samples at " << x << ", " << y;
            }
          }
      }
}

TEST_F(TileTexels, TiesOfEightBitsRoundToEven) {
  TestImage src = makeImage(1, 2), dst = makeImage(1, 1);
  for (uint32_t x = 0; x < 8; ++x) {
    *src.at(0, 0, 0, x, 0) = static_cast<std::byte>(x);
    *src.at(0, 0, 1, x, 0) = static_cast<std::byte>(x + 1);
  }
  resolveTile(dst.surface(0, 0), src.surface(0, 0), {0, 0, 8, 1}, VK_FORMAT_R8_UNORM, ResolveMode::kAverage);
  for (uint32_t x = 0; x < 8; ++x) EXPECT_EQ(static_cast<uint32_t>(*dst.at(0, 0, 0, x, 0)), (x + 1) / 2 * 2) << x;
}

TEST_F(TileTexels, IntegersAndSampleZeroAreMoved) {
  const Case cases[] = {{VK_FORMAT_R16G16_SINT, ResolveMode::kAverage},
                        {VK_FORMAT_R8G8B8A8_UNORM, ResolveMode::kSampleZero},
                        {VK_FORMAT_S8_UINT, ResolveMode::kSampleZero}};
  for (const Case& k : cases) {
    const uint32_t bytes = formats::formatInfo(k.format).blockBytes;
    TestImage src = makeImage(bytes, 4), dst = makeImage(bytes, 1);
    resolveTile(dst.surface(0, 0), src.surface(0, 0), {1, 2, 30, 19}, static_cast<uint32_t>(k.format), k.mode);
    for (uint32_t y = 2; y < 21; ++y)
      for (uint32_t x = 1; x < 31; ++x) ASSERT_EQ(std::memcmp(dst.at(0, 0, 0, x, y), src.at(0, 0, 0, x, y), bytes), 0);
  }
}

}  // namespace
}  // namespace pumice::gpu::test
