#include "backend/raster/tile_walker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "backend/raster/line_point.h"
#include "backend/raster/setup_test_support.h"

namespace pumice::raster {
namespace {

constexpr int32_t kWidth = 200;
constexpr int32_t kHeight = 150;

float uniform(std::mt19937& random, float low, float high) {
  return low + (high - low) * static_cast<float>(random()) / 4294967296.0f;
}

TileGrid gridOf(uint32_t edge_log2) {
  const uint32_t edge = 1u << edge_log2;
  return {edge_log2, (kWidth + edge - 1) / edge, (kHeight + edge - 1) / edge, 1, {0, 0, kWidth, kHeight}};
}

// Who covers each sample of each pixel, in order: set * 1000 + primitive.
using Picture = std::vector<std::vector<uint32_t>>;
size_t place(uint32_t x, uint32_t y, uint32_t s) {
  return (s * 256 + y) * 256 + x;
}
constexpr size_t kPlaces = 8 * 256 * 256;

// Sets of triangles, lines and points, in several draws each; payloads are numbers of draws over all sets.
struct Scene {
  uint32_t samples_log2;
  std::vector<std::unique_ptr<PrimitiveSet>> sets;
  std::vector<std::vector<bool>> hides;  // by set and primitive

  Scene(std::mt19937& random, uint32_t log2, bool withHiding) : samples_log2(log2) {
    SetupState state = testState(kWidth, kHeight);
    state.samples_log2 = static_cast<uint8_t>(log2);
    uintptr_t draws = 0;
    for (int i = 0; i < 12; ++i) {
      sets.push_back(std::make_unique<PrimitiveSet>());
      PrimitiveSet& set = *sets.back();
      hides.emplace_back();
      for (int d = 0; d < 4; ++d) {
        Mesh mesh;
        const float size = std::pow(10.0f, uniform(random, -2, 0.9f));
        for (int v = 0; v < 12; ++v) {
          const float w = uniform(random, -0.2f, 2);
          mesh.add({uniform(random, -size, size) * w, uniform(random, -size, size) * w, 0.5f * w, w});
        }
        mesh.transform(state);
        const uint32_t first = set.count;
        const uint32_t kind = random() % 4;
        set.draws[set.drawCount++] = {reinterpret_cast<const void*>(++draws),
                                      first,
                                      static_cast<uint8_t>(kind < 2 ? 3 : 4),
                                      static_cast<uint8_t>(log2),
                                      false,
                                      0};
        if (kind < 2) {
          for (uint16_t v = 0; v < 12; v = static_cast<uint16_t>(v + 3))
            mesh.triangle(v, static_cast<uint16_t>(v + 1), static_cast<uint16_t>(v + 2));
          mesh.setUp(state, set);
        } else if (kind == 2) {
          const bool bresenham = random() % 2;
          set.draws[set.drawCount - 1].allSamples = bresenham;
          for (uint16_t v = 0; v < 12; v = static_cast<uint16_t>(v + 2))
            setUpLine(v, static_cast<uint16_t>(v + 1), bresenham, 3, 0, 0, *mesh.screen, mesh.outputs, state, set);
        } else {
          for (uint16_t v = 0; v < 12; ++v) setUpPoint(v, uniform(random, 1, 30), 0, 0, *mesh.screen, state, set);
        }
        const bool hiding = withHiding && random() % 2;
        hides.back().resize(set.count, hiding);
      }
    }
  }

  const SetDraw& drawOf(size_t set, uint32_t primitive) const {
    const PrimitiveSet& s = *sets[set];
    uint32_t d = s.drawCount;
    while (s.draws[--d].firstPrimitive > primitive) {
    }
    return s.draws[d];
  }

  // Without tiles and runs: one primitive after the other.
  Picture naive() const {
    Picture picture(kPlaces);
    for (size_t i = 0; i < sets.size(); ++i)
      for (uint32_t n = 0; n < sets[i]->count; ++n) {
        const SetDraw& draw = drawOf(i, n);
        const uint32_t log2 = draw.allSamples ? 0 : samples_log2;
        for (int32_t y = 0; y < kHeight; y += 64)
          for (int32_t x = 0; x < kWidth; x += 64) {
            const PrimitiveRect& r = sets[i]->rects[n];
            const PixelRect rect = {std::max(r.x0 - x, 0), std::max(r.y0 - y, 0), std::min(r.x1 - x, 64),
                                    std::min(r.y1 - y, 64)};
            if (rect.x0 >= rect.x1 || rect.y0 >= rect.y1) continue;
            BlockList list;
            kernels().cover4[log2](sets[i]->edges[n], x, y, rect, list);
            SquareCoverage c = expand(list, log2);
            for (uint32_t s = 0; s < 1u << samples_log2; ++s)
              for (int32_t py = 0; py < 64; ++py)
                for (int32_t px = 0; px < 64; ++px)
                  if (c.at(draw.allSamples ? 0 : s, px, py))
                    picture[place(static_cast<uint32_t>(x + px), static_cast<uint32_t>(y + py), s)].push_back(
                        static_cast<uint32_t>(i * 1000 + n));
          }
      }
    return picture;
  }
};

class Painter final : public TileShader {
 public:
  explicit Painter(const Scene& scene) : scene_(scene) {}

