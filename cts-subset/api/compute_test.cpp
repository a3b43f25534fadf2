// covers: vkCreateComputePipelines, vkDestroyPipeline, vkCreateShaderModule, vkDestroyShaderModule,
// covers: vkCreatePipelineLayout, vkDestroyPipelineLayout, vkCmdBindPipeline, vkCmdBindDescriptorSets,
// covers: vkCmdPushConstants, vkCmdDispatch, vkCmdDispatchIndirect, vkCmdDispatchBase, VK_KHR_device_group,
// covers: feature:robustBufferAccess
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "cts-subset/support/vulkan_test.h"
#include "shaders/bounds.spv.h"
#include "shaders/ids.spv.h"
#include "shaders/reduce.spv.h"
#include "shaders/saxpy.spv.h"

namespace pumice::cts {
namespace {

constexpr VkDescriptorType kStorage = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
constexpr VkDescriptorType kOne[] = {kStorage};
constexpr VkDescriptorType kTwo[] = {kStorage, kStorage};

class ComputeTest : public VulkanTest {};

TEST_F(ComputeTest, Saxpy) {
  createDevice();
  constexpr uint32_t kCount = 100'003;
  const TestBuffer x = makeBuffer(4 * kCount), y = makeBuffer(4 * (kCount + 100));
  for (uint32_t i = 0; i < kCount; ++i) {
    x.as<float>()[i] = static_cast<float>(i) * 0.25f;
    y.as<float>()[i] = 1.0f;
  }
  y.as<float>()[kCount] = -7;  // must stay
  const Compute saxpy = makeCompute(k_saxpy, kTwo, 8);
  const std::array<TestBuffer, 2> buffers{x, y};
  bindBuffers(saxpy, buffers);
  const struct {
    float a;
    uint32_t n;
  } push{2.0f, kCount};
  run([&](VkCommandBuffer c) {
    bindAll(c, saxpy);
    vkCmdPushConstants(c, saxpy.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, &push);
    vkCmdDispatch(c, (kCount + 63) / 64, 1, 1);
  });
  for (uint32_t i = 0; i < kCount; ++i) {
    // Exact in binary: i * 0.25 * 2 + 1 needs 18 bits.
    ASSERT_EQ(y.as<float>()[i], static_cast<float>(i) * 0.5f + 1.0f) << i;
  }
  EXPECT_EQ(y.as<float>()[kCount], -7.0f);
}

TEST_F(ComputeTest, TheStateOfEachDispatchIsItsOwn) {
  createDevice();
  const TestBuffer x = makeBuffer(4 * 64), y = makeBuffer(4 * 64);
  for (float& v : x.as<float>()) v = 1;
  const Compute saxpy = makeCompute(k_saxpy, kTwo, 8);
  const std::array<TestBuffer, 2> buffers{x, y};
  bindBuffers(saxpy, buffers);
  run([&](VkCommandBuffer c) {
    bindAll(c, saxpy);
    for (uint32_t i = 0; i < 10; ++i) {
      const float a = static_cast<float>(1u << i);
      const uint32_t n = 64 - 4 * i;
      vkCmdPushConstants(c, saxpy.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &a);
      vkCmdPushConstants(c, saxpy.layout, VK_SHADER_STAGE_COMPUTE_BIT, 4, 4, &n);
      vkCmdDispatch(c, 1, 1, 1);
      barrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    }
    vkCmdDispatch(c, 0, 1, 1);  // does nothing
  });
  for (uint32_t k = 0; k < 64; ++k) {
    float expected = 0;
    for (uint32_t i = 0; i < 10; ++i) expected += k < 64 - 4 * i ? static_cast<float>(1u << i) : 0;
    ASSERT_EQ(y.as<float>()[k], expected) << k;
  }
}

struct Local {
  uint32_t x, y, z;
};

class LocalSizeTest : public VulkanTest, public testing::WithParamInterface<Local> {
 protected:
  // The pipeline of ids.comp with this local size, and `add` as fourth constant.
  Compute makeIds(uint32_t add) {
    const uint32_t values[] = {GetParam().x, GetParam().y, GetParam().z, add};
    const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}, {3, 12, 4}};
    const VkSpecializationInfo info{4, entries, sizeof values, values};
    return makeCompute(k_ids, kOne, 12, &info);
  }
  uint32_t invocations() const { return GetParam().x * GetParam().y * GetParam().z; }
};

TEST_P(LocalSizeTest, EveryInvocationRunsOnce) {
  createDevice();
  const uint32_t extent[] = {7, 3, 2};
  const TestBuffer out = makeBuffer(4 * 42 * invocations());
  const Compute ids = makeIds(5);
  bindBuffers(ids, {&out, 1});
  run([&](VkCommandBuffer c) {
    bindAll(c, ids);
    vkCmdPushConstants(c, ids.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 12, extent);
    vkCmdDispatch(c, 7, 3, 2);
  });
  for (uint32_t v : out.as<uint32_t>()) ASSERT_EQ(v, 5u);
}

TEST_P(LocalSizeTest, IndirectAndBase) {
  createDevice({.extensions = {VK_KHR_DEVICE_GROUP_EXTENSION_NAME}});
  const uint32_t extent[] = {4, 4, 2};
  const TestBuffer out = makeBuffer(4 * 32 * invocations()), args = makeBuffer(64);
  const Compute ids = makeIds(1);
  bindBuffers(ids, {&out, 1});
  run([&](VkCommandBuffer c) {
    const uint32_t wanted[] = {4, 4, 1};
    vkCmdUpdateBuffer(c, args.buffer, 16, 12, wanted);  // written by the device just before
    barrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT);
    bindAll(c, ids);
    vkCmdPushConstants(c, ids.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 12, extent);
    vkCmdDispatchIndirect(c, args.buffer, 16);
  });
  const auto counts = out.as<uint32_t>();
  for (size_t i = 0; i < counts.size(); ++i) ASSERT_EQ(counts[i], i < counts.size() / 2 ? 1u : 0u) << i;
}

