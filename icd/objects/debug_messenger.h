// VK_EXT_debug_utils messengers: the application's callbacks, called for what the driver itself has to say.
#pragma once

#include "icd/objects/object.h"

namespace pumice::icd {

class Instance;

class DebugMessenger
    : public Object<DebugMessenger, VkDebugUtilsMessengerEXT, VK_OBJECT_TYPE_DEBUG_UTILS_MESSENGER_EXT> {
 public:
  explicit DebugMessenger(Instance& instance) : instance_(instance) {}
  ~DebugMessenger();

  VkResult init(const VkDebugUtilsMessengerCreateInfoEXT& info);

  void deliver(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
               const VkDebugUtilsMessengerCallbackDataEXT& data) const;

 private:
  Instance& instance_;
  VkDebugUtilsMessengerCreateInfoEXT info_{};
};

}  // namespace pumice::icd
