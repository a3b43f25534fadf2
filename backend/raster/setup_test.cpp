#include "backend/raster/setup.h"

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

// Any float: all exponents, infinities, NaN.
float anyFloat(std::mt19937& random) {
  switch (random() % 8) {
    case 0:
      return std::numeric_limits<float>::infinity() * (random() % 2 ? 1.0f : -1.0f);
    case 1:
      return std::numeric_limits<float>::quiet_NaN();
    case 2:
      return 0.0f;
    case 3:
      return random() % 2 ? FLT_MAX : -FLT_MAX;
    default:
      return __builtin_bit_cast(float, static_cast<uint32_t>(random()));
  }
}

TEST(Transform, SnapsToTheNearest256thOfAPixel) {
  std::mt19937 random(1);
  const abi::Viewport viewports[] = {{0, 0, 1920, 1080, 0, 1},
                                     {10, 700, 640, -480, 0.25f, 0.5f},
                                     {0, 0, 16384, 16384, 1, 0},
                                     {-100, -50, 33, 65, 0, 1}};
  for (const abi::Viewport& v : viewports)
    for (const bool negative : {false, true}) {
      SetupState state;
      state.view = makeViewTransform(v, negative, true);
      Mesh mesh;
      for (int i = 0; i < 640; ++i) {
        const float w = uniform(random, 0.1f, 100.0f);
        mesh.add({uniform(random, -w, w), uniform(random, -w, w), uniform(random, -w, w), w});
      }
      for (const Kernels* k : allKernels()) {
        mesh.transform(state, *k);
        for (uint32_t i = 0; i < 640; ++i) {
          const Clip& c = mesh.vertices[i];
          const double x = (double{c.x} / c.w + 1) * v.width / 2 + v.x;
          const double y = (double{c.y} / c.w + 1) * v.height / 2 + v.y;
          const double zNdc = double{c.z} / c.w;
          const double z = negative ? v.minDepth + (zNdc + 1) / 2 * (v.maxDepth - v.minDepth)
                                    : v.minDepth + zNdc * (v.maxDepth - v.minDepth);
          ASSERT_NEAR(mesh.screen->vertex[i].x, x * 256, 0.5 + 0.75);  // half a step, and floats at 16384 pixels
          ASSERT_NEAR(mesh.screen->vertex[i].y, y * 256, 0.5 + 0.75);
          ASSERT_NEAR(double{mesh.screen->depth[i]}, z, 3e-7);
          ASSERT_NEAR(double{mesh.screen->vertex[i].oneOverW} * c.w, 1, 1e-7);
          const uint32_t code = mesh.screen->vertex[i].outcode;
          ASSERT_EQ(code & ~uint32_t{kOutNear}, 0u);
          ASSERT_EQ(code != 0, !negative && c.z < 0);
        }
      }
    }
}

TEST(Transform, OutcodesOfAnyNumbers) {
  std::mt19937 random(2);
  const SetupState state = testState(1000, 800);
  for (int round = 0; round < 40; ++round) {
    Mesh mesh;
    mesh.distanceCount = 2;
    for (int i = 0; i < 128; ++i) {
      const bool wild = random() % 2;
      const auto number = [&] { return wild ? anyFloat(random) : uniform(random, -3, 3); };
      mesh.add({number(), number(), number(), number()});
      mesh.distances.push_back({anyFloat(random), uniform(random, -1, 1)});
    }
    for (const Kernels* k : allKernels()) {
      mesh.transform(state, *k);
      for (uint32_t i = 0; i < 128; ++i) {
        const Clip& c = mesh.vertices[i];
        const uint32_t code = mesh.screen->vertex[i].outcode;
        const bool finite = std::isfinite(c.x) && std::isfinite(c.y) && std::isfinite(c.z) && std::isfinite(c.w);
        ASSERT_EQ((code & kOutBad) != 0, !finite);
        ASSERT_EQ((code & kOutDistance0) != 0, !(mesh.distances[i][0] >= 0));
        ASSERT_EQ((code & (kOutDistance0 << 1)) != 0, !(mesh.distances[i][1] >= 0));
        ASSERT_TRUE(mesh.screen->vertex[i].x >= kMinCoordinate - 1024 &&
                    mesh.screen->vertex[i].x <= kMaxCoordinate + 1024);
        if (!finite) continue;
        ASSERT_EQ((code & kOutLeft) != 0, c.x < -c.w);
        ASSERT_EQ((code & kOutRight) != 0, c.x > c.w);
        ASSERT_EQ((code & kOutTop) != 0, c.y < -c.w);
        ASSERT_EQ((code & kOutBottom) != 0, c.y > c.w);
        ASSERT_EQ((code & kOutNear) != 0, c.z < 0);
        ASSERT_EQ((code & kOutFar) != 0, c.z > c.w);
        ASSERT_EQ((code & kOutBehind) != 0, c.w < kMinW);
        if (code & kOutBehind) continue;
        const double x = (double{c.x} / c.w + 1) * 500;
        const double y = (double{c.y} / c.w + 1) * 400;
        const double out = std::max({-8192 - x, x - 24576, -8192 - y, y - 24576});
        if (std::fabs(out) > 1) {
          ASSERT_EQ((code & kOutGuard) != 0, out > 0);
        }
      }
    }
  }
}

