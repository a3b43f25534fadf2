// Each create function with callbacks that fail at the n-th call, for every n: a clear result, and nothing is left.
//
// covers: vkCreateInstance, vkCreateDevice, vkCreateBuffer, vkAllocateMemory, vkCreateFence, vkCreateSemaphore,
// covers: vkCreateEvent, vkCreateQueryPool, vkCreateCommandPool, vkAllocateCommandBuffers,
// covers: vkCreateDescriptorSetLayout, vkCreatePipelineLayout, vkCreateDescriptorPool, vkCreateShaderModule,
// covers: vkCreatePipelineCache, vkCreateDescriptorUpdateTemplate, vkCreatePrivateDataSlot,
// covers: vkCreateDebugUtilsMessengerEXT, vkCreateComputePipelines, vkCreateImage, vkCreateSampler
#include "cts-subset/support/failing_allocator.h"
#include "cts-subset/support/vulkan_test.h"
#include "shaders/saxpy.spv.h"

namespace pumice::cts {
namespace {

class OutOfMemoryTest : public VulkanTest {
 protected:
  // `create` gets the callbacks; `destroy` ends what it made.
  void everyFailure(const std::function<VkResult(const VkAllocationCallbacks*)>& create,
                    const std::function<void(const VkAllocationCallbacks*)>& destroy) {
    for (int64_t n = 0; n < 10'000; ++n) {
      allocator_.failFrom(n);
      const VkResult result = create(allocator_.callbacks());
      const bool failed = allocator_.failed();
      allocator_.failFrom(-1);
      if (result == VK_SUCCESS) {
        destroy(allocator_.callbacks());
        ASSERT_EQ(allocator_.live(), 0u) << "n = " << n;
        if (!failed) return;  // a run without any failure: done
        continue;             // the failed allocation was not a necessary one
      }
      ASSERT_EQ(result, VK_ERROR_OUT_OF_HOST_MEMORY) << "n = " << n;
      ASSERT_EQ(allocator_.live(), 0u) << "n = " << n;
    }
    FAIL() << "creation never succeeded";
  }

  template <typename Handle, typename Info>
  void everyFailure(VkResult (*create)(VkDevice, const Info*, const VkAllocationCallbacks*, Handle*),
                    void (*destroy)(VkDevice, Handle, const VkAllocationCallbacks*), const Info& info) {
    Handle handle = VK_NULL_HANDLE;
    everyFailure([&](const VkAllocationCallbacks* a) { return create(device(), &info, a, &handle); },
                 [&](const VkAllocationCallbacks* a) { destroy(device(), handle, a); });
  }

