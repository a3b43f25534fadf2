// Windows of an X server (Xvfb, started by the tests): the picture in the window is the one that was presented,
// whatever happens to window, server and swapchain.
//
// covers: VK_KHR_surface, VK_KHR_xcb_surface, VK_KHR_swapchain, VK_KHR_get_surface_capabilities2
// covers: vkCreateXcbSurfaceKHR, vkDestroySurfaceKHR, vkGetPhysicalDeviceSurfaceSupportKHR
// covers: vkGetPhysicalDeviceSurfaceCapabilitiesKHR, vkGetPhysicalDeviceSurfaceFormatsKHR
// covers: vkGetPhysicalDeviceSurfacePresentModesKHR, vkCreateSwapchainKHR, vkDestroySwapchainKHR
// covers: vkGetSwapchainImagesKHR, vkAcquireNextImageKHR, vkQueuePresentKHR
#include <vulkan/vulkan.h>
#include <xcb/xcb.h>
// Needs both of them.
#include <vulkan/vulkan_xcb.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

#include "cts-subset/support/window_test.h"
#include "cts-subset/support/x_server.h"

namespace pumice::cts {
namespace {

constexpr uint32_t kRgb = 0x00ffffff;  // of a window of depth 24

// 0xRRGGBB, by the definition of sRGB where the format says so.
uint32_t expectedPixel(const Color& color, bool srgb) {
  const auto channel = [srgb](double v) {
    if (srgb) v = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
    return static_cast<uint32_t>(std::lround(v * 255));
  };
  return channel(color.r) << 16 | channel(color.g) << 8 | channel(color.b);
}

bool isSrgb(VkFormat format) {
  return format == VK_FORMAT_B8G8R8A8_SRGB || format == VK_FORMAT_R8G8B8A8_SRGB;
}

// The n-th of many colours that differ in every channel from their neighbours.
Color nthColor(uint32_t n) {
  return {static_cast<float>(n * 37 % 256) / 255, static_cast<float>(n * 91 % 256) / 255,
          static_cast<float>(n * 151 % 256) / 255, 1};
}

class XWindowTest : public WindowTest {};

struct PictureCase {
  VkFormat format;
  VkPresentModeKHR mode;
  bool sharedMemory;
};

class PictureTest : public WindowTest, public testing::WithParamInterface<PictureCase> {};

// Cleared and copied frames, of odd sizes.
TEST_P(PictureTest, IsWhatWasPresented) {
  const PictureCase& p = GetParam();
  XServer server("640x480x24",
                 p.sharedMemory ? std::vector<std::string>{} : std::vector<std::string>{"-extension", "MIT-SHM"});
  XClient client(server.display());
  const xcb_window_t window = client.makeWindow(157, 83);
  createWindowDevice();
  Chain chain;
  VK_OK(makeChain(makeXcbSurface(client.connection(), window), {.format = p.format, .mode = p.mode}, &chain));
  ASSERT_EQ(chain.extent.width, 157u);
  for (uint32_t i = 0; i < 5; ++i) {
    const Color color = nthColor(i);
    VK_OK(presentColor(chain, color));
    VK_OK(awaitShown(chain));
    EXPECT_TRUE(client.screenshot(window).isAll(expectedPixel(color, isSrgb(p.format)), kRgb)) << "frame " << i;
  }
  TestBuffer texels = makeBuffer(157 * 83 * 4);
  std::mt19937 random(1);
  for (uint32_t& texel : texels.as<uint32_t>()) texel = random();
  VK_OK(presentFrame(chain, [&](VkCommandBuffer commands, VkImage image) {
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {157, 83, 1};
    vkCmdCopyBufferToImage(commands, texels.buffer, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
  }));
  VK_OK(awaitShown(chain));
  const Screenshot shot = client.screenshot(window);
  const bool redFirst = p.format == VK_FORMAT_R8G8B8A8_UNORM || p.format == VK_FORMAT_R8G8B8A8_SRGB;
  uint32_t wrong = 0;
  for (size_t i = 0; i < shot.pixels.size(); ++i) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(texels.bytes + 4 * i);
    const uint32_t expected = static_cast<uint32_t>(bytes[redFirst ? 0 : 2]) << 16 |
                              static_cast<uint32_t>(bytes[1]) << 8 | bytes[redFirst ? 2 : 0];
    wrong += (shot.pixels[i] & kRgb) != expected;
  }
  EXPECT_EQ(wrong, 0u);
  destroyChain(chain);
  EXPECT_FALSE(client.hasEvents());
}

std::vector<PictureCase> pictureCases() {
  std::vector<PictureCase> out;
  for (bool shared : {true, false}) {
    for (VkFormat format :
         {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB, VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB}) {
      out.push_back({format, VK_PRESENT_MODE_FIFO_KHR, shared});
    }
    for (VkPresentModeKHR mode :
         {VK_PRESENT_MODE_FIFO_RELAXED_KHR, VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR}) {
      out.push_back({VK_FORMAT_B8G8R8A8_UNORM, mode, shared});
    }
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, PictureTest, testing::ValuesIn(pictureCases()), [](const auto& test) {
  return "Format" + std::to_string(test.param.format) + "Mode" + std::to_string(test.param.mode) +
         (test.param.sharedMemory ? "Shared" : "Strips");
});

// covers: vkGetPhysicalDeviceSurfaceCapabilities2KHR, vkGetPhysicalDeviceSurfaceFormats2KHR,
// covers: vkGetPhysicalDeviceXcbPresentationSupportKHR, vkGetPhysicalDevicePresentRectanglesKHR
// covers: vkGetDeviceGroupPresentCapabilitiesKHR, vkGetDeviceGroupSurfacePresentModesKHR
TEST_F(XWindowTest, QueriesAgree) {
  XServer server;
  XClient client(server.display());
  const xcb_window_t window = client.makeWindow(200, 100);
  createWindowDevice();
  const VkSurfaceKHR surface = makeXcbSurface(client.connection(), window);
  INSTANCE_FN(vkGetPhysicalDeviceXcbPresentationSupportKHR);
  INSTANCE_FN(vkGetPhysicalDeviceSurfaceCapabilities2KHR);
  INSTANCE_FN(vkGetPhysicalDeviceSurfaceFormats2KHR);
  for (uint32_t family = 0; family < 3; ++family) {
    VkBool32 supported = VK_FALSE;
    VK_OK(vkGetPhysicalDeviceSurfaceSupportKHR(physicalDevice(), family, surface, &supported));
    EXPECT_TRUE(supported);
    EXPECT_TRUE(vkGetPhysicalDeviceXcbPresentationSupportKHR(physicalDevice(), family, client.connection(),
                                                             client.screen()->root_visual));
    EXPECT_FALSE(
        vkGetPhysicalDeviceXcbPresentationSupportKHR(physicalDevice(), family, client.connection(), 0x7fffffff));
  }
  const VkSurfaceCapabilitiesKHR can = capabilities(surface);
  for (const VkExtent2D& e : {can.currentExtent, can.minImageExtent, can.maxImageExtent}) {
    EXPECT_EQ(e.width, 200u);
    EXPECT_EQ(e.height, 100u);
  }
  EXPECT_GE(can.minImageCount, 1u);
  EXPECT_EQ(can.supportedTransforms, VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR);
  EXPECT_TRUE(can.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR);
  EXPECT_FALSE(can.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_PRE_MULTIPLIED_BIT_KHR);  // depth 24 has no alpha
  const VkPhysicalDeviceSurfaceInfo2KHR info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SURFACE_INFO_2_KHR, nullptr, surface};
  VkSurfaceCapabilities2KHR can2{VK_STRUCTURE_TYPE_SURFACE_CAPABILITIES_2_KHR};
  VK_OK(vkGetPhysicalDeviceSurfaceCapabilities2KHR(physicalDevice(), &info, &can2));
  EXPECT_EQ(std::memcmp(&can, &can2.surfaceCapabilities, sizeof can), 0);

  uint32_t count = 0, count2 = 0;
  VK_OK(vkGetPhysicalDeviceSurfaceFormatsKHR(physicalDevice(), surface, &count, nullptr));
  ASSERT_EQ(count, 4u);
  std::vector<VkSurfaceFormatKHR> formats(count);
  VK_OK(vkGetPhysicalDeviceSurfaceFormatsKHR(physicalDevice(), surface, &count, formats.data()));
  EXPECT_EQ(formats[0].format, VK_FORMAT_B8G8R8A8_UNORM);  // as the server has it
  count = 1;
  EXPECT_EQ(vkGetPhysicalDeviceSurfaceFormatsKHR(physicalDevice(), surface, &count, formats.data()), VK_INCOMPLETE);
  VK_OK(vkGetPhysicalDeviceSurfaceFormats2KHR(physicalDevice(), &info, &count2, nullptr));
  std::vector<VkSurfaceFormat2KHR> formats2(count2, {VK_STRUCTURE_TYPE_SURFACE_FORMAT_2_KHR});
  VK_OK(vkGetPhysicalDeviceSurfaceFormats2KHR(physicalDevice(), &info, &count2, formats2.data()));
  ASSERT_EQ(count2, 4u);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(formats2[i].surfaceFormat.format, formats[i].format);
    EXPECT_EQ(formats[i].colorSpace, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR);
    VkImageFormatProperties image{};  // every use that is offered is one of an image that can be made
    EXPECT_EQ(vkGetPhysicalDeviceImageFormatProperties(
                  physicalDevice(), formats[i].format, VK_IMAGE_TYPE_2D, VK_IMAGE_TILING_OPTIMAL,
                  VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, 0, &image),
              VK_SUCCESS);
  }
  EXPECT_EQ(can.supportedUsageFlags & (VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT),
            VkImageUsageFlags{VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT});
  VK_OK(vkGetPhysicalDeviceSurfacePresentModesKHR(physicalDevice(), surface, &count, nullptr));
  EXPECT_EQ(count, 4u);

