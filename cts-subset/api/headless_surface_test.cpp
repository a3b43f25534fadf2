// Swapchains without a window: the states of images, time outs, the pace of present modes, loss of the device.
//
// covers: VK_EXT_headless_surface, vkCreateHeadlessSurfaceEXT, vkAcquireNextImageKHR, vkAcquireNextImage2KHR
// covers: VK_KHR_present_id, VK_KHR_present_wait, vkWaitForPresentKHR, feature:presentId, feature:presentWait
#include <chrono>
#include <thread>

#include "cts-subset/support/window_test.h"
#include "shaders/endless.spv.h"

namespace pumice::cts {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

class HeadlessTest : public WindowTest {
 protected:
  static double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
};

TEST_F(HeadlessTest, Queries) {
  createWindowDevice();
  const VkSurfaceKHR surface = makeHeadlessSurface();
  const VkSurfaceCapabilitiesKHR can = capabilities(surface);
  EXPECT_EQ(can.currentExtent.width, 0xffffffffu);
  EXPECT_EQ(can.currentExtent.height, 0xffffffffu);
  EXPECT_EQ(can.minImageExtent.width, 1u);
  VkPhysicalDeviceProperties properties{};
  vkGetPhysicalDeviceProperties(physicalDevice(), &properties);
  EXPECT_EQ(can.maxImageExtent.width, properties.limits.maxImageDimension2D);
  for (VkExtent2D extent : {VkExtent2D{1, 1}, VkExtent2D{1000, 3}}) {
    Chain chain;
    VK_OK(makeChain(surface, {.extent = extent}, &chain));
    EXPECT_EQ(chain.images.size(), 3u);
    VK_OK(presentColor(chain, {1, 0, 0, 1}));
    VK_OK(awaitShown(chain));
    destroyChain(chain);
  }
}

TEST_F(HeadlessTest, AcquireTimeouts) {
  createWindowDevice(false);  // asks for more images than it may wait for
  Chain chain;
  VK_OK(makeChain(makeHeadlessSurface(), {}, &chain));
  std::vector<bool> got(3);
  for (uint32_t i = 0; i < 3; ++i) {
    const VkFence fence = makeFence();
    VK_OK(acquire(chain, 0, VK_NULL_HANDLE, fence));
    VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, UINT64_MAX));
    EXPECT_FALSE(got[chain.acquiredImage]) << "an image was handed out twice";
    got[chain.acquiredImage] = true;
  }
  const VkFence fence = makeFence();
  EXPECT_EQ(acquire(chain, 0, VK_NULL_HANDLE, fence), VK_NOT_READY);
  const auto start = Clock::now();
  EXPECT_EQ(acquire(chain, 50'000'000, VK_NULL_HANDLE, fence), VK_TIMEOUT);
  EXPECT_GE(secondsSince(start), 0.049);
  EXPECT_EQ(vkGetFenceStatus(device(), fence), VK_NOT_READY);
  // A present by another thread ends the wait.
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(30));
    queuePresent(chain, VK_NULL_HANDLE);
  });
  const uint32_t last = chain.acquiredImage;
  DEVICE_FN(vkAcquireNextImage2KHR);
  VkAcquireNextImageInfoKHR info{VK_STRUCTURE_TYPE_ACQUIRE_NEXT_IMAGE_INFO_KHR};
  info.swapchain = chain.swapchain;
  info.timeout = UINT64_MAX;
  info.fence = fence;
  info.deviceMask = 1;
  uint32_t index = ~0u;
  EXPECT_EQ(vkAcquireNextImage2KHR(device(), &info, &index), VK_SUCCESS);
  other.join();
  EXPECT_EQ(index, last);
  VK_OK(vkWaitForFences(device(), 1, &fence, VK_TRUE, UINT64_MAX));
  destroyChain(chain);
}

// FIFO takes as long as a display of 60 Hz, and shows every frame; no two frames share a turn.
TEST_F(HeadlessTest, FifoIsPaced) {
  createWindowDevice();
  const VkSurfaceKHR surface = makeHeadlessSurface();
  for (VkPresentModeKHR mode : {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_FIFO_RELAXED_KHR}) {
    Chain chain;
    VK_OK(makeChain(surface, {.mode = mode}, &chain));
    VK_OK(presentColor(chain, {0, 0, 0, 1}));
    VK_OK(awaitShown(chain));
    const auto start = Clock::now();
    for (uint32_t i = 0; i < 60; ++i) VK_OK(presentColor(chain, {0, 0, 1, 1}));
    VK_OK(awaitShown(chain));
    const double seconds = secondsSince(start);
    EXPECT_GE(seconds, 59.0 / 60 - 0.01);
    EXPECT_LE(seconds, 1.5);  // the machine may be busy
    destroyChain(chain);
  }
}

