// Views: of buffers at any texel, of images in other formats and with fewer usages, of depth and stencil apart.
//
// covers: VK_EXT_texel_buffer_alignment, feature:texelBufferAlignment, VK_KHR_image_format_list, VK_KHR_maintenance2
// covers: VK_EXT_separate_stencil_usage, VK_EXT_4444_formats, feature:formatA4R4G4B4, feature:formatA4B4G4R4
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "cts-subset/support/shader_image_test.h"
#include "shaders/fetch_float_and_uint.spv.h"
#include "shaders/store_and_sample.spv.h"
#include "shaders/texel_buffers.spv.h"

namespace pumice::cts {
namespace {

constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;

class ImageViewTest : public ShaderImageTest {
 protected:
  struct Texels {
    TestBuffer floats, uints;
  };
  // All texels of both views.
  Texels fetch(VkImageView a, VkImageView b, uint32_t width, uint32_t height) {
    Texels out{makeBuffer(16 * width * height), makeBuffer(16 * width * height)};
    const Binding bindings[] = {bufferBinding(out.floats),
                                bufferBinding(out.uints),
                                {.type = kSampledImage, .images = {imageOf(a)}},
                                {.type = kSampledImage, .images = {imageOf(b)}}};
    runOnce(k_fetch_float_and_uint, bindings, {(width + 7) / 8, (height + 7) / 8, 1});
    return out;
  }
};

TEST_F(ImageViewTest, TexelBuffersBeginAtAnyTexel) {
  createFullDevice();
  VkPhysicalDeviceTexelBufferAlignmentProperties properties{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_PROPERTIES};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &properties};
  vkGetPhysicalDeviceProperties2(physicalDevice(), &all);
  ASSERT_TRUE(properties.uniformTexelBufferOffsetSingleTexelAlignment);
  ASSERT_TRUE(properties.storageTexelBufferOffsetSingleTexelAlignment);
  const TestBuffer uniforms = makeBuffer(1024, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT);
  const TestBuffer bytes = makeBuffer(1024, VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT),
                   words = makeBuffer(1024, VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT), out = makeBuffer(32 * 32);
  for (uint32_t offset = 1; offset < 8; offset += 2) {
    // The same memory as bytes from here on, and as floats from the next whole component on.
    for (uint32_t i = 0; i < 256; ++i) {
      const auto value = static_cast<float>(i) + 0.5f;
      std::memcpy(uniforms.bytes + 4 * i, &value, 4);
    }
    std::ranges::fill(bytes.as<uint8_t>(), uint8_t{0});
    std::ranges::fill(words.as<uint32_t>(), 0u);
    const VkDeviceSize componentOffset = 4 * offset;
    const Binding bindings[] = {
        bufferBinding(out),
        {.type = kUniformTexels, .texelBuffers = {makeBufferView(uniforms, VK_FORMAT_R8_UINT, offset)}},
        {.type = kUniformTexels,
         .texelBuffers = {makeBufferView(uniforms, VK_FORMAT_R32G32B32_SFLOAT, componentOffset, 32 * 12)}},
        {.type = kStorageTexels, .texelBuffers = {makeBufferView(bytes, VK_FORMAT_R8_UINT, offset, 32)}},
        {.type = kStorageTexels, .texelBuffers = {makeBufferView(words, VK_FORMAT_R32_UINT, componentOffset, 32)}}};
    runOnce(k_texel_buffers, bindings, {1, 1, 1});
    for (uint32_t i = 0; i < 32; ++i) {
      SCOPED_TRACE(testing::Message() << "offset " << offset << ", texel " << i);
      const uint32_t* r = &out.as<uint32_t>()[8 * i];
      EXPECT_EQ(r[0], uniforms.as<uint8_t>()[offset + i]);
      for (uint32_t c = 0; c < 3; ++c) {
        EXPECT_EQ(std::bit_cast<float>(r[4 + c]), static_cast<float>(offset + 3 * i + c) + 0.5f);
      }
      EXPECT_EQ(std::bit_cast<float>(r[7]), 1.0f);
    }
    for (uint32_t i = 0; i < 64; ++i) {
      const bool inside = i >= offset && i < offset + 32;
      EXPECT_EQ(bytes.as<uint8_t>()[i], inside ? 100 + i - offset : 0) << i;
    }
    for (uint32_t i = 0; i < 16; ++i) {
      const uint32_t k = i - offset;  // k, k + 8, k + 16, k + 24
      EXPECT_EQ(words.as<uint32_t>()[i], k < 8 ? 4 * k + 48 : 0) << i;
    }
  }
}

TEST_F(ImageViewTest, TexelBuffersDecodeSrgb) {
  createFullDevice();
  VkFormatProperties properties{};
  vkGetPhysicalDeviceFormatProperties(physicalDevice(), VK_FORMAT_B8G8R8A8_SRGB, &properties);
  EXPECT_EQ(properties.bufferFeatures, VkFlags{VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT});
  const TestBuffer colors = makeBuffer(4 * 32, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT);
  const TestBuffer stored = makeBuffer(1024, VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT), out = makeBuffer(32 * 32);
  for (uint32_t i = 0; i < 4 * 32; ++i) colors.as<uint8_t>()[i] = static_cast<uint8_t>(2 * i + 1);
  const Binding bindings[] = {
      bufferBinding(out),
      {.type = kUniformTexels, .texelBuffers = {makeBufferView(colors, VK_FORMAT_R8_UINT)}},
      {.type = kUniformTexels, .texelBuffers = {makeBufferView(colors, VK_FORMAT_B8G8R8A8_SRGB)}},
      {.type = kStorageTexels, .texelBuffers = {makeBufferView(stored, VK_FORMAT_R8_UINT, 0, 32)}},
      {.type = kStorageTexels, .texelBuffers = {makeBufferView(stored, VK_FORMAT_R32_UINT, 512, 32)}}};
  runOnce(k_texel_buffers, bindings, {1, 1, 1});
  const auto linear = [](uint8_t code) {
    const double v = code / 255.0;
    return static_cast<float>(v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
  };
  for (uint32_t i = 0; i < 32; ++i) {
    const uint8_t* texel = &colors.as<uint8_t>()[4 * i];
    const float expected[4] = {linear(texel[2]), linear(texel[1]), linear(texel[0]), texel[3] / 255.0f};
    for (uint32_t c = 0; c < 4; ++c)
      EXPECT_NEAR(std::bit_cast<float>(out.as<uint32_t>()[8 * i + 4 + c]), expected[c], 1e-6f) << i << ", " << c;
  }
}

// An sRGB image, stored through a view of UNORM although sRGB itself has no storage images.
TEST_F(ImageViewTest, FormatListsAndUsagesOfViews) {
  createFullDevice();
  constexpr VkFormat kFormats[] = {VK_FORMAT_R8G8B8A8_SRGB, VK_FORMAT_R8G8B8A8_UNORM};
  const VkImageFormatListCreateInfo list{VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO, nullptr, 2, kFormats};
  VkPhysicalDeviceImageFormatInfo2 query{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2, &list};
  query.format = VK_FORMAT_R8G8B8A8_SRGB;
  query.type = VK_IMAGE_TYPE_2D;
  query.usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
  query.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
  VkImageFormatProperties2 answer{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
  VK_OK(vkGetPhysicalDeviceImageFormatProperties2(physicalDevice(), &query, &answer));
  query.flags = 0;
  EXPECT_EQ(vkGetPhysicalDeviceImageFormatProperties2(physicalDevice(), &query, &answer),
            VK_ERROR_FORMAT_NOT_SUPPORTED);
  const TestImage image =
      makeShaderImage(VK_FORMAT_R8G8B8A8_SRGB, VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT, {16, 1, 1}, 1,
                      1, [&](VkImageCreateInfo& info) {
                        info.pNext = &list;
                        info.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
                      });
  const auto makeUsed = [&](VkFormat format, VkImageUsageFlags usage) {
    const VkImageViewUsageCreateInfo used{VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO, nullptr, usage};
    return makeView(image, VK_IMAGE_VIEW_TYPE_2D, [&](VkImageViewCreateInfo& info) {
      info.pNext = &used;
      info.format = format;
    });
  };
  const TestBuffer out = makeBuffer(16 * 16);
  const Binding bindings[] = {
      bufferBinding(out),
      {.type = kStorageImage, .images = {imageOf(makeUsed(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_USAGE_STORAGE_BIT))}},
      {.type = kSampledImage, .images = {imageOf(makeUsed(VK_FORMAT_R8G8B8A8_SRGB, VK_IMAGE_USAGE_SAMPLED_BIT))}}};
  const Compute program = makeProgram(k_store_and_sample, bindings, 4);
  writeAll(program, bindings);
  for (const uint32_t store : {1u, 0u}) {
    run([&](VkCommandBuffer c) {
      bindAll(c, program);
      vkCmdPushConstants(c, program.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &store);
      vkCmdDispatch(c, 1, 1, 1);
    });
  }
  for (uint32_t i = 0; i < 16; ++i) {
    const double code = 17.0 * i / 255;  // what UNORM stores is exact here
    const double light = code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
    for (uint32_t c = 0; c < 4; ++c) EXPECT_NEAR(out.as<float>()[4 * i + c], c < 3 ? light : code, 1e-6) << i;
  }
}

TEST_F(ImageViewTest, DepthAndStencilHaveUsagesOfTheirOwn) {
  createFullDevice(false);  // the layer wants a queue that draws for copies of depth
  VkImageStencilUsageCreateInfo stencil{VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO};
  stencil.stencilUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
  VkPhysicalDeviceImageFormatInfo2 query{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2, &stencil};
  query.format = VK_FORMAT_D32_SFLOAT_S8_UINT;
  query.type = VK_IMAGE_TYPE_2D;
  query.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  VkImageFormatProperties2 answer{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
  VK_OK(vkGetPhysicalDeviceImageFormatProperties2(physicalDevice(), &query, &answer));
  stencil.stencilUsage = VK_IMAGE_USAGE_STORAGE_BIT;
  EXPECT_EQ(vkGetPhysicalDeviceImageFormatProperties2(physicalDevice(), &query, &answer),
            VK_ERROR_FORMAT_NOT_SUPPORTED);
  stencil.stencilUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
  constexpr uint32_t kWidth = 13, kHeight = 7;
  const TestImage image =
      makeShaderImage(VK_FORMAT_D32_SFLOAT_S8_UINT, VK_IMAGE_USAGE_SAMPLED_BIT, {kWidth, kHeight, 1}, 1, 1,
                      [&](VkImageCreateInfo& info) { info.pNext = &stencil; });
  Model depths(image, {VK_IMAGE_ASPECT_DEPTH_BIT, 4}), stencils(image, {VK_IMAGE_ASPECT_STENCIL_BIT, 1});
  depths.randomise(random_);
  stencils.randomise(random_);
  upload(image, depths);
  upload(image, stencils);
  const auto aspect = [&](VkImageAspectFlags flags) {
    return makeView(image, VK_IMAGE_VIEW_TYPE_2D,
                    [flags](VkImageViewCreateInfo& info) { info.subresourceRange.aspectMask = flags; });
  };
  const Texels texels = fetch(aspect(VK_IMAGE_ASPECT_DEPTH_BIT), aspect(VK_IMAGE_ASPECT_STENCIL_BIT), kWidth, kHeight);
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      float depth = 0;
      std::memcpy(&depth, depths.at(0, 0, y, x), 4);
      const uint32_t at = 4 * (y * kWidth + x);
      EXPECT_EQ(texels.floats.as<float>()[at], depth) << x << ", " << y;
      EXPECT_EQ(texels.uints.as<uint32_t>()[at], static_cast<uint32_t>(*stencils.at(0, 0, y, x))) << x << ", " << y;
    }
  }
}

TEST_F(ImageViewTest, FourTimesFourBits) {
  createFullDevice();
  // Where each component's four bits lie, red first.
  struct Case {
    VkFormat format;
    uint32_t shift[4];
  };
  for (const Case& test :
       {Case{VK_FORMAT_A4R4G4B4_UNORM_PACK16, {8, 4, 0, 12}}, Case{VK_FORMAT_A4B4G4R4_UNORM_PACK16, {0, 4, 8, 12}}}) {
    SCOPED_TRACE(test.format);
    const TestImage image = makeShaderImage(test.format, VK_IMAGE_USAGE_SAMPLED_BIT, {256, 256, 1});
    Model model(image, {kColor, 2});
    for (uint32_t i = 0; i < 65536; ++i) {
      const auto texel = static_cast<uint16_t>(i);
      std::memcpy(model.at(0, 0, i / 256, i % 256), &texel, 2);
    }
    upload(image, model);
    const TestImage other = makeShaderImage(VK_FORMAT_R8_UINT, VK_IMAGE_USAGE_SAMPLED_BIT, {256, 256, 1});
    const Texels texels = fetch(makeView(image), makeView(other), 256, 256);
    for (uint32_t i = 0; i < 65536; ++i) {
      for (uint32_t c = 0; c < 4; ++c) {
        const double expected = (i >> test.shift[c] & 15) / 15.0;
        ASSERT_NEAR(texels.floats.as<float>()[4 * i + c], expected, 1e-7) << i << ", component " << c;
      }
    }
    // Back from eight bits by a blit: nearest code.
    const TestImage wide = makeShaderImage(VK_FORMAT_R8G8B8A8_UNORM, 0, {256, 1, 1}),
                    back = makeImage([&] {
                      return imageInfo(test.format, VK_IMAGE_TYPE_2D, {256, 1, 1});
                    }());
    Model wideModel(wide, {kColor, 4}), backModel(back, {kColor, 2});
    for (uint32_t x = 0; x < 256; ++x) {
      for (uint32_t c = 0; c < 4; ++c) wideModel.at(0, 0, 0, x)[c] = static_cast<std::byte>(x * (2 * c + 1));
    }
    upload(wide, wideModel);
    VkImageBlit region{};
    region.srcSubresource = region.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.srcOffsets[1] = region.dstOffsets[1] = {256, 1, 1};
    VkFormatProperties properties{};
    vkGetPhysicalDeviceFormatProperties(physicalDevice(), test.format, &properties);
    ASSERT_TRUE((properties.optimalTilingFeatures & VK_FORMAT_FEATURE_BLIT_DST_BIT) != 0);
    blit(wide, back, region, VK_FILTER_NEAREST);
    download(back, backModel);
    for (uint32_t x = 0; x < 256; ++x) {
      uint16_t texel = 0;
      std::memcpy(&texel, backModel.at(0, 0, 0, x), 2);
      for (uint32_t c = 0; c < 4; ++c) {
        const uint32_t code = (x * (2 * c + 1)) & 255;
        ASSERT_EQ(texel >> test.shift[c] & 15, (code * 15 + 127) / 255) << x << ", component " << c;
      }
    }
  }
}

}  // namespace
}  // namespace pumice::cts
