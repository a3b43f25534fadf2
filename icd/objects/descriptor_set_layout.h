// VkDescriptorSetLayout: where each binding of a set lies in the set's GPU memory (backend/abi/descriptor.h).
#pragma once

#include <memory>
#include <vector>

#include "backend/abi/descriptor.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

struct DescriptorBinding {
  uint32_t binding;
  VkDescriptorType type;
  uint32_t count;         // array elements; bytes of an inline uniform block
  uint32_t offset_B;      // of element 0
  uint32_t stride_B;      // between elements
  uint32_t dynamicIndex;  // of element 0 among the set's dynamic offsets, abi::kNotDynamic without
  bool variableCount;
  uint32_t firstImmutable = kNoImmutable;  // of element 0 among the shape's immutable samplers

  static constexpr uint32_t kNoImmutable = UINT32_MAX;
};

/// The form of a set. Shared by the layout and the pipeline layouts made from it, because the specification allows
/// destroying a set layout before them. Immutable.
class DescriptorSetShape {
 public:
  VkResult init(const VkDescriptorSetLayoutCreateInfo& info);

  /// Sorted by binding number.
  const std::vector<DescriptorBinding>& bindings() const { return bindings_; }
  const DescriptorBinding* find(uint32_t binding) const;
  uint32_t dynamicCount() const { return dynamicCount_; }
  /// Of a set whose last, variable-sized binding has `variableCount` elements.
  uint64_t size_B(uint32_t variableCount) const;
  uint64_t fullSize_B() const { return size_B(UINT32_MAX); }
  /// Writes the immutable samplers into a new set of size_B(variableCount) bytes.
  void writeImmutableSamplers(std::byte* set, uint32_t variableCount) const;

 private:
  std::vector<DescriptorBinding> bindings_;
  // Copies: the samplers themselves may be destroyed once nobody uses the sets any more, whatever the layout does.
  std::vector<abi::SamplerDescriptor> immutableSamplers_;
  uint32_t dynamicCount_ = 0;
};

class DescriptorSetLayout
    : public Object<DescriptorSetLayout, VkDescriptorSetLayout, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT> {
 public:
  explicit DescriptorSetLayout(Device&) {}

  VkResult init(const VkDescriptorSetLayoutCreateInfo& info);

  const std::shared_ptr<DescriptorSetShape>& shape() const { return shape_; }

 private:
  std::shared_ptr<DescriptorSetShape> shape_;
};

/// The room of one descriptor. An inline uniform block is a buffer descriptor with its bytes behind.
struct DescriptorRoom {
  uint32_t bytes, align_B;
};
/// `index`: of the binding or of the pool size whose type it is, for the list of types that a mutable descriptor may
/// take on in a VkMutableDescriptorTypeCreateInfoEXT of `chain`. Without a list: any.
DescriptorRoom descriptorRoom(VkDescriptorType type, const void* chain, uint32_t index);
bool isDynamic(VkDescriptorType type);

}  // namespace pumice::icd