// The frames' rate is the program's: many more than 60 a second.
TEST_F(HeadlessTest, MailboxAndImmediateAreNot) {
  createWindowDevice();
  const VkSurfaceKHR surface = makeHeadlessSurface();
  for (VkPresentModeKHR mode : {VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR}) {
    Chain chain;
    VK_OK(makeChain(surface, {.mode = mode}, &chain));
    const auto start = Clock::now();
    for (uint32_t i = 0; i < 300; ++i) VK_OK(presentColor(chain, {0, 0, 1, 1}));
    VK_OK(awaitShown(chain));
    EXPECT_LE(secondsSince(start), 2.5);  // FIFO would take 5
    destroyChain(chain);
  }
}

TEST_F(HeadlessTest, WaitForPresent) {
  createWindowDevice();
  DEVICE_FN(vkWaitForPresentKHR);
  Chain chain;
  VK_OK(makeChain(makeHeadlessSurface(), {}, &chain));
  const auto wait = [&](uint64_t id, uint64_t timeout) {
    return vkWaitForPresentKHR(device(), chain.swapchain, id, timeout);
  };
  EXPECT_EQ(wait(1, 0), VK_TIMEOUT);
  EXPECT_EQ(wait(1, 1'000'000), VK_TIMEOUT);
  for (uint32_t i = 0; i < 3; ++i) VK_OK(presentColor(chain, {0, 0, 1, 1}));
  // Turns of the display away. The swapchain is externally synchronised, so nobody else uses it meanwhile.
  std::thread other([&] { EXPECT_EQ(wait(3, UINT64_MAX), VK_SUCCESS); });
  other.join();
  VK_OK(wait(1, 0));
  VK_OK(wait(3, 0));
  EXPECT_EQ(wait(4, 0), VK_TIMEOUT);
  destroyChain(chain);
}

