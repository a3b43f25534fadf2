// What lies outside of a buffer or an image reads as zero to the component and is never written; null descriptors.
//
// covers: VK_EXT_robustness2, feature:robustBufferAccess2, feature:robustImageAccess2, feature:nullDescriptor
// covers: VK_EXT_image_robustness, feature:robustImageAccess
#include <array>
#include <bit>
#include <cstring>

#include "cts-subset/support/shader_image_test.h"
#include "shaders/null_descriptors.spv.h"
#include "shaders/robust_buffers.spv.h"
#include "shaders/robust_images.spv.h"

namespace pumice::cts {
namespace {

class RobustnessTest : public ShaderImageTest {
 protected:
  // The first words of a buffer; what follows must neither be seen nor change.
  static Binding words(const TestBuffer& buffer, uint32_t count, VkDescriptorType type = kStorageBuffer) {
    return {.type = type, .buffers = {{buffer.buffer, 0, 4 * count}}};
  }
  TestBuffer makeWords(uint32_t count, uint32_t first, uint32_t rest) {
    const TestBuffer buffer = makeBuffer(4 * kWords);
    for (uint32_t i = 0; i < kWords; ++i) buffer.as<uint32_t>()[i] = i < count ? first + i : rest;
    return buffer;
  }
  static constexpr uint32_t kWords = 256;
};

TEST_F(RobustnessTest, VectorsAcrossTheEndOfABuffer) {
  createFullDevice();
  VkPhysicalDeviceRobustness2PropertiesEXT properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &properties};
  vkGetPhysicalDeviceProperties2(physicalDevice(), &all);
  EXPECT_EQ(properties.robustStorageBufferAccessSizeAlignment, 1u);
  EXPECT_EQ(properties.robustUniformBufferAccessSizeAlignment, 1u);
  constexpr uint32_t kRest = 0xabababab;
  const TestBuffer out = makeBuffer(32 * 8 * 16);
  const TestBuffer loads = makeWords(5, 10, kRest), stores = makeWords(6, 20, kRest), block = makeWords(7, 30, kRest),
                   atomics = makeWords(3, 40, kRest);
  const Binding bindings[] = {bufferBinding(out), words(loads, 5), words(stores, 6),
                              words(block, 7, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER), words(atomics, 3)};
  const uint32_t push[] = {1, 3, ~0u};
  runOnce(k_robust_buffers, bindings, {1, 1, 1}, std::as_bytes(std::span(push)));
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t shuffled = i * 5 % 32;
    for (uint32_t c = 0; c < 4; ++c) {
      SCOPED_TRACE(testing::Message() << "invocation " << i << ", component " << c);
      const auto result = [&](uint32_t n) { return out.as<uint32_t>()[4 * (8 * i + n) + c]; };
      const auto word = [&](uint32_t count, uint32_t first, uint32_t vector) {
        return 4 * vector + c < count ? first + 4 * vector + c : 0;
      };
      ASSERT_EQ(result(0), word(5, 10, 1));
      ASSERT_EQ(result(1), word(5, 10, i));
      ASSERT_EQ(result(2), word(5, 10, 3 * i));
      ASSERT_EQ(result(3), word(5, 10, shuffled));
      ASSERT_EQ(result(4), word(7, 30, i));
      ASSERT_EQ(result(5), word(7, 30, shuffled) + word(7, 30, 1));
      ASSERT_EQ(result(6), 0u);
      const uint32_t lengths[] = {1, 1, 3, 0};
      ASSERT_EQ(result(7), lengths[c]);
    }
  }
  for (uint32_t i = 0; i < kWords; ++i) {
    EXPECT_EQ(loads.as<uint32_t>()[i], i < 5 ? 10 + i : kRest) << i;
    EXPECT_EQ(stores.as<uint32_t>()[i], i < 6 ? 100 + i / 4 : kRest) << i;
    EXPECT_EQ(atomics.as<uint32_t>()[i], i < 3 ? 40 + i + 4 : kRest) << i;
  }
}

TEST_F(RobustnessTest, NullDescriptorsOfEveryKind) {
  createFullDevice();
  const TestBuffer out = makeBuffer(16 * 16 * 16);
  std::memset(out.bytes, 0xcc, out.size);
  const VkDescriptorBufferInfo noBuffer{VK_NULL_HANDLE, 0, VK_WHOLE_SIZE};
  const VkSampler sampler = makeSampler(VK_FILTER_LINEAR);
  const Binding noImage{.type = kSampledImage, .images = {imageOf({})}};
  const Binding bindings[] = {bufferBinding(out),
                              {.type = kStorageBuffer, .buffers = {noBuffer}},
                              {.type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, .buffers = {noBuffer}},
                              {.type = kUniformTexels, .texelBuffers = {VK_NULL_HANDLE}},
                              {.type = kStorageTexels, .texelBuffers = {VK_NULL_HANDLE}},
                              {.type = kCombined, .images = {imageOf({}, sampler)}},
                              noImage,
                              {.type = kSampler, .images = {imageOf({}, sampler)}},
                              {.type = kStorageImage, .images = {imageOf({})}},
                              noImage};
  runOnce(k_null_descriptors, bindings, {1, 1, 1});
  for (uint32_t i = 0; i < 16; ++i) {
    for (uint32_t n = 0; n < 14 * 4; ++n) {
      ASSERT_EQ(out.as<uint32_t>()[64 * i + n], 0u) << "invocation " << i << ", result " << n / 4 << '.' << n % 4;
    }
  }
}