  Picture picture = Picture(kPlaces);
  size_t runs = 0;

  void beginDraw(const PrimitiveSet& set, const SetDraw& draw) override {
    set_ = 0;
    while (scene_.sets[set_].get() != &set) ++set_;
    draw_ = &draw;
  }
  void shade(const abi::FragmentRun& run) override {
    ++runs;
    for (uint32_t s = 0; s < 1u << draw_->samples_log2; ++s) {
      for (uint32_t i = 0; i < run.blockCount; ++i)
        for (uint32_t l = 0; l < 16; ++l)
          if (run.blockCoverage[s][i] >> l & 1) add(run.blockPosition[i], l, s, run.blockPrimitive[i]);
      for (uint32_t i = 0; i < run.mixCount; ++i)
        for (uint32_t l = 0; l < 16; ++l)
          if (run.mixCoverage[s][i] >> l & 1) add(run.mixPosition[i][l / 4], l % 4, s, run.mixPrimitive[i][l / 4]);
    }
  }

 private:
  void add(uint32_t position, uint32_t lane, uint32_t s, uint32_t primitive) {
    ASSERT_EQ(&scene_.drawOf(set_, primitive), draw_);
    const uint32_t x = (position & 0xFFFF) + (lane & 1) + (lane >> 1 & 2);
    const uint32_t y = (position >> 16) + (lane >> 1 & 1) + (lane >> 2 & 2);
    picture[place(x, y, s)].push_back(static_cast<uint32_t>(set_ * 1000 + primitive));
  }

  const Scene& scene_;
  size_t set_ = 0;
  const SetDraw* draw_ = nullptr;
};

// Sets are binned by three threads at once.
Picture draw(const Scene& scene, uint32_t edge_log2) {
  const TileGrid grid = gridOf(edge_log2);
  std::vector<TileList> lists(grid.tileCount());
  std::vector<std::vector<TileEntry>> entries(scene.sets.size());
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      std::vector<TileEntry*> current(grid.tileCount());
      Binner binner(grid, lists.data(), current.data());
      for (size_t i = t; i < scene.sets.size(); i += 3) {
        entries[i].resize(grid.tileCount());
        binner.begin(scene.sets[i].get(), i, entries[i].data(), grid.tileCount());
        for (uint32_t n = 0; n < scene.sets[i]->count; ++n) {
          // Edges of a line of all samples are those of pixel centers.
          const SetDraw& d = scene.drawOf(i, n);
          if (!binner.add(n, 0, d.allSamples ? 0 : d.samples_log2, scene.hides[i][n])) std::abort();
        }
        binner.publish();
      }
    });
  for (std::thread& t : threads) t.join();
  Painter painter(scene);
  TileWalker walker(painter);
  for (uint32_t tile = 0; tile < grid.tileCount(); ++tile) walker.walk(grid, tile, lists[tile].takeInOrder());
  return painter.picture;
}

// Every sample sees the same primitives in the same order, whatever the edge of tiles and the number of samples.
TEST(Tiles, OfEverySizeGiveTheSamePicture) {
  std::mt19937 random(1);
  for (uint32_t samples_log2 = 0; samples_log2 < 4; ++samples_log2) {
    const Scene scene(random, samples_log2, false);
    const Picture expected = scene.naive();
    for (uint32_t edge_log2 = 4; edge_log2 <= 7; ++edge_log2)
      ASSERT_EQ(draw(scene, edge_log2), expected) << "edge " << (1 << edge_log2);
  }
}

// What is hidden may be left out, but never what is on top, and it is left out at all.
TEST(Tiles, LeaveOutWhatIsHidden) {
  std::mt19937 random(2);
  size_t drawn = 0;
  size_t all = 0;
  for (int round = 0; round < 6; ++round) {
    const Scene scene(random, random() % 3, true);
    const Picture expected = scene.naive();
    const Picture picture = draw(scene, 4 + static_cast<uint32_t>(round) % 4);
    for (size_t p = 0; p < kPlaces; ++p) {
      const auto& whole = expected[p];
      const auto& got = picture[p];
      drawn += got.size();
      all += whole.size();
      ASSERT_LE(got.size(), whole.size());
      ASSERT_TRUE(std::equal(got.rbegin(), got.rend(), whole.rbegin()));
      if (got.size() == whole.size()) continue;
      ASSERT_FALSE(got.empty());
      ASSERT_TRUE(scene.hides[got.front() / 1000][got.front() % 1000]);
    }
  }
  EXPECT_LT(drawn, all * 9 / 10);
}

}  // namespace
}  // namespace pumice::raster
