// Windows of Xlib programs. Xlib itself is opened by hand: its header defines words like None, Status and Success.
//
// covers: VK_KHR_xlib_surface, vkCreateXlibSurfaceKHR, vkGetPhysicalDeviceXlibPresentationSupportKHR
#include <dlfcn.h>
#include <vulkan/vulkan.h>

struct _XDisplay;
using Display = _XDisplay;
using Window = unsigned long;
using VisualID = unsigned long;
// Needs the types above.
#include <vulkan/vulkan_xlib.h>

#include "cts-subset/support/window_test.h"
#include "cts-subset/support/x_server.h"

namespace pumice::cts {
namespace {

class XlibWindowTest : public WindowTest {};

TEST_F(XlibWindowTest, ShowsFrames) {
  XServer server;
  XClient client(server.display());
  const xcb_window_t window = client.makeWindow(64, 48);
  void* xlib = dlopen("libX11.so.6", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(xlib, nullptr);
  const auto open = reinterpret_cast<Display* (*)(const char*)>(dlsym(xlib, "XOpenDisplay"));
  const auto close = reinterpret_cast<int (*)(Display*)>(dlsym(xlib, "XCloseDisplay"));
  ASSERT_TRUE(open != nullptr && close != nullptr);
  Display* display = open(server.display().c_str());
  ASSERT_NE(display, nullptr);
  createWindowDevice();
  INSTANCE_FN(vkGetPhysicalDeviceXlibPresentationSupportKHR);
  EXPECT_TRUE(vkGetPhysicalDeviceXlibPresentationSupportKHR(physicalDevice(), 0, display, client.visual()));
  EXPECT_FALSE(vkGetPhysicalDeviceXlibPresentationSupportKHR(physicalDevice(), 0, display, 0x7fffffff));
  INSTANCE_FN(vkCreateXlibSurfaceKHR);
  VkXlibSurfaceCreateInfoKHR info{VK_STRUCTURE_TYPE_XLIB_SURFACE_CREATE_INFO_KHR};
  info.dpy = display;
  info.window = window;
  VkSurfaceKHR surface = VK_NULL_HANDLE;
  VK_OK(vkCreateXlibSurfaceKHR(instance(), &info, nullptr, &surface));
  Chain chain;
  VK_OK(makeChain(surface, {}, &chain));
  EXPECT_EQ(chain.extent.width, 64u);
  VK_OK(presentColor(chain, {1, 0, 51.0f / 255, 1}));
  VK_OK(awaitShown(chain));
  EXPECT_TRUE(client.screenshot(window).isAll(0xff0033, 0xffffff));
  destroyChain(chain);
  vkDestroySurfaceKHR(instance(), surface, nullptr);
  destroyAll();
  close(display);
  dlclose(xlib);
}

}  // namespace
}  // namespace pumice::cts
