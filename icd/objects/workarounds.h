// What the driver does for programs that break the rules in ways that go unnoticed on other drivers. Found by the names
// that the application gives; each has an environment variable that turns it on or off for any program.
#pragma once

#include <vulkan/vulkan_core.h>

namespace pumice::icd {

struct Workarounds {
  /// Every dispatch waits for the dispatches before it in its command buffer, as if there were a barrier.
  /// libavutil 57 (FFmpeg 5.1): gblur_vulkan and avgblur_vulkan read what the dispatch before has written, without a
  /// barrier in between. PUMICE_ORDER_DISPATCHES=0 or 1.
  bool orderDispatches = false;
};

/// `application` may be nullptr.
Workarounds workaroundsFor(const VkApplicationInfo* application);

}  // namespace pumice::icd
