// What samplers and views can ask for beyond filters: address modes, borders, reductions, anisotropy, cubes, least
// levels. Every expected value is worked out by hand.
//
// covers: feature:samplerMirrorClampToEdge, VK_KHR_sampler_mirror_clamp_to_edge, VK_EXT_custom_border_color
// covers: feature:customBorderColors, feature:customBorderColorWithoutFormat, VK_EXT_border_color_swizzle
// covers: feature:borderColorSwizzle, feature:borderColorSwizzleFromImage, feature:samplerFilterMinmax
// covers: VK_EXT_sampler_filter_minmax, feature:samplerAnisotropy, feature:imageCubeArray
// covers: VK_EXT_non_seamless_cube_map, feature:nonSeamlessCubeMap, VK_EXT_image_view_min_lod, feature:minLod
// covers: feature:shaderResourceMinLod
#include <array>
#include <cmath>
#include <cstring>

#include "cts-subset/support/shader_image_test.h"
#include "shaders/cube_array.spv.h"
#include "shaders/sample_2d.spv.h"
#include "shaders/sample_uint.spv.h"

namespace pumice::cts {
namespace {

constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;

enum class Operation : int32_t { kLod, kGrad, kGradClamp, kFetch, kGather, kOffset };

struct Question {
  float x = 0, y = 0.5f, lod = 0, minLod = 0;
  float gradients[4] = {};
};
using Answer = std::array<float, 4>;

class SamplerTest : public ShaderImageTest {
 protected:
  // A single row of floats.
  TestImage makeRow(std::initializer_list<float> texels) {
    const TestImage image =
        makeShaderImage(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_SAMPLED_BIT, {static_cast<uint32_t>(texels.size()), 1, 1});
    Model model(image, {kColor, 4});
    std::memcpy(model.at(0, 0, 0, 0), std::data(texels), 4 * texels.size());
    upload(image, model);
    return image;
  }
  // Each level holds its own number everywhere.
  TestImage makeLevels(uint32_t levels) {
    const uint32_t side = 1u << (levels - 1);
    const TestImage image = makeShaderImage(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_SAMPLED_BIT, {side, side, 1}, levels);
    Model model(image, {kColor, 4});
    for (uint32_t l = 0; l < levels; ++l) {
      const auto value = static_cast<float>(l);
      for (size_t at = 0; at < model.level(l).size(); at += 4) std::memcpy(&model.level(l)[at], &value, 4);
    }
    upload(image, model);
    return image;
  }
  std::vector<Answer> ask(Operation operation, VkImageView view, VkSampler sampler, std::vector<Question> questions) {
    const size_t count = questions.size();
    questions.resize((count + 31) / 32 * 32);
    const TestBuffer in = makeBuffer(questions.size() * sizeof(Question));
    const TestBuffer out = makeBuffer(questions.size() * sizeof(Answer));
    std::memcpy(in.bytes, questions.data(), in.size);
    const Binding bindings[] = {
        bufferBinding(out), bufferBinding(in), {.type = kCombined, .images = {imageOf(view, sampler)}}};
    const VkSpecializationMapEntry entry{0, 0, 4};
    const VkSpecializationInfo constants{1, &entry, 4, &operation};
    runOnce(k_sample_2d, bindings, {static_cast<uint32_t>(questions.size() / 32), 1, 1}, {}, &constants);
    const auto* answers = reinterpret_cast<const Answer*>(out.bytes);
    return {answers, answers + count};
  }
  VkSampler makeAddressing(VkFilter filter, VkSamplerAddressMode mode) {
    return makeSampler(filter, [mode](VkSamplerCreateInfo& info) {
      info.addressModeU = info.addressModeV = info.addressModeW = mode;
    });
  }
};

TEST_F(SamplerTest, MirrorClampToEdge) {
  createFullDevice();
  const VkImageView view = makeView(makeRow({1, 2, 3, 4}));
  std::vector<Question> questions;
  for (int k = -9; k < 9; ++k) questions.push_back({.x = (static_cast<float>(k) + 0.5f) / 4});
  const VkSampler sampler = makeAddressing(VK_FILTER_NEAREST, VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE);
  const std::vector<Answer> answers = ask(Operation::kLod, view, sampler, questions);
  constexpr float kExpected[] = {4, 4, 4, 4, 4, 4, 3, 2, 1, 1, 2, 3, 4, 4, 4, 4, 4, 4};
  for (size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i][0], kExpected[i]) << i;
}

// kOffset has the least and the greatest offset, in x and y.
TEST_F(SamplerTest, FarthestOffsets) {
  createFullDevice();
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physicalDevice(), &properties);
  EXPECT_EQ(properties.limits.minTexelOffset, -32);
  EXPECT_EQ(properties.limits.maxTexelOffset, 31u);
  constexpr int kWidth = 5, kHeight = 3;
  const TestImage image =
      makeShaderImage(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_SAMPLED_BIT, {uint32_t{kWidth}, uint32_t{kHeight}, 1});
  Model model(image, {kColor, 4});
  std::vector<Question> questions;
  for (int j = 0; j < kHeight; ++j)
    for (int i = 0; i < kWidth; ++i) {
      const auto value = static_cast<float>(10 * j + i);
      std::memcpy(model.at(0, 0, static_cast<uint32_t>(j), static_cast<uint32_t>(i)), &value, 4);
      questions.push_back(
          {.x = (static_cast<float>(i) + 0.5f) / kWidth, .y = (static_cast<float>(j) + 0.5f) / kHeight});
    }
  upload(image, model);
  for (const VkFilter filter : {VK_FILTER_NEAREST, VK_FILTER_LINEAR}) {
    const VkSampler repeat = makeAddressing(filter, VK_SAMPLER_ADDRESS_MODE_REPEAT);
    const VkSampler clamp = makeAddressing(filter, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE);
    const std::vector<Answer> repeated = ask(Operation::kOffset, makeView(image), repeat, questions);
    const std::vector<Answer> clamped = ask(Operation::kOffset, makeView(image), clamp, questions);
    for (int k = 0; k < kWidth * kHeight; ++k) {
      const int x = (k % kWidth + 35 - 32) % kWidth, y = (k / kWidth + 31) % kHeight;
      EXPECT_NEAR(repeated[static_cast<size_t>(k)][0], static_cast<float>(10 * y + x), 0.01f) << filter << ' ' << k;
      EXPECT_EQ(clamped[static_cast<size_t>(k)][0], 20.0f) << filter << ' ' << k;
    }
  }
}

