#include "backend/raster/runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "backend/raster/raster_reference.h"

namespace pumice::raster {
namespace {

// The primitives that cover each sample of each pixel of a tile, in order.
using Covering = std::vector<std::vector<uint16_t>>;
size_t place(uint32_t x, uint32_t y, uint32_t s) {
  return (s * 128 + y % 128) * 128 + x % 128;
}
constexpr size_t kPlaces = 8 * 128 * 128;

// What a fragment function would see.
struct Seen {
  uint32_t samples;
  Covering primitives{kPlaces};
  size_t runs = 0, blocks = 0, mixes = 0, mixLanes = 0;

  void addLanes(uint32_t x, uint32_t y, uint32_t sample, uint16_t primitive) {
    primitives[place(x, y, sample)].push_back(primitive);
  }

  void addQuad(uint32_t position, uint32_t s, uint32_t lanes, uint16_t primitive) {
    for (uint32_t l = 0; l < 4; ++l)
      if (lanes >> l & 1) addLanes((position & 0xFFFF) + (l & 1), (position >> 16) + (l >> 1), s, primitive);
  }

  static void shade(void* context, const abi::FragmentRun& run) {
    Seen& seen = *static_cast<Seen*>(context);
    ++seen.runs;
    ASSERT_TRUE(run.blockCount + run.mixCount > 0);
    ASSERT_LE(run.blockCount, abi::kRunBlocks);
    ASSERT_LE(run.mixCount, abi::kRunMixes);
    std::set<uint32_t> places;
    for (uint32_t i = 0; i < run.blockCount; ++i) {
      const uint32_t position = run.blockPosition[i];
      ASSERT_EQ(position & 0x00030003u, 0u);
      ++seen.blocks;
      for (uint32_t q = 0; q < 4; ++q) {
        const uint32_t at = position + (q & 1) * 2 + ((q >> 1) * 2 << 16);
        uint32_t any = 0;
        for (uint32_t s = 0; s < seen.samples; ++s) {
          const uint32_t lanes = run.blockCoverage[s][i] >> (4 * q) & 15u;
          any |= lanes;
          seen.addQuad(at, s, lanes, run.blockPrimitive[i]);
        }
        if (any) {
          ASSERT_TRUE(places.insert(at).second);
        }
      }
    }
    for (uint32_t i = 0; i < run.mixCount; ++i) {
      ++seen.mixes;
      for (uint32_t q = 0; q < 4; ++q) {
        const uint32_t at = run.mixPosition[i][q];
        ASSERT_EQ(at & 0x00010001u, 0u);
        uint32_t any = 0;
        for (uint32_t s = 0; s < seen.samples; ++s) {
          const uint32_t lanes = run.mixCoverage[s][i] >> (4 * q) & 15u;
          any |= lanes;
          seen.addQuad(at, s, lanes, run.mixPrimitive[i][q]);
        }
        if (any) {
          ASSERT_TRUE(places.insert(at).second);
          seen.mixLanes += 4;
        } else {
          ASSERT_EQ(i, run.mixCount - 1);
          ASSERT_EQ(at, run.mixPosition[0][0]);
        }
      }
    }
  }
};

TEST(Runs, KeepEverySampleAndTheOrderOfPrimitives) {
  std::mt19937 random(1);
  size_t mixLanes = 0;
  size_t mixes = 0;
  for (int round = 0; round < 60; ++round) {
    const uint32_t log2 = random() % 4;
    const uint32_t tileX = random() % 100 * 128;
    const uint32_t tileY = random() % 100 * 128;
    const int32_t size = round % 3 ? 900 : 20000;
    Seen seen{.samples = 1u << log2};
    Covering expected(kPlaces);
    RunBuilder builder(Seen::shade, &seen);
    builder.begin(tileX, tileY, 1u << log2);
    for (uint16_t primitive = 0; primitive < 60; ++primitive) {
      std::array<Point, 3> t;
      const Point at = {static_cast<int32_t>((tileX + random() % 128) * 256),
                        static_cast<int32_t>((tileY + random() % 128) * 256)};
      for (Point& p : t)
        p = {at.x + static_cast<int32_t>(random() % static_cast<uint32_t>(size)) - size / 2,
             at.y + static_cast<int32_t>(random() % static_cast<uint32_t>(size)) - size / 2};
      if (doubleArea(t[0], t[1], t[2]) == 0) continue;
      if (doubleArea(t[0], t[1], t[2]) < 0) std::swap(t[1], t[2]);
      for (uint32_t y = 0; y < 128; y += 64)
        for (uint32_t x = 0; x < 128; x += 64) {
          const int32_t squareX = static_cast<int32_t>(tileX + x);
          const int32_t squareY = static_cast<int32_t>(tileY + y);
          BlockList list;
          kernels().cover3[log2](makeEdges(t.data(), 3), squareX, squareY, kWholeSquare, list);
          builder.add(list, tileX + x, tileY + y, primitive);
          SquareCoverage naive = expand(list, log2);
          for (uint32_t s = 0; s < 1u << log2; ++s)
            for (int32_t py = 0; py < 64; ++py)
              for (int32_t px = 0; px < 64; ++px)
                if (naive.at(s, px, py))
                  expected[place(static_cast<uint32_t>(squareX + px), static_cast<uint32_t>(squareY + py), s)]
                      .push_back(primitive);
        }
      if (random() % 16 == 0) builder.finish();
    }
    builder.finish();
    builder.finish();  // nothing is left
    ASSERT_EQ(seen.primitives, expected) << "round " << round;
    mixLanes += seen.mixLanes;
    mixes += seen.mixes;
  }
  // Packing is worth its name.
  EXPECT_GT(static_cast<double>(mixLanes) / static_cast<double>(mixes), 14.0);
}

// Small triangles side by side, as of a fine mesh: no place repeats but at shared edges.
TEST(Runs, SmallTrianglesShareVectors) {
  Seen seen{.samples = 1};
  RunBuilder builder(Seen::shade, &seen);
  builder.begin(0, 0, 1);
  uint16_t primitive = 0;
  for (int32_t y = 0; y < 64; y += 4)
    for (int32_t x = 0; x < 64; x += 4) {
      const Point corners[] = {{x * 256, y * 256}, {(x + 2) * 256, y * 256}, {x * 256, (y + 2) * 256}};
      BlockList list;
      kernels().cover3[0](makeEdges(corners, 3), 0, 0, kWholeSquare, list);
      builder.add(list, 0, 0, primitive++);
    }
  builder.finish();
  EXPECT_EQ(seen.blocks, 0u);
  EXPECT_EQ(seen.mixes, 64u);  // 256 triangles of one quad
  EXPECT_EQ(seen.runs, 2u);    // as many as their capacity asks for
}

}  // namespace
}  // namespace pumice::raster
