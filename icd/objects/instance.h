// VkInstance. Owns the one physical device and the debug messengers. Creating one starts nothing and reserves nothing.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "icd/entry/extension_set.h"
#include "icd/objects/object.h"
#include "icd/objects/physical_device.h"
#include "icd/objects/workarounds.h"

namespace pumice::icd {

class DebugMessenger;

/// The roots of object creation have no owner.
struct NoOwner {};

class Instance : public Object<Instance, VkInstance, VK_OBJECT_TYPE_INSTANCE> {
 public:
  explicit Instance(NoOwner&);
  ~Instance();

  VkResult init(const VkInstanceCreateInfo& info);

  uint32_t apiVersion() const { return apiVersion_; }  // the application's wish, at least 1.0
  const InstanceExtensionSet& enabledExtensions() const { return enabled_; }
  PhysicalDevice& physicalDevice() { return physicalDevice_; }
  const Workarounds& workarounds() const { return workarounds_; }

  void addMessenger(const DebugMessenger* messenger);
  void removeMessenger(const DebugMessenger* messenger);
  void deliverMessage(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
                      const VkDebugUtilsMessengerCallbackDataEXT& data);

 private:
  uint32_t apiVersion_ = VK_API_VERSION_1_0;
  InstanceExtensionSet enabled_;
  Workarounds workarounds_;
  PhysicalDevice physicalDevice_;
  std::mutex messengerLock_;
  std::vector<const DebugMessenger*> messengers_;
};

/// vkGetInstanceProcAddr and the loader's variant for physical-device functions.
PFN_vkVoidFunction instanceProcAddr(VkInstance instance, const char* name);
PFN_vkVoidFunction physicalDeviceProcAddr(VkInstance instance, const char* name);

}  // namespace pumice::icd