TEST_F(RobustnessTest, TexelsOutsideOfImages) {
  createFullDevice();
  constexpr uint32_t kWidth = 5, kHeight = 3, kLayers = 2, kLevels = 2, kTexels = 6;
  constexpr uint32_t kFloatOne = std::bit_cast<uint32_t>(1.0f);
  const TestImage sampled =
      makeShaderImage(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_USAGE_SAMPLED_BIT, {kWidth, kHeight, 1}, kLevels, kLayers);
  const TestImage two =
      makeShaderImage(VK_FORMAT_R8G8_UNORM, VK_IMAGE_USAGE_SAMPLED_BIT, {kWidth, kHeight, 1}, kLevels, kLayers);
  const TestImage stored =
      makeShaderImage(VK_FORMAT_R32_UINT, VK_IMAGE_USAGE_STORAGE_BIT, {kWidth, kHeight, 1}, 1, kLayers);
  const auto fill = [&](const TestImage& image, uint32_t bytes, std::byte value) {
    Model model(image, {VK_IMAGE_ASPECT_COLOR_BIT, bytes});
    for (uint32_t l = 0; l < image.info.mipLevels; ++l) std::ranges::fill(model.level(l), value);
    upload(image, model);
  };
  fill(sampled, 4, std::byte{0xff});
  fill(two, 2, std::byte{0xff});
  fill(stored, 4, std::byte{0});
  const TestBuffer texels = makeBuffer(4 * 64, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT),
                   counters = makeBuffer(4 * 64, VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
  std::ranges::fill(texels.as<uint32_t>(), 77u);
  std::ranges::fill(counters.as<uint32_t>(), 0u);
  // x, y, layer, level; each a little or far outside, in every combination with coordinates inside.
  const TestBuffer places = makeBuffer(64 * 16), out = makeBuffer(64 * 8 * 16);
  constexpr int32_t kX[] = {0, 4, 5, -1, 6, INT32_MAX, INT32_MIN, 2};
  for (uint32_t i = 0; i < 64; ++i) {
    constexpr int32_t kOthers[8][3] = {{0, 0, 0}, {1, 1, 0},  {3, 0, 0}, {-1, 0, 0},
                                       {0, 2, 0}, {0, -1, 0}, {0, 0, 2}, {0, 0, -1}};
    int32_t* p = &places.as<int32_t>()[4 * i];
    p[0] = kX[i % 8];
    std::copy_n(kOthers[i / 8], 3, p + 1);
  }
  // 6 texels of the buffers are seen, of 64 that they have.
  const Binding bindings[] = {
      bufferBinding(out),
      bufferBinding(places),
      {.type = kSampledImage, .images = {imageOf(makeView(sampled, VK_IMAGE_VIEW_TYPE_2D_ARRAY))}},
      {.type = kSampledImage, .images = {imageOf(makeView(two, VK_IMAGE_VIEW_TYPE_2D_ARRAY))}},
      {.type = kStorageImage, .images = {imageOf(makeView(stored, VK_IMAGE_VIEW_TYPE_2D_ARRAY))}},
      {.type = kUniformTexels, .texelBuffers = {makeBufferView(texels, VK_FORMAT_R32_UINT, 0, 4 * kTexels)}},
      {.type = kStorageTexels, .texelBuffers = {makeBufferView(counters, VK_FORMAT_R32_UINT, 0, 4 * kTexels)}}};
  runOnce(k_robust_images, bindings, {1, 1, 1});
  for (uint32_t i = 0; i < 64; ++i) {
    const int32_t* p = &places.as<int32_t>()[4 * i];
    SCOPED_TRACE(testing::Message() << "at " << p[0] << ", " << p[1] << ", layer " << p[2] << ", level " << p[3]);
    const bool inLevel0 = p[0] >= 0 && p[0] < 5 && p[1] >= 0 && p[1] < 3 && p[2] >= 0 && p[2] < 2;
    const bool inside = inLevel0 && p[3] == 0;
    const uint32_t* r = &out.as<uint32_t>()[32 * i];
    const uint32_t one = inside ? kFloatOne : 0;
    for (uint32_t c = 0; c < 4; ++c) EXPECT_EQ(r[c], one) << c;
    const uint32_t pair[] = {one, one, 0, kFloatOne};
    EXPECT_EQ(std::memcmp(r + 4, pair, sizeof pair), 0);
    // Invocations may see each other's values inside; outside there is nothing to see, and alpha is 1.
    if (!inLevel0) {
      const uint32_t nothing[] = {0, 0, 0, 1};
      EXPECT_EQ(std::memcmp(r + 8, nothing, sizeof nothing), 0);
      EXPECT_EQ(r[12], 0u);
    }
    const bool inBuffer = p[0] >= 0 && p[0] < static_cast<int32_t>(kTexels);
    const uint32_t texel[] = {inBuffer ? 77u : 0, 0, 0, 1};
    EXPECT_EQ(std::memcmp(r + 16, texel, sizeof texel), 0);
    if (!inBuffer) {
      const uint32_t nothing[] = {0, 0, 0, 1};
      EXPECT_EQ(std::memcmp(r + 20, nothing, sizeof nothing), 0);
      EXPECT_EQ(r[24], 0u);
    }
  }
  Model model(stored, {VK_IMAGE_ASPECT_COLOR_BIT, 4});
  download(stored, model);
  for (uint32_t layer = 0; layer < kLayers; ++layer) {
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        uint32_t texel = 0;
        std::memcpy(&texel, model.at(0, layer, y, x), 4);
        const bool touched = (x == 0 || x == 2 || x == 4) && ((layer == 0 && y == 0) || (layer == 1 && y == 1));
        EXPECT_EQ(texel != 0, touched) << x << ", " << y << ", " << layer;
      }
    }
  }
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(counters.as<uint32_t>()[i] != 0, i == 0 || i == 2 || i == 4 || i == 5) << i;
    EXPECT_EQ(texels.as<uint32_t>()[i], 77u);
  }
}

}  // namespace
}  // namespace pumice::cts
