// covers: vkCreateFence, vkDestroyFence, vkGetFenceStatus, vkResetFences, vkWaitForFences, vkCreateSemaphore,
// covers: vkDestroySemaphore, vkGetSemaphoreCounterValue, vkSignalSemaphore, vkWaitSemaphores, vkCreateEvent,
// covers: vkDestroyEvent, vkGetEventStatus, vkSetEvent, vkResetEvent, vkCmdSetEvent, vkCmdResetEvent, vkCmdWaitEvents,
// covers: vkCmdSetEvent2, vkCmdResetEvent2, vkCmdWaitEvents2, vkQueueSubmit2, VK_KHR_timeline_semaphore,
// covers: VK_KHR_synchronization2, feature:timelineSemaphore, feature:synchronization2
#include <chrono>
#include <cstring>
#include <thread>

#include "cts-subset/support/vulkan_test.h"

namespace pumice::cts {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t kLong = 30'000'000'000u;

class SyncTest : public VulkanTest {
 protected:
  void createSyncDevice() {
    VkPhysicalDeviceSynchronization2Features sync2{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES};
    sync2.synchronization2 = VK_TRUE;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
                                                       &sync2};
    timeline.timelineSemaphore = VK_TRUE;
    createDevice({.extensions = {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME},
                  .features = &timeline});
  }

  uint64_t value(VkSemaphore semaphore) {
    DEVICE_FN(vkGetSemaphoreCounterValueKHR);
    uint64_t v = 0;
    EXPECT_EQ(vkGetSemaphoreCounterValueKHR(device(), semaphore, &v), VK_SUCCESS);
    return v;
  }
  VkResult wait(std::vector<VkSemaphore> semaphores, std::vector<uint64_t> values, uint64_t timeout, bool any = false) {
    DEVICE_FN(vkWaitSemaphoresKHR);
    VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
    info.flags = any ? VK_SEMAPHORE_WAIT_ANY_BIT : 0;
    info.semaphoreCount = static_cast<uint32_t>(semaphores.size());
    info.pSemaphores = semaphores.data();
    info.pValues = values.data();
    return vkWaitSemaphoresKHR(device(), &info, timeout);
  }
  void signal(VkSemaphore semaphore, uint64_t v) {
    DEVICE_FN(vkSignalSemaphoreKHR);
    const VkSemaphoreSignalInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, semaphore, v};
    VK_OK(vkSignalSemaphoreKHR(device(), &info));
  }
  // wait and signal with timeline values; commands may be null.
  void submitTimeline(VkQueue q, VkSemaphore waitFor, uint64_t waitValue, VkCommandBuffer commands, VkSemaphore signals,
                      uint64_t signalValue, VkFence fence = VK_NULL_HANDLE) {
    VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
    values.waitSemaphoreValueCount = 1;
    values.pWaitSemaphoreValues = &waitValue;
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &signalValue;
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO, &values};
    info.waitSemaphoreCount = waitFor != VK_NULL_HANDLE;
    info.pWaitSemaphores = &waitFor;
    info.pWaitDstStageMask = &stage;
    info.commandBufferCount = commands != VK_NULL_HANDLE;
    info.pCommandBuffers = &commands;
    info.signalSemaphoreCount = signals != VK_NULL_HANDLE;
    info.pSignalSemaphores = &signals;
    VK_OK(vkQueueSubmit(q, 1, &info, fence));
  }
};

TEST_F(SyncTest, FencesTimeOutAndReset) {
  createDevice();
  VkFence fence = makeFence();
  EXPECT_EQ(vkGetFenceStatus(device(), fence), VK_NOT_READY);
  EXPECT_EQ(vkWaitForFences(device(), 1, &fence, VK_TRUE, 0), VK_TIMEOUT);
  const auto start = Clock::now();
  EXPECT_EQ(vkWaitForFences(device(), 1, &fence, VK_TRUE, 20'000'000), VK_TIMEOUT);
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(20));
  for (int i = 0; i < 3; ++i) {
    VK_OK(vkQueueSubmit(queue(), 0, nullptr, fence));
    VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, UINT64_MAX));
    VK_OK(vkGetFenceStatus(device(), fence));
    VK_OK(vkResetFences(device(), 1, &fence));
    EXPECT_EQ(vkGetFenceStatus(device(), fence), VK_NOT_READY);
    VK_OK(vkResetFences(device(), 1, &fence));  // resetting what is not signalled changes nothing
  }
  VkFence signalled = makeFence(true);
  VK_OK(vkGetFenceStatus(device(), signalled));
  VkFence both[] = {fence, signalled};
  VK_OK(vkWaitForFences(device(), 2, both, VK_FALSE, 0));
  EXPECT_EQ(vkWaitForFences(device(), 2, both, VK_TRUE, 1'000'000), VK_TIMEOUT);
}

