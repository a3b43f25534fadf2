// What stands in the memory of descriptor sets after every kind of write, in the form of backend/abi/descriptor.h. The
// driver is linked into this program, which looks at the sets' memory as compiled code does.
//
// covers: vkCreateImageView, vkDestroyImageView, vkCreateBufferView, vkDestroyBufferView

#include <bit>
#include <cstring>
#include <vector>

#include "backend/abi/descriptor.h"
#include "backend/formats/format_table.h"
#include "icd/objects/command_buffer.h"
#include "icd/objects/descriptor_pool.h"
#include "icd/objects/descriptor_set_layout.h"
#include "icd/objects/device.h"
#include "icd/objects/image.h"
#include "icd/objects/linked_device.h"
#include "icd/objects/pipeline_layout.h"

namespace pumice::icd {
namespace {

constexpr VkDescriptorType kSampler = VK_DESCRIPTOR_TYPE_SAMPLER;
constexpr VkDescriptorType kCombined = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
constexpr VkDescriptorType kSampled = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
constexpr VkDescriptorType kStorage = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
constexpr VkDescriptorType kInput = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT;
constexpr VkDescriptorType kUniformTexels = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
constexpr VkDescriptorType kStorageTexels = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;

class DescriptorBytes : public LinkedDeviceTest {
 protected:
  DescriptorBytes() {
    const VkMemoryAllocateInfo memory{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, 16 << 20, 0};
    EXPECT_EQ(icd::vkAllocateMemory(device_, &memory, nullptr, &memory_), VK_SUCCESS);
    void* mapped = nullptr;
    EXPECT_EQ(icd::vkMapMemory(device_, memory_, 0, VK_WHOLE_SIZE, 0, &mapped), VK_SUCCESS);
    base_ = reinterpret_cast<uint64_t>(mapped);
  }
  ~DescriptorBytes() override {
    icd::vkDestroyDescriptorPool(device_, pool_, nullptr);
    for (VkDescriptorSetLayout l : layouts_) icd::vkDestroyDescriptorSetLayout(device_, l, nullptr);
    for (VkSampler s : samplers_) icd::vkDestroySampler(device_, s, nullptr);
    for (VkBufferView v : bufferViews_) icd::vkDestroyBufferView(device_, v, nullptr);
    for (VkBuffer b : buffers_) icd::vkDestroyBuffer(device_, b, nullptr);
    for (VkImageView v : views_) icd::vkDestroyImageView(device_, v, nullptr);
    for (VkImage i : images_) icd::vkDestroyImage(device_, i, nullptr);
    icd::vkFreeMemory(device_, memory_, nullptr);
  }

