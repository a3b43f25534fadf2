// Queries of pipeline statistics: compute shader invocations are all that a compute queue counts.
//
// covers: vkCmdBeginQuery, vkCmdEndQuery, feature:pipelineStatisticsQuery, feature:inheritedQueries
#include "cts-subset/support/vulkan_test.h"
#include "shaders/saxpy.spv.h"

namespace pumice::cts {
namespace {

constexpr VkDescriptorType kTwo[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
constexpr VkQueryPipelineStatisticFlags kInvocations = VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT;

class QueryStatisticsTest : public VulkanTest {
 protected:
  void SetUp() override {
    createInstance();
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    features.features.pipelineStatisticsQuery = VK_TRUE;
    features.features.inheritedQueries = VK_TRUE;
    createDevice({.features = &features});
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS;
    info.queryCount = 4;
    info.pipelineStatistics = kInvocations;
    VK_OK(vkCreateQueryPool(device(), &info, nullptr, &queries_));
    defer([this] { vkDestroyQueryPool(device(), queries_, nullptr); });
    compute_ = makeCompute(k_saxpy, kTwo, 8);
    const TestBuffer data[] = {makeBuffer(4096), makeBuffer(4096)};
    bindBuffers(compute_, data);
  }
  // Threads whose number is past the count of elements, zero here, do nothing but are counted.
  void bind(VkCommandBuffer c) {
    bindAll(c, compute_);
    constexpr uint32_t kNothing[2] = {0, 0};
    vkCmdPushConstants(c, compute_.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, kNothing);
  }

  static constexpr uint64_t kLocal = 64;  // saxpy.comp
  VkQueryPool queries_ = VK_NULL_HANDLE;
  Compute compute_;
};

TEST_F(QueryStatisticsTest, CountsBetweenBeginAndEnd) {
  const TestBuffer args = makeBuffer(12), copied = makeBuffer(64);
  args.as<uint32_t>()[0] = 3;
  args.as<uint32_t>()[1] = 5;
  args.as<uint32_t>()[2] = 2;
  run([&](VkCommandBuffer c) {
    vkCmdResetQueryPool(c, queries_, 0, 4);
    bind(c);
    vkCmdDispatch(c, 9, 1, 1);
    vkCmdBeginQuery(c, queries_, 0, 0);
    vkCmdDispatch(c, 2, 3, 4);
    vkCmdDispatchIndirect(c, args.buffer, 0);
    vkCmdEndQuery(c, queries_, 0);
    vkCmdDispatch(c, 9, 1, 1);
    vkCmdBeginQuery(c, queries_, 1, 0);
    vkCmdEndQuery(c, queries_, 1);
    vkCmdBeginQuery(c, queries_, 2, 0);
    vkCmdDispatch(c, 1, 1, 1);
    vkCmdEndQuery(c, queries_, 2);
    vkCmdCopyQueryPoolResults(c, queries_, 0, 3, copied.buffer, 0, 16,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
  });
  uint64_t host[8] = {};
  EXPECT_EQ(vkGetQueryPoolResults(device(), queries_, 0, 4, sizeof host, host, 16,
                                  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT),
            VK_NOT_READY);  // the fourth
  const uint64_t expected[3] = {kLocal * (24 + 30), 0, kLocal};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(host[2 * i], expected[i]) << i;
    EXPECT_EQ(host[2 * i + 1], 1u) << i;
    EXPECT_EQ(copied.as<uint64_t>()[2 * i], expected[i]) << i;
    EXPECT_EQ(copied.as<uint64_t>()[2 * i + 1], 1u) << i;
  }
  EXPECT_EQ(host[7], 0u);
}

TEST_F(QueryStatisticsTest, SecondaryBuffersInherit) {
  const VkCommandBuffer secondary = makeCommands(0, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  VkCommandBufferInheritanceInfo inheritance{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  inheritance.pipelineStatistics = kInvocations;
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.pInheritanceInfo = &inheritance;
  VK_OK(vkBeginCommandBuffer(secondary, &info));
  bind(secondary);
  vkCmdDispatch(secondary, 7, 1, 1);
  VK_OK(vkEndCommandBuffer(secondary));
  run([&](VkCommandBuffer c) {
    vkCmdResetQueryPool(c, queries_, 0, 1);
    vkCmdBeginQuery(c, queries_, 0, 0);
    vkCmdExecuteCommands(c, 1, &secondary);
    vkCmdEndQuery(c, queries_, 0);
  });
  uint32_t count = 0;
  VK_OK(vkGetQueryPoolResults(device(), queries_, 0, 1, 4, &count, 4, VK_QUERY_RESULT_WAIT_BIT));
  EXPECT_EQ(count, 7 * kLocal);
}

}  // namespace
}  // namespace pumice::cts
