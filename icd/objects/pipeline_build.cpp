#include "icd/objects/pipeline_build.h"

#include "icd/objects/pnext.h"

namespace pumice::icd {

void PipelineBuild::run() noexcept {
  try {
    result_ = compile();
  } catch (const std::bad_alloc&) {
    result_ = VK_ERROR_OUT_OF_HOST_MEMORY;
  }
}

void PipelineBuild::feedBack(const void* chain, const VkPipelineCreationFeedback& all,
                             std::span<const VkPipelineCreationFeedback> stages) {
  const auto* feedback = findInChain<VkPipelineCreationFeedbackCreateInfo>(chain);
  if (feedback == nullptr) return;
  *feedback->pPipelineCreationFeedback = all;
  for (uint32_t i = 0; i < feedback->pipelineStageCreationFeedbackCount; ++i) {
    feedback->pPipelineStageCreationFeedbacks[i] = i < stages.size() ? stages[i] : VkPipelineCreationFeedback{};
  }
}

void PipelineBuild::feedBackNothing(const void* chain) {
  feedBack(chain, {}, {});  // not valid
}

}  // namespace pumice::icd
