// Vulkan's declarations with those of the window systems. Their own headers are not needed for them (and Xlib.h is not
// wanted: it defines macros like Status, Success and None); the types below are the same as there.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

struct wl_display;
struct wl_surface;
struct xcb_connection_t;
struct _XDisplay;

typedef uint32_t xcb_window_t;
typedef uint32_t xcb_visualid_t;
typedef struct _XDisplay Display;
typedef unsigned long Window;
typedef unsigned long VisualID;

#include <vulkan/vulkan_wayland.h>
#include <vulkan/vulkan_xcb.h>
#include <vulkan/vulkan_xlib.h>
