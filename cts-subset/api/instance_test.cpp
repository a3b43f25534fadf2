// covers: vkEnumerateInstanceVersion, vkEnumerateInstanceExtensionProperties, vkEnumeratePhysicalDevices,
// covers: vkEnumeratePhysicalDeviceGroups, vkEnumerateDeviceExtensionProperties, vkGetInstanceProcAddr,
// covers: vkGetDeviceProcAddr, vkGetPhysicalDeviceProperties, vkGetPhysicalDeviceProperties2,
// covers: vkGetPhysicalDeviceFeatures, vkGetPhysicalDeviceFeatures2, vkGetPhysicalDeviceMemoryProperties,
// covers: vkGetPhysicalDeviceQueueFamilyProperties, vkGetPhysicalDeviceQueueFamilyProperties2, vkCreateDevice,
// covers: vkGetDeviceQueue,
// covers: VK_KHR_get_physical_device_properties2, VK_KHR_device_group_creation, VK_KHR_driver_properties
#include <cstring>
#include <set>
#include <string_view>
#include <vector>

#include "cts-subset/support/vulkan_test.h"

namespace pumice::cts {
namespace {

class InstanceTest : public VulkanTest {};

// VK_EXT_descriptor_indexing promises more than the features of buffers (Vulkan 1.3, 47.1): who advertises it has all.
TEST_F(InstanceTest, DescriptorIndexingIsWholeOrNotThere) {
  setenv("PUMICE_API_VERSION", "1.2", 1);
  createInstance({.apiVersion = VK_API_VERSION_1_2});
  unsetenv("PUMICE_API_VERSION");
  uint32_t count = 0;
  VK_OK(vkEnumerateDeviceExtensionProperties(physicalDevice(), nullptr, &count, nullptr));
  std::vector<VkExtensionProperties> extensions(count);
  VK_OK(vkEnumerateDeviceExtensionProperties(physicalDevice(), nullptr, &count, extensions.data()));
  bool advertised = false;
  for (const VkExtensionProperties& e : extensions)
    advertised |= std::string_view(e.extensionName) == VK_EXT_DESCRIPTOR_INDEXING_EXTENSION_NAME;
  VkPhysicalDeviceVulkan12Features f{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f};
  vkGetPhysicalDeviceFeatures2(physicalDevice(), &all);
  const bool whole =
      all.features.shaderSampledImageArrayDynamicIndexing && all.features.shaderStorageBufferArrayDynamicIndexing &&
      f.shaderUniformTexelBufferArrayDynamicIndexing && f.shaderStorageTexelBufferArrayDynamicIndexing &&
      f.shaderSampledImageArrayNonUniformIndexing && f.shaderStorageBufferArrayNonUniformIndexing &&
      f.shaderUniformTexelBufferArrayNonUniformIndexing && f.descriptorBindingSampledImageUpdateAfterBind &&
      f.descriptorBindingStorageImageUpdateAfterBind && f.descriptorBindingStorageBufferUpdateAfterBind &&
      f.descriptorBindingUniformTexelBufferUpdateAfterBind && f.descriptorBindingStorageTexelBufferUpdateAfterBind &&
      f.descriptorBindingUpdateUnusedWhilePending && f.descriptorBindingPartiallyBound && f.runtimeDescriptorArray;
  EXPECT_EQ(advertised, whole);
  EXPECT_EQ(f.descriptorIndexing == VK_TRUE, whole);
  EXPECT_TRUE(f.shaderStorageBufferArrayNonUniformIndexing);  // what buffers need is there in any case
}

TEST_F(InstanceTest, OneDeviceWithTheLimitsThatProgramsNeed) {
  createInstance();
  uint32_t count = 0;
  VK_OK(vkEnumeratePhysicalDevices(instance(), &count, nullptr));
  ASSERT_EQ(count, 1u);
  VkPhysicalDeviceProperties p{};
  vkGetPhysicalDeviceProperties(physicalDevice(), &p);
  EXPECT_EQ(std::string(p.deviceName).rfind("Pumice (", 0), 0u) << p.deviceName;
  EXPECT_EQ(p.deviceType, VK_PHYSICAL_DEVICE_TYPE_CPU);
  EXPECT_GE(p.limits.maxComputeWorkGroupInvocations, 1024u);
  EXPECT_GE(p.limits.maxComputeSharedMemorySize, 48u * 1024);
  EXPECT_GE(p.limits.maxPushConstantsSize, 256u);
  EXPECT_GE(p.limits.maxBoundDescriptorSets, 32u);
  EXPECT_EQ(p.limits.maxStorageBufferRange, 0xffffffffu);
  EXPECT_LE(p.limits.minStorageBufferOffsetAlignment, 16u);
  EXPECT_LE(p.limits.minUniformBufferOffsetAlignment, 16u);
  EXPECT_GE(p.limits.maxMemoryAllocationCount, 65536u);
  EXPECT_EQ(p.limits.bufferImageGranularity, 1u);
}

TEST_F(InstanceTest, IncompleteListsSaySo) {
  createInstance();
  uint32_t all = 0;
  VK_OK(vkEnumerateDeviceExtensionProperties(physicalDevice(), nullptr, &all, nullptr));
  ASSERT_GT(all, 1u);
  std::vector<VkExtensionProperties> list(all);
  uint32_t some = all - 1;
  EXPECT_EQ(vkEnumerateDeviceExtensionProperties(physicalDevice(), nullptr, &some, list.data()), VK_INCOMPLETE);
  EXPECT_EQ(some, all - 1);
  std::set<std::string> names;
  VK_OK(vkEnumerateDeviceExtensionProperties(physicalDevice(), nullptr, &all, list.data()));
  for (const auto& e : list) names.insert(e.extensionName);
  EXPECT_EQ(names.size(), all);
}

TEST_F(InstanceTest, QueueFamilies) {
  createInstance();
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physicalDevice(), &count, nullptr);
  ASSERT_EQ(count, 3u);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physicalDevice(), &count, families.data());
  EXPECT_TRUE(families[0].queueFlags & VK_QUEUE_COMPUTE_BIT);
  EXPECT_TRUE(families[1].queueFlags & VK_QUEUE_COMPUTE_BIT);
  EXPECT_EQ(families[2].queueFlags & (VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT), 0u);
  for (const auto& f : families) {
    EXPECT_TRUE(f.queueFlags & VK_QUEUE_TRANSFER_BIT);
    EXPECT_EQ(f.timestampValidBits, 64u);
    EXPECT_GE(f.queueCount, 2u);
  }
}