TEST_F(SyncTest, TimelineHostSignalAndWaits) {
  createSyncDevice();
  VkSemaphore a = makeTimeline(5), b = makeTimeline();
  EXPECT_EQ(value(a), 5u);
  EXPECT_EQ(wait({a, b}, {5, 1}, 0), VK_TIMEOUT);
  EXPECT_EQ(wait({a, b}, {5, 1}, 0, true), VK_SUCCESS);
  EXPECT_EQ(wait({a, b}, {6, 1}, 5'000'000, true), VK_TIMEOUT);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    signal(b, 7);
  });
  EXPECT_EQ(wait({a, b}, {6, 7}, kLong, true), VK_SUCCESS);
  other.join();
  EXPECT_EQ(value(b), 7u);
}

// covers: vkQueueBindSparse
// Programs load it with the other functions of Vulkan 1.0. Without sparse resources only the semaphores and the fence
// of a batch mean anything. (The layer, rightly, does not like the call on a queue that cannot bind.)
TEST_F(SyncTest, SparseBindingOfNothing) {
  createInstance({.validation = false});
  createSyncDevice();
  VkSemaphore before = makeTimeline(), after = makeTimeline();
  VkFence fence = makeFence();
  const uint64_t waitValue = 3, signalValue = 4;
  VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  values.waitSemaphoreValueCount = values.signalSemaphoreValueCount = 1;
  values.pWaitSemaphoreValues = &waitValue;
  values.pSignalSemaphoreValues = &signalValue;
  VkBindSparseInfo info{VK_STRUCTURE_TYPE_BIND_SPARSE_INFO, &values};
  info.waitSemaphoreCount = info.signalSemaphoreCount = 1;
  info.pWaitSemaphores = &before;
  info.pSignalSemaphores = &after;
  VK_OK(vkQueueBindSparse(queue(), 1, &info, fence));
  EXPECT_EQ(wait({after}, {4}, 5'000'000), VK_TIMEOUT);
  EXPECT_EQ(vkGetFenceStatus(device(), fence), VK_NOT_READY);
  signal(before, 3);
  EXPECT_EQ(wait({after}, {4}, kLong), VK_SUCCESS);
  VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, kLong));
  EXPECT_EQ(value(after), 4u);
  VK_OK(vkResetFences(device(), 1, &fence));
  VK_OK(vkQueueBindSparse(queue(), 0, nullptr, fence));
  VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, kLong));
}

