// The remaining queries of instance, physical device and device, and what debug tools call.
//
// covers: vkEnumerateInstanceLayerProperties, vkEnumerateDeviceLayerProperties, vkGetDeviceQueue2
// covers: vkGetDeviceGroupPeerMemoryFeatures, vkGetPhysicalDeviceExternalBufferProperties
// covers: vkGetPhysicalDeviceExternalFenceProperties, vkGetPhysicalDeviceExternalSemaphoreProperties
// covers: vkGetPhysicalDeviceFormatProperties2, vkGetPhysicalDeviceImageFormatProperties2
// covers: vkGetPhysicalDeviceMemoryProperties2, vkGetPhysicalDeviceSparseImageFormatProperties
// covers: vkGetPhysicalDeviceSparseImageFormatProperties2, vkGetPhysicalDeviceToolProperties
// covers: VK_EXT_tooling_info, VK_KHR_external_fence, VK_KHR_external_fence_capabilities, VK_KHR_external_memory
// covers: VK_KHR_external_memory_capabilities, VK_KHR_external_semaphore, VK_KHR_external_semaphore_capabilities
// covers: VK_KHR_format_feature_flags2, vkGetDeviceBufferMemoryRequirements, vkCmdSetDeviceMask
// covers: vkCmdEndDebugUtilsLabelEXT, vkCmdInsertDebugUtilsLabelEXT, vkDestroyDebugUtilsMessengerEXT
// covers: vkQueueBeginDebugUtilsLabelEXT, vkQueueEndDebugUtilsLabelEXT, vkQueueInsertDebugUtilsLabelEXT
// covers: vkSetDebugUtilsObjectTagEXT, vkSubmitDebugUtilsMessageEXT, vkDestroyPrivateDataSlot
#include <cstring>

#include "cts-subset/support/vulkan_test.h"

