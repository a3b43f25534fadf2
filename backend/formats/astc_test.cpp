// ASTC: the pieces, then whole blocks of random meaning, then each kind of illegal block.
#include <gtest/gtest.h>

#include <random>

#include "backend/formats/astc_block.h"
#include "backend/formats/astc_integers.h"
#include "backend/formats/astc_test_support.h"

namespace pumice::formats {
namespace {

using test::AstcGrid;
using test::AstcRange;
using test::BlockBits;
using test::Rgba8;

constexpr Rgba8 kMagenta{{255, 0, 255, 255}};

/// The ranges that colors may have, the largest first.
std::vector<AstcRange> colorRanges() {
  std::vector<AstcRange> ranges;
  for (int base : {1, 3, 5}) {
    for (int bits = 0; bits <= 8; ++bits) {
      const AstcRange range{base, bits};
      if (range.steps() >= 6 && range.steps() <= 256) ranges.push_back(range);
    }
  }
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.steps() > b.steps(); });
  return ranges;
}

astc::Range asDecoder(const AstcRange& range) {
  return {static_cast<uint8_t>(range.base == 1 ? 0 : range.base), static_cast<uint8_t>(range.bits)};
}

// The steps of a range are spread over 0 to 255 (0 to 64) as evenly as the bit tricks allow, in a scrambled order.
TEST(Astc, StepsAreEven) {
  const std::vector<AstcRange> ranges = colorRanges();
  ASSERT_EQ(ranges.size(), static_cast<size_t>(astc::kColorRangeCount));
  for (size_t r = 0; r < ranges.size(); ++r) {
    EXPECT_EQ(astc::kColorRanges[r].base, asDecoder(ranges[r]).base);
    EXPECT_EQ(astc::kColorRanges[r].bits, asDecoder(ranges[r]).bits);
    std::vector<int> steps;
    for (int value = 0; value < ranges[r].steps(); ++value) {
      steps.push_back(astc::unquantizeColor(static_cast<int>(r), static_cast<uint8_t>(value)));
      EXPECT_EQ(steps.back(), test::unquantizedColor(ranges[r], value));
    }
    std::sort(steps.begin(), steps.end());
    for (size_t i = 0; i < steps.size(); ++i) {
      EXPECT_NEAR(steps[i], 255.0 * static_cast<double>(i) / static_cast<double>(steps.size() - 1), 1.4)
          << ranges[r].steps();
    }
  }
  for (const AstcRange& range :
       {AstcRange{1, 1}, AstcRange{3, 0}, AstcRange{1, 2}, AstcRange{5, 0}, AstcRange{3, 1}, AstcRange{1, 3},
        AstcRange{5, 1}, AstcRange{3, 2}, AstcRange{1, 4}, AstcRange{5, 2}, AstcRange{3, 3}, AstcRange{1, 5}}) {
    std::vector<int> steps;
    for (int value = 0; value < range.steps(); ++value) {
      steps.push_back(astc::unquantizeWeight(asDecoder(range), static_cast<uint8_t>(value)));
      EXPECT_EQ(steps.back(), test::unquantizedWeight(range, value));
    }
    std::sort(steps.begin(), steps.end());
    for (size_t i = 0; i < steps.size(); ++i) {
      EXPECT_NEAR(steps[i], 64.0 * static_cast<double>(i) / static_cast<double>(steps.size() - 1), 1.4)
          << range.steps();
    }
  }
}

TEST(Astc, EveryPackOfDigits) {
  for (int pack = 0; pack < 256; ++pack) {
    // With no low bits the five values are the digits.
    uint8_t values[5];
    astc::readSequence({static_cast<uint64_t>(pack), 0}, {3, 0}, 5, values);
    const std::vector<int> expected = test::tritsOfPack(pack);
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(values[i], expected[i]) << pack;
    if (pack >= 128) continue;
    astc::readSequence({static_cast<uint64_t>(pack), 0}, {5, 0}, 3, values);
    const std::vector<int> quints = test::quintsOfPack(pack);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(values[i], quints[i]) << pack;
  }
}