  // Bound at `offset` of the memory.
  VkImage makeImage(VkFormat format, VkImageType type, VkExtent3D extent, uint32_t levels, uint32_t layers,
                    VkImageUsageFlags usage, VkDeviceSize offset = 0,
                    VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT) {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = type;
    info.format = format;
    info.extent = extent;
    info.mipLevels = levels;
    info.arrayLayers = layers;
    info.samples = samples;
    info.usage = usage;
    images_.push_back({});
    EXPECT_EQ(icd::vkCreateImage(device_, &info, nullptr, &images_.back()), VK_SUCCESS);
    EXPECT_EQ(icd::vkBindImageMemory(device_, images_.back(), memory_, offset), VK_SUCCESS);
    return images_.back();
  }
  VkImageView makeView(VkImage image, VkImageViewType type, VkFormat format, VkImageSubresourceRange range,
                       VkComponentMapping map = {}) {
    VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    info.image = image;
    info.viewType = type;
    info.format = format;
    info.components = map;
    info.subresourceRange = range;
    views_.push_back({});
    EXPECT_EQ(icd::vkCreateImageView(device_, &info, nullptr, &views_.back()), VK_SUCCESS);
    return views_.back();
  }
  VkSampler makeSampler(float lodBias) {
    VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    info.magFilter = VK_FILTER_LINEAR;
    info.mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR;
    info.addressModeU = VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
    info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    info.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
    info.mipLodBias = lodBias;
    info.minLod = 0.5f;
    info.maxLod = 7;
    info.compareEnable = VK_TRUE;
    info.compareOp = VK_COMPARE_OP_GREATER;
    info.borderColor = VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK;
    samplers_.push_back({});
    EXPECT_EQ(icd::vkCreateSampler(device_, &info, nullptr, &samplers_.back()), VK_SUCCESS);
    return samplers_.back();
  }
  VkBufferView makeTexels(VkFormat format, VkDeviceSize offset, VkDeviceSize range) {
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = 1000;
    info.usage = VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT;
    buffers_.push_back({});
    EXPECT_EQ(icd::vkCreateBuffer(device_, &info, nullptr, &buffers_.back()), VK_SUCCESS);
    EXPECT_EQ(icd::vkBindBufferMemory(device_, buffers_.back(), memory_, 4096), VK_SUCCESS);
    VkBufferViewCreateInfo view{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
    view.buffer = buffers_.back();
    view.format = format;
    view.offset = offset;
    view.range = range;
    bufferViews_.push_back({});
    EXPECT_EQ(icd::vkCreateBufferView(device_, &view, nullptr, &bufferViews_.back()), VK_SUCCESS);
    return bufferViews_.back();
  }

  VkDescriptorSetLayout makeLayout(std::vector<VkDescriptorSetLayoutBinding> bindings,
                                   VkDescriptorSetLayoutCreateFlags flags = 0) {
    VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.flags = flags;
    info.bindingCount = static_cast<uint32_t>(bindings.size());
    info.pBindings = bindings.data();
    layouts_.push_back({});
    EXPECT_EQ(icd::vkCreateDescriptorSetLayout(device_, &info, nullptr, &layouts_.back()), VK_SUCCESS);
    return layouts_.back();
  }
  VkDescriptorSet makeSet(VkDescriptorSetLayout layout) {
    if (pool_ == VK_NULL_HANDLE) {
      std::vector<VkDescriptorPoolSize> sizes;
      for (VkDescriptorType t : {kSampler, kCombined, kSampled, kStorage, kInput, kUniformTexels, kStorageTexels})
        sizes.push_back({t, 16});
      VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
      info.maxSets = 8;
      info.poolSizeCount = static_cast<uint32_t>(sizes.size());
      info.pPoolSizes = sizes.data();
      EXPECT_EQ(icd::vkCreateDescriptorPool(device_, &info, nullptr, &pool_), VK_SUCCESS);
    }
    const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, pool_, 1, &layout};
    VkDescriptorSet set = VK_NULL_HANDLE;
    EXPECT_EQ(icd::vkAllocateDescriptorSets(device_, &info, &set), VK_SUCCESS);
    return set;
  }
  static VkDescriptorSetLayoutBinding binding(uint32_t number, VkDescriptorType type, uint32_t count = 1,
                                              const VkSampler* immutable = nullptr) {
    return {number, type, count, VK_SHADER_STAGE_COMPUTE_BIT, immutable};
  }
  static VkWriteDescriptorSet write(VkDescriptorSet set, uint32_t number, VkDescriptorType type, uint32_t count) {
    VkWriteDescriptorSet w{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    w.dstSet = set;
    w.dstBinding = number;
    w.descriptorType = type;
    w.descriptorCount = count;
    return w;
  }

  template <typename T>
  static T at(VkDescriptorSet set, uint32_t number, uint32_t element, uint32_t behind_B = 0) {
    DescriptorSet& s = *DescriptorSet::from(set);
    const DescriptorBinding& b = *s.shape().find(number);
    T out;
    std::memcpy(&out, s.memory() + b.offset_B + element * b.stride_B + behind_B, sizeof out);
    return out;
  }
  template <typename T>
  static bool isNull(const T& t) {
    const T zero{};
    return std::memcmp(&t, &zero, sizeof t) == 0;
  }
  static uint16_t indexOf(VkFormat format) {
    uint16_t index = 0;
    for (const formats::FormatInfo& f : formats::allFormats()) {
      if (f.format == format) return index;
      ++index;
    }
    return 0xffff;
  }
  // Reads the bytes of the one sampler that makeSampler makes.
  void expectSampler(const abi::SamplerDescriptor& d, float lodBias) {
    EXPECT_EQ(d.samplerClass, 1 | 0 << 2 | 1 << 4 | 1 << 5 | 2 << 8 | 3 << 11 | 0x8000);
    EXPECT_EQ(d.flags, abi::kSamplerCompare);
    EXPECT_EQ(d.compareOp, 4u);
    EXPECT_EQ(d.lodBias, lodBias);
    EXPECT_EQ(d.minLod, 0.5f);
    EXPECT_EQ(d.maxLod, 7.0f);
    EXPECT_EQ(d.borderColor[0], 0u);
    EXPECT_EQ(d.borderColor[3], std::bit_cast<uint32_t>(1.0f));
  }

  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  uint64_t base_ = 0;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  std::vector<VkImage> images_;
  std::vector<VkImageView> views_;
  std::vector<VkSampler> samplers_;
  std::vector<VkBuffer> buffers_;
  std::vector<VkBufferView> bufferViews_;
  std::vector<VkDescriptorSetLayout> layouts_;
};

// 20 x 12 texels of 4 bytes: rows of 128 bytes. Level 0: 12 rows, level 1 (10 x 6): 6 rows of 64, level 2: 3 of 64.
TEST_F(DescriptorBytes, ViewsOfRowLinearArrays) {
  const VkImage image =
      makeImage(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, {20, 12, 1}, 3, 7, VK_IMAGE_USAGE_SAMPLED_BIT, 8192);
  const VkImageView view = makeView(
      image, VK_IMAGE_VIEW_TYPE_2D_ARRAY, VK_FORMAT_R32_UINT,
      {VK_IMAGE_ASPECT_COLOR_BIT, 1, VK_REMAINING_MIP_LEVELS, 2, VK_REMAINING_ARRAY_LAYERS},
      {VK_COMPONENT_SWIZZLE_B, VK_COMPONENT_SWIZZLE_IDENTITY, VK_COMPONENT_SWIZZLE_ONE, VK_COMPONENT_SWIZZLE_ZERO});
  const VkDescriptorSet set = makeSet(makeLayout({binding(0, kSampled), binding(1, kStorage), binding(2, kInput)}));
  EXPECT_TRUE(isNull(at<abi::ImageDescriptor>(set, 0, 0)));
  const VkDescriptorImageInfo info{VK_NULL_HANDLE, view, VK_IMAGE_LAYOUT_GENERAL};
  for (uint32_t b = 0; b < 3; ++b) {
    VkWriteDescriptorSet w = write(set, b, b == 0 ? kSampled : b == 1 ? kStorage : kInput, 1);
    w.pImageInfo = &info;
    icd::vkUpdateDescriptorSets(device_, 1, &w, 0, nullptr);
    const auto d = at<abi::ImageDescriptor>(set, b, 0);
    constexpr uint64_t kLayer = 12 * 128 + 6 * 64 + 3 * 64;
    EXPECT_EQ(d.address, base_ + 8192 + 2 * kLayer);
    EXPECT_EQ(d.layerPitch_B, kLayer);
    EXPECT_EQ(d.width, 10u);
    EXPECT_EQ(d.height, 6u);
    EXPECT_EQ(d.depthOrLayers, 5u);
    EXPECT_EQ(d.levelCount, 2u);
    EXPECT_EQ(d.samples_log2, 0u);
    EXPECT_EQ(d.viewClass, 3 | 0 << 3 | indexOf(VK_FORMAT_R32_UINT) << 4);
    EXPECT_EQ(d.swizzle, 2 | 1 << 3 | 5 << 6 | 4 << 9);
    const auto* levels = reinterpret_cast<const abi::ImageLevel*>(d.levelTable);
    EXPECT_EQ(levels[0].offset_B, 12u * 128);
    EXPECT_EQ(levels[0].rowPitch_B, 64u);
    EXPECT_EQ(levels[1].offset_B, 12u * 128 + 6 * 64);
  }
}

TEST_F(DescriptorBytes, ViewsOfOtherShapes) {
  // Quad-major with four samples: 2 x 2 blocks of 4 x 64 bytes.
  const VkImage target = makeImage(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, {8, 5, 1}, 1, 2,
                                   VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, 0, VK_SAMPLE_COUNT_4_BIT);
  const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0,
                                    VK_REMAINING_ARRAY_LAYERS};
  const auto descriptor = [&](VkImageView view) {
    const VkDescriptorSet set = makeSet(makeLayout({binding(0, kSampled)}));
    const VkDescriptorImageInfo info{VK_NULL_HANDLE, view, VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet w = write(set, 0, kSampled, 1);
    w.pImageInfo = &info;
    icd::vkUpdateDescriptorSets(device_, 1, &w, 0, nullptr);
    const auto d = at<abi::ImageDescriptor>(set, 0, 0);
    icd::vkResetDescriptorPool(device_, pool_, 0);
    return d;
  };
  abi::ImageDescriptor d = descriptor(makeView(target, VK_IMAGE_VIEW_TYPE_2D_ARRAY, VK_FORMAT_R8G8B8A8_UNORM, all));
  EXPECT_TRUE(abi::isQuadMajor(d.viewClass));
  EXPECT_EQ(d.samples_log2, 2u);
  EXPECT_EQ(d.samplePitch_B, 64u);
  EXPECT_EQ(d.layerPitch_B, 4u * 256);
  EXPECT_EQ(d.swizzle, abi::kIdentitySwizzle);

  // A slice of a volume, as a 2D array: 6 x 4 texels of 1 byte are 4 rows of 64 bytes.
  const VkImage volume = makeImage(VK_FORMAT_R8_UNORM, VK_IMAGE_TYPE_3D, {6, 4, 10}, 2, 1, VK_IMAGE_USAGE_SAMPLED_BIT);
  d = descriptor(makeView(volume, VK_IMAGE_VIEW_TYPE_2D_ARRAY, VK_FORMAT_R8_UNORM,
                          {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 3, VK_REMAINING_ARRAY_LAYERS}));
  EXPECT_EQ(abi::viewShape(d.viewClass), abi::ViewShape::k2D);
  EXPECT_EQ(d.address, base_ + 3 * 256);
  EXPECT_EQ(d.layerPitch_B, 256u);
  EXPECT_EQ(d.depthOrLayers, 7u);
  d = descriptor(makeView(volume, VK_IMAGE_VIEW_TYPE_3D, VK_FORMAT_R8_UNORM, {VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 0, 1}));
  EXPECT_EQ(abi::viewShape(d.viewClass), abi::ViewShape::k3D);
  EXPECT_EQ(d.depthOrLayers, 5u);
  EXPECT_EQ(d.width, 3u);
  EXPECT_EQ(reinterpret_cast<const abi::ImageLevel*>(d.levelTable)->slicePitch_64B, 2u);

  const VkImage cubes = makeImage(VK_FORMAT_R8_UNORM, VK_IMAGE_TYPE_2D, {8, 8, 1}, 1, 13, VK_IMAGE_USAGE_SAMPLED_BIT);
  d = descriptor(
      makeView(cubes, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, VK_FORMAT_R8_UNORM, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 1, 12}));
  EXPECT_EQ(abi::viewShape(d.viewClass), abi::ViewShape::kCube);
  EXPECT_EQ(d.depthOrLayers, 12u);

