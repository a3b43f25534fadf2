// Compressed images: fetched, filtered and sources of blits, every format of BC, ETC2, EAC and ASTC.
//
// covers: feature:textureCompressionBC, feature:textureCompressionETC2, feature:textureCompressionASTC_LDR
// covers: VK_EXT_filter_cubic, VK_IMG_filter_cubic
#include <array>
#include <cmath>
#include <cstring>

#include "cts-subset/support/compressed_blocks.h"
#include "cts-subset/support/shader_image_test.h"
#include "shaders/fetch_float_and_uint.spv.h"
#include "shaders/sample_2d.spv.h"

namespace pumice::cts {
namespace {

constexpr uint32_t kWidth = 35, kHeight = 27, kLayers = 2;  // no multiples of any block but one
constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;

using Texel = std::array<double, 4>;

class CompressedTest : public ShaderImageTest, public testing::WithParamInterface<uint32_t> {
 protected:
  const CompressedFormat& format() const { return compressedFormats()[GetParam()]; }

  // Two layers of random blocks; texels_ are those of the second.
  TestImage makeBlocks() {
    const TestImage image =
        makeShaderImage(format().format, VK_IMAGE_USAGE_SAMPLED_BIT, {kWidth, kHeight, 1}, 1, kLayers);
    Model model(image, {kColor, format().bytes, format().blockWidth, format().blockHeight});
    texels_.assign(kWidth * kHeight, {});
    for (uint32_t layer = 0; layer < kLayers; ++layer) {
      const Size blocks = model.elements(0);
      for (uint32_t y = 0; y < blocks.height; ++y) {
        for (uint32_t x = 0; x < blocks.width; ++x) {
          std::vector<Texel> texels(format().blockWidth * format().blockHeight, Texel{0, 0, 0, 1});
          format().make(format(), random_, model.at(0, layer, y, x), texels);
          place(x * format().blockWidth, y * format().blockHeight, texels);
        }
      }
    }
    upload(image, model);
    return image;
  }
  const Texel& texel(int x, int y) const {
    return texels_[static_cast<uint32_t>(std::clamp(y, 0, static_cast<int>(kHeight) - 1)) * kWidth +
                   static_cast<uint32_t>(std::clamp(x, 0, static_cast<int>(kWidth) - 1))];
  }
  double tolerance(double value) const { return format().step / 2 + 1e-6 + std::fabs(value) / 2048; }

 private:
  void place(uint32_t left, uint32_t top, const std::vector<Texel>& texels) {
    for (uint32_t y = 0; y < format().blockHeight && top + y < kHeight; ++y) {
      for (uint32_t x = 0; x < format().blockWidth && left + x < kWidth; ++x) {
        texels_[(top + y) * kWidth + left + x] = texels[y * format().blockWidth + x];
      }
    }
  }