TEST_F(InstanceTest, MemoryTypes) {
  createInstance();
  VkPhysicalDeviceMemoryProperties m{};
  vkGetPhysicalDeviceMemoryProperties(physicalDevice(), &m);
  ASSERT_EQ(m.memoryHeapCount, 1u);
  EXPECT_GT(m.memoryHeaps[0].size, 64u << 20);
  ASSERT_EQ(m.memoryTypeCount, 2u);
  EXPECT_EQ(
      m.memoryTypes[0].propertyFlags,
      static_cast<VkMemoryPropertyFlags>(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                         VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT));
  EXPECT_TRUE(m.memoryTypes[1].propertyFlags & VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT);
}

TEST_F(InstanceTest, ChainsAreFilledFromOneList) {
  createInstance();
  INSTANCE_FN(vkGetPhysicalDeviceProperties2KHR);
  INSTANCE_FN(vkGetPhysicalDeviceFeatures2KHR);
  VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties maintenance3{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
                                                      &driver};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &maintenance3};
  vkGetPhysicalDeviceProperties2KHR(physicalDevice(), &properties);
  EXPECT_STREQ(driver.driverName, "Pumice");
  EXPECT_GE(maintenance3.maxPerSetDescriptors, 1024u);
  EXPECT_GE(maintenance3.maxMemoryAllocationSize, 1u << 30);

  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  VkPhysicalDeviceSynchronization2Features sync2{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
                                                 &timeline};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &sync2};
  vkGetPhysicalDeviceFeatures2KHR(physicalDevice(), &features);
  EXPECT_TRUE(timeline.timelineSemaphore);
  EXPECT_TRUE(sync2.synchronization2);
  EXPECT_FALSE(features.features.geometryShader);
}

TEST_F(InstanceTest, UnknownExtensionsAndFeaturesAreRefused) {
  createInstance({.validation = false});
  const float priority = 1;
  VkDeviceQueueCreateInfo q{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, 0, 1, &priority};
  VkPhysicalDeviceFeatures features{};
  features.tessellationShader = VK_TRUE;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &q;
  info.pEnabledFeatures = &features;
  VkDevice device = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateDevice(physicalDevice(), &info, nullptr, &device), VK_ERROR_FEATURE_NOT_PRESENT);
  const char* unknown = "VK_KHR_ray_tracing_pipeline";
  info.pEnabledFeatures = nullptr;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = &unknown;
  EXPECT_EQ(vkCreateDevice(physicalDevice(), &info, nullptr, &device), VK_ERROR_EXTENSION_NOT_PRESENT);
}

TEST_F(InstanceTest, OnlyEnabledFunctionsAreHandedOut) {
  createDevice();
  EXPECT_NE(vkGetDeviceProcAddr(device(), "vkCmdDispatch"), nullptr);
  EXPECT_EQ(vkGetDeviceProcAddr(device(), "vkQueueSubmit2KHR"), nullptr);  // extension not enabled
  EXPECT_EQ(vkGetDeviceProcAddr(device(), "vkNoSuchFunction"), nullptr);
  EXPECT_EQ(vkGetDeviceProcAddr(device(), "vkCreateInstance"), nullptr);
}

}  // namespace
}  // namespace pumice::cts
