// Features of descriptors and shaders that need an extension.
//
// covers: VK_KHR_buffer_device_address, feature:bufferDeviceAddress,
// covers: feature:runtimeDescriptorArray, feature:shaderStorageBufferArrayNonUniformIndexing,
// covers: feature:descriptorBindingVariableDescriptorCount, feature:descriptorBindingPartiallyBound,
// covers: feature:descriptorBindingStorageBufferUpdateAfterBind, VK_EXT_inline_uniform_block,
// covers: feature:inlineUniformBlock, VK_EXT_subgroup_size_control, feature:subgroupSizeControl,
// covers: vkCreatePipelineCache, vkDestroyPipelineCache, vkGetPipelineCacheData, vkMergePipelineCaches,
// covers: VK_EXT_pipeline_creation_cache_control, feature:pipelineCreationCacheControl,
// covers: VK_EXT_pipeline_creation_feedback
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "cts-subset/support/vulkan_test.h"
#include "shaders/address.spv.h"
#include "shaders/bindless.spv.h"
#include "shaders/endless.spv.h"
#include "shaders/inline_uniform.spv.h"
#include "shaders/saxpy.spv.h"
#include "shaders/subgroup.spv.h"
#include "shaders/update_after_bind.spv.h"

namespace pumice::cts {
namespace {

constexpr VkDescriptorType kStorage = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;

class FeatureTest : public VulkanTest {
 protected:
  VkShaderModule makeModule(std::span<const uint32_t> spirv) {
    VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = spirv.size_bytes();
    info.pCode = spirv.data();
    VkShaderModule module = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateShaderModule(device(), &info, nullptr, &module), VK_SUCCESS);
    defer([this, module] { vkDestroyShaderModule(device(), module, nullptr); });
    return module;
  }
  static VkComputePipelineCreateInfo pipelineInfo(VkShaderModule module, VkPipelineLayout layout) {
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.layout = layout;
    return info;
  }
  VkPipelineCache makeCache(std::span<const std::byte> data = {}) {
    VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    info.initialDataSize = data.size();
    info.pInitialData = data.data();
    VkPipelineCache cache = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreatePipelineCache(device(), &info, nullptr, &cache), VK_SUCCESS);
    defer([this, cache] { vkDestroyPipelineCache(device(), cache, nullptr); });
    return cache;
  }
  std::vector<std::byte> cacheData(VkPipelineCache cache) {
    size_t size = 0;
    EXPECT_EQ(vkGetPipelineCacheData(device(), cache, &size, nullptr), VK_SUCCESS);
    std::vector<std::byte> data(size);
    EXPECT_EQ(vkGetPipelineCacheData(device(), cache, &size, data.data()), VK_SUCCESS);
    EXPECT_EQ(size, data.size());
    return data;
  }
};

TEST_F(FeatureTest, ShadersUseDeviceAddresses) {
  VkPhysicalDeviceBufferDeviceAddressFeatures features{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES};
  features.bufferDeviceAddress = VK_TRUE;
  createDevice({.extensions = {VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, VK_KHR_DEVICE_GROUP_EXTENSION_NAME,
                               VK_KHR_STORAGE_BUFFER_STORAGE_CLASS_EXTENSION_NAME},
                .features = &features});
  DEVICE_FN(vkGetBufferDeviceAddressKHR);
  const TestBuffer source = makeBuffer(4096, kAllUsages, true), target = makeBuffer(4096, kAllUsages, true);
  for (uint32_t i = 0; i < 1024; ++i) source.as<uint32_t>()[i] = i * i;
  const auto address = [&](const TestBuffer& b) {
    const VkBufferDeviceAddressInfo info{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, b.buffer};
    return vkGetBufferDeviceAddressKHR(device(), &info);
  };
  const uint64_t push[] = {address(source), address(target)};
  const Compute compute = makeCompute(k_address, {}, 16);
  run([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, compute.pipeline);
    vkCmdPushConstants(c, compute.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 16, push);
    vkCmdDispatch(c, 32, 1, 1);
  });
  for (uint32_t i = 0; i < 1024; ++i) ASSERT_EQ(target.as<uint32_t>()[i], i * i * 3 + 1) << i;
}