// A present waits for its semaphore, on any queue.
TEST_F(HeadlessTest, PresentWaitsForSemaphores) {
  createWindowDevice();
  Chain chain;
  VK_OK(makeChain(makeHeadlessSurface(), {.mode = VK_PRESENT_MODE_IMMEDIATE_KHR}, &chain));
  for (uint32_t family = 0; family < 3; ++family) {
    Frame& frame = chain.frames[0];
    VK_OK(vkWaitForFences(device(), 1, &frame.fence, VK_TRUE, UINT64_MAX));
    VK_OK(vkResetFences(device(), 1, &frame.fence));
    VK_OK(acquire(chain, UINT64_MAX, frame.acquired, VK_NULL_HANDLE));
    // An event in mid-stream keeps the queue; the image itself is not touched.
    VkEvent event = VK_NULL_HANDLE;
    const VkEventCreateInfo eventInfo{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VK_OK(vkCreateEvent(device(), &eventInfo, nullptr, &event));
    VkCommandBuffer commands = makeCommands(0);
    begin(commands);
    vkCmdWaitEvents(commands, 1, &event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, nullptr, 0,
                    nullptr, 0, nullptr);
    VkImageMemoryBarrier present{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    present.newLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
    present.srcQueueFamilyIndex = present.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    present.image = chain.images[chain.acquiredImage];
    present.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0,
                         nullptr, 1, &present);
    VK_OK(vkEndCommandBuffer(commands));
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.waitSemaphoreCount = 1;
    info.pWaitSemaphores = &frame.acquired;
    info.pWaitDstStageMask = &stage;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &frame.drawn;
    VK_OK(vkQueueSubmit(queue(0), 1, &info, frame.fence));
    VK_OK(queuePresent(chain, frame.drawn, nullptr, family));
    EXPECT_EQ(awaitShown(chain, 30'000'000), VK_TIMEOUT);
    VK_OK(vkSetEvent(device(), event));
    VK_OK(awaitShown(chain));
    VK_OK(vkDeviceWaitIdle(device()));
    vkDestroyEvent(device(), event, nullptr);
  }
  destroyChain(chain);
}

TEST_F(HeadlessTest, OneSwapchainPerSurface) {
  createWindowDevice(false);  // the layer has its opinion about the second swapchain
  const VkSurfaceKHR surface = makeHeadlessSurface();
  Chain first, second;
  VK_OK(makeChain(surface, {}, &first));
  EXPECT_EQ(makeChain(surface, {}, &second), VK_ERROR_NATIVE_WINDOW_IN_USE_KHR);
  VK_OK(presentColor(first, {1, 1, 1, 1}));  // which changed nothing for the first
  VK_OK(makeChain(surface, {.old = first.swapchain}, &second));
  EXPECT_EQ(makeChain(surface, {}, &second), VK_ERROR_NATIVE_WINDOW_IN_USE_KHR);
}

// Images that were acquired before may still be presented, without effect; nothing hangs.
TEST_F(HeadlessTest, RetiredSwapchain) {
  createWindowDevice();
  const VkSurfaceKHR surface = makeHeadlessSurface();
  Chain old, next;
  VK_OK(makeChain(surface, {}, &old));
  Frame& frame = old.frames[0];
  VK_OK(acquire(old, UINT64_MAX, frame.acquired, VK_NULL_HANDLE));
  VK_OK(makeChain(surface, {.old = old.swapchain}, &next));
  VK_OK(presentColor(next, {1, 0, 0, 1}));
  VK_OK(awaitShown(next));
  VK_OK(vkWaitForFences(device(), 1, &frame.fence, VK_TRUE, UINT64_MAX));
  recordAndSubmit(
      old, frame,
      [](VkCommandBuffer commands, VkImage image) {
        const VkClearColorValue value{};
        const VkImageSubresourceRange range{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        vkCmdClearColorImage(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &value, 1, &range);
      },
      0);
  EXPECT_EQ(queuePresent(old, frame.drawn), VK_ERROR_OUT_OF_DATE_KHR);
  destroyChain(old);
  VK_OK(presentColor(next, {1, 0, 0, 1}));
  destroyChain(next);
}

// An image of the application's own, bound to a swapchain image's memory.
TEST_F(HeadlessTest, ImageBoundToSwapchain) {
  createWindowDevice();
  Chain chain;
  VK_OK(makeChain(makeHeadlessSurface(), {.mode = VK_PRESENT_MODE_IMMEDIATE_KHR}, &chain));
  VkImageSwapchainCreateInfoKHR from{VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR};
  from.swapchain = chain.swapchain;
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, &from};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = chain.format;
  info.extent = {chain.extent.width, chain.extent.height, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  const auto shown = [&](uint32_t index, uint32_t pixel) {
    VkImage alias = VK_NULL_HANDLE;
    VK_OK(vkCreateImage(device(), &info, nullptr, &alias));
    const VkBindImageMemorySwapchainInfoKHR to{VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_SWAPCHAIN_INFO_KHR, nullptr,
                                               chain.swapchain, index};
    const VkBindImageMemoryInfo bind{VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO, &to, alias, VK_NULL_HANDLE, 0};
    DEVICE_FN(vkBindImageMemory2KHR);
    VK_OK(vkBindImageMemory2KHR(device(), 1, &bind));
    const TestBuffer texels = makeBuffer(VkDeviceSize{chain.extent.width} * chain.extent.height * 4);
    run([&](VkCommandBuffer commands) {
      VkBufferImageCopy region{};
      region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
      region.imageExtent = info.extent;
      vkCmdCopyImageToBuffer(commands, alias, VK_IMAGE_LAYOUT_GENERAL, texels.buffer, 1, &region);
    });
    for (uint32_t texel : texels.as<uint32_t>()) ASSERT_EQ(texel, pixel);
    vkDestroyImage(device(), alias, nullptr);
  };
  for (uint32_t i = 0; i < 3; ++i) {
    VK_OK(presentColor(chain, {static_cast<float>(i) / 255, 0, 1, 1}));
    VK_OK(awaitShown(chain));
    shown(chain.acquiredImage, 0xff0000ffu | i << 16);
  }
  takeMessages();  // the layer does not know that the two share their layout
  destroyChain(chain);
}

// A present that waits for an endless shader ends with the device: nothing that waits for it stays behind.
TEST_F(HeadlessTest, DeviceLost) {
  setenv("PUMICE_WATCHDOG_MS", "300", 1);
  createWindowDevice(false);
  unsetenv("PUMICE_WATCHDOG_MS");
  Chain chain;
  VK_OK(makeChain(makeHeadlessSurface(), {}, &chain));
  constexpr VkDescriptorType kOne[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
  const Compute endless = makeCompute(k_endless, kOne);
  const TestBuffer out = makeBuffer(64);
  bindBuffers(endless, {&out, 1});
  VkCommandBuffer commands = makeCommands();
  begin(commands);
  bindAll(commands, endless);
  vkCmdDispatch(commands, 8, 1, 1);
  VK_OK(vkEndCommandBuffer(commands));
  VK_OK(acquire(chain, UINT64_MAX, chain.frames[0].acquired, VK_NULL_HANDLE));
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &chain.frames[0].drawn;
  VK_OK(vkQueueSubmit(queue(), 1, &info, VK_NULL_HANDLE));
  VK_OK(queuePresent(chain, chain.frames[0].drawn));
  for (int i = 0; i < 2; ++i) VK_OK(acquire(chain, UINT64_MAX, VK_NULL_HANDLE, makeFence()));
  EXPECT_EQ(acquire(chain, UINT64_MAX, VK_NULL_HANDLE, makeFence()), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(awaitShown(chain), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(queuePresent(chain, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
}

}  // namespace
}  // namespace pumice::cts
