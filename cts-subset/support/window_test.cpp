#include "cts-subset/support/window_test.h"

#include <chrono>

#include <vulkan/vulkan.h>
#include <xcb/xcb.h>
// Needs both of them.
#include <vulkan/vulkan_xcb.h>

namespace pumice::cts {

void WindowTest::createWindowDevice(bool validation) {
  createInstance(
      {.validation = validation,
       .apiVersion = VK_API_VERSION_1_3,
       .extensions = {VK_KHR_XCB_SURFACE_EXTENSION_NAME, "VK_KHR_xlib_surface", "VK_KHR_wayland_surface",
                      VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME, VK_KHR_GET_SURFACE_CAPABILITIES_2_EXTENSION_NAME}});
  VkPhysicalDevicePresentIdFeaturesKHR id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_ID_FEATURES_KHR};
  id.presentId = VK_TRUE;
  VkPhysicalDevicePresentWaitFeaturesKHR wait{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_WAIT_FEATURES_KHR, &id};
  wait.presentWait = VK_TRUE;
  VkPhysicalDeviceDynamicRenderingFeatures rendering{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES,
                                                     &wait};
  rendering.dynamicRendering = VK_TRUE;
  createDevice({.extensions = {VK_KHR_SWAPCHAIN_EXTENSION_NAME, VK_KHR_SWAPCHAIN_MUTABLE_FORMAT_EXTENSION_NAME,
                               VK_KHR_IMAGE_FORMAT_LIST_EXTENSION_NAME, VK_KHR_PRESENT_ID_EXTENSION_NAME,
                               VK_KHR_PRESENT_WAIT_EXTENSION_NAME, VK_KHR_INCREMENTAL_PRESENT_EXTENSION_NAME,
                               VK_KHR_DEVICE_GROUP_EXTENSION_NAME, VK_KHR_BIND_MEMORY_2_EXTENSION_NAME},
                .features = &rendering});
}

VkSurfaceKHR WindowTest::makeHeadlessSurface() {
  INSTANCE_FN(vkCreateHeadlessSurfaceEXT);
  const VkHeadlessSurfaceCreateInfoEXT info{VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
  VkSurfaceKHR surface = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateHeadlessSurfaceEXT(instance(), &info, nullptr, &surface), VK_SUCCESS);
  defer([this, surface] { vkDestroySurfaceKHR(instance(), surface, nullptr); });
  return surface;
}

VkSurfaceKHR WindowTest::makeXcbSurface(xcb_connection_t* connection, uint32_t window) {
  INSTANCE_FN(vkCreateXcbSurfaceKHR);
  VkXcbSurfaceCreateInfoKHR info{VK_STRUCTURE_TYPE_XCB_SURFACE_CREATE_INFO_KHR};
  info.connection = connection;
  info.window = window;
  VkSurfaceKHR surface = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateXcbSurfaceKHR(instance(), &info, nullptr, &surface), VK_SUCCESS);
  defer([this, surface] { vkDestroySurfaceKHR(instance(), surface, nullptr); });
  return surface;
}

VkSurfaceCapabilitiesKHR WindowTest::capabilities(VkSurfaceKHR surface) {
  VkSurfaceCapabilitiesKHR out{};
  EXPECT_EQ(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physicalDevice(), surface, &out), VK_SUCCESS);
  return out;
}

VkResult WindowTest::makeChain(VkSurfaceKHR surface, const ChainOptions& options, Chain* out) {
  // As a program has to: whether, and with what, it can be presented.
  VkBool32 supported = VK_FALSE;
  VkResult result = vkGetPhysicalDeviceSurfaceSupportKHR(physicalDevice(), 0, surface, &supported);
  VkSurfaceCapabilitiesKHR can{};
  if (result == VK_SUCCESS) result = vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physicalDevice(), surface, &can);
  uint32_t count = 0;
  if (result == VK_SUCCESS) result = vkGetPhysicalDeviceSurfaceFormatsKHR(physicalDevice(), surface, &count, nullptr);
  std::vector<VkSurfaceFormatKHR> formats(count);
  if (result == VK_SUCCESS) {
    result = vkGetPhysicalDeviceSurfaceFormatsKHR(physicalDevice(), surface, &count, formats.data());
  }
  if (result == VK_SUCCESS) {
    result = vkGetPhysicalDeviceSurfacePresentModesKHR(physicalDevice(), surface, &count, nullptr);
  }
  std::vector<VkPresentModeKHR> modes(count);
  if (result == VK_SUCCESS) {
    result = vkGetPhysicalDeviceSurfacePresentModesKHR(physicalDevice(), surface, &count, modes.data());
  }
  if (result != VK_SUCCESS) return result;
  *out = {};
  out->format = options.format;
  out->extent = can.currentExtent.width != 0xffffffffu ? can.currentExtent : options.extent;
  VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR, options.next};
  info.flags = options.flags;
  info.surface = surface;
  info.minImageCount = options.images;
  info.imageFormat = options.format;
  info.imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR;
  info.imageExtent = out->extent;
  info.imageArrayLayers = 1;
  info.imageUsage = options.usage;
  info.preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR;
  info.compositeAlpha = options.alpha;
  info.presentMode = options.mode;
  info.clipped = VK_TRUE;
  info.oldSwapchain = options.old;
  result = vkCreateSwapchainKHR(device(), &info, nullptr, &out->swapchain);
  if (result != VK_SUCCESS) return result;
  swapchains_.push_back(out->swapchain);
  defer([this, swapchain = out->swapchain] {
    if (std::erase(swapchains_, swapchain) != 0) vkDestroySwapchainKHR(device(), swapchain, nullptr);
  });
  EXPECT_EQ(vkGetSwapchainImagesKHR(device(), out->swapchain, &count, nullptr), VK_SUCCESS);
  EXPECT_GE(count, options.images);
  out->images.resize(count);
  EXPECT_EQ(vkGetSwapchainImagesKHR(device(), out->swapchain, &count, out->images.data()), VK_SUCCESS);
  for (uint32_t i = 0; i < 3; ++i) {
    out->frames.push_back({makeSemaphore(), makeSemaphore(), makeFence(true), VK_NULL_HANDLE});
  }
  return VK_SUCCESS;
}

