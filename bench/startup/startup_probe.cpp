// Creates an instance, enumerates the devices and destroys the instance, once; prints the microseconds this took
// and the number of devices. A process of its own each time, so that opening the driver's library counts.
// Exit code 1 on any error.
#include <vulkan/vulkan.h>

#include <chrono>
#include <cstdio>
#include <vector>

int main() {
  const auto start = std::chrono::steady_clock::now();
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  VkInstance instance = VK_NULL_HANDLE;
  if (vkCreateInstance(&info, nullptr, &instance) != VK_SUCCESS) return 1;
  uint32_t count = 0;
  const VkResult counted = vkEnumeratePhysicalDevices(instance, &count, nullptr);
  if (counted == VK_ERROR_INITIALIZATION_FAILED) {
    count = 0;  // how the loader reports that no driver has a device
  } else if (counted != VK_SUCCESS) {
    return 1;
  }
  std::vector<VkPhysicalDevice> devices(count);
  if (count && vkEnumeratePhysicalDevices(instance, &count, devices.data()) != VK_SUCCESS) return 1;
  vkDestroyInstance(instance, nullptr);
  const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("%.1f %u\n", elapsed.count(), count);
  return 0;
}