TEST(Astc, SequencesOfEveryLength) {
  std::mt19937 random(1);
  for (const AstcRange& range : {AstcRange{3, 0}, AstcRange{3, 1}, AstcRange{3, 4}, AstcRange{5, 0}, AstcRange{5, 2},
                                 AstcRange{1, 1}, AstcRange{1, 5}, AstcRange{1, 8}}) {
    for (int count = 1; range.sequenceBits(count) <= 111; ++count) {
      EXPECT_EQ(static_cast<int>(asDecoder(range).sequenceBits(static_cast<unsigned>(count))),
                range.sequenceBits(count));
      std::vector<int> values;
      for (int i = 0; i < count; ++i) values.push_back(static_cast<int>(random()) & 0x7FFFFFFF);
      for (int& value : values) value %= range.steps();
      const std::vector<int> bits = test::sequenceOf(range, values, random());
      ASSERT_EQ(static_cast<int>(bits.size()), range.sequenceBits(count));
      BlockBits block;
      for (int bit : bits) block.put(1, static_cast<uint64_t>(bit));
      while (block.position() < 128) block.put(1, 1);  // what follows must not matter
      std::vector<uint8_t> got(values.size());
      astc::readSequence(Bits128::load(block.data()), asDecoder(range), static_cast<unsigned>(count), got.data());
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(got[i], values[i]) << range.base << " " << range.bits << " " << count;
    }
  }
}

/// All 2048 block modes in a block that is otherwise legal: one partition, luminance.
TEST(Astc, EveryBlockMode) {
  std::vector<const AstcGrid*> byBits(2048, nullptr);
  const std::vector<AstcGrid> grids = test::allGrids();
  for (const AstcGrid& grid : grids) {
    ASSERT_EQ(byBits[static_cast<size_t>(grid.bits)], nullptr) << "two meanings";
    byBits[static_cast<size_t>(grid.bits)] = &grid;
  }
  for (int size : {4, 6, 8, 12}) {
    for (size_t bits = 0; bits < 2048; ++bits) {
      if ((bits & 0x1FF) == 0x1FC) continue;  // one color
      BlockBits block;
      block.put(11, bits);
      const astc::Block read =
          astc::readBlock(Bits128::load(block.data()), static_cast<unsigned>(size), static_cast<unsigned>(size));
      bool legal = false;
      if (const AstcGrid* grid = byBits[bits]) {
        const int count = grid->width * grid->height * (grid->dual ? 2 : 1);
        const int weightBits = grid->range.sequenceBits(count);
        legal = grid->width <= size && grid->height <= size && count <= 64 && weightBits >= 24 && weightBits <= 96;
        if (legal) {
          EXPECT_EQ(read.gridWidth, grid->width) << bits;
          EXPECT_EQ(read.gridHeight, grid->height) << bits;
          EXPECT_EQ(read.dualPlane, grid->dual) << bits;
        }
      }
      EXPECT_EQ(read.kind, legal ? astc::BlockKind::kWeighted : astc::BlockKind::kError) << bits << " in " << size;
    }
  }
}

// ---- whole blocks
// ---------------------------------------------------------------------------------------------------------
struct Recipe {
  AstcGrid grid;
  int partitions;
  int partitionIndex;
  int modes[4];
  bool separateModes;
  int secondPlane;
};

/// The bits between configuration and weights that colors may take; negative if there is no room at all.
int colorBits(const Recipe& r) {
  const int weights = r.grid.width * r.grid.height * (r.grid.dual ? 2 : 1);
  const int extra = r.separateModes ? 3 * r.partitions - 4 : 0;
  return 128 - (r.partitions == 1 ? 17 : 29) - extra - (r.grid.dual ? 2 : 0) - r.grid.range.sequenceBits(weights);
}

int colorCount(const Recipe& r) {
  int count = 0;
  for (int i = 0; i < r.partitions; ++i) count += 2 * (r.modes[i] / 4 + 1);
  return count;
}

