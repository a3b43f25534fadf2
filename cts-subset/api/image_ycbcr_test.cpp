// Y'CbCr formats, sampled through conversions, against the specification's formulas at the centers of luma's texels.
//
// covers: vkCreateSamplerYcbcrConversion, vkDestroySamplerYcbcrConversion, VK_KHR_sampler_ycbcr_conversion,
// covers: feature:samplerYcbcrConversion, VK_EXT_ycbcr_2plane_444_formats, feature:ycbcr2plane444Formats,
// covers: VK_EXT_ycbcr_image_arrays, feature:ycbcrImageArrays
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cts-subset/support/image_test.h"
#include "shaders/ycbcr.spv.h"

namespace pumice::cts {
namespace {

enum class Layout { kThreePlanes, kTwoPlanes, kGbgr, kBgrg, kRgba };

struct YcbcrFormat {
  const char* name;
  VkFormat format;
  Layout layout;
  uint32_t divisor[2];  // of chroma
  uint32_t bits;
};

constexpr Layout k3 = Layout::kThreePlanes, k2 = Layout::kTwoPlanes;
constexpr YcbcrFormat kFormats[] = {
    {"8Gbgr422", VK_FORMAT_G8B8G8R8_422_UNORM, Layout::kGbgr, {2, 1}, 8},
    {"8Bgrg422", VK_FORMAT_B8G8R8G8_422_UNORM, Layout::kBgrg, {2, 1}, 8},
    {"8Planes3_420", VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM, k3, {2, 2}, 8},
    {"8Planes2_420", VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, k2, {2, 2}, 8},
    {"8Planes3_422", VK_FORMAT_G8_B8_R8_3PLANE_422_UNORM, k3, {2, 1}, 8},
    {"8Planes2_422", VK_FORMAT_G8_B8R8_2PLANE_422_UNORM, k2, {2, 1}, 8},
    {"8Planes3_444", VK_FORMAT_G8_B8_R8_3PLANE_444_UNORM, k3, {1, 1}, 8},
    {"8Planes2_444", VK_FORMAT_G8_B8R8_2PLANE_444_UNORM, k2, {1, 1}, 8},
    {"10Gbgr422", VK_FORMAT_G10X6B10X6G10X6R10X6_422_UNORM_4PACK16, Layout::kGbgr, {2, 1}, 10},
    {"10Bgrg422", VK_FORMAT_B10X6G10X6R10X6G10X6_422_UNORM_4PACK16, Layout::kBgrg, {2, 1}, 10},
    {"10Planes3_420", VK_FORMAT_G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16, k3, {2, 2}, 10},
    {"10Planes2_420", VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16, k2, {2, 2}, 10},
    {"10Planes3_422", VK_FORMAT_G10X6_B10X6_R10X6_3PLANE_422_UNORM_3PACK16, k3, {2, 1}, 10},
    {"10Planes2_422", VK_FORMAT_G10X6_B10X6R10X6_2PLANE_422_UNORM_3PACK16, k2, {2, 1}, 10},
    {"10Planes3_444", VK_FORMAT_G10X6_B10X6_R10X6_3PLANE_444_UNORM_3PACK16, k3, {1, 1}, 10},
    {"10Planes2_444", VK_FORMAT_G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16, k2, {1, 1}, 10},
    {"10Rgba444", VK_FORMAT_R10X6G10X6B10X6A10X6_UNORM_4PACK16, Layout::kRgba, {1, 1}, 10},
    {"12Rgba444", VK_FORMAT_R12X4G12X4B12X4A12X4_UNORM_4PACK16, Layout::kRgba, {1, 1}, 12},
    {"12Gbgr422", VK_FORMAT_G12X4B12X4G12X4R12X4_422_UNORM_4PACK16, Layout::kGbgr, {2, 1}, 12},
    {"12Bgrg422", VK_FORMAT_B12X4G12X4R12X4G12X4_422_UNORM_4PACK16, Layout::kBgrg, {2, 1}, 12},
    {"12Planes3_420", VK_FORMAT_G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16, k3, {2, 2}, 12},
    {"12Planes2_420", VK_FORMAT_G12X4_B12X4R12X4_2PLANE_420_UNORM_3PACK16, k2, {2, 2}, 12},
    {"12Planes3_422", VK_FORMAT_G12X4_B12X4_R12X4_3PLANE_422_UNORM_3PACK16, k3, {2, 1}, 12},
    {"12Planes2_422", VK_FORMAT_G12X4_B12X4R12X4_2PLANE_422_UNORM_3PACK16, k2, {2, 1}, 12},
    {"12Planes3_444", VK_FORMAT_G12X4_B12X4_R12X4_3PLANE_444_UNORM_3PACK16, k3, {1, 1}, 12},
    {"12Planes2_444", VK_FORMAT_G12X4_B12X4R12X4_2PLANE_444_UNORM_3PACK16, k2, {1, 1}, 12},
    {"16Gbgr422", VK_FORMAT_G16B16G16R16_422_UNORM, Layout::kGbgr, {2, 1}, 16},
    {"16Bgrg422", VK_FORMAT_B16G16R16G16_422_UNORM, Layout::kBgrg, {2, 1}, 16},
    {"16Planes3_420", VK_FORMAT_G16_B16_R16_3PLANE_420_UNORM, k3, {2, 2}, 16},
    {"16Planes2_420", VK_FORMAT_G16_B16R16_2PLANE_420_UNORM, k2, {2, 2}, 16},
    {"16Planes3_422", VK_FORMAT_G16_B16_R16_3PLANE_422_UNORM, k3, {2, 1}, 16},
    {"16Planes2_422", VK_FORMAT_G16_B16R16_2PLANE_422_UNORM, k2, {2, 1}, 16},
    {"16Planes3_444", VK_FORMAT_G16_B16_R16_3PLANE_444_UNORM, k3, {1, 1}, 16},
    {"16Planes2_444", VK_FORMAT_G16_B16R16_2PLANE_444_UNORM, k2, {1, 1}, 16},
};

struct Wish {
  VkSamplerYcbcrModelConversion model = VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_709;
  VkSamplerYcbcrRange range = VK_SAMPLER_YCBCR_RANGE_ITU_NARROW;
  VkFilter chromaFilter = VK_FILTER_LINEAR;
  VkFilter filter = VK_FILTER_NEAREST;
  VkChromaLocation location = VK_CHROMA_LOCATION_COSITED_EVEN;
  bool forced = false;
};

class ImageYcbcrTest : public ImageTest {
 protected:
  static constexpr uint32_t kWidth = 22, kHeight = 10;

