// What SPIR-V itself gained after 1.0, and rarer instructions: workgroup sizes by id, control flow that is uniform in
// subgroups, least and greatest floats by atomics, residency codes.
//
// covers: VK_KHR_maintenance4, feature:maintenance4, VK_KHR_shader_subgroup_uniform_control_flow,
// covers: feature:shaderSubgroupUniformControlFlow, VK_EXT_shader_atomic_float2,
// covers: feature:shaderBufferFloat32AtomicMinMax, feature:shaderBufferFloat64AtomicMinMax,
// covers: feature:shaderSharedFloat32AtomicMinMax, feature:shaderSharedFloat64AtomicMinMax,
// covers: feature:shaderResourceResidency
#include <algorithm>
#include <array>
#include <bit>

#include "cts-subset/support/image_test.h"
#include "shaders/float_extremes.spv.h"
#include "shaders/local_size_id.spv.h"
#include "shaders/residency.spv.h"

namespace pumice::cts {
namespace {

constexpr VkDescriptorType kOne[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};

class LanguageTest : public ImageTest {};

// 13 x 3 x 2 invocations: the last subgroup has holes.
TEST_F(LanguageTest, WorkgroupSizeById) {
  createFullDevice();
  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &subgroup};
  vkGetPhysicalDeviceProperties2(physicalDevice(), &properties);
  const uint32_t size[] = {13, 3};
  const VkSpecializationMapEntry entries[] = {{3, 0, 4}, {4, 4, 4}};
  const VkSpecializationInfo info{2, entries, sizeof size, size};
  const Compute compute = makeCompute(k_local_size_id, kOne, 0, &info);
  const TestBuffer out = makeBuffer(4 * 128);
  for (uint32_t& v : out.as<uint32_t>()) v = 9;
  bindBuffers(compute, {&out, 1});
  run([&](VkCommandBuffer c) {
    bindAll(c, compute);
    vkCmdDispatch(c, 1, 1, 1);
  });
  constexpr uint32_t kInvocations = 13 * 3 * 2;
  for (uint32_t i = 0; i < 128; ++i) {
    const uint32_t first = i / subgroup.subgroupSize * subgroup.subgroupSize;
    const uint32_t there = std::min(subgroup.subgroupSize, kInvocations - std::min(first, kInvocations));
    const uint32_t behind = i % 2 != 0 ? 100 * (there / 2) : 0;
    EXPECT_EQ(out.as<uint32_t>()[i], i < kInvocations ? behind + there : 9) << i;
  }
}

TEST_F(LanguageTest, FloatExtremesByAtomics) {
  createFullDevice();
  constexpr VkDescriptorType kTwo[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
  const Compute compute = makeCompute(k_float_extremes, kTwo);
  const TestBuffer buffers[] = {makeBuffer(4 * 512), makeBuffer(8 + 16 + 32 + 64)};
  const std::span<float> values = buffers[0].as<float>();
  for (float& v : values) v = static_cast<float>(static_cast<int32_t>(random_())) * 0x1p-20f;
  auto* out = buffers[1].as<float>().data();
  auto* wide = reinterpret_cast<double*>(buffers[1].bytes + 8);
  out[0] = std::bit_cast<float>(0x7fc00000u);  // a number takes the place of NaN
  out[1] = -1e9f;
  wide[0] = 1e9;
  wide[1] = -1e9;
  bindBuffers(compute, buffers);
  run([&](VkCommandBuffer c) {
    bindAll(c, compute);
    vkCmdDispatch(c, 8, 1, 1);
  });
  const auto [least, most] = std::ranges::minmax(values);
  EXPECT_EQ(out[0], least);
  EXPECT_EQ(out[1], most);
  EXPECT_EQ(wide[0], static_cast<double>(least) * 0.1);
  EXPECT_EQ(wide[1], static_cast<double>(most) * 0.1);
  for (uint32_t g = 0; g < 8; ++g) {
    const auto [low, high] = std::ranges::minmax(values.subspan(64 * g, 64));
    EXPECT_EQ(out[6 + g], low);
    EXPECT_EQ(reinterpret_cast<const double*>(buffers[1].bytes + 56)[g], static_cast<double>(high));
  }
}

// Images that are not sparse are resident.
TEST_F(LanguageTest, ResidencyOfImages) {
  createFullDevice();
  VkImageCreateInfo info = imageInfo(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, {8, 8, 1});
  info.usage |= VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT;
  const TestImage image = makeImage(info);
  Model model(image, {VK_IMAGE_ASPECT_COLOR_BIT, 4});
  model.randomise(random_);
  upload(image, model);
  VkImageViewCreateInfo viewInfo{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  viewInfo.image = image.image;
  viewInfo.viewType = VK_IMAGE_VIEW_TYPE_2D;
  viewInfo.format = info.format;
  viewInfo.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  VkImageView view = VK_NULL_HANDLE;
  VK_OK(vkCreateImageView(device(), &viewInfo, nullptr, &view));
  VkSamplerCreateInfo samplerInfo{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  samplerInfo.addressModeU = samplerInfo.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  VkSampler sampler = VK_NULL_HANDLE;
  VK_OK(vkCreateSampler(device(), &samplerInfo, nullptr, &sampler));
  defer([=, this] {
    vkDestroySampler(device(), sampler, nullptr);
    vkDestroyImageView(device(), view, nullptr);
  });
  struct Result {
    std::array<float, 4> fetched, sampled, loaded, gathered;
    std::array<uint32_t, 4> resident;
  };
  const TestBuffer out = makeBuffer(64 * sizeof(Result));
  constexpr VkDescriptorType kTypes[] = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                         VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
  const Compute compute = makeCompute(k_residency, kTypes);
  const VkDescriptorImageInfo picture{sampler, view, VK_IMAGE_LAYOUT_GENERAL};
  const VkDescriptorBufferInfo buffer{out.buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet writes[3] = {};
  for (uint32_t i = 0; i < 3; ++i) {
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = compute.set;
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = kTypes[i];
    writes[i].pImageInfo = &picture;
    writes[i].pBufferInfo = &buffer;
  }
  vkUpdateDescriptorSets(device(), 3, writes, 0, nullptr);
  run([&](VkCommandBuffer c) {
    bindAll(c, compute);
    vkCmdDispatch(c, 1, 1, 1);
  });
  const auto number = [&](uint32_t x, uint32_t y, uint32_t c) {
    return static_cast<float>(std::to_integer<int>(model.at(0, 0, std::min(y, 7u), std::min(x, 7u))[c])) / 255.0f;
  };
  for (uint32_t i = 0; i < 64; ++i) {
    const Result& r = out.as<Result>()[i];
    const uint32_t x = i % 8, y = i / 8;
    EXPECT_EQ(r.resident, (std::array<uint32_t, 4>{1, 1, 1, 1}));
    // Gathering begins at the lower left of the four and goes against the clock.
    const float gathered[4] = {number(x, y + 1, 1), number(x + 1, y + 1, 1), number(x + 1, y, 1), number(x, y, 1)};
    for (uint32_t c = 0; c < 4; ++c) {
      EXPECT_FLOAT_EQ(r.fetched[c], number(x, y, c)) << i;
      EXPECT_FLOAT_EQ(r.sampled[c], number(x, y, c)) << i;
      EXPECT_FLOAT_EQ(r.loaded[c], number(x, y, c)) << i;
      EXPECT_FLOAT_EQ(r.gathered[c], gathered[c]) << i;
    }
  }
}

}  // namespace
}  // namespace pumice::cts
