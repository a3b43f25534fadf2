#include "icd/wsi/surface.h"

#include "gen/entrypoints.h"
#include "icd/objects/instance.h"
#include "icd/wsi/wayland_window.h"
#include "icd/wsi/xcb_library.h"
#include "icd/wsi/xcb_window.h"

namespace pumice::icd {

VKAPI_ATTR VkResult VKAPI_CALL vkCreateHeadlessSurfaceEXT(VkInstance instance, const VkHeadlessSurfaceCreateInfoEXT*,
                                                          const VkAllocationCallbacks* pAllocator,
                                                          VkSurfaceKHR* pSurface) {
  return Surface::create(pAllocator, pSurface, *Instance::from(instance), makeHeadlessWindow());
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateXcbSurfaceKHR(VkInstance instance, const VkXcbSurfaceCreateInfoKHR* pCreateInfo,
                                                     const VkAllocationCallbacks* pAllocator, VkSurfaceKHR* pSurface) {
  return Surface::create(pAllocator, pSurface, *Instance::from(instance),
                         makeXcbWindow(pCreateInfo->connection, pCreateInfo->window));
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateXlibSurfaceKHR(VkInstance instance,
                                                      const VkXlibSurfaceCreateInfoKHR* pCreateInfo,
                                                      const VkAllocationCallbacks* pAllocator, VkSurfaceKHR* pSurface) {
  return Surface::create(pAllocator, pSurface, *Instance::from(instance),
                         makeXcbWindow(xcbConnectionOf(pCreateInfo->dpy), static_cast<uint32_t>(pCreateInfo->window)));
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateWaylandSurfaceKHR(VkInstance instance,
                                                         const VkWaylandSurfaceCreateInfoKHR* pCreateInfo,
                                                         const VkAllocationCallbacks* pAllocator,
                                                         VkSurfaceKHR* pSurface) {
  return Surface::create(pAllocator, pSurface, *Instance::from(instance),
                         makeWaylandWindow(pCreateInfo->display, pCreateInfo->surface));
}

VKAPI_ATTR void VKAPI_CALL vkDestroySurfaceKHR(VkInstance, VkSurfaceKHR surface,
                                               const VkAllocationCallbacks* pAllocator) {
  Surface::destroy(surface, pAllocator);
}

VKAPI_ATTR VkBool32 VKAPI_CALL vkGetPhysicalDeviceWaylandPresentationSupportKHR(VkPhysicalDevice, uint32_t,
                                                                                wl_display* display) {
  return canPresentToWayland(display) ? VK_TRUE : VK_FALSE;
}

VKAPI_ATTR VkBool32 VKAPI_CALL vkGetPhysicalDeviceXcbPresentationSupportKHR(VkPhysicalDevice, uint32_t,
                                                                            xcb_connection_t* connection,
                                                                            xcb_visualid_t visual_id) {
  return canPresentToVisual(connection, visual_id) ? VK_TRUE : VK_FALSE;
}

VKAPI_ATTR VkBool32 VKAPI_CALL vkGetPhysicalDeviceXlibPresentationSupportKHR(VkPhysicalDevice, uint32_t, Display* dpy,
                                                                             VisualID visualID) {
  return canPresentToVisual(xcbConnectionOf(dpy), static_cast<uint32_t>(visualID)) ? VK_TRUE : VK_FALSE;
}

}  // namespace pumice::icd