  std::vector<Texel> texels_;
};

TEST_P(CompressedTest, FetchedFilteredAndBlitted) {
  createFullDevice();
  SCOPED_TRACE(format().name);
  VkFormatProperties properties{};
  vkGetPhysicalDeviceFormatProperties(physicalDevice(), format().format, &properties);
  constexpr VkFormatFeatureFlags kNeeded = VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT | VK_FORMAT_FEATURE_BLIT_SRC_BIT |
                                           VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT |
                                           VK_FORMAT_FEATURE_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
  ASSERT_EQ(properties.optimalTilingFeatures & kNeeded, kNeeded);
  const TestImage image = makeBlocks();
  const VkImageView second = makeView(image, VK_IMAGE_VIEW_TYPE_2D, [](VkImageViewCreateInfo& info) {
    info.subresourceRange.baseArrayLayer = 1;
    info.subresourceRange.layerCount = 1;
  });

  const TestImage other = makeShaderImage(VK_FORMAT_R8_UINT, VK_IMAGE_USAGE_SAMPLED_BIT, {1, 1, 1});
  const TestBuffer fetched = makeBuffer(16 * kWidth * kHeight), unused = makeBuffer(16 * kWidth * kHeight);
  const Binding fetchBindings[] = {bufferBinding(fetched),
                                   bufferBinding(unused),
                                   {.type = kSampledImage, .images = {imageOf(second)}},
                                   {.type = kSampledImage, .images = {imageOf(makeView(other))}}};
  runOnce(k_fetch_float_and_uint, fetchBindings, {(kWidth + 7) / 8, (kHeight + 7) / 8, 1});

  // Between texels, by eighths.
  constexpr uint32_t kQuestions = 256;
  const TestBuffer questions = makeBuffer(kQuestions * 32), answers = makeBuffer(kQuestions * 16);
  for (uint32_t i = 0; i < kQuestions; ++i) {
    float* q = &questions.as<float>()[8 * i];
    q[0] = static_cast<float>(below(8 * kWidth)) / 8 / kWidth;
    q[1] = static_cast<float>(below(8 * kHeight)) / 8 / kHeight;
  }
  const VkSampler linear = makeSampler(VK_FILTER_LINEAR, [](VkSamplerCreateInfo& info) {
    info.addressModeU = info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  });
  const Binding sampleBindings[] = {
      bufferBinding(answers), bufferBinding(questions), {.type = kCombined, .images = {imageOf(second, linear)}}};
  runOnce(k_sample_2d, sampleBindings, {kQuestions / 32, 1, 1});

  // To floats as they are, and mirrored to twice the width with a linear filter.
  const TestImage plain = makeImage(imageInfo(VK_FORMAT_R32G32B32A32_SFLOAT, VK_IMAGE_TYPE_2D, {kWidth, kHeight, 1}));
  const TestImage wide =
      makeImage(imageInfo(VK_FORMAT_R32G32B32A32_SFLOAT, VK_IMAGE_TYPE_2D, {2 * kWidth, kHeight, 1}));
  VkImageBlit region{};
  region.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 1};
  region.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.srcOffsets[1] = region.dstOffsets[1] = {kWidth, kHeight, 1};
  VkImageBlit mirrored = region;
  mirrored.dstOffsets[0] = {2 * kWidth, 0, 0};
  mirrored.dstOffsets[1] = {0, kHeight, 1};
  blit(image, plain, region, VK_FILTER_NEAREST);
  blit(image, wide, mirrored, VK_FILTER_LINEAR);
  Model plainModel(plain, {kColor, 16}), wideModel(wide, {kColor, 16});
  download(plain, plainModel);
  download(wide, wideModel);

