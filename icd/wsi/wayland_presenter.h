// Brings frames into a Wayland surface: attach, damage, commit of a wl_shm buffer, which the compositor releases when
// it has read it. FIFO waits for the compositor's frame callback; MAILBOX keeps a pace of our own, and a commit
// replaces an earlier one that was not shown.
#pragma once

#include <memory>

#include "icd/wsi/native_window.h"
#include "icd/wsi/wayland_library.h"

namespace pumice::icd {

/// WL_SHM_FORMAT_ARGB8888 and XRGB8888: the formats that every compositor has.
inline constexpr PixelForm kWaylandPixel{4, 0x00ff0000, 0x0000ff00, 0x000000ff, 0xff000000};

VkResult makeWaylandPresenter(const WaylandLibrary& library, wl_display* display, wl_surface* surface,
                              const PresenterInfo& info, std::unique_ptr<Presenter>* out);

}  // namespace pumice::icd