bool isLegal(const Recipe& r) {
  const int count = colorCount(r);
  return count <= 18 && colorBits(r) >= std::ceil(13 * count / 5.0) && !(r.grid.dual && r.partitions == 4);
}

Recipe randomRecipe(std::mt19937& random, const std::vector<AstcGrid>& grids, int width, int height) {
  for (;;) {
    Recipe r{};
    r.grid = grids[random() % grids.size()];
    const int count = r.grid.width * r.grid.height * (r.grid.dual ? 2 : 1);
    const int bits = r.grid.range.sequenceBits(count);
    if (r.grid.width > width || r.grid.height > height || count > 64 || bits < 24 || bits > 96) continue;
    r.partitions = 1 + static_cast<int>(random() % 4);
    r.partitionIndex = static_cast<int>(random() % 1024);
    r.separateModes = r.partitions > 1 && random() % 2 == 0;
    r.secondPlane = static_cast<int>(random() % 4);
    const int base = static_cast<int>(random() % 3);
    const int same = static_cast<int>(random() % 16);
    for (int& mode : r.modes) {
      mode = r.separateModes ? (base + static_cast<int>(random() % 2)) * 4 + static_cast<int>(random() % 4) : same;
    }
    if (r.separateModes) {
      // The selector counts from the lower of the two classes, so either may be missing.
      const int lowest = std::min({r.modes[0] / 4, r.modes[1] / 4, r.partitions > 2 ? r.modes[2] / 4 : 9,
                                   r.partitions > 3 ? r.modes[3] / 4 : 9});
      if (lowest > 2) continue;
    }
    if (isLegal(r)) return r;
  }
}

void putModes(const Recipe& r, int weightBits, BlockBits* block) {
  if (r.partitions == 1) {
    block->set(13, 4, static_cast<uint64_t>(r.modes[0]));
    return;
  }
  block->set(13, 10, static_cast<uint64_t>(r.partitionIndex));
  if (!r.separateModes) {
    block->set(23, 2, 0);
    block->set(25, 4, static_cast<uint64_t>(r.modes[0]));
    return;
  }
  int lowest = 3;
  for (int i = 0; i < r.partitions; ++i) lowest = std::min(lowest, r.modes[i] / 4);
  lowest = std::min(lowest, 2);
  // Class bits and then the low bits of each mode; what is beyond six bits lies just below the weights.
  uint64_t field = static_cast<uint64_t>(lowest + 1);
  int at = 2;
  for (int i = 0; i < r.partitions; ++i) field |= static_cast<uint64_t>(r.modes[i] / 4 - lowest) << at++;
  for (int i = 0; i < r.partitions; ++i, at += 2) field |= static_cast<uint64_t>(r.modes[i] % 4) << at;
  block->set(23, 6, field & 63);
  block->set(128 - weightBits - (at - 6), at - 6, field >> 6);
}

