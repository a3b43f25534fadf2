// The three symbols that the library exports.
#include <vulkan/vk_icd.h>

#include <algorithm>
#include <cstring>

#include "gen/entrypoints.h"
#include "icd/entry/entry_table.h"
#include "icd/objects/instance.h"

#define PUMICE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Version 5: the loader hands instances of any apiVersion to the driver. Later ones add nothing that is needed here.
constexpr uint32_t kLoaderInterfaceVersion = 5;

}  // namespace

PUMICE_EXPORT VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* pVersion) {
  // Below 2 there is no negotiation and surfaces are laid out otherwise; no such loader is in use.
  if (*pVersion < 2) return VK_ERROR_INCOMPATIBLE_DRIVER;
  *pVersion = std::min(*pVersion, kLoaderInterfaceVersion);
  return VK_SUCCESS;
}

PUMICE_EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance, const char* pName) {
  return pumice::icd::instanceProcAddr(instance, pName);
}

PUMICE_EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char* pName) {
  return pumice::icd::physicalDeviceProcAddr(instance, pName);
}