  FailingAllocator allocator_;
};

TEST_F(OutOfMemoryTest, Device) {
  createInstance({.validation = false});
  const float priorities[] = {1, 0.5f};
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (uint32_t f = 0; f < 3; ++f) {
    queues.push_back({VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, f, 2, priorities});
  }
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.queueCreateInfoCount = 3;
  info.pQueueCreateInfos = queues.data();
  VkDevice made = VK_NULL_HANDLE;
  everyFailure([&](const VkAllocationCallbacks* a) { return vkCreateDevice(physicalDevice(), &info, a, &made); },
               [&](const VkAllocationCallbacks* a) { vkDestroyDevice(made, a); });
}

TEST_F(OutOfMemoryTest, SimpleObjects) {
  createInstance({.validation = false});
  createDevice();
  everyFailure(vkCreateFence, vkDestroyFence, VkFenceCreateInfo{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO});
  everyFailure(vkCreateSemaphore, vkDestroySemaphore, VkSemaphoreCreateInfo{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO});
  everyFailure(vkCreateEvent, vkDestroyEvent, VkEventCreateInfo{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO});
  VkQueryPoolCreateInfo query{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  query.queryType = VK_QUERY_TYPE_TIMESTAMP;
  query.queryCount = 100;
  everyFailure(vkCreateQueryPool, vkDestroyQueryPool, query);
  VkBufferCreateInfo buffer{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  buffer.size = 4096;
  buffer.usage = kAllUsages;
  everyFailure(vkCreateBuffer, vkDestroyBuffer, buffer);
  VkImageCreateInfo image{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  image.imageType = VK_IMAGE_TYPE_2D;
  image.format = VK_FORMAT_D24_UNORM_S8_UINT;
  image.extent = {64, 64, 1};
  image.mipLevels = 7;
  image.arrayLayers = 1;
  image.samples = VK_SAMPLE_COUNT_1_BIT;
  image.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  everyFailure(vkCreateImage, vkDestroyImage, image);
  everyFailure(vkCreateSampler, vkDestroySampler, VkSamplerCreateInfo{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO});
  everyFailure(vkAllocateMemory, vkFreeMemory,
               VkMemoryAllocateInfo{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, 1 << 20, 0});
  everyFailure(vkCreatePipelineCache, vkDestroyPipelineCache,
               VkPipelineCacheCreateInfo{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO});
  const uint32_t code[] = {0x07230203, 0x00010000, 0, 1, 0};
  VkShaderModuleCreateInfo module{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module.codeSize = sizeof code;
  module.pCode = code;
  everyFailure(vkCreateShaderModule, vkDestroyShaderModule, module);
}

TEST_F(OutOfMemoryTest, Descriptors) {
  createInstance({.validation = false});
  createDevice();
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (uint32_t i = 0; i < 5; ++i) {
    bindings.push_back({i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 3, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
  }
  VkDescriptorSetLayoutCreateInfo layout{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  layout.bindingCount = 5;
  layout.pBindings = bindings.data();
  everyFailure(vkCreateDescriptorSetLayout, vkDestroyDescriptorSetLayout, layout);
  VkDescriptorSetLayout setLayout = VK_NULL_HANDLE;
  VK_OK(vkCreateDescriptorSetLayout(device(), &layout, nullptr, &setLayout));
  VkPipelineLayoutCreateInfo pipelineLayout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  pipelineLayout.setLayoutCount = 1;
  pipelineLayout.pSetLayouts = &setLayout;
  everyFailure(vkCreatePipelineLayout, vkDestroyPipelineLayout, pipelineLayout);
  vkDestroyDescriptorSetLayout(device(), setLayout, nullptr);
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1000};
  VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = 100;
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  everyFailure(vkCreateDescriptorPool, vkDestroyDescriptorPool, pool);
}

TEST_F(OutOfMemoryTest, Pipelines) {
  createInstance({.validation = false});
  createDevice();
  constexpr VkDescriptorType kTwo[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
  const Compute base = makeCompute(k_saxpy, kTwo, 8);
  VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  moduleInfo.codeSize = sizeof k_saxpy;
  moduleInfo.pCode = k_saxpy;
  VkShaderModule module = VK_NULL_HANDLE;
  VK_OK(vkCreateShaderModule(device(), &moduleInfo, nullptr, &module));
  defer([this, module] { vkDestroyShaderModule(device(), module, nullptr); });
  VkComputePipelineCreateInfo infos[3];
  for (VkComputePipelineCreateInfo& info : infos) {
    info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.layout = base.layout;
  }
  VkPipeline made[3] = {};
  const auto destroy = [&](const VkAllocationCallbacks* a) {
    for (VkPipeline p : made) vkDestroyPipeline(device(), p, a);
  };
  everyFailure(
      [&](const VkAllocationCallbacks* a) {
        const VkResult result = vkCreateComputePipelines(device(), VK_NULL_HANDLE, 3, infos, a, made);
        if (result != VK_SUCCESS) destroy(a);  // those before the failure were made
        return result;
      },
      destroy);
}

TEST_F(OutOfMemoryTest, CommandBuffersAndTheirRecording) {
  createInstance({.validation = false});
  createDevice();
  const TestBuffer buffer = makeBuffer(65536);
  const std::vector<uint32_t> data(16384, 5);
  VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  VkCommandPool made = VK_NULL_HANDLE;
  everyFailure(
      [&](const VkAllocationCallbacks* a) {
        VkResult result = vkCreateCommandPool(device(), &info, a, &made);
        if (result != VK_SUCCESS) return result;
        VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        allocate.commandPool = made;
        allocate.commandBufferCount = 3;
        VkCommandBuffer commands[3] = {};
        result = vkAllocateCommandBuffers(device(), &allocate, commands);
        if (result == VK_SUCCESS) {
          const VkCommandBufferBeginInfo beginInfo{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
          result = vkBeginCommandBuffer(commands[2], &beginInfo);
          // Several chunks; failures inside do not show before the end.
          for (int i = 0; i < 6; ++i) vkCmdUpdateBuffer(commands[2], buffer.buffer, 0, 65536, data.data());
          if (result == VK_SUCCESS) result = vkEndCommandBuffer(commands[2]);
        }
        if (result != VK_SUCCESS) vkDestroyCommandPool(device(), made, a);
        return result;
      },
      [&](const VkAllocationCallbacks* a) { vkDestroyCommandPool(device(), made, a); });
}

TEST_F(OutOfMemoryTest, Instance) {
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  VkInstance made = VK_NULL_HANDLE;
  // What the loader itself allocates is its business; the driver's part is that creation fails or succeeds cleanly.
  for (int64_t n = 0; n < 10'000; ++n) {
    allocator_.failFrom(n);
    const VkResult result = vkCreateInstance(&info, allocator_.callbacks(), &made);
    const bool failed = allocator_.failed();
    allocator_.failFrom(-1);
    if (result == VK_SUCCESS) {
      vkDestroyInstance(made, allocator_.callbacks());
      if (!failed) return;
    } else {
      // A loader that cannot allocate for its only driver says that there is none.
      ASSERT_TRUE(result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_INCOMPATIBLE_DRIVER) << result;
    }
  }
  FAIL() << "creation never succeeded";
}

TEST_F(OutOfMemoryTest, DeviceMemoryRunsOutAndComesBack) {
  setenv("PUMICE_HEAP_MIB", "256", 1);
  createInstance({.validation = false});
  createDevice();
  unsetenv("PUMICE_HEAP_MIB");
  VkPhysicalDeviceMemoryProperties properties{};  // says what will be had
  vkGetPhysicalDeviceMemoryProperties(physicalDevice(), &properties);
  EXPECT_EQ(properties.memoryHeaps[0].size, 256u << 20);
  VkPhysicalDeviceMaintenance3Properties most{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceProperties2 all2{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &most};
  vkGetPhysicalDeviceProperties2(physicalDevice(), &all2);
  EXPECT_LE(most.maxMemoryAllocationSize, 256u << 20);
  const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, 16 << 20, 0};
  for (int round = 0; round < 3; ++round) {
    std::vector<VkDeviceMemory> all;
    VkResult result = VK_SUCCESS;
    while (all.size() < 100) {
      VkDeviceMemory memory = VK_NULL_HANDLE;
      result = vkAllocateMemory(device(), &info, nullptr, &memory);
      if (result != VK_SUCCESS) break;
      all.push_back(memory);
    }
    EXPECT_EQ(result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    EXPECT_LE(all.size(), 16u);
    EXPECT_GE(all.size(), 14u);
    for (VkDeviceMemory memory : all) vkFreeMemory(device(), memory, nullptr);
  }
}

}  // namespace
}  // namespace pumice::cts
