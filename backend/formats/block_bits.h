// Bits of a compressed block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pumice::formats {

/// 128 bits, bit 0 being the lowest of the first byte.
struct Bits128 {
  uint64_t low = 0;
  uint64_t high = 0;

  static Bits128 load(const std::byte* block) {
    Bits128 bits;
    std::memcpy(&bits, block, sizeof bits);
    return bits;
  }

  /// count bits from first on, count <= 32 and first + count <= 128.
  uint32_t get(unsigned first, unsigned count) const {
    if (count == 0) return 0;
    uint64_t value = first < 64 ? low >> first : high >> (first - 64);
    if (first < 64 && first + count > 64) value |= high << (64 - first);
    return static_cast<uint32_t>(value & ((uint64_t{1} << count) - 1));
  }

  uint32_t bit(unsigned index) const { return get(index, 1); }
};

/// Takes fields off a block in rising order.
class BitReader {
 public:
  BitReader(const Bits128& bits, unsigned first) : bits_(bits), at_(first) {}

  uint32_t take(unsigned count) {
    const uint32_t value = bits_.get(at_, count);
    at_ += count;
    return value;
  }

  unsigned position() const { return at_; }

 private:
  const Bits128& bits_;
  unsigned at_;
};

inline uint64_t loadLittle64(const std::byte* block) {
  uint64_t value;
  std::memcpy(&value, block, sizeof value);
  return value;
}

inline uint64_t loadBig64(const std::byte* block) {
  return __builtin_bswap64(loadLittle64(block));
}

}  // namespace pumice::formats