  // Blocks of a compressed image as texels: 9 x 7 texels are 3 x 2 blocks.
  const VkImage bc1 =
      makeImage(VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_IMAGE_TYPE_2D, {18, 14, 1}, 2, 1, VK_IMAGE_USAGE_SAMPLED_BIT);
  d = descriptor(makeView(bc1, VK_IMAGE_VIEW_TYPE_2D, VK_FORMAT_R32G32_UINT, {VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 0, 1}));
  EXPECT_EQ(d.width, 3u);
  EXPECT_EQ(d.height, 2u);
  EXPECT_EQ(abi::formatIndex(d.viewClass), indexOf(VK_FORMAT_R32G32_UINT));

  // Stencil lies behind depth, in a plane of bytes: 4 rows of 64 bytes of depth come first.
  const VkImage depth =
      makeImage(VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_TYPE_2D, {10, 4, 1}, 1, 1, VK_IMAGE_USAGE_SAMPLED_BIT);
  d = descriptor(
      makeView(depth, VK_IMAGE_VIEW_TYPE_2D, VK_FORMAT_D24_UNORM_S8_UINT, {VK_IMAGE_ASPECT_STENCIL_BIT, 0, 1, 0, 1}));
  EXPECT_EQ(d.address, base_ + 4 * 64);
  EXPECT_EQ(abi::formatIndex(d.viewClass), indexOf(VK_FORMAT_S8_UINT));
  d = descriptor(
      makeView(depth, VK_IMAGE_VIEW_TYPE_2D, VK_FORMAT_D24_UNORM_S8_UINT, {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1}));
  EXPECT_EQ(d.address, base_);
  EXPECT_EQ(abi::formatIndex(d.viewClass), indexOf(VK_FORMAT_X8_D24_UNORM_PACK32));

