// Binding and dispatching.
#include "gen/entrypoints.h"
#include "icd/objects/buffer.h"
#include "icd/objects/command_buffer.h"
#include "icd/objects/compute_pipeline.h"
#include "icd/objects/descriptor_pool.h"
#include "icd/objects/descriptor_template.h"
#include "icd/objects/descriptor_update.h"
#include "icd/objects/graphics_pipeline.h"
#include "icd/objects/pipeline_layout.h"

namespace pumice::icd {

VKAPI_ATTR void VKAPI_CALL vkCmdBindPipeline(VkCommandBuffer commandBuffer, VkPipelineBindPoint bindPoint,
                                             VkPipeline pipeline) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  if (bindPoint == VK_PIPELINE_BIND_POINT_GRAPHICS) {
    self.bindPipeline(*GraphicsPipeline::from(pipeline));
  } else {
    self.bindPipeline(*ComputePipeline::from(pipeline));
  }
}

VKAPI_ATTR void VKAPI_CALL vkCmdBindDescriptorSets(VkCommandBuffer commandBuffer, VkPipelineBindPoint pipelineBindPoint,
                                                   VkPipelineLayout layout, uint32_t firstSet,
                                                   uint32_t descriptorSetCount, const VkDescriptorSet* pDescriptorSets,
                                                   uint32_t, const uint32_t* pDynamicOffsets) {
  BindingTracker& bindings = CommandBuffer::from(commandBuffer)->bindings(pipelineBindPoint);
  const PipelineLayout& pipelineLayout = *PipelineLayout::from(layout);
  for (uint32_t i = 0; i < descriptorSetCount; ++i) {
    const DescriptorSet* set = DescriptorSet::from(pDescriptorSets[i]);
    bindings.bindSet(firstSet + i, set != nullptr ? set->address() : 0);
    // Offsets come in the order of (set, binding, array element), which is how they are numbered.
    const uint32_t base = pipelineLayout.dynamicBase(firstSet + i);
    const uint32_t count = pipelineLayout.set(firstSet + i).dynamicCount();
    for (uint32_t d = 0; d < count; ++d) bindings.setDynamicOffset(base + d, *pDynamicOffsets++);
  }
}

VKAPI_ATTR void VKAPI_CALL vkCmdPushDescriptorSetKHR(VkCommandBuffer commandBuffer,
                                                     VkPipelineBindPoint pipelineBindPoint, VkPipelineLayout layout,
                                                     uint32_t set, uint32_t descriptorWriteCount,
                                                     const VkWriteDescriptorSet* pDescriptorWrites) {
  const PipelineLayout& pipelineLayout = *PipelineLayout::from(layout);
  std::byte* memory =
      CommandBuffer::from(commandBuffer)->bindings(pipelineBindPoint).pushSet(pipelineLayout.set(set), set);
  for (uint32_t i = 0; i < descriptorWriteCount; ++i) {
    writeDescriptors(pipelineLayout.set(set), memory, pDescriptorWrites[i]);
  }
}

VKAPI_ATTR void VKAPI_CALL vkCmdPushDescriptorSetWithTemplateKHR(VkCommandBuffer commandBuffer,
                                                                 VkDescriptorUpdateTemplate descriptorUpdateTemplate,
                                                                 VkPipelineLayout layout, uint32_t set,
                                                                 const void* pData) {
  const PipelineLayout& pipelineLayout = *PipelineLayout::from(layout);
  const DescriptorTemplate& form = *DescriptorTemplate::from(descriptorUpdateTemplate);
  std::byte* memory =
      CommandBuffer::from(commandBuffer)->bindings(form.bindPoint()).pushSet(pipelineLayout.set(set), set);
  form.write(pipelineLayout.set(set), memory, pData);
}

VKAPI_ATTR void VKAPI_CALL vkCmdPushConstants(VkCommandBuffer commandBuffer, VkPipelineLayout, VkShaderStageFlags,
                                              uint32_t offset, uint32_t size, const void* pValues) {
  CommandBuffer::from(commandBuffer)->pushConstants(offset, size, pValues);
}

VKAPI_ATTR void VKAPI_CALL vkCmdDispatch(VkCommandBuffer commandBuffer, uint32_t groupCountX, uint32_t groupCountY,
                                         uint32_t groupCountZ) {
  CommandBuffer::from(commandBuffer)->dispatch({0, 0, 0}, {groupCountX, groupCountY, groupCountZ});
}

VKAPI_ATTR void VKAPI_CALL vkCmdDispatchBase(VkCommandBuffer commandBuffer, uint32_t baseGroupX, uint32_t baseGroupY,
                                             uint32_t baseGroupZ, uint32_t groupCountX, uint32_t groupCountY,
                                             uint32_t groupCountZ) {
  CommandBuffer::from(commandBuffer)
      ->dispatch({baseGroupX, baseGroupY, baseGroupZ}, {groupCountX, groupCountY, groupCountZ});
}

VKAPI_ATTR void VKAPI_CALL vkCmdDispatchIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset) {
  CommandBuffer::from(commandBuffer)->dispatchIndirect(Buffer::from(buffer)->address() + offset);
}

// One physical device: every mask that is allowed selects it.
VKAPI_ATTR void VKAPI_CALL vkCmdSetDeviceMask(VkCommandBuffer, uint32_t) {}

VKAPI_ATTR void VKAPI_CALL vkCmdExecuteCommands(VkCommandBuffer commandBuffer, uint32_t commandBufferCount,
                                                const VkCommandBuffer* pCommandBuffers) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  for (uint32_t i = 0; i < commandBufferCount; ++i) {
    const std::byte* stream = CommandBuffer::from(pCommandBuffers[i])->firstPacket();
    if (stream != nullptr) self.stream().append<abi::CallPacket>(abi::PacketOp::kCall)->stream = stream;
  }
  self.forgetState();
}

}  // namespace pumice::icd
