// What a surface stands for: a window of some window system, or nothing at all (headless). And what brings frames into
// it. The two interfaces below are all that the swapchain knows of window systems.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "icd/wsi/pixels.h"

namespace pumice::icd {

/// VkSurfaceCapabilitiesKHR::currentExtent of windows whose size is the swapchain's.
inline constexpr VkExtent2D kExtentOfSwapchain{0xffffffffu, 0xffffffffu};

struct WindowState {
  VkExtent2D extent = kExtentOfSwapchain;
  VkCompositeAlphaFlagsKHR compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
  std::vector<VkFormat> formats;  // with the colour space sRGB, the best one first
};

struct PresenterInfo {
  VkFormat format;
  VkExtent2D extent;
  VkPresentModeKHR mode;
  bool opaque;  // VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
};

/// Where the next frame is to be written. rows.first == nullptr: nowhere, nobody looks.
struct FrameTarget {
  PixelRows rows{};
  PixelForm form;
  bool holdsLastFrame = false;  // only what changed since needs be written
};

/// Brings frames of one swapchain into the window. Used by the swapchain's present thread alone, but for interrupt().
class Presenter {
 public:
  virtual ~Presenter() = default;

  /// Between two frames of the display. 0: begin() keeps the pace.
  virtual uint64_t period_ns() const { return 1'000'000'000 / 60; }
  /// Blocks on the window system until there is memory for a frame. VK_ERROR_SURFACE_LOST_KHR when it is gone.
  virtual VkResult begin(FrameTarget* out) = 0;
  /// Shows the frame as one whole, and returns when that is certain. VK_SUBOPTIMAL_KHR: the window has another size by
  /// now; errors: it shows nothing any more.
  virtual VkResult show() = 0;
  /// Any thread: what blocks now or later, returns soon. The swapchain is about to be destroyed.
  virtual void interrupt() {}
};

/// Owned by its surface. Any thread may call any function at any time.
class NativeWindow {
 public:
  virtual ~NativeWindow() = default;

  /// Whether frames can be shown in it at all.
  virtual bool canPresent() = 0;
  /// Asks the window system. VK_ERROR_SURFACE_LOST_KHR when the window is gone.
  virtual VkResult state(WindowState* out) = 0;
  /// FIFO among them, in order of preference.
  virtual std::vector<VkPresentModeKHR> presentModes() const = 0;
  virtual VkResult makePresenter(const PresenterInfo& info, std::unique_ptr<Presenter>* out) = 0;
};

std::unique_ptr<NativeWindow> makeHeadlessWindow();

}  // namespace pumice::icd
