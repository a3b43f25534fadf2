#include <gtest/gtest.h>

#include <algorithm>

#include "backend/raster/raster_reference.h"

namespace pumice::raster {
namespace {

void makeClockwise(std::array<Point, 3>& t) {
  if (doubleArea(t[0], t[1], t[2]) < 0) std::swap(t[1], t[2]);
}

// Every triangle whose corners lie on a grid that contains pixel corners, edge middles and the samples themselves: all
// ties.
TEST(Coverage, EveryTriangleOfASmallGrid) {
  constexpr int32_t kSteps = 9;
  std::vector<Point> grid;
  for (int32_t y = 0; y < kSteps; ++y)
    for (int32_t x = 0; x < kSteps; ++x) grid.push_back({x * 128, y * 128});
  const PixelRect rect = {0, 0, 4, 4};
  BlockList list;
  size_t triangles = 0;
  for (const Point p : grid)
    for (const Point q : grid)
      for (const Point r : grid) {
        if (doubleArea(p, q, r) <= 0) continue;
        ++triangles;
        const Point corners[] = {p, q, r};
        const Edges edges = makeEdges(corners, 3);
        for (const Kernels* k : allKernels()) {
          k->cover3[0](edges, 0, 0, rect, list);
          uint32_t expected = 0;
          for (int32_t y = 0; y < 4; ++y)
            for (int32_t x = 0; x < 4; ++x)
              if (holds(corners, 3, {x * 256 + 128, y * 256 + 128}))
                expected |= 1u << abi::quadMajorIndex(static_cast<uint32_t>(x), static_cast<uint32_t>(y));
          const uint32_t got = list.count ? list.coverage[0][0] : 0;
          ASSERT_EQ(got, expected) << p.x << ' ' << p.y << ", " << q.x << ' ' << q.y << ", " << r.x << ' ' << r.y;
        }
      }
  EXPECT_GT(triangles, 200000u);
}

// The same with the samples of 2, 4 and 8, on a grid of sixteenths where they lie.
TEST(Coverage, TrianglesThroughTheSamples) {
  std::mt19937 random(1);
  BlockList list;
  for (int round = 0; round < 20000; ++round) {
    std::array<Point, 3> t;
    for (Point& p : t) p = {static_cast<int32_t>(random() % 65) * 16, static_cast<int32_t>(random() % 65) * 16};
    if (doubleArea(t[0], t[1], t[2]) == 0) continue;
    makeClockwise(t);
    const Edges edges = makeEdges(t.data(), 3);
    const PixelRect rect = {0, 0, 4, 4};
    for (uint32_t log2 = 0; log2 < 4; ++log2) {
      const SquareCoverage expected = naiveCoverage(t.data(), 3, 0, 0, rect, log2);
      for (const Kernels* k : allKernels()) {
        k->cover3[log2](edges, 0, 0, rect, list);
        ASSERT_EQ(expand(list, log2), expected) << "round " << round << ", samples " << (1 << log2);
      }
    }
  }
}

int32_t randomCoordinate(std::mt19937& random, int32_t near) {
  switch (random() % 4) {
    case 0:  // anywhere in the guard band
      return kMinCoordinate + static_cast<int32_t>(random() % static_cast<uint32_t>(kMaxSlope + 1));
    case 1:  // its ends
      return random() % 2 ? kMinCoordinate : kMaxCoordinate;
    case 2:  // near the square
      return std::clamp(near + static_cast<int32_t>(random() % 40000) - 12000, kMinCoordinate, kMaxCoordinate);
    default:  // in it, on the grid of samples
      return near + static_cast<int32_t>(random() % 1025) * 16;
  }
}

TEST(Coverage, RandomAndExtremeTriangles) {
  std::mt19937 random(2);
  BlockList list;
  size_t covered = 0;
  for (int round = 0; round < 1500; ++round) {
    const int32_t x = static_cast<int32_t>(random() % 4081) * 4;
    const int32_t y = static_cast<int32_t>(random() % 4081) * 4;
    std::array<Point, 3> t;
    for (Point& p : t) p = {randomCoordinate(random, x * 256), randomCoordinate(random, y * 256)};
    if (doubleArea(t[0], t[1], t[2]) == 0) continue;
    makeClockwise(t);
    const auto edge = [&] { return static_cast<int32_t>(random() % 65); };
    PixelRect rect = {edge(), edge(), edge(), edge()};
    if (round % 2 || rect.x0 >= rect.x1 || rect.y0 >= rect.y1) rect = kWholeSquare;
    const Edges edges = makeEdges(t.data(), 3);
    const uint32_t log2 = random() % 4;
    const SquareCoverage expected = naiveCoverage(t.data(), 3, x, y, rect, log2);
    covered += static_cast<size_t>(std::count(expected.bit.begin(), expected.bit.end(), 1));
    for (const Kernels* k : allKernels()) {
      k->cover3[log2](edges, x, y, rect, list);
      ASSERT_EQ(expand(list, log2), expected) << "round " << round;
      k->cover4[log2](edges, x, y, rect, list);  // the fourth edge of a triangle is none
      ASSERT_EQ(expand(list, log2), expected) << "round " << round;
    }
  }
  EXPECT_GT(covered, 1000000u);
}

// Parallelograms, as lines are.
TEST(Coverage, RandomParallelograms) {
  std::mt19937 random(3);
  BlockList list;
  for (int round = 0; round < 500; ++round) {
    const auto near = [&] { return static_cast<int32_t>(random() % 20000) - 2000; };
    const Point o = {near(), near()};
    const Point u = {near() - 8000, near() - 8000};
    const Point v = {near() - 8000, near() - 8000};
    std::array<Point, 4> corners = {
        o, {o.x + u.x, o.y + u.y}, {o.x + u.x + v.x, o.y + u.y + v.y}, {o.x + v.x, o.y + v.y}};
    const int64_t area = doubleArea(corners[0], corners[1], corners[3]);
    if (area == 0) continue;
    if (area < 0) std::swap(corners[1], corners[3]);
    const Edges edges = makeEdges(corners.data(), 4);
    const uint32_t log2 = random() % 4;
    const SquareCoverage expected = naiveCoverage(corners.data(), 4, 0, 0, kWholeSquare, log2);
    for (const Kernels* k : allKernels()) {
      k->cover4[log2](edges, 0, 0, kWholeSquare, list);
      ASSERT_EQ(expand(list, log2), expected) << "round " << round;
    }
  }
}

// A triangle and the parts that points inside of it cut it into: what one covers, the others cover exactly once.
struct Partition {
  std::mt19937& random;
  uint32_t log2;
  SquareCoverage sum;