TEST_F(SamplerTest, CustomBorders) {
  createFullDevice();
  VkPhysicalDeviceCustomBorderColorPropertiesEXT properties{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &properties};
  vkGetPhysicalDeviceProperties2(physicalDevice(), &all);
  EXPECT_GE(properties.maxCustomBorderColorSamplers, 32u);

  VkSamplerCustomBorderColorCreateInfoEXT custom{VK_STRUCTURE_TYPE_SAMPLER_CUSTOM_BORDER_COLOR_CREATE_INFO_EXT};
  const auto makeBorder = [&](VkFilter filter, VkBorderColor color) {
    return makeSampler(filter, [&](VkSamplerCreateInfo& info) {
      info.pNext = &custom;
      info.addressModeU = info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
      info.borderColor = color;
    });
  };
  custom.customBorderColor = {.float32 = {0.125f, 0.25f, 0.5f, 0.75f}};
  const VkSampler border = makeBorder(VK_FILTER_LINEAR, VK_BORDER_COLOR_FLOAT_CUSTOM_EXT);  // format: undefined
  custom.format = VK_FORMAT_R8G8B8A8_UNORM;
  const VkSampler withFormat = makeBorder(VK_FILTER_LINEAR, VK_BORDER_COLOR_FLOAT_CUSTOM_EXT);
  const TestImage image = makeShaderImage(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_USAGE_SAMPLED_BIT, {4, 4, 1});
  Model ones(image, {kColor, 4});
  std::ranges::fill(ones.level(0), std::byte{0xff});
  upload(image, ones);
  // Outside; half a texel inside (in y: the middle); on the edge, where border and white are mixed.
  const std::vector<Question> questions = {{.x = -0.5f}, {.x = 0.125f}, {.x = 0}};
  for (const VkSampler sampler : {border, withFormat}) {
    const std::vector<Answer> plain = ask(Operation::kLod, makeView(image), sampler, questions);
    EXPECT_EQ(plain[0], (Answer{0.125f, 0.25f, 0.5f, 0.75f}));
    EXPECT_EQ(plain[1], (Answer{1, 1, 1, 1}));
    EXPECT_EQ(plain[2], (Answer{0.5625f, 0.625f, 0.75f, 0.875f}));
    const VkImageView mapped = makeView(image, VK_IMAGE_VIEW_TYPE_2D, [](VkImageViewCreateInfo& info) {
      info.components = {VK_COMPONENT_SWIZZLE_A, VK_COMPONENT_SWIZZLE_ZERO, VK_COMPONENT_SWIZZLE_R,
                         VK_COMPONENT_SWIZZLE_ONE};
    });
    const std::vector<Answer> swizzled = ask(Operation::kLod, mapped, sampler, questions);
    EXPECT_EQ(swizzled[0], (Answer{0.75f, 0, 0.125f, 1}));
    EXPECT_EQ(swizzled[2], (Answer{0.875f, 0, 0.5625f, 1}));
  }
  // What a format lacks is 0, 0, 1 in the border as well.
  EXPECT_EQ(ask(Operation::kLod, makeView(makeRow({1})), border, questions)[0], (Answer{0.125f, 0, 0, 1}));

  custom.format = VK_FORMAT_R16G16B16A16_UINT;
  custom.customBorderColor = {.uint32 = {1, 20, 300, 4000}};
  const VkSampler integers = makeBorder(VK_FILTER_NEAREST, VK_BORDER_COLOR_INT_CUSTOM_EXT);
  const TestImage numbers = makeShaderImage(VK_FORMAT_R16G16B16A16_UINT, VK_IMAGE_USAGE_SAMPLED_BIT, {4, 4, 1});
  Model zeros(numbers, {kColor, 8});
  upload(numbers, zeros);
  const TestBuffer out = makeBuffer(32 * 16), in = makeBuffer(32 * 8);
  for (uint32_t i = 0; i < 32; ++i) {
    in.as<float>()[2 * i] = i % 2 == 0 ? 0.5f : 1.5f;
    in.as<float>()[2 * i + 1] = 0.5f;
  }
  const Binding bindings[] = {
      bufferBinding(out), bufferBinding(in), {.type = kCombined, .images = {imageOf(makeView(numbers), integers)}}};
  runOnce(k_sample_uint, bindings, {1, 1, 1});
  for (uint32_t i = 0; i < 32; ++i) {
    for (uint32_t c = 0; c < 4; ++c) {
      ASSERT_EQ(out.as<uint32_t>()[4 * i + c], i % 2 == 0 ? 0 : custom.customBorderColor.uint32[c]) << i;
    }
  }
}

