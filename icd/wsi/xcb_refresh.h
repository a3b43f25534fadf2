// The refresh rate of the display that an X window is on.
#pragma once

#include "icd/wsi/xcb_library.h"

namespace pumice::icd {

/// From RandR: of the CRTC that has the window's centre, else of the first that shows something; 60 Hz when the server
/// does not say.
uint64_t displayPeriod_ns(const XcbLibrary& x, xcb_connection_t* connection, xcb_window_t window);

}  // namespace pumice::icd
