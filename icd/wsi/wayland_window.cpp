#include "icd/wsi/wayland_window.h"

#include "icd/wsi/wayland_library.h"
#include "icd/wsi/wayland_presenter.h"

namespace pumice::icd {
namespace {

class WaylandWindow : public NativeWindow {
 public:
  WaylandWindow(wl_display* display, wl_surface* surface) : display_(display), surface_(surface) {}

  bool canPresent() override { return canPresentToWayland(display_); }

  VkResult state(WindowState* out) override {
    if (!canPresent()) return VK_ERROR_SURFACE_LOST_KHR;
    out->formats = presentableFormats(kWaylandPixel);
    out->compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR | VK_COMPOSITE_ALPHA_PRE_MULTIPLIED_BIT_KHR;
    return VK_SUCCESS;
  }

  // Compositors show whole frames at their own pace: nothing is immediate.
  std::vector<VkPresentModeKHR> presentModes() const override {
    return {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR};
  }

  VkResult makePresenter(const PresenterInfo& info, std::unique_ptr<Presenter>* out) override {
    if (!canPresent()) return VK_ERROR_SURFACE_LOST_KHR;
    return makeWaylandPresenter(*waylandLibrary(), display_, surface_, info, out);
  }

 private:
  wl_display* const display_;
  wl_surface* const surface_;
};

}  // namespace

std::unique_ptr<NativeWindow> makeWaylandWindow(wl_display* display, wl_surface* surface) {
  return std::make_unique<WaylandWindow>(display, surface);
}

bool canPresentToWayland(wl_display* display) {
  const WaylandLibrary* library = waylandLibrary();
  return library != nullptr && display != nullptr && library->wl_display_get_error(display) == 0;
}

}  // namespace pumice::icd
