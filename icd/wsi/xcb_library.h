// libxcb and its extensions, opened when the first X surface is made: a machine without X needs none of them.
#pragma once

#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

#include "icd/wsi/platform_types.h"

namespace pumice::icd {

#define PUMICE_XCB_CORE(F)              \
  F(xcb_connection_has_error)           \
  F(xcb_copy_area_checked)              \
  F(xcb_create_gc_checked)              \
  F(xcb_create_pixmap_checked)          \
  F(xcb_discard_reply)                  \
  F(xcb_free_gc)                        \
  F(xcb_free_pixmap)                    \
  F(xcb_flush)                          \
  F(xcb_generate_id)                    \
  F(xcb_get_extension_data)             \
  F(xcb_get_file_descriptor)            \
  F(xcb_get_geometry)                   \
  F(xcb_get_geometry_reply)             \
  F(xcb_get_maximum_request_length)     \
  F(xcb_get_setup)                      \
  F(xcb_get_window_attributes)          \
  F(xcb_get_window_attributes_reply)    \
  F(xcb_poll_for_reply)                 \
  F(xcb_put_image_checked)              \
  F(xcb_request_check)                  \
  F(xcb_setup_pixmap_formats)           \
  F(xcb_setup_pixmap_formats_length)    \
  F(xcb_setup_roots_iterator)           \
  F(xcb_screen_next)                    \
  F(xcb_screen_allowed_depths_iterator) \
  F(xcb_depth_next)                     \
  F(xcb_depth_visuals)                  \
  F(xcb_depth_visuals_length)           \
  F(xcb_translate_coordinates)          \
  F(xcb_translate_coordinates_reply)

#define PUMICE_XCB_SHM(F)      \
  F(xcb_shm_id)                \
  F(xcb_shm_attach_fd_checked) \
  F(xcb_shm_detach)            \
  F(xcb_shm_put_image_checked) \
  F(xcb_shm_query_version)     \
  F(xcb_shm_query_version_reply)

#define PUMICE_XCB_RANDR(F)                              \
  F(xcb_randr_id)                                        \
  F(xcb_randr_get_crtc_info)                             \
  F(xcb_randr_get_crtc_info_reply)                       \
  F(xcb_randr_get_screen_resources_current)              \
  F(xcb_randr_get_screen_resources_current_reply)        \
  F(xcb_randr_get_screen_resources_current_crtcs)        \
  F(xcb_randr_get_screen_resources_current_crtcs_length) \
  F(xcb_randr_get_screen_resources_current_modes)        \
  F(xcb_randr_get_screen_resources_current_modes_length)

/// The functions under their own names. Pointers of an extension are null when its library is not there.
struct XcbLibrary {
#define PUMICE_DECLARE(name) decltype(&::name) name = nullptr;
  PUMICE_XCB_CORE(PUMICE_DECLARE)
  PUMICE_XCB_SHM(PUMICE_DECLARE)
  PUMICE_XCB_RANDR(PUMICE_DECLARE)
#undef PUMICE_DECLARE

  bool hasShm() const {
    return xcb_shm_query_version_reply != nullptr;
  }
  bool hasRandr() const {
    return xcb_randr_get_screen_resources_current_modes_length != nullptr;
  }
};

/// nullptr when there is no libxcb. Loads it at the first call; it stays.
const XcbLibrary* xcbLibrary();

/// The connection under an Xlib display; nullptr when there is no libX11-xcb.
xcb_connection_t* xcbConnectionOf(Display* display);

}  // namespace pumice::icd
