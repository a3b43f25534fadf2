// Each type, storage width and operation group that shaders may use, with results computed by the host.
//
// covers: VK_KHR_16bit_storage, VK_KHR_8bit_storage, VK_KHR_shader_float16_int8, VK_KHR_shader_atomic_int64
// covers: VK_EXT_shader_atomic_float, VK_EXT_scalar_block_layout, VK_KHR_uniform_buffer_standard_layout
// covers: VK_KHR_workgroup_memory_explicit_layout, VK_KHR_shader_clock, VK_KHR_vulkan_memory_model
// covers: VK_EXT_shader_subgroup_ballot, VK_EXT_shader_subgroup_vote, VK_KHR_shader_integer_dot_product
// covers: VK_KHR_variable_pointers, VK_KHR_storage_buffer_storage_class, VK_KHR_relaxed_block_layout
// covers: feature:shaderInt64, feature:shaderFloat64, feature:shaderInt16, feature:shaderInt8, feature:shaderFloat16
// covers: feature:storageBuffer16BitAccess, feature:storageBuffer8BitAccess, feature:storagePushConstant16
// covers: feature:storagePushConstant8, feature:uniformAndStorageBuffer16BitAccess
// covers: feature:uniformAndStorageBuffer8BitAccess, feature:shaderBufferInt64Atomics
// covers: feature:shaderSharedInt64Atomics, feature:shaderBufferFloat32Atomics, feature:shaderBufferFloat32AtomicAdd
// covers: feature:shaderBufferFloat64Atomics, feature:shaderBufferFloat64AtomicAdd
// covers: feature:shaderSharedFloat32Atomics, feature:shaderSharedFloat32AtomicAdd
// covers: feature:shaderSharedFloat64Atomics, feature:shaderSharedFloat64AtomicAdd, feature:scalarBlockLayout
// covers: feature:uniformBufferStandardLayout, feature:workgroupMemoryExplicitLayout
// covers: feature:workgroupMemoryExplicitLayoutScalarBlockLayout, feature:workgroupMemoryExplicitLayout8BitAccess
// covers: feature:workgroupMemoryExplicitLayout16BitAccess, feature:shaderZeroInitializeWorkgroupMemory
// covers: VK_KHR_zero_initialize_workgroup_memory, feature:shaderSubgroupClock, feature:shaderDeviceClock
// covers: feature:vulkanMemoryModel, feature:vulkanMemoryModelDeviceScope, feature:shaderIntegerDotProduct
// covers: feature:variablePointers, feature:variablePointersStorageBuffer
// covers: feature:shaderUniformBufferArrayDynamicIndexing, feature:shaderStorageBufferArrayDynamicIndexing
// covers: feature:shaderUniformBufferArrayNonUniformIndexing
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <ctime>

#include "cts-subset/support/vulkan_test.h"
#include "shaders/arrays.spv.h"
#include "shaders/atomics.spv.h"
#include "shaders/ballot.spv.h"
#include "shaders/broadcast.spv.h"
#include "shaders/clock.spv.h"
#include "shaders/dot.spv.h"
#include "shaders/float_controls.spv.h"
#include "shaders/hlsl_decorations.spv.h"
#include "shaders/layouts.spv.h"
#include "shaders/memory_chain.spv.h"
#include "shaders/memory_model.spv.h"
#include "shaders/small_types.spv.h"
#include "shaders/subgroup_types.spv.h"
#include "shaders/variable_pointers.spv.h"
#include "shaders/wide_types.spv.h"
#include "shaders/workgroup_layout.spv.h"
#include "shaders/zero_shared.spv.h"