TEST_F(SamplerTest, SmallestAndLargestTexel) {
  createFullDevice();
  VkPhysicalDeviceSamplerFilterMinmaxProperties properties{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SAMPLER_FILTER_MINMAX_PROPERTIES};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &properties};
  vkGetPhysicalDeviceProperties2(physicalDevice(), &all);
  EXPECT_TRUE(properties.filterMinmaxSingleComponentFormats && properties.filterMinmaxImageComponentMapping);
  // The formats that the first of these promises.
  for (const VkFormat format :
       {VK_FORMAT_R8_UNORM, VK_FORMAT_R8_SNORM, VK_FORMAT_R16_UNORM, VK_FORMAT_R16_SNORM, VK_FORMAT_R16_SFLOAT,
        VK_FORMAT_R32_SFLOAT, VK_FORMAT_D16_UNORM, VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_D32_SFLOAT,
        VK_FORMAT_D16_UNORM_S8_UINT, VK_FORMAT_D24_UNORM_S8_UINT, VK_FORMAT_D32_SFLOAT_S8_UINT}) {
    VkFormatProperties p{};
    vkGetPhysicalDeviceFormatProperties(physicalDevice(), format, &p);
    EXPECT_TRUE((p.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_MINMAX_BIT) != 0) << format;
  }
  const VkImageView view = makeView(makeRow({5, 1, 7, 3}));
  const VkImageView mapped = makeView(makeRow({5, 1, 7, 3}), VK_IMAGE_VIEW_TYPE_2D, [](VkImageViewCreateInfo& info) {
    info.components = {VK_COMPONENT_SWIZZLE_ONE, VK_COMPONENT_SWIZZLE_R, VK_COMPONENT_SWIZZLE_ZERO,
                       VK_COMPONENT_SWIZZLE_R};
  });
  // Between texels 0 and 1, 1 and 2, 2 and 3; exactly on texel 1, where no other has a weight.
  const std::vector<Question> questions = {{.x = 0.25f}, {.x = 0.5f}, {.x = 0.7f}, {.x = 0.375f}};
  for (const VkSamplerReductionMode mode : {VK_SAMPLER_REDUCTION_MODE_MIN, VK_SAMPLER_REDUCTION_MODE_MAX}) {
    VkSamplerReductionModeCreateInfo reduction{VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO, nullptr, mode};
    const VkSampler sampler = makeSampler(VK_FILTER_LINEAR, [&](VkSamplerCreateInfo& info) {
      info.pNext = &reduction;
      info.addressModeU = info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    });
    const bool min = mode == VK_SAMPLER_REDUCTION_MODE_MIN;
    const float expected[] = {min ? 1.0f : 5, min ? 1.0f : 7, min ? 3.0f : 7, 1};
    const std::vector<Answer> answers = ask(Operation::kLod, view, sampler, questions);
    const std::vector<Answer> swizzled = ask(Operation::kLod, mapped, sampler, questions);
    for (size_t i = 0; i < questions.size(); ++i) {
      EXPECT_EQ(answers[i], (Answer{expected[i], 0, 0, 1})) << i;
      EXPECT_EQ(swizzled[i], (Answer{1, expected[i], 0, expected[i]})) << i;
    }
  }
}

