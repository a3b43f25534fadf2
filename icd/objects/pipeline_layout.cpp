#include "icd/objects/pipeline_layout.h"

#include "gen/entrypoints.h"
#include "icd/objects/device.h"

namespace pumice::icd {

VkResult PipelineLayout::init(const VkPipelineLayoutCreateInfo& info) {
  // For null layouts. Never destroyed: the application may create layouts while static destructors run.
  static const auto& kEmpty = *new std::shared_ptr<DescriptorSetShape>(std::make_shared<DescriptorSetShape>());
  uint32_t dynamic = 0;
  for (uint32_t s = 0; s < info.setLayoutCount; ++s) {
    const DescriptorSetLayout* layout = DescriptorSetLayout::from(info.pSetLayouts[s]);
    sets_.push_back(layout != nullptr ? layout->shape() : kEmpty);
    dynamicBase_.push_back(dynamic);
    for (const DescriptorBinding& b : sets_.back()->bindings()) {
      const uint32_t count = b.type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK ? 1 : b.count;
      const uint32_t index = b.dynamicIndex == abi::kNotDynamic ? abi::kNotDynamic : dynamic + b.dynamicIndex;
      slots_.push_back({s, b.binding, count, b.offset_B, b.stride_B, index});
    }
    dynamic += sets_.back()->dynamicCount();
  }
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreatePipelineLayout(VkDevice device, const VkPipelineLayoutCreateInfo* pCreateInfo,
                                                      const VkAllocationCallbacks* pAllocator,
                                                      VkPipelineLayout* pPipelineLayout) {
  return PipelineLayout::create(pAllocator, pPipelineLayout, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyPipelineLayout(VkDevice, VkPipelineLayout pipelineLayout,
                                                   const VkAllocationCallbacks* pAllocator) {
  PipelineLayout::destroy(pipelineLayout, pAllocator);
}

}  // namespace pumice::icd
