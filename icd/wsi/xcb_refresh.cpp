#include "icd/wsi/xcb_refresh.h"

#include <cstdlib>
#include <memory>

namespace pumice::icd {
namespace {

constexpr uint64_t kDefaultPeriod_ns = 1'000'000'000 / 60;

struct Free {
  void operator()(void* reply) const { std::free(reply); }
};
template <typename Reply>
using Owned = std::unique_ptr<Reply, Free>;

// Waits for a reply; an error is dropped rather than left to the application.
template <typename Reply, typename Cookie>
Owned<Reply> reply(Reply* (*wait)(xcb_connection_t*, Cookie, xcb_generic_error_t**), xcb_connection_t* connection,
                   Cookie cookie) {
  xcb_generic_error_t* error = nullptr;
  Owned<Reply> out(wait(connection, cookie, &error));
  std::free(error);
  return out;
}

// 0 when the mode has no timing, as those of servers without a display.
uint64_t period_ns(const xcb_randr_mode_info_t& mode) {
  uint64_t lines = mode.vtotal;
  if ((mode.mode_flags & XCB_RANDR_MODE_FLAG_DOUBLE_SCAN) != 0) lines *= 2;
  const uint64_t pixels = mode.htotal * lines;
  if (pixels == 0 || mode.dot_clock == 0) return 0;
  uint64_t period = pixels * 1'000'000'000 / mode.dot_clock;
  if ((mode.mode_flags & XCB_RANDR_MODE_FLAG_INTERLACE) != 0) period /= 2;
  // Anything else than 10 to 1000 Hz is no display.
  return period >= 1'000'000 && period <= 100'000'000 ? period : 0;
}

}  // namespace

uint64_t displayPeriod_ns(const XcbLibrary& x, xcb_connection_t* connection, xcb_window_t window) {
  if (!x.hasRandr()) return kDefaultPeriod_ns;
  const xcb_query_extension_reply_t* extension = x.xcb_get_extension_data(connection, x.xcb_randr_id);
  if (extension == nullptr || extension->present == 0) return kDefaultPeriod_ns;
  const auto geometry = reply(x.xcb_get_geometry_reply, connection, x.xcb_get_geometry(connection, window));
  if (geometry == nullptr) return kDefaultPeriod_ns;
  const auto place =
      reply(x.xcb_translate_coordinates_reply, connection,
            x.xcb_translate_coordinates(connection, window, geometry->root, static_cast<int16_t>(geometry->width / 2),
                                        static_cast<int16_t>(geometry->height / 2)));
  const auto resources = reply(x.xcb_randr_get_screen_resources_current_reply, connection,
                               x.xcb_randr_get_screen_resources_current(connection, window));
  if (place == nullptr || resources == nullptr) return kDefaultPeriod_ns;

  const xcb_randr_crtc_t* crtcs = x.xcb_randr_get_screen_resources_current_crtcs(resources.get());
  const xcb_randr_mode_info_t* modes = x.xcb_randr_get_screen_resources_current_modes(resources.get());
  const int modeCount = x.xcb_randr_get_screen_resources_current_modes_length(resources.get());
  uint64_t first = 0;
  for (int i = 0; i < x.xcb_randr_get_screen_resources_current_crtcs_length(resources.get()); ++i) {
    const auto crtc = reply(x.xcb_randr_get_crtc_info_reply, connection,
                            x.xcb_randr_get_crtc_info(connection, crtcs[i], resources->config_timestamp));
    if (crtc == nullptr || crtc->mode == XCB_NONE) continue;
    uint64_t period = 0;
    for (int m = 0; m < modeCount; ++m) {
      if (modes[m].id == crtc->mode) period = period_ns(modes[m]);
    }
    if (period == 0) continue;
    const bool here = place->dst_x >= crtc->x && place->dst_x < crtc->x + crtc->width && place->dst_y >= crtc->y &&
                      place->dst_y < crtc->y + crtc->height;
    if (here) return period;
    if (first == 0) first = period;
  }
  return first != 0 ? first : kDefaultPeriod_ns;
}

}  // namespace pumice::icd
