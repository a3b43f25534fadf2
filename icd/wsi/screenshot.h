// PUMICE_SCREENSHOT: one of the frames that the process shows, as a PNG file, whatever the window system is.
#pragma once

#include <vulkan/vulkan_core.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "icd/wsi/pixels.h"

namespace pumice::icd {

class Screenshot {
 public:
  /// An empty path: none is wanted. Frames count from 1.
  Screenshot(std::string path, uint64_t frame) : path_(std::move(path)), frame_(frame) {}

  /// As PUMICE_SCREENSHOT (a file) and PUMICE_SCREENSHOT_FRAME (default 1) say at the first call; frames of all
  /// swapchains count.
  static Screenshot& ofProcess();

  /// A frame is about to be shown, from texels of the form `form`. Any thread. A file that cannot be written has a line
  /// in the log; the program goes on.
  void frame(const abi::Surface& image, const PixelForm& form, VkExtent2D extent) noexcept {
    if (!path_.empty() && count_.fetch_add(1, std::memory_order_relaxed) + 1 == frame_) write(image, form, extent);
  }

 private:
  void write(const abi::Surface& image, const PixelForm& form, VkExtent2D extent) const noexcept;

  const std::string path_;
  const uint64_t frame_;
  std::atomic<uint64_t> count_{0};
};

}  // namespace pumice::icd