TEST_F(SamplerTest, Anisotropy) {
  createFullDevice();
  VkPhysicalDeviceProperties properties{};
  vkGetPhysicalDeviceProperties(physicalDevice(), &properties);
  EXPECT_GE(properties.limits.maxSamplerAnisotropy, 16.0f);
  const TestImage levels = makeLevels(6);  // 32 x 32
  // A footprint of 8 by 1 texels, along x, then along y.
  const std::vector<Question> questions = {{.x = 0.5f, .gradients = {8.0f / 32, 0, 0, 1.0f / 32}},
                                           {.x = 0.5f, .gradients = {1.0f / 32, 0, 0, 8.0f / 32}}};
  const auto level = [&](float most) {
    const VkSampler sampler = makeSampler(VK_FILTER_LINEAR, [most](VkSamplerCreateInfo& info) {
      info.mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR;
      info.anisotropyEnable = most != 0;
      info.maxAnisotropy = most;
    });
    const std::vector<Answer> answers = ask(Operation::kGrad, makeView(levels), sampler, questions);
    EXPECT_NEAR(answers[0][0], answers[1][0], 1e-5);
    return answers[0][0];
  };
  // log2(8 / N), N the smaller of the ratio and the most that is allowed.
  EXPECT_NEAR(level(0), 3, 1.0 / 256);
  EXPECT_NEAR(level(1), 3, 1.0 / 256);
  EXPECT_NEAR(level(2), 2, 1.0 / 256);
  EXPECT_NEAR(level(8), 0, 1.0 / 256);
  EXPECT_NEAR(level(16), 0, 1.0 / 256);

  // Four probes along x, at -1.2, -0.4, 0.4 and 1.2 texels: one on each neighbour and two on the texel itself.
  const VkSampler nearest = makeSampler(VK_FILTER_NEAREST, [](VkSamplerCreateInfo& info) {
    info.anisotropyEnable = VK_TRUE;
    info.maxAnisotropy = 16;
  });
  const TestImage image = makeShaderImage(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_SAMPLED_BIT, {16, 16, 1});
  Model model(image, {kColor, 4});
  const float one = 1;
  for (uint32_t y = 0; y < 16; ++y) std::memcpy(model.at(0, 0, y, 8), &one, 4);
  upload(image, model);
  std::vector<Question> across;
  for (uint32_t x = 5; x < 12; ++x) {
    across.push_back({.x = (static_cast<float>(x) + 0.5f) / 16, .gradients = {4.0f / 16, 0, 0, 1.0f / 16}});
  }
  const std::vector<Answer> answers = ask(Operation::kGrad, makeView(image), nearest, across);
  constexpr float kWeights[] = {0, 0, 0.25f, 0.5f, 0.25f, 0, 0};
  for (size_t i = 0; i < across.size(); ++i) EXPECT_EQ(answers[i][0], kWeights[i]) << i;
}

