// Atomics on texels of 64 bits and of floats, in images and texel buffers; fetches of 64 bits.
//
// covers: VK_EXT_shader_image_atomic_int64, feature:shaderImageInt64Atomics
// covers: feature:shaderImageFloat32Atomics, feature:shaderImageFloat32AtomicAdd,
// covers: feature:shaderImageFloat32AtomicMinMax
#include <algorithm>
#include <cstring>
#include <set>

#include "cts-subset/support/shader_image_test.h"
#include "shaders/fetch_int64.spv.h"
#include "shaders/image_atomics64.spv.h"
#include "shaders/image_atomics_float.spv.h"
#include "shaders/image_atomics_float_minmax.spv.h"

namespace pumice::cts {
namespace {

constexpr uint32_t kLanes = 256;
constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;

class ImageAtomicTest : public ShaderImageTest {
 protected:
  void expectAtomic(VkFormat format) {
    VkFormatProperties p{};
    vkGetPhysicalDeviceFormatProperties(physicalDevice(), format, &p);
    EXPECT_TRUE((p.optimalTilingFeatures & VK_FORMAT_FEATURE_STORAGE_IMAGE_ATOMIC_BIT) != 0) << format;
    EXPECT_TRUE((p.bufferFeatures & VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_ATOMIC_BIT) != 0) << format;
  }
};

TEST_F(ImageAtomicTest, SixtyFourBits) {
  createFullDevice();
  expectAtomic(VK_FORMAT_R64_UINT);
  expectAtomic(VK_FORMAT_R64_SINT);
  constexpr uint64_t kLarge = uint64_t{1} << 40;
  const TestImage image = makeShaderImage(VK_FORMAT_R64_UINT, VK_IMAGE_USAGE_STORAGE_BIT, {kLanes, 2, 1});
  const TestImage signedImage = makeShaderImage(VK_FORMAT_R64_SINT, VK_IMAGE_USAGE_STORAGE_BIT, {2, 1, 1});
  Model model(image, {kColor, 8}), signedModel(signedImage, {kColor, 8});
  const uint64_t initial[8] = {0, ~uint64_t{0}, 0, ~uint64_t{0}, 0, 0, 77, 0x500000005};
  std::memcpy(model.at(0, 0, 0, 0), initial, sizeof initial);
  const int64_t signedInitial[2] = {INT64_MAX, INT64_MIN};
  std::memcpy(signedModel.at(0, 0, 0, 0), signedInitial, sizeof signedInitial);
  upload(image, model);
  upload(signedImage, signedModel);
  const TestBuffer texels = makeBuffer(8 * (kLanes + 4), VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT),
                   out = makeBuffer(kLanes * 32);
  for (uint32_t i = 0; i < kLanes + 4; ++i) texels.as<uint64_t>()[i] = i < 4 ? 0 : (kLarge << 8) + i;
  const Binding bindings[] = {bufferBinding(out),
                              {.type = kStorageImage, .images = {imageOf(makeView(image))}},
                              {.type = kStorageImage, .images = {imageOf(makeView(signedImage))}},
                              {.type = kStorageTexels, .texelBuffers = {makeBufferView(texels, VK_FORMAT_R64_UINT)}}};
  runOnce(k_image_atomics64, bindings, {kLanes / 64, 1, 1});
  download(image, model);
  download(signedImage, signedModel);

  uint64_t sum = 0, exclusive = 0, quarter[4] = {};
  for (uint64_t i = 0; i < kLanes; ++i) {
    sum += (i + 1) * 0x100000001u;
    exclusive ^= i * 0x9e3779b97f4a7c15u;
    quarter[i & 3] += kLarge + i;
  }
  uint64_t texel[8];
  std::memcpy(texel, model.at(0, 0, 0, 0), sizeof texel);
  EXPECT_EQ(texel[0], sum);
  EXPECT_EQ(texel[1], kLarge);
  EXPECT_EQ(texel[2], kLarge + kLanes - 1);
  EXPECT_EQ(texel[3], 0u);
  EXPECT_EQ(texel[4], ~uint64_t{0});
  EXPECT_EQ(texel[5], exclusive);
  int64_t signedTexel[2];
  std::memcpy(signedTexel, signedModel.at(0, 0, 0, 0), sizeof signedTexel);
  EXPECT_EQ(signedTexel[0], -static_cast<int64_t>(kLarge + kLanes - 1));
  EXPECT_EQ(signedTexel[1], static_cast<int64_t>(kLarge + kLanes - 1) - (int64_t{1} << 41));
  for (uint32_t k = 0; k < 4; ++k) EXPECT_EQ(texels.as<uint64_t>()[k], quarter[k]) << k;
  // Exchanges hand every value on once; one exchange with comparison wins.
  std::set<uint64_t> handed = {texel[6]};
  uint32_t won = 0;
  const std::span<const uint64_t> result = out.as<uint64_t>();
  for (uint64_t i = 0; i < kLanes; ++i) {
    handed.insert(result[4 * i]);
    if (result[4 * i + 1] == 0x500000005) {
      ++won;
      EXPECT_EQ(texel[7], kLarge + i);
    } else {
      EXPECT_EQ(result[4 * i + 1], texel[7]);
    }
    EXPECT_EQ(result[4 * i + 2], (kLarge + i) * 3);
    EXPECT_EQ(result[4 * i + 3], (kLarge << 8) + 4 + i);
  }
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(handed.size(), kLanes + 1);
  EXPECT_TRUE(handed.contains(77));
}

TEST_F(ImageAtomicTest, FetchesOfSixtyFourBits) {
  createFullDevice();
  constexpr uint32_t kInvocations = 32, kTexels = 20;
  for (const VkFormat format : {VK_FORMAT_R64_UINT, VK_FORMAT_R64_SINT}) {
    VkFormatProperties p{};
    vkGetPhysicalDeviceFormatProperties(physicalDevice(), format, &p);
    EXPECT_TRUE((p.bufferFeatures & VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT) != 0) << format;
  }
  const TestBuffer texels = makeBuffer(kTexels * 8, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT);
  const TestBuffer out = makeBuffer(kInvocations * 64);
  for (uint64_t i = 0; i < kTexels; ++i) texels.as<uint64_t>()[i] = (i + 1) * 0xf123'4567'89ab'cdefu;
  const Binding bindings[] = {bufferBinding(out),
                              {.type = kUniformTexels, .texelBuffers = {makeBufferView(texels, VK_FORMAT_R64_UINT)}},
                              {.type = kUniformTexels, .texelBuffers = {makeBufferView(texels, VK_FORMAT_R64_SINT)}}};
  runOnce(k_fetch_int64, bindings, {1, 1, 1});
  for (uint64_t i = 0; i < kInvocations; ++i) {
    for (uint32_t c = 0; c < 8; ++c) {
      if (i >= kTexels && c % 4 == 3) continue;  // 0 or 1 beyond the end
      const uint64_t expected = c % 4 == 3 ? 1 : c % 4 == 0 && i < kTexels ? (i + 1) * 0xf123'4567'89ab'cdefu : 0;
      EXPECT_EQ(out.as<uint64_t>()[8 * i + c], expected) << i << ' ' << c;
    }
  }
}

TEST_F(ImageAtomicTest, Floats) {
  createFullDevice();
  expectAtomic(VK_FORMAT_R32_SFLOAT);
  const TestImage image = makeShaderImage(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_STORAGE_BIT, {2, 1, 1});
  Model model(image, {kColor, 4});
  upload(image, model);
  const TestBuffer texels = makeBuffer(4 * 5, VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT), out = makeBuffer(kLanes * 8);
  std::ranges::fill(texels.as<float>(), 0.0f);
  const Binding bindings[] = {bufferBinding(out),
                              {.type = kStorageImage, .images = {imageOf(makeView(image))}},
                              {.type = kStorageTexels, .texelBuffers = {makeBufferView(texels, VK_FORMAT_R32_SFLOAT)}}};
  runOnce(k_image_atomics_float, bindings, {kLanes / 64, 1, 1});
  download(image, model);
  float texel[2];
  std::memcpy(texel, model.at(0, 0, 0, 0), sizeof texel);
  EXPECT_EQ(texel[0], kLanes * (kLanes + 1) / 2.0f);  // exact in every order
  for (uint32_t k = 0; k < 4; ++k) {
    float sum = 0;
    for (uint32_t i = k; i < kLanes; i += 4) sum += 0.5f * static_cast<float>(i + 1);
    EXPECT_EQ(texels.as<float>()[k], sum) << k;
  }
  std::set<float> handed[2] = {{texel[1]}, {texels.as<float>()[4]}};
  for (uint32_t i = 0; i < 2 * kLanes; ++i) handed[i % 2].insert(out.as<float>()[i]);
  for (const std::set<float>& values : handed) {
    EXPECT_EQ(values.size(), kLanes + 1);  // 0 and every invocation's
    EXPECT_TRUE(values.contains(0));
  }
}

TEST_F(ImageAtomicTest, LeastAndGreatestFloats) {
  createFullDevice();
  const TestImage image = makeShaderImage(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_STORAGE_BIT, {2, 1, 1});
  Model model(image, {kColor, 4});
  upload(image, model);  // zeros
  const TestBuffer texels = makeBuffer(4 * 5, VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT), out = makeBuffer(kLanes * 4);
  std::ranges::fill(texels.as<float>(), -1000.0f);
  std::fill_n(texels.as<float>().begin(), 4, 1000.0f);
  const Binding bindings[] = {bufferBinding(out),
                              {.type = kStorageImage, .images = {imageOf(makeView(image))}},
                              {.type = kStorageTexels, .texelBuffers = {makeBufferView(texels, VK_FORMAT_R32_SFLOAT)}}};
  runOnce(k_image_atomics_float_minmax, bindings, {kLanes / 64, 1, 1});
  download(image, model);
  float texel[2];
  std::memcpy(texel, model.at(0, 0, 0, 0), sizeof texel);
  EXPECT_EQ(texel[0], -100.0f);
  EXPECT_EQ(texel[1], 155.0f);
  EXPECT_EQ(texels.as<float>()[4], 155.0f);
  for (uint32_t k = 0; k < 4; ++k) {
    float least = 1000.0f;
    for (uint32_t i = k; i < kLanes; i += 4)
      least = std::min(least, 0.5f * (static_cast<float>((i * 77 + 13) % 256) - 100.0f));
    EXPECT_EQ(texels.as<float>()[k], least) << k;
  }
  // The old values: the initial one for the first invocation, greater ones of others afterwards.
  EXPECT_EQ(std::ranges::count(out.as<float>(), -1000.0f), 1);
  EXPECT_LE(std::ranges::max(out.as<float>()), 155.0f);
}

}  // namespace
}  // namespace pumice::cts
