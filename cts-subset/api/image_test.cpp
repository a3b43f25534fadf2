// Images as objects: what the device says about formats, memory, layouts of linear images, planes, views and samplers.
//
// covers: vkGetPhysicalDeviceFormatProperties, vkGetPhysicalDeviceFormatProperties2,
// covers: vkGetPhysicalDeviceImageFormatProperties, vkGetPhysicalDeviceImageFormatProperties2,
// covers: vkGetImageMemoryRequirements, vkGetImageMemoryRequirements2, vkBindImageMemory, vkBindImageMemory2,
// covers: vkGetImageSubresourceLayout, vkGetImageSparseMemoryRequirements, vkGetImageSparseMemoryRequirements2
#include <algorithm>
#include <cstring>

#include "cts-subset/support/image_test.h"

namespace pumice::cts {
namespace {

constexpr VkImageUsageFlags kTransfer = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;

class ImageObjectTest : public ImageTest {
 protected:
  VkImage createImage(const VkImageCreateInfo& info) {
    VkImage image = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateImage(device(), &info, nullptr, &image), VK_SUCCESS);
    defer([this, image] { vkDestroyImage(device(), image, nullptr); });
    return image;
  }
  VkDeviceMemory allocate(VkDeviceSize size) {
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, size, 0};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(vkAllocateMemory(device(), &info, nullptr, &memory), VK_SUCCESS);
    defer([this, memory] { vkFreeMemory(device(), memory, nullptr); });
    return memory;
  }
};

// Every question has the same answer in each of its forms, and an image can be made exactly where a feature says so.
TEST_F(ImageObjectTest, QueriesAgreeWithEachOther) {
  createFullDevice();
  INSTANCE_FN(vkGetPhysicalDeviceFormatProperties2KHR);
  INSTANCE_FN(vkGetPhysicalDeviceImageFormatProperties2KHR);
  uint32_t withTransfer = 0;
  const auto check = [&](VkFormat format) {
    SCOPED_TRACE(format);
    VkFormatProperties one{};
    vkGetPhysicalDeviceFormatProperties(physicalDevice(), format, &one);
    VkFormatProperties3 three{VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3};
    VkFormatProperties2 two{VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, &three, {}};
    vkGetPhysicalDeviceFormatProperties2KHR(physicalDevice(), format, &two);
    EXPECT_EQ(std::memcmp(&one, &two.formatProperties, sizeof one), 0);
    // Bits from the 31st on are those of the second version alone.
    EXPECT_EQ(three.linearTilingFeatures & 0x7fffffffu, one.linearTilingFeatures);
    EXPECT_EQ(three.optimalTilingFeatures & 0x7fffffffu, one.optimalTilingFeatures);
    EXPECT_EQ(three.bufferFeatures & 0x7fffffffu, one.bufferFeatures);
    for (VkImageTiling tiling : {VK_IMAGE_TILING_OPTIMAL, VK_IMAGE_TILING_LINEAR}) {
      const VkFormatFeatureFlags features =
          tiling == VK_IMAGE_TILING_OPTIMAL ? one.optimalTilingFeatures : one.linearTilingFeatures;
      const struct {
        VkImageUsageFlags usage;
        VkFormatFeatureFlags needs;
      } pairs[] = {{VK_IMAGE_USAGE_TRANSFER_SRC_BIT, VK_FORMAT_FEATURE_TRANSFER_SRC_BIT},
                   {VK_IMAGE_USAGE_TRANSFER_DST_BIT, VK_FORMAT_FEATURE_TRANSFER_DST_BIT},
                   {VK_IMAGE_USAGE_SAMPLED_BIT, VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT},
                   {VK_IMAGE_USAGE_STORAGE_BIT, VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT},
                   {VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT},
                   {VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT}};
      for (const auto& [usage, needs] : pairs) {
        VkImageFormatProperties image{};
        const VkResult result = vkGetPhysicalDeviceImageFormatProperties(physicalDevice(), format, VK_IMAGE_TYPE_2D,
                                                                         tiling, usage, 0, &image);
        EXPECT_EQ(result, (features & needs) != 0 ? VK_SUCCESS : VK_ERROR_FORMAT_NOT_SUPPORTED) << usage;
        VkPhysicalDeviceImageFormatInfo2 info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2};
        info.format = format;
        info.type = VK_IMAGE_TYPE_2D;
        info.tiling = tiling;
        info.usage = usage;
        VkImageFormatProperties2 image2{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
        EXPECT_EQ(vkGetPhysicalDeviceImageFormatProperties2KHR(physicalDevice(), &info, &image2), result);
        EXPECT_EQ(std::memcmp(&image, &image2.imageFormatProperties, sizeof image), 0);
        if (result != VK_SUCCESS) continue;
        EXPECT_EQ(image.maxExtent.width, 16384u);
        EXPECT_EQ(image.maxExtent.height, 16384u);
        EXPECT_NE(image.sampleCounts & VK_SAMPLE_COUNT_1_BIT, 0u);
        EXPECT_GE(image.maxResourceSize, 1ull << 31);
      }
    }
    withTransfer += (one.optimalTilingFeatures & VK_FORMAT_FEATURE_TRANSFER_SRC_BIT) != 0;
  };
  for (uint32_t f = VK_FORMAT_UNDEFINED; f <= VK_FORMAT_ASTC_12x12_SRGB_BLOCK; ++f) check(static_cast<VkFormat>(f));
  for (uint32_t f = VK_FORMAT_G8B8G8R8_422_UNORM; f <= VK_FORMAT_G16_B16_R16_3PLANE_444_UNORM; ++f)
    check(static_cast<VkFormat>(f));
  // All of Vulkan 1.0 but UNDEFINED, and all Y'CbCr formats of 1.1.
  EXPECT_EQ(withTransfer, 184u + 34u);
  VkImageFormatProperties none{};
  EXPECT_EQ(vkGetPhysicalDeviceImageFormatProperties(physicalDevice(), VK_FORMAT_R8_UNORM, VK_IMAGE_TYPE_2D,
                                                     VK_IMAGE_TILING_OPTIMAL, kTransfer,
                                                     VK_IMAGE_CREATE_SPARSE_BINDING_BIT, &none),
            VK_ERROR_FORMAT_NOT_SUPPORTED);
}