  DEVICE_FN(vkGetDeviceGroupPresentCapabilitiesKHR);
  DEVICE_FN(vkGetDeviceGroupSurfacePresentModesKHR);
  VkDeviceGroupPresentCapabilitiesKHR group{VK_STRUCTURE_TYPE_DEVICE_GROUP_PRESENT_CAPABILITIES_KHR};
  VK_OK(vkGetDeviceGroupPresentCapabilitiesKHR(device(), &group));
  EXPECT_EQ(group.presentMask[0], 1u);
  EXPECT_EQ(group.presentMask[1], 0u);
  EXPECT_EQ(group.modes, VkDeviceGroupPresentModeFlagsKHR{VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR});
  VkDeviceGroupPresentModeFlagsKHR modes = 0;
  VK_OK(vkGetDeviceGroupSurfacePresentModesKHR(device(), surface, &modes));
  EXPECT_EQ(modes, VkDeviceGroupPresentModeFlagsKHR{VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR});
  INSTANCE_FN(vkGetPhysicalDevicePresentRectanglesKHR);
  VkRect2D rectangle{};
  count = 1;
  VK_OK(vkGetPhysicalDevicePresentRectanglesKHR(physicalDevice(), surface, &count, &rectangle));
  EXPECT_EQ(rectangle.extent.width, 200u);
  EXPECT_EQ(rectangle.extent.height, 100u);
}

// The window changes its size all the time, and is right after each change.
TEST_F(XWindowTest, ResizeStorm) {
  XServer server;
  XClient client(server.display());
  const xcb_window_t window = client.makeWindow(100, 100);
  createWindowDevice();
  const VkSurfaceKHR surface = makeXcbSurface(client.connection(), window);
  Chain chain;
  VK_OK(makeChain(surface, {.mode = VK_PRESENT_MODE_IMMEDIATE_KHR}, &chain));
  std::mt19937 random(7);
  uint32_t suboptimal = 0;
  for (uint32_t i = 0; i < 60; ++i) {
    client.resize(window, static_cast<uint16_t>(20 + random() % 300), static_cast<uint16_t>(20 + random() % 300));
    // Until it is noticed; every frame may still be presented, in the old size.
    const VkResult result = presentUntilNoticed(chain);
    ASSERT_TRUE(result == VK_SUBOPTIMAL_KHR || result == VK_SUCCESS) << result;
    suboptimal += result == VK_SUBOPTIMAL_KHR;
    Chain next;
    VK_OK(makeChain(surface, {.mode = VK_PRESENT_MODE_IMMEDIATE_KHR, .old = chain.swapchain}, &next));
    destroyChain(chain);
    chain = next;
    VK_OK(presentColor(chain, nthColor(i + 1)));
    VK_OK(awaitShown(chain));
    const Screenshot shot = client.screenshot(window);
    ASSERT_EQ(shot.width, chain.extent.width);
    ASSERT_TRUE(shot.isAll(expectedPixel(nthColor(i + 1), false), kRgb)) << i;
  }
  EXPECT_GE(suboptimal, 58u);  // two sizes in a row may be equal
  destroyChain(chain);
}

TEST_F(XWindowTest, DestroyedInMidFrame) {
  XServer server;
  XClient client(server.display());
  createWindowDevice();
  for (VkPresentModeKHR mode : {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR}) {
    const xcb_window_t window = client.makeWindow(64, 64);
    const VkSurfaceKHR surface = makeXcbSurface(client.connection(), window);
    Chain chain;
    VK_OK(makeChain(surface, {.mode = mode}, &chain));
    for (uint32_t i = 0; i < 3; ++i) VK_OK(presentColor(chain, nthColor(i)));
    client.destroy(window);
    const VkResult result = presentUntilNoticed(chain);
    EXPECT_EQ(result, VK_ERROR_SURFACE_LOST_KHR);
    EXPECT_EQ(acquire(chain, UINT64_MAX, VK_NULL_HANDLE, makeFence()), VK_ERROR_SURFACE_LOST_KHR);
    chain.presented += 1000;
    EXPECT_EQ(awaitShown(chain), VK_ERROR_SURFACE_LOST_KHR);
    VkSurfaceCapabilitiesKHR can{};
    EXPECT_EQ(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physicalDevice(), surface, &can), VK_ERROR_SURFACE_LOST_KHR);
    destroyChain(chain);
  }
  // The server's errors were ours, not the application's.
  EXPECT_FALSE(client.hasEvents());
}

