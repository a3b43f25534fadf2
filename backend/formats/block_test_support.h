// For tests: compressed blocks built bit by bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/formats/block_decode.h"

namespace pumice::formats::test {

/// A block whose bit 0 is the lowest of byte 0. put() fills it from there on.
class BlockBits {
 public:
  void set(int first, int count, uint64_t value) {
    for (int i = 0; i < count; ++i) {
      const auto mask = static_cast<std::byte>(1u << ((first + i) % 8));
      std::byte& byte = bytes_.at(static_cast<size_t>(first + i) / 8);
      byte = ((value >> i) & 1) != 0 ? byte | mask : byte & ~mask;
    }
  }
  void put(int count, uint64_t value) {
    set(at_, count, value);
    at_ += count;
  }
  int position() const { return at_; }
  const std::byte* data() const { return bytes_.data(); }

 private:
  std::array<std::byte, 16> bytes_{};
  int at_ = 0;
};

struct Rgba8 {
  int c[4];
  bool operator==(const Rgba8&) const = default;
};

/// The block's texels as bytes, by row.
inline std::vector<Rgba8> bytesOf(const BlockCodec& codec, const void* block) {
  std::vector<Rgba8> out;
  const size_t width = codec.info->blockExtent[0], height = codec.info->blockExtent[1];
  std::vector<uint8_t> bytes(width * height * 4);
  codec.decode(block, bytes.data(), width * 4);
  for (size_t i = 0; i < width * height; ++i) {
    out.push_back({{bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]}});
  }
  return out;
}

inline std::vector<float> floatsOf(const BlockCodec& codec, const void* block) {
  std::vector<float> out(size_t{4} * codec.info->texelsPerBlock);
  codec.decodeFloat(block, out.data());
  return out;
}

/// The bits of `value` (its highest first) repeated until there are `wanted`.
inline int repeatedBits(uint32_t value, int bits, int wanted) {
  int result = 0;
  for (int i = 0; i < wanted; ++i) result = result * 2 + static_cast<int>((value >> (bits - 1 - i % bits)) & 1);
  return result;
}

}  // namespace pumice::formats::test
