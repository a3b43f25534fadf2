// Writing descriptors into a block of memory that has the form of a set: sets in pools and push descriptors alike.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>

namespace pumice::icd {

class DescriptorSetShape;

/// The place of array element `element`, counted from `binding` on: elements past a binding's end are those of the next
/// binding (Vulkan 1.3, 14.2.4, consecutive binding updates).
class DescriptorCursor {
 public:
  DescriptorCursor(const DescriptorSetShape& shape, uint32_t binding, uint32_t element);

  size_t offset_B() const;
  size_t bytes() const;
  bool hasImmutableSamplers() const;
  void next();

 private:
  void skipFullBindings();

  const DescriptorSetShape& shape_;
  size_t index_;  // in shape_.bindings()
  uint32_t element_;
};

/// `set` points to the first byte of the block.
void writeDescriptors(const DescriptorSetShape& shape, std::byte* set, const VkWriteDescriptorSet& write);

/// One entry of an update template with its source data.
void writeDescriptors(const DescriptorSetShape& shape, std::byte* set, const VkDescriptorUpdateTemplateEntry& entry,
                      const void* data);

}  // namespace pumice::icd