TEST_F(XWindowTest, ServerGoesAway) {
  XServer server;
  XClient client(server.display());
  createWindowDevice();
  const VkSurfaceKHR surface = makeXcbSurface(client.connection(), client.makeWindow(64, 64));
  Chain chain;
  VK_OK(makeChain(surface, {.mode = VK_PRESENT_MODE_IMMEDIATE_KHR}, &chain));
  VK_OK(presentColor(chain, nthColor(1)));
  server.kill();
  const VkResult result = presentUntilNoticed(chain);
  EXPECT_EQ(result, VK_ERROR_SURFACE_LOST_KHR);
  VkBool32 supported = VK_TRUE;
  VK_OK(vkGetPhysicalDeviceSurfaceSupportKHR(physicalDevice(), 0, surface, &supported));
  EXPECT_FALSE(supported);
  destroyChain(chain);
}

// A server that answers nobody holds up neither time outs nor the end of a swapchain, and goes on as if nothing had
// been.
TEST_F(XWindowTest, ServerIsStopped) {
  XServer server;
  XClient client(server.display());
  createWindowDevice();
  const xcb_window_t window = client.makeWindow(64, 64);
  const VkSurfaceKHR surface = makeXcbSurface(client.connection(), window);
  for (VkPresentModeKHR mode : {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR}) {
    Chain chain;
    VK_OK(makeChain(surface, {.mode = mode}, &chain));
    VK_OK(presentColor(chain, nthColor(1)));
    VK_OK(awaitShown(chain));
    server.stop();
    // The first is given back when it has been copied, which needs no server.
    for (size_t i = 0; i <= chain.images.size(); ++i) VK_OK(presentColor(chain, nthColor(2)));
    EXPECT_EQ(awaitShown(chain, 100'000'000), VK_TIMEOUT);
    if (mode != VK_PRESENT_MODE_MAILBOX_KHR) {
      EXPECT_EQ(acquire(chain, 100'000'000, VK_NULL_HANDLE, makeFence()), VK_TIMEOUT);
    }
    const auto start = std::chrono::steady_clock::now();
    destroyChain(chain);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    server.goOn();
    Chain next;
    VK_OK(makeChain(surface, {.mode = mode}, &next));
    VK_OK(presentColor(next, nthColor(3)));
    VK_OK(awaitShown(next));
    EXPECT_TRUE(client.screenshot(window).isAll(expectedPixel(nthColor(3), false), kRgb));
    destroyChain(next);
  }
  EXPECT_FALSE(client.hasEvents());
}