namespace pumice::cts {
namespace {

constexpr VkDescriptorType kStorage = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
constexpr VkDescriptorType kUniform = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;

class TypesTest : public VulkanTest {
 protected:
  void runOnce(const Compute& compute, const std::vector<TestBuffer>& buffers, uint32_t groups,
               std::span<const std::byte> push = {}) {
    bindBuffers(compute, buffers);
    run([&](VkCommandBuffer c) {
      bindAll(c, compute);
      if (!push.empty()) {
        vkCmdPushConstants(c, compute.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, static_cast<uint32_t>(push.size()),
                           push.data());
      }
      vkCmdDispatch(c, groups, 1, 1);
    });
  }
};

TEST_F(TypesTest, SixtyFourBits) {
  createFullDevice();
  const TestBuffer in = makeBuffer(8 * 256), ints = makeBuffer(8 * 256), floats = makeBuffer(8 * 256);
  uint64_t seed = 1;
  for (uint64_t& v : in.as<uint64_t>()) v = seed = seed * 6364136223846793005u + 1442695040888963407u;
  constexpr VkDescriptorType kThree[] = {kStorage, kStorage, kStorage};
  runOnce(makeCompute(k_wide_types, kThree), {in, ints, floats}, 4);
  for (uint32_t i = 0; i < 256; ++i) {
    const uint64_t x = in.as<uint64_t>()[i];
    ASSERT_EQ(ints.as<uint64_t>()[i], (x * 0x9e3779b97f4a7c15u) ^ (x >> 7) ^ (x / (i + uint64_t{1}))) << i;
    const double q = static_cast<double>(static_cast<int64_t>(x >> 12)) / 3.0;
    const volatile double s = q * 7.0;  // rounded before the subtraction
    ASSERT_EQ(floats.as<double>()[i], s - std::floor(s * 0.125)) << i;
  }
}

TEST_F(TypesTest, SmallTypesInEveryStorage) {
  createFullDevice();
  const TestBuffer in = makeBuffer(64 + 128 + 128), out = makeBuffer(64 + 128 + 128), uniform = makeBuffer(16);
  auto* bytes = reinterpret_cast<uint8_t*>(in.bytes);
  auto* shorts = reinterpret_cast<uint16_t*>(in.bytes + 64);
  auto* halves = reinterpret_cast<uint16_t*>(in.bytes + 192);
  for (uint32_t i = 0; i < 64; ++i) {
    bytes[i] = static_cast<uint8_t>(i * 37);
    shorts[i] = static_cast<uint16_t>(i * 2657);
    halves[i] = static_cast<uint16_t>(0x3c00 + (i << 4));  // 1 + i/64
  }
  reinterpret_cast<uint8_t*>(uniform.bytes)[0] = 201;
  reinterpret_cast<uint16_t*>(uniform.bytes)[1] = 771;
  struct {
    uint8_t byte = 77;
    uint16_t half16 = 13;
    uint16_t two = 0x4000;  // 2.0
    uint16_t padding = 0;   // push constants come in words
  } push;
  constexpr VkDescriptorType kTypes[] = {kStorage, kStorage, kUniform};
  runOnce(makeCompute(k_small_types, kTypes, 8), {in, out, uniform}, 2,
          std::as_bytes(std::span(reinterpret_cast<const uint8_t*>(&push), sizeof push)));
  for (uint32_t i = 0; i < 64; ++i) {
    ASSERT_EQ(static_cast<uint8_t>(out.bytes[i]), static_cast<uint8_t>(bytes[i] * 201 + 77)) << i;
    const auto product = static_cast<int16_t>(static_cast<uint16_t>(shorts[i] * 771u));
    const auto expected = static_cast<int16_t>(product / 13 + bytes[i]);
    ASSERT_EQ(reinterpret_cast<const int16_t*>(out.bytes + 64)[i], expected) << i;
    ASSERT_EQ(reinterpret_cast<const uint16_t*>(out.bytes + 192)[i], halves[i] + 0x400) << i;  // twice: exponent + 1
  }
}

TEST_F(TypesTest, AtomicsOfSixtyFourBitsAndFloats) {
  createFullDevice();
  const TestBuffer out = makeBuffer(256);
  constexpr VkDescriptorType kOne[] = {kStorage};
  runOnce(makeCompute(k_atomics, kOne), {out}, 8);
  const auto u64 = [&](size_t at) { return *reinterpret_cast<const uint64_t*>(out.bytes + at); };
  EXPECT_EQ(u64(0), uint64_t{1024 * 1023 / 2} << 20);
  EXPECT_EQ(u64(8), uint64_t{1023} * 0x100000001u);
  EXPECT_EQ(*reinterpret_cast<const float*>(out.bytes + 16), 1024.0f);
  EXPECT_EQ(*reinterpret_cast<const double*>(out.bytes + 24), 512.0);
  for (uint64_t g = 0; g < 8; ++g) {
    const uint64_t first = g * 128, last = first + 127;
    EXPECT_EQ(u64(32 + 8 * g), ((first + last) * 128 / 2) << 33);
    EXPECT_EQ(reinterpret_cast<const float*>(out.bytes + 96)[g], 256.0f);
    EXPECT_EQ(reinterpret_cast<const double*>(out.bytes + 128)[g], 32.0);
  }
}

TEST_F(TypesTest, ScalarAndStandardLayouts) {
  createFullDevice();
  const TestBuffer a = makeBuffer(4 + 12 * 16), w = makeBuffer(64), out = makeBuffer(12 * 16);
  for (uint32_t i = 0; i < a.as<float>().size(); ++i) a.as<float>()[i] = static_cast<float>(i + 1);
  for (uint32_t i = 0; i < 16; ++i) w.as<float>()[i] = static_cast<float>(i);
  constexpr VkDescriptorType kTypes[] = {kStorage, kUniform, kStorage};
  runOnce(makeCompute(k_layouts, kTypes), {a, w, out}, 1);
  for (uint32_t i = 0; i < 48; ++i) {
    // Small integers: exact, fused or not.
    ASSERT_EQ(out.as<float>()[i], static_cast<float>((i + 2) * (15 - i / 3) + 1)) << i;
  }
}

// covers: VK_KHR_spirv_1_4
TEST_F(TypesTest, WorkgroupBlocksAlias) {
  createFullDevice();
  const TestBuffer out = makeBuffer(512);
  constexpr VkDescriptorType kOne[] = {kStorage};
  runOnce(makeCompute(k_workgroup_layout, kOne), {out}, 1);
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t expected = (i ^ 1) * 0x01020304u + 0x11223344u;
    ASSERT_EQ(out.as<uint32_t>()[i], expected) << i;
    ASSERT_EQ(out.as<uint32_t>()[64 + i], expected) << i;
  }
}

TEST_F(TypesTest, WorkgroupMemoryStartsAtZero) {
  createFullDevice();
  const TestBuffer out = makeBuffer(4 * 128);
  constexpr VkDescriptorType kOne[] = {kStorage};
  runOnce(makeCompute(k_zero_shared, kOne), {out}, 64);
  for (uint32_t i = 0; i < 64; ++i) {
    ASSERT_EQ(out.as<uint32_t>()[i], 0u) << "workgroup " << i;
    ASSERT_EQ(out.as<uint32_t>()[64 + i], 64u) << "workgroup " << i;
  }
}

// covers: feature:subgroupBroadcastDynamicId
TEST_F(TypesTest, BroadcastFromALaneKnownAtRunTime) {
  setenv("PUMICE_API_VERSION", "1.2", 1);
  createInstance({.apiVersion = VK_API_VERSION_1_2});
  unsetenv("PUMICE_API_VERSION");
  VkPhysicalDeviceVulkan12Features features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  features.subgroupBroadcastDynamicId = VK_TRUE;
  createDevice({.features = &features});
  const TestBuffer in = makeBuffer(16), out = makeBuffer(16 * 64);
  constexpr uint32_t kLanes[] = {3, 14, 0, 9};
  std::copy_n(kLanes, 4, in.as<uint32_t>().begin());
  constexpr VkDescriptorType kTwo[] = {kStorage, kStorage};
  runOnce(makeCompute(k_broadcast, kTwo), {in, out}, 1);
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t* r = &out.as<uint32_t>()[4 * i];
    ASSERT_EQ(r[2], 16u);
    ASSERT_EQ(r[3], i / 16);
    ASSERT_EQ(r[0], 3 * (i / 16 * 16 + kLanes[i / 16])) << i;
    ASSERT_EQ(r[1], 5 * (i / 4 * 4 + kLanes[i / 16] % 4)) << i;
  }
}

