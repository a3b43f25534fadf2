// VkDevice. Owns the machine behind the door (kmd::Device: address space, workers, timelines) and its queues.
#pragma once

#include <memory>
#include <vector>

#include "backend/kmd/door.h"
#include "gen/device_info.h"
#include "icd/entry/extension_set.h"
#include "icd/objects/object.h"
#include "icd/objects/physical_device.h"
#include "icd/objects/queue.h"
#include "shaders/cache/disk_cache.h"

namespace pumice::icd {

class Device : public Object<Device, VkDevice, VK_OBJECT_TYPE_DEVICE> {
 public:
  explicit Device(PhysicalDevice& physicalDevice) : physicalDevice_(physicalDevice) {}
  ~Device();

  VkResult init(const VkDeviceCreateInfo& info);

  PhysicalDevice& physicalDevice() { return physicalDevice_; }
  kmd::Device& gpu() { return *gpu_; }
  const Features& features() const { return features_; }
  const DeviceExtensionSet& enabledExtensions() const { return enabled_; }
  uint32_t apiVersion() const { return apiVersion_; }  // min(the application's wish, the device's)

  /// nullptr: nothing is kept on disk. Outlives the device where code is still being made or written.
  const std::shared_ptr<shader::cache::DiskCache>& diskCache() const { return diskCache_; }

  /// nullptr when the device was created without it.
  Queue* queue(uint32_t family, uint32_t index);
  /// All queues, in order of creation.
  const std::vector<std::unique_ptr<Queue>>& queues() const { return queues_; }

 private:
  VkResult enableExtensions(const VkDeviceCreateInfo& info);
  VkResult enableFeatures(const VkDeviceCreateInfo& info);
  VkResult createQueues(const VkDeviceCreateInfo& info);

  PhysicalDevice& physicalDevice_;
  Features features_;
  DeviceExtensionSet enabled_;
  uint32_t apiVersion_ = VK_API_VERSION_1_0;
  std::unique_ptr<kmd::Device> gpu_;
  std::shared_ptr<shader::cache::DiskCache> diskCache_;
  std::vector<std::unique_ptr<Queue>> queues_;
};

}  // namespace pumice::icd