TEST_F(SamplerTest, LeastLevelOfViewAndShader) {
  createFullDevice();
  const TestImage levels = makeLevels(6);
  VkImageViewMinLodCreateInfoEXT least{VK_STRUCTURE_TYPE_IMAGE_VIEW_MIN_LOD_CREATE_INFO_EXT};
  const auto makeLimited = [&](float minLod, uint32_t baseLevel) {
    least.minLod = minLod;
    return makeView(levels, VK_IMAGE_VIEW_TYPE_2D, [&](VkImageViewCreateInfo& info) {
      info.pNext = &least;
      info.subresourceRange.baseMipLevel = baseLevel;
      info.subresourceRange.levelCount = 6 - baseLevel;
    });
  };
  const VkSampler mixed =
      makeSampler(VK_FILTER_LINEAR, [](VkSamplerCreateInfo& info) { info.mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR; });
  const std::vector<Question> byLevel = {{.lod = 0}, {.lod = 1}, {.lod = 2.5f}, {.lod = 4}, {.lod = 9}};
  const auto expect = [&](VkImageView view, std::array<float, 5> expected) {
    const std::vector<Answer> answers = ask(Operation::kLod, view, mixed, byLevel);
    for (size_t i = 0; i < byLevel.size(); ++i) EXPECT_NEAR(answers[i][0], expected[i], 1.0 / 256) << byLevel[i].lod;
  };
  expect(makeLimited(0, 0), {0, 1, 2.5f, 4, 5});
  expect(makeLimited(1.75f, 0), {1.75f, 1.75f, 2.5f, 4, 5});
  expect(makeLimited(5, 0), {5, 5, 5, 5, 5});
  // The view's levels begin at 2, the least one counts from the image's first.
  expect(makeLimited(1.5f, 2), {2, 3, 4.5f, 5, 5});
  expect(makeLimited(3.5f, 2), {3.5f, 3.5f, 4.5f, 5, 5});
  // Fetches see nothing below the whole part, neither does gathering.
  const std::vector<Question> fetches = {
      {.x = 0, .y = 0, .lod = 1}, {.x = 0, .y = 0, .lod = 2}, {.x = 0, .y = 0, .lod = 4}};
  const std::vector<Answer> fetched = ask(Operation::kFetch, makeLimited(2.5f, 0), mixed, fetches);
  EXPECT_EQ(fetched[0][0], 0);
  EXPECT_EQ(fetched[1][0], 2);
  EXPECT_EQ(fetched[2][0], 4);
  EXPECT_EQ(ask(Operation::kGather, makeLimited(0.5f, 1), mixed, {{.x = 0.5f}})[0], (Answer{1, 1, 1, 1}));
  EXPECT_EQ(ask(Operation::kGather, makeLimited(2, 1), mixed, {{.x = 0.5f}})[0], (Answer{0, 0, 0, 0}));

  // The shader's own limit: a footprint of two texels is level 1.
  std::vector<Question> clamped;
  for (const float minLod : {0.0f, 1.0f, 2.5f, 7.0f}) {
    clamped.push_back({.x = 0.5f, .minLod = minLod, .gradients = {2.0f / 32, 0, 0, 2.0f / 32}});
  }
  const std::vector<Answer> answers = ask(Operation::kGradClamp, makeView(levels), mixed, clamped);
  constexpr float kExpected[] = {1, 1, 2.5f, 5};
  for (size_t i = 0; i < clamped.size(); ++i) EXPECT_NEAR(answers[i][0], kExpected[i], 1.0 / 256) << i;
}