// Screenshots of full-frame colours that change all the time: each shows one colour.
TEST_F(XWindowTest, NeverTorn) {
  for (bool shared : {true, false}) {
    XServer server("400x300x24",
                   shared ? std::vector<std::string>{} : std::vector<std::string>{"-extension", "MIT-SHM"});
    XClient client(server.display()), watcher(server.display());
    const xcb_window_t window = client.makeWindow(400, 300);
    createWindowDevice(false);
    const VkSurfaceKHR surface = makeXcbSurface(client.connection(), window);
    for (VkPresentModeKHR mode :
         {VK_PRESENT_MODE_IMMEDIATE_KHR, VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_FIFO_KHR}) {
      const bool paced = mode == VK_PRESENT_MODE_FIFO_KHR;  // a frame waits for its turn, so more looks at each
      Chain chain;
      VK_OK(makeChain(surface, {.mode = mode}, &chain));
      uint32_t seen = 0, last = ~0u, n = 0;
      VK_OK(presentColor(chain, nthColor(n++)));
      VK_OK(awaitShown(chain));
      for (uint32_t i = 0; i < 5000 && (i < 200 || seen < 40); ++i) {
        const uint32_t frames = paced ? i % 4 == 0 : 2;
        for (uint32_t k = 0; k < frames; ++k) VK_OK(presentColor(chain, nthColor(n++)));
        const Screenshot shot = watcher.screenshot(window);
        ASSERT_TRUE(shot.isAll(shot.at(0, 0), kRgb)) << "screenshot " << i;
        seen += shot.at(0, 0) != last;
        last = shot.at(0, 0);
      }
      EXPECT_GE(seen, 40u);
      destroyChain(chain);
    }
    destroyAll();
  }
}

