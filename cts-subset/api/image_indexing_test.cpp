// Arrays of images, samplers and texel buffers: indices that differ between invocations, a million descriptors of a
// variable count, most of them never written, all of them after binding.
//
// covers: feature:shaderSampledImageArrayNonUniformIndexing, feature:shaderStorageImageArrayNonUniformIndexing
// covers: feature:shaderUniformTexelBufferArrayNonUniformIndexing
// covers: feature:shaderStorageTexelBufferArrayNonUniformIndexing
// covers: feature:shaderUniformTexelBufferArrayDynamicIndexing, feature:shaderStorageTexelBufferArrayDynamicIndexing
// covers: feature:descriptorBindingSampledImageUpdateAfterBind, feature:descriptorBindingStorageImageUpdateAfterBind
// covers: feature:descriptorBindingUniformTexelBufferUpdateAfterBind
// covers: feature:descriptorBindingStorageTexelBufferUpdateAfterBind
// covers: feature:descriptorIndexing, VK_EXT_descriptor_indexing
#include <array>
#include <cstring>

#include "cts-subset/support/shader_image_test.h"
#include "shaders/image_indexing.spv.h"

namespace pumice::cts {
namespace {

constexpr uint32_t kLanes = 128;       // two workgroups
constexpr uint32_t kMany = 1'000'000;  // descriptors
constexpr uint32_t kImages = 24;       // written ones
constexpr VkDescriptorBindingFlags kAfter = VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT;

class ImageIndexingTest : public ShaderImageTest {
 protected:
  // 2 x 1 texels of value, value + 1.
  VkImageView makeNumbered(float value) {
    const TestImage image = makeShaderImage(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_SAMPLED_BIT, {2, 1, 1});
    Model model(image, {VK_IMAGE_ASPECT_COLOR_BIT, 4});
    const float texels[] = {value, value + 1};
    std::memcpy(model.at(0, 0, 0, 0), texels, sizeof texels);
    upload(image, model);
    return makeView(image);
  }
};

TEST_F(ImageIndexingTest, AMillionDescriptorsAfterBinding) {
  createFullDevice();
  const TestBuffer out = makeBuffer(kLanes * 8 * 16), indices = makeBuffer(kLanes * 4);
  // The first and the last one, and others between.
  const auto place = [](uint32_t image) {
    return static_cast<uint32_t>(uint64_t{image} * (kMany - 1) / (kImages - 1));
  };
  const auto imageOfLane = [](uint32_t lane) { return lane * 7 % kImages; };
  for (uint32_t i = 0; i < kLanes; ++i) indices.as<uint32_t>()[i] = place(imageOfLane(i));
  std::array<TestImage, 3> stores;
  std::array<TestBuffer, 4> fetched, loaded;
  Binding samplers{.type = kSampler, .flags = kAfter};
  Binding combined{.type = kCombined, .flags = kAfter};
  Binding storeBinding{.type = kStorageImage, .flags = kAfter};
  Binding fetchedBinding{.type = kUniformTexels, .flags = kAfter};
  Binding loadedBinding{.type = kStorageTexels, .flags = kAfter};
  Binding many{
      .type = kSampledImage,
      .flags = kAfter | VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT | VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT,
      .count = kMany};
  // u = 3/4 of two texels is the middle of the second one, for both filters; 3/4 of a texel lies in the first one, a
  // quarter of the way from its middle to the second one's.
  const VkSampler nearest = makeSampler(VK_FILTER_NEAREST), linear = makeSampler(VK_FILTER_LINEAR);
  const auto texelCoordinates = [](VkSamplerCreateInfo& info) {
    info.unnormalizedCoordinates = VK_TRUE;
    info.maxLod = 0;
    info.addressModeU = info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  };
  const VkSampler texelsNearest = makeSampler(VK_FILTER_NEAREST, texelCoordinates);
  const VkSampler texelsLinear = makeSampler(VK_FILTER_LINEAR, texelCoordinates);
  for (VkSampler s : {nearest, linear, texelsNearest, texelsLinear}) samplers.images.push_back(imageOf({}, s));
  for (uint32_t i = 0; i < 5; ++i) {
    combined.images.push_back(imageOf(makeNumbered(100.0f + 10 * i), (i & 1) != 0 ? texelsLinear : nearest));
  }
  for (TestImage& image : stores) {
    image = makeShaderImage(VK_FORMAT_R32_UINT, VK_IMAGE_USAGE_STORAGE_BIT, {kLanes + 1, 1, 1});
    Model zeros(image, {VK_IMAGE_ASPECT_COLOR_BIT, 4});
    upload(image, zeros);
    storeBinding.images.push_back(imageOf(makeView(image)));
  }
  for (uint32_t i = 0; i < 4; ++i) {
    fetched[i] = makeBuffer(4 * kLanes, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT);
    loaded[i] = makeBuffer(4 * kLanes, VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
    for (uint32_t k = 0; k < kLanes; ++k) {
      fetched[i].as<float>()[k] = static_cast<float>(1000 * i + k);
      loaded[i].as<float>()[k] = -static_cast<float>(1000 * i + k);
    }
    fetchedBinding.texelBuffers.push_back(makeBufferView(fetched[i], VK_FORMAT_R32_SFLOAT));
    loadedBinding.texelBuffers.push_back(makeBufferView(loaded[i], VK_FORMAT_R32_SFLOAT));
  }
  const Binding bindings[] = {bufferBinding(out), bufferBinding(indices), samplers,      combined,
                              storeBinding,       fetchedBinding,         loadedBinding, many};
  const Compute program = makeProgram(k_image_indexing, bindings, 4);
  write(program, 0, bindings[0]);
  write(program, 1, bindings[1]);
  const uint32_t same = 2;
  VkCommandBuffer c = makeCommands();
  begin(c);
  bindAll(c, program);
  vkCmdPushConstants(c, program.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &same);
  vkCmdDispatch(c, kLanes / 64, 1, 1);
  VK_OK(vkEndCommandBuffer(c));
  for (uint32_t i = 2; i < 7; ++i) write(program, i, bindings[i]);  // after binding
  for (uint32_t i = 0; i < kImages; ++i) {
    write(program, 7, {.type = kSampledImage, .images = {imageOf(makeNumbered(2.0f * i))}}, place(i));
  }
  VkFence fence = makeFence();
  submit(c, fence);
  VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, 60'000'000'000u));

  const std::span<const float> result = out.as<float>();
  uint32_t sums[3] = {};
  for (uint32_t i = 0; i < kLanes; ++i) {
    SCOPED_TRACE(testing::Message() << "invocation " << i);
    const auto lane = static_cast<float>(i);
    const float* r = &result[32 * i];
    const float first = 2.0f * static_cast<float>(imageOfLane(i));
    const float expected[] = {first + 1, first + 1, first, first + 0.25f};
    ASSERT_EQ(r[0], expected[i & 3]);
    const auto base = static_cast<float>(100 + 10 * (i % 5));
    ASSERT_EQ(r[4], (i % 5 & 1) != 0 ? base + 0.25f : base + 1);
    ASSERT_EQ(r[8], 1000 + lane);
    ASSERT_EQ(r[12], static_cast<float>(1000 * (i & 3) + (i >> 2)));
    ASSERT_EQ(r[16], -static_cast<float>(1000 * (i & 3) + (i >> 2)));
    ASSERT_EQ(loaded[i & 3].as<float>()[64 + (i >> 2)], lane);
    ASSERT_EQ(r[20], static_cast<float>(1000 * same + i) - static_cast<float>(1000 * same + (i & 15)));
    const float sizes[] = {2, 1, kLanes + 1, 1};
    ASSERT_EQ(std::memcmp(r + 24, sizes, sizeof sizes), 0);
    sums[i % 3] += i;
  }
  for (uint32_t s = 0; s < 3; ++s) {
    Model model(stores[s], {VK_IMAGE_ASPECT_COLOR_BIT, 4});
    download(stores[s], model);
    for (uint32_t x = 0; x <= kLanes; ++x) {
      uint32_t texel = 0;
      std::memcpy(&texel, model.at(0, 0, 0, x), 4);
      ASSERT_EQ(texel, x == 0 ? sums[s] : (x - 1) % 3 == s ? 1000 + x - 1 : 0) << "image " << s << ", texel " << x;
    }
  }
}

}  // namespace
}  // namespace pumice::cts
