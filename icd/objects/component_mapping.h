// VkComponentMapping as descriptors have it.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

namespace pumice::icd {

/// abi::Swizzle of R, G, B and A, three bits each.
uint16_t packMapping(const VkComponentMapping& mapping);

}  // namespace pumice::icd