namespace pumice::cts {
namespace {

class QueryCommandsTest : public VulkanTest {
 protected:
  void createInstanceOf(const char* version) {
    setenv("PUMICE_API_VERSION", version, 1);
    createInstance({.apiVersion = VK_API_VERSION_1_3});
    unsetenv("PUMICE_API_VERSION");
  }
};

// Memory is shared (external_memory_test.cpp), but not as what other systems have.
TEST_F(QueryCommandsTest, FencesSemaphoresAndOtherSystemsHandlesAreNotShared) {
  createInstanceOf("1.1");
  VkPhysicalDeviceExternalBufferInfo buffer{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO};
  buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  buffer.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT;
  VkExternalBufferProperties bufferOut{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  vkGetPhysicalDeviceExternalBufferProperties(physicalDevice(), &buffer, &bufferOut);
  EXPECT_EQ(bufferOut.externalMemoryProperties.externalMemoryFeatures, 0u);
  VkPhysicalDeviceExternalFenceInfo fence{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_FENCE_INFO};
  fence.handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkExternalFenceProperties fenceOut{VK_STRUCTURE_TYPE_EXTERNAL_FENCE_PROPERTIES};
  vkGetPhysicalDeviceExternalFenceProperties(physicalDevice(), &fence, &fenceOut);
  EXPECT_EQ(fenceOut.externalFenceFeatures, 0u);
  VkPhysicalDeviceExternalSemaphoreInfo semaphore{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO};
  semaphore.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkExternalSemaphoreProperties semaphoreOut{VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
  vkGetPhysicalDeviceExternalSemaphoreProperties(physicalDevice(), &semaphore, &semaphoreOut);
  EXPECT_EQ(semaphoreOut.externalSemaphoreFeatures, 0u);
}

TEST_F(QueryCommandsTest, FormatsAndImages) {
  createInstanceOf("1.3");
  VkFormatProperties3 flags{VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3};
  flags.bufferFeatures = ~VkFormatFeatureFlags2{0};
  VkFormatProperties2 format{VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, &flags};
  vkGetPhysicalDeviceFormatProperties2(physicalDevice(), VK_FORMAT_R32_UINT, &format);
  EXPECT_EQ(flags.bufferFeatures & 0x7fffffffu, format.formatProperties.bufferFeatures);
  EXPECT_NE(flags.bufferFeatures & VK_FORMAT_FEATURE_2_STORAGE_READ_WITHOUT_FORMAT_BIT, 0u);
  VkPhysicalDeviceImageFormatInfo2 image{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2};
  image.format = VK_FORMAT_R32_UINT;
  image.type = VK_IMAGE_TYPE_2D;
  image.usage = VK_IMAGE_USAGE_STORAGE_BIT;
  VkImageFormatProperties2 imageOut{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
  EXPECT_EQ(vkGetPhysicalDeviceImageFormatProperties2(physicalDevice(), &image, &imageOut), VK_SUCCESS);
  EXPECT_GE(imageOut.imageFormatProperties.maxExtent.width, 4096u);
  image.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
  EXPECT_EQ(vkGetPhysicalDeviceImageFormatProperties2(physicalDevice(), &image, &imageOut),
            VK_ERROR_FORMAT_NOT_SUPPORTED);
  EXPECT_EQ(imageOut.imageFormatProperties.maxExtent.width, 0u);
  uint32_t count = 7;
  vkGetPhysicalDeviceSparseImageFormatProperties(physicalDevice(), VK_FORMAT_R32_UINT, VK_IMAGE_TYPE_2D,
                                                 VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_USAGE_STORAGE_BIT,
                                                 VK_IMAGE_TILING_OPTIMAL, &count, nullptr);
  EXPECT_EQ(count, 0u);
  VkPhysicalDeviceSparseImageFormatInfo2 sparse{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SPARSE_IMAGE_FORMAT_INFO_2};
  sparse.format = VK_FORMAT_R32_UINT;
  sparse.type = VK_IMAGE_TYPE_2D;
  sparse.samples = VK_SAMPLE_COUNT_1_BIT;
  sparse.usage = VK_IMAGE_USAGE_STORAGE_BIT;
  count = 7;
  vkGetPhysicalDeviceSparseImageFormatProperties2(physicalDevice(), &sparse, &count, nullptr);
  EXPECT_EQ(count, 0u);
}

TEST_F(QueryCommandsTest, LayersToolsAndMemory) {
  createInstanceOf("1.3");
  uint32_t count = 0;
  VK_OK(vkEnumerateInstanceLayerProperties(&count, nullptr));  // the loader's layers; the driver has none
  VK_OK(vkEnumerateDeviceLayerProperties(physicalDevice(), &count, nullptr));
  VK_OK(vkGetPhysicalDeviceToolProperties(physicalDevice(), &count, nullptr));
  EXPECT_LE(count, 1u);  // perhaps the validation layer; the driver is no tool
  VkPhysicalDeviceMemoryProperties2 memory{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  vkGetPhysicalDeviceMemoryProperties2(physicalDevice(), &memory);
  VkPhysicalDeviceMemoryProperties plain{};
  vkGetPhysicalDeviceMemoryProperties(physicalDevice(), &plain);
  EXPECT_EQ(memory.memoryProperties.memoryTypeCount, plain.memoryTypeCount);
  EXPECT_EQ(memory.memoryProperties.memoryHeaps[0].size, plain.memoryHeaps[0].size);
}

TEST_F(QueryCommandsTest, QueuesAndGroups) {
  createInstanceOf("1.1");
  createDevice();
  VkDeviceQueueInfo2 info{VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2};
  info.queueFamilyIndex = 1;
  info.queueIndex = 1;
  VkQueue q = VK_NULL_HANDLE;
  vkGetDeviceQueue2(device(), &info, &q);
  EXPECT_EQ(q, queue(1, 1));
  EXPECT_NE(q, queue(1, 0));
  run([&](VkCommandBuffer c) { vkCmdSetDeviceMask(c, 1); });
}

TEST_F(QueryCommandsTest, PeerMemoryOfTheOnlyDevice) {
  createInstance({.validation = false});  // the layer forbids asking a group of one about its peers
  createDevice({.extensions = {VK_KHR_DEVICE_GROUP_EXTENSION_NAME}});
  DEVICE_FN(vkGetDeviceGroupPeerMemoryFeaturesKHR);
  VkPeerMemoryFeatureFlags flags = 0;
  vkGetDeviceGroupPeerMemoryFeaturesKHR(device(), 0, 0, 0, &flags);
  EXPECT_TRUE(flags & VK_PEER_MEMORY_FEATURE_COPY_DST_BIT);
}

TEST_F(QueryCommandsTest, BufferRequirementsWithoutABuffer) {
  setenv("PUMICE_API_VERSION", "1.3", 1);
  createInstance({.apiVersion = VK_API_VERSION_1_3});
  unsetenv("PUMICE_API_VERSION");
  VkPhysicalDeviceMaintenance4Features features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES};
  features.maintenance4 = VK_TRUE;
  createDevice({.features = &features});
  VkBufferCreateInfo buffer{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  buffer.size = 12345;
  buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  const VkDeviceBufferMemoryRequirements what{VK_STRUCTURE_TYPE_DEVICE_BUFFER_MEMORY_REQUIREMENTS, nullptr, &buffer};
  VkMemoryRequirements2 need{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
  vkGetDeviceBufferMemoryRequirements(device(), &what, &need);
  EXPECT_GE(need.memoryRequirements.size, 12345u);
  VkBuffer made = VK_NULL_HANDLE;
  VK_OK(vkCreateBuffer(device(), &buffer, nullptr, &made));
  VkMemoryRequirements plain{};
  vkGetBufferMemoryRequirements(device(), made, &plain);
  EXPECT_EQ(std::memcmp(&plain, &need.memoryRequirements, sizeof plain), 0);
  vkDestroyBuffer(device(), made, nullptr);
}

TEST_F(QueryCommandsTest, LabelsTagsAndMessages) {
  createInstance();
  createDevice();
  DEVICE_FN(vkCmdInsertDebugUtilsLabelEXT);
  DEVICE_FN(vkQueueBeginDebugUtilsLabelEXT);
  DEVICE_FN(vkQueueEndDebugUtilsLabelEXT);
  DEVICE_FN(vkQueueInsertDebugUtilsLabelEXT);
  DEVICE_FN(vkSetDebugUtilsObjectTagEXT);
  INSTANCE_FN(vkSubmitDebugUtilsMessageEXT);
  const VkDebugUtilsLabelEXT label{VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, "label", {0, 1, 0, 1}};
  vkQueueBeginDebugUtilsLabelEXT(queue(), &label);
  vkQueueInsertDebugUtilsLabelEXT(queue(), &label);
  run([&](VkCommandBuffer c) { vkCmdInsertDebugUtilsLabelEXT(c, &label); });
  vkQueueEndDebugUtilsLabelEXT(queue());
  VkFence fence = makeFence();
  const VkDebugUtilsObjectTagInfoEXT tag{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_TAG_INFO_EXT,
                                         nullptr,
                                         VK_OBJECT_TYPE_FENCE,
                                         reinterpret_cast<uint64_t>(fence),
                                         1,
                                         4,
                                         "tag"};
  VK_OK(vkSetDebugUtilsObjectTagEXT(device(), &tag));
  VkDebugUtilsMessengerCallbackDataEXT data{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT};
  data.pMessageIdName = "test";
  data.pMessage = "sent by the application";
  vkSubmitDebugUtilsMessageEXT(instance(), VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
                               VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT, &data);
  const std::vector<std::string> messages = takeMessages();
  ASSERT_GE(messages.size(), 1u);
  for (const std::string& m : messages) EXPECT_EQ(m, data.pMessage);
}

}  // namespace
}  // namespace pumice::cts
