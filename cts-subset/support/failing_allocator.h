// VkAllocationCallbacks that count what is alive and fail at a chosen call.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace pumice::cts {

class FailingAllocator {
 public:
  /// The n-th allocation from now on (0 = the next) fails, and all after it; negative: none.
  void failFrom(int64_t n) {
    calls_ = 0;
    failFrom_ = n;
  }
  int64_t calls() const { return calls_; }
  bool failed() const { return failFrom_ >= 0 && calls_ > failFrom_; }
  size_t live() {
    std::lock_guard lock(mutex_);
    return sizes_.size();
  }
  const VkAllocationCallbacks* callbacks() const { return &callbacks_; }

 private:
  static void* VKAPI_CALL allocate(void* user, size_t size, size_t align, VkSystemAllocationScope) {
    auto& self = *static_cast<FailingAllocator*>(user);
    const int64_t call = self.calls_++;
    if (self.failFrom_ >= 0 && call >= self.failFrom_) return nullptr;
    if (size == 0) return nullptr;
    void* memory = std::aligned_alloc(align < 16 ? 16 : align,
                                      (size + align + 15) / (align < 16 ? 16 : align) * (align < 16 ? 16 : align));
    std::lock_guard lock(self.mutex_);
    self.sizes_[memory] = size;
    return memory;
  }
  static void* VKAPI_CALL reallocate(void* user, void* old, size_t size, size_t align, VkSystemAllocationScope scope) {
    if (size == 0) {
      release(user, old);
      return nullptr;
    }
    void* memory = allocate(user, size, align, scope);
    if (memory == nullptr || old == nullptr) return memory;
    auto& self = *static_cast<FailingAllocator*>(user);
    size_t oldSize;
    {
      std::lock_guard lock(self.mutex_);
      oldSize = self.sizes_[old];
    }
    std::memcpy(memory, old, oldSize < size ? oldSize : size);
    release(user, old);
    return memory;
  }
  static void VKAPI_CALL release(void* user, void* memory) {
    if (memory == nullptr) return;
    auto& self = *static_cast<FailingAllocator*>(user);
    {
      std::lock_guard lock(self.mutex_);
      if (self.sizes_.erase(memory) != 1) std::abort();  // not ours, or freed twice
    }
    std::free(memory);
  }

  std::mutex mutex_;
  std::map<void*, size_t> sizes_;
  std::atomic<int64_t> calls_{0};
  std::atomic<int64_t> failFrom_{-1};
  VkAllocationCallbacks callbacks_{this, allocate, reallocate, release, nullptr, nullptr};
};

}  // namespace pumice::cts