TEST(SetUp, EdgesRectsAndCullingOfUnclippedTriangles) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    SetupState state = testState(200, 150);
    state.samples_log2 = random() % 4;
    state.frontClockwise = random() % 2;
    state.cullFront = random() % 3 == 0;
    state.cullBack = random() % 3 == 0;
    if (random() % 2) state.clip = {40, 30, 170, 128};
    Mesh mesh;
    const float size = round % 2 ? 0.02f : 1.5f;
    for (int i = 0; i < 40; ++i) {
      const float x = uniform(random, -1, 1);
      const float y = uniform(random, -1, 1);
      for (int k = 0; k < 3; ++k) {
        const float w = uniform(random, 0.5f, 2);
        mesh.add({(x + uniform(random, -size, size)) * w, (y + uniform(random, -size, size)) * w, 0.5f * w, w});
      }
      mesh.triangle(static_cast<uint16_t>(3 * i), static_cast<uint16_t>(3 * i + 1), static_cast<uint16_t>(3 * i + 2));
    }
    mesh.transform(state);
    auto set = std::make_unique<PrimitiveSet>();
    ASSERT_EQ(mesh.setUp(state, *set), 40u);
    uint32_t next = 0;
    for (uint32_t t = 0; t < 40; ++t) {
      std::array<Point, 3> p;
      for (uint32_t k = 0; k < 3; ++k) p[k] = {mesh.screen->vertex[3 * t + k].x, mesh.screen->vertex[3 * t + k].y};
      const int64_t area = doubleArea(p[0], p[1], p[2]);
      if (area < 0) std::swap(p[1], p[2]);
      const bool front = (area > 0) == state.frontClockwise;
      const bool culled = area == 0 || (front ? state.cullFront : state.cullBack);
      // Naively, sample by sample.
      bool covers = false;
      for (int32_t y = state.clip.y0 / 64 * 64; y < state.clip.y1; y += 64)
        for (int32_t x = state.clip.x0 / 64 * 64; x < state.clip.x1; x += 64) {
          const PixelRect rect = {std::max(state.clip.x0 - x, 0), std::max(state.clip.y0 - y, 0),
                                  std::min(state.clip.x1 - x, 64), std::min(state.clip.y1 - y, 64)};
          const SquareCoverage expected = culled ? SquareCoverage(1u << state.samples_log2)
                                                 : naiveCoverage(p.data(), 3, x, y, rect, state.samples_log2);
          covers |= std::count(expected.bit.begin(), expected.bit.end(), 1) != 0;
          if (next < set->count && set->source[next] == t) {
            ASSERT_EQ(coverageOf(*set, next, x, y, state.samples_log2), expected) << round << ' ' << t;
          }
        }
      const bool present = next < set->count && set->source[next] == t;
      ASSERT_TRUE(present || !covers) << round << ' ' << t;
      if (!present) continue;
      ASSERT_FALSE(culled);
      ASSERT_EQ((set->records[next].flags & abi::kPrimitiveBackFacing) != 0, !front);
      ASSERT_EQ(set->records[next].primitiveId, t);
      ++next;
    }
    ASSERT_EQ(next, set->count);
  }
}

// What double precision says of a point on the screen: weights of vertices 1 and 2, 1/w and depth.
struct Exact {
  double oneOverW, i, j, iLinear, jLinear, depth;
};
Exact exactAt(const double x[3], const double y[3], const double w[3], const double z[3], double px, double py) {
  const double area = (x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0]);
  const double i = ((px - x[0]) * (y[2] - y[0]) - (py - y[0]) * (x[2] - x[0])) / area;
  const double j = ((x[1] - x[0]) * (py - y[0]) - (y[1] - y[0]) * (px - x[0])) / area;
  const double k = 1 - i - j;
  const double oneOverW = k / w[0] + i / w[1] + j / w[2];
  return {oneOverW, i / w[1] / oneOverW, j / w[2] / oneOverW, i, j, k * z[0] + i * z[1] + j * z[2]};
}

