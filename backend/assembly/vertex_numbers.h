// Numbers for the vertices of one piece of a draw: the same pair of vertex and instance gets the same number.
#pragma once

#include <array>
#include <cstdint>

#include "backend/assembly/input_assembler.h"

namespace pumice::assembly {

/// An open hash table of twice as many places as there can be vertices: looking up takes one or two steps.
class VertexNumbers {
 public:
  explicit VertexNumbers(Assembled& out) : out_(out) { places_.fill(kEmpty); }

  uint16_t number(uint32_t vertexIndex, uint32_t instanceIndex) {
    // The high bits of a product spread every pattern of indices (Fibonacci hashing).
    uint32_t at = (vertexIndex + instanceIndex * 0x85eb'ca6bu) * 0x9e37'79b1u >> (32 - kPlaces_log2);
    for (;; at = (at + 1) % kPlaces) {
      const uint16_t n = places_[at];
      if (n == kEmpty) break;
      if (out_.vertexIndex[n] == vertexIndex && out_.instanceIndex[n] == instanceIndex) return n;
    }
    const auto n = static_cast<uint16_t>(out_.vertexCount++);
    out_.vertexIndex[n] = vertexIndex;
    out_.instanceIndex[n] = instanceIndex;
    places_[at] = n;
    return n;
  }

 private:
  static constexpr uint32_t kPlaces_log2 = 11;
  static constexpr uint32_t kPlaces = 1u << kPlaces_log2;
  static_assert(kPlaces > 2 * kMaxVertices);
  static constexpr uint16_t kEmpty = 0xFFFF;

  Assembled& out_;
  std::array<uint16_t, kPlaces> places_;
};

}  // namespace pumice::assembly