// Frames that are queued stay ahead of those of the swapchain that follows.
TEST_F(XWindowTest, HandOver) {
  XServer server;
  XClient client(server.display());
  const xcb_window_t window = client.makeWindow(64, 64);
  createWindowDevice();
  const VkSurfaceKHR surface = makeXcbSurface(client.connection(), window);
  Chain chain;
  VK_OK(makeChain(surface, {}, &chain));
  for (uint32_t i = 0; i < 20; ++i) {
    for (uint32_t n = 0; n < 3; ++n) VK_OK(presentColor(chain, nthColor(n)));
    Chain next;
    VK_OK(makeChain(
        surface, {.mode = i % 2 == 0 ? VK_PRESENT_MODE_MAILBOX_KHR : VK_PRESENT_MODE_FIFO_KHR, .old = chain.swapchain},
        &next));
    EXPECT_EQ(acquire(chain, 0, VK_NULL_HANDLE, makeFence()), VK_ERROR_OUT_OF_DATE_KHR);
    ASSERT_EQ(takeMessages().size(), 1u);  // it is the layer's opinion, too, that nobody may ask
    if (i % 3 == 0) destroyChain(chain);
    VK_OK(presentColor(next, nthColor(100 + i)));
    VK_OK(awaitShown(next));
    EXPECT_TRUE(client.screenshot(window).isAll(expectedPixel(nthColor(100 + i), false), kRgb)) << i;
    if (i % 3 != 0) destroyChain(chain);
    EXPECT_TRUE(client.screenshot(window).isAll(expectedPixel(nthColor(100 + i), false), kRgb)) << i;
    chain = next;
  }
  destroyChain(chain);
}

// What was queued last is what stays, even if the swapchain goes at once.
TEST_F(XWindowTest, DestroyedWithPresentsInFlight) {
  XServer server;
  XClient client(server.display());
  const xcb_window_t window = client.makeWindow(64, 64);
  createWindowDevice();
  const VkSurfaceKHR surface = makeXcbSurface(client.connection(), window);
  for (VkPresentModeKHR mode : {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR}) {
    for (uint32_t i = 0; i < 10; ++i) {
      Chain chain;
      VK_OK(makeChain(surface, {.mode = mode}, &chain));
      for (uint32_t n = 0; n < 3; ++n) VK_OK(presentColor(chain, nthColor(i * 3 + n)));
      destroyChain(chain);
      EXPECT_TRUE(client.screenshot(window).isAll(expectedPixel(nthColor(i * 3 + 2), false), kRgb)) << mode << ' ' << i;
    }
  }
}

