// Memory that other devices, processes or the application know too (VK_KHR_external_memory_fd and
// VK_EXT_external_memory_host): which handle types there are, and what can be done with each.
#pragma once

#include <vulkan/vulkan_core.h>

namespace pumice::icd {

/// Opaque file descriptors can be exported and imported, the application's memory imported; every buffer and every
/// image can be bound to either. All zero for other handle types.
VkExternalMemoryProperties externalMemoryProperties(VkExternalMemoryHandleTypeFlagBits type);

}  // namespace pumice::icd