  static std::vector<AspectFacts> aspects(const YcbcrFormat& f) {
    const uint32_t bytes = f.bits == 8 ? 1 : 2;
    const AspectFacts luma{VK_IMAGE_ASPECT_PLANE_0_BIT, bytes};
    AspectFacts chroma{VK_IMAGE_ASPECT_PLANE_1_BIT, bytes, 1, 1, {f.divisor[0], f.divisor[1]}};
    switch (f.layout) {
      case Layout::kThreePlanes: {
        AspectFacts last = chroma;
        last.aspect = VK_IMAGE_ASPECT_PLANE_2_BIT;
        return {luma, chroma, last};
      }
      case Layout::kTwoPlanes:
        chroma.bytes *= 2;
        return {luma, chroma};
      case Layout::kRgba:
        return {{VK_IMAGE_ASPECT_COLOR_BIT, 4 * bytes}};
      default:
        return {{VK_IMAGE_ASPECT_COLOR_BIT, 4 * bytes, 2, 1}};
    }
  }

  TestImage makePicture(const YcbcrFormat& f, VkImageTiling tiling, uint32_t layers) {
    VkImageCreateInfo info = imageInfo(f.format, VK_IMAGE_TYPE_2D, {kWidth, kHeight, 1}, 1, layers);
    info.usage |= VK_IMAGE_USAGE_SAMPLED_BIT;
    info.tiling = tiling;
    const TestImage image = makeImage(info);
    models_.clear();
    for (const AspectFacts& a : aspects(f)) {
      models_.emplace_back(image, a).randomise(random_);
      upload(image, models_.back());
    }
    return image;
  }