// 5,000 descriptors of a variable count, some of them never written and some updated after binding.
TEST_F(FeatureTest, Bindless) {
  VkPhysicalDeviceDescriptorIndexingFeatures features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES};
  features.runtimeDescriptorArray = VK_TRUE;
  features.shaderStorageBufferArrayNonUniformIndexing = VK_TRUE;
  features.descriptorBindingVariableDescriptorCount = VK_TRUE;
  features.descriptorBindingPartiallyBound = VK_TRUE;
  features.descriptorBindingStorageBufferUpdateAfterBind = VK_TRUE;
  setenv("PUMICE_API_VERSION", "1.2", 1);
  createInstance({.apiVersion = VK_API_VERSION_1_2});
  unsetenv("PUMICE_API_VERSION");
  createDevice({.features = &features});
  constexpr uint32_t kCount = 5000;
  const VkDescriptorBindingFlags flags[] = {0, VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT |
                                                   VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT |
                                                   VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT};
  const VkDescriptorSetLayoutBindingFlagsCreateInfo flagsInfo{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO, nullptr, 2, flags};
  const VkDescriptorSetLayoutBinding bindings[] = {{0, kStorage, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                                   {1, kStorage, 1 << 16, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
  VkDescriptorSetLayoutCreateInfo setInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &flagsInfo};
  setInfo.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT;
  setInfo.bindingCount = 2;
  setInfo.pBindings = bindings;
  VkDescriptorSetLayout setLayout = VK_NULL_HANDLE;
  VK_OK(vkCreateDescriptorSetLayout(device(), &setInfo, nullptr, &setLayout));
  VkPipelineLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layoutInfo.setLayoutCount = 1;
  layoutInfo.pSetLayouts = &setLayout;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VK_OK(vkCreatePipelineLayout(device(), &layoutInfo, nullptr, &layout));
  const VkComputePipelineCreateInfo info = pipelineInfo(makeModule(k_bindless), layout);
  VkPipeline pipeline = VK_NULL_HANDLE;
  VK_OK(vkCreateComputePipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline));
  const VkDescriptorPoolSize size{kStorage, kCount + 1};
  VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  poolInfo.flags = VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT;
  poolInfo.maxSets = 1;
  poolInfo.poolSizeCount = 1;
  poolInfo.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  VK_OK(vkCreateDescriptorPool(device(), &poolInfo, nullptr, &pool));
  defer([=, this] {
    vkDestroyDescriptorPool(device(), pool, nullptr);
    vkDestroyPipeline(device(), pipeline, nullptr);
    vkDestroyPipelineLayout(device(), layout, nullptr);
    vkDestroyDescriptorSetLayout(device(), setLayout, nullptr);
  });
  const VkDescriptorSetVariableDescriptorCountAllocateInfo variable{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO, nullptr, 1, &kCount};
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, &variable};
  allocate.descriptorPool = pool;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &setLayout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  VK_OK(vkAllocateDescriptorSets(device(), &allocate, &set));

  const TestBuffer data = makeBuffer(16 * kCount), out = makeBuffer(4 * 4992);
  for (uint32_t i = 0; i < 4 * kCount; ++i) data.as<uint32_t>()[i] = 7 * i;
  const auto write = [&](uint32_t binding, uint32_t element, const VkDescriptorBufferInfo& buffer) {
    VkWriteDescriptorSet w{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    w.dstSet = set;
    w.dstBinding = binding;
    w.dstArrayElement = element;
    w.descriptorCount = 1;
    w.descriptorType = kStorage;
    w.pBufferInfo = &buffer;
    vkUpdateDescriptorSets(device(), 1, &w, 0, nullptr);
  };
  write(0, 0, {out.buffer, 0, VK_WHOLE_SIZE});
  VkCommandBuffer c = makeCommands();
  begin(c);
  vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
  vkCmdDispatch(c, 78, 1, 1);
  VK_OK(vkEndCommandBuffer(c));
  for (uint32_t i = 0; i < kCount; ++i) write(1, i, {data.buffer, 16 * i, 16});  // after binding
  VkFence fence = makeFence();
  submit(c, fence);
  VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, 30'000'000'000u));
  for (uint32_t i = 0; i < 4992; ++i) ASSERT_EQ(out.as<uint32_t>()[i], 7 * (4 * i + (i & 3))) << i;
}

