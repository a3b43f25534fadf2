// The two-call idiom: a count first, then as many elements as fit.
#pragma once

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <cstdint>

namespace pumice::icd {

/// Writes elements while there is room. Usage: ArrayOut<T> out(pCount, pArray); out.append([&](T* t) {...}); ...
/// return out.result();
template <typename T>
class ArrayOut {
 public:
  ArrayOut(uint32_t* count, T* array) : count_(count), array_(array), capacity_(array != nullptr ? *count : 0) {
    *count_ = 0;
  }

  template <typename Fill>
  void append(Fill&& fill) {
    ++wanted_;
    if (array_ == nullptr) {
      *count_ = wanted_;
    } else if (*count_ < capacity_) {
      fill(array_ + *count_);
      ++*count_;
    }
  }

  VkResult result() const { return *count_ < wanted_ ? VK_INCOMPLETE : VK_SUCCESS; }

 private:
  uint32_t* count_;
  T* array_;
  uint32_t capacity_;
  uint32_t wanted_ = 0;
};

}  // namespace pumice::icd
