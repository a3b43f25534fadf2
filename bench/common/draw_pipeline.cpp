#include "bench/common/draw_pipeline.h"

namespace pumice::bench {

namespace {

VkShaderModule makeModule(VkDevice device, std::span<const uint32_t> spirv) {
  VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = spirv.size_bytes();
  info.pCode = spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(vkCreateShaderModule(device, &info, nullptr, &module), "vkCreateShaderModule");
  return module;
}

}  // namespace

DrawPipeline::DrawPipeline(Host& host, const RenderTarget& target, const DrawState& state)
    : device_(host.device()), types_(state.descriptors) {
  createLayout(state);
  createPipeline(host, target, state);
}

void DrawPipeline::createLayout(const DrawState& state) {
  constexpr VkShaderStageFlags kStages = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
  std::vector<VkDescriptorSetLayoutBinding> bindings(types_.size());
  std::vector<VkDescriptorPoolSize> sizes(types_.size());
  for (uint32_t i = 0; i < types_.size(); ++i) {
    bindings[i] = {i, types_[i], 1, kStages, nullptr};
    sizes[i] = {types_[i], state.sets};
  }
  VkDescriptorSetLayoutCreateInfo setInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  setInfo.bindingCount = static_cast<uint32_t>(bindings.size());
  setInfo.pBindings = bindings.data();
  check(vkCreateDescriptorSetLayout(device_, &setInfo, nullptr, &setLayout_), "vkCreateDescriptorSetLayout");
  if (!types_.empty()) {
    VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    poolInfo.maxSets = state.sets;
    poolInfo.poolSizeCount = static_cast<uint32_t>(sizes.size());
    poolInfo.pPoolSizes = sizes.data();
    check(vkCreateDescriptorPool(device_, &poolInfo, nullptr, &pool_), "vkCreateDescriptorPool");
  }
  const VkPushConstantRange range{kStages, 0, state.pushBytes};
  VkPipelineLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layoutInfo.setLayoutCount = 1;
  layoutInfo.pSetLayouts = &setLayout_;
  layoutInfo.pushConstantRangeCount = state.pushBytes ? 1 : 0;
  layoutInfo.pPushConstantRanges = &range;
  check(vkCreatePipelineLayout(device_, &layoutInfo, nullptr, &layout_), "vkCreatePipelineLayout");
}

void DrawPipeline::createPipeline(Host& host, const RenderTarget& target, const DrawState& state) {
  const VkSpecializationMapEntry entry{0, 0, sizeof(uint32_t)};
  const uint32_t salt = state.salt.value_or(0);
  const VkSpecializationInfo specialization{1, &entry, sizeof salt, &salt};
  std::vector<VkPipelineShaderStageCreateInfo> stages;
  const auto addStage = [&](VkShaderStageFlagBits stage, std::span<const uint32_t> spirv) {
    VkPipelineShaderStageCreateInfo& info = stages.emplace_back();
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage = stage;
    info.module = makeModule(device_, spirv);
    info.pName = "main";
  };
  addStage(VK_SHADER_STAGE_VERTEX_BIT, state.vertex);
  if (!state.fragment.empty()) {
    addStage(VK_SHADER_STAGE_FRAGMENT_BIT, state.fragment);
    if (state.salt) stages.back().pSpecializationInfo = &specialization;
  }

  VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  input.vertexBindingDescriptionCount = static_cast<uint32_t>(state.bindings.size());
  input.pVertexBindingDescriptions = state.bindings.data();
  input.vertexAttributeDescriptionCount = static_cast<uint32_t>(state.attributes.size());
  input.pVertexAttributeDescriptions = state.attributes.data();
  VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;

  const VkExtent2D extent = target.info().extent;
  const VkViewport viewport{0, 0, static_cast<float>(extent.width), static_cast<float>(extent.height), 0, 1};
  const VkRect2D scissor = state.scissor.value_or(VkRect2D{{0, 0}, extent});
  VkPipelineViewportStateCreateInfo viewports{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  viewports.viewportCount = viewports.scissorCount = 1;
  viewports.pViewports = &viewport;
  viewports.pScissors = &scissor;

  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  raster.cullMode = state.cull;
  raster.frontFace = VK_FRONT_FACE_CLOCKWISE;
  raster.lineWidth = 1;
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  samples.rasterizationSamples = target.info().samples;
  VkPipelineDepthStencilStateCreateInfo depth{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
  depth.depthTestEnable = depth.depthWriteEnable = state.depth;
  depth.depthCompareOp = VK_COMPARE_OP_LESS;

  VkPipelineColorBlendAttachmentState attachment{};
  attachment.blendEnable = state.blend;
  attachment.srcColorBlendFactor = attachment.srcAlphaBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
  attachment.dstColorBlendFactor = attachment.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
  attachment.colorWriteMask =
      VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
  const std::vector<VkPipelineColorBlendAttachmentState> attachments(target.info().colors, attachment);
  VkPipelineColorBlendStateCreateInfo blend{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  blend.attachmentCount = static_cast<uint32_t>(attachments.size());
  blend.pAttachments = attachments.data();

  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  info.stageCount = static_cast<uint32_t>(stages.size());
  info.pStages = stages.data();
  info.pVertexInputState = &input;
  info.pInputAssemblyState = &assembly;
  info.pViewportState = &viewports;
  info.pRasterizationState = &raster;
  info.pMultisampleState = &samples;
  info.pDepthStencilState = &depth;
  info.pColorBlendState = &blend;
  info.layout = layout_;
  info.renderPass = target.pass();
  const VkResult created = vkCreateGraphicsPipelines(device_, host.pipelineCache(), 1, &info, nullptr, &pipeline_);
  for (const VkPipelineShaderStageCreateInfo& stage : stages) vkDestroyShaderModule(device_, stage.module, nullptr);
  check(created, "vkCreateGraphicsPipelines");
}

DrawPipeline::~DrawPipeline() {
  vkDestroyDescriptorPool(device_, pool_, nullptr);
  vkDestroyPipeline(device_, pipeline_, nullptr);
  vkDestroyPipelineLayout(device_, layout_, nullptr);
  vkDestroyDescriptorSetLayout(device_, setLayout_, nullptr);
}

VkDescriptorSet DrawPipeline::makeSet(std::initializer_list<DrawResource> resources) {
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocate.descriptorPool = pool_;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &setLayout_;
  VkDescriptorSet set = VK_NULL_HANDLE;
  check(vkAllocateDescriptorSets(device_, &allocate, &set), "vkAllocateDescriptorSets");
  uint32_t binding = 0;
  for (const DrawResource& resource : resources) {
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.dstBinding = binding;
    write.descriptorCount = 1;
    write.descriptorType = types_[binding++];
    write.pImageInfo = &resource.image;
    write.pBufferInfo = &resource.buffer;
    vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
  }
  return set;
}

}  // namespace pumice::bench