// A signal that names no stage comes after the waits of its own batch.
TEST_F(SyncTest, SignalAtNoStageFollowsTheWaits) {
  createSyncDevice();
  DEVICE_FN(vkQueueSubmit2KHR);
  for (const VkPipelineStageFlags2 waitStage :
       {VK_PIPELINE_STAGE_2_NONE, VK_PIPELINE_STAGE_2_COPY_BIT, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT}) {
    VkSemaphore go = makeTimeline(), done = makeTimeline();
    const VkSemaphoreSubmitInfo waits{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, nullptr, go, 1, waitStage};
    const VkSemaphoreSubmitInfo signals{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, nullptr, done, 1,
                                        VK_PIPELINE_STAGE_2_NONE};
    VkSubmitInfo2 info{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    info.waitSemaphoreInfoCount = 1;
    info.pWaitSemaphoreInfos = &waits;
    info.signalSemaphoreInfoCount = 1;
    info.pSignalSemaphoreInfos = &signals;
    VK_OK(vkQueueSubmit2KHR(queue(), 1, &info, VK_NULL_HANDLE));
    EXPECT_EQ(wait({done}, {1}, 2'000'000), VK_TIMEOUT) << waitStage;
    signal(go, 1);
    EXPECT_EQ(wait({done}, {1}, kLong), VK_SUCCESS) << waitStage;
    VK_OK(vkQueueWaitIdle(queue()));
  }
}

TEST_F(SyncTest, WaitBeforeSignalAcrossQueues) {
  createSyncDevice();
  const TestBuffer buffer = makeBuffer(3 * 4096);
  VkSemaphore timeline = makeTimeline();
  VkFence fence = makeFence();
  const auto copyTo = [&](uint32_t family, VkDeviceSize from, VkDeviceSize to) {
    VkCommandBuffer c = makeCommands(family);
    begin(c);
    const VkBufferCopy region{from, to, 4096};
    vkCmdCopyBuffer(c, buffer.buffer, buffer.buffer, 1, &region);
    EXPECT_EQ(vkEndCommandBuffer(c), VK_SUCCESS);
    return c;
  };
  // Submitted in the wrong order: the second copy first, waiting for the first, which waits for the host.
  submitTimeline(queue(1), timeline, 2, copyTo(1, 4096, 8192), timeline, 3, fence);
  submitTimeline(queue(2), timeline, 1, copyTo(2, 0, 4096), timeline, 2);
  EXPECT_EQ(vkWaitForFences(device(), 1, &fence, VK_TRUE, 5'000'000), VK_TIMEOUT);
  std::memset(buffer.bytes, 0x6b, 4096);
  signal(timeline, 1);
  VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, kLong));
  EXPECT_EQ(value(timeline), 3u);
  for (std::byte b : buffer.as<std::byte>()) ASSERT_EQ(b, std::byte{0x6b});
}

// Ten thousand hand-overs between queues of the three families: each adds its link to a chain of copies.
TEST_F(SyncTest, HandOversBetweenFamiliesLoseNothing) {
  createInstance({.validation = false});  // the layer's bookkeeping is quadratic here
  createSyncDevice();
  constexpr uint32_t kRounds = 10'000;
  VkSemaphore timeline = makeTimeline();
  for (uint32_t i = 0; i < kRounds; ++i) {
    submitTimeline(queue(i % 3), timeline, i, VK_NULL_HANDLE, timeline, i + 1);
  }
  EXPECT_EQ(wait({timeline}, {kRounds}, kLong), VK_SUCCESS);
  EXPECT_EQ(value(timeline), kRounds);
}

TEST_F(SyncTest, BinarySemaphoresPassFromQueueToQueue) {
  createDevice();
  const TestBuffer buffer = makeBuffer(4096 * 9);
  std::memset(buffer.bytes, 0x19, 4096);
  VkSemaphore semaphore = makeSemaphore();
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
  for (uint32_t i = 0; i < 8; ++i) {
    VkCommandBuffer c = makeCommands(i % 3);
    begin(c);
    const VkBufferCopy region{4096u * i, 4096u * (i + 1), 4096};
    vkCmdCopyBuffer(c, buffer.buffer, buffer.buffer, 1, &region);
    VK_OK(vkEndCommandBuffer(c));
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.waitSemaphoreCount = i != 0;
    info.pWaitSemaphores = &semaphore;
    info.pWaitDstStageMask = &stage;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &c;
    info.signalSemaphoreCount = i != 7;
    info.pSignalSemaphores = &semaphore;
    VK_OK(vkQueueSubmit(queue(i % 3), 1, &info, VK_NULL_HANDLE));
  }
  VK_OK(vkDeviceWaitIdle(device()));
  for (std::byte b : buffer.as<std::byte>()) ASSERT_EQ(b, std::byte{0x19});
}

TEST_F(SyncTest, ManyEmptySubmissions) {
  createInstance({.validation = false});
  createDevice();
  VkFence fence = makeFence();
  for (int i = 0; i < 100'000; ++i) VK_OK(vkQueueSubmit(queue(), 0, nullptr, VK_NULL_HANDLE));
  for (int i = 0; i < 20'000; ++i) {
    VK_OK(vkQueueSubmit(queue(), 0, nullptr, fence));
    VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, kLong));
    VK_OK(vkResetFences(device(), 1, &fence));
  }
}