  // The k-th component of an element, between 0 and 1.
  double component(uint32_t bits, uint32_t plane, uint32_t x, uint32_t y, uint32_t layer, uint32_t k) {
    const std::byte* at = models_[plane].at(0, layer, y, x);
    if (bits == 8) return std::to_integer<int>(at[k]) / 255.0;
    uint16_t word;
    std::memcpy(&word, at + 2 * k, 2);
    return (word >> (16 - bits)) / (std::exp2(bits) - 1);
  }
  double luma(const YcbcrFormat& f, uint32_t x, uint32_t y, uint32_t layer) {
    if (f.layout == Layout::kGbgr) return component(f.bits, 0, x / 2, y, layer, x % 2 * 2);
    if (f.layout == Layout::kBgrg) return component(f.bits, 0, x / 2, y, layer, x % 2 * 2 + 1);
    return component(f.bits, 0, x, y, layer, f.layout == Layout::kRgba ? 1 : 0);
  }
  // C_B (0) or C_R (1).
  double chroma(const YcbcrFormat& f, uint32_t which, int i, int j, uint32_t layer) {
    const auto x = static_cast<uint32_t>(std::clamp(i, 0, static_cast<int>(kWidth / f.divisor[0]) - 1));
    const auto y = static_cast<uint32_t>(std::clamp(j, 0, static_cast<int>(kHeight / f.divisor[1]) - 1));
    switch (f.layout) {
      case Layout::kThreePlanes:
        return component(f.bits, 1 + which, x, y, layer, 0);
      case Layout::kTwoPlanes:
        return component(f.bits, 1, x, y, layer, which);
      case Layout::kRgba:
        return component(f.bits, 0, x, y, layer, which == 0 ? 2 : 0);
      default:
        return component(f.bits, 0, x, y, layer, 2 * which + (f.layout == Layout::kGbgr ? 1 : 0));
    }
  }

  struct Taps {
    int index[2];
    double weight[2];
  };
  static Taps taps(int i, uint32_t divisor, const Wish& wish) {
    const int half = i / 2;
    if (divisor == 1) return {{i, i}, {1, 0}};
    if (wish.chromaFilter == VK_FILTER_NEAREST) return {{half, half}, {1, 0}};
    if (wish.location == VK_CHROMA_LOCATION_COSITED_EVEN)
      return i % 2 == 0 ? Taps{{half, half}, {1, 0}} : Taps{{half, half + 1}, {0.5, 0.5}};
    return i % 2 == 0 ? Taps{{half - 1, half}, {0.25, 0.75}} : Taps{{half, half + 1}, {0.75, 0.25}};
  }

  // "Chroma Reconstruction", "Sampler Y'CbCr Range Expansion", "Sampler Y'CbCr Model Conversion".
  void expected(const YcbcrFormat& f, const Wish& wish, uint32_t x, uint32_t y, uint32_t layer, double (&out)[4]) {
    double c[2] = {0, 0};
    const Taps tx = taps(static_cast<int>(x), f.divisor[0], wish), ty = taps(static_cast<int>(y), f.divisor[1], wish);
    for (uint32_t which = 0; which < 2; ++which)
      for (int k = 0; k < 4; ++k)
        c[which] += tx.weight[k & 1] * ty.weight[k >> 1] * chroma(f, which, tx.index[k & 1], ty.index[k >> 1], layer);
    double luminance = luma(f, x, y, layer), cb = c[0], cr = c[1];
    out[3] = f.layout == Layout::kRgba ? component(f.bits, 0, x, y, layer, 3) : 1;
    if (wish.model != VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY) {
      const double most = std::exp2(f.bits) - 1, step = std::exp2(f.bits) / 256;
      if (wish.range == VK_SAMPLER_YCBCR_RANGE_ITU_NARROW) {
        luminance = (luminance * most - 16 * step) / (219 * step);
        cb = (cb * most - 128 * step) / (224 * step);
        cr = (cr * most - 128 * step) / (224 * step);
      } else {
        cb -= 128 * step / most;
        cr -= 128 * step / most;
      }
    }
    switch (wish.model) {
      case VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_709:
        out[0] = luminance + 1.5748 * cr;
        out[1] = luminance - 0.13397432 / 0.7152 * cb - 0.33480248 / 0.7152 * cr;
        out[2] = luminance + 1.8556 * cb;
        break;
      case VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_601:
        out[0] = luminance + 1.402 * cr;
        out[1] = luminance - 0.202008 / 0.587 * cb - 0.419198 / 0.587 * cr;
        out[2] = luminance + 1.772 * cb;
        break;
      case VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_2020:
        out[0] = luminance + 1.4746 * cr;
        out[1] = luminance - 0.11156702 / 0.6780 * cb - 0.38737742 / 0.6780 * cr;
        out[2] = luminance + 1.8814 * cb;
        break;
      default:
        out[0] = cr;
        out[1] = luminance;
        out[2] = cb;
    }
  }