  void add(const std::array<Point, 3>& t, int depth) {
    if (doubleArea(t[0], t[1], t[2]) <= 0) return;
    const int64_t wa = random() % 64;
    const int64_t wb = random() % 64;
    const int64_t wc = random() % 64 + 1;
    const int64_t w = wa + wb + wc;
    const Point p = {static_cast<int32_t>((t[0].x * wa + t[1].x * wb + t[2].x * wc) / w),
                     static_cast<int32_t>((t[0].y * wa + t[1].y * wb + t[2].y * wc) / w)};
    const std::array<std::array<Point, 3>, 3> parts = {{{t[0], t[1], p}, {t[1], t[2], p}, {t[2], t[0], p}}};
    const bool inside = std::all_of(parts.begin(), parts.end(),
                                    [](const auto& part) { return doubleArea(part[0], part[1], part[2]) >= 0; });
    if (depth > 0 && inside) {
      for (const auto& part : parts) add(part, depth - 1);
      return;
    }
    BlockList list;
    kernels().cover3[log2](makeEdges(t.data(), 3), 0, 0, kWholeSquare, list);
    const SquareCoverage one = expand(list, log2);
    for (size_t i = 0; i < one.bit.size(); ++i) sum.bit[i] = static_cast<uint8_t>(sum.bit[i] + one.bit[i]);
  }
};

TEST(Coverage, EverySampleOfAPartitionIsCoveredOnce) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    std::array<Point, 3> t;
    // Coarse grids make points lie on edges, and edges go through samples.
    const int32_t step = 1 << (random() % 9);
    for (Point& p : t)
      p = {static_cast<int32_t>(random() % 16385) / step * step, static_cast<int32_t>(random() % 16385) / step * step};
    makeClockwise(t);
    const uint32_t log2 = random() % 4;
    Partition partition{random, log2, SquareCoverage(1u << log2)};
    partition.add(t, 4);
    BlockList list;
    kernels().cover3[log2](makeEdges(t.data(), 3), 0, 0, kWholeSquare, list);
    SquareCoverage whole = doubleArea(t[0], t[1], t[2]) > 0 ? expand(list, log2) : SquareCoverage(1u << log2);
    ASSERT_EQ(partition.sum, whole) << "round " << round;
  }
}

// Squares may begin at any multiple of four pixels: tiles of every size see the same.
TEST(Coverage, DoesNotDependOnWhereSquaresBegin) {
  std::mt19937 random(5);
  BlockList list;
  for (int round = 0; round < 200; ++round) {
    std::array<Point, 3> t;
    for (Point& p : t) p = {static_cast<int32_t>(random() % 40000), static_cast<int32_t>(random() % 40000)};
    if (doubleArea(t[0], t[1], t[2]) == 0) continue;
    makeClockwise(t);
    const Edges edges = makeEdges(t.data(), 3);
    kernels().cover3[2](edges, 64, 64, kWholeSquare, list);
    const SquareCoverage expected = expand(list, 2);
    for (int32_t edge : {16, 32}) {
      SquareCoverage joined(4);
      for (int32_t y = 0; y < 64; y += edge)
        for (int32_t x = 0; x < 64; x += edge) {
          kernels().cover3[2](edges, 64 + x, 64 + y, {0, 0, edge, edge}, list);
          SquareCoverage part = expand(list, 2);
          for (uint32_t s = 0; s < 4; ++s)
            for (int32_t py = 0; py < edge; ++py)
              for (int32_t px = 0; px < edge; ++px) joined.at(s, x + px, y + py) = part.at(s, px, py);
        }
      ASSERT_EQ(joined, expected) << "edge " << edge;
    }
  }
}

}  // namespace
}  // namespace pumice::raster