TEST(SetUp, PlanesAgreeWithDoublePrecision) {
  std::mt19937 random(4);
  SetupState state = testState(16384, 16384);
  state.varyingSlots = 3;
  auto set = std::make_unique<PrimitiveSet>();
  double worst = 0;
  for (int round = 0; round < 300; ++round) {
    Mesh mesh;
    const float size = std::pow(10.0f, uniform(random, -3.5f, 0));
    for (int i = 0; i < 60; ++i) {
      const float x = uniform(random, -1, 1);
      const float y = uniform(random, -1, 1);
      for (int k = 0; k < 3; ++k) {
        const float w = uniform(random, 0.5f, 5);
        mesh.add({std::clamp(x + uniform(random, -size, size), -1.0f, 1.0f) * w,
                  std::clamp(y + uniform(random, -size, size), -1.0f, 1.0f) * w, uniform(random, 0, w), w});
      }
      mesh.triangle(static_cast<uint16_t>(3 * i), static_cast<uint16_t>(3 * i + 1), static_cast<uint16_t>(3 * i + 2));
    }
    mesh.transform(state);
    set->count = 0;
    ASSERT_EQ(mesh.setUp(state, *set), 60u);
    for (uint32_t n = 0; n < set->count; ++n) {
      const abi::PrimitiveRecord& r = set->records[n];
      const uint32_t t = set->source[n];
      ASSERT_EQ(r.vertex0, 9 * t);
      ASSERT_EQ(r.vertex1, 9 * t + 3);
      ASSERT_EQ(r.vertex2, 9 * t + 6);
      ASSERT_EQ(r.provokingVertex, 9 * t);
      double x[3];
      double y[3];
      double w[3];
      double z[3];
      for (uint32_t k = 0; k < 3; ++k) {
        x[k] = mesh.screen->vertex[3 * t + k].x / 256.0;
        y[k] = mesh.screen->vertex[3 * t + k].y / 256.0;
        w[k] = double{mesh.vertices[3 * t + k].w};
        z[k] = double{mesh.vertices[3 * t + k].z} / w[k];
      }
      // Of long thin ones the weights change by much within the rounding of a position; they are judged by their
      // height.
      const double area = std::fabs((x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0]));
      const double longest = std::max({std::hypot(x[1] - x[0], y[1] - y[0]), std::hypot(x[2] - x[0], y[2] - y[0]),
                                       std::hypot(x[2] - x[1], y[2] - y[1])});
      const double slenderness = longest * longest / area;
      for (int sample = 0; sample < 8; ++sample) {
        double a = uniform(random, 0, 1);
        double b = uniform(random, 0, 1);
        if (a + b > 1) {
          a = 1 - a;
          b = 1 - b;
        }
        const double px = double{static_cast<float>(x[0] + a * (x[1] - x[0]) + b * (x[2] - x[0]))};
        const double py = double{static_cast<float>(y[0] + a * (y[1] - y[0]) + b * (y[2] - y[0]))};
        const Exact e = exactAt(x, y, w, z, px, py);
        const double oneOverW = planeAt(r.oneOverW, r, px, py);
        const double limit = 4e-6 * (1 + slenderness);
        EXPECT_NEAR(oneOverW / e.oneOverW, 1, limit);
        EXPECT_NEAR(planeAt(r.iOverW, r, px, py) / oneOverW, e.i, limit);
        EXPECT_NEAR(planeAt(r.jOverW, r, px, py) / oneOverW, e.j, limit);
        EXPECT_NEAR(planeAt(r.iLinear, r, px, py), e.iLinear, limit);
        EXPECT_NEAR(planeAt(r.jLinear, r, px, py), e.jLinear, limit);
        EXPECT_NEAR(planeAt(r.depth, r, px, py), e.depth, limit);
        worst = std::max(worst, std::fabs(planeAt(r.depth, r, px, py) - e.depth) / (1 + slenderness));
        if (e.iLinear >= 0 && e.jLinear >= 0 && e.iLinear + e.jLinear <= 1) {
          ASSERT_LE(r.depthMin, planeAt(r.depth, r, px, py));
          ASSERT_GE(r.depthMax, planeAt(r.depth, r, px, py));
        }
      }
      if (testing::Test::HasFailure()) return;
    }
  }
  std::printf("largest error of depth, relative to slenderness: %.2g\n", worst);
}

