// The fixture of window tests: surfaces and swapchains whose images are cleared and copied to by transfer commands, and
// a loop that presents them.
#pragma once

#include <memory>
#include <optional>

#include "cts-subset/support/vulkan_test.h"

struct xcb_connection_t;

namespace pumice::cts {

struct Color {
  float r = 0, g = 0, b = 0, a = 1;
};

class WindowTest : public VulkanTest {
 protected:
  struct ChainOptions {
    VkFormat format = VK_FORMAT_B8G8R8A8_UNORM;
    VkPresentModeKHR mode = VK_PRESENT_MODE_FIFO_KHR;
    uint32_t images = 3;
    VkExtent2D extent{64, 48};  // of surfaces that have none of their own
    VkCompositeAlphaFlagBitsKHR alpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
    VkSwapchainKHR old = VK_NULL_HANDLE;
    VkSwapchainCreateFlagsKHR flags = 0;
    const void* next = nullptr;
    VkImageUsageFlags usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  };
  struct Frame {  // what one frame in flight needs
    VkSemaphore acquired, drawn;
    VkFence fence;
    VkCommandBuffer commands;
  };
  struct Chain {
    VkSwapchainKHR swapchain = VK_NULL_HANDLE;
    VkExtent2D extent{};
    VkFormat format{};
    std::vector<VkImage> images;
    std::vector<Frame> frames;
    uint64_t presented = 0;  // frames; also the last present id
    uint32_t acquiredImage = 0;
  };

  /// With all surface and swapchain extensions, the features of VK_KHR_present_id and _wait, and dynamic rendering.
  void createWindowDevice(bool validation = true);
  VkSurfaceKHR makeHeadlessSurface();
  VkSurfaceKHR makeXcbSurface(xcb_connection_t* connection, uint32_t window);

  VkSurfaceCapabilitiesKHR capabilities(VkSurfaceKHR surface);
  /// In *out what vkCreateSwapchainKHR made; destroyed at the end of the test if destroyChain was not called.
  VkResult makeChain(VkSurfaceKHR surface, const ChainOptions& options, Chain* out);
  void destroyChain(Chain& chain);

  /// Acquires an image, records `draw` with the image in TRANSFER_DST_OPTIMAL, submits, presents with the next id.
  /// What vkAcquireNextImageKHR or vkQueuePresentKHR returned, the worse one.
  VkResult presentFrame(Chain& chain, const std::function<void(VkCommandBuffer, VkImage)>& draw,
                        const VkPresentRegionsKHR* regions = nullptr, uint32_t family = 0);
  VkResult presentColor(Chain& chain, const Color& color, uint32_t family = 0);
  /// Presents until a call gives something else than VK_SUCCESS, which is returned: the present thread learns of the
  /// window from the reply to a frame, and how many calls come before that is a matter of luck. Ten seconds at most.
  VkResult presentUntilNoticed(Chain& chain);
  /// Until the last presented frame is in the window.
  VkResult awaitShown(const Chain& chain, uint64_t timeout_ns = 10'000'000'000u);

  VkResult acquire(Chain& chain, uint64_t timeout_ns, VkSemaphore semaphore, VkFence fence);
  void recordAndSubmit(Chain& chain, Frame& frame, const std::function<void(VkCommandBuffer, VkImage)>& draw,
                       uint32_t family);
  VkResult queuePresent(Chain& chain, VkSemaphore wait, const VkPresentRegionsKHR* regions = nullptr,
                        uint32_t family = 0);

 private:
  std::vector<VkSwapchainKHR> swapchains_;  // alive
};

}  // namespace pumice::cts
