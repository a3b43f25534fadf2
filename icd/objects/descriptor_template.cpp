#include "icd/objects/descriptor_template.h"

#include "gen/entrypoints.h"
#include "icd/objects/descriptor_pool.h"
#include "icd/objects/descriptor_update.h"
#include "icd/objects/device.h"

namespace pumice::icd {

VkResult DescriptorTemplate::init(const VkDescriptorUpdateTemplateCreateInfo& info) {
  entries_.assign(info.pDescriptorUpdateEntries, info.pDescriptorUpdateEntries + info.descriptorUpdateEntryCount);
  bindPoint_ = info.pipelineBindPoint;
  return VK_SUCCESS;
}

void DescriptorTemplate::write(const DescriptorSetShape& shape, std::byte* set, const void* data) const {
  for (const VkDescriptorUpdateTemplateEntry& entry : entries_) writeDescriptors(shape, set, entry, data);
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateDescriptorUpdateTemplate(VkDevice device,
                                                                const VkDescriptorUpdateTemplateCreateInfo* pCreateInfo,
                                                                const VkAllocationCallbacks* pAllocator,
                                                                VkDescriptorUpdateTemplate* pTemplate) {
  return DescriptorTemplate::create(pAllocator, pTemplate, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyDescriptorUpdateTemplate(VkDevice, VkDescriptorUpdateTemplate updateTemplate,
                                                             const VkAllocationCallbacks* pAllocator) {
  DescriptorTemplate::destroy(updateTemplate, pAllocator);
}

VKAPI_ATTR void VKAPI_CALL vkUpdateDescriptorSetWithTemplate(VkDevice, VkDescriptorSet descriptorSet,
                                                             VkDescriptorUpdateTemplate updateTemplate,
                                                             const void* pData) {
  DescriptorSet& set = *DescriptorSet::from(descriptorSet);
  DescriptorTemplate::from(updateTemplate)->write(set.shape(), set.memory(), pData);
}

}  // namespace pumice::icd