TEST_F(XWindowTest, TwoSwapchainsInOnePresent) {
  XServer server;
  XClient client(server.display());
  const xcb_window_t windows[2] = {client.makeWindow(64, 64), client.makeWindow(50, 30)};
  createWindowDevice();
  Chain chains[2];
  for (int i = 0; i < 2; ++i) VK_OK(makeChain(makeXcbSurface(client.connection(), windows[i]), {}, &chains[i]));
  for (uint32_t n = 0; n < 10; ++n) {
    VkSwapchainKHR swapchains[2];
    uint32_t images[2];
    VkSemaphore drawn[2];
    for (uint32_t i = 0; i < 2; ++i) {
      Frame& frame = chains[i].frames[n % 3];
      VK_OK(vkWaitForFences(device(), 1, &frame.fence, VK_TRUE, UINT64_MAX));
      VK_OK(acquire(chains[i], UINT64_MAX, frame.acquired, VK_NULL_HANDLE));
      recordAndSubmit(
          chains[i], frame,
          [&](VkCommandBuffer commands, VkImage image) {
            const Color color = nthColor(2 * n + i);
            const VkClearColorValue value{{color.r, color.g, color.b, color.a}};
            const VkImageSubresourceRange range{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
            vkCmdClearColorImage(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &value, 1, &range);
          },
          0);
      swapchains[i] = chains[i].swapchain;
      images[i] = chains[i].acquiredImage;
      drawn[i] = frame.drawn;
    }
    const uint64_t ids[2] = {n + 1, n + 1};
    const VkPresentIdKHR presentIds{VK_STRUCTURE_TYPE_PRESENT_ID_KHR, nullptr, 2, ids};
    VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR, &presentIds};
    info.waitSemaphoreCount = 2;
    info.pWaitSemaphores = drawn;
    info.swapchainCount = 2;
    info.pSwapchains = swapchains;
    info.pImageIndices = images;
    VkResult results[2] = {VK_RESULT_MAX_ENUM, VK_RESULT_MAX_ENUM};
    info.pResults = results;
    VK_OK(vkQueuePresentKHR(queue(), &info));
    EXPECT_EQ(results[0], VK_SUCCESS);
    EXPECT_EQ(results[1], VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
      chains[i].presented = n + 1;
      VK_OK(awaitShown(chains[i]));
      EXPECT_TRUE(client.screenshot(windows[i]).isAll(expectedPixel(nthColor(2 * n + i), false), kRgb));
    }
  }
  // One window goes; the other swapchain does not mind.
  client.destroy(windows[1]);
  EXPECT_EQ(presentUntilNoticed(chains[1]), VK_ERROR_SURFACE_LOST_KHR);
  VK_OK(presentColor(chains[0], nthColor(7)));
  for (Chain& chain : chains) destroyChain(chain);
}

