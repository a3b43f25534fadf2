// covers: vkCreateDescriptorSetLayout, vkDestroyDescriptorSetLayout, vkGetDescriptorSetLayoutSupport,
// covers: vkCreateDescriptorPool, vkDestroyDescriptorPool, vkResetDescriptorPool, vkAllocateDescriptorSets,
// covers: vkFreeDescriptorSets, vkUpdateDescriptorSets, vkCreateDescriptorUpdateTemplate,
// covers: vkDestroyDescriptorUpdateTemplate, vkUpdateDescriptorSetWithTemplate, vkCmdPushDescriptorSetKHR,
// covers: vkCmdPushDescriptorSetWithTemplateKHR, VK_KHR_maintenance3, VK_KHR_push_descriptor,
// covers: VK_KHR_descriptor_update_template
#include <array>
#include <cstring>

#include "cts-subset/support/vulkan_test.h"
#include "shaders/dynamic.spv.h"
#include "shaders/saxpy.spv.h"

namespace pumice::cts {
namespace {

constexpr VkDescriptorType kStorage = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
constexpr VkDescriptorType kUniform = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;

class DescriptorTest : public VulkanTest {
 protected:
  VkDescriptorSetLayout makeLayout(const std::vector<VkDescriptorSetLayoutBinding>& bindings,
                                   VkDescriptorSetLayoutCreateFlags flags = 0) {
    VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.flags = flags;
    info.bindingCount = static_cast<uint32_t>(bindings.size());
    info.pBindings = bindings.data();
    VkDescriptorSetLayout layout = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateDescriptorSetLayout(device(), &info, nullptr, &layout), VK_SUCCESS);
    defer([this, layout] { vkDestroyDescriptorSetLayout(device(), layout, nullptr); });
    return layout;
  }
  VkDescriptorPool makePool(uint32_t sets, const std::vector<VkDescriptorPoolSize>& sizes, bool canFree = false) {
    VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    info.flags = canFree ? VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT : 0;
    info.maxSets = sets;
    info.poolSizeCount = static_cast<uint32_t>(sizes.size());
    info.pPoolSizes = sizes.data();
    VkDescriptorPool pool = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateDescriptorPool(device(), &info, nullptr, &pool), VK_SUCCESS);
    defer([this, pool] { vkDestroyDescriptorPool(device(), pool, nullptr); });
    return pool;
  }
  VkResult allocate(VkDescriptorPool pool, VkDescriptorSetLayout layout, VkDescriptorSet* set) {
    VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    info.descriptorPool = pool;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &layout;
    return vkAllocateDescriptorSets(device(), &info, set);
  }
  VkPipelineLayout makePipelineLayout(const std::vector<VkDescriptorSetLayout>& sets, uint32_t pushBytes = 0) {
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes};
    VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    info.setLayoutCount = static_cast<uint32_t>(sets.size());
    info.pSetLayouts = sets.data();
    info.pushConstantRangeCount = pushBytes != 0 ? 1 : 0;
    info.pPushConstantRanges = &range;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreatePipelineLayout(device(), &info, nullptr, &layout), VK_SUCCESS);
    defer([this, layout] { vkDestroyPipelineLayout(device(), layout, nullptr); });
    return layout;
  }
  VkPipeline makePipeline(std::span<const uint32_t> spirv, VkPipelineLayout layout) {
    VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    moduleInfo.codeSize = spirv.size_bytes();
    moduleInfo.pCode = spirv.data();
    VkShaderModule module = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateShaderModule(device(), &moduleInfo, nullptr, &module), VK_SUCCESS);
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.layout = layout;
    VkPipeline pipeline = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateComputePipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline), VK_SUCCESS);
    defer([this, module, pipeline] {
      vkDestroyPipeline(device(), pipeline, nullptr);
      vkDestroyShaderModule(device(), module, nullptr);
    });
    return pipeline;
  }
  static VkDescriptorSetLayoutBinding binding(uint32_t number, VkDescriptorType type, uint32_t count = 1) {
    return {number, type, count, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  }
};

