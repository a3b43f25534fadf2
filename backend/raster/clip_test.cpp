#include "backend/raster/clip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <limits>

#include "backend/raster/setup_test_support.h"

namespace pumice::raster {
namespace {

float uniform(std::mt19937& random, float low, float high) {
  return low + (high - low) * static_cast<float>(random()) / 4294967296.0f;
}

// A triangle in homogeneous coordinates as linear functions of the screen: what is inside of it, of the clip volume and
// of clip distances is where all of them are positive. No clipping, no corners.
struct Projected {
  using Real = long double;
  struct Line {
    Real x, y, c;
    Real at(Real px, Real py) const { return x * px + y * py + c; }
  };
  bool degenerate = false;
  bool clockwise = false;
  Line weightOverW[3];
  std::vector<Line> bounds;  // in pixels, negative outside

  void bound(const Line& l) {
    const Real slope = std::hypot(l.x, l.y);
    if (slope > 0)
      bounds.push_back({l.x / slope, l.y / slope, l.c / slope});
    else
      bounds.push_back({0, 0, l.c > 0 ? Real{1e9} : l.c < 0 ? Real{-1e9} : Real{0}});
  }
  Line combine(Real f0, Real f1, Real f2) const {
    const Line* w = weightOverW;
    return {w[0].x * f0 + w[1].x * f1 + w[2].x * f2, w[0].y * f0 + w[1].y * f1 + w[2].y * f2,
            w[0].c * f0 + w[1].c * f1 + w[2].c * f2};
  }

