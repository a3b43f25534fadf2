// BC6H and BC7: blocks are built field by field and the expected texels come from the specification's formulas. BC6H's
// fields are placed by the specification's table of single bits, where the decoder goes by its block descriptions.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "backend/formats/block_test_support.h"
#include "backend/formats/bptc.h"

namespace pumice::formats {
namespace {

using test::BlockBits;
using test::Rgba8;

constexpr int kWeights[5][16] = {{},
                                 {},
                                 {0, 21, 43, 64},
                                 {0, 9, 18, 27, 37, 46, 55, 64},
                                 {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64}};

// Those that can be said in words; of the others, that each subset has its anchor and every number its own pattern.
TEST(Bptc, Partitions) {
  const std::vector<std::pair<int, std::function<int(int, int)>>> two = {
      {0, [](int x, int) { return x >= 2; }},           {1, [](int x, int) { return x == 3; }},
      {2, [](int x, int) { return x >= 1; }},           {13, [](int, int y) { return y >= 2; }},
      {14, [](int, int y) { return y >= 1; }},          {15, [](int, int y) { return y == 3; }},
      {32, [](int x, int) { return x % 2; }},           {33, [](int, int y) { return y % 2; }},
      {26, [](int x, int) { return x == 1 || x == 2; }}};
  for (const auto& [number, rule] : two) {
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ((bptc::kPartitions2[number] >> i) & 1, rule(i % 4, i / 4)) << "2 subsets, " << number << ", " << i;
    }
  }
  const std::vector<std::pair<int, std::function<int(int, int)>>> three = {
      {8, [](int, int y) { return y < 2 ? 0 : y - 1; }},
      {9, [](int, int y) { return y == 0  ? 0
                                  : y < 3 ? 1
                                          : 2; }},
      {10, [](int, int y) { return y == 0   ? 0
                                   : y == 1 ? 1
                                            : 2; }},
      {11, [](int x, int) { return x < 2 ? 0 : x - 1; }},
      {12, [](int x, int) { return x == 0  ? 0
                                   : x < 3 ? 1
                                           : 2; }},
      {13, [](int x, int) { return std::min(x, 2); }},
      {59, [](int x, int y) { return y < 3              ? 0
                                     : x == 0 || x == 3 ? 2
                                                        : 1; }}};
  for (const auto& [number, rule] : three) {
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(static_cast<int>((bptc::kPartitions3[number] >> (2 * i)) & 3), rule(i % 4, i / 4))
          << "3 subsets, " << number << ", " << i;
    }
  }
  for (int a = 0; a < 64; ++a) {
    EXPECT_EQ(bptc::kPartitions2[a] & 1, 0);
    EXPECT_EQ((bptc::kPartitions2[a] >> bptc::kAnchor2[a]) & 1, 1) << a;
    EXPECT_EQ(bptc::kPartitions3[a] & 3, 0u);
    EXPECT_EQ((bptc::kPartitions3[a] >> (2 * bptc::kAnchor32[a])) & 3, 1u) << a;
    EXPECT_EQ((bptc::kPartitions3[a] >> (2 * bptc::kAnchor33[a])) & 3, 2u) << a;
    for (int b = 0; b < a; ++b) {
      EXPECT_NE(bptc::kPartitions2[a], bptc::kPartitions2[b]);
      EXPECT_NE(bptc::kPartitions3[a], bptc::kPartitions3[b]);
    }
  }
}

// ---- BC7
// -----------------------------------------------------------------------------------------------------------------
struct Bc7Mode {
  int subsets, partition, rotation, selection, color, alpha, parity, shared, index, second;
};