  const auto floats = [](Model& model, uint32_t x, uint32_t y) {
    std::array<float, 4> out;
    std::memcpy(out.data(), model.at(0, 0, y, x), 16);
    return out;
  };
  const auto mixed = [&](double u, double v, uint32_t c) {
    const int x = static_cast<int>(std::floor(u)), y = static_cast<int>(std::floor(v));
    const double a = u - x, b = v - y;
    return (1 - b) * ((1 - a) * texel(x, y)[c] + a * texel(x + 1, y)[c]) +
           b * ((1 - a) * texel(x, y + 1)[c] + a * texel(x + 1, y + 1)[c]);
  };
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      for (uint32_t c = 0; c < 4; ++c) {
        SCOPED_TRACE(testing::Message() << "texel " << x << ", " << y << ", component " << c);
        const double expected = texel(static_cast<int>(x), static_cast<int>(y))[c];
        ASSERT_NEAR(fetched.as<float>()[4 * (y * kWidth + x) + c], expected, tolerance(expected));
        ASSERT_NEAR(floats(plainModel, x, y)[c], expected, tolerance(expected));
      }
    }
  }
  for (uint32_t i = 0; i < kQuestions; ++i) {
    const float* q = &questions.as<float>()[8 * i];
    for (uint32_t c = 0; c < 4; ++c) {
      // Coordinates are multiples of an eighth, but for the division by the size: a weight moves by less than 1e-5.
      const double u = static_cast<double>(q[0]) * kWidth - 0.5, v = static_cast<double>(q[1]) * kHeight - 0.5;
      double largest = 0;
      for (int k = 0; k < 4; ++k) {
        largest = std::fmax(largest, std::fabs(texel(static_cast<int>(std::floor(u)) + k % 2,
                                                     static_cast<int>(std::floor(v)) + k / 2)[c]));
      }
      ASSERT_NEAR(answers.as<float>()[4 * i + c], mixed(u, v, c), tolerance(largest)) << q[0] << ", " << q[1];
    }
  }
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < 2 * kWidth; ++x) {
      for (uint32_t c = 0; c < 4; ++c) {
        const double u = kWidth - (x + 0.5) / 2 - 0.5;
        const double expected = mixed(u, y, c);
        const int left = static_cast<int>(std::floor(u));
        const double largest = std::fmax(std::fabs(texel(left, static_cast<int>(y))[c]),
                                         std::fabs(texel(left + 1, static_cast<int>(y))[c]));
        ASSERT_NEAR(floats(wideModel, x, y)[c], expected, tolerance(largest)) << x << ", " << y << ", component " << c;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, CompressedTest,
                         testing::Range(0u, static_cast<uint32_t>(compressedFormats().size())));

class CubicTest : public ShaderImageTest {};

// Half way between the texels of a single bright one: -1/16, 9/16, 9/16, -1/16 in each direction.
TEST_F(CubicTest, SampledAndBlitted) {
  createFullDevice();
  VkPhysicalDeviceImageViewImageFormatInfoEXT view{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_VIEW_IMAGE_FORMAT_INFO_EXT};
  VkPhysicalDeviceImageFormatInfo2 query{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2, &view};
  query.format = VK_FORMAT_R32_SFLOAT;
  query.type = VK_IMAGE_TYPE_2D;
  query.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  VkFilterCubicImageViewImageFormatPropertiesEXT cubic{
      VK_STRUCTURE_TYPE_FILTER_CUBIC_IMAGE_VIEW_IMAGE_FORMAT_PROPERTIES_EXT};
  VkImageFormatProperties2 answer{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, &cubic};
  const auto supported = [&](VkFormat format, VkImageViewType type) {
    query.format = format;
    query.flags = type == VK_IMAGE_VIEW_TYPE_CUBE ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0;
    view.imageViewType = type;
    EXPECT_EQ(vkGetPhysicalDeviceImageFormatProperties2(physicalDevice(), &query, &answer), VK_SUCCESS);
    EXPECT_EQ(cubic.filterCubic, cubic.filterCubicMinmax);
    return cubic.filterCubic == VK_TRUE;
  };
  EXPECT_TRUE(supported(VK_FORMAT_R32_SFLOAT, VK_IMAGE_VIEW_TYPE_2D));
  EXPECT_TRUE(supported(VK_FORMAT_R8G8B8A8_SRGB, VK_IMAGE_VIEW_TYPE_2D_ARRAY));
  EXPECT_FALSE(supported(VK_FORMAT_R32_SFLOAT, VK_IMAGE_VIEW_TYPE_CUBE));
  EXPECT_FALSE(supported(VK_FORMAT_R32_UINT, VK_IMAGE_VIEW_TYPE_2D));

  const TestImage image = makeShaderImage(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_SAMPLED_BIT, {8, 8, 1});
  Model model(image, {kColor, 4});
  const float one = 1;
  std::memcpy(model.at(0, 0, 3, 4), &one, 4);
  upload(image, model);
  const TestBuffer questions = makeBuffer(64 * 32), answers = makeBuffer(64 * 16);
  for (uint32_t i = 0; i < 64; ++i) {  // the corners between texels
    questions.as<float>()[8 * i] = static_cast<float>(i % 8 + 1) / 8;
    questions.as<float>()[8 * i + 1] = static_cast<float>(i / 8 + 1) / 8;
  }
  const VkSampler sampler = makeSampler(VK_FILTER_CUBIC_EXT, [](VkSamplerCreateInfo& info) {
    info.addressModeU = info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  });
  const Binding bindings[] = {bufferBinding(answers),
                              bufferBinding(questions),
                              {.type = kCombined, .images = {imageOf(makeView(image), sampler)}}};
  runOnce(k_sample_2d, bindings, {2, 1, 1});
  // The same corners are the middles of a half-sized image's texels 0 to 3 with both edges left out.
  const TestImage target = makeImage(imageInfo(VK_FORMAT_R32_SFLOAT, VK_IMAGE_TYPE_2D, {4, 4, 1}));
  VkImageBlit region{};
  region.srcSubresource = region.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.srcOffsets[1] = {8, 8, 1};
  region.dstOffsets[1] = {4, 4, 1};
  blit(image, target, region, VK_FILTER_CUBIC_EXT);
  Model targetModel(target, {kColor, 4});
  download(target, targetModel);
  // The weight that the texel has for the corner at its `n`-th edge.
  const auto weight = [](int n) { return n == 0 || n == 1 ? 9.0 / 16 : n == -1 || n == 2 ? -1.0 / 16 : 0.0; };
  for (int i = 0; i < 64; ++i) {
    const double expected = weight(i % 8 + 1 - 4) * weight(i / 8 + 1 - 3);
    EXPECT_NEAR(answers.as<float>()[4 * i], expected, 1e-6) << i;
  }
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      float value = 0;
      std::memcpy(&value, targetModel.at(0, 0, static_cast<uint32_t>(y), static_cast<uint32_t>(x)), 4);
      EXPECT_NEAR(value, weight(2 * x + 1 - 4) * weight(2 * y + 1 - 3), 1e-6) << x << ", " << y;
    }
  }
}

}  // namespace
}  // namespace pumice::cts