// Images of scaled formats are for views of other formats, and can be copied from.
TEST_F(ImageObjectTest, ScaledFormats) {
  createInstance({.apiVersion = VK_API_VERSION_1_3});
  for (VkFormat format : {VK_FORMAT_R8_USCALED, VK_FORMAT_R8G8B8A8_SSCALED, VK_FORMAT_A2B10G10R10_USCALED_PACK32,
                          VK_FORMAT_R16G16B16A16_SSCALED}) {
    VkFormatProperties is{};
    vkGetPhysicalDeviceFormatProperties(physicalDevice(), format, &is);
    EXPECT_EQ(is.optimalTilingFeatures, VkFormatFeatureFlags{VK_FORMAT_FEATURE_TRANSFER_SRC_BIT}) << format;
    EXPECT_EQ(is.linearTilingFeatures, is.optimalTilingFeatures) << format;
    EXPECT_EQ(is.bufferFeatures, VkFormatFeatureFlags{VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT}) << format;
    constexpr VkImageCreateFlags kOthers = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
    VkImageFormatProperties p{};
    for (VkImageCreateFlags flags : {VkImageCreateFlags{0}, kOthers}) {
      EXPECT_EQ(
          vkGetPhysicalDeviceImageFormatProperties(physicalDevice(), format, VK_IMAGE_TYPE_2D, VK_IMAGE_TILING_OPTIMAL,
                                                   VK_IMAGE_USAGE_STORAGE_BIT, flags, &p),
          flags == 0 ? VK_ERROR_FORMAT_NOT_SUPPORTED : VK_SUCCESS);
    }
  }
}

// Formats that are sampled through a Y'CbCr conversion allow copies, and no blits, storage or texel buffers.
TEST_F(ImageObjectTest, FormatsOfConversionsHaveNoOtherUse) {
  createInstance({.apiVersion = VK_API_VERSION_1_3});
  constexpr VkFormatFeatureFlags kNever = VK_FORMAT_FEATURE_BLIT_SRC_BIT | VK_FORMAT_FEATURE_BLIT_DST_BIT |
                                          VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT | VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT;
  for (VkFormat format : {VK_FORMAT_G8B8G8R8_422_UNORM, VK_FORMAT_G8_B8R8_2PLANE_420_UNORM,
                          VK_FORMAT_R10X6G10X6B10X6A10X6_UNORM_4PACK16, VK_FORMAT_G16_B16_R16_3PLANE_444_UNORM}) {
    VkFormatProperties is{};
    vkGetPhysicalDeviceFormatProperties(physicalDevice(), format, &is);
    EXPECT_EQ(is.optimalTilingFeatures & kNever, 0u) << format;
    EXPECT_EQ(is.linearTilingFeatures & kNever, 0u) << format;
    EXPECT_EQ(is.bufferFeatures, 0u) << format;
    EXPECT_NE(is.optimalTilingFeatures & VK_FORMAT_FEATURE_TRANSFER_DST_BIT, 0u) << format;
  }
}

