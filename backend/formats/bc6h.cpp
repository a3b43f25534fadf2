// BC6H. Khronos Data Format Specification, "BC6H". All arithmetic is on integers; a result is the bits of a half.
#include <span>

#include "backend/formats/block_kernels.h"
#include "backend/formats/bptc.h"
#include "backend/formats/half.h"

namespace pumice::formats {
namespace {

// Components of the four endpoints, by endpoint x 3 + component.
enum Variable : uint8_t { kR0, kG0, kB0, kR1, kG1, kB1, kR2, kG2, kB2, kR3, kG3, kB3 };

/// The next bits of a block are bits `last` to `first` of a variable, rising; falling if last > first.
struct Piece {
  Variable variable;
  uint8_t first;
  uint8_t last;
};

// In the order of the block, after the mode and before the partition.
constexpr Piece kPieces0[] = {{kG2, 4, 4}, {kB2, 4, 4}, {kB3, 4, 4}, {kR0, 9, 0}, {kG0, 9, 0}, {kB0, 9, 0}, {kR1, 4, 0},
                              {kG3, 4, 4}, {kG2, 3, 0}, {kG1, 4, 0}, {kB3, 0, 0}, {kG3, 3, 0}, {kB1, 4, 0}, {kB3, 1, 1},
                              {kB2, 3, 0}, {kR2, 4, 0}, {kB3, 2, 2}, {kR3, 4, 0}, {kB3, 3, 3}};
constexpr Piece kPieces1[] = {{kG2, 5, 5}, {kG3, 4, 4}, {kG3, 5, 5}, {kR0, 6, 0}, {kB3, 0, 0}, {kB3, 1, 1},
                              {kB2, 4, 4}, {kG0, 6, 0}, {kB2, 5, 5}, {kB3, 2, 2}, {kG2, 4, 4}, {kB0, 6, 0},
                              {kB3, 3, 3}, {kB3, 5, 5}, {kB3, 4, 4}, {kR1, 5, 0}, {kG2, 3, 0}, {kG1, 5, 0},
                              {kG3, 3, 0}, {kB1, 5, 0}, {kB2, 3, 0}, {kR2, 5, 0}, {kR3, 5, 0}};
constexpr Piece kPieces2[] = {{kR0, 9, 0}, {kG0, 9, 0},   {kB0, 9, 0}, {kR1, 4, 0}, {kR0, 10, 10}, {kG2, 3, 0},
                              {kG1, 3, 0}, {kG0, 10, 10}, {kB3, 0, 0}, {kG3, 3, 0}, {kB1, 3, 0},   {kB0, 10, 10},
                              {kB3, 1, 1}, {kB2, 3, 0},   {kR2, 4, 0}, {kB3, 2, 2}, {kR3, 4, 0},   {kB3, 3, 3}};
constexpr Piece kPieces6[] = {{kR0, 9, 0}, {kG0, 9, 0},   {kB0, 9, 0}, {kR1, 3, 0},   {kR0, 10, 10},
                              {kG3, 4, 4}, {kG2, 3, 0},   {kG1, 4, 0}, {kG0, 10, 10}, {kG3, 3, 0},
                              {kB1, 3, 0}, {kB0, 10, 10}, {kB3, 1, 1}, {kB2, 3, 0},   {kR2, 3, 0},
                              {kB3, 0, 0}, {kB3, 2, 2},   {kR3, 3, 0}, {kG2, 4, 4},   {kB3, 3, 3}};
constexpr Piece kPieces10[] = {{kR0, 9, 0}, {kG0, 9, 0}, {kB0, 9, 0},   {kR1, 3, 0},   {kR0, 10, 10},
                               {kB2, 4, 4}, {kG2, 3, 0}, {kG1, 3, 0},   {kG0, 10, 10}, {kB3, 0, 0},
                               {kG3, 3, 0}, {kB1, 4, 0}, {kB0, 10, 10}, {kB2, 3, 0},   {kR2, 3, 0},
                               {kB3, 1, 1}, {kB3, 2, 2}, {kR3, 3, 0},   {kB3, 4, 4},   {kB3, 3, 3}};
constexpr Piece kPieces14[] = {{kR0, 8, 0}, {kB2, 4, 4}, {kG0, 8, 0}, {kG2, 4, 4}, {kB0, 8, 0},
                               {kB3, 4, 4}, {kR1, 4, 0}, {kG3, 4, 4}, {kG2, 3, 0}, {kG1, 4, 0},
                               {kB3, 0, 0}, {kG3, 3, 0}, {kB1, 4, 0}, {kB3, 1, 1}, {kB2, 3, 0},
                               {kR2, 4, 0}, {kB3, 2, 2}, {kR3, 4, 0}, {kB3, 3, 3}};
constexpr Piece kPieces18[] = {{kR0, 7, 0}, {kG3, 4, 4}, {kB2, 4, 4}, {kG0, 7, 0}, {kB3, 2, 2},
                               {kG2, 4, 4}, {kB0, 7, 0}, {kB3, 3, 3}, {kB3, 4, 4}, {kR1, 5, 0},
                               {kG2, 3, 0}, {kG1, 4, 0}, {kB3, 0, 0}, {kG3, 3, 0}, {kB1, 4, 0},
                               {kB3, 1, 1}, {kB2, 3, 0}, {kR2, 5, 0}, {kR3, 5, 0}};
constexpr Piece kPieces22[] = {{kR0, 7, 0}, {kB3, 0, 0}, {kB2, 4, 4}, {kG0, 7, 0}, {kG2, 5, 5}, {kG2, 4, 4},
                               {kB0, 7, 0}, {kG3, 5, 5}, {kB3, 4, 4}, {kR1, 4, 0}, {kG3, 4, 4}, {kG2, 3, 0},
                               {kG1, 5, 0}, {kG3, 3, 0}, {kB1, 4, 0}, {kB3, 1, 1}, {kB2, 3, 0}, {kR2, 4, 0},
                               {kB3, 2, 2}, {kR3, 4, 0}, {kB3, 3, 3}};
constexpr Piece kPieces26[] = {{kR0, 7, 0}, {kB3, 1, 1}, {kB2, 4, 4}, {kG0, 7, 0}, {kB2, 5, 5}, {kG2, 4, 4},
                               {kB0, 7, 0}, {kB3, 5, 5}, {kB3, 4, 4}, {kR1, 4, 0}, {kG3, 4, 4}, {kG2, 3, 0},
                               {kG1, 4, 0}, {kB3, 0, 0}, {kG3, 3, 0}, {kB1, 5, 0}, {kB2, 3, 0}, {kR2, 4, 0},
                               {kB3, 2, 2}, {kR3, 4, 0}, {kB3, 3, 3}};
constexpr Piece kPieces30[] = {{kR0, 5, 0}, {kG3, 4, 4}, {kB3, 0, 0}, {kB3, 1, 1}, {kB2, 4, 4}, {kG0, 5, 0},
                               {kG2, 5, 5}, {kB2, 5, 5}, {kB3, 2, 2}, {kG2, 4, 4}, {kB0, 5, 0}, {kG3, 5, 5},
                               {kB3, 3, 3}, {kB3, 5, 5}, {kB3, 4, 4}, {kR1, 5, 0}, {kG2, 3, 0}, {kG1, 5, 0},
                               {kG3, 3, 0}, {kB1, 5, 0}, {kB2, 3, 0}, {kR2, 5, 0}, {kR3, 5, 0}};
constexpr Piece kPieces3[] = {{kR0, 9, 0}, {kG0, 9, 0}, {kB0, 9, 0}, {kR1, 9, 0}, {kG1, 9, 0}, {kB1, 9, 0}};
constexpr Piece kPieces7[] = {{kR0, 9, 0}, {kG0, 9, 0},   {kB0, 9, 0}, {kR1, 8, 0},  {kR0, 10, 10},
                              {kG1, 8, 0}, {kG0, 10, 10}, {kB1, 8, 0}, {kB0, 10, 10}};
constexpr Piece kPieces11[] = {{kR0, 9, 0}, {kG0, 9, 0},   {kB0, 9, 0}, {kR1, 7, 0},  {kR0, 10, 11},
                               {kG1, 7, 0}, {kG0, 10, 11}, {kB1, 7, 0}, {kB0, 10, 11}};
constexpr Piece kPieces15[] = {{kR0, 9, 0}, {kG0, 9, 0},   {kB0, 9, 0}, {kR1, 3, 0},  {kR0, 10, 15},
                               {kG1, 3, 0}, {kG0, 10, 15}, {kB1, 3, 0}, {kB0, 10, 15}};

struct Mode {
  bool transformed;
  uint8_t subsets;
  uint8_t endpointBits;
  uint8_t deltaBits[3];  // of all endpoints but the first
  std::span<const Piece> pieces;
};

constexpr Mode kInvalid{};

/// By the low five bits of a block; modes 0 and 1 have two.
constexpr Mode modeOf(uint32_t code) {
  if ((code & 3) < 2) code &= 3;
  switch (code) {
    case 0:
      return {true, 2, 10, {5, 5, 5}, kPieces0};
    case 1:
      return {true, 2, 7, {6, 6, 6}, kPieces1};
    case 2:
      return {true, 2, 11, {5, 4, 4}, kPieces2};
    case 6:
      return {true, 2, 11, {4, 5, 4}, kPieces6};
    case 10:
      return {true, 2, 11, {4, 4, 5}, kPieces10};
    case 14:
      return {true, 2, 9, {5, 5, 5}, kPieces14};
    case 18:
      return {true, 2, 8, {6, 5, 5}, kPieces18};
    case 22:
      return {true, 2, 8, {5, 6, 5}, kPieces22};
    case 26:
      return {true, 2, 8, {5, 5, 6}, kPieces26};
    case 30:
      return {false, 2, 6, {6, 6, 6}, kPieces30};
    case 3:
      return {false, 1, 10, {10, 10, 10}, kPieces3};
    case 7:
      return {true, 1, 11, {9, 9, 9}, kPieces7};
    case 11:
      return {true, 1, 12, {8, 8, 8}, kPieces11};
    case 15:
      return {true, 1, 16, {4, 4, 4}, kPieces15};
    default:
      return kInvalid;
  }
}

int32_t signExtend(uint32_t value, unsigned bits) {
  return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
}

void readPieces(BitReader* reader, const Mode& mode, uint32_t variables[12]) {
  for (const Piece& piece : mode.pieces) {
    if (piece.first >= piece.last) {
      variables[piece.variable] |= reader->take(piece.first - piece.last + 1u) << piece.last;
    } else {
      for (int bit = piece.last; bit >= piece.first; --bit) variables[piece.variable] |= reader->take(1) << bit;
    }
  }
}

int32_t unquantizeUnsigned(int32_t x, unsigned bits) {
  if (bits >= 15 || x == 0) return x;
  if (x == (1 << bits) - 1) return 0xFFFF;
  return ((x << 15) + 0x4000) >> (bits - 1);
}

int32_t unquantizeSigned(int32_t x, unsigned bits) {
  if (bits >= 16 || x == 0) return x;
  const int32_t magnitude = x < 0 ? -x : x;
  const int32_t result = magnitude >= (1 << (bits - 1)) - 1 ? 0x7FFF : ((magnitude << 15) + 0x4000) >> (bits - 1);
  return x < 0 ? -result : result;
}

/// The interpolated integer as the bits of a half: scaled so that the largest becomes 65504.
uint16_t finish(int32_t value, bool isSigned) {
  if (!isSigned) return static_cast<uint16_t>((value * 31) >> 6);
  return static_cast<uint16_t>(value < 0 ? ((-value * 31) >> 5) | 0x8000 : (value * 31) >> 5);
}

/// Endpoints by endpoint x 3 + component, unquantized.
void readEndpoints(BitReader* reader, const Mode& mode, bool isSigned, int32_t endpoints[12]) {
  uint32_t raw[12] = {};
  readPieces(reader, mode, raw);
  const unsigned bits = mode.endpointBits;
  for (unsigned v = 0; v < mode.subsets * 6u; ++v) {
    int32_t value;
    if (v < 3 || !mode.transformed) {
      value = isSigned ? signExtend(raw[v], bits) : static_cast<int32_t>(raw[v]);
    } else {
      const uint32_t sum = raw[v % 3] + static_cast<uint32_t>(signExtend(raw[v], mode.deltaBits[v % 3]));
      const uint32_t wrapped = sum & ((1u << bits) - 1);
      value = isSigned ? signExtend(wrapped, bits) : static_cast<int32_t>(wrapped);
    }
    endpoints[v] = isSigned ? unquantizeSigned(value, bits) : unquantizeUnsigned(value, bits);
  }
}

void decodeHalves(const FormatInfo& info, const std::byte* block, uint16_t texels[16][4]) {
  constexpr uint16_t kOne = 0x3C00;
  const bool isSigned = info.components[0].numeric == NumericFormat::kSfloat;
  const Bits128 bits = Bits128::load(block);
  const Mode mode = modeOf(bits.get(0, 5));
  if (mode.subsets == 0) {
    for (int i = 0; i < 16; ++i) {
      for (int c = 0; c < 4; ++c) texels[i][c] = c == 3 ? kOne : 0;
    }
    return;
  }
  BitReader reader(bits, bits.get(0, 2) < 2 ? 2 : 5);
  int32_t endpoints[12];
  readEndpoints(&reader, mode, isSigned, endpoints);
  const bptc::Partition partition = bptc::partition(mode.subsets, mode.subsets == 2 ? reader.take(5) : 0);
  const unsigned indexBits = mode.subsets == 2 ? 3 : 4;
  uint8_t indices[16];
  bptc::readIndices(&reader, partition, indexBits, indices);
  for (int i = 0; i < 16; ++i) {
    const int32_t* from = endpoints + partition.subset[i] * 6;
    const auto weight = static_cast<int32_t>(bptc::weight(indices[i], indexBits));
    for (int c = 0; c < 3; ++c) {
      texels[i][c] = finish(((64 - weight) * from[c] + weight * from[3 + c] + 32) >> 6, isSigned);
    }
    texels[i][3] = kOne;
  }
}

}  // namespace

void decodeBc6h(const FormatInfo& info, const std::byte* block, std::byte* texels, size_t rowPitch_B) {
  uint16_t halves[16][4];
  decodeHalves(info, block, halves);
  for (size_t y = 0; y < 4; ++y) std::memcpy(texels + y * rowPitch_B, halves[4 * y], 32);
}

void decodeBc6hFloat(const FormatInfo& info, const std::byte* block, float* rgba) {
  uint16_t halves[16][4];
  decodeHalves(info, block, halves);
  for (size_t i = 0; i < 64; ++i) rgba[i] = halfToFloat(halves[i / 4][i % 4]);
}

}  // namespace pumice::formats
