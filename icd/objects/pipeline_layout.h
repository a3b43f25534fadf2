// VkPipelineLayout: the sets' forms and the flat numbering of dynamic offsets (set, binding, array element).
#pragma once

#include <memory>
#include <vector>

#include "backend/abi/descriptor.h"
#include "icd/objects/descriptor_set_layout.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class PipelineLayout : public Object<PipelineLayout, VkPipelineLayout, VK_OBJECT_TYPE_PIPELINE_LAYOUT> {
 public:
  explicit PipelineLayout(Device&) {}

  VkResult init(const VkPipelineLayoutCreateInfo& info);

  uint32_t setCount() const { return static_cast<uint32_t>(sets_.size()); }
  const DescriptorSetShape& set(uint32_t index) const { return *sets_[index]; }
  /// The number of set `index`'s first dynamic offset.
  uint32_t dynamicBase(uint32_t index) const { return dynamicBase_[index]; }
  /// What the compiler needs.
  const std::vector<abi::BindingSlot>& bindingSlots() const { return slots_; }

 private:
  std::vector<std::shared_ptr<const DescriptorSetShape>> sets_;
  std::vector<uint32_t> dynamicBase_;
  std::vector<abi::BindingSlot> slots_;
};

}  // namespace pumice::icd