TEST_F(TypesTest, Clocks) {
  createFullDevice();
  const TestBuffer out = makeBuffer(16 * (8 * 3 + 4));
  constexpr VkDescriptorType kOne[] = {kStorage};
  timespec before{}, after{};
  const Compute compute = makeCompute(k_clock, kOne);
  clock_gettime(CLOCK_MONOTONIC, &before);
  runOnce(compute, {out}, 1);
  clock_gettime(CLOCK_MONOTONIC, &after);
  const auto ns = [](const timespec& t) {
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
  };
  const auto stamps = out.as<uint64_t>();
  for (uint32_t i = 0; i < 16; ++i) {
    EXPECT_LE(stamps[i], stamps[16 + i]);
    EXPECT_LE(ns(before), stamps[32 + i]);
    EXPECT_LE(stamps[32 + i], ns(after));
  }
}

TEST_F(TypesTest, VulkanMemoryModel) {
  createFullDevice();
  const TestBuffer out = makeBuffer(8 + 4 * 256);
  constexpr VkDescriptorType kOne[] = {kStorage};
  runOnce(makeCompute(k_memory_model, kOne), {out}, 4);
  EXPECT_EQ(out.as<uint32_t>()[0], 256u);
  EXPECT_EQ(out.as<uint32_t>()[1], 256u);
  std::vector<uint32_t> order(out.as<uint32_t>().begin() + 2, out.as<uint32_t>().end());
  std::sort(order.begin(), order.end());
  for (uint32_t i = 0; i < 256; ++i) ASSERT_EQ(order[i], i + 1);
}