  Projected(const Mesh& mesh, const std::array<uint16_t, 3>& t, float width, float height) {
    Real x[3];
    Real y[3];
    Real w[3];
    for (size_t k = 0; k < 3; ++k) {
      const Clip& v = mesh.vertices[t[k]];
      w[k] = v.w;
      x[k] = (v.x + w[k]) * width / 2;
      y[k] = (v.y + w[k]) * height / 2;
    }
    const Real determinant =
        x[0] * (y[1] * w[2] - w[1] * y[2]) - y[0] * (x[1] * w[2] - w[1] * x[2]) + w[0] * (x[1] * y[2] - y[1] * x[2]);
    degenerate = std::fabs(determinant) < 1e-3L;
    clockwise = determinant > 0;
    for (size_t k = 0; k < 3; ++k) {
      const size_t m = (k + 1) % 3;
      const size_t n = (k + 2) % 3;
      weightOverW[k] = {(y[m] * w[n] - w[m] * y[n]) / determinant, (w[m] * x[n] - x[m] * w[n]) / determinant,
                        (x[m] * y[n] - y[m] * x[n]) / determinant};
    }
    for (const Line& l : weightOverW) bound(l);
    bound(combine(1, 1, 1));
  }
  void clipDepth(const Mesh& mesh, const std::array<uint16_t, 3>& t) {
    const auto v = [&](size_t k) { return mesh.vertices[t[k]]; };
    bound(combine(v(0).z, v(1).z, v(2).z));
    bound(combine(Real{v(0).w} - v(0).z, Real{v(1).w} - v(1).z, Real{v(2).w} - v(2).z));
  }
  void clipDistance(const Mesh& mesh, const std::array<uint16_t, 3>& t, uint32_t d) {
    bound(combine(mesh.distances[t[0]][d], mesh.distances[t[1]][d], mesh.distances[t[2]][d]));
  }
  Real distance(Real px, Real py) const {
    Real least = 1e9;
    for (const Line& l : bounds) least = std::min(least, l.at(px, py));
    return least;
  }
};

constexpr int32_t kWidth = 192;
constexpr int32_t kHeight = 128;

float wildW(std::mt19937& random) {
  switch (random() % 6) {
    case 0:
      return 0;
    case 1:
      return uniform(random, -0.001f, 0.001f);
    case 2:
      return uniform(random, -3, 0);
    default:
      return uniform(random, 0.1f, 3);
  }
}

Mesh randomTriangles(std::mt19937& random, uint32_t count, uint32_t distanceCount, float reach) {
  Mesh mesh;
  mesh.distanceCount = distanceCount;
  for (uint32_t i = 0; i < count * 3; ++i) {
    mesh.add({uniform(random, -reach, reach), uniform(random, -reach, reach), uniform(random, -1, 3), wildW(random)});
    std::array<float, 8> d;
    for (float& v : d) v = uniform(random, -1, 2);
    mesh.distances.push_back(d);
  }
  for (uint32_t i = 0; i < count; ++i)
    mesh.triangle(static_cast<uint16_t>(3 * i), static_cast<uint16_t>(3 * i + 1), static_cast<uint16_t>(3 * i + 2));
  return mesh;
}

struct Counts {
  size_t inside = 0, outside = 0, near = 0;
};

// Every pixel of a frame: covered where the reference says so, unless its center is next to a bound (positions are
// rounded).
void compareCoverage(uint32_t triangle, const PrimitiveSet& set, const Projected& reference, Counts& counts) {
  for (int32_t sy = 0; sy < kHeight; sy += 64)
    for (int32_t sx = 0; sx < kWidth; sx += 64) {
      SquareCoverage sum(1);
      for (uint32_t n = 0; n < set.count; ++n) {
        if (set.source[n] != triangle) continue;
        const SquareCoverage one = coverageOf(set, n, sx, sy, 0);
        for (size_t i = 0; i < one.bit.size(); ++i) sum.bit[i] = static_cast<uint8_t>(sum.bit[i] + one.bit[i]);
      }
      for (int32_t y = 0; y < 64; ++y)
        for (int32_t x = y % 2; x < 64; x += 2) {
          const auto d = reference.distance(sx + x + 0.5L, sy + y + 0.5L);
          if (std::fabs(d) < 0.03L) {
            ++counts.near;
            continue;
          }
          ++(d > 0 ? counts.inside : counts.outside);
          const int expected = d > 0 && !reference.degenerate ? 1 : 0;
          ASSERT_EQ(sum.at(0, x, y), expected) << "triangle " << triangle << " pixel " << sx + x << ' ' << sy + y
                                               << " distance " << static_cast<double>(d);
        }
    }
}

TEST(Clip, CoverageIsWhatTheVolumeHolds) {
  std::mt19937 random(1);
  Counts counts;
  auto set = std::make_unique<PrimitiveSet>();
  for (int round = 0; round < 40; ++round) {
    const uint32_t distances = static_cast<uint32_t>(round % 4 == 3 ? 8 : round % 4);
    const bool depthClip = round % 5 != 0;
    SetupState state = testState(kWidth, kHeight, depthClip);
    state.clipDistanceCount = static_cast<uint8_t>(distances);
    // A reach of 1000 goes beyond the guard band.
    Mesh mesh = randomTriangles(random, 12, distances, round % 3 ? 3.0f : 1000.0f);
    mesh.transform(state);
    set->count = 0;
    ASSERT_EQ(mesh.setUp(state, *set), 12u);
    for (uint32_t t = 0; t < 12; ++t) {
      Projected reference(mesh, mesh.triangles[t], kWidth, kHeight);
      if (reference.degenerate) continue;
      if (depthClip) reference.clipDepth(mesh, mesh.triangles[t]);
      for (uint32_t d = 0; d < distances; ++d) reference.clipDistance(mesh, mesh.triangles[t], d);
      compareCoverage(t, *set, reference, counts);
      if (HasFatalFailure()) FAIL() << "round " << round;
    }
  }
  EXPECT_GT(counts.inside, 100000u);
  EXPECT_LT(counts.near, (counts.inside + counts.outside) / 50);
}

TEST(Clip, FacingIsThatOfTheWholeTriangle) {
  std::mt19937 random(2);
  auto set = std::make_unique<PrimitiveSet>();
  for (int round = 0; round < 100; ++round) {
    SetupState state = testState(kWidth, kHeight);
    state.frontClockwise = random() % 2;
    state.cullBack = true;
    Mesh mesh = randomTriangles(random, 20, 0, 2);
    mesh.transform(state);
    set->count = 0;
    mesh.setUp(state, *set);
    for (uint32_t n = 0; n < set->count; ++n) {
      const Projected reference(mesh, mesh.triangles[set->source[n]], kWidth, kHeight);
      if (reference.degenerate) continue;
      ASSERT_EQ(reference.clockwise, state.frontClockwise);
      ASSERT_EQ(set->records[n].flags, 0u);
    }
  }
}

TEST(Clip, PlanesAreThoseOfTheWholeTriangle) {
  std::mt19937 random(3);
  auto set = std::make_unique<PrimitiveSet>();
  size_t compared = 0;
  for (int round = 0; round < 60; ++round) {
    SetupState state = testState(kWidth, kHeight);
    Mesh mesh = randomTriangles(random, 20, 0, 3);
    mesh.transform(state);
    set->count = 0;
    mesh.setUp(state, *set);
    for (uint32_t n = 0; n < set->count; ++n) {
      const std::array<uint16_t, 3>& t = mesh.triangles[set->source[n]];
      uint32_t any = 0;
      for (const uint16_t v : t) any |= mesh.screen->vertex[v].outcode;
      const Projected reference(mesh, t, kWidth, kHeight);
      if (!(any & kClipBits) || reference.degenerate) continue;
      const abi::PrimitiveRecord& r = set->records[n];
      const PrimitiveRect& rect = set->rects[n];
      for (int sample = 0; sample < 20; ++sample) {
        const double px = rect.x0 + static_cast<double>(random() % (rect.x1 - rect.x0 + 0u)) + 0.5;
        const double py = rect.y0 + static_cast<double>(random() % (rect.y1 - rect.y0 + 0u)) + 0.5;
        if (reference.distance(px, py) < 0.01L) continue;
        const long double oneOverW = reference.combine(1, 1, 1).at(px, py);
        const long double i = reference.weightOverW[1].at(px, py);
        const long double j = reference.weightOverW[2].at(px, py);
        const Clip* v[3] = {&mesh.vertices[t[0]], &mesh.vertices[t[1]], &mesh.vertices[t[2]]};
        const long double z = reference.combine(v[0]->z, v[1]->z, v[2]->z).at(px, py);
        if (z < 0 || z > 1) continue;
        const auto slope = [](const abi::ScreenPlane& p) {
          return static_cast<long double>(std::fabs(p.atOrigin) + (std::fabs(p.dx) + std::fabs(p.dy)) * 256.0f) * 1e-6L;
        };
        ASSERT_NEAR(planeAt(r.oneOverW, r, px, py), static_cast<double>(oneOverW),
                    static_cast<double>(slope(r.oneOverW)));
        ASSERT_NEAR(planeAt(r.iOverW, r, px, py), static_cast<double>(i), static_cast<double>(slope(r.iOverW)));
        ASSERT_NEAR(planeAt(r.jOverW, r, px, py), static_cast<double>(j), static_cast<double>(slope(r.jOverW)));
        ASSERT_NEAR(planeAt(r.iLinear, r, px, py), static_cast<double>(i * v[1]->w),
                    static_cast<double>(slope(r.iLinear)));
        ASSERT_NEAR(planeAt(r.jLinear, r, px, py), static_cast<double>(j * v[2]->w),
                    static_cast<double>(slope(r.jLinear)));
        ASSERT_NEAR(planeAt(r.depth, r, px, py), static_cast<double>(z), static_cast<double>(slope(r.depth)));
        ASSERT_LE(double{r.depthMin}, static_cast<double>(z + slope(r.depth)));
        ASSERT_GE(double{r.depthMax}, static_cast<double>(z - slope(r.depth)));
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 1000u);
}

// A fan around a point of a quadrilateral that reaches behind the eye, out of the guard band, through near and far
// planes: parts that are clipped and parts that are not share edges. No sample twice, none lost.
TEST(Clip, SharedEdgesCoverEverySampleOnce) {
  std::mt19937 random(4);
  auto set = std::make_unique<PrimitiveSet>();
  size_t samples = 0;
  for (int round = 0; round < 60; ++round) {
    SetupState state = testState(kWidth, kHeight);
    Mesh mesh;
    // A plane through space, seen from anywhere: clip coordinates are linear in (s, t) of the plane.
    const float reach = round % 3 == 0 ? 400.0f : 2.0f;
    const Clip o = {uniform(random, -1, 1), uniform(random, -1, 1), uniform(random, 0, 1), uniform(random, 0.6f, 1.5f)};
    const auto direction = [&] {
      return Clip{uniform(random, -reach, reach), uniform(random, -reach, reach), uniform(random, -1, 1),
                  uniform(random, -1.5f, 1.5f)};
    };
    const Clip u = direction();
    const Clip v = direction();
    const auto at = [&](float s, float t) {
      return mesh.add(
          {o.x + s * u.x + t * v.x, o.y + s * u.y + t * v.y, o.z + s * u.z + t * v.z, o.w + s * u.w + t * v.w});
    };
    constexpr int kRim = 9;
    const uint16_t center = at(uniform(random, -0.2f, 0.2f), uniform(random, -0.2f, 0.2f));
    for (int i = 0; i < kRim; ++i) {
      const float angle = (static_cast<float>(i) + uniform(random, -0.3f, 0.3f)) * 6.2831853f / kRim;
      at(std::cos(angle), std::sin(angle));
    }
    for (int i = 0; i < kRim; ++i)
      mesh.triangle(center, static_cast<uint16_t>(1 + i), static_cast<uint16_t>(1 + (i + 1) % kRim));
    mesh.transform(state);
    set->count = 0;
    ASSERT_EQ(mesh.setUp(state, *set), static_cast<uint32_t>(kRim));
    std::vector<Projected> parts;
    for (const auto& t : mesh.triangles) {
      parts.emplace_back(mesh, t, kWidth, kHeight);
      parts.back().clipDepth(mesh, t);
    }
    for (int32_t sy = 0; sy < kHeight; sy += 64)
      for (int32_t sx = 0; sx < kWidth; sx += 64) {
        SquareCoverage sum(1);
        for (uint32_t n = 0; n < set->count; ++n) {
          const SquareCoverage one = coverageOf(*set, n, sx, sy, 0);
          for (size_t i = 0; i < one.bit.size(); ++i) sum.bit[i] = static_cast<uint8_t>(sum.bit[i] + one.bit[i]);
        }
        for (int32_t y = 0; y < 64; ++y)
          for (int32_t x = 0; x < 64; ++x) {
            ASSERT_LE(sum.at(0, x, y), 1) << "round " << round << " pixel " << sx + x << ' ' << sy + y;
            samples += sum.at(0, x, y);
            if (sum.at(0, x, y) == 1) continue;
            // Inside of the fan, however near to its inner edges: a small step to each side is inside of some part.
            bool deep = true;
            for (const auto& [dx, dy] : {std::pair{-0.1L, 0.0L}, {0.1L, 0.0L}, {0.0L, -0.1L}, {0.0L, 0.1L}})
              deep &= std::any_of(parts.begin(), parts.end(), [&, dx = dx, dy = dy](const Projected& p) {
                return !p.degenerate && p.distance(sx + x + 0.5L + dx, sy + y + 0.5L + dy) > 0;
              });
            ASSERT_FALSE(deep) << "round " << round << " pixel " << sx + x << ' ' << sy + y;
          }
      }
  }
  EXPECT_GT(samples, 200000u);
}

TEST(Clip, AnyNumbersStayInRange) {
  std::mt19937 random(5);
  auto set = std::make_unique<PrimitiveSet>();
  const float special[] = {0.0f,
                           -0.0f,
                           1.0f,
                           -1.0f,
                           FLT_MAX,
                           -FLT_MAX,
                           FLT_MIN,
                           1e-40f,
                           1e20f,
                           -1e20f,
                           kMinW,
                           1e-30f,
                           -1e-30f,
                           std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()};
  for (int round = 0; round < 500; ++round) {
    SetupState state = testState(kWidth, kHeight, random() % 2);
    if (round % 3 == 0) state.view = makeViewTransform({0.25f, -3.5f, 97.3f, 200.1f, 0, 1}, random() % 2, random() % 2);
    state.clipDistanceCount = 2;
    Mesh mesh = randomTriangles(random, 100, 2, 3);
    const auto number = [&] {
      return random() % 3 ? special[random() % std::size(special)]
                          : __builtin_bit_cast(float, static_cast<uint32_t>(random()));
    };
    for (size_t i = 0; i < mesh.vertices.size(); ++i) {
      if (random() % 2) mesh.vertices[i].x = number();
      if (random() % 2) mesh.vertices[i].y = number();
      if (random() % 2) mesh.vertices[i].z = number();
      if (random() % 2) mesh.vertices[i].w = number();
      if (random() % 4 == 0) mesh.distances[i][0] = number();
    }
    mesh.transform(state);
    for (uint32_t first = 0; first < 100;) {
      set->count = 0;
      const uint32_t next = mesh.setUp(state, *set, first);
      ASSERT_GT(next, first);
      first = next;
      for (uint32_t n = 0; n < set->count; ++n) {
        const Edges& e = set->edges[n];
        for (uint32_t i = 0; i < 3; ++i) {
          ASSERT_LE(std::abs(int64_t{e.a[i]}), kMaxSlope);
          ASSERT_LE(std::abs(int64_t{e.b[i]}), kMaxSlope);
          ASSERT_LE(std::abs(e.c[i]), int64_t{1} << 47);
        }
        const PrimitiveRect& r = set->rects[n];
        ASSERT_TRUE(r.x0 < r.x1 && r.x1 <= kWidth && r.y0 < r.y1 && r.y1 <= kHeight);
      }
    }
  }
}

TEST(SetUp, FullSetsGoOnWhereTheyStopped) {
  std::mt19937 random(6);
  SetupState state = testState(kWidth, kHeight);
  Mesh mesh = randomTriangles(random, 250, 0, 3);
  for (int i = 0; i < 4; ++i)
    mesh.triangles.insert(mesh.triangles.end(), mesh.triangles.begin(), mesh.triangles.begin() + 250);
  mesh.transform(state);
  auto set = std::make_unique<PrimitiveSet>();
  std::vector<Edges> inParts;
  std::vector<uint32_t> sources;
  size_t sets = 0;
  for (uint32_t first = 0; first < mesh.triangles.size(); ++sets) {
    set->count = 0;
    first = mesh.setUp(state, *set, first);
    inParts.insert(inParts.end(), set->edges, set->edges + set->count);
    sources.insert(sources.end(), set->source, set->source + set->count);
  }
  EXPECT_GT(sets, 2u);
  EXPECT_TRUE(std::is_sorted(sources.begin(), sources.end()));
  // One after the other.
  size_t next = 0;
  const std::vector<std::array<uint16_t, 3>> all = mesh.triangles;
  for (uint32_t t = 0; t < all.size(); ++t) {
    mesh.triangles = {all[t]};
    set->count = 0;
    mesh.setUp(state, *set);
    for (uint32_t n = 0; n < set->count; ++n, ++next) {
      ASSERT_LT(next, inParts.size());
      ASSERT_EQ(sources[next], t);
      for (uint32_t e = 0; e < 3; ++e) ASSERT_EQ(inParts[next].c[e], set->edges[n].c[e]);
    }
  }
  EXPECT_EQ(next, inParts.size());
}

}  // namespace
}  // namespace pumice::raster
