// What can be presented to a surface: vkGetPhysicalDeviceSurface*. Every queue family can present, as all that a
// present does on a queue is to wait.
#include <algorithm>

#include "gen/entrypoints.h"
#include "icd/objects/array_out.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/pnext.h"
#include "icd/wsi/surface.h"
#include "icd/wsi/swapchain.h"

namespace pumice::icd {
namespace {

VkResult surfaceCapabilities(VkSurfaceKHR surface, VkSurfaceCapabilitiesKHR* out) {
  WindowState state;
  if (const VkResult result = Surface::from(surface)->window().state(&state); result != VK_SUCCESS) return result;
  *out = {};
  // Images are free again as soon as they are shown: one is shown while another is drawn.
  out->minImageCount = 2;
  out->maxImageCount = 0;  // no limit but memory
  out->currentExtent = state.extent;
  const bool free = state.extent.width == kExtentOfSwapchain.width;
  out->minImageExtent = free ? VkExtent2D{1, 1} : state.extent;
  out->maxImageExtent = free ? VkExtent2D{kMaxImageDimension, kMaxImageDimension} : state.extent;
  out->maxImageArrayLayers = 1;
  out->supportedTransforms = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR;
  out->currentTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR;
  out->supportedCompositeAlpha = state.compositeAlpha;
  for (VkFormat format : state.formats) out->supportedUsageFlags |= presentableUsage(format);
  return VK_SUCCESS;
}

template <typename Out, typename Fill>
VkResult surfaceFormats(VkSurfaceKHR surface, uint32_t* count, Out* array, Fill&& fill) {
  WindowState state;
  if (const VkResult result = Surface::from(surface)->window().state(&state); result != VK_SUCCESS) return result;
  ArrayOut<Out> out(count, array);
  for (VkFormat format : state.formats) {
    if (presentableUsage(format) == 0) continue;
    out.append([&](Out* p) { fill(p, VkSurfaceFormatKHR{format, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR}); });
  }
  return out.result();
}

}  // namespace

VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceSurfaceSupportKHR(VkPhysicalDevice, uint32_t, VkSurfaceKHR surface,
                                                                    VkBool32* pSupported) {
  *pSupported = Surface::from(surface)->window().canPresent() ? VK_TRUE : VK_FALSE;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceSurfaceCapabilitiesKHR(VkPhysicalDevice, VkSurfaceKHR surface,
                                                                         VkSurfaceCapabilitiesKHR* pCapabilities) {
  return surfaceCapabilities(surface, pCapabilities);
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceSurfaceCapabilities2KHR(VkPhysicalDevice,
                                                                          const VkPhysicalDeviceSurfaceInfo2KHR* pInfo,
                                                                          VkSurfaceCapabilities2KHR* pCapabilities) {
  return surfaceCapabilities(pInfo->surface, &pCapabilities->surfaceCapabilities);
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceSurfaceFormatsKHR(VkPhysicalDevice, VkSurfaceKHR surface,
                                                                    uint32_t* pSurfaceFormatCount,
                                                                    VkSurfaceFormatKHR* pSurfaceFormats) {
  return surfaceFormats(surface, pSurfaceFormatCount, pSurfaceFormats,
                        [](VkSurfaceFormatKHR* p, const VkSurfaceFormatKHR& format) { *p = format; });
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceSurfaceFormats2KHR(VkPhysicalDevice,
                                                                     const VkPhysicalDeviceSurfaceInfo2KHR* pInfo,
                                                                     uint32_t* pSurfaceFormatCount,
                                                                     VkSurfaceFormat2KHR* pSurfaceFormats) {
  return surfaceFormats(pInfo->surface, pSurfaceFormatCount, pSurfaceFormats,
                        [](VkSurfaceFormat2KHR* p, const VkSurfaceFormatKHR& format) { p->surfaceFormat = format; });
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceSurfacePresentModesKHR(VkPhysicalDevice, VkSurfaceKHR surface,
                                                                         uint32_t* pPresentModeCount,
                                                                         VkPresentModeKHR* pPresentModes) {
  ArrayOut<VkPresentModeKHR> out(pPresentModeCount, pPresentModes);
  for (VkPresentModeKHR mode : Surface::from(surface)->window().presentModes()) {
    out.append([&](VkPresentModeKHR* p) { *p = mode; });
  }
  return out.result();
}

// ---- Device groups, which have one member

VKAPI_ATTR VkResult VKAPI_CALL
vkGetDeviceGroupPresentCapabilitiesKHR(VkDevice, VkDeviceGroupPresentCapabilitiesKHR* pCapabilities) {
  std::fill_n(pCapabilities->presentMask, VK_MAX_DEVICE_GROUP_SIZE, 0u);
  pCapabilities->presentMask[0] = 1;
  pCapabilities->modes = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetDeviceGroupSurfacePresentModesKHR(VkDevice, VkSurfaceKHR,
                                                                      VkDeviceGroupPresentModeFlagsKHR* pModes) {
  *pModes = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDevicePresentRectanglesKHR(VkPhysicalDevice, VkSurfaceKHR surface,
                                                                       uint32_t* pRectCount, VkRect2D* pRects) {
  WindowState state;
  if (const VkResult result = Surface::from(surface)->window().state(&state); result != VK_SUCCESS) return result;
  ArrayOut<VkRect2D> out(pRectCount, pRects);
  out.append([&](VkRect2D* p) { *p = {{0, 0}, state.extent}; });
  return out.result();
}

}  // namespace pumice::icd