// covers: feature:vulkanMemoryModelAvailabilityVisibilityChains
TEST_F(TypesTest, AvailabilityGoesThroughOthers) {
  createFullDevice();
  const TestBuffer out = makeBuffer(16);
  std::memset(out.bytes, 0, out.size);
  constexpr VkDescriptorType kOne[] = {kStorage};
  const Compute compute = makeCompute(k_memory_chain, kOne);
  for (int round = 0; round < 20; ++round) runOnce(compute, {out}, 300);
  const auto [token, value, found, wrong] = out.as<std::array<uint32_t, 4>>()[0];
  EXPECT_GT(found, 0u);
  EXPECT_EQ(found, token / 4);
  EXPECT_EQ(wrong, 0u) << value;
}

TEST_F(TypesTest, BallotsAndVotesOfTheOldExtensions) {
  createFullDevice();
  const TestBuffer out = makeBuffer(256);
  constexpr VkDescriptorType kOne[] = {kStorage};
  runOnce(makeCompute(k_ballot, kOne), {out}, 1);
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t* r = &out.as<uint32_t>()[4 * i];
    EXPECT_EQ(r[0], 0xaaaau);
    EXPECT_EQ(r[1], 15u);
    EXPECT_EQ(r[2], 1u);
    EXPECT_EQ(r[3], 0u);
  }
}

// covers: VK_KHR_shader_subgroup_extended_types, feature:shaderSubgroupExtendedTypes
TEST_F(TypesTest, SubgroupOperationsOnOtherWidths) {
  createFullDevice();
  const TestBuffer out = makeBuffer(8 * 16 + 4 * 16);
  constexpr VkDescriptorType kOne[] = {kStorage};
  runOnce(makeCompute(k_subgroup_types, kOne), {out}, 1);
  for (uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(out.as<uint64_t>()[i], uint64_t{120} << 40);
    EXPECT_EQ(out.as<uint32_t>()[32 + i], (i * (i + 1) / 2 * 4096) & 0xffff);
  }
}

