// Indices of any width. An index beyond the end of the buffer reads 0 (robustBufferAccess2).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backend/abi/draw_packets.h"

namespace pumice::assembly {

template <typename Index>
class IndexReader {
 public:
  static constexpr uint32_t kRestart = static_cast<Index>(~Index{0});

  explicit IndexReader(const abi::IndexBufferState& state)
      : data_(reinterpret_cast<const std::byte*>(state.address)),
        count_(state.address != 0 ? state.size_B / sizeof(Index) : 0) {}

  uint32_t operator[](uint64_t i) const {
    Index value = 0;
    if (i < count_) std::memcpy(&value, data_ + i * sizeof(Index), sizeof value);
    return value;
  }

  /// Indices first to first + count - 1, each with `offset` added.
  void read(uint64_t first, uint32_t count, uint32_t offset, uint32_t* out) const {
    const auto inside = static_cast<uint32_t>(first < count_ ? std::min<uint64_t>(count, count_ - first) : 0);
    const std::byte* from = data_ + (inside != 0 ? first * sizeof(Index) : 0);
    for (uint32_t i = 0; i < inside; ++i) {
      Index value;
      std::memcpy(&value, from + i * sizeof(Index), sizeof value);
      out[i] = value + offset;
    }
    std::fill(out + inside, out + count, offset);
  }

 private:
  const std::byte* data_;
  uint64_t count_;
};

/// Calls use(IndexReader) with the reader of the state's type.
template <typename Use>
auto withIndices(const abi::IndexBufferState& state, Use&& use) {
  switch (state.type) {
    case abi::IndexType::kUint8:
      return use(IndexReader<uint8_t>(state));
    case abi::IndexType::kUint16:
      return use(IndexReader<uint16_t>(state));
    default:
      return use(IndexReader<uint32_t>(state));
  }
}

}  // namespace pumice::assembly
