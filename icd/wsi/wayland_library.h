// libwayland-client, opened when the first Wayland surface is made. Its header's own functions for requests would need
// to be linked with it: requests are sent by wl_proxy_marshal_flags (libwayland 1.20) and their opcodes instead.
#pragma once

#include <wayland-client-core.h>
#include <wayland-client-protocol.h>

namespace pumice::icd {

#define PUMICE_WAYLAND(F)              \
  F(wl_display_cancel_read)            \
  F(wl_display_create_queue)           \
  F(wl_display_dispatch_queue_pending) \
  F(wl_display_flush)                  \
  F(wl_display_get_error)              \
  F(wl_display_get_fd)                 \
  F(wl_display_prepare_read_queue)     \
  F(wl_display_read_events)            \
  F(wl_event_queue_destroy)            \
  F(wl_proxy_add_listener)             \
  F(wl_proxy_create_wrapper)           \
  F(wl_proxy_destroy)                  \
  F(wl_proxy_get_version)              \
  F(wl_proxy_marshal_flags)            \
  F(wl_proxy_set_queue)                \
  F(wl_proxy_wrapper_destroy)          \
  F(wl_buffer_interface)               \
  F(wl_callback_interface)             \
  F(wl_registry_interface)             \
  F(wl_shm_interface)                  \
  F(wl_shm_pool_interface)

/// Functions and interfaces under their own names.
struct WaylandLibrary {
#define PUMICE_DECLARE(name) decltype(&::name) name = nullptr;
  PUMICE_WAYLAND(PUMICE_DECLARE)
#undef PUMICE_DECLARE
};

/// nullptr when there is no such library, or an older one. Loads it at the first call; it stays.
const WaylandLibrary* waylandLibrary();

}  // namespace pumice::icd