/// Fills the block and returns, per texel and component, the 16-bit result; an empty vector for the error color.
std::vector<std::vector<int>> build(const Recipe& r, int width, int height, bool srgb, std::mt19937& random,
                                    BlockBits* block) {
  for (int i = 0; i < 128; i += 32) block->set(i, 32, random());  // bits that nothing uses
  block->set(0, 11, static_cast<uint64_t>(r.grid.bits));
  block->set(11, 2, static_cast<uint64_t>(r.partitions - 1));
  const int planes = r.grid.dual ? 2 : 1;
  const int positions = r.grid.width * r.grid.height;
  const int weightBits = r.grid.range.sequenceBits(positions * planes);
  putModes(r, weightBits, block);
  if (r.grid.dual) {
    const int extra = r.separateModes ? 3 * r.partitions - 4 : 0;
    block->set(128 - weightBits - extra - 2, 2, static_cast<uint64_t>(r.secondPlane));
  }

  std::vector<int> stored, weights[2];
  for (int i = 0; i < positions * planes; ++i) {
    stored.push_back(static_cast<int>(random() % static_cast<unsigned>(r.grid.range.steps())));
    weights[i % planes].push_back(test::unquantizedWeight(r.grid.range, stored.back()));
  }
  const std::vector<int> weightStream = test::sequenceOf(r.grid.range, stored, random());
  for (size_t i = 0; i < weightStream.size(); ++i) {
    block->set(127 - static_cast<int>(i), 1, static_cast<uint64_t>(weightStream[i]));
  }

  const int count = colorCount(r);
  AstcRange range{};
  for (const AstcRange& candidate : colorRanges()) {
    if (candidate.sequenceBits(count) > colorBits(r)) continue;
    range = candidate;
    break;
  }
  std::vector<int> raw, colors;
  for (int i = 0; i < count; ++i) {
    raw.push_back(static_cast<int>(random() % static_cast<unsigned>(range.steps())));
    colors.push_back(test::unquantizedColor(range, raw.back()));
  }
  const std::vector<int> colorStream = test::sequenceOf(range, raw, random());
  for (size_t i = 0; i < colorStream.size(); ++i) {
    block->set((r.partitions == 1 ? 17 : 29) + static_cast<int>(i), 1, static_cast<uint64_t>(colorStream[i]));
  }
  test::AstcColors ends[4];
  size_t next = 0;
  for (int i = 0; i < r.partitions; ++i) {
    const auto take = static_cast<size_t>(2 * (r.modes[i] / 4 + 1));
    ends[i] = test::astcColors(r.modes[i], {colors.begin() + static_cast<ptrdiff_t>(next),
                                            colors.begin() + static_cast<ptrdiff_t>(next + take)});
    next += take;
  }

  std::vector<std::vector<int>> texels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const test::AstcColors& pair =
          ends[test::astcPartition(r.partitionIndex, x, y, r.partitions, width * height < 31)];
      texels.emplace_back();
      for (int c = 0; c < 4 && !pair.error; ++c) {
        const int plane = r.grid.dual && c == r.secondPlane ? 1 : 0;
        const int weight = test::astcWeight(weights[plane], r.grid.width, r.grid.height, x, y, width, height);
        const auto wide = [&](int value) { return value * 256 + (srgb ? 128 : value); };
        texels.back().push_back(static_cast<int>(std::floor((static_cast<double>(wide(pair.from.c[c])) * (64 - weight) +
                                                             static_cast<double>(wide(pair.to.c[c])) * weight + 32) /
                                                            64)));
      }
    }
  }
  return texels;
}

/// value / 65536 rounded towards zero to a half.
double truncatedHalf(int value) {
  if (value == 65535) return 1;
  if (value == 0) return 0;
  const int exponent = std::max(std::ilogb(value / 65536.0), -14);
  const double unit = std::ldexp(1.0, exponent - 10);
  return std::floor(value / 65536.0 / unit) * unit;
}

TEST(Astc, WholeBlocksOfEveryFootprint) {
  std::mt19937 random(2);
  const std::vector<AstcGrid> grids = test::allGrids();
  int modesSeen[16] = {}, partitionsSeen[5] = {}, dualSeen = 0;
  for (int format = VK_FORMAT_ASTC_4x4_UNORM_BLOCK; format <= VK_FORMAT_ASTC_12x12_SRGB_BLOCK; ++format) {
    const BlockCodec codec = blockCodec(static_cast<VkFormat>(format));
    SCOPED_TRACE(codec.info->name);
    const bool srgb = isSrgb(*codec.info);
    const int width = codec.info->blockExtent[0], height = codec.info->blockExtent[1];
    for (int repeat = 0; repeat < 300; ++repeat) {
      const Recipe recipe = randomRecipe(random, grids, width, height);
      for (int i = 0; i < recipe.partitions; ++i) ++modesSeen[recipe.modes[i]];
      ++partitionsSeen[recipe.partitions];
      dualSeen += recipe.grid.dual ? 1 : 0;
      BlockBits block;
      const std::vector<std::vector<int>> expected = build(recipe, width, height, srgb, random, &block);
      const std::vector<Rgba8> bytes = test::bytesOf(codec, block.data());
      const std::vector<float> floats = test::floatsOf(codec, block.data());
      for (size_t i = 0; i < expected.size(); ++i) {
        if (expected[i].empty()) {
          ASSERT_EQ(bytes[i], kMagenta);
          ASSERT_EQ(floats[4 * i + 1], 0.0f);
          ASSERT_EQ(floats[4 * i + 2], 1.0f);
          continue;
        }
        for (size_t c = 0; c < 4; ++c) {
          ASSERT_EQ(bytes[i].c[c], expected[i][c] >> 8) << "texel " << i << " component " << c;
          if (!srgb) {
            ASSERT_EQ(static_cast<double>(floats[4 * i + c]), truncatedHalf(expected[i][c]));
          }
        }
      }
    }
  }
  for (int mode = 0; mode < 16; ++mode) EXPECT_GT(modesSeen[mode], 20) << mode;
  for (int count = 1; count <= 4; ++count) EXPECT_GT(partitionsSeen[count], 100);
  EXPECT_GT(dualSeen, 100);
}

