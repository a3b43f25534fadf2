// covers: vkCmdCopyBuffer, vkCmdCopyBuffer2, vkCmdFillBuffer, vkCmdUpdateBuffer, vkCmdPipelineBarrier,
// covers: VK_KHR_maintenance1, vkCmdPipelineBarrier2, vkQueueSubmit, vkQueueWaitIdle, vkDeviceWaitIdle
// covers: VK_KHR_copy_commands2
#include <cstring>
#include <random>

#include "cts-subset/support/vulkan_test.h"

namespace pumice::cts {
namespace {

constexpr VkPipelineStageFlags kTransfer = VK_PIPELINE_STAGE_TRANSFER_BIT;

class TransferTest : public VulkanTest, public testing::WithParamInterface<uint32_t> {};

TEST_P(TransferTest, CopiesOfOddPlacesAndSizes) {
  createDevice();
  const TestBuffer src = makeBuffer(1 << 20), dst = makeBuffer(1 << 20);
  std::mt19937 random(GetParam());
  for (auto& b : src.as<uint8_t>()) b = static_cast<uint8_t>(random());
  std::vector<uint8_t> expected(dst.size, 0);
  std::vector<VkBufferCopy> regions;
  VkDeviceSize at = 0;
  while (at + 70'000 < dst.size) {
    const VkDeviceSize size = 1 + random() % 60'000;
    const VkDeviceSize from = random() % (src.size - size);
    at += random() % 17;
    regions.push_back({from, at, size});
    std::memcpy(expected.data() + at, src.bytes + from, size);
    at += size;
  }
  run(
      [&](VkCommandBuffer c) {
        vkCmdCopyBuffer(c, src.buffer, dst.buffer, static_cast<uint32_t>(regions.size()), regions.data());
      },
      GetParam());
  EXPECT_EQ(std::memcmp(expected.data(), dst.bytes, expected.size()), 0);
}

TEST_P(TransferTest, FillsAndUpdates) {
  createDevice({.extensions = {VK_KHR_MAINTENANCE_1_EXTENSION_NAME}});  // fills on transfer queues
  const TestBuffer buffer = makeBuffer(65536 + 7);
  std::vector<uint32_t> data(16384);
  for (uint32_t i = 0; i < data.size(); ++i) data[i] = i * 2654435761u;
  run([&](VkCommandBuffer c) { vkCmdUpdateBuffer(c, buffer.buffer, 0, 65536, data.data()); }, GetParam());
  EXPECT_EQ(std::memcmp(buffer.bytes, data.data(), 65536), 0);
  run(
      [&](VkCommandBuffer c) {
        vkCmdFillBuffer(c, buffer.buffer, 8, 16, 0xdeadbeef);
        vkCmdFillBuffer(c, buffer.buffer, 65532, VK_WHOLE_SIZE, 0x01020304);  // 11 bytes: two words, three bytes stay
      },
      GetParam());
  const auto words = buffer.as<uint32_t>();
  EXPECT_EQ(words[1], data[1]);
  for (uint32_t i = 2; i < 6; ++i) EXPECT_EQ(words[i], 0xdeadbeef);
  EXPECT_EQ(words[6], data[6]);
  EXPECT_EQ(words[16383], 0x01020304u);
  EXPECT_EQ(words[16384], 0x01020304u);
  for (uint32_t i = 65540; i < 65543; ++i) EXPECT_EQ(buffer.bytes[i], std::byte{0});
}

// Each step reads what the one before wrote: without the barriers the order would be free.
TEST_P(TransferTest, BarriersOrderAChain) {
  createDevice();
  constexpr uint32_t kSteps = 64;
  const TestBuffer buffer = makeBuffer(4096 * (kSteps + 1));
  std::memset(buffer.bytes, 0x77, 4096);
  run(
      [&](VkCommandBuffer c) {
        for (uint32_t i = 0; i < kSteps; ++i) {
          const VkBufferCopy region{4096u * i, 4096u * (i + 1), 4096};
          vkCmdCopyBuffer(c, buffer.buffer, buffer.buffer, 1, &region);
          barrier(c, kTransfer, kTransfer);
        }
      },
      GetParam());
  for (std::byte b : buffer.as<std::byte>()) ASSERT_EQ(b, std::byte{0x77});
}

INSTANTIATE_TEST_SUITE_P(Families, TransferTest, testing::Values(0u, 1u, 2u));

class TransferTest2 : public VulkanTest {};

// copy -> (compute stage) -> copy in another command buffer: no dispatch stands between, the dependency has to hold.
TEST_F(TransferTest2, ChainThroughAnEmptyStageAcrossCommandBuffers) {
  createDevice();
  const TestBuffer a = makeBuffer(8 << 20), b = makeBuffer(8 << 20), c = makeBuffer(8 << 20);
  std::memset(a.bytes, 0x31, a.size);
  const VkBufferCopy whole{0, 0, a.size};
  for (int round = 0; round < 8; ++round) {
    std::memset(b.bytes, 0, b.size);
    std::memset(c.bytes, 0, c.size);
    VkCommandBuffer first = makeCommands(), second = makeCommands();
    begin(first);
    vkCmdCopyBuffer(first, a.buffer, b.buffer, 1, &whole);
    barrier(first, kTransfer, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    VK_OK(vkEndCommandBuffer(first));
    begin(second);
    barrier(second, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kTransfer);
    vkCmdCopyBuffer(second, b.buffer, c.buffer, 1, &whole);
    VK_OK(vkEndCommandBuffer(second));
    submit(first, VK_NULL_HANDLE);
    submit(second, VK_NULL_HANDLE);
    VK_OK(vkQueueWaitIdle(queue()));
    ASSERT_EQ(std::memcmp(a.bytes, c.bytes, a.size), 0) << "round " << round;
  }
}

TEST_F(TransferTest2, Synchronization2AndCopyCommands2) {
  VkPhysicalDeviceSynchronization2Features features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES};
  features.synchronization2 = VK_TRUE;
  createDevice({.extensions = {VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME, VK_KHR_COPY_COMMANDS_2_EXTENSION_NAME},
                .features = &features});
  DEVICE_FN(vkCmdPipelineBarrier2KHR);
  DEVICE_FN(vkCmdCopyBuffer2KHR);
  DEVICE_FN(vkQueueSubmit2KHR);
  const TestBuffer buffer = makeBuffer(3 * 4096);
  std::memset(buffer.bytes, 0x42, 4096);
  VkCommandBuffer commands = makeCommands();
  begin(commands);
  for (uint32_t i = 0; i < 2; ++i) {
    const VkBufferCopy2 region{VK_STRUCTURE_TYPE_BUFFER_COPY_2, nullptr, 4096u * i, 4096u * (i + 1), 4096};
    const VkCopyBufferInfo2 copy{
        VK_STRUCTURE_TYPE_COPY_BUFFER_INFO_2, nullptr, buffer.buffer, buffer.buffer, 1, &region};
    vkCmdCopyBuffer2KHR(commands, &copy);
    VkMemoryBarrier2 memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
    memory.srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
    memory.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    memory.dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
    memory.dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT;
    VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
    dependency.memoryBarrierCount = 1;
    dependency.pMemoryBarriers = &memory;
    vkCmdPipelineBarrier2KHR(commands, &dependency);
  }
  VK_OK(vkEndCommandBuffer(commands));
  const VkCommandBufferSubmitInfo which{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, commands, 0};
  VkSubmitInfo2 info{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &which;
  VK_OK(vkQueueSubmit2KHR(queue(), 1, &info, VK_NULL_HANDLE));
  VK_OK(vkDeviceWaitIdle(device()));
  for (std::byte b : buffer.as<std::byte>()) ASSERT_EQ(b, std::byte{0x42});
}

}  // namespace
}  // namespace pumice::cts
