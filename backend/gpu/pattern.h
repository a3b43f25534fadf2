// Clears: one element over and over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pumice::gpu {

/// A run of equal elements. 192 bytes are whole elements of any size, and three lines of the caches.
class Pattern {
 public:
  Pattern(const std::byte* element, size_t elementBytes) {
    for (size_t at = 0; at < kBytes; at += elementBytes) std::memcpy(bytes_ + at, element, elementBytes);
  }

  void fill(std::byte* to, uint64_t size_B) const { fill_(bytes_, to, size_B); }

 private:
  using Fill = void(const std::byte* pattern, std::byte* to, uint64_t size_B);
  static constexpr size_t kBytes = 192;

  static void fillAnywhere(const std::byte* pattern, std::byte* to, uint64_t size_B);
  static void fillAvx512(const std::byte* pattern, std::byte* to, uint64_t size_B);
  static Fill* best();
  static Fill* const fill_;

  alignas(64) std::byte bytes_[kBytes];
};

}  // namespace pumice::gpu
