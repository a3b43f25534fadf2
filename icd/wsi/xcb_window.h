// VK_KHR_xcb_surface and VK_KHR_xlib_surface: a window of an X server. It is spoken to over the application's own
// connection, which the window belongs to; every request that could fail is a checked one, and no event is asked for,
// so that neither errors nor events of ours reach the application.
#pragma once

#include <memory>

#include "icd/wsi/native_window.h"

struct xcb_connection_t;

namespace pumice::icd {

/// The connection may be null: libraries are missing, nothing can be presented.
std::unique_ptr<NativeWindow> makeXcbWindow(xcb_connection_t* connection, uint32_t window);

/// Whether windows of this visual can show frames.
bool canPresentToVisual(xcb_connection_t* connection, uint32_t visual);

/// For the presenter: what pixels of a visual look like. bytes == 0 when it cannot be presented to.
struct XcbVisual {
  PixelForm form;
  uint8_t depth = 0;
};

}  // namespace pumice::icd
