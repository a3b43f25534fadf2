// Host memory of Vulkan objects: the application's VkAllocationCallbacks, or the C library.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdlib>

namespace pumice::icd {

/// A view of the callbacks that were passed to a call: valid during that call.
class HostAllocator {
 public:
  explicit HostAllocator(const VkAllocationCallbacks* callbacks) : callbacks_(callbacks) {}

  /// nullptr when there is no memory. `align_B` is a power of two.
  void* allocate(size_t size_B, size_t align_B, VkSystemAllocationScope scope) const {
    if (callbacks_ != nullptr) return callbacks_->pfnAllocation(callbacks_->pUserData, size_B, align_B, scope);
    if (align_B <= alignof(std::max_align_t)) return std::malloc(size_B);
    return std::aligned_alloc(align_B, (size_B + align_B - 1) & ~(align_B - 1));
  }

  void free(void* memory) const {
    if (memory == nullptr) return;
    if (callbacks_ != nullptr) {
      callbacks_->pfnFree(callbacks_->pUserData, memory);
    } else {
      std::free(memory);
    }
  }

 private:
  const VkAllocationCallbacks* callbacks_;
};

}  // namespace pumice::icd
