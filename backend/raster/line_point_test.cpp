#include "backend/raster/line_point.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/raster/setup_test_support.h"

namespace pumice::raster {
namespace {

float uniform(std::mt19937& random, float low, float high) {
  return low + (high - low) * static_cast<float>(random()) / 4294967296.0f;
}

// The specification's words: the segment from a to b, both moved by (-e, -e*e), meets the diamond of the pixel, and b
// is not in it. Exact: coordinates in units of e*e.
bool producesFragment(Point a, Point b, int32_t px, int32_t py) {
  __extension__ using Wide = __int128;
  constexpr Wide kUnit = Wide{1} << 40;  // of 1/256 pixel
  constexpr Wide kE = Wide{1} << 20;
  const Wide half = 128 * kUnit;
  const Wide centerX = (Wide{px} * 256 + 128) * kUnit;
  const Wide centerY = (Wide{py} * 256 + 128) * kUnit;
  const Wide x[2] = {a.x * kUnit - kE - centerX, b.x * kUnit - kE - centerX};
  const Wide y[2] = {a.y * kUnit - 1 - centerY, b.y * kUnit - 1 - centerY};
  // The diamond is what four half-planes have in common; of each the segment keeps a part.
  long double begin = 0;
  long double end = 1;
  bool holdsB = true;
  for (const int sx : {-1, 1})
    for (const int sy : {-1, 1}) {
      const Wide d0 = half - (sx * x[0] + sy * y[0]);
      const Wide d1 = half - (sx * x[1] + sy * y[1]);
      holdsB = holdsB && d1 > 0;
      if (d0 <= 0 && d1 <= 0) return false;
      if (d0 <= 0) begin = std::max(begin, static_cast<long double>(d0) / static_cast<long double>(d0 - d1));
      if (d1 <= 0) end = std::min(end, static_cast<long double>(d0) / static_cast<long double>(d0 - d1));
    }
  return begin < end && !holdsB;
}

uint32_t covered(const PrimitiveSet& set, int32_t edge) {
  if (set.count == 0) return 0;
  BlockList list;
  const PrimitiveRect& r = set.rects[0];
  kernels().cover4[0](set.edges[0], 0, 0, {r.x0, r.y0, r.x1, r.y1}, list);
  SquareCoverage c = expand(list, 0);
  uint32_t mask = 0;
  for (int32_t y = 0; y < edge; ++y)
    for (int32_t x = 0; x < edge; ++x) mask |= uint32_t{c.at(0, x, y)} << (y * edge + x);
  return mask;
}

// The same of a line of some width: the segment is moved by half of what it has more than one pixel, across, and each
// of its fragments is the first of as many.
bool producesFragment(Point a, Point b, int32_t width, int32_t px, int32_t py) {
  const bool xMajor = std::abs(b.x - a.x) >= std::abs(b.y - a.y);
  const int32_t moved = (width - 1) * 128;
  for (Point* p : {&a, &b}) *p = {p->x - (xMajor ? 0 : moved), p->y - (xMajor ? moved : 0)};
  for (int32_t k = 0; k < width; ++k)
    if (producesFragment(a, b, px - (xMajor ? 0 : k), py - (xMajor ? k : 0))) return true;
  return false;
}

void compareWithDiamonds(const std::vector<Point>& points, int32_t width = 1) {
  SetupState state = testState(4, 4);
  Mesh mesh;
  for (const Point p : points)
    mesh.add({static_cast<float>(p.x) / 512 - 1, static_cast<float>(p.y) / 512 - 1, 0.5f, 1});
  mesh.transform(state);
  auto set = std::make_unique<PrimitiveSet>();
  for (uint16_t a = 0; a < points.size(); ++a)
    for (uint16_t b = 0; b < points.size(); ++b) {
      uint32_t expected = 0;
      for (int32_t y = 0; y < 4; ++y)
        for (int32_t x = 0; x < 4; ++x)
          expected |= uint32_t{producesFragment(points[a], points[b], width, x, y)} << (y * 4 + x);
      set->count = 0;
      setUpLine(a, b, true, static_cast<float>(width), 0, 0, *mesh.screen, mesh.outputs, state, *set);
      ASSERT_EQ(covered(*set, 4), expected)
          << points[a].x << ' ' << points[a].y << " to " << points[b].x << ' ' << points[b].y;
    }
}

TEST(Line, BresenhamIsTheDiamondExitRuleOnAGrid) {
  std::vector<Point> points;  // borders, centers and corners of diamonds, and points on their sides
  for (int32_t y = 0; y <= 1024; y += 64)
    for (int32_t x = 0; x <= 1024; x += 64) points.push_back({x, y});
  compareWithDiamonds(points);
}

TEST(Line, BresenhamIsTheDiamondExitRuleAnywhere) {
  std::mt19937 random(1);
  std::vector<Point> points;
  for (int i = 0; i < 300; ++i)
    points.push_back({static_cast<int32_t>(random() % 1025), static_cast<int32_t>(random() % 1025)});
  compareWithDiamonds(points);
}

TEST(Line, BresenhamOfSomeWidth) {
  std::mt19937 random(7);
  std::vector<Point> points{{0, 0}, {512, 512}, {128, 128}, {640, 128}, {128, 640}, {1024, 0}};
  for (int i = 0; i < 80; ++i)
    points.push_back({static_cast<int32_t>(random() % 1025), static_cast<int32_t>(random() % 1025)});
  for (const int32_t width : {2, 3, 6}) compareWithDiamonds(points, width);
}

// How far a point is inside of the rectangle around a segment, in pixels.
double insideRectangle(double ax, double ay, double bx, double by, double width, double px, double py) {
  const double length = std::hypot(bx - ax, by - ay);
  const double along = ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length;
  const double across = std::fabs((px - ax) * (by - ay) - (py - ay) * (bx - ax)) / length;
  return std::min({along, length - along, width / 2 - across});
}

TEST(Line, RectanglesOfEveryWidthAndSample) {
  std::mt19937 random(2);
  auto set = std::make_unique<PrimitiveSet>();
  size_t inside = 0;
  for (int round = 0; round < 400; ++round) {
    SetupState state = testState(64, 64);
    state.samples_log2 = random() % 4;
    const SamplePattern& pattern = kSamplePatterns[state.samples_log2];
    Mesh mesh;
    mesh.add({uniform(random, -1, 1), uniform(random, -1, 1), 0, 1});
    mesh.add({uniform(random, -1, 1), uniform(random, -1, 1), 0, 1});
    mesh.transform(state);
    const float width = round % 2 ? 1.0f : uniform(random, 0.5f, 20);
    set->count = 0;
    setUpLine(0, 1, false, width, 5, 0, *mesh.screen, mesh.outputs, state, *set);
    SquareCoverage c(pattern.count);
    if (set->count) {
      BlockList list;
      const PrimitiveRect& r = set->rects[0];
      kernels().cover4[state.samples_log2](set->edges[0], 0, 0, {r.x0, r.y0, r.x1, r.y1}, list);
      c = expand(list, state.samples_log2);
    }
    const double ax = mesh.screen->vertex[0].x / 256.0;
    const double ay = mesh.screen->vertex[0].y / 256.0;
    const double bx = mesh.screen->vertex[1].x / 256.0;
    const double by = mesh.screen->vertex[1].y / 256.0;
    for (int32_t y = 0; y < 64; ++y)
      for (int32_t x = 0; x < 64; ++x)
        for (uint32_t s = 0; s < pattern.count; ++s) {
          const double d =
              insideRectangle(ax, ay, bx, by, double{width}, x + pattern.x[s] / 256.0, y + pattern.y[s] / 256.0);
          if (std::fabs(d) < 0.02) continue;
          inside += d > 0;
          ASSERT_EQ(c.at(s, x, y), d > 0 ? 1 : 0)
              << "round " << round << " pixel " << x << ' ' << y << " inside by " << d;
        }
  }
  EXPECT_GT(inside, 100000u);
}

// Lines that begin behind the eye or outside of the volume: where they are, and what is interpolated, against the whole
// line in homogeneous coordinates.
TEST(Line, ClippedLinesKeepTheirPlace) {
  std::mt19937 random(3);
  auto set = std::make_unique<PrimitiveSet>();
  size_t compared = 0;
  for (int round = 0; round < 4000; ++round) {
    SetupState state = testState(64, 64);
    state.clipDistanceCount = 1;
    Mesh mesh;
    mesh.distanceCount = 1;
    for (int k = 0; k < 2; ++k) {
      mesh.add({uniform(random, -3, 3), uniform(random, -3, 3), uniform(random, -1, 2), uniform(random, -1, 3)});
      mesh.distances.push_back({uniform(random, -0.5f, 2)});
    }
    mesh.transform(state);
    set->count = 0;
    setUpLine(0, 1, false, 1, 0, 0, *mesh.screen, mesh.outputs, state, *set);
    const Clip a = mesh.vertices[0];
    const Clip b = mesh.vertices[1];
    // Which part is inside, by trying.
    double first = 2;
    double last = -1;
    for (int i = 0; i <= 1000; ++i) {
      const double t = i / 1000.0;
      const auto at = [&](float from, float to) { return from + t * (double{to} - double{from}); };
      const double w = at(a.w, b.w);
      const double x = at(a.x, b.x);
      const double y = at(a.y, b.y);
      const double z = at(a.z, b.z);
      if (w > 0 && std::fabs(x) <= w && std::fabs(y) <= w && z >= 0 && z <= w &&
          at(mesh.distances[0][0], mesh.distances[1][0]) >= 0) {
        first = std::min(first, t);
        last = std::max(last, t);
      }
    }
    if (first + 0.01 < last) {
      const abi::PrimitiveRecord& r = set->records[0];
      const auto screen = [&](double t, double& w) {
        w = a.w + t * (double{b.w} - a.w);
        const double x = a.x + t * (double{b.x} - a.x);
        const double y = a.y + t * (double{b.y} - a.y);
        return std::pair{(x / w + 1) * 32, (y / w + 1) * 32};
      };
      double wFirst;
      double wLast;
      const auto [x0, y0] = screen(first, wFirst);
      const auto [x1, y1] = screen(last, wLast);
      const double length = std::hypot(x1 - x0, y1 - y0);
      if (length < 2) continue;
      ASSERT_EQ(set->count, 1u) << round;
      for (int i = 1; i < 10; ++i) {
        const double t = first + (last - first) * i / 10;
        double w;
        const auto [x, y] = screen(t, w);
        const double oneOverW = planeAt(r.oneOverW, r, x, y);
        // Ends are rounded to 1/256 pixel, which moves what is interpolated by as much.
        const double speed = std::max(1 / wFirst, 1 / wLast) / std::min(1 / wFirst, 1 / wLast) / length;
        const double limit = 1e-5 + speed * 0.02;
        EXPECT_NEAR(oneOverW * w, 1, limit) << round;
        EXPECT_NEAR(planeAt(r.iOverW, r, x, y) / oneOverW, t, limit) << round;
        EXPECT_NEAR(planeAt(r.depth, r, x, y), (a.z + t * (double{b.z} - a.z)) / w, limit) << round;
        ASSERT_EQ(r.jOverW.dx, 0);
        ++compared;
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(compared, 2000u);
}

TEST(Line, AnyNumbersStayInRange) {
  std::mt19937 random(4);
  auto set = std::make_unique<PrimitiveSet>();
  for (int round = 0; round < 3000; ++round) {
    SetupState state = testState(16384, 16384, random() % 2);
    state.clip = {0, 0, 16384, 16384};
    Mesh mesh;
    for (int k = 0; k < 2; ++k) {
      const auto number = [&] {
        return random() % 2 ? uniform(random, -2, 2) : __builtin_bit_cast(float, static_cast<uint32_t>(random()));
      };
      mesh.add({number(), number(), number(), number()});
    }
    mesh.transform(state);
    set->count = 0;
    setUpLine(0, 1, round % 2, uniform(random, 1, 64), 0, 0, *mesh.screen, mesh.outputs, state, *set);
    setUpPoint(0, uniform(random, 1, 1024), 0, 0, *mesh.screen, state, *set);
    for (uint32_t n = 0; n < set->count; ++n)
      for (uint32_t i = 0; i < 4; ++i) {
        ASSERT_LE(std::abs(int64_t{set->edges[n].a[i]}), kMaxSlope);
        ASSERT_LE(std::abs(int64_t{set->edges[n].b[i]}), kMaxSlope);
        ASSERT_LT(std::abs(set->edges[n].c[i]), int64_t{1} << 48);
      }
  }
}

TEST(Point, CoversItsSquare) {
  std::mt19937 random(5);
  auto set = std::make_unique<PrimitiveSet>();
  for (int round = 0; round < 400; ++round) {
    SetupState state = testState(64, 64);
    state.samples_log2 = random() % 4;
    const SamplePattern& pattern = kSamplePatterns[state.samples_log2];
    Mesh mesh;
    mesh.add({uniform(random, -1, 1), uniform(random, -1, 1), 0.25f, 2});
    mesh.vertices[0].x *= 2;
    mesh.vertices[0].y *= 2;
    mesh.transform(state);
    const float size = round % 4 == 0 ? 1.0f : uniform(random, 1, 40);
    set->count = 0;
    setUpPoint(0, size, 9, 0, *mesh.screen, state, *set);
    SquareCoverage c(pattern.count);
    if (set->count) {
      BlockList list;
      const PrimitiveRect& r = set->rects[0];
      kernels().cover4[state.samples_log2](set->edges[0], 0, 0, {r.x0, r.y0, r.x1, r.y1}, list);
      c = expand(list, state.samples_log2);
    }
    const double cx = mesh.screen->vertex[0].x / 256.0;
    const double cy = mesh.screen->vertex[0].y / 256.0;
    size_t count = 0;
    for (int32_t y = 0; y < 64; ++y)
      for (int32_t x = 0; x < 64; ++x)
        for (uint32_t s = 0; s < pattern.count; ++s) {
          const double px = x + pattern.x[s] / 256.0;
          const double py = y + pattern.y[s] / 256.0;
          const double d = double{size} / 2 - std::max(std::fabs(px - cx), std::fabs(py - cy));
          count += c.at(s, x, y);
          if (std::fabs(d) < 0.005) continue;
          ASSERT_EQ(c.at(s, x, y), d > 0 ? 1 : 0);
          if (c.at(s, x, y)) {
            const abi::PrimitiveRecord& r = set->records[0];
            ASSERT_NEAR(planeAt(r.iLinear, r, px, py), 0.5 + (px - cx) / double{size}, 1e-5);
            ASSERT_NEAR(planeAt(r.jLinear, r, px, py), 0.5 + (py - cy) / double{size}, 1e-5);
            ASSERT_EQ(planeAt(r.oneOverW, r, px, py), 0.5);
            ASSERT_EQ(planeAt(r.depth, r, px, py), 0.125);
          }
        }
    // A point of size one that is not cut off covers one pixel center, wherever it is.
    if (size == 1.0f && state.samples_log2 == 0 && cx > 1 && cx < 63 && cy > 1 && cy < 63) {
      ASSERT_EQ(count, 1u);
    }
  }
}

TEST(Point, IsDrawnIfItsCenterIsInTheVolume) {
  SetupState state = testState(64, 64);
  state.clip = {0, 0, 64, 64};
  auto set = std::make_unique<PrimitiveSet>();
  Mesh mesh;
  mesh.add({0.999f, 0, 0.5f, 1});
  mesh.add({1.001f, 0, 0.5f, 1});
  mesh.add({0, 0, -0.1f, 1});
  mesh.add({0, 0, 0.5f, -1});
  mesh.transform(state);
  for (const uint16_t v : {0, 1, 2, 3}) {
    set->count = 0;
    setUpPoint(v, 20, 0, 0, *mesh.screen, state, *set);
    EXPECT_EQ(set->count, v == 0 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace pumice::raster