  // Samples the whole image and compares.
  void check(const YcbcrFormat& f, const TestImage& image, const Wish& wish) {
    VkSamplerYcbcrConversionCreateInfo conversionInfo{VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_CREATE_INFO};
    conversionInfo.format = f.format;
    conversionInfo.ycbcrModel = wish.model;
    conversionInfo.ycbcrRange = wish.range;
    conversionInfo.xChromaOffset = conversionInfo.yChromaOffset = wish.location;
    conversionInfo.chromaFilter = wish.chromaFilter;
    conversionInfo.forceExplicitReconstruction = wish.forced;
    VkSamplerYcbcrConversion conversion = VK_NULL_HANDLE;
    VK_OK(vkCreateSamplerYcbcrConversion(device(), &conversionInfo, nullptr, &conversion));
    const VkSamplerYcbcrConversionInfo converts{VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO, nullptr, conversion};
    VkSamplerCreateInfo samplerInfo{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, &converts};
    samplerInfo.magFilter = samplerInfo.minFilter = wish.filter;
    samplerInfo.addressModeU = samplerInfo.addressModeV = samplerInfo.addressModeW =
        VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    VkSampler sampler = VK_NULL_HANDLE;
    VK_OK(vkCreateSampler(device(), &samplerInfo, nullptr, &sampler));
    VkImageViewCreateInfo viewInfo{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, &converts};
    viewInfo.image = image.image;
    viewInfo.viewType = VK_IMAGE_VIEW_TYPE_2D_ARRAY;
    viewInfo.format = f.format;
    viewInfo.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, image.layers()};
    VkImageView view = VK_NULL_HANDLE;
    VK_OK(vkCreateImageView(device(), &viewInfo, nullptr, &view));

    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_COMPUTE_BIT, &sampler},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
    VkDescriptorSetLayoutCreateInfo setInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    setInfo.bindingCount = 2;
    setInfo.pBindings = bindings;
    VkDescriptorSetLayout setLayout = VK_NULL_HANDLE;
    VK_OK(vkCreateDescriptorSetLayout(device(), &setInfo, nullptr, &setLayout));
    VkPipelineLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layoutInfo.setLayoutCount = 1;
    layoutInfo.pSetLayouts = &setLayout;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VK_OK(vkCreatePipelineLayout(device(), &layoutInfo, nullptr, &layout));
    // As many descriptors as the format asks for.
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, descriptorCount(f, image)},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
    VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    poolInfo.maxSets = 1;
    poolInfo.poolSizeCount = 2;
    poolInfo.pPoolSizes = sizes;
    VkDescriptorPool descriptors = VK_NULL_HANDLE;
    VK_OK(vkCreateDescriptorPool(device(), &poolInfo, nullptr, &descriptors));
    VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    allocate.descriptorPool = descriptors;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &setLayout;
    VkDescriptorSet set = VK_NULL_HANDLE;
    VK_OK(vkAllocateDescriptorSets(device(), &allocate, &set));
    const TestBuffer out = makeBuffer(VkDeviceSize{16} * kWidth * kHeight * image.layers());
    const VkDescriptorImageInfo picture{VK_NULL_HANDLE, view, VK_IMAGE_LAYOUT_GENERAL};
    const VkDescriptorBufferInfo buffer{out.buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet writes[2] = {{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET},
                                      {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET}};
    for (uint32_t i = 0; i < 2; ++i) {
      writes[i].dstSet = set;
      writes[i].dstBinding = i;
      writes[i].descriptorCount = 1;
      writes[i].descriptorType = bindings[i].descriptorType;
    }
    writes[0].pImageInfo = &picture;
    writes[1].pBufferInfo = &buffer;
    vkUpdateDescriptorSets(device(), 2, writes, 0, nullptr);
    VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    moduleInfo.codeSize = sizeof k_ycbcr;
    moduleInfo.pCode = k_ycbcr;
    VkShaderModule module = VK_NULL_HANDLE;
    VK_OK(vkCreateShaderModule(device(), &moduleInfo, nullptr, &module));
    VkComputePipelineCreateInfo pipelineInfo{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    pipelineInfo.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    pipelineInfo.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipelineInfo.stage.module = module;
    pipelineInfo.stage.pName = "main";
    pipelineInfo.layout = layout;
    VkPipeline pipeline = VK_NULL_HANDLE;
    VK_OK(vkCreateComputePipelines(device(), VK_NULL_HANDLE, 1, &pipelineInfo, nullptr, &pipeline));
    run([&](VkCommandBuffer c) {
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
      vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
      vkCmdDispatch(c, (kWidth + 7) / 8, (kHeight + 7) / 8, image.layers());
    });
    vkDestroyPipeline(device(), pipeline, nullptr);
    vkDestroyShaderModule(device(), module, nullptr);
    vkDestroyDescriptorPool(device(), descriptors, nullptr);
    vkDestroyPipelineLayout(device(), layout, nullptr);
    vkDestroyDescriptorSetLayout(device(), setLayout, nullptr);
    vkDestroyImageView(device(), view, nullptr);
    vkDestroySampler(device(), sampler, nullptr);
    vkDestroySamplerYcbcrConversion(device(), conversion, nullptr);
    compare(f, wish, out, image.layers());
  }

  uint32_t descriptorCount(const YcbcrFormat& f, const TestImage& image) {
    VkPhysicalDeviceImageFormatInfo2 info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2};
    info.format = f.format;
    info.type = image.info.imageType;
    info.tiling = image.info.tiling;
    info.usage = image.info.usage;
    VkSamplerYcbcrConversionImageFormatProperties conversion{
        VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 properties{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, &conversion};
    EXPECT_EQ(vkGetPhysicalDeviceImageFormatProperties2(physicalDevice(), &info, &properties), VK_SUCCESS);
    EXPECT_GE(conversion.combinedImageSamplerDescriptorCount, 1u);
    return conversion.combinedImageSamplerDescriptorCount;
  }

  void compare(const YcbcrFormat& f, const Wish& wish, const TestBuffer& out, uint32_t layers) {
    // Sums of a few floats; with linear filters, the last bits of a position.
    const double tolerance = 1e-4;
    for (uint32_t layer = 0; layer < layers; ++layer)
      for (uint32_t y = 0; y < kHeight; ++y)
        for (uint32_t x = 0; x < kWidth; ++x) {
          double want[4];
          expected(f, wish, x, y, layer, want);
          const float* got = &out.as<float>()[4 * ((layer * kHeight + y) * kWidth + x)];
          for (int c = 0; c < 4; ++c)
            ASSERT_NEAR(static_cast<double>(got[c]), want[c], tolerance)
                << f.name << ", model " << wish.model << ", range " << wish.range << ", location " << wish.location
                << ", chroma filter " << wish.chromaFilter << ", forced " << wish.forced << ": component " << c
                << " at " << x << ", " << y << ", " << layer;
        }
  }

  std::vector<Model> models_;
};

TEST_F(ImageYcbcrTest, EveryFormat) {
  createFullDevice();
  uint32_t n = 0;
  for (const YcbcrFormat& f : kFormats) {
    VkFormatProperties properties{};
    vkGetPhysicalDeviceFormatProperties(physicalDevice(), f.format, &properties);
    constexpr VkFormatFeatureFlags kNeeded =
        VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT | VK_FORMAT_FEATURE_COSITED_CHROMA_SAMPLES_BIT |
        VK_FORMAT_FEATURE_MIDPOINT_CHROMA_SAMPLES_BIT |
        VK_FORMAT_FEATURE_SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER_BIT |
        VK_FORMAT_FEATURE_SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER_BIT |
        VK_FORMAT_FEATURE_SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE_BIT;
    EXPECT_EQ(properties.optimalTilingFeatures & kNeeded, kNeeded) << f.name;
    EXPECT_EQ(properties.linearTilingFeatures & kNeeded, kNeeded) << f.name;
    const TestImage image =
        makePicture(f, n % 2 == 0 ? VK_IMAGE_TILING_OPTIMAL : VK_IMAGE_TILING_LINEAR, n % 2 == 0 ? 3 : 1);
    check(f, image, {});
    Wish other;
    other.model = static_cast<VkSamplerYcbcrModelConversion>(n % 5);
    other.range = static_cast<VkSamplerYcbcrRange>(n / 2 % 2);
    other.location = VK_CHROMA_LOCATION_MIDPOINT;
    other.forced = n % 3 == 0;
    check(f, image, other);
    if (HasFatalFailure()) return;
    ++n;
  }
}

TEST_F(ImageYcbcrTest, EveryConversion) {
  createFullDevice();
  const YcbcrFormat& f = kFormats[3];
  const TestImage image = makePicture(f, VK_IMAGE_TILING_OPTIMAL, 2);
  for (uint32_t n = 0; n < 5 * 2 * 2 * 2 * 2 * 2; ++n) {
    Wish wish;
    wish.model = static_cast<VkSamplerYcbcrModelConversion>(n % 5);
    wish.range = static_cast<VkSamplerYcbcrRange>(n / 5 % 2);
    wish.chromaFilter = static_cast<VkFilter>(n / 10 % 2);
    wish.location = static_cast<VkChromaLocation>(n / 20 % 2);
    wish.forced = n / 40 % 2 != 0;
    wish.filter = static_cast<VkFilter>(n / 80 % 2);  // at a texel's center both are the texel
    check(f, image, wish);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace pumice::cts