// ---- one color
// -----------------------------------------------------------------------------------------------------------
BlockBits constantBlock(uint64_t reserved, uint64_t hdr, uint64_t minS, uint64_t maxS, uint64_t minT, uint64_t maxT) {
  BlockBits block;
  block.put(9, 0b111111100);
  block.put(1, hdr);
  block.put(2, reserved);
  for (uint64_t coordinate : {minS, maxS, minT, maxT}) block.put(13, coordinate);
  for (uint64_t component : {0x1234, 0xFFFF, 0x0080, 0x8001}) block.put(16, component);
  return block;
}

TEST(Astc, OneColor) {
  const BlockCodec codec = blockCodec(VK_FORMAT_ASTC_6x5_UNORM_BLOCK);
  for (const BlockBits& block :
       {constantBlock(3, 0, 0x1FFF, 0x1FFF, 0x1FFF, 0x1FFF), constantBlock(3, 0, 1, 2, 0, 0x1FFF)}) {
    for (const Rgba8& texel : test::bytesOf(codec, block.data())) EXPECT_EQ(texel, (Rgba8{{0x12, 0xFF, 0x00, 0x80}}));
    const std::vector<float> floats = test::floatsOf(codec, block.data());
    for (size_t i = 0; i < floats.size(); i += 4) {
      EXPECT_EQ(static_cast<double>(floats[i]), 0x1234 / 65536.0);  // 11 bits suffice
      EXPECT_EQ(floats[i + 1], 1.0f);
      EXPECT_EQ(static_cast<double>(floats[i + 2]), 0x80 / 65536.0);
      EXPECT_EQ(floats[i + 3], 0.5f);  // 0x8001 is cut to 0x8000
    }
  }
  for (const BlockBits& block : {constantBlock(1, 0, 1, 2, 1, 2), constantBlock(2, 0, 1, 2, 1, 2),
                                 constantBlock(3, 1, 1, 2, 1, 2), constantBlock(3, 0, 2, 2, 1, 2),
                                 constantBlock(3, 0, 1, 2, 5, 3), constantBlock(3, 0, 0x1FFF, 0x1FFF, 0x1FFF, 1)}) {
    for (const Rgba8& texel : test::bytesOf(codec, block.data())) EXPECT_EQ(texel, kMagenta);
  }
}

