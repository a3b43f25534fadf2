#include "icd/encode/stage_masks.h"

namespace pumice::icd {
namespace {

constexpr VkPipelineStageFlags2 kGeometryBits =
    VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT |
    VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT | VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT |
    VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT | VK_PIPELINE_STAGE_2_TESSELLATION_EVALUATION_SHADER_BIT |
    VK_PIPELINE_STAGE_2_GEOMETRY_SHADER_BIT | VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT;
constexpr VkPipelineStageFlags2 kFragmentBits =
    VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
    VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT;
constexpr VkPipelineStageFlags2 kTransferBits = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT |
                                                VK_PIPELINE_STAGE_2_RESOLVE_BIT | VK_PIPELINE_STAGE_2_BLIT_BIT |
                                                VK_PIPELINE_STAGE_2_CLEAR_BIT;
constexpr VkPipelineStageFlags2 kNamedBits =
    kGeometryBits | kFragmentBits | kTransferBits | VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT |
    VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT |
    VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_HOST_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT;

// Everything but the ends of the pipe, whose meaning depends on the side.
abi::StageMask middleStages(VkPipelineStageFlags2 stages) {
  abi::StageMask mask = 0;
  if (stages & VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT) mask |= stageBit(abi::Stage::kIndirect);
  if (stages & kGeometryBits) mask |= stageBit(abi::Stage::kGeometry);
  if (stages & kFragmentBits) mask |= stageBit(abi::Stage::kFragment);
  if (stages & VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT) mask |= stageBit(abi::Stage::kCompute);
  if (stages & kTransferBits) mask |= stageBit(abi::Stage::kTransfer);
  if (stages & VK_PIPELINE_STAGE_2_HOST_BIT) mask |= stageBit(abi::Stage::kHost);
  if (stages & VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT) mask |= abi::kGraphicsStages;
  // ALL_COMMANDS, and stages that no engine of ours has: everything is always right.
  if (stages & ~kNamedBits) mask = abi::kAllStages;
  return mask;
}

}  // namespace

abi::StageMask sourceStages(VkPipelineStageFlags2 stages) {
  if (stages & VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT) return abi::kAllStages;
  return abi::expandSource(middleStages(stages));
}

abi::StageMask destinationStages(VkPipelineStageFlags2 stages) {
  if (stages & VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT) return abi::kAllStages;
  return abi::expandDestination(middleStages(stages));
}

}  // namespace pumice::icd
