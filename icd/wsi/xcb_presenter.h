// Brings frames into a window of an X server: through memory shared with the server (MIT-SHM 1.2), or in strips over
// the connection into a pixmap that is then copied. Either way the window changes by one request, which the server
// executes as a whole; the reply to a second one says that it has, that the memory is ours again, how large the window
// is and whether it exists.
#pragma once

#include <memory>

#include "icd/wsi/xcb_library.h"
#include "icd/wsi/xcb_window.h"

namespace pumice::icd {

VkResult makeXcbPresenter(const XcbLibrary& x, xcb_connection_t* connection, uint32_t window, const XcbVisual& visual,
                          VkExtent2D extent, std::unique_ptr<Presenter>* out);

}  // namespace pumice::icd
