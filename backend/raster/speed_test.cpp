// Prints how fast the parts are on one core; asserts nothing about it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "backend/raster/bins.h"
#include "backend/raster/runs.h"
#include "backend/raster/setup_test_support.h"

namespace pumice::raster {
namespace {

// Best of some runs, in ns per item.
template <typename F>
double best_ns(size_t items, F run) {
  double best = 1e30;
  for (int i = 0; i < 60; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  return best / static_cast<double>(items);
}

constexpr float kWidth = 1920;
constexpr float kHeight = 1080;
constexpr uint32_t kTriangles = 240;  // a chunk

// Right triangles with legs of `legs` pixels, side by side.
Mesh mesh(float legs) {
  Mesh out;
  std::mt19937 random(1);
  for (uint32_t i = 0; i < kTriangles; ++i) {
    const float span = kWidth - legs;
    const float x = static_cast<float>(i * 37 % 1000) / 1000 * span + static_cast<float>(random() % 256) / 256;
    const float y = static_cast<float>(i * 91 % 1000) / 1000 * std::max(kHeight - legs, 0.0f) +
                    static_cast<float>(random() % 256) / 256;
    const auto add = [&](float px, float py) { return out.add({px / kWidth * 2 - 1, py / kHeight * 2 - 1, 0.5f, 1}); };
    const uint16_t a = add(x, y);
    const uint16_t b = add(x + legs, y);
    const uint16_t c = add(x, y + legs);
    out.triangle(a, b, c);
  }
  return out;
}

TEST(Speed, SetUp) {
  SetupState state = testState(kWidth, kHeight);
  Mesh small = mesh(2.9f);
  small.transform(state);
  auto set = std::make_unique<PrimitiveSet>();
  std::vector<uint32_t> ids(kTriangles);
  const TriangleInput in = {reinterpret_cast<const uint16_t(*)[3]>(small.triangles.data()), ids.data(), kTriangles};
  for (const Kernels* k : allKernels())
    std::printf("transform: %.2f ns a vertex\n", best_ns(64 * 1000, [&] {
                  for (int i = 0; i < 1000; ++i) k->transform(small.outputs, state.view, 0, *small.screen);
                }));
  const double visible = best_ns(kTriangles * 10, [&] {
    for (int i = 0; i < 10; ++i) {
      set->count = 0;
      setUpTriangles(in, 0, *small.screen, small.outputs, state, *set);
    }
  });
  std::printf("set-up of triangles of 4 pixels: %.1f ns, %.1f M/s, %u of %u visible\n", visible, 1e3 / visible,
              set->count, kTriangles);
  state.cullBack = true;  // they are clockwise
  const double culled = best_ns(kTriangles * 10, [&] {
    for (int i = 0; i < 10; ++i) {
      set->count = 0;
      setUpTriangles(in, 0, *small.screen, small.outputs, state, *set);
    }
  });
  std::printf("culled: %.1f ns, %.1f M/s, %u visible\n", culled, 1e3 / culled, set->count);
}

TEST(Speed, Coverage) {
  for (const float legs : {2.9f, 20.0f, 60.0f, 400.0f}) {
    for (const uint32_t log2 : {0u, 2u}) {
      SetupState state = testState(kWidth, kHeight);
      state.samples_log2 = static_cast<uint8_t>(log2);
      Mesh m = mesh(legs);
      m.transform(state);
      auto set = std::make_unique<PrimitiveSet>();
      m.setUp(state, *set);
      BlockList list;
      const uint32_t repeat = legs < 100 ? 4 : 1;
      size_t squares = 0;
      size_t blocks = 0;
      const double ns = best_ns(set->count * repeat, [&] {
        squares = blocks = 0;
        for (uint32_t i = 0; i < repeat; ++i)
          for (uint32_t n = 0; n < set->count; ++n) {
            const PrimitiveRect& r = set->rects[n];
            for (int32_t y = r.y0 / 64 * 64; y < r.y1; y += 64)
              for (int32_t x = r.x0 / 64 * 64; x < r.x1; x += 64) {
                const PixelRect rect = {std::max(r.x0 - x, 0), std::max(r.y0 - y, 0), std::min(r.x1 - x, 64),
                                        std::min(r.y1 - y, 64)};
                kernels().cover3[log2](set->edges[n], x, y, rect, list);
                ++squares;
                blocks += list.count;
              }
          }
      });
      std::printf("coverage, %u samples, triangles of %.0f pixels: %.1f ns, %.2f M/s; %.1f ns a square, %.2f a block\n",
                  1 << log2, static_cast<double>(legs * legs / 2), ns, 1e3 / ns,
                  ns * repeat * set->count / static_cast<double>(squares),
                  ns * repeat * set->count / static_cast<double>(blocks));
    }
  }
}

TEST(Speed, FromVerticesToRuns) {
  for (const float legs : {2.9f, 20.0f}) {
    SetupState state = testState(kWidth, kHeight);
    Mesh m = mesh(legs);
    m.transform(state);
    auto set = std::make_unique<PrimitiveSet>();
    std::vector<uint32_t> ids(kTriangles);
    const TriangleInput in = {reinterpret_cast<const uint16_t(*)[3]>(m.triangles.data()), ids.data(), kTriangles};
    const TileGrid grid = {6, 30, 17, 1, {0, 0, 1920, 1080}};
    std::vector<TileList> lists(grid.tileCount());
    std::vector<TileEntry*> current(grid.tileCount());
    std::vector<TileEntry> entries(grid.tileCount());
    Binner binner(grid, lists.data(), current.data());
    size_t vectors = 0;
    RunBuilder builder(
        [](void* context, const abi::FragmentRun& run) {
          *static_cast<size_t*>(context) += run.blockCount + run.mixCount;
        },
        &vectors);
    double binned = 0;
    const double ns = best_ns(kTriangles, [&] {
      set->count = 0;
      for (uint32_t v = 0; v < m.vertices.size(); v += 64) kernels().transform(m.outputs, state.view, v, *m.screen);
      setUpTriangles(in, 0, *m.screen, m.outputs, state, *set);
      const auto start = std::chrono::steady_clock::now();
      binner.begin(set.get(), 0, entries.data(), grid.tileCount());
      for (uint32_t n = 0; n < set->count; ++n) binner.add(n, 0, 0, false);
      const uint32_t count = binner.publish();
      binned = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kTriangles;
      vectors = 0;
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t tile = entries[i].tile;
        const int32_t x = static_cast<int32_t>(tile % 30 * 64);
        const int32_t y = static_cast<int32_t>(tile / 30 * 64);
        builder.begin(static_cast<uint32_t>(x), static_cast<uint32_t>(y), 1);
        for (const TileEntry* e = lists[tile].takeInOrder(); e; e = e->next)
          for (uint32_t w = 0; w < 4; ++w)
            for (uint64_t left = e->mask[w]; left; left &= left - 1) {
              const uint32_t n = w * 64 + static_cast<uint32_t>(__builtin_ctzll(left));
              const PrimitiveRect& r = set->rects[n];
              const PixelRect rect = {std::max(r.x0 - x, 0), std::max(r.y0 - y, 0), std::min(r.x1 - x, 64),
                                      std::min(r.y1 - y, 64)};
              BlockList list;
              kernels().cover3[0](set->edges[n], x, y, rect, list);
              builder.add(list, static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint16_t>(n));
            }
        builder.finish();
      }
    });
    std::printf(
        "vertices to runs, triangles of %.0f pixels: %.1f ns, %.1f M/s (bins %.1f ns); %.2f vectors a triangle\n",
        static_cast<double>(legs * legs / 2), ns, 1e3 / ns, binned, static_cast<double>(vectors) / kTriangles);
  }
}

}  // namespace
}  // namespace pumice::raster
