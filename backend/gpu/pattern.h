// Clears: one element over and over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pumice::gpu {

/// A run of equal elements. 96 bytes are whole elements of any size.
class Pattern {
 public:
  Pattern(const std::byte* element, size_t elementBytes) {
    for (size_t at = 0; at < kBytes; at += elementBytes) std::memcpy(bytes_ + at, element, elementBytes);
  }

  void fill(std::byte* to, uint64_t size_B) const {
    for (; size_B >= kBytes; size_B -= kBytes, to += kBytes) std::memcpy(to, bytes_, kBytes);
    std::memcpy(to, bytes_, size_B);
  }

 private:
  static constexpr size_t kBytes = 96;
  alignas(32) std::byte bytes_[kBytes];
};

}  // namespace pumice::gpu