TEST_F(TypesTest, DescriptorArrays) {
  createFullDevice();
  const TestBuffer data = makeBuffer(64 * 8), out = makeBuffer(4 * 48);
  for (uint32_t i = 0; i < 8; ++i) data.as<uint32_t>()[16 * i] = 100 + i;
  const VkDescriptorSetLayoutBinding bindings[] = {{0, kUniform, 4, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                                   {1, kStorage, 4, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                                   {2, kStorage, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
  // makeCompute knows single descriptors only, so the arrays come by hand.
  VkDescriptorSetLayoutCreateInfo setInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  setInfo.bindingCount = 3;
  setInfo.pBindings = bindings;
  Compute c;
  VK_OK(vkCreateDescriptorSetLayout(device(), &setInfo, nullptr, &c.setLayout));
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, 4};
  VkPipelineLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layoutInfo.setLayoutCount = 1;
  layoutInfo.pSetLayouts = &c.setLayout;
  layoutInfo.pushConstantRangeCount = 1;
  layoutInfo.pPushConstantRanges = &range;
  VK_OK(vkCreatePipelineLayout(device(), &layoutInfo, nullptr, &c.layout));
  VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  moduleInfo.codeSize = sizeof k_arrays;
  moduleInfo.pCode = k_arrays;
  VkShaderModule module = VK_NULL_HANDLE;
  VK_OK(vkCreateShaderModule(device(), &moduleInfo, nullptr, &module));
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.layout = c.layout;
  VK_OK(vkCreateComputePipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &c.pipeline));
  const VkDescriptorPoolSize sizes[] = {{kUniform, 4}, {kStorage, 5}};
  VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  poolInfo.maxSets = 1;
  poolInfo.poolSizeCount = 2;
  poolInfo.pPoolSizes = sizes;
  VkDescriptorPool descriptorPool = VK_NULL_HANDLE;
  VK_OK(vkCreateDescriptorPool(device(), &poolInfo, nullptr, &descriptorPool));
  defer([=, this] {
    vkDestroyDescriptorPool(device(), descriptorPool, nullptr);
    vkDestroyPipeline(device(), c.pipeline, nullptr);
    vkDestroyShaderModule(device(), module, nullptr);
    vkDestroyPipelineLayout(device(), c.layout, nullptr);
    vkDestroyDescriptorSetLayout(device(), c.setLayout, nullptr);
  });
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocate.descriptorPool = descriptorPool;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &c.setLayout;
  VK_OK(vkAllocateDescriptorSets(device(), &allocate, &c.set));
  std::vector<VkDescriptorBufferInfo> infos;
  for (uint32_t i = 0; i < 8; ++i) infos.push_back({data.buffer, 64 * i, 64});
  infos.push_back({out.buffer, 0, VK_WHOLE_SIZE});
  VkWriteDescriptorSet writes[2] = {{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET}, {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET}};
  writes[0].dstSet = writes[1].dstSet = c.set;
  writes[0].descriptorCount = 4;
  writes[0].descriptorType = kUniform;
  writes[0].pBufferInfo = infos.data();
  writes[1].dstBinding = 1;
  writes[1].descriptorCount = 5;  // runs on into binding 2
  writes[1].descriptorType = kStorage;
  writes[1].pBufferInfo = infos.data() + 4;
  vkUpdateDescriptorSets(device(), 2, writes, 0, nullptr);
  const uint32_t which = 2;
  run([&](VkCommandBuffer commands) {
    bindAll(commands, c);
    vkCmdPushConstants(commands, c.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &which);
    vkCmdDispatch(commands, 1, 1, 1);
  });
  for (uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(out.as<uint32_t>()[i], 102u + 107u);
    EXPECT_EQ(out.as<uint32_t>()[16 + i], 100 + (i & 3));
    EXPECT_EQ(out.as<uint32_t>()[32 + i], 104 + ((i >> 1) & 3));
  }
}

TEST_F(TypesTest, IntegerDotProducts) {
  createFullDevice();
  const TestBuffer a = makeBuffer(64), b = makeBuffer(64), out = makeBuffer(64);
  for (uint32_t i = 0; i < 16; ++i) {
    a.as<uint32_t>()[i] = i * 0x3a7c91e5u;
    b.as<uint32_t>()[i] = i * 0x00010101u;
  }
  constexpr VkDescriptorType kThree[] = {kStorage, kStorage, kStorage};
  runOnce(makeCompute(k_dot, kThree), {a, b, out}, 1);
  for (uint32_t i = 0; i < 16; ++i) {
    int32_t s = 0;
    uint64_t u = 0xfffffff0u;
    for (uint32_t k = 0; k < 4; ++k) {
      const auto x = static_cast<uint8_t>(a.as<uint32_t>()[i] >> (8 * k));
      const auto y = static_cast<uint8_t>(b.as<uint32_t>()[i] >> (8 * k));
      s += static_cast<int8_t>(x) * static_cast<int8_t>(y);
      u += uint64_t{x} * y;
    }
    ASSERT_EQ(out.as<uint32_t>()[i],
              static_cast<uint32_t>(s) ^ static_cast<uint32_t>(std::min<uint64_t>(u, 0xffffffffu)))
        << i;
  }
}

// covers: VK_KHR_shader_float_controls, VK_KHR_shader_non_semantic_info
TEST_F(TypesTest, DenormalsAndSpecialValuesAreKept) {
  createFullDevice();
  const TestBuffer a = makeBuffer(64), b = makeBuffer(64), out = makeBuffer(64);
  const float inf = INFINITY;
  const float as[] = {1e-30f, -1e-30f, 0x1p-149f, -0.0f, inf, -inf, inf,   0x1.fffffep127f,
                      3e-39f, 1.5f,    0x1p-126f, 0.0f,  1,   -1,   1e20f, 0x1.000002p0f};
  const float bs[] = {1e-10f, 1e-12f,    1.0f, 5.0f,  -2.0f, -3.0f,     0.0f,  2.0f,
                      0.5f,   0x1p-149f, 0.5f, -7.0f, -inf,  0x1p-140f, 1e20f, 0x1.000002p0f};
  std::copy_n(as, 16, a.as<float>().begin());
  std::copy_n(bs, 16, b.as<float>().begin());
  constexpr VkDescriptorType kThree[] = {kStorage, kStorage, kStorage};
  runOnce(makeCompute(k_float_controls, kThree), {a, b, out}, 1);
  for (uint32_t i = 0; i < 16; ++i) {
    const volatile float x = as[i], y = bs[i];
    const float expected = x * y;
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(out.as<float>()[i])) << i;
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(out.as<float>()[i]), std::bit_cast<uint32_t>(expected)) << i;
    }
  }
}