TEST_F(ImageObjectTest, RequirementsInAllForms) {
  createInstance({.apiVersion = VK_API_VERSION_1_3});
  createDevice({.extensions = {VK_KHR_GET_MEMORY_REQUIREMENTS_2_EXTENSION_NAME}});
  DEVICE_FN(vkGetImageMemoryRequirements2KHR);
  DEVICE_FN(vkGetImageSparseMemoryRequirements2KHR);
  const VkImageCreateInfo info = imageInfo(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, {100, 50, 1}, 7, 3);
  const VkImage image = createImage(info);
  VkMemoryRequirements one{};
  vkGetImageMemoryRequirements(device(), image, &one);
  EXPECT_GE(one.size, 3u * 4 * (100 * 50 + 50 * 25 + 25 * 12 + 12 * 6 + 6 * 3 + 3 * 1 + 1));
  EXPECT_EQ(one.size % one.alignment, 0u);
  EXPECT_EQ(one.memoryTypeBits, 1u);
  VkMemoryDedicatedRequirements dedicated{VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
  dedicated.requiresDedicatedAllocation = VK_TRUE;
  VkMemoryRequirements2 two{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2, &dedicated, {}};
  const VkImageMemoryRequirementsInfo2 what{VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2, nullptr, image};
  vkGetImageMemoryRequirements2KHR(device(), &what, &two);
  EXPECT_EQ(std::memcmp(&one, &two.memoryRequirements, sizeof one), 0);
  EXPECT_FALSE(dedicated.requiresDedicatedAllocation);
  uint32_t count = 7;
  vkGetImageSparseMemoryRequirements(device(), image, &count, nullptr);
  EXPECT_EQ(count, 0u);
  count = 7;
  const VkImageSparseMemoryRequirementsInfo2 sparse{VK_STRUCTURE_TYPE_IMAGE_SPARSE_MEMORY_REQUIREMENTS_INFO_2, nullptr,
                                                    image};
  vkGetImageSparseMemoryRequirements2KHR(device(), &sparse, &count, nullptr);
  EXPECT_EQ(count, 0u);
}

// covers: vkGetDeviceImageMemoryRequirements, vkGetDeviceImageSparseMemoryRequirements
TEST_F(ImageObjectTest, RequirementsWithoutAnImage) {
  setenv("PUMICE_API_VERSION", "1.3", 1);
  createInstance({.validation = false, .apiVersion = VK_API_VERSION_1_3});
  unsetenv("PUMICE_API_VERSION");
  createDevice();
  for (const FormatFacts& f : transferFormats()) {
    const VkImageCreateInfo info = imageInfo(f.format, VK_IMAGE_TYPE_2D, {64, 34, 1}, 1, 2);
    VkMemoryRequirements one{};
    vkGetImageMemoryRequirements(device(), createImage(info), &one);
    VkMemoryRequirements2 two{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    VkDeviceImageMemoryRequirements what{VK_STRUCTURE_TYPE_DEVICE_IMAGE_MEMORY_REQUIREMENTS};
    what.pCreateInfo = &info;
    vkGetDeviceImageMemoryRequirements(device(), &what, &two);
    EXPECT_EQ(std::memcmp(&one, &two.memoryRequirements, sizeof one), 0) << f.format;
    uint32_t count = 3;
    vkGetDeviceImageSparseMemoryRequirements(device(), &what, &count, nullptr);
    EXPECT_EQ(count, 0u);
  }
}

// The host writes through the layout that it is told, the device reads; then the other way.
TEST_F(ImageObjectTest, LinearImagesLieWhereTheLayoutSays) {
  createFullDevice();
  for (VkImageType type : {VK_IMAGE_TYPE_2D, VK_IMAGE_TYPE_3D}) {
    VkImageCreateInfo info = imageInfo(VK_FORMAT_R8G8B8A8_UNORM, type, {37, 19, type == VK_IMAGE_TYPE_3D ? 5u : 1u}, 3,
                                       type == VK_IMAGE_TYPE_3D ? 1 : 4);
    info.tiling = VK_IMAGE_TILING_LINEAR;
    info.initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED;
    const TestImage image = makeImage(info);
    void* mapped = nullptr;
    VK_OK(vkMapMemory(device(), image.memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    Model model(image, {VK_IMAGE_ASPECT_COLOR_BIT, 4}), result = model;
    const auto forEach = [&](auto&& use) {
      for (uint32_t level = 0; level < 3; ++level) {
        const Size size = model.elements(level);
        for (uint32_t slice = 0; slice < size.depth; ++slice) {
          const bool volume = type == VK_IMAGE_TYPE_3D;
          const VkImageSubresource which{VK_IMAGE_ASPECT_COLOR_BIT, level, volume ? 0 : slice};
          VkSubresourceLayout layout{};
          vkGetImageSubresourceLayout(device(), image.image, &which, &layout);
          EXPECT_EQ(layout.rowPitch % 16, 0u);
          if (!volume && slice > 0) {
            const VkImageSubresource first{VK_IMAGE_ASPECT_COLOR_BIT, level, 0};
            VkSubresourceLayout base{};
            vkGetImageSubresourceLayout(device(), image.image, &first, &base);
            EXPECT_EQ(layout.offset, base.offset + slice * base.arrayPitch);
          }
          for (uint32_t y = 0; y < size.height; ++y)
            for (uint32_t x = 0; x < size.width; ++x) {
              const VkDeviceSize inside = (volume ? slice * layout.depthPitch : 0) + y * layout.rowPitch + x * 4;
              ASSERT_LE(inside + 4, layout.size);
              use(static_cast<std::byte*>(mapped) + layout.offset + inside, level, slice, y, x);
            }
        }
      }
    };
    model.randomise(random_);
    forEach([&](std::byte* at, uint32_t level, uint32_t slice, uint32_t y, uint32_t x) {
      std::memcpy(at, model.at(level, slice, y, x), 4);
    });
    download(image, result);
    expectEqual(model, result, 3);
    model.randomise(random_);
    upload(image, model);
    forEach([&](std::byte* at, uint32_t level, uint32_t slice, uint32_t y, uint32_t x) {
      ASSERT_EQ(std::memcmp(at, model.at(level, slice, y, x), 4), 0);
    });
  }
}

TEST_F(ImageObjectTest, PlanesInMemoryOfTheirOwn) {
  createFullDevice();
  VkImageCreateInfo info = imageInfo(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, VK_IMAGE_TYPE_2D, {64, 32, 1}, 1, 2);
  info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
  TestImage image;
  image.info = info;
  image.image = createImage(info);
  const VkImageAspectFlagBits aspects[] = {VK_IMAGE_ASPECT_PLANE_0_BIT, VK_IMAGE_ASPECT_PLANE_1_BIT};
  VkBindImagePlaneMemoryInfo planes[2];
  VkBindImageMemoryInfo binds[2];
  for (int p = 0; p < 2; ++p) {
    VkImagePlaneMemoryRequirementsInfo plane{VK_STRUCTURE_TYPE_IMAGE_PLANE_MEMORY_REQUIREMENTS_INFO, nullptr,
                                             aspects[p]};
    const VkImageMemoryRequirementsInfo2 what{VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2, &plane, image.image};
    VkMemoryRequirements2 need{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    vkGetImageMemoryRequirements2(device(), &what, &need);
    EXPECT_GE(need.memoryRequirements.size, 2u * 64 * 32 / (p + 1));
    EXPECT_LT(need.memoryRequirements.size, 3u * 64 * 32);
    planes[p] = {VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO, nullptr, aspects[p]};
    binds[p] = {VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO, &planes[p], image.image,
                allocate(need.memoryRequirements.size + 4096), 4096};
  }
  VK_OK(vkBindImageMemory2(device(), 2, binds));
  VkImageMemoryBarrier toGeneral{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  toGeneral.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  toGeneral.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  toGeneral.srcQueueFamilyIndex = toGeneral.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  toGeneral.image = image.image;
  toGeneral.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 2};
  run([&](VkCommandBuffer c) {
    vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0,
                         nullptr, 1, &toGeneral);
  });
  Model luma(image, {aspects[0], 1}), chroma(image, {aspects[1], 2, 1, 1, {2, 2}});
  Model lumaRead = luma, chromaRead = chroma;
  luma.randomise(random_);
  chroma.randomise(random_);
  upload(image, luma);
  upload(image, chroma);
  download(image, lumaRead);
  download(image, chromaRead);
  expectEqual(luma, lumaRead, 1);
  expectEqual(chroma, chromaRead, 1);
}

// Layouts do not depend on the format: what is written through one alias is read through another of equal texel size.
TEST_F(ImageObjectTest, AliasesOfOtherFormatsShareTheirTexels) {
  createFullDevice();
  VkImageCreateInfo info = imageInfo(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, {45, 33, 1}, 4, 2);
  info.flags = VK_IMAGE_CREATE_ALIAS_BIT | VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
  const TestImage first = makeImage(info);
  info.format = VK_FORMAT_R32_UINT;
  TestImage second;
  second.info = info;
  second.image = createImage(info);
  VkMemoryRequirements need{};  // the layer wants to see the question
  vkGetImageMemoryRequirements(device(), second.image, &need);
  VK_OK(vkBindImageMemory(device(), second.image, first.memory, 0));
  Model model(first, {VK_IMAGE_ASPECT_COLOR_BIT, 4}), result = model;
  model.randomise(random_);
  upload(first, model);
  VkImageMemoryBarrier toGeneral{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  toGeneral.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
  toGeneral.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  toGeneral.srcQueueFamilyIndex = toGeneral.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  toGeneral.image = second.image;
  toGeneral.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 4, 0, 2};
  run([&](VkCommandBuffer c) {
    vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0,
                         nullptr, 1, &toGeneral);
  });
  download(second, result);
  expectEqual(model, result, 4);
}

TEST_F(ImageObjectTest, ImagesTooLargeForMemoryFailClearly) {
  createInstance({.validation = false});
  createDevice();
  // A terabyte cannot be laid out; what can be, but not allocated, fails when the memory is asked for.
  VkImageCreateInfo info = imageInfo(VK_FORMAT_R32G32B32A32_SFLOAT, VK_IMAGE_TYPE_2D, {16384, 16384, 1}, 15, 2048);
  VkImage image = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateImage(device(), &info, nullptr, &image), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_EQ(image, VkImage{});
  info.arrayLayers = 40;
  VkMemoryRequirements need{};
  vkGetImageMemoryRequirements(device(), createImage(info), &need);
  EXPECT_GT(need.size, 200ull << 30);
  const VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, need.size, 0};
  VkDeviceMemory memory = VK_NULL_HANDLE;
  EXPECT_EQ(vkAllocateMemory(device(), &allocate, nullptr, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  // Numbers beyond all limits.
  info.extent = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  info.imageType = VK_IMAGE_TYPE_3D;
  info.mipLevels = UINT32_MAX;
  EXPECT_EQ(vkCreateImage(device(), &info, nullptr, &image), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  info = imageInfo(static_cast<VkFormat>(12345678), VK_IMAGE_TYPE_2D, {4, 4, 1});
  EXPECT_EQ(vkCreateImage(device(), &info, nullptr, &image), VK_ERROR_FORMAT_NOT_SUPPORTED);
}

// covers: vkCreateSampler, vkDestroySampler
TEST_F(ImageObjectTest, SamplersOfEveryKind) {
  createDevice();
  for (uint32_t i = 0; i < 32; ++i) {
    VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    info.magFilter = static_cast<VkFilter>(i & 1);
    info.minFilter = static_cast<VkFilter>(i >> 1 & 1);
    info.mipmapMode = static_cast<VkSamplerMipmapMode>(i >> 2 & 1);
    info.addressModeU = info.addressModeV = info.addressModeW = static_cast<VkSamplerAddressMode>(i >> 3);
    info.maxLod = VK_LOD_CLAMP_NONE;
    VkSampler sampler = VK_NULL_HANDLE;
    VK_OK(vkCreateSampler(device(), &info, nullptr, &sampler));
    vkDestroySampler(device(), sampler, nullptr);
  }
}

}  // namespace
}  // namespace pumice::cts
