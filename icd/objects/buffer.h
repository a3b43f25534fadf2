// VkBuffer: a size, and after binding an address. Every usage has the same requirements; memory of the host has others.
#pragma once

#include <algorithm>

#include "icd/objects/object.h"

namespace pumice::icd {

class Device;
class DeviceMemory;

class Buffer : public Object<Buffer, VkBuffer, VK_OBJECT_TYPE_BUFFER> {
 public:
  explicit Buffer(Device&) {}

  VkResult init(const VkBufferCreateInfo& info, uint64_t heapSize_B);
  void bind(const DeviceMemory& memory, VkDeviceSize offset);

  uint64_t address() const { return address_; }  // 0 before binding
  uint64_t size_B() const { return size_B_; }
  uint64_t align_B() const { return align_B_; }  // of its place in memory
  /// Bytes from `offset`: `range`, or to the end for VK_WHOLE_SIZE (and for more than there are, which is not allowed).
  uint64_t rangeFrom(VkDeviceSize offset, VkDeviceSize range) const {
    return std::min(range, size_B_ - std::min(offset, size_B_));
  }

  static uint64_t alignment_B(const VkBufferCreateInfo& info);
  static void requirements(uint64_t size_B, uint64_t align_B, VkMemoryRequirements* out);

 private:
  uint64_t address_ = 0;
  uint64_t size_B_ = 0;
  uint64_t align_B_ = 0;
};

}  // namespace pumice::icd