// covers: VK_GOOGLE_decorate_string, VK_GOOGLE_hlsl_functionality1, VK_GOOGLE_user_type
TEST_F(TypesTest, DecorationsOfHlslMeanNothing) {
  createFullDevice();
  const TestBuffer a = makeBuffer(64), out = makeBuffer(64);
  for (uint32_t i = 0; i < 16; ++i) a.as<uint32_t>()[i] = 7 * i + 1;
  constexpr VkDescriptorType kTwo[] = {kStorage, kStorage};
  runOnce(makeCompute(k_hlsl_decorations, kTwo), {a, out}, 1);
  for (uint32_t i = 0; i < 16; ++i) ASSERT_EQ(out.as<uint32_t>()[i], 3 * (7 * i + 1)) << i;
}

TEST_F(TypesTest, VariablePointers) {
  createFullDevice();
  const TestBuffer a = makeBuffer(4 * 18), b = makeBuffer(4 * 18), out = makeBuffer(64);
  for (uint32_t i = 0; i < 18; ++i) {
    a.as<uint32_t>()[i] = 1000 + i;
    b.as<uint32_t>()[i] = 2000 + i;
  }
  constexpr VkDescriptorType kThree[] = {kStorage, kStorage, kStorage};
  runOnce(makeCompute(k_variable_pointers, kThree), {a, b, out}, 1);
  for (uint32_t i = 0; i < 16; ++i) ASSERT_EQ(out.as<uint32_t>()[i], (i % 2 == 1 ? 1000 : 2000) + i + 2) << i;
}

}  // namespace
}  // namespace pumice::cts