TEST_F(DescriptorTest, PoolsRunOutAndRecover) {
  createInstance({.validation = false});  // the layer complains about the exhaustion that is tested
  createDevice();
  VkDescriptorSetLayout layout = makeLayout({binding(0, kStorage, 4), binding(7, kUniform)});
  VkDescriptorPool pool = makePool(8, {{kStorage, 32}, {kUniform, 8}}, true);
  for (int round = 0; round < 3; ++round) {
    std::array<VkDescriptorSet, 9> sets{};
    for (int i = 0; i < 8; ++i) VK_OK(allocate(pool, layout, &sets[i]));
    EXPECT_EQ(allocate(pool, layout, &sets[8]), VK_ERROR_OUT_OF_POOL_MEMORY);
    EXPECT_EQ(sets[8], VkDescriptorSet{});
    for (int i : {1, 3, 6}) VK_OK(vkFreeDescriptorSets(device(), pool, 1, &sets[i]));
    for (int i : {6, 1, 3}) VK_OK(allocate(pool, layout, &sets[i]));
    VK_OK(vkResetDescriptorPool(device(), pool, 0));
  }
}

TEST_F(DescriptorTest, FailureOfOneIsFailureOfAll) {
  createInstance({.validation = false});
  createDevice();
  VkDescriptorSetLayout layout = makeLayout({binding(0, kStorage)});
  VkDescriptorPool pool = makePool(3, {{kStorage, 3}});
  const std::array<VkDescriptorSetLayout, 4> layouts{layout, layout, layout, layout};
  std::array<VkDescriptorSet, 4> sets;
  sets.fill(reinterpret_cast<VkDescriptorSet>(1));
  VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool;
  info.descriptorSetCount = 4;
  info.pSetLayouts = layouts.data();
  EXPECT_EQ(vkAllocateDescriptorSets(device(), &info, sets.data()), VK_ERROR_OUT_OF_POOL_MEMORY);
  for (VkDescriptorSet s : sets) EXPECT_EQ(s, VkDescriptorSet{});
  info.descriptorSetCount = 3;
  VK_OK(vkAllocateDescriptorSets(device(), &info, sets.data()));
}

TEST_F(DescriptorTest, LayoutSupport) {
  createInstance({.validation = false});  // the layer makes a list of every element
  createDevice({.extensions = {VK_KHR_MAINTENANCE_3_EXTENSION_NAME}});
  DEVICE_FN(vkGetDescriptorSetLayoutSupportKHR);
  VkDescriptorSetLayoutBinding b = binding(0, kStorage, 1 << 20);
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  info.bindingCount = 1;
  info.pBindings = &b;
  VkDescriptorSetLayoutSupport support{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_SUPPORT};
  vkGetDescriptorSetLayoutSupportKHR(device(), &info, &support);
  EXPECT_TRUE(support.supported);
  b.descriptorCount = 0xffffffff;
  vkGetDescriptorSetLayoutSupportKHR(device(), &info, &support);
  EXPECT_FALSE(support.supported);
}

// How many dynamic buffers a binding of variable count may have follows from the others.
TEST_F(DescriptorTest, SupportOfVariableDynamicBuffers) {
  createFullDevice();
  constexpr uint32_t kMostDynamic = 64;  // of both kinds together
  const VkDescriptorSetLayoutBinding bindings[] = {
      {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, 3, VK_SHADER_STAGE_COMPUTE_BIT},
      {1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1, VK_SHADER_STAGE_COMPUTE_BIT}};
  const VkDescriptorBindingFlags flags[] = {0, VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT};
  const VkDescriptorSetLayoutBindingFlagsCreateInfo flagsInfo{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO, nullptr, 2, flags};
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &flagsInfo};
  info.bindingCount = 2;
  info.pBindings = bindings;
  VkDescriptorSetVariableDescriptorCountLayoutSupport variable{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_LAYOUT_SUPPORT};
  VkDescriptorSetLayoutSupport support{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_SUPPORT, &variable};
  vkGetDescriptorSetLayoutSupport(device(), &info, &support);
  EXPECT_TRUE(support.supported);
  EXPECT_EQ(variable.maxVariableDescriptorCount, kMostDynamic - 3);
}

