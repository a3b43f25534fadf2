// covers: vkCreateCommandPool, vkDestroyCommandPool, vkResetCommandPool, vkTrimCommandPool, vkAllocateCommandBuffers,
// covers: vkFreeCommandBuffers, vkBeginCommandBuffer, vkEndCommandBuffer, vkResetCommandBuffer, vkCmdExecuteCommands,
// covers: vkCreateQueryPool, vkDestroyQueryPool, vkGetQueryPoolResults, vkResetQueryPool, vkCmdResetQueryPool,
// covers: vkCmdWriteTimestamp, vkCmdWriteTimestamp2, vkCmdCopyQueryPoolResults, VK_EXT_host_query_reset,
// covers: feature:hostQueryReset, VK_EXT_calibrated_timestamps, vkGetCalibratedTimestampsEXT,
// covers: vkGetPhysicalDeviceCalibrateableTimeDomainsEXT, VK_EXT_debug_utils, VK_EXT_private_data,
// covers: vkCmdBeginDebugUtilsLabelEXT, vkSetDebugUtilsObjectNameEXT, vkSetPrivateData, vkGetPrivateData,
// covers: feature:privateData
#include <cstring>
#include <ctime>

#include "cts-subset/support/vulkan_test.h"

namespace pumice::cts {
namespace {

class CommandTest : public VulkanTest {
 protected:
  void inheritNothing(VkCommandBuffer secondary, VkCommandBufferUsageFlags flags) {
    const VkCommandBufferInheritanceInfo inheritance{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    info.flags = flags;
    info.pInheritanceInfo = &inheritance;
    VK_OK(vkBeginCommandBuffer(secondary, &info));
  }
};

TEST_F(CommandTest, SecondariesAreCalledManyTimes) {
  createDevice();
  const TestBuffer buffer = makeBuffer(8192);
  VkCommandBuffer secondary = makeCommands(0, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  inheritNothing(secondary, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
  const VkBufferCopy region{0, 4096, 4096};
  vkCmdCopyBuffer(secondary, buffer.buffer, buffer.buffer, 1, &region);
  VK_OK(vkEndCommandBuffer(secondary));
  std::memset(buffer.bytes, 0x11, 4096);
  VkCommandBuffer primary = makeCommands();
  begin(primary, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
  VkCommandBuffer twice[] = {secondary, secondary};
  vkCmdExecuteCommands(primary, 1, twice);
  barrier(primary, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
  vkCmdFillBuffer(primary, buffer.buffer, 0, 4096, 0x22222222);
  barrier(primary, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
  vkCmdExecuteCommands(primary, 1, twice);
  VK_OK(vkEndCommandBuffer(primary));
  // The same primary, pending several times at once.
  for (int i = 0; i < 4; ++i) submit(primary, VK_NULL_HANDLE);
  VK_OK(vkQueueWaitIdle(queue()));
  for (std::byte b : buffer.as<std::byte>()) ASSERT_EQ(b, std::byte{0x22});
}

TEST_F(CommandTest, LongStreamsSpanChunks) {
  createDevice();
  constexpr uint32_t kWords = 65536;
  const TestBuffer buffer = makeBuffer(4 * kWords);
  run([&](VkCommandBuffer c) {
    for (uint32_t i = 0; i < kWords; ++i) vkCmdUpdateBuffer(c, buffer.buffer, 4 * i, 4, &i);
  });
  for (uint32_t i = 0; i < kWords; ++i) ASSERT_EQ(buffer.as<uint32_t>()[i], i);
}

TEST_F(CommandTest, ResetAndRecordAgain) {
  createDevice();
  const TestBuffer buffer = makeBuffer(4096);
  VkCommandBuffer c = makeCommands();
  for (uint32_t i = 1; i <= 5; ++i) {
    begin(c);
    vkCmdFillBuffer(c, buffer.buffer, 0, 4096, i);
    VK_OK(vkEndCommandBuffer(c));
    submit(c, VK_NULL_HANDLE);
    VK_OK(vkQueueWaitIdle(queue()));
    ASSERT_EQ(buffer.as<uint32_t>()[1023], i);
    if (i % 2 == 0) {
      VK_OK(vkResetCommandBuffer(c, VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT));
    } else {
      VK_OK(vkResetCommandPool(device(), pool(), 0));
    }
  }
  VK_OK(vkResetCommandPool(device(), pool(), VK_COMMAND_POOL_RESET_RELEASE_RESOURCES_BIT));
}

class QueryTest : public CommandTest {
 protected:
  VkQueryPool makePool(uint32_t count) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = count;
    VkQueryPool pool = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateQueryPool(device(), &info, nullptr, &pool), VK_SUCCESS);
    defer([this, pool] { vkDestroyQueryPool(device(), pool, nullptr); });
    return pool;
  }
  static uint64_t now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
  }
};

TEST_F(QueryTest, TimestampsLieBetweenSubmissionAndEnd) {
  createDevice();
  VkQueryPool queries = makePool(3);
  const TestBuffer buffer = makeBuffer(16 << 20), results = makeBuffer(4096);
  const uint64_t before = now();
  run([&](VkCommandBuffer c) {
    vkCmdResetQueryPool(c, queries, 0, 3);
    vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queries, 0);
    vkCmdFillBuffer(c, buffer.buffer, 0, VK_WHOLE_SIZE, 1);
    vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 1);
    vkCmdCopyQueryPoolResults(
        c, queries, 0, 2, results.buffer, 0, 16,
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
  });
  const uint64_t after = now();
  uint64_t host[3][2] = {};
  EXPECT_EQ(vkGetQueryPoolResults(device(), queries, 0, 3, sizeof host, host, 16,
                                  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT),
            VK_NOT_READY);  // the third was never written
  EXPECT_EQ(host[0][1], 1u);
  EXPECT_EQ(host[1][1], 1u);
  EXPECT_EQ(host[2][1], 0u);
  EXPECT_LE(before, host[0][0]);
  EXPECT_LE(host[0][0], host[1][0]);
  EXPECT_LE(host[1][0], after);
  EXPECT_EQ(std::memcmp(host, results.bytes, 32), 0);
  uint32_t narrow[2] = {};
  VK_OK(vkGetQueryPoolResults(device(), queries, 0, 2, sizeof narrow, narrow, 4, VK_QUERY_RESULT_WAIT_BIT));
  EXPECT_EQ(narrow[1], static_cast<uint32_t>(host[1][0]));
}

TEST_F(QueryTest, HostResetAndCalibration) {
  VkPhysicalDeviceHostQueryResetFeatures features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES};
  features.hostQueryReset = VK_TRUE;
  createDevice({.extensions = {VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME},
                .features = &features});
  DEVICE_FN(vkResetQueryPoolEXT);
  DEVICE_FN(vkGetCalibratedTimestampsEXT);
  INSTANCE_FN(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT);
  uint32_t count = 0;
  VK_OK(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(physicalDevice(), &count, nullptr));
  EXPECT_EQ(count, 2u);
  VkQueryPool queries = makePool(1);
  vkResetQueryPoolEXT(device(), queries, 0, 1);
  const VkCalibratedTimestampInfoEXT domain{VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr,
                                            VK_TIME_DOMAIN_DEVICE_EXT};
  uint64_t first = 0, second = 0, stamp = 0, deviation = 0;
  VK_OK(vkGetCalibratedTimestampsEXT(device(), 1, &domain, &first, &deviation));
  run([&](VkCommandBuffer c) { vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, queries, 0); });
  VK_OK(vkGetCalibratedTimestampsEXT(device(), 1, &domain, &second, &deviation));
  VK_OK(vkGetQueryPoolResults(device(), queries, 0, 1, 8, &stamp, 8, VK_QUERY_RESULT_64_BIT));
  EXPECT_LE(first, stamp);
  EXPECT_LE(stamp, second);
  vkResetQueryPoolEXT(device(), queries, 0, 1);
  EXPECT_EQ(vkGetQueryPoolResults(device(), queries, 0, 1, 8, &stamp, 8, VK_QUERY_RESULT_64_BIT), VK_NOT_READY);
}

TEST_F(CommandTest, NamesLabelsAndPrivateData) {
  VkPhysicalDevicePrivateDataFeatures features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIVATE_DATA_FEATURES};
  features.privateData = VK_TRUE;
  createDevice({.extensions = {VK_EXT_PRIVATE_DATA_EXTENSION_NAME}, .features = &features});
  DEVICE_FN(vkSetDebugUtilsObjectNameEXT);
  DEVICE_FN(vkCmdBeginDebugUtilsLabelEXT);
  DEVICE_FN(vkCmdEndDebugUtilsLabelEXT);
  DEVICE_FN(vkCreatePrivateDataSlotEXT);
  DEVICE_FN(vkDestroyPrivateDataSlotEXT);
  DEVICE_FN(vkSetPrivateDataEXT);
  DEVICE_FN(vkGetPrivateDataEXT);
  VkFence fence = makeFence();
  const VkDebugUtilsObjectNameInfoEXT name{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT, nullptr,
                                           VK_OBJECT_TYPE_FENCE, reinterpret_cast<uint64_t>(fence), "my fence"};
  VK_OK(vkSetDebugUtilsObjectNameEXT(device(), &name));
  run([&](VkCommandBuffer c) {
    const VkDebugUtilsLabelEXT label{VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, "a label", {1, 0, 0, 1}};
    vkCmdBeginDebugUtilsLabelEXT(c, &label);
    vkCmdEndDebugUtilsLabelEXT(c);
  });
  const VkPrivateDataSlotCreateInfo info{VK_STRUCTURE_TYPE_PRIVATE_DATA_SLOT_CREATE_INFO};
  for (int round = 0; round < 2; ++round) {  // a new slot never shows what an old one held
    VkPrivateDataSlot slot = VK_NULL_HANDLE;
    VK_OK(vkCreatePrivateDataSlotEXT(device(), &info, nullptr, &slot));
    uint64_t data = 1;
    vkGetPrivateDataEXT(device(), VK_OBJECT_TYPE_FENCE, reinterpret_cast<uint64_t>(fence), slot, &data);
    EXPECT_EQ(data, 0u);
    VK_OK(vkSetPrivateDataEXT(device(), VK_OBJECT_TYPE_FENCE, reinterpret_cast<uint64_t>(fence), slot, 77));
    vkGetPrivateDataEXT(device(), VK_OBJECT_TYPE_FENCE, reinterpret_cast<uint64_t>(fence), slot, &data);
    EXPECT_EQ(data, 77u);
    vkDestroyPrivateDataSlotEXT(device(), slot, nullptr);
  }
}

// The loader hands its own objects for what belongs to the instance; a driver that takes them for its own writes into
// the loader's memory.
TEST_F(CommandTest, ObjectsOfTheInstanceHaveNamesToo) {
  createInstance({.validation = false, .extensions = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME}});
  createDevice();
  INSTANCE_FN(vkCreateDebugUtilsMessengerEXT);
  INSTANCE_FN(vkDestroyDebugUtilsMessengerEXT);
  DEVICE_FN(vkSetDebugUtilsObjectNameEXT);
  VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT;
  info.pfnUserCallback = [](auto, auto, auto, auto) -> VkBool32 { return VK_FALSE; };
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  VK_OK(vkCreateDebugUtilsMessengerEXT(instance(), &info, nullptr, &messenger));
  const auto setName = [&](VkObjectType type, auto handle) {
    const VkDebugUtilsObjectNameInfoEXT name{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT, nullptr, type,
                                             (uint64_t)handle, "a name that is longer than any small string"};
    VK_OK(vkSetDebugUtilsObjectNameEXT(device(), &name));
  };
  setName(VK_OBJECT_TYPE_INSTANCE, instance());
  setName(VK_OBJECT_TYPE_PHYSICAL_DEVICE, physicalDevice());
  setName(VK_OBJECT_TYPE_DEBUG_UTILS_MESSENGER_EXT, messenger);
  setName(VK_OBJECT_TYPE_DEVICE, device());
  setName(VK_OBJECT_TYPE_QUEUE, queue());
  // What would have been written over: the loader's dispatch of the instance and the messenger.
  uint32_t count = 0;
  VK_OK(vkEnumeratePhysicalDevices(instance(), &count, nullptr));
  EXPECT_EQ(count, 1u);
  vkDestroyDebugUtilsMessengerEXT(instance(), messenger, nullptr);
}

}  // namespace
}  // namespace pumice::cts
