// VkDescriptorPool and VkDescriptorSet. The pool owns one block of GPU memory and the host objects of its sets; a set
// is a range of that block that compiled code reads directly. Externally synchronised, as the specification says.
#pragma once

#include <vector>

#include "backend/kmd/door.h"
#include "icd/objects/object.h"
#include "icd/objects/range_allocator.h"

namespace pumice::icd {

class DescriptorSetShape;
class Device;

class DescriptorSet : public Object<DescriptorSet, VkDescriptorSet, VK_OBJECT_TYPE_DESCRIPTOR_SET> {
 public:
  DescriptorSet(const DescriptorSetShape& shape, uint64_t address, uint64_t offset_B, uint64_t size_B)
      : shape_(shape), address_(address), offset_B_(offset_B), size_B_(size_B) {}

  const DescriptorSetShape& shape() const { return shape_; }
  uint64_t address() const { return address_; }
  std::byte* memory() { return reinterpret_cast<std::byte*>(address_); }
  uint64_t offset_B() const { return offset_B_; }
  uint64_t size_B() const { return size_B_; }

 private:
  const DescriptorSetShape& shape_;  // only used by updates, for which it has to live
  uint64_t address_;
  uint64_t offset_B_;
  uint64_t size_B_;
};

class DescriptorPool : public Object<DescriptorPool, VkDescriptorPool, VK_OBJECT_TYPE_DESCRIPTOR_POOL> {
 public:
  explicit DescriptorPool(Device& device) : device_(device) {}
  ~DescriptorPool();

  VkResult init(const VkDescriptorPoolCreateInfo& info);

  /// Gets the memory that allocating, and later freeing, so many more sets takes: neither throws anything then.
  void prepare(uint32_t count);
  VkResult allocate(const DescriptorSetShape& shape, uint32_t variableCount, VkDescriptorSet* out);
  void free(DescriptorSet* set);
  void reset();

 private:
  DescriptorSet* slot(uint32_t index) { return reinterpret_cast<DescriptorSet*>(trailing()) + index; }

  Device& device_;
  kmd::Allocation* memory_ = nullptr;
  uint64_t size_B_ = 0;
  RangeAllocator ranges_;
  // The host objects stand behind the pool. Slots below usedSlots_ hold a set, unless they are in freeSlots_.
  uint32_t maxSets_ = 0;
  uint32_t usedSlots_ = 0;
  std::vector<uint32_t> freeSlots_;
};

}  // namespace pumice::icd
