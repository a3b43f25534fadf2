// VkPhysicalDevice: the one device there is. Answers every query from capabilities.h; a member of its instance.
#pragma once

#include <mutex>
#include <vector>

#include "icd/objects/object.h"

namespace pumice::icd {

class Device;
class Instance;

class PhysicalDevice : public Object<PhysicalDevice, VkPhysicalDevice, VK_OBJECT_TYPE_PHYSICAL_DEVICE> {
 public:
  explicit PhysicalDevice(Instance& instance);

  Instance& instance() { return instance_; }
  /// Read once from the environment, when the instance is made.
  uint32_t apiVersion() const { return apiVersion_; }

  /// The same for all its devices.
  uint64_t heapSize_B() const { return heapSize_B_; }

  /// Open devices, for the memory budget. Thread safe.
  void addDevice(Device* device);
  void removeDevice(Device* device);
  /// What all open devices use, and what may be used in all, of the one heap.
  void heapBudget(VkDeviceSize* usage_B, VkDeviceSize* budget_B);

 private:
  Instance& instance_;
  const uint32_t apiVersion_;
  const uint64_t heapSize_B_;
  std::mutex devicesLock_;
  std::vector<Device*> devices_;
};

}  // namespace pumice::icd
