// A Vulkan driver with no device: the floor of what the loader itself costs. compare.py times it beside real drivers.
#include <vulkan/vk_icd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace {

struct Instance {
  VK_LOADER_DATA loaderData;
};

VKAPI_ATTR VkResult VKAPI_CALL createInstance(const VkInstanceCreateInfo*, const VkAllocationCallbacks*,
                                              VkInstance* out) {
  auto* instance = new (std::nothrow) Instance;
  if (!instance) return VK_ERROR_OUT_OF_HOST_MEMORY;
  set_loader_magic_value(instance);
  *out = reinterpret_cast<VkInstance>(instance);
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroyInstance(VkInstance instance, const VkAllocationCallbacks*) {
  delete reinterpret_cast<Instance*>(instance);
}

VKAPI_ATTR VkResult VKAPI_CALL enumerateInstanceExtensionProperties(const char*, uint32_t* count,
                                                                    VkExtensionProperties*) {
  *count = 0;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL enumeratePhysicalDevices(VkInstance, uint32_t* count, VkPhysicalDevice*) {
  *count = 0;
  return VK_SUCCESS;
}

// The loader insists on these being there. Nobody can call them, for there is no device.
VKAPI_ATTR VkResult VKAPI_CALL needsDevice() {
  return VK_ERROR_INITIALIZATION_FAILED;
}

template <typename Function>
PFN_vkVoidFunction erase(Function* function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

PFN_vkVoidFunction find(const char* name) {
  constexpr const char* kDeviceQueries[] = {
      "vkCreateDevice",
      "vkEnumerateDeviceExtensionProperties",
      "vkGetDeviceProcAddr",
      "vkGetPhysicalDeviceFeatures",
      "vkGetPhysicalDeviceFormatProperties",
      "vkGetPhysicalDeviceImageFormatProperties",
      "vkGetPhysicalDeviceMemoryProperties",
      "vkGetPhysicalDeviceProperties",
      "vkGetPhysicalDeviceQueueFamilyProperties",
      "vkGetPhysicalDeviceSparseImageFormatProperties",
  };
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("vkCreateInstance")) return erase(createInstance);
  if (is("vkDestroyInstance")) return erase(destroyInstance);
  if (is("vkEnumerateInstanceExtensionProperties")) return erase(enumerateInstanceExtensionProperties);
  if (is("vkEnumeratePhysicalDevices")) return erase(enumeratePhysicalDevices);
  if (std::ranges::any_of(kDeviceQueries, is)) return erase(needsDevice);
  return nullptr;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetInstanceProcAddr(VkInstance, const char* name) {
  return find(name);
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* version) {
  *version = std::min(*version, 5u);
  return VK_SUCCESS;
}
}
