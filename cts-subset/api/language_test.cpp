// What SPIR-V itself gained after 1.0: workgroup sizes by id, control flow that is uniform in subgroups.
//
// covers: VK_KHR_maintenance4, feature:maintenance4, VK_KHR_shader_subgroup_uniform_control_flow,
// covers: feature:shaderSubgroupUniformControlFlow
#include <algorithm>

#include "cts-subset/support/vulkan_test.h"
#include "shaders/local_size_id.spv.h"

namespace pumice::cts {
namespace {

constexpr VkDescriptorType kOne[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};

class LanguageTest : public VulkanTest {};

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

}  // namespace
}  // namespace pumice::cts