// ---- illegal blocks
// -------------------------------------------------------------------------------------------------------
TEST(Astc, IllegalBlocksAreMagenta) {
  std::mt19937 random(3);
  const std::vector<AstcGrid> grids = test::allGrids();
  const auto gridOf = [&](int width, int height, bool dual, AstcRange range) {
    for (const AstcGrid& grid : grids) {
      if (grid.width == width && grid.height == height && grid.dual == dual && grid.range.base == range.base &&
          grid.range.bits == range.bits) {
        return grid;
      }
    }
    ADD_FAILURE() << "no such grid";
    return grids[0];
  };
  const BlockCodec codec = blockCodec(VK_FORMAT_ASTC_12x12_UNORM_BLOCK);
  const auto expectError = [&](const Recipe& recipe, const char* why) {
    SCOPED_TRACE(why);
    BlockBits block;
    for (int i = 0; i < 128; i += 32) block.set(i, 32, random());
    block.set(0, 11, static_cast<uint64_t>(recipe.grid.bits));
    block.set(11, 2, static_cast<uint64_t>(recipe.partitions - 1));
    const int weights = recipe.grid.width * recipe.grid.height * (recipe.grid.dual ? 2 : 1);
    putModes(recipe, std::min(recipe.grid.range.sequenceBits(weights), 96), &block);
    for (const Rgba8& texel : test::bytesOf(codec, block.data())) ASSERT_EQ(texel, kMagenta);
    for (float value : test::floatsOf(codec, block.data())) ASSERT_TRUE(value == 0.0f || value == 1.0f);
  };
  const AstcGrid plain = gridOf(4, 4, false, {1, 2});
  expectError({gridOf(9, 8, false, {1, 1}), 1, 0, {0}, false, 0}, "72 weights");
  expectError({gridOf(8, 5, true, {1, 1}), 1, 0, {0}, false, 0}, "80 weights of two planes");
  expectError({gridOf(8, 8, false, {1, 2}), 1, 0, {0}, false, 0}, "128 weight bits");
  expectError({gridOf(4, 5, false, {1, 1}), 1, 0, {0}, false, 0}, "20 weight bits");
  expectError({gridOf(4, 4, true, {1, 1}), 4, 7, {0, 0, 0, 0}, false, 0}, "two planes and four partitions");
  expectError({plain, 3, 7, {12, 12, 12, 12}, false, 0}, "24 color values");
  expectError({gridOf(4, 4, false, {1, 5}), 2, 7, {8, 8, 8, 8}, false, 0}, "12 color values in 19 bits");
  // The same grid in a smaller block.
  const BlockCodec small = blockCodec(VK_FORMAT_ASTC_4x4_UNORM_BLOCK);
  BlockBits block;
  block.put(11, static_cast<uint64_t>(gridOf(5, 4, false, {1, 2}).bits));
  for (const Rgba8& texel : test::bytesOf(small, block.data())) EXPECT_EQ(texel, kMagenta);
  EXPECT_NE(test::bytesOf(codec, block.data())[0], kMagenta);
}

// A block may have HDR endpoints in one partition: only its texels are in error. (Also part of the random blocks.)
TEST(Astc, HdrEndpointsSpoilTheirOwnPartitionOnly) {
  const BlockCodec codec = blockCodec(VK_FORMAT_ASTC_8x8_UNORM_BLOCK);
  std::mt19937 random(4);
  Recipe recipe{};
  for (const AstcGrid& grid : test::allGrids()) {
    if (grid.width == 4 && grid.height == 4 && !grid.dual && grid.range.base == 1 && grid.range.bits == 2)
      recipe.grid = grid;
  }
  recipe.partitions = 2;
  recipe.partitionIndex = 0;
  while (test::astcPartition(recipe.partitionIndex, 0, 0, 2, false) ==
         test::astcPartition(recipe.partitionIndex, 7, 7, 2, false)) {
    ++recipe.partitionIndex;
  }
  recipe.separateModes = true;
  recipe.modes[0] = 2;  // HDR luminance
  recipe.modes[1] = 0;
  BlockBits block;
  const std::vector<std::vector<int>> expected = build(recipe, 8, 8, false, random, &block);
  const std::vector<Rgba8> got = test::bytesOf(codec, block.data());
  int bad = 0;
  for (size_t i = 0; i < 64; ++i) {
    bad += expected[i].empty() ? 1 : 0;
    EXPECT_EQ(got[i] == kMagenta, expected[i].empty());
  }
  EXPECT_GT(bad, 0);
  EXPECT_LT(bad, 64);
}

}  // namespace
}  // namespace pumice::formats
