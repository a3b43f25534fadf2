#include "icd/encode/stage_masks.h"

#include <gtest/gtest.h>

namespace pumice::icd {
namespace {

using abi::Stage;
constexpr abi::StageMask kCompute = 1u << 3, kTransfer = 1u << 4, kIndirect = 1u << 0;

TEST(StageMasks, EndsOfThePipe) {
  EXPECT_EQ(sourceStages(VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT), 0u);
  EXPECT_EQ(destinationStages(VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT), abi::kAllStages);
  EXPECT_EQ(sourceStages(VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT), abi::kAllStages);
  EXPECT_EQ(destinationStages(VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT), 0u);
  EXPECT_EQ(sourceStages(VK_PIPELINE_STAGE_2_NONE), 0u);
  EXPECT_EQ(destinationStages(VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT), abi::kAllStages);
}

TEST(StageMasks, LogicallyEarlierAndLaterStagesJoin) {
  // Vulkan 1.3, 7.1.2: the compute pipeline is DRAW_INDIRECT, then COMPUTE_SHADER.
  EXPECT_EQ(sourceStages(VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT), kCompute | kIndirect);
  EXPECT_EQ(destinationStages(VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT), kCompute);
  EXPECT_EQ(destinationStages(VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT) & (kCompute | kTransfer), kCompute);
  EXPECT_EQ(sourceStages(VK_PIPELINE_STAGE_2_COPY_BIT), kTransfer);
  EXPECT_EQ(sourceStages(VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT), kTransfer);
}

TEST(StageMasks, UnknownStagesAreEverything) {
  EXPECT_EQ(sourceStages(VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR), abi::kAllStages);
}

}  // namespace
}  // namespace pumice::icd