// Dynamic offsets of two sets, given in one call and in two, with unused numbers between the bindings.
TEST_F(DescriptorTest, DynamicOffsetsAreNumberedBySetBindingAndElement) {
  createDevice();
  const VkDescriptorType ud = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, sd = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
  VkDescriptorSetLayout first = makeLayout({binding(1, sd), binding(0, ud)});  // not in order on purpose
  VkDescriptorSetLayout second = makeLayout({binding(0, ud), binding(2, kStorage)});
  VkPipelineLayout layout = makePipelineLayout({first, second});
  VkPipeline pipeline = makePipeline(k_dynamic, layout);
  VkDescriptorPool pool = makePool(2, {{ud, 2}, {sd, 1}, {kStorage, 1}});
  VkDescriptorSet sets[2] = {};
  VK_OK(allocate(pool, first, &sets[0]));
  VK_OK(allocate(pool, second, &sets[1]));
  const TestBuffer data = makeBuffer(4096), out = makeBuffer(64);
  for (uint32_t i = 0; i < 1024; ++i) data.as<uint32_t>()[i] = 1000 + i;
  const VkDescriptorBufferInfo a{data.buffer, 0, 16}, b{data.buffer, 256, 16}, c{data.buffer, 512, 32},
      d{out.buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet w[4];
  for (auto& x : w) x = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  w[0].dstSet = w[1].dstSet = sets[0];
  w[2].dstSet = w[3].dstSet = sets[1];
  w[1].dstBinding = 1;
  w[3].dstBinding = 2;
  w[0].descriptorType = w[2].descriptorType = ud;
  w[1].descriptorType = sd;
  w[3].descriptorType = kStorage;
  w[0].pBufferInfo = &a;
  w[1].pBufferInfo = &b;
  w[2].pBufferInfo = &c;
  w[3].pBufferInfo = &d;
  for (auto& x : w) x.descriptorCount = 1;
  vkUpdateDescriptorSets(device(), 4, w, 0, nullptr);

  const uint32_t offsets[] = {64, 128, 192};  // of a, b, c
  run([&](VkCommandBuffer cmd) {
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 2, sets, 3, offsets);
    vkCmdDispatch(cmd, 1, 1, 1);
  });
  EXPECT_EQ(out.as<uint32_t>()[0], 1000 + 64 / 4u);
  EXPECT_EQ(out.as<uint32_t>()[1], 1000 + (256 + 128) / 4u);
  EXPECT_EQ(out.as<uint32_t>()[2], 1000 + (512 + 192) / 4u);
  EXPECT_EQ(data.as<uint32_t>()[(256 + 128) / 4], 2000 + (64 + 256 + 128) / 4u);

  run([&](VkCommandBuffer cmd) {
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 1, 1, &sets[1], 1, &offsets[0]);
    vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &sets[0], 2, &offsets[1]);
    vkCmdDispatch(cmd, 1, 1, 1);
  });
  EXPECT_EQ(out.as<uint32_t>()[0], 1000 + 128 / 4u);
  EXPECT_EQ(out.as<uint32_t>()[1], 1000 + (256 + 192) / 4u);
  EXPECT_EQ(out.as<uint32_t>()[2], 1000 + (512 + 64) / 4u);
}

class PushTest : public DescriptorTest {
 protected:
  // y = 2 x + y over 64 elements, three times with descriptors that `write` pushes for a pair of buffers.
  void saxpyWith(VkPipelineLayout layout, const std::function<void(VkCommandBuffer, VkBuffer, VkBuffer)>& write) {
    VkPipeline pipeline = makePipeline(k_saxpy, layout);
    const TestBuffer x = makeBuffer(256), y = makeBuffer(256), z = makeBuffer(256);
    for (uint32_t i = 0; i < 64; ++i) x.as<float>()[i] = static_cast<float>(i);
    const struct {
      float a;
      uint32_t n;
    } push{2, 64};
    run([&](VkCommandBuffer c) {
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
      vkCmdPushConstants(c, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, &push);
      for (auto [from, to] : {std::pair(x, y), std::pair(y, z)}) {
        write(c, from.buffer, to.buffer);
        vkCmdDispatch(c, 1, 1, 1);
        barrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
      }
    });
    for (uint32_t i = 0; i < 64; ++i) {
      EXPECT_EQ(y.as<float>()[i], 2.0f * static_cast<float>(i));
      EXPECT_EQ(z.as<float>()[i], 4.0f * static_cast<float>(i));
    }
  }
};

TEST_F(PushTest, PushDescriptors) {
  createDevice({.extensions = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME}});
  DEVICE_FN(vkCmdPushDescriptorSetKHR);
  VkDescriptorSetLayout set =
      makeLayout({binding(0, kStorage), binding(1, kStorage)}, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
  VkPipelineLayout layout = makePipelineLayout({set}, 8);
  saxpyWith(layout, [&](VkCommandBuffer c, VkBuffer x, VkBuffer y) {
    const VkDescriptorBufferInfo infos[] = {{x, 0, VK_WHOLE_SIZE}, {y, 0, VK_WHOLE_SIZE}};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.descriptorCount = 2;
    write.descriptorType = kStorage;
    write.pBufferInfo = infos;
    vkCmdPushDescriptorSetKHR(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &write);
  });
}

