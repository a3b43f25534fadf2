// VK_KHR_wayland_surface: frames in shared-memory buffers (wl_shm). Events of ours go to a queue of the swapchain's
// own, which the present thread alone dispatches.
#pragma once

#include <memory>

#include "icd/wsi/native_window.h"

struct wl_display;
struct wl_surface;

namespace pumice::icd {

std::unique_ptr<NativeWindow> makeWaylandWindow(wl_display* display, wl_surface* surface);

/// Whether libwayland-client is there and the connection is not broken.
bool canPresentToWayland(wl_display* display);

}  // namespace pumice::icd
