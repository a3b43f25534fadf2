// Results of the backend. The driver above turns them into VkResult; the backend knows no Vulkan result.
#pragma once

#include <cstdint>

namespace pumice::kmd {

enum class [[nodiscard]] Status : uint8_t{
    kOk,
    kTimeout,  // a wait ended without its condition
    kOutOfHostMemory,
    kOutOfDeviceMemory,  // heap limit, cgroup limit or address range exhausted
    kInvalidAddress,     // a fixed address (capture/replay) is not free
    kDeviceLost,
};

}  // namespace pumice::kmd