// Drawn as sRGB into images that are presented as UNORM: the window gets the encoded bytes.
// covers: VK_KHR_swapchain_mutable_format
TEST_F(XWindowTest, MutableFormat) {
  XServer server;
  XClient client(server.display());
  const xcb_window_t window = client.makeWindow(61, 35);
  createWindowDevice();
  const std::array<VkFormat, 2> formats{VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB};
  const VkImageFormatListCreateInfo list{VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO, nullptr, formats.size(),
                                         formats.data()};
  Chain chain;
  VK_OK(makeChain(makeXcbSurface(client.connection(), window),
                  {.format = formats[0],
                   .flags = VK_SWAPCHAIN_CREATE_MUTABLE_FORMAT_BIT_KHR,
                   .next = &list,
                   .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT},
                  &chain));
  std::vector<VkImageView> views;
  const auto draw = [&](VkCommandBuffer commands, VkImage image, VkFormat format, const Color& color) {
    VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    info.image = image;
    info.viewType = VK_IMAGE_VIEW_TYPE_2D;
    info.format = format;
    info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkRenderingAttachmentInfo target{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    VK_OK(vkCreateImageView(device(), &info, nullptr, &target.imageView));
    views.push_back(target.imageView);
    target.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
    target.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    target.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    target.clearValue.color = {{color.r, color.g, color.b, color.a}};
    VkRenderingInfo rendering{VK_STRUCTURE_TYPE_RENDERING_INFO};
    rendering.renderArea.extent = chain.extent;
    rendering.layerCount = 1;
    rendering.colorAttachmentCount = 1;
    rendering.pColorAttachments = &target;
    const auto change = [&](VkImageLayout from, VkImageLayout to) {
      VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
      barrier.srcAccessMask = barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
      barrier.oldLayout = from;
      barrier.newLayout = to;
      barrier.image = image;
      barrier.subresourceRange = info.subresourceRange;
      vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                           nullptr, 0, nullptr, 1, &barrier);
    };
    change(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_GENERAL);
    vkCmdBeginRendering(commands, &rendering);
    vkCmdEndRendering(commands);
    change(VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
  };
  for (uint32_t i = 0; i < 4; ++i) {
    const Color color = nthColor(i);
    VK_OK(presentFrame(chain, [&](VkCommandBuffer c, VkImage image) { draw(c, image, formats[i % 2], color); }));
    VK_OK(awaitShown(chain));
    EXPECT_TRUE(client.screenshot(window).isAll(expectedPixel(color, i % 2 == 1), kRgb)) << "frame " << i;
  }
  VK_OK(vkDeviceWaitIdle(device()));
  for (VkImageView view : views) vkDestroyImageView(device(), view, nullptr);
  destroyChain(chain);
}

// covers: VK_KHR_incremental_present
TEST_F(XWindowTest, IncrementalPresent) {
  XServer server;
  XClient client(server.display());
  const xcb_window_t window = client.makeWindow(64, 64);
  createWindowDevice();
  Chain chain;
  VK_OK(makeChain(makeXcbSurface(client.connection(), window), {.mode = VK_PRESENT_MODE_MAILBOX_KHR}, &chain));
  TestBuffer white = makeBuffer(16 * 4);
  std::memset(white.bytes, 0xff, white.size);
  // The program draws whole frames, black with white squares at the diagonal, and says what is new in each.
  for (int32_t n = 0; n < 16; ++n) {
    const VkRectLayerKHR rectangle{{4 * n, 4 * n}, {4, 4}, 0};
    const VkPresentRegionKHR region{1, &rectangle};
    const VkPresentRegionsKHR regions{VK_STRUCTURE_TYPE_PRESENT_REGIONS_KHR, nullptr, 1, &region};
    VK_OK(presentFrame(
        chain,
        [&](VkCommandBuffer commands, VkImage image) {
          const VkClearColorValue black{{0, 0, 0, 1}};
          const VkImageSubresourceRange range{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
          vkCmdClearColorImage(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &black, 1, &range);
          barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
          for (int32_t i = 0; i <= n; ++i) {
            VkBufferImageCopy square{};
            square.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
            square.imageOffset = {4 * i, 4 * i, 0};
            square.imageExtent = {4, 4, 1};
            vkCmdCopyBufferToImage(commands, white.buffer, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &square);
          }
        },
        n == 0 ? nullptr : &regions));
    if (n % 5 == 4) {  // between these some are dropped
      VK_OK(awaitShown(chain));
    }
  }
  VK_OK(awaitShown(chain));
  const Screenshot shot = client.screenshot(window);
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 64; ++x) ASSERT_EQ(shot.at(x, y) & kRgb, x / 4 == y / 4 ? kRgb : 0) << x << ' ' << y;
  }
  destroyChain(chain);
}

// Nothing is lost in 1,000 presents, and nothing left behind by them.
TEST_F(XWindowTest, ThousandPresents) {
  XServer server;
  XClient client(server.display());
  const xcb_window_t window = client.makeWindow(100, 100);
  createWindowDevice();
  const VkSurfaceKHR surface = makeXcbSurface(client.connection(), window);
  DEVICE_FN(vkWaitForPresentKHR);
  Chain chain;
  VK_OK(makeChain(surface, {.mode = VK_PRESENT_MODE_IMMEDIATE_KHR}, &chain));
  for (uint32_t n = 0; n < 1000; ++n) {
    VK_OK(presentColor(chain, nthColor(n)));
    if (n % 100 != 99) continue;
    VK_OK(awaitShown(chain));
    EXPECT_TRUE(client.screenshot(window).isAll(expectedPixel(nthColor(n), false), kRgb)) << n;
    EXPECT_EQ(vkWaitForPresentKHR(device(), chain.swapchain, n + 2, 1'000'000), VK_TIMEOUT);
  }
  EXPECT_FALSE(client.hasEvents());
  destroyChain(chain);
}

