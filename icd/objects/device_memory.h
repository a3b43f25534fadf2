// VkDeviceMemory: one allocation behind the door, made, or imported from another's. GPU address == host pointer, so
// mapping is free.
#pragma once

#include "backend/kmd/door.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

class DeviceMemory : public Object<DeviceMemory, VkDeviceMemory, VK_OBJECT_TYPE_DEVICE_MEMORY> {
 public:
  explicit DeviceMemory(Device& device) : device_(device) {}
  ~DeviceMemory();

  VkResult init(const VkMemoryAllocateInfo& info);

  uint64_t address() const { return kmd::allocationAddress(allocation_); }
  uint64_t committed_B() const { return kmd::allocationCommitted(allocation_); }
  uint64_t size_B() const { return size_B_; }
  int file() const;  // of exported or imported memory, else -1
  uint32_t typeIndex() const { return typeIndex_; }

 private:
  VkResult allocate(const VkMemoryAllocateInfo& info);

  Device& device_;
  kmd::Allocation* allocation_ = nullptr;
  uint64_t size_B_ = 0;  // as asked for
  uint32_t typeIndex_ = 0;
};

}  // namespace pumice::icd
