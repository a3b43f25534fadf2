// VkDescriptorUpdateTemplate: a list of writes whose data come later.
#pragma once

#include <vector>

#include "icd/objects/object.h"

namespace pumice::icd {

class DescriptorSetShape;
class Device;

class DescriptorTemplate
    : public Object<DescriptorTemplate, VkDescriptorUpdateTemplate, VK_OBJECT_TYPE_DESCRIPTOR_UPDATE_TEMPLATE> {
 public:
  explicit DescriptorTemplate(Device&) {}

  VkResult init(const VkDescriptorUpdateTemplateCreateInfo& info);

  /// Of templates of push descriptors.
  VkPipelineBindPoint bindPoint() const { return bindPoint_; }
  void write(const DescriptorSetShape& shape, std::byte* set, const void* data) const;

 private:
  std::vector<VkDescriptorUpdateTemplateEntry> entries_;
  VkPipelineBindPoint bindPoint_ = VK_PIPELINE_BIND_POINT_COMPUTE;
};

}  // namespace pumice::icd
