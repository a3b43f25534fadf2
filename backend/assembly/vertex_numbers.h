// Numbers for the vertices of one piece of a draw: the same pair of vertex and instance gets the same number.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "backend/assembly/input_assembler.h"

namespace pumice::assembly {

/// Numbers are given in the order of their first use. Each instance is numbered once, all of its vertices at once.
class VertexNumbers {
 public:
  explicit VertexNumbers(Assembled& out) : out_(out) {}

  /// numbers[i] is that of words[i], a vertex index of the instance; 1 to kMaxVertices of them.
  void number(const uint32_t* words, uint32_t count, uint32_t instanceIndex, uint16_t* numbers) {
    const uint32_t before = out_.vertexCount;
    uint32_t least = words[0];
    uint32_t greatest = words[0];
    for (uint32_t i = 1; i < count; ++i) {
      least = std::min(least, words[i]);
      greatest = std::max(greatest, words[i]);
    }
    // Indices near each other, as of a mesh, are looked up by their place; others by a hash.
    if (greatest - least < std::min(kWindow, 64 + 8 * count))
      numberByPlace(words, count, least, greatest - least + 1, numbers);
    else
      numberByHash(words, count, instanceIndex, numbers);
    std::fill(out_.instanceIndex + before, out_.instanceIndex + out_.vertexCount, instanceIndex);
  }

 private:
  static constexpr uint16_t kEmpty = 0xFFFF;
  static constexpr uint32_t kWindow = 4096;
  // An open hash table of twice as many places as there can be vertices: looking up takes one or two steps.
  static constexpr uint32_t kPlaces_log2 = 11;
  static constexpr uint32_t kPlaces = 1u << kPlaces_log2;
  static_assert(kPlaces > 2 * kMaxVertices);

  // No branches: whether a vertex is new follows no pattern. An empty place is greater than any number.
  void numberByPlace(const uint32_t* words, uint32_t count, uint32_t least, uint32_t window, uint16_t* numbers) {
    std::fill_n(window_.begin(), window, kEmpty);
    uint32_t next = out_.vertexCount;
    for (uint32_t i = 0; i < count; ++i) {
      uint16_t& place = window_[words[i] - least];
      const uint32_t n = std::min<uint32_t>(place, next);
      place = static_cast<uint16_t>(n);
      out_.vertexIndex[n] = words[i];
      numbers[i] = static_cast<uint16_t>(n);
      next += n == next;
    }
    out_.vertexCount = next;
  }

  void numberByHash(const uint32_t* words, uint32_t count, uint32_t instanceIndex, uint16_t* numbers) {
    if (!hashReady_) hash_.fill(kEmpty);
    hashReady_ = true;
    for (uint32_t i = 0; i < count; ++i) numbers[i] = find(words[i], instanceIndex);
  }

  uint16_t find(uint32_t vertexIndex, uint32_t instanceIndex) {
    // The high bits of a product spread every pattern of indices (Fibonacci hashing).
    uint32_t at = (vertexIndex + instanceIndex * 0x85eb'ca6bu) * 0x9e37'79b1u >> (32 - kPlaces_log2);
    for (;; at = (at + 1) % kPlaces) {
      const uint16_t n = hash_[at];
      if (n == kEmpty) break;
      if (out_.vertexIndex[n] == vertexIndex && out_.instanceIndex[n] == instanceIndex) return n;
    }
    const auto n = static_cast<uint16_t>(out_.vertexCount++);
    out_.vertexIndex[n] = vertexIndex;
    out_.instanceIndex[n] = instanceIndex;
    hash_[at] = n;
    return n;
  }

  Assembled& out_;
  bool hashReady_ = false;
  std::array<uint16_t, kWindow> window_;  // number of vertex least + i
  std::array<uint16_t, kPlaces> hash_;
};

}  // namespace pumice::assembly
