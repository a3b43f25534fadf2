// VkPhysicalDevice: the one device there is. Answers every query from capabilities.h; a member of its instance.
#pragma once

#include "icd/objects/object.h"

namespace pumice::icd {

class Instance;

class PhysicalDevice : public Object<PhysicalDevice, VkPhysicalDevice, VK_OBJECT_TYPE_PHYSICAL_DEVICE> {
 public:
  explicit PhysicalDevice(Instance& instance) : instance_(instance) {}

  Instance& instance() { return instance_; }

 private:
  Instance& instance_;
};

}  // namespace pumice::icd