// Vertex 0, 1, 2 at pixels (0,0), (64,0), (0,64) with these depths.
float biasOf(const SetupState& state, float z0, float z1, float z2) {
  Mesh mesh;
  const float s = 64.0f / 128 * 2 - 1;
  mesh.add({-1, -1, z0, 1});
  mesh.add({s, -1, z1, 1});
  mesh.add({-1, s, z2, 1});
  mesh.triangle(0, 1, 2);
  mesh.transform(state);
  auto set = std::make_unique<PrimitiveSet>();
  EXPECT_EQ(mesh.setUp(state, *set), 1u);
  EXPECT_EQ(set->count, 1u);
  return set->records[0].depth.atOrigin - z0;
}

TEST(SetUp, DepthBias) {
  SetupState state = testState(128, 128);
  EXPECT_EQ(biasOf(state, 0.5f, 0.5f, 0.5f), 0.0f);
  state.depthKind = DepthKind::kUnorm16;
  state.biasConstant = 8;
  EXPECT_EQ(biasOf(state, 0.5f, 0.5f, 0.5f), 8 * 0x1p-16f);
  state.depthKind = DepthKind::kUnorm24;
  EXPECT_EQ(biasOf(state, 0.5f, 0.5f, 0.5f), 8 * 0x1p-24f);
  state.depthKind = DepthKind::kFloat;  // 0.75 = 1.5 * 2^-1: the unit is 2^(-1-23)
  EXPECT_EQ(biasOf(state, 0.5f, 0.75f, 0.5f), 8 * 0x1p-24f);
  state.biasConstant = 0;
  state.biasSlope = 2;  // (0.75 - 0.25) / 64 per pixel, the greater slope
  EXPECT_NEAR(biasOf(state, 0.25f, 0.75f, 0.375f), 2 * 0.5f / 64, 1e-7);
  EXPECT_NEAR(biasOf(state, 0.25f, 0.375f, 0.75f), 2 * 0.5f / 64, 1e-7);
  state.biasClamp = 0x1p-10f;
  EXPECT_NEAR(biasOf(state, 0.25f, 0.75f, 0.25f), 0x1p-10f, 1e-7);
  state.biasSlope = -2;
  EXPECT_NEAR(biasOf(state, 0.25f, 0.75f, 0.25f), -0.5f / 32, 1e-7);
  state.biasClamp = -0x1p-10f;
  EXPECT_NEAR(biasOf(state, 0.25f, 0.75f, 0.25f), -0x1p-10f, 1e-7);
}

TEST(SetUp, AllInstructionSetsLeaveTheSameBits) {
  std::mt19937 random(5);
  SetupState state = testState(640, 480);
  state.depthKind = DepthKind::kFloat;
  state.biasConstant = 3;
  state.biasSlope = 1.5f;
  for (int round = 0; round < 200; ++round) {
    Mesh mesh;
    for (int i = 0; i < 64; ++i)
      mesh.add({uniform(random, -2, 2), uniform(random, -2, 2), uniform(random, -0.2f, 1), uniform(random, -0.1f, 3)});
    uint16_t triangles[16][3];
    for (auto& t : triangles)
      for (uint16_t& v : t) v = static_cast<uint16_t>(random() % 64);
    TriangleGroup first;
    for (const Kernels* k : allKernels()) {
      mesh.transform(state, *k);
      TriangleGroup group;
      k->setUpGroup(triangles, 16, *mesh.screen, state, group);
      if (k == allKernels().front()) {
        first = group;
        continue;
      }
      ASSERT_EQ(group.visible, first.visible);
      ASSERT_EQ(group.mustClip, first.mustClip);
      for (uint32_t l = 0; l < 16; ++l) {
        if (!(group.visible >> l & 1)) continue;
        for (uint32_t e = 0; e < 3; ++e) {
          ASSERT_EQ(group.a[e][l], first.a[e][l]);
          ASSERT_EQ(group.b[e][l], first.b[e][l]);
          ASSERT_EQ(group.c[e][l], first.c[e][l]);
        }
        for (uint32_t w = 0; w < 24; ++w)
          ASSERT_EQ(__builtin_bit_cast(uint32_t, group.words[w][l]), __builtin_bit_cast(uint32_t, first.words[w][l]));
        for (uint32_t r = 0; r < 4; ++r) ASSERT_EQ(group.rect[r][l], first.rect[r][l]);
      }
    }
  }
}

}  // namespace
}  // namespace pumice::raster