TEST_F(FeatureTest, InlineUniformBlocks) {
  VkPhysicalDeviceInlineUniformBlockFeatures features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INLINE_UNIFORM_BLOCK_FEATURES};
  features.inlineUniformBlock = VK_TRUE;
  createDevice({.extensions = {VK_EXT_INLINE_UNIFORM_BLOCK_EXTENSION_NAME, VK_KHR_MAINTENANCE_1_EXTENSION_NAME},
                .features = &features});
  const VkDescriptorSetLayoutBinding bindings[] = {
      {0, VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, 32, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
      {1, kStorage, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
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
  const VkComputePipelineCreateInfo info = pipelineInfo(makeModule(k_inline_uniform), layout);
  VkPipeline pipeline = VK_NULL_HANDLE;
  VK_OK(vkCreateComputePipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline));
  const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, 64}, {kStorage, 2}};
  const VkDescriptorPoolInlineUniformBlockCreateInfo blocks{
      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_INLINE_UNIFORM_BLOCK_CREATE_INFO, nullptr, 2};
  VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, &blocks};
  poolInfo.maxSets = 2;
  poolInfo.poolSizeCount = 2;
  poolInfo.pPoolSizes = sizes;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  VK_OK(vkCreateDescriptorPool(device(), &poolInfo, nullptr, &pool));
  defer([=, this] {
    vkDestroyDescriptorPool(device(), pool, nullptr);
    vkDestroyPipeline(device(), pipeline, nullptr);
    vkDestroyPipelineLayout(device(), layout, nullptr);
    vkDestroyDescriptorSetLayout(device(), setLayout, nullptr);
  });
  VkDescriptorSet sets[2] = {};
  const VkDescriptorSetLayout layouts[] = {setLayout, setLayout};
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocate.descriptorPool = pool;
  allocate.descriptorSetCount = 2;
  allocate.pSetLayouts = layouts;
  VK_OK(vkAllocateDescriptorSets(device(), &allocate, sets));

  const TestBuffer out = makeBuffer(32);
  const uint32_t first[] = {1, 2, 3, 4}, second[] = {5, 6, 7, 8};
  for (uint32_t half = 0; half < 2; ++half) {
    VkWriteDescriptorSetInlineUniformBlock block{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_INLINE_UNIFORM_BLOCK};
    block.dataSize = 16;
    block.pData = half == 0 ? first : second;
    VkWriteDescriptorSet w{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, &block};
    w.dstSet = sets[0];
    w.dstArrayElement = 16 * half;
    w.descriptorCount = 16;
    w.descriptorType = VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
    vkUpdateDescriptorSets(device(), 1, &w, 0, nullptr);
  }
  // To the second set by a copy of the bytes.
  VkCopyDescriptorSet copy{VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET, nullptr, sets[0], 0, 0, sets[1], 0, 0, 32};
  const VkDescriptorBufferInfo buffer{out.buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet w{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  w.dstSet = sets[1];
  w.dstBinding = 1;
  w.descriptorCount = 1;
  w.descriptorType = kStorage;
  w.pBufferInfo = &buffer;
  vkUpdateDescriptorSets(device(), 1, &w, 1, &copy);
  run([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &sets[1], 0, nullptr);
    vkCmdDispatch(c, 1, 1, 1);
  });
  EXPECT_EQ(std::memcmp(out.bytes, second, 16), 0);
  EXPECT_EQ(std::memcmp(out.bytes + 16, first, 16), 0);
}

