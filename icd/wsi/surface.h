// VkSurfaceKHR: a window, and whether a swapchain shows something in it. Owned by the application; a swapchain refers
// to it. Queries may come from any thread at any time.
#pragma once

#include <atomic>
#include <memory>

#include "icd/objects/object.h"
#include "icd/wsi/native_window.h"

namespace pumice::icd {

class Instance;
class Swapchain;

class Surface : public Object<Surface, VkSurfaceKHR, VK_OBJECT_TYPE_SURFACE_KHR> {
 public:
  explicit Surface(Instance&) {}

  VkResult init(std::unique_ptr<NativeWindow> window) {
    window_ = std::move(window);
    return VK_SUCCESS;
  }

  NativeWindow& window() { return *window_; }

  /// The swapchain that may acquire and present: one at a time. False when another one has the surface.
  bool claim(Swapchain* swapchain, Swapchain* old) {
    Swapchain* expected = nullptr;
    if (swapchain_.compare_exchange_strong(expected, swapchain)) return true;
    return expected == old && swapchain_.compare_exchange_strong(expected, swapchain);
  }
  /// Does nothing when another one has it.
  void leave(Swapchain* swapchain) { swapchain_.compare_exchange_strong(swapchain, nullptr); }

 private:
  std::unique_ptr<NativeWindow> window_;
  std::atomic<Swapchain*> swapchain_{nullptr};
};

}  // namespace pumice::icd