void WindowTest::destroyChain(Chain& chain) {
  VK_OK(vkDeviceWaitIdle(device()));
  std::erase(swapchains_, chain.swapchain);
  vkDestroySwapchainKHR(device(), chain.swapchain, nullptr);
  chain.swapchain = VK_NULL_HANDLE;
}

VkResult WindowTest::acquire(Chain& chain, uint64_t timeout_ns, VkSemaphore semaphore, VkFence fence) {
  return vkAcquireNextImageKHR(device(), chain.swapchain, timeout_ns, semaphore, fence, &chain.acquiredImage);
}

void WindowTest::recordAndSubmit(Chain& chain, Frame& frame, const std::function<void(VkCommandBuffer, VkImage)>& draw,
                                 uint32_t family) {
  VkImage image = chain.images[chain.acquiredImage];
  if (frame.commands != VK_NULL_HANDLE) vkFreeCommandBuffers(device(), pool(family), 1, &frame.commands);
  frame.commands = makeCommands(family);
  begin(frame.commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
  const auto transition = [&](VkImageLayout from, VkImageLayout to, VkAccessFlags src, VkAccessFlags dst,
                              VkPipelineStageFlags dstStage) {
    VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.srcAccessMask = src;
    barrier.dstAccessMask = dst;
    barrier.oldLayout = from;
    barrier.newLayout = to;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdPipelineBarrier(frame.commands, VK_PIPELINE_STAGE_TRANSFER_BIT, dstStage, 0, 0, nullptr, 0, nullptr, 1,
                         &barrier);
  };
  transition(VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 0, VK_ACCESS_TRANSFER_WRITE_BIT,
             VK_PIPELINE_STAGE_TRANSFER_BIT);
  draw(frame.commands, image);
  transition(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, VK_ACCESS_TRANSFER_WRITE_BIT, 0,
             VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
  VK_OK(vkEndCommandBuffer(frame.commands));
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.waitSemaphoreCount = 1;
  info.pWaitSemaphores = &frame.acquired;
  info.pWaitDstStageMask = &stage;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &frame.commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &frame.drawn;
  VK_OK(vkResetFences(device(), 1, &frame.fence));
  VK_OK(vkQueueSubmit(queue(family), 1, &info, frame.fence));
}

VkResult WindowTest::queuePresent(Chain& chain, VkSemaphore wait, const VkPresentRegionsKHR* regions, uint32_t family) {
  const uint64_t id = ++chain.presented;
  VkPresentIdKHR ids{VK_STRUCTURE_TYPE_PRESENT_ID_KHR, regions, 1, &id};
  VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR, &ids};
  info.waitSemaphoreCount = wait != VK_NULL_HANDLE ? 1 : 0;
  info.pWaitSemaphores = &wait;
  info.swapchainCount = 1;
  info.pSwapchains = &chain.swapchain;
  info.pImageIndices = &chain.acquiredImage;
  VkResult one = VK_RESULT_MAX_ENUM;
  info.pResults = &one;
  const VkResult all = vkQueuePresentKHR(queue(family), &info);
  EXPECT_EQ(one, all);
  return all;
}

VkResult WindowTest::presentFrame(Chain& chain, const std::function<void(VkCommandBuffer, VkImage)>& draw,
                                  const VkPresentRegionsKHR* regions, uint32_t family) {
  Frame& frame = chain.frames[chain.presented % chain.frames.size()];
  EXPECT_EQ(vkWaitForFences(device(), 1, &frame.fence, VK_TRUE, 10'000'000'000u), VK_SUCCESS);
  const VkResult acquired = acquire(chain, 10'000'000'000u, frame.acquired, VK_NULL_HANDLE);
  if (acquired != VK_SUCCESS && acquired != VK_SUBOPTIMAL_KHR) return acquired;
  recordAndSubmit(chain, frame, draw, family);
  const VkResult presented = queuePresent(chain, frame.drawn, regions, family);
  return presented != VK_SUCCESS ? presented : acquired;
}

VkResult WindowTest::presentUntilNoticed(Chain& chain) {
  VkResult result = VK_SUCCESS;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (uint32_t n = 0; result == VK_SUCCESS && std::chrono::steady_clock::now() < limit; ++n) {
    result = presentColor(chain, {n % 2 != 0 ? 1.0f : 0.0f, 0, 1, 1});
  }
  return result;
}

VkResult WindowTest::presentColor(Chain& chain, const Color& color, uint32_t family) {
  return presentFrame(
      chain,
      [&](VkCommandBuffer commands, VkImage image) {
        const VkClearColorValue value{{color.r, color.g, color.b, color.a}};
        const VkImageSubresourceRange range{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        vkCmdClearColorImage(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &value, 1, &range);
      },
      nullptr, family);
}

VkResult WindowTest::awaitShown(const Chain& chain, uint64_t timeout_ns) {
  DEVICE_FN(vkWaitForPresentKHR);
  return vkWaitForPresentKHR(device(), chain.swapchain, chain.presented, timeout_ns);
}

}  // namespace pumice::cts
