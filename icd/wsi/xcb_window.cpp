#include "icd/wsi/xcb_window.h"

#include <bit>
#include <cstdlib>

#include "backend/trace/log.h"
#include "icd/wsi/xcb_library.h"
#include "icd/wsi/xcb_presenter.h"

namespace pumice::icd {
namespace {

// What the server keeps of a pixel of this depth, or 0.
uint32_t bytesPerPixel(const XcbLibrary& x, const xcb_setup_t* setup, uint8_t depth) {
  const xcb_format_t* formats = x.xcb_setup_pixmap_formats(setup);
  for (int i = 0; i < x.xcb_setup_pixmap_formats_length(setup); ++i) {
    if (formats[i].depth == depth) return formats[i].bits_per_pixel / 8u;
  }
  return 0;
}

bool isContiguous(uint32_t mask) {
  return mask != 0 && std::has_single_bit((mask >> std::countr_zero(mask)) + 1u);
}

XcbVisual describe(const XcbLibrary& x, const xcb_setup_t* setup, uint8_t depth, const xcb_visualtype_t& visual) {
  XcbVisual out;
  const bool nativeOrder =
      (setup->image_byte_order == XCB_IMAGE_ORDER_LSB_FIRST) == (std::endian::native == std::endian::little);
  const uint32_t bytes = bytesPerPixel(x, setup, depth);
  if (!nativeOrder || visual._class != XCB_VISUAL_CLASS_TRUE_COLOR || (bytes != 2 && bytes != 4) ||
      !isContiguous(visual.red_mask) || !isContiguous(visual.green_mask) || !isContiguous(visual.blue_mask)) {
    return out;
  }
  out.depth = depth;
  out.form = {bytes, visual.red_mask, visual.green_mask, visual.blue_mask, 0};
  const uint32_t used = depth == 32 ? ~0u : (1u << depth) - 1;
  const uint32_t rest = used & ~(visual.red_mask | visual.green_mask | visual.blue_mask);
  if (isContiguous(rest)) out.form.alpha = rest;
  return out;
}

XcbVisual findVisual(const XcbLibrary& x, xcb_connection_t* connection, uint32_t id) {
  const xcb_setup_t* setup = x.xcb_get_setup(connection);
  if (setup == nullptr) return {};
  for (auto screens = x.xcb_setup_roots_iterator(setup); screens.rem != 0; x.xcb_screen_next(&screens)) {
    for (auto depths = x.xcb_screen_allowed_depths_iterator(screens.data); depths.rem != 0; x.xcb_depth_next(&depths)) {
      const xcb_visualtype_t* visuals = x.xcb_depth_visuals(depths.data);
      for (int i = 0; i < x.xcb_depth_visuals_length(depths.data); ++i) {
        if (visuals[i].visual_id == id) return describe(x, setup, depths.data->depth, visuals[i]);
      }
    }
  }
  return {};
}

class XcbWindow : public NativeWindow {
 public:
  XcbWindow(const XcbLibrary* x, xcb_connection_t* connection, xcb_window_t window)
      : x_(x), connection_(connection), window_(window) {}

  bool canPresent() override {
    XcbVisual visual;
    VkExtent2D extent;
    return look(&visual, &extent) == VK_SUCCESS && visual.form.bytes != 0;
  }

  VkResult state(WindowState* out) override {
    XcbVisual visual;
    if (const VkResult result = look(&visual, &out->extent); result != VK_SUCCESS) return result;
    if (visual.form.bytes == 0) return VK_ERROR_SURFACE_LOST_KHR;
    out->formats = presentableFormats(visual.form);
    out->compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR | VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;
    // Compositing managers take the colours of windows with alpha as multiplied already.
    if (visual.form.alpha != 0) out->compositeAlpha |= VK_COMPOSITE_ALPHA_PRE_MULTIPLIED_BIT_KHR;
    return VK_SUCCESS;
  }

  std::vector<VkPresentModeKHR> presentModes() const override {
    return {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_FIFO_RELAXED_KHR, VK_PRESENT_MODE_MAILBOX_KHR,
            VK_PRESENT_MODE_IMMEDIATE_KHR};
  }

  VkResult makePresenter(const PresenterInfo& info, std::unique_ptr<Presenter>* out) override {
    XcbVisual visual;
    VkExtent2D extent;
    if (const VkResult result = look(&visual, &extent); result != VK_SUCCESS) return result;
    if (visual.form.bytes == 0) return VK_ERROR_SURFACE_LOST_KHR;
    return makeXcbPresenter(*x_, connection_, window_, visual, info.extent, out);
  }

 private:
  VkResult look(XcbVisual* visual, VkExtent2D* extent) const {
    if (x_ == nullptr || connection_ == nullptr || x_->xcb_connection_has_error(connection_) != 0) {
      return VK_ERROR_SURFACE_LOST_KHR;
    }
    // Both are asked before either is waited for; without an error pointer errors would go to the application.
    const auto attributesCookie = x_->xcb_get_window_attributes(connection_, window_);
    const auto geometryCookie = x_->xcb_get_geometry(connection_, window_);
    xcb_generic_error_t *error1 = nullptr, *error2 = nullptr;
    auto* attributes = x_->xcb_get_window_attributes_reply(connection_, attributesCookie, &error1);
    auto* geometry = x_->xcb_get_geometry_reply(connection_, geometryCookie, &error2);
    const bool found = attributes != nullptr && geometry != nullptr;
    if (found) {
      *visual = findVisual(*x_, connection_, attributes->visual);
      *extent = {geometry->width, geometry->height};
    }
    for (void* reply : {static_cast<void*>(attributes), static_cast<void*>(geometry), static_cast<void*>(error1),
                        static_cast<void*>(error2)}) {
      std::free(reply);
    }
    return found ? VK_SUCCESS : VK_ERROR_SURFACE_LOST_KHR;
  }

  const XcbLibrary* const x_;
  xcb_connection_t* const connection_;
  const xcb_window_t window_;
};

}  // namespace

std::unique_ptr<NativeWindow> makeXcbWindow(xcb_connection_t* connection, uint32_t window) {
  return std::make_unique<XcbWindow>(xcbLibrary(), connection, window);
}

bool canPresentToVisual(xcb_connection_t* connection, uint32_t visual) {
  const XcbLibrary* x = xcbLibrary();
  return x != nullptr && connection != nullptr && findVisual(*x, connection, visual).form.bytes != 0;
}

}  // namespace pumice::icd