TEST_F(SamplerTest, CubesInArraysAndWithoutSeams) {
  createFullDevice();
  const auto makeCubes = [&](VkImageUsageFlags usage) {
    return makeShaderImage(VK_FORMAT_R32_SFLOAT, usage, {2, 2, 1}, 1, 12,
                           [](VkImageCreateInfo& info) { info.flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT; });
  };
  const TestImage cubes = makeCubes(VK_IMAGE_USAGE_SAMPLED_BIT), faces = makeCubes(VK_IMAGE_USAGE_STORAGE_BIT);
  Model model(cubes, {kColor, 4});
  for (uint32_t layer = 0; layer < 12; ++layer) {
    for (uint32_t t = 0; t < 4; ++t) {
      const auto value = static_cast<float>(layer);
      std::memcpy(model.at(0, layer, t / 2, t % 2), &value, 4);
    }
  }
  const TestBuffer out = makeBuffer(32 * 64), in = makeBuffer(32 * 16);
  for (uint32_t i = 0; i < 32; ++i) {
    float* d = &in.as<float>()[4 * i];
    const uint32_t axis = i % 6 / 2, sign = i % 2;
    d[axis] = sign == 0 ? 1 : -1;
    d[3] = i < 12 ? static_cast<float>(i / 6) : i < 24 ? 0.4f + 0.2f * static_cast<float>((i - 12) / 6) : 9;
    // The last ones look along the edge between +X and +Z.
    if (i >= 30) {
      d[0] = d[2] = 1;
      d[1] = 0;
    }
  }
  for (const bool seamless : {true, false}) {
    upload(cubes, model);
    upload(faces, model);
    const VkSampler sampler = makeSampler(VK_FILTER_LINEAR, [&](VkSamplerCreateInfo& info) {
      info.addressModeU = info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
      if (!seamless) info.flags = VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT;
    });
    const VkImageView array = makeView(cubes, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY);
    const VkImageView second = makeView(cubes, VK_IMAGE_VIEW_TYPE_CUBE, [](VkImageViewCreateInfo& info) {
      info.subresourceRange.baseArrayLayer = 6;
      info.subresourceRange.layerCount = 6;
    });
    const Binding bindings[] = {
        bufferBinding(out),
        bufferBinding(in),
        {.type = kCombined, .images = {imageOf(array, sampler)}},
        {.type = kStorageImage, .images = {imageOf(makeView(faces, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY))}},
        {.type = kCombined, .images = {imageOf(second, sampler)}}};
    runOnce(k_cube_array, bindings, {1, 1, 1});
    for (uint32_t i = 0; i < 32; ++i) {
      SCOPED_TRACE(testing::Message() << "direction " << i << (seamless ? "" : ", with seams"));
      const float* r = &out.as<float>()[16 * i];
      // Numbers are rounded: 0.4 to 0, 0.6 to 1; what is too large is the last cube.
      const uint32_t cube = i < 12 ? i / 6 : i < 24 ? (i - 12) / 6 : 1;
      // On the edge the mean of layers 0 and 4, but a tie goes to +Z where there are seams.
      const float face = i < 30 ? static_cast<float>(i % 6) : seamless ? 2.0f : 4.0f;
      EXPECT_EQ(r[0], static_cast<float>(6 * cube) + face);
      EXPECT_EQ(r[8], 6 + face);
      const float sizes[] = {2, 2, 2, 2};
      EXPECT_EQ(std::memcmp(r + 4, sizes, sizeof sizes), 0);
      if (i < 12) {
        EXPECT_EQ(r[12], static_cast<float>(i));
      }
    }
    Model stored(faces, {kColor, 4});
    download(faces, stored);
    for (uint32_t layer = 0; layer < 12; ++layer) {
      float value = 0;
      std::memcpy(&value, stored.at(0, layer, 1, 0), 4);
      EXPECT_EQ(value, 100 + static_cast<float>(layer));
    }
  }
}

}  // namespace
}  // namespace pumice::cts