// The command buffer is recorded first, everything it reads is written to the set later; what it does not use, while it
// is pending.
//
// covers: feature:descriptorBindingInlineUniformBlockUpdateAfterBind
// covers: feature:descriptorBindingUniformBufferUpdateAfterBind, feature:descriptorBindingUpdateUnusedWhilePending
TEST_F(FeatureTest, UpdatesAfterBindingAndWhilePending) {
  createFullDevice();
  constexpr VkDescriptorType kInline = VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
  constexpr VkDescriptorType kUniform = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
  const VkDescriptorSetLayoutBinding bindings[] = {{0, kInline, 64, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                                   {1, kUniform, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                                   {2, kStorage, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                                   {3, kStorage, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
  constexpr VkDescriptorBindingFlags kAfter = VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT;
  const VkDescriptorBindingFlags flags[] = {
      kAfter, kAfter, 0,
      VK_DESCRIPTOR_BINDING_UPDATE_UNUSED_WHILE_PENDING_BIT | VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT};
  const VkDescriptorSetLayoutBindingFlagsCreateInfo flagsInfo{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO, nullptr, 4, flags};
  VkDescriptorSetLayoutCreateInfo setInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &flagsInfo};
  setInfo.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT;
  setInfo.bindingCount = 4;
  setInfo.pBindings = bindings;
  VkDescriptorSetLayout setLayout = VK_NULL_HANDLE;
  VK_OK(vkCreateDescriptorSetLayout(device(), &setInfo, nullptr, &setLayout));
  VkPipelineLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layoutInfo.setLayoutCount = 1;
  layoutInfo.pSetLayouts = &setLayout;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VK_OK(vkCreatePipelineLayout(device(), &layoutInfo, nullptr, &layout));
  const VkComputePipelineCreateInfo info = pipelineInfo(makeModule(k_update_after_bind), layout);
  VkPipeline pipeline = VK_NULL_HANDLE;
  VK_OK(vkCreateComputePipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline));
  const VkDescriptorPoolSize sizes[] = {{kInline, 64}, {kUniform, 1}, {kStorage, 2}};
  const VkDescriptorPoolInlineUniformBlockCreateInfo blocks{
      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_INLINE_UNIFORM_BLOCK_CREATE_INFO, nullptr, 1};
  VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, &blocks};
  poolInfo.flags = VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT;
  poolInfo.maxSets = 1;
  poolInfo.poolSizeCount = 3;
  poolInfo.pPoolSizes = sizes;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  VK_OK(vkCreateDescriptorPool(device(), &poolInfo, nullptr, &pool));
  const VkEventCreateInfo eventInfo{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
  VkEvent event = VK_NULL_HANDLE;
  VK_OK(vkCreateEvent(device(), &eventInfo, nullptr, &event));
  defer([=, this] {
    vkDestroyEvent(device(), event, nullptr);
    vkDestroyDescriptorPool(device(), pool, nullptr);
    vkDestroyPipeline(device(), pipeline, nullptr);
    vkDestroyPipelineLayout(device(), layout, nullptr);
    vkDestroyDescriptorSetLayout(device(), setLayout, nullptr);
  });
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocate.descriptorPool = pool;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &setLayout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  VK_OK(vkAllocateDescriptorSets(device(), &allocate, &set));
  const TestBuffer data = makeBuffer(64), out = makeBuffer(64);
  const auto write = [&](uint32_t binding, VkDescriptorType type, VkBuffer buffer) {
    const VkDescriptorBufferInfo bufferInfo{buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet w{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    w.dstSet = set;
    w.dstBinding = binding;
    w.descriptorCount = 1;
    w.descriptorType = type;
    w.pBufferInfo = &bufferInfo;
    vkUpdateDescriptorSets(device(), 1, &w, 0, nullptr);
  };
  write(2, kStorage, out.buffer);
  VkCommandBuffer c = makeCommands();
  begin(c);
  vkCmdWaitEvents(c, 1, &event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, nullptr, 0,
                  nullptr, 0, nullptr);
  vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
  vkCmdDispatch(c, 1, 1, 1);
  VK_OK(vkEndCommandBuffer(c));
  data.as<uint32_t>()[0] = 77;
  write(1, kUniform, data.buffer);
  const uint32_t inlined[16] = {30, 0, 0, 0, 12};
  VkWriteDescriptorSetInlineUniformBlock block{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_INLINE_UNIFORM_BLOCK};
  block.dataSize = 64;
  block.pData = inlined;
  VkWriteDescriptorSet w{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, &block};
  w.dstSet = set;
  w.descriptorCount = 64;
  w.descriptorType = kInline;
  vkUpdateDescriptorSets(device(), 1, &w, 0, nullptr);
  VkFence fence = makeFence();
  submit(c, fence);
  write(3, kStorage, data.buffer);  // unused, pending
  VK_OK(vkSetEvent(device(), event));
  VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, 30'000'000'000u));
  EXPECT_EQ(out.as<uint32_t>()[0], 42u);
  EXPECT_EQ(out.as<uint32_t>()[1], 77u);
}

class CacheTest : public FeatureTest {};

TEST_F(CacheTest, WarmCachesCompileNothing) {
  VkPhysicalDevicePipelineCreationCacheControlFeatures features{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_CREATION_CACHE_CONTROL_FEATURES};
  features.pipelineCreationCacheControl = VK_TRUE;
  createDevice({.extensions = {VK_EXT_PIPELINE_CREATION_CACHE_CONTROL_EXTENSION_NAME,
                               VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME},
                .features = &features});
  constexpr VkDescriptorType kTwo[] = {kStorage, kStorage};
  const Compute base = makeCompute(k_saxpy, kTwo, 8);
  const VkShaderModule module = makeModule(k_saxpy);
  VkPipelineCreationFeedback feedback{}, stage{};
  VkPipelineCreationFeedbackCreateInfo feedbackInfo{VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO, nullptr,
                                                    &feedback, 1, &stage};
  const auto create = [&](VkPipelineCache cache, bool mustBeWarm) {
    VkComputePipelineCreateInfo info = pipelineInfo(module, base.layout);
    info.pNext = &feedbackInfo;
    info.flags = mustBeWarm ? VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT : 0;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result = vkCreateComputePipelines(device(), cache, 1, &info, nullptr, &pipeline);
    EXPECT_EQ(pipeline != VK_NULL_HANDLE, result == VK_SUCCESS);
    vkDestroyPipeline(device(), pipeline, nullptr);
    return result;
  };
  constexpr auto kHit = VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;

  VkPipelineCache cold = makeCache();
  EXPECT_EQ(create(cold, true), VK_PIPELINE_COMPILE_REQUIRED);
  VK_OK(create(cold, false));
  EXPECT_TRUE(feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT);
  EXPECT_FALSE(feedback.flags & kHit);
  VK_OK(create(cold, true));
  EXPECT_TRUE(feedback.flags & kHit);

  const std::vector<std::byte> data = cacheData(cold);
  VK_OK(create(makeCache(data), true));  // from bytes
  VkPipelineCache merged = makeCache();
  VK_OK(vkMergePipelineCaches(device(), merged, 1, &cold));
  VK_OK(create(merged, true));

  size_t little = data.size() - 1;
  std::vector<std::byte> some(data.size());
  EXPECT_EQ(vkGetPipelineCacheData(device(), cold, &little, some.data()), VK_INCOMPLETE);
  EXPECT_LT(little, data.size());
}

TEST_F(CacheTest, TamperedDataAreAMiss) {
  createInstance({.validation = false});
  VkPhysicalDevicePipelineCreationCacheControlFeatures features{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_CREATION_CACHE_CONTROL_FEATURES};
  features.pipelineCreationCacheControl = VK_TRUE;
  createDevice({.extensions = {VK_EXT_PIPELINE_CREATION_CACHE_CONTROL_EXTENSION_NAME}, .features = &features});
  constexpr VkDescriptorType kTwo[] = {kStorage, kStorage};
  const Compute base = makeCompute(k_saxpy, kTwo, 8);
  VkComputePipelineCreateInfo info = pipelineInfo(makeModule(k_saxpy), base.layout);
  VkPipelineCache cache = makeCache();
  VkPipeline pipeline = VK_NULL_HANDLE;
  VK_OK(vkCreateComputePipelines(device(), cache, 1, &info, nullptr, &pipeline));
  vkDestroyPipeline(device(), pipeline, nullptr);
  const std::vector<std::byte> good = cacheData(cache);
  info.flags = VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT;
  const auto isMiss = [&](std::span<const std::byte> data) {
    VkPipelineCacheCreateInfo cacheInfo{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    cacheInfo.initialDataSize = data.size();
    cacheInfo.pInitialData = data.data();
    VkPipelineCache made = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreatePipelineCache(device(), &cacheInfo, nullptr, &made), VK_SUCCESS);
    const VkResult result = vkCreateComputePipelines(device(), made, 1, &info, nullptr, &pipeline);
    vkDestroyPipeline(device(), pipeline, nullptr);
    vkDestroyPipelineCache(device(), made, nullptr);
    return result == VK_PIPELINE_COMPILE_REQUIRED;
  };
  EXPECT_FALSE(isMiss(good));
  // Every byte changed in turn, and every length. The object code is padded to eight bytes, which say nothing.
  for (size_t at = 0; at + 8 < good.size(); ++at) {
    std::vector<std::byte> bad = good;
    bad[at] ^= std::byte{0x10};
    EXPECT_TRUE(isMiss(bad)) << "byte " << at;
  }
  for (size_t length = 0; length + 8 < good.size(); ++length) {
    EXPECT_TRUE(isMiss(std::span(good).first(length))) << "length " << length;
  }
  // A damaged record costs that record alone: the same data twice, the first half of which is damaged.
  constexpr size_t kHeader = 32;
  std::vector<std::byte> twice = good;
  twice.insert(twice.end(), good.begin() + kHeader, good.end());
  twice[kHeader + 100] ^= std::byte{1};
  EXPECT_FALSE(isMiss(twice));
}

// covers: feature:computeFullSubgroups
class SubgroupTest : public VulkanTest, public testing::WithParamInterface<uint32_t> {};

TEST_P(SubgroupTest, OperationsAtEverySize) {
  setenv("PUMICE_API_VERSION", "1.1", 1);  // SPIR-V 1.3
  createInstance();
  unsetenv("PUMICE_API_VERSION");
  VkPhysicalDeviceSubgroupSizeControlFeatures features{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
  features.subgroupSizeControl = VK_TRUE;
  features.computeFullSubgroups = VK_TRUE;
  createDevice({.extensions = {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME}, .features = &features});
  const uint32_t size = GetParam();
  constexpr VkDescriptorType kOne[] = {kStorage};
  const Compute base = makeCompute(k_subgroup, kOne);
  VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  moduleInfo.codeSize = sizeof k_subgroup;
  moduleInfo.pCode = k_subgroup;
  VkShaderModule module = VK_NULL_HANDLE;
  VK_OK(vkCreateShaderModule(device(), &moduleInfo, nullptr, &module));
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo required{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO};
  required.requiredSubgroupSize = size;
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, &required};
  info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.layout = base.layout;
  VkPipeline pipeline = VK_NULL_HANDLE;
  VK_OK(vkCreateComputePipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline));
  defer([=, this] {
    vkDestroyPipeline(device(), pipeline, nullptr);
    vkDestroyShaderModule(device(), module, nullptr);
  });
  const TestBuffer out = makeBuffer(16 * 128);
  bindBuffers(base, {&out, 1});
  run([&](VkCommandBuffer c) {
    bindAll(c, base);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdDispatch(c, 1, 1, 1);
  });
  for (uint32_t i = 0; i < 128; ++i) {
    const uint32_t* v = &out.as<uint32_t>()[4 * i];
    const uint32_t first = i / size * size;
    uint32_t sum = 0;
    for (uint32_t k = first; k <= i; ++k) sum += k;
    EXPECT_EQ(v[0], size);
    EXPECT_EQ(v[1], sum) << i;
    EXPECT_EQ(v[2], i ^ 1u);
    EXPECT_EQ(v[3], 0x55555555u & (size == 32 ? ~0u : (1u << size) - 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SubgroupTest, testing::Values(4u, 8u, 16u, 32u));

// What PUMICE_SUBGROUP_SIZE asks for, and the size that is to be reported and used.
class DefaultSubgroupTest : public VulkanTest, public testing::WithParamInterface<std::pair<const char*, uint32_t>> {
 protected:
  ~DefaultSubgroupTest() override { unsetenv("PUMICE_SUBGROUP_SIZE"); }
};

TEST_P(DefaultSubgroupTest, ReportedSizeIsTheOneUsed) {
  const auto [wish, size] = GetParam();
  if (wish) setenv("PUMICE_SUBGROUP_SIZE", wish, 1);
  setenv("PUMICE_API_VERSION", "1.1", 1);
  createInstance();
  unsetenv("PUMICE_API_VERSION");
  createDevice();
  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &subgroup};
  vkGetPhysicalDeviceProperties2(physicalDevice(), &properties);
  EXPECT_EQ(subgroup.subgroupSize, size);
  constexpr VkDescriptorType kOne[] = {kStorage};
  const Compute compute = makeCompute(k_subgroup, kOne);
  const TestBuffer out = makeBuffer(16 * 128);
  bindBuffers(compute, {&out, 1});
  run([&](VkCommandBuffer c) {
    bindAll(c, compute);
    vkCmdDispatch(c, 1, 1, 1);
  });
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out.as<uint32_t>()[4 * i], size);
}

INSTANTIATE_TEST_SUITE_P(Sizes, DefaultSubgroupTest,
                         testing::Values(std::pair{"4", 4u}, std::pair{"8", 8u}, std::pair{"32", 32u},
                                         std::pair{"12", 16u}, std::pair{"64", 16u},
                                         std::pair{static_cast<const char*>(nullptr), 16u}));

class BadShaderTest : public FeatureTest {
 protected:
  VkResult create(std::span<const uint32_t> spirv, VkPipelineLayout layout) {
    const VkComputePipelineCreateInfo info = pipelineInfo(makeModule(spirv), layout);
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result = vkCreateComputePipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
    EXPECT_EQ(pipeline == VK_NULL_HANDLE, result != VK_SUCCESS);
    vkDestroyPipeline(device(), pipeline, nullptr);
    return result;
  }
};

// No layer stands in front: the driver alone has to survive.
TEST_F(BadShaderTest, TruncatedAndRandomModulesAreFailedPipelines) {
  setenv("PUMICE_LOG", "off", 0);
  createInstance({.validation = false});
  createDevice();
  constexpr VkDescriptorType kTwo[] = {kStorage, kStorage};
  const Compute base = makeCompute(k_saxpy, kTwo, 8);
  const std::span<const uint32_t> good(k_saxpy);
  for (size_t length = 0; length < good.size(); length += 3) {
    EXPECT_NE(create(good.first(length), base.layout), VK_SUCCESS) << length;
  }
  uint32_t seed = 99;
  const auto random = [&] { return seed = seed * 1664525u + 1013904223u; };
  for (int round = 0; round < 60; ++round) {
    std::vector<uint32_t> bad(good.begin(), good.end());
    for (int k = 0; k < 4; ++k) bad[5 + (random() >> 8) % (bad.size() - 5)] = random();
    create(bad, base.layout);  // whatever the result: no crash, no hang
  }
  VK_OK(create(good, base.layout));
}

TEST_F(BadShaderTest, AnEndlessShaderLosesTheDeviceCleanly) {
  setenv("PUMICE_WATCHDOG_MS", "300", 1);
  createInstance({.validation = false});
  createDevice();
  unsetenv("PUMICE_WATCHDOG_MS");
  constexpr VkDescriptorType kOne[] = {kStorage};
  const Compute endless = makeCompute(k_endless, kOne);
  const TestBuffer out = makeBuffer(64);
  bindBuffers(endless, {&out, 1});
  VkCommandBuffer c = makeCommands();
  begin(c);
  bindAll(c, endless);
  vkCmdDispatch(c, 8, 1, 1);
  VK_OK(vkEndCommandBuffer(c));
  VkFence fence = makeFence();
  submit(c, fence);
  EXPECT_EQ(vkWaitForFences(device(), 1, &fence, VK_TRUE, 20'000'000'000u), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(vkQueueSubmit(queue(), 0, nullptr, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(vkDeviceWaitIdle(device()), VK_ERROR_DEVICE_LOST);
}

}  // namespace
}  // namespace pumice::cts