TEST_F(PushTest, Templates) {
  createDevice(
      {.extensions = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, VK_KHR_DESCRIPTOR_UPDATE_TEMPLATE_EXTENSION_NAME}});
  DEVICE_FN(vkCreateDescriptorUpdateTemplateKHR);
  DEVICE_FN(vkDestroyDescriptorUpdateTemplateKHR);
  DEVICE_FN(vkUpdateDescriptorSetWithTemplateKHR);
  DEVICE_FN(vkCmdPushDescriptorSetWithTemplateKHR);
  struct Data {
    uint64_t unused;
    VkDescriptorBufferInfo y, x;
  };
  const VkDescriptorUpdateTemplateEntry entries[] = {{0, 0, 1, kStorage, offsetof(Data, x), 0},
                                                     {1, 0, 1, kStorage, offsetof(Data, y), 0}};
  VkDescriptorSetLayout pushed =
      makeLayout({binding(0, kStorage), binding(1, kStorage)}, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
  VkDescriptorSetLayout plain = makeLayout({binding(0, kStorage), binding(1, kStorage)});
  VkPipelineLayout pushLayout = makePipelineLayout({pushed}, 8), plainLayout = makePipelineLayout({plain}, 8);
  VkDescriptorUpdateTemplateCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO};
  info.descriptorUpdateEntryCount = 2;
  info.pDescriptorUpdateEntries = entries;
  info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS_KHR;
  info.pipelineBindPoint = VK_PIPELINE_BIND_POINT_COMPUTE;
  info.pipelineLayout = pushLayout;
  VkDescriptorUpdateTemplate pushTemplate = VK_NULL_HANDLE, plainTemplate = VK_NULL_HANDLE;
  VK_OK(vkCreateDescriptorUpdateTemplateKHR(device(), &info, nullptr, &pushTemplate));
  info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET;
  info.descriptorSetLayout = plain;
  VK_OK(vkCreateDescriptorUpdateTemplateKHR(device(), &info, nullptr, &plainTemplate));

  saxpyWith(pushLayout, [&](VkCommandBuffer c, VkBuffer x, VkBuffer y) {
    const Data data{0, {y, 0, VK_WHOLE_SIZE}, {x, 0, VK_WHOLE_SIZE}};
    vkCmdPushDescriptorSetWithTemplateKHR(c, pushTemplate, pushLayout, 0, &data);
  });
  VkDescriptorPool pool = makePool(2, {{kStorage, 4}});
  saxpyWith(plainLayout, [&](VkCommandBuffer c, VkBuffer x, VkBuffer y) {
    const Data data{0, {y, 0, VK_WHOLE_SIZE}, {x, 0, VK_WHOLE_SIZE}};
    VkDescriptorSet set = VK_NULL_HANDLE;
    VK_OK(allocate(pool, plain, &set));
    vkUpdateDescriptorSetWithTemplateKHR(device(), set, plainTemplate, &data);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, plainLayout, 0, 1, &set, 0, nullptr);
  });
  vkDestroyDescriptorUpdateTemplateKHR(device(), pushTemplate, nullptr);
  vkDestroyDescriptorUpdateTemplateKHR(device(), plainTemplate, nullptr);
}

TEST_F(PushTest, CopiesBetweenSets) {
  createDevice();
  VkDescriptorSetLayout plain = makeLayout({binding(0, kStorage), binding(1, kStorage)});
  VkPipelineLayout layout = makePipelineLayout({plain}, 8);
  VkDescriptorPool pool = makePool(4, {{kStorage, 8}});
  saxpyWith(layout, [&](VkCommandBuffer c, VkBuffer x, VkBuffer y) {
    VkDescriptorSet sets[2] = {};
    VK_OK(allocate(pool, plain, &sets[0]));
    VK_OK(allocate(pool, plain, &sets[1]));
    // Swapped in the first set, put right by the copies.
    const VkDescriptorBufferInfo infos[] = {{y, 0, VK_WHOLE_SIZE}, {x, 0, VK_WHOLE_SIZE}};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = sets[0];
    write.descriptorCount = 2;
    write.descriptorType = kStorage;
    write.pBufferInfo = infos;
    VkCopyDescriptorSet copies[] = {
        {VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET, nullptr, sets[0], 0, 0, sets[1], 1, 0, 1},
        {VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET, nullptr, sets[0], 1, 0, sets[1], 0, 0, 1},
    };
    vkUpdateDescriptorSets(device(), 1, &write, 0, nullptr);
    vkUpdateDescriptorSets(device(), 0, nullptr, 2, copies);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &sets[1], 0, nullptr);
  });
}

}  // namespace
}  // namespace pumice::cts
