// Pipeline stages as the command processor keeps them: one gate and one set of open work per stage and queue.
#pragma once

#include <cstdint>

namespace pumice::abi {

// Coarser than VkPipelineStageFlagBits2: stages that one engine runs back to back share a gate. The order is the
// logical order of the graphics pipeline, which expandSource/expandDestination rely on.
enum class Stage : uint32_t {
  kIndirect = 0,  // DRAW_INDIRECT: read of indirect arguments
  kGeometry,      // VERTEX_INPUT .. all pre-rasterisation stages
  kFragment,      // EARLY_FRAGMENT_TESTS .. COLOR_ATTACHMENT_OUTPUT
  kCompute,       // COMPUTE_SHADER
  kTransfer,      // COPY, CLEAR, BLIT, RESOLVE
  kHost,          // HOST: no work of the queue runs here; it only carries dependency chains
  kCount,
};

inline constexpr uint32_t kStageCount = static_cast<uint32_t>(Stage::kCount);

using StageMask = uint32_t;
constexpr StageMask stageBit(Stage s) {
  return 1u << static_cast<uint32_t>(s);
}
inline constexpr StageMask kAllStages = (1u << kStageCount) - 1;
inline constexpr StageMask kGraphicsStages =
    stageBit(Stage::kIndirect) | stageBit(Stage::kGeometry) | stageBit(Stage::kFragment);

// Vulkan 1.3, 7.1.1: a source scope includes all logically earlier stages, a destination scope all logically later
// ones. TOP_OF_PIPE as source and BOTTOM_OF_PIPE as destination are the empty mask.
constexpr StageMask expandSource(StageMask m) {
  if (m & stageBit(Stage::kFragment)) m |= stageBit(Stage::kGeometry);
  if (m & (stageBit(Stage::kGeometry) | stageBit(Stage::kCompute))) m |= stageBit(Stage::kIndirect);
  return m;
}

constexpr StageMask expandDestination(StageMask m) {
  if (m & stageBit(Stage::kIndirect)) m |= stageBit(Stage::kGeometry) | stageBit(Stage::kCompute);
  if (m & stageBit(Stage::kGeometry)) m |= stageBit(Stage::kFragment);
  return m;
}

}  // namespace pumice::abi