constexpr Bc7Mode kBc7[8] = {{3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0},
                             {3, 6, 0, 0, 5, 0, 0, 0, 2, 0}, {2, 6, 0, 0, 7, 0, 1, 0, 2, 0},
                             {1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
                             {1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0}};

int subsetOf(int subsets, int partition, int texel) {
  if (subsets == 1) return 0;
  return subsets == 2 ? (bptc::kPartitions2[partition] >> texel) & 1
                      : static_cast<int>((bptc::kPartitions3[partition] >> (2 * texel)) & 3);
}

bool isAnchor(int subsets, int partition, int texel) {
  if (texel == 0) return true;
  if (subsets == 2) return texel == bptc::kAnchor2[partition];
  return subsets == 3 && (texel == bptc::kAnchor32[partition] || texel == bptc::kAnchor33[partition]);
}

int mixed(int a, int b, int weight) {
  return static_cast<int>(std::floor(((64.0 - weight) * a + weight * b + 32) / 64));
}

TEST(Bc7, BlocksOfEveryModeAndPartition) {
  const BlockCodec codec = blockCodec(VK_FORMAT_BC7_UNORM_BLOCK);
  ASSERT_EQ(codec.decodedFormat, VK_FORMAT_R8G8B8A8_UNORM);
  std::mt19937 random(1);
  const auto some = [&](int bits) { return static_cast<int>(random() & ((1u << bits) - 1)); };
  for (int number = 0; number < 8; ++number) {
    const Bc7Mode& mode = kBc7[number];
    for (int repeat = 0; repeat < 512; ++repeat) {
      BlockBits block;
      block.put(number + 1, 1u << number);
      const int partition = repeat & ((1 << mode.partition) - 1);
      const int rotation = some(mode.rotation), selection = some(mode.selection);
      block.put(mode.partition, static_cast<uint64_t>(partition));
      block.put(mode.rotation, static_cast<uint64_t>(rotation));
      block.put(mode.selection, static_cast<uint64_t>(selection));
      int ends[6][4];
      for (int c = 0; c < 4; ++c) {
        for (int e = 0; e < mode.subsets * 2; ++e) {
          ends[e][c] = some(c == 3 ? mode.alpha : mode.color);
          block.put(c == 3 ? mode.alpha : mode.color, static_cast<uint64_t>(ends[e][c]));
        }
      }
      int parity[6] = {};
      for (int e = 0; e < mode.subsets * 2; ++e) {
        if (mode.parity != 0 || (mode.shared != 0 && e % 2 == 0)) {
          parity[e] = some(1);
          block.put(1, static_cast<uint64_t>(parity[e]));
        } else if (mode.shared != 0) {
          parity[e] = parity[e - 1];
        }
      }
      const int extra = mode.parity + mode.shared;
      for (int e = 0; e < mode.subsets * 2; ++e) {
        for (int c = 0; c < 4; ++c) {
          const int bits = c == 3 ? mode.alpha : mode.color;
          ends[e][c] = bits == 0 ? 255
                                 : test::repeatedBits(
                                       static_cast<uint32_t>(extra != 0 ? ends[e][c] * 2 + parity[e] : ends[e][c]),
                                       bits + extra, 8);
        }
      }
      int first[16], second[16];
      for (int i = 0; i < 16; ++i) {
        first[i] = some(mode.index - (isAnchor(mode.subsets, partition, i) ? 1 : 0));
        block.put(mode.index - (isAnchor(mode.subsets, partition, i) ? 1 : 0), static_cast<uint64_t>(first[i]));
      }
      for (int i = 0; i < 16 && mode.second != 0; ++i) {
        second[i] = some(mode.second - (i == 0 ? 1 : 0));
        block.put(mode.second - (i == 0 ? 1 : 0), static_cast<uint64_t>(second[i]));
      }
      ASSERT_EQ(block.position(), 128);
      const std::vector<Rgba8> got = test::bytesOf(codec, block.data());
      for (int i = 0; i < 16; ++i) {
        const int* from = ends[2 * subsetOf(mode.subsets, partition, i)];
        const int* to = from + 4;
        int colorWeight = kWeights[mode.index][first[i]];
        int alphaWeight = colorWeight;
        if (mode.second != 0) alphaWeight = kWeights[mode.second][second[i]];
        if (selection != 0) std::swap(colorWeight, alphaWeight);
        Rgba8 expected{{mixed(from[0], to[0], colorWeight), mixed(from[1], to[1], colorWeight),
                        mixed(from[2], to[2], colorWeight), mixed(from[3], to[3], alphaWeight)}};
        if (rotation != 0) std::swap(expected.c[3], expected.c[rotation - 1]);
        ASSERT_EQ(got[static_cast<size_t>(i)], expected) << "mode " << number << " partition " << partition << " " << i;
      }
    }
  }
}

TEST(Bc7, ReservedModeIsZero) {
  BlockBits block;
  for (int i = 8; i < 128; ++i) block.set(i, 1, 1);
  for (const Rgba8& texel : test::bytesOf(blockCodec(VK_FORMAT_BC7_SRGB_BLOCK), block.data())) {
    EXPECT_EQ(texel, (Rgba8{{0, 0, 0, 0}}));
  }
}

// ---- BC6H
// ----------------------------------------------------------------------------------------------------------------
struct Bc6Mode {
  int number;
  bool transformed;
  int endpointBits;
  int deltaBits[3];
  // Two letters for each bit of the block from bit 0 on: M mode, P partition, a to l the red, green and blue of
  // endpoint 0, then of endpoint 1, 2, 3; and the bit of it.
  const char* bits;
};

constexpr Bc6Mode kBc6[] = {
    {0,
     true,
     10,
     {5, 5, 5},
     "M0M1h4i4l4a0a1a2a3a4a5a6a7a8a9b0b1b2b3b4b5b6b7b8b9c0c1c2c3c4c5c6c7c8c9d0d1d2d3d4k4h0h1h2h3e0e1e2e3e4l0k0k1k2k3f0f"
     "1f2f3f4l1i0i1i2i3g0g1g2g3g4l2j0j1j2j3j4l3P0P1P2P3P4"},
    {1,
     true,
     7,
     {6, 6, 6},
     "M0M1h5k4k5a0a1a2a3a4a5a6l0l1i4b0b1b2b3b4b5b6i5l2h4c0c1c2c3c4c5c6l3l5l4d0d1d2d3d4d5h0h1h2h3e0e1e2e3e4e5k0k1k2k3f0f"
     "1f2f3f4f5i0i1i2i3g0g1g2g3g4g5j0j1j2j3j4j5P0P1P2P3P4"},
    {2,
     true,
     11,
     {5, 4, 4},
     "M0M1M2M3M4a0a1a2a3a4a5a6a7a8a9b0b1b2b3b4b5b6b7b8b9c0c1c2c3c4c5c6c7c8c9d0d1d2d3d4aAh0h1h2h3e0e1e2e3bAl0k0k1k2k3f0f"
     "1f2f3cAl1i0i1i2i3g0g1g2g3g4l2j0j1j2j3j4l3P0P1P2P3P4"},
    {6,
     true,
     11,
     {4, 5, 4},
     "M0M1M2M3M4a0a1a2a3a4a5a6a7a8a9b0b1b2b3b4b5b6b7b8b9c0c1c2c3c4c5c6c7c8c9d0d1d2d3aAk4h0h1h2h3e0e1e2e3e4bAk0k1k2k3f0f"
     "1f2f3cAl1i0i1i2i3g0g1g2g3l0l2j0j1j2j3h4l3P0P1P2P3P4"},
    {10,
     true,
     11,
     {4, 4, 5},
     "M0M1M2M3M4a0a1a2a3a4a5a6a7a8a9b0b1b2b3b4b5b6b7b8b9c0c1c2c3c4c5c6c7c8c9d0d1d2d3aAi4h0h1h2h3e0e1e2e3bAl0k0k1k2k3f0f"
     "1f2f3f4cAi0i1i2i3g0g1g2g3l1l2j0j1j2j3l4l3P0P1P2P3P4"},
    {14,
     true,
     9,
     {5, 5, 5},
     "M0M1M2M3M4a0a1a2a3a4a5a6a7a8i4b0b1b2b3b4b5b6b7b8h4c0c1c2c3c4c5c6c7c8l4d0d1d2d3d4k4h0h1h2h3e0e1e2e3e4l0k0k1k2k3f0f"
     "1f2f3f4l1i0i1i2i3g0g1g2g3g4l2j0j1j2j3j4l3P0P1P2P3P4"},
    {18,
     true,
     8,
     {6, 5, 5},
     "M0M1M2M3M4a0a1a2a3a4a5a6a7k4i4b0b1b2b3b4b5b6b7l2h4c0c1c2c3c4c5c6c7l3l4d0d1d2d3d4d5h0h1h2h3e0e1e2e3e4l0k0k1k2k3f0f"
     "1f2f3f4l1i0i1i2i3g0g1g2g3g4g5j0j1j2j3j4j5P0P1P2P3P4"},
    {22,
     true,
     8,
     {5, 6, 5},
     "M0M1M2M3M4a0a1a2a3a4a5a6a7l0i4b0b1b2b3b4b5b6b7h5h4c0c1c2c3c4c5c6c7k5l4d0d1d2d3d4k4h0h1h2h3e0e1e2e3e4e5k0k1k2k3f0f"
     "1f2f3f4l1i0i1i2i3g0g1g2g3g4l2j0j1j2j3j4l3P0P1P2P3P4"},
    {26,
     true,
     8,
     {5, 5, 6},
     "M0M1M2M3M4a0a1a2a3a4a5a6a7l1i4b0b1b2b3b4b5b6b7i5h4c0c1c2c3c4c5c6c7l5l4d0d1d2d3d4k4h0h1h2h3e0e1e2e3e4l0k0k1k2k3f0f"
     "1f2f3f4f5i0i1i2i3g0g1g2g3g4l2j0j1j2j3j4l3P0P1P2P3P4"},
    {30,
     false,
     6,
     {6, 6, 6},
     "M0M1M2M3M4a0a1a2a3a4a5k4l0l1i4b0b1b2b3b4b5h5i5l2h4c0c1c2c3c4c5k5l3l5l4d0d1d2d3d4d5h0h1h2h3e0e1e2e3e4e5k0k1k2k3f0f"
     "1f2f3f4f5i0i1i2i3g0g1g2g3g4g5j0j1j2j3j4j5P0P1P2P3P4"},
    {3,
     false,
     10,
     {10, 10, 10},
     "M0M1M2M3M4a0a1a2a3a4a5a6a7a8a9b0b1b2b3b4b5b6b7b8b9c0c1c2c3c4c5c6c7c8c9d0d1d2d3d4d5d6d7d8d9e0e1e2e3e4e5e6e7e8e9f0f"
     "1f2f3f4f5f6f7f8f9"},
    {7,
     true,
     11,
     {9, 9, 9},
     "M0M1M2M3M4a0a1a2a3a4a5a6a7a8a9b0b1b2b3b4b5b6b7b8b9c0c1c2c3c4c5c6c7c8c9d0d1d2d3d4d5d6d7d8aAe0e1e2e3e4e5e6e7e8bAf0f"
     "1f2f3f4f5f6f7f8cA"},
    {11,
     true,
     12,
     {8, 8, 8},
     "M0M1M2M3M4a0a1a2a3a4a5a6a7a8a9b0b1b2b3b4b5b6b7b8b9c0c1c2c3c4c5c6c7c8c9d0d1d2d3d4d5d6d7aBaAe0e1e2e3e4e5e6e7bBbAf0f"
     "1f2f3f4f5f6f7cBcA"},
    {15,
     true,
     16,
     {4, 4, 4},
     "M0M1M2M3M4a0a1a2a3a4a5a6a7a8a9b0b1b2b3b4b5b6b7b8b9c0c1c2c3c4c5c6c7c8c9d0d1d2d3aFaEaDaCaBaAe0e1e2e3bFbEbDbCbBbAf0f"
     "1f2f3cFcEcDcCcBcA"},
};

int64_t signExtended(int64_t value, int bits) {
  return value >= int64_t{1} << (bits - 1) ? value - (int64_t{1} << bits) : value;
}

int64_t unquantized(int64_t x, int bits, bool isSigned) {
  if (!isSigned) {
    if (bits >= 15 || x == 0) return x;
    return x == (int64_t{1} << bits) - 1 ? 0xFFFF : ((x << 15) + 0x4000) >> (bits - 1);
  }
  if (bits >= 16 || x == 0) return x;
  const int64_t magnitude = std::abs(x);
  const int64_t result =
      magnitude >= (int64_t{1} << (bits - 1)) - 1 ? 0x7FFF : ((magnitude << 15) + 0x4000) >> (bits - 1);
  return x < 0 ? -result : result;
}

double halfValue(int bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double magnitude = exponent == 31  ? INFINITY
                           : exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Bc6h, BlocksOfEveryMode) {
  std::mt19937 random(2);
  for (bool isSigned : {false, true}) {
    const BlockCodec codec = blockCodec(isSigned ? VK_FORMAT_BC6H_SFLOAT_BLOCK : VK_FORMAT_BC6H_UFLOAT_BLOCK);
    ASSERT_EQ(codec.decodedFormat, VK_FORMAT_R16G16B16A16_SFLOAT);
    for (const Bc6Mode& mode : kBc6) {
      for (int repeat = 0; repeat < 1000; ++repeat) {
        BlockBits block;
        int64_t variables[12];
        for (int v = 0; v < 12; ++v) {
          const int bits = v < 3 || !mode.transformed ? mode.endpointBits : mode.deltaBits[v % 3];
          // Extremes are as likely as all others.
          variables[v] = static_cast<int64_t>(random()) & ((int64_t{1} << bits) - 1);
          if (random() % 8 == 0) variables[v] = (int64_t{1} << bits) - 1;
          if (random() % 8 == 0) variables[v] = int64_t{1} << (bits - 1);
        }
        const int partition = static_cast<int>(random() % 32);
        for (const char* bit = mode.bits; *bit != 0; bit += 2) {
          const int index = bit[1] <= '9' ? bit[1] - '0' : bit[1] - 'A' + 10;
          const int64_t from = bit[0] == 'M' ? mode.number : bit[0] == 'P' ? partition : variables[bit[0] - 'a'];
          block.put(1, static_cast<uint64_t>(from >> index) & 1);
        }
        const int subsets = block.position() == 82 ? 2 : 1;
        const int indexBits = subsets == 2 ? 3 : 4;
        int indices[16];
        for (int i = 0; i < 16; ++i) {
          const int bits = indexBits - (isAnchor(subsets, partition, i) ? 1 : 0);
          indices[i] = static_cast<int>(random() & ((1u << bits) - 1));
          block.put(bits, static_cast<uint64_t>(indices[i]));
        }
        ASSERT_EQ(block.position(), 128);

        int64_t ends[12];
        for (int v = 0; v < subsets * 6; ++v) {
          int64_t value = variables[v];
          if (v >= 3 && mode.transformed) {
            value = (variables[v % 3] + signExtended(value, mode.deltaBits[v % 3])) &
                    ((int64_t{1} << mode.endpointBits) - 1);
          }
          if (isSigned) value = signExtended(value, mode.endpointBits);
          ends[v] = unquantized(value, mode.endpointBits, isSigned);
        }
        const std::vector<float> floats = test::floatsOf(codec, block.data());
        uint16_t texels[16][4];
        codec.decode(block.data(), texels, 32);
        for (int i = 0; i < 16; ++i) {
          const int weight = kWeights[indexBits][indices[i]];
          const int base = 6 * subsetOf(subsets, partition, i);
          for (int c = 0; c < 3; ++c) {
            const auto value = static_cast<int64_t>(std::floor((static_cast<double>(ends[base + c]) * (64 - weight) +
                                                                static_cast<double>(ends[base + 3 + c]) * weight + 32) /
                                                               64));
            const int64_t expected = !isSigned    ? value * 31 / 64
                                     : value >= 0 ? value * 31 / 32
                                                  : (-value * 31 / 32) | 0x8000;
            ASSERT_EQ(texels[i][c], expected) << "mode " << mode.number << " texel " << i << " component " << c;
            ASSERT_EQ(static_cast<double>(floats[static_cast<size_t>(4 * i + c)]),
                      halfValue(static_cast<int>(expected)));
          }
          ASSERT_EQ(texels[i][3], 0x3C00);
          ASSERT_EQ(floats[static_cast<size_t>(4 * i + 3)], 1.0f);
        }
      }
    }
  }
}

TEST(Bc6h, ReservedModesAreOpaqueBlack) {
  for (int mode : {19, 23, 27, 31}) {
    BlockBits block;
    block.put(5, static_cast<uint64_t>(mode));
    for (int i = 5; i < 128; ++i) block.put(1, 1);
    const std::vector<float> floats = test::floatsOf(blockCodec(VK_FORMAT_BC6H_UFLOAT_BLOCK), block.data());
    for (size_t i = 0; i < 64; ++i) EXPECT_EQ(floats[i], i % 4 == 3 ? 1.0f : 0.0f) << mode;
  }
}

}  // namespace
}  // namespace pumice::formats
