// From the door's results to Vulkan's.
#pragma once

#include <vulkan/vulkan_core.h>

#include "backend/kmd/status.h"

namespace pumice::icd {

inline VkResult toResult(kmd::Status status) {
  switch (status) {
    case kmd::Status::kOk:
      return VK_SUCCESS;
    case kmd::Status::kTimeout:
      return VK_TIMEOUT;
    case kmd::Status::kOutOfHostMemory:
      return VK_ERROR_OUT_OF_HOST_MEMORY;
    case kmd::Status::kOutOfDeviceMemory:
      return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    case kmd::Status::kInvalidAddress:
      return VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS;
    case kmd::Status::kDeviceLost:
      return VK_ERROR_DEVICE_LOST;
  }
  return VK_ERROR_UNKNOWN;
}

}  // namespace pumice::icd
