// BC7. Khronos Data Format Specification, "BC7".
#include <algorithm>
#include <bit>
#include <utility>

#include "backend/formats/block_kernels.h"
#include "backend/formats/bptc.h"

namespace pumice::formats {
namespace {

struct Mode {
  uint8_t subsets;
  uint8_t partitionBits;
  uint8_t rotationBits;
  uint8_t indexSelectionBits;
  uint8_t colorBits;
  uint8_t alphaBits;
  uint8_t endpointParityBits;  // per endpoint
  uint8_t sharedParityBits;    // per subset
  uint8_t indexBits;
  uint8_t secondIndexBits;
};

constexpr Mode kModes[8] = {
    {3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0}, {3, 6, 0, 0, 5, 0, 0, 0, 2, 0},
    {2, 6, 0, 0, 7, 0, 1, 0, 2, 0}, {1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
    {1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0},
};

/// value has `bits` bits: to the top of a byte, its own top bits repeated below.
uint8_t expand(uint32_t value, unsigned bits) {
  const uint32_t top = value << (8 - bits);
  return static_cast<uint8_t>(top | top >> bits);
}

/// Endpoints by subset x 2 + end.
void readEndpoints(BitReader* reader, const Mode& mode, uint8_t endpoints[6][4]) {
  const unsigned count = mode.subsets * 2u;
  uint32_t raw[6][4] = {};
  for (unsigned c = 0; c < 4; ++c) {
    const unsigned bits = c == 3 ? mode.alphaBits : mode.colorBits;
    for (unsigned e = 0; e < count; ++e) raw[e][c] = reader->take(bits);
  }
  const unsigned parityBits = mode.endpointParityBits + mode.sharedParityBits;
  uint32_t parity[6] = {};
  for (unsigned e = 0; e < count; ++e) {
    if (mode.endpointParityBits != 0 || (mode.sharedParityBits != 0 && e % 2 == 0)) {
      parity[e] = reader->take(1);
    } else if (mode.sharedParityBits != 0) {
      parity[e] = parity[e - 1];
    }
  }
  for (unsigned e = 0; e < count; ++e) {
    for (unsigned c = 0; c < 4; ++c) {
      const unsigned bits = c == 3 ? mode.alphaBits : mode.colorBits;
      endpoints[e][c] = bits == 0 ? 255 : expand(raw[e][c] << parityBits | parity[e], bits + parityBits);
    }
  }
}

uint8_t interpolate(uint32_t from, uint32_t to, uint32_t weight) {
  return static_cast<uint8_t>(((64 - weight) * from + weight * to + 32) >> 6);
}

}  // namespace

void decodeBc7(const FormatInfo&, const std::byte* block, std::byte* texels, size_t rowPitch_B) {
  const Bits128 bits = Bits128::load(block);
  const auto modeNumber = static_cast<unsigned>(std::countr_zero(bits.get(0, 8) | 0x100));
  if (modeNumber == 8) {  // reserved
    for (size_t y = 0; y < 4; ++y) std::memset(texels + y * rowPitch_B, 0, 16);
    return;
  }
  const Mode& mode = kModes[modeNumber];
  BitReader reader(bits, modeNumber + 1);
  const bptc::Partition partition = bptc::partition(mode.subsets, reader.take(mode.partitionBits));
  const uint32_t rotation = reader.take(mode.rotationBits);
  const bool swapIndices = reader.take(mode.indexSelectionBits) != 0;
  uint8_t endpoints[6][4];
  readEndpoints(&reader, mode, endpoints);

  uint8_t first[16], second[16];
  bptc::readIndices(&reader, partition, mode.indexBits, first);
  const bool two = mode.secondIndexBits != 0;
  if (two) bptc::readIndices(&reader, partition, mode.secondIndexBits, second);
  const uint8_t* colorIndices = first;
  const uint8_t* alphaIndices = two ? second : first;
  unsigned colorBits = mode.indexBits;
  unsigned alphaBits = two ? mode.secondIndexBits : mode.indexBits;
  if (swapIndices) {
    std::swap(colorIndices, alphaIndices);
    std::swap(colorBits, alphaBits);
  }

  for (size_t i = 0; i < 16; ++i) {
    const uint8_t* from = endpoints[partition.subset[i] * 2];
    const uint8_t* to = endpoints[partition.subset[i] * 2 + 1];
    const uint32_t colorWeight = bptc::weight(colorIndices[i], colorBits);
    uint8_t rgba[4];
    for (int c = 0; c < 3; ++c) rgba[c] = interpolate(from[c], to[c], colorWeight);
    rgba[3] = interpolate(from[3], to[3], bptc::weight(alphaIndices[i], alphaBits));
    if (rotation != 0) std::swap(rgba[3], rgba[rotation - 1]);
    std::memcpy(texels + i / 4 * rowPitch_B + i % 4 * 4, rgba, 4);
  }
}

}  // namespace pumice::formats