  // The second plane of a planar image, half as wide and high.
  const VkImage planar =
      makeImage(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, VK_IMAGE_TYPE_2D, {20, 6, 1}, 1, 1, VK_IMAGE_USAGE_SAMPLED_BIT);
  d = descriptor(
      makeView(planar, VK_IMAGE_VIEW_TYPE_2D, VK_FORMAT_R8G8_UNORM, {VK_IMAGE_ASPECT_PLANE_1_BIT, 0, 1, 0, 1}));
  EXPECT_EQ(d.address, base_ + 6 * 64);
  EXPECT_EQ(d.width, 10u);
  EXPECT_EQ(d.height, 3u);
}

TEST_F(DescriptorBytes, TexelBuffers) {
  const VkDescriptorSet set = makeSet(makeLayout({binding(0, kUniformTexels, 3), binding(1, kStorageTexels)}));
  const VkBufferView views[3] = {makeTexels(VK_FORMAT_R32G32_SFLOAT, 16, 160), VK_NULL_HANDLE,
                                 makeTexels(VK_FORMAT_R8G8B8_UNORM, 32, VK_WHOLE_SIZE)};
  VkWriteDescriptorSet w = write(set, 0, kUniformTexels, 3);
  w.pTexelBufferView = views;
  icd::vkUpdateDescriptorSets(device_, 1, &w, 0, nullptr);
  auto d = at<abi::TexelBufferDescriptor>(set, 0, 0);
  EXPECT_EQ(d.address, base_ + 4096 + 16);
  EXPECT_EQ(d.elementCount, 20u);
  EXPECT_EQ(d.elementBytes, 8u);
  EXPECT_EQ(d.viewClass, 1 | indexOf(VK_FORMAT_R32G32_SFLOAT) << 4);
  EXPECT_TRUE(isNull(at<abi::TexelBufferDescriptor>(set, 0, 1)));
  d = at<abi::TexelBufferDescriptor>(set, 0, 2);
  EXPECT_EQ(d.elementCount, (1000u - 32) / 3);
  EXPECT_TRUE(isNull(at<abi::TexelBufferDescriptor>(set, 1, 0)));
}

// Images and samplers of one array; a null write takes a descriptor back; a write runs on into the next binding.
TEST_F(DescriptorBytes, CombinedAndSeparateSamplers) {
  const VkImage image = makeImage(VK_FORMAT_R8_UNORM, VK_IMAGE_TYPE_2D, {4, 4, 1}, 1, 1, VK_IMAGE_USAGE_SAMPLED_BIT);
  const VkImageView view =
      makeView(image, VK_IMAGE_VIEW_TYPE_2D, VK_FORMAT_R8_UNORM, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1});
  const VkSampler a = makeSampler(1), b = makeSampler(2);
  const VkDescriptorSet set =
      makeSet(makeLayout({binding(0, kCombined, 2), binding(1, kCombined, 1), binding(2, kSampler, 2)}));
  const VkDescriptorImageInfo infos[] = {{a, view, VK_IMAGE_LAYOUT_GENERAL}, {b, view, VK_IMAGE_LAYOUT_GENERAL}};
  VkWriteDescriptorSet writes[] = {write(set, 0, kCombined, 2), write(set, 2, kSampler, 2)};
  writes[0].dstArrayElement = 1;
  writes[0].pImageInfo = writes[1].pImageInfo = infos;
  icd::vkUpdateDescriptorSets(device_, 2, writes, 0, nullptr);
  EXPECT_TRUE(isNull(at<abi::ImageDescriptor>(set, 0, 0)));
  EXPECT_TRUE(isNull(at<abi::SamplerDescriptor>(set, 0, 0, 64)));
  EXPECT_EQ(at<abi::ImageDescriptor>(set, 0, 1).address, base_);
  expectSampler(at<abi::SamplerDescriptor>(set, 0, 1, 64), 1);
  expectSampler(at<abi::SamplerDescriptor>(set, 1, 0, 64), 2);
  expectSampler(at<abi::SamplerDescriptor>(set, 2, 0), 1);
  expectSampler(at<abi::SamplerDescriptor>(set, 2, 1), 2);
  const VkDescriptorImageInfo none{a, VK_NULL_HANDLE, VK_IMAGE_LAYOUT_UNDEFINED};
  writes[0].pImageInfo = &none;
  writes[0].descriptorCount = 1;
  icd::vkUpdateDescriptorSets(device_, 1, writes, 0, nullptr);
  EXPECT_TRUE(isNull(at<abi::ImageDescriptor>(set, 0, 1)));
  expectSampler(at<abi::SamplerDescriptor>(set, 0, 1, 64), 1);
}

// They are there from the first moment, and no write, template or copy changes them.
TEST_F(DescriptorBytes, ImmutableSamplers) {
  const VkImage image = makeImage(VK_FORMAT_R8_UNORM, VK_IMAGE_TYPE_2D, {4, 4, 1}, 1, 1, VK_IMAGE_USAGE_SAMPLED_BIT);
  const VkImageView view =
      makeView(image, VK_IMAGE_VIEW_TYPE_2D, VK_FORMAT_R8_UNORM, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1});
  const VkSampler fixed[] = {makeSampler(3), makeSampler(4)};
  const VkSampler other = makeSampler(5);
  const VkDescriptorSetLayout layout = makeLayout({binding(0, kSampler, 2, fixed), binding(4, kCombined, 2, fixed)});
  const VkDescriptorSetLayout plain = makeLayout({binding(0, kCombined, 2)});
  const VkDescriptorSet set = makeSet(layout), source = makeSet(plain);
  const auto expectFixed = [&](uint64_t image0, uint64_t image1) {
    for (uint32_t i = 0; i < 2; ++i) {
      expectSampler(at<abi::SamplerDescriptor>(set, 0, i), 3 + static_cast<float>(i));
      expectSampler(at<abi::SamplerDescriptor>(set, 4, i, 64), 3 + static_cast<float>(i));
      EXPECT_EQ(at<abi::ImageDescriptor>(set, 4, i).address, i == 0 ? image0 : image1);
    }
  };
  expectFixed(0, 0);
  const VkDescriptorImageInfo info{other, view, VK_IMAGE_LAYOUT_GENERAL};
  VkWriteDescriptorSet writes[] = {write(set, 0, kSampler, 1), write(set, 4, kCombined, 1),
                                   write(source, 0, kCombined, 1)};
  for (VkWriteDescriptorSet& w : writes) w.pImageInfo = &info;
  icd::vkUpdateDescriptorSets(device_, 3, writes, 0, nullptr);
  expectFixed(base_, 0);
  expectSampler(at<abi::SamplerDescriptor>(source, 0, 0, 64), 5);
  VkCopyDescriptorSet copy{VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET};
  copy.srcSet = source;
  copy.dstSet = set;
  copy.dstBinding = 4;
  copy.dstArrayElement = 1;
  copy.descriptorCount = 1;
  icd::vkUpdateDescriptorSets(device_, 0, nullptr, 1, &copy);
  expectFixed(base_, base_);

