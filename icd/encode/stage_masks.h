// Vulkan's pipeline stages to the coarser ones of the command processor (backend/abi/stage.h).
#pragma once

#include <vulkan/vulkan_core.h>

#include "backend/abi/stage.h"

namespace pumice::icd {

/// First synchronisation scope: all logically earlier stages included; TOP_OF_PIPE and NONE are empty.
abi::StageMask sourceStages(VkPipelineStageFlags2 stages);
/// Second synchronisation scope: all logically later stages included; BOTTOM_OF_PIPE and NONE are empty.
abi::StageMask destinationStages(VkPipelineStageFlags2 stages);

}  // namespace pumice::icd
