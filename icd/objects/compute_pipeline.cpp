#include "icd/objects/compute_pipeline.h"

#include <algorithm>
#include <cstring>

#include "gen/entrypoints.h"
#include "icd/objects/graphics_pipeline.h"
#include "icd/objects/pipeline_layout.h"

namespace pumice::icd {

ComputeBuild::ComputeBuild(const VkComputePipelineCreateInfo& info, const CodeCaches& caches)
    : PipelineBuild(info.flags),
      info_(info),
      stage_({VK_SHADER_STAGE_COMPUTE_BIT, &info.stage, PipelineLayout::from(info.layout)}, caches,
             buildTiers(info.flags)) {
  if (stage_.find()) {
    result_ = stage_.result();
  } else if (mayCompile()) {
    needsCompile_ = true;
  } else {
    result_ = VK_PIPELINE_COMPILE_REQUIRED;
  }
}

VkResult ComputeBuild::make(Device& device, const VkAllocationCallbacks* callbacks, VkPipeline* out) {
  return ComputePipeline::create(callbacks, out, device, *this);
}

void ComputeBuild::feedBack() const {
  const VkPipelineCreationFeedback all = stage_.feedback();
  PipelineBuild::feedBack(info_.pNext, all, {&all, 1});
}

VkResult ComputePipeline::init(ComputeBuild& build) {
  const shader::ComputeCodeInfo& info = build.stage().object().info;
  std::memcpy(program_.localSize, info.localSize, sizeof program_.localSize);
  program_.subgroupSize = info.subgroupSize;
  program_.sharedBytes = info.sharedBytes;
  program_.groupCost_ns = std::max(info.groupCost_ns, 1u);
  program_.flags = info.flags;
  code_.take(build.stage(), program_);
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateComputePipelines(VkDevice device, VkPipelineCache pipelineCache,
                                                        uint32_t createInfoCount,
                                                        const VkComputePipelineCreateInfo* pCreateInfos,
                                                        const VkAllocationCallbacks* pAllocator,
                                                        VkPipeline* pPipelines) {
  return createPipelines<ComputeBuild>(*Device::from(device), pipelineCache, std::span(pCreateInfos, createInfoCount),
                                       pAllocator, pPipelines);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyPipeline(VkDevice, VkPipeline pipeline, const VkAllocationCallbacks* pAllocator) {
  if (pipeline == VK_NULL_HANDLE) return;
  switch (Pipeline::from(pipeline)->kind()) {
    case PipelineKind::kCompute:
      return ComputePipeline::destroy(pipeline, pAllocator);
    case PipelineKind::kGraphics:
      return GraphicsPipeline::destroy(pipeline, pAllocator);
    case PipelineKind::kGraphicsLibrary:
      return GraphicsLibrary::destroy(pipeline, pAllocator);
  }
}

}  // namespace pumice::icd