  // An update template, and push descriptors.
  const VkDescriptorUpdateTemplateEntry entry{4, 1, 1, kCombined, 8, 0};
  VkDescriptorUpdateTemplateCreateInfo templateInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO};
  templateInfo.descriptorUpdateEntryCount = 1;
  templateInfo.pDescriptorUpdateEntries = &entry;
  templateInfo.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET;
  templateInfo.descriptorSetLayout = layout;
  VkDescriptorUpdateTemplate updates = VK_NULL_HANDLE;
  ASSERT_EQ(icd::vkCreateDescriptorUpdateTemplate(device_, &templateInfo, nullptr, &updates), VK_SUCCESS);
  const struct {
    uint64_t before;
    VkDescriptorImageInfo info;
  } data{0, {other, VK_NULL_HANDLE, VK_IMAGE_LAYOUT_GENERAL}};
  icd::vkUpdateDescriptorSetWithTemplate(device_, set, updates, &data);
  expectFixed(base_, 0);
  icd::vkDestroyDescriptorUpdateTemplate(device_, updates, nullptr);

  const VkDescriptorSetLayout pushed =
      makeLayout({binding(0, kCombined, 1, fixed)}, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
  VkPipelineLayoutCreateInfo pipelineInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  pipelineInfo.setLayoutCount = 1;
  pipelineInfo.pSetLayouts = &pushed;
  VkPipelineLayout pipelineLayout = VK_NULL_HANDLE;
  ASSERT_EQ(icd::vkCreatePipelineLayout(device_, &pipelineInfo, nullptr, &pipelineLayout), VK_SUCCESS);
  const VkCommandPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  VkCommandPool pool = VK_NULL_HANDLE;
  ASSERT_EQ(icd::vkCreateCommandPool(device_, &poolInfo, nullptr, &pool), VK_SUCCESS);
  const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool,
                                             VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  VkCommandBuffer commands = VK_NULL_HANDLE;
  ASSERT_EQ(icd::vkAllocateCommandBuffers(device_, &allocate, &commands), VK_SUCCESS);
  VkWriteDescriptorSet push = write(VK_NULL_HANDLE, 0, kCombined, 1);
  push.pImageInfo = &info;
  icd::vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipelineLayout, 0, 1, &push);
  std::byte* block = CommandBuffer::from(commands)
                         ->bindings(VK_PIPELINE_BIND_POINT_COMPUTE)
                         .pushSet(PipelineLayout::from(pipelineLayout)->set(0), 0);
  abi::ImageDescriptor pushedImage;
  abi::SamplerDescriptor pushedSampler;
  std::memcpy(&pushedImage, block, sizeof pushedImage);
  std::memcpy(&pushedSampler, block + 64, sizeof pushedSampler);
  EXPECT_EQ(pushedImage.address, base_);
  expectSampler(pushedSampler, 3);
  icd::vkDestroyCommandPool(device_, pool, nullptr);
  icd::vkDestroyPipelineLayout(device_, pipelineLayout, nullptr);
}

}  // namespace
}  // namespace pumice::icd