INSTANTIATE_TEST_SUITE_P(Sizes, LocalSizeTest,
                         testing::Values(Local{1, 1, 1}, Local{3, 1, 1}, Local{16, 1, 1}, Local{64, 1, 1},
                                         Local{8, 8, 1}, Local{5, 7, 3}, Local{1, 33, 1}, Local{1024, 1, 1},
                                         Local{16, 16, 4}));

TEST_F(ComputeTest, DispatchBaseOffsetsTheWorkgroups) {
  createDevice({.extensions = {VK_KHR_DEVICE_GROUP_EXTENSION_NAME}});
  DEVICE_FN(vkCmdDispatchBaseKHR);
  const uint32_t values[] = {8, 1, 1, 1};
  const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}, {3, 12, 4}};
  const VkSpecializationInfo constants{4, entries, sizeof values, values};
  const Compute ids = makeCompute(k_ids, kOne, 12, &constants);
  // makeCompute does not set VK_PIPELINE_CREATE_DISPATCH_BASE: make the same again, with it.
  VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  moduleInfo.codeSize = sizeof k_ids;
  moduleInfo.pCode = k_ids;
  VkShaderModule module = VK_NULL_HANDLE;
  VK_OK(vkCreateShaderModule(device(), &moduleInfo, nullptr, &module));
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE;
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &constants;
  info.layout = ids.layout;
  VkPipeline pipeline = VK_NULL_HANDLE;
  VK_OK(vkCreateComputePipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline));
  defer([this, module, pipeline] {
    vkDestroyPipeline(device(), pipeline, nullptr);
    vkDestroyShaderModule(device(), module, nullptr);
  });
  const TestBuffer out = makeBuffer(4 * 16 * 8);
  bindBuffers(ids, {&out, 1});
  run([&](VkCommandBuffer c) {
    const uint32_t extent[] = {4, 4, 1};
    bindAll(c, ids);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushConstants(c, ids.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 12, extent);
    vkCmdDispatchBaseKHR(c, 2, 1, 0, 2, 3, 1);
  });
  for (uint32_t g = 0; g < 16; ++g) {
    const bool inside = g % 4 >= 2 && g / 4 >= 1;
    for (uint32_t l = 0; l < 8; ++l) ASSERT_EQ(out.as<uint32_t>()[g * 8 + l], inside ? 1u : 0u) << g;
  }
}

TEST_F(ComputeTest, SharedMemoryAndBarriers) {
  createDevice();
  constexpr uint32_t kGroups = 300;
  const TestBuffer in = makeBuffer(4 * 256 * kGroups), out = makeBuffer(4 * kGroups);
  uint32_t seed = 1;
  for (uint32_t& v : in.as<uint32_t>()) v = seed = seed * 1664525u + 1013904223u;
  const Compute reduce = makeCompute(k_reduce, kTwo);
  const std::array<TestBuffer, 2> buffers{in, out};
  bindBuffers(reduce, buffers);
  run(
      [&](VkCommandBuffer c) {
        bindAll(c, reduce);
        vkCmdDispatch(c, kGroups, 1, 1);
      },
      1);
  for (uint32_t g = 0; g < kGroups; ++g) {
    const auto first = in.as<uint32_t>().begin() + g * 256;
    ASSERT_EQ(out.as<uint32_t>()[g], std::accumulate(first, first + 256, 0u)) << g;
  }
}

// Out-of-range reads give zero, out-of-range writes vanish: nothing around the small buffer changes.
TEST_F(ComputeTest, AccessesOutsideOfTheBufferAreHarmless) {
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.features.robustBufferAccess = VK_TRUE;
  createDevice({.features = &features});
  const TestBuffer around = makeBuffer(1 << 20), out = makeBuffer(4 * 64 * 64);
  std::memset(around.bytes, 0x55, around.size);
  std::memset(out.bytes, 0x66, out.size);
  const Compute bounds = makeCompute(k_bounds, kTwo, 4);
  const VkDescriptorBufferInfo infos[] = {{around.buffer, 524288, 256}, {out.buffer, 0, VK_WHOLE_SIZE}};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = bounds.set;
  write.descriptorCount = 2;  // consecutive bindings of one type
  write.descriptorType = kStorage;
  write.pBufferInfo = infos;
  vkUpdateDescriptorSets(device(), 1, &write, 0, nullptr);
  const uint32_t stride = 17;
  run([&](VkCommandBuffer c) {
    bindAll(c, bounds);
    vkCmdPushConstants(c, bounds.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &stride);
    vkCmdDispatch(c, 64, 1, 1);
  });
  const auto words = around.as<uint32_t>();
  for (uint32_t i = 0; i < words.size(); ++i) {
    if (i >= 131072 && i < 131072 + 64) continue;
    ASSERT_EQ(words[i], 0x55555555u) << i;
  }
  for (uint32_t i = 0; i < 64 * 64; ++i) {
    const uint32_t v = out.as<uint32_t>()[i];
    if (i * stride < 64) {
      ASSERT_TRUE(v == 0x55555555u || v == 0xdeadbeefu) << i;
    } else {
      ASSERT_EQ(v, 0u) << i;
    }
  }
}

}  // namespace
}  // namespace pumice::cts