// A window with alpha: made opaque, or left as it is.
TEST_F(XWindowTest, CompositeAlpha) {
  XServer server;
  XClient client(server.display());
  ASSERT_NE(client.visual(32), 0u);
  const xcb_window_t window = client.makeWindow(40, 40, 32);
  createWindowDevice();
  const VkSurfaceKHR surface = makeXcbSurface(client.connection(), window);
  EXPECT_TRUE(capabilities(surface).supportedCompositeAlpha & VK_COMPOSITE_ALPHA_PRE_MULTIPLIED_BIT_KHR);
  for (VkFormat format : {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM}) {
    Chain chain;
    const Color color{0.2f, 0.4f, 0.0f, 0.4f};  // 51, 102, 0, 102 of 255
    VK_OK(makeChain(surface, {.format = format, .alpha = VK_COMPOSITE_ALPHA_PRE_MULTIPLIED_BIT_KHR}, &chain));
    VK_OK(presentColor(chain, color));
    VK_OK(awaitShown(chain));
    EXPECT_TRUE(client.screenshot(window).isAll(0x66336600, ~0u));
    destroyChain(chain);
    VK_OK(makeChain(surface, {.format = format, .alpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR}, &chain));
    VK_OK(presentColor(chain, color));
    VK_OK(awaitShown(chain));
    EXPECT_TRUE(client.screenshot(window).isAll(0xff336600, ~0u));
    destroyChain(chain);
  }
}

// Ten bits are offered where the window has them.
TEST_F(XWindowTest, DeepColor) {
  XServer server("320x240x30");
  XClient client(server.display());
  const xcb_window_t window = client.makeWindow(40, 40);
  createWindowDevice();
  const VkSurfaceKHR surface = makeXcbSurface(client.connection(), window);
  const xcb_visualtype_t* visual = xcb_depth_visuals(xcb_screen_allowed_depths_iterator(client.screen()).data);
  ASSERT_EQ(visual->red_mask | visual->green_mask | visual->blue_mask, 0x3fffffffu);
  for (VkFormat format : {VK_FORMAT_A2R10G10B10_UNORM_PACK32, VK_FORMAT_A2B10G10R10_UNORM_PACK32}) {
    Chain chain;
    VK_OK(makeChain(surface, {.format = format}, &chain));
    const Color color{341.0f / 1023, 682.0f / 1023, 5.0f / 1023, 1};
    VK_OK(presentColor(chain, color));
    VK_OK(awaitShown(chain));
    const bool redHigh = visual->red_mask == 0x3ff00000u;
    const uint32_t expected = redHigh ? 341u << 20 | 682u << 10 | 5u : 5u << 20 | 682u << 10 | 341u;
    EXPECT_TRUE(client.screenshot(window).isAll(expected, 0x3fffffffu));
    destroyChain(chain);
  }
}

TEST_F(XWindowTest, SixteenBits) {
  XServer server("320x240x16");
  XClient client(server.display());
  const xcb_window_t window = client.makeWindow(41, 40);  // rows with padding
  createWindowDevice();
  const VkSurfaceKHR surface = makeXcbSurface(client.connection(), window);
  Chain chain;
  VK_OK(makeChain(surface, {.format = VK_FORMAT_B8G8R8A8_UNORM}, &chain));
  VK_OK(presentColor(chain, {1.0f, 0.2f, 0.0f, 1}));  // 31, 0.2 * 63 = 12.6 -> 13, 0
  VK_OK(awaitShown(chain));
  EXPECT_TRUE(client.screenshot(window).isAll(31u << 11 | 13u << 5, 0xffff));
  destroyChain(chain);
}

}  // namespace
}  // namespace pumice::cts