class EventTest : public SyncTest {
 protected:
  VkEvent makeEvent() {
    const VkEventCreateInfo info{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkEvent event = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateEvent(device(), &info, nullptr, &event), VK_SUCCESS);
    defer([this, event] { vkDestroyEvent(device(), event, nullptr); });
    return event;
  }
};

TEST_F(EventTest, HostState) {
  createDevice();
  VkEvent event = makeEvent();
  EXPECT_EQ(vkGetEventStatus(device(), event), VK_EVENT_RESET);
  VK_OK(vkSetEvent(device(), event));
  EXPECT_EQ(vkGetEventStatus(device(), event), VK_EVENT_SET);
  VK_OK(vkResetEvent(device(), event));
  EXPECT_EQ(vkGetEventStatus(device(), event), VK_EVENT_RESET);
}

TEST_F(EventTest, HostSetsWhatTheDeviceWaitsForInMidStream) {
  createDevice();
  const TestBuffer buffer = makeBuffer(3 * 4096);
  VkEvent event = makeEvent();
  std::memset(buffer.bytes, 1, 4096);
  VkCommandBuffer c = makeCommands();
  begin(c);
  vkCmdFillBuffer(c, buffer.buffer, 4096, 4096, 0x02020202);
  vkCmdWaitEvents(c, 1, &event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, nullptr, 0, nullptr, 0,
                  nullptr);
  const VkBufferCopy region{0, 8192, 4096};
  vkCmdCopyBuffer(c, buffer.buffer, buffer.buffer, 1, &region);
  VK_OK(vkEndCommandBuffer(c));
  VkFence fence = makeFence();
  submit(c, fence);
  EXPECT_EQ(vkWaitForFences(device(), 1, &fence, VK_TRUE, 20'000'000), VK_TIMEOUT);
  EXPECT_EQ(buffer.bytes[4096], std::byte{2});  // what came before the wait has run
  EXPECT_EQ(buffer.bytes[8192], std::byte{0});  // what comes after has not
  std::memset(buffer.bytes, 3, 4096);
  VK_OK(vkSetEvent(device(), event));
  VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, kLong));
  EXPECT_EQ(buffer.bytes[8192], std::byte{3});
}

TEST_F(EventTest, DeviceSetsAndResets) {
  createDevice();
  VkEvent event = makeEvent();
  run([&](VkCommandBuffer c) { vkCmdSetEvent(c, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT); });
  EXPECT_EQ(vkGetEventStatus(device(), event), VK_EVENT_SET);
  run([&](VkCommandBuffer c) { vkCmdResetEvent(c, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT); });
  EXPECT_EQ(vkGetEventStatus(device(), event), VK_EVENT_RESET);
}

TEST_F(EventTest, SplitBarrierOfSynchronization2) {
  createSyncDevice();
  DEVICE_FN(vkCmdSetEvent2KHR);
  DEVICE_FN(vkCmdWaitEvents2KHR);
  DEVICE_FN(vkCmdResetEvent2KHR);
  const TestBuffer a = makeBuffer(4 << 20), b = makeBuffer(4 << 20), c = makeBuffer(4 << 20);
  std::memset(a.bytes, 0x4d, a.size);
  VkEvent event = makeEvent();
  VkMemoryBarrier2 memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  memory.srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
  memory.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
  memory.dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
  memory.dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT;
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &memory;
  const VkBufferCopy whole{0, 0, a.size};
  run([&](VkCommandBuffer commands) {
    vkCmdCopyBuffer(commands, a.buffer, b.buffer, 1, &whole);
    vkCmdSetEvent2KHR(commands, event, &dependency);
    vkCmdWaitEvents2KHR(commands, 1, &event, &dependency);
    vkCmdCopyBuffer(commands, b.buffer, c.buffer, 1, &whole);
    vkCmdResetEvent2KHR(commands, event, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
  });
  EXPECT_EQ(std::memcmp(a.bytes, c.bytes, a.size), 0);
  EXPECT_EQ(vkGetEventStatus(device(), event), VK_EVENT_RESET);
}

}  // namespace
}  // namespace pumice::cts
