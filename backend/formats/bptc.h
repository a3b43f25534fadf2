// What BC6H and BC7 have in common: partitions, anchors, weights. Khronos Data Format Specification, "BPTC".
#pragma once

#include <cstdint>

#include "backend/formats/block_bits.h"

namespace pumice::formats::bptc {

extern const uint16_t kPartitions2[64];  // one bit a texel
extern const uint32_t kPartitions3[64];  // two bits a texel
extern const uint8_t kAnchor2[64];       // of the second of two subsets
extern const uint8_t kAnchor32[64];      // of the second of three
extern const uint8_t kAnchor33[64];      // of the third of three

/// Of 64. Index bits 2, 3 or 4.
inline uint32_t weight(uint32_t index, unsigned bits) {
  switch (bits) {
    case 2:
      return index * 21 + (index >> 1);
    case 3:
      return index * 9 + (index >> 2);
    default:
      return (index << 2) + (index >> 2) + ((index >> 1) & 1);
  }
}

/// The subset of each texel, and which texels' indices lack their highest bit.
struct Partition {
  uint8_t subset[16];
  uint16_t anchors;  // bit per texel
};

Partition partition(unsigned subsets, uint32_t number);

/// 16 indices of `bits` bits, anchors one bit shorter.
inline void readIndices(BitReader* reader, const Partition& partition, unsigned bits, uint8_t* indices) {
  for (unsigned i = 0; i < 16; ++i) {
    indices[i] = static_cast<uint8_t>(reader->take(bits - ((partition.anchors >> i) & 1)));
  }
}

}  // namespace pumice::formats::bptc
