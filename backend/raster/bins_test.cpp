#include "backend/raster/bins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "backend/raster/setup_test_support.h"

namespace pumice::raster {
namespace {

float uniform(std::mt19937& random, float low, float high) {
  return low + (high - low) * static_cast<float>(random()) / 4294967296.0f;
}

TEST(BlockArena, GivesEachBlockToOneAtATime) {
  constexpr uint32_t kBlocks = 37;
  const auto memory = std::make_unique<std::byte[]>(kBlocks * kArenaBlockBytes);
  BlockArena arena(memory.get(), kBlocks);
  std::vector<std::atomic<int>> users(kBlocks);
  std::atomic<uint64_t> taken{0};
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<std::byte*> mine;
      for (int i = 0; i < 20000; ++i) {
        const uint32_t want = 1 + random() % 9;
        if (arena.reserve(want)) {
          const uint32_t use = random() % (want + 1);
          for (uint32_t k = 0; k < use; ++k) {
            std::byte* block = arena.take();
            const size_t n = static_cast<size_t>(block - memory.get()) / kArenaBlockBytes;
            if (n >= kBlocks || users[n].fetch_add(1) != 0) wrong = true;
            *block = std::byte{1};  // the owner's alone
            mine.push_back(block);
          }
          taken += use;
          arena.unreserve(want - use);
        }
        while (mine.size() > random() % 12) {
          users[static_cast<size_t>(mine.back() - memory.get()) / kArenaBlockBytes].fetch_sub(1);
          arena.giveBack(mine.back());
          mine.pop_back();
        }
      }
      for (std::byte* block : mine) {
        users[static_cast<size_t>(block - memory.get()) / kArenaBlockBytes].fetch_sub(1);
        arena.giveBack(block);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(wrong);
  EXPECT_GT(taken, 10000u);
  EXPECT_EQ(arena.available(), kBlocks);
  EXPECT_TRUE(arena.reserve(kBlocks));
  EXPECT_FALSE(arena.reserve(1));
}

TEST(TileList, EntriesComeInTheOrderOfTheirSets) {
  std::mt19937 random(1);
  for (uint32_t count = 0; count < 200; ++count) {
    std::vector<TileEntry> entries(count);
    std::vector<uint64_t> orders(count);
    for (uint32_t i = 0; i < count; ++i) orders[i] = i * 3;
    if (count % 2) std::shuffle(orders.begin(), orders.end(), random);
    TileList list;
    for (uint32_t i = 0; i < count; ++i) {
      entries[i].order = orders[i];
      list.push(&entries[i]);
    }
    uint64_t expected = 0;
    for (const TileEntry* e = list.takeInOrder(); e; e = e->next, expected += 3) ASSERT_EQ(e->order, expected);
    ASSERT_EQ(expected, count * 3u);
    ASSERT_EQ(list.takeInOrder(), nullptr);
  }
}

constexpr int32_t kWidth = 200;
constexpr int32_t kHeight = 150;

TileGrid gridOf(uint32_t edge_log2, uint32_t layers) {
  const uint32_t edge = 1u << edge_log2;
  return {edge_log2, (kWidth + edge - 1) / edge, (kHeight + edge - 1) / edge, layers, {0, 0, kWidth, kHeight}};
}

Mesh randomMesh(std::mt19937& random, uint32_t count) {
  Mesh mesh;
  for (uint32_t i = 0; i < count; ++i) {
    const float size = std::pow(10.0f, uniform(random, -2, 0.8f));
    const float x = uniform(random, -1, 1);
    const float y = uniform(random, -1, 1);
    uint16_t v[3];
    for (uint16_t& n : v) {
      const float w = uniform(random, -0.2f, 2);
      n = mesh.add({(x + uniform(random, -size, size)) * w, (y + uniform(random, -size, size)) * w, 0.5f * w, w});
    }
    mesh.triangle(v[0], v[1], v[2]);
  }
  return mesh;
}

// Pixels of a tile.
PixelRect tileRect(const TileGrid& grid, uint32_t tile) {
  const uint32_t inLayer = tile % grid.tilesPerLayer();
  const int32_t x = static_cast<int32_t>(inLayer % grid.columns << grid.edge_log2);
  const int32_t y = static_cast<int32_t>(inLayer / grid.columns << grid.edge_log2);
  return {x, y, x + (1 << grid.edge_log2), y + (1 << grid.edge_log2)};
}

// How many samples of the area's part of a tile a primitive covers, and how many there are.
std::pair<size_t, size_t> samplesIn(const PrimitiveSet& set, uint32_t n, const PixelRect& tile, uint32_t log2) {
  size_t covered = 0;
  size_t all = 0;
  for (int32_t y = tile.y0; y < std::min(tile.y1, kHeight); y += 64)
    for (int32_t x = tile.x0; x < std::min(tile.x1, kWidth); x += 64) {
      const int32_t x1 = std::min({x + 64, tile.x1, kWidth}) - x;
      const int32_t y1 = std::min({y + 64, tile.y1, kHeight}) - y;
      SquareCoverage c = coverageOf(set, n, x, y, log2);
      for (uint32_t s = 0; s < 1u << log2; ++s)
        for (int32_t py = 0; py < y1; ++py)
          for (int32_t px = 0; px < x1; ++px) covered += c.at(s, px, py);
      all += static_cast<size_t>(x1 * y1) << log2;
    }
  return {covered, all};
}

TEST(Binner, TilesHaveWhatTouchesThem) {
  std::mt19937 random(2);
  auto set = std::make_unique<PrimitiveSet>();
  size_t useless = 0;
  size_t marks = 0;
  size_t hidden = 0;
  size_t hideable = 0;
  for (int round = 0; round < 24; ++round) {
    SetupState state = testState(kWidth, kHeight);
    state.samples_log2 = random() % 4;
    Mesh mesh = randomMesh(random, 60);
    mesh.transform(state);
    set->count = 0;
    mesh.setUp(state, *set);
    ASSERT_GT(set->count, 10u);
    const TileGrid grid = gridOf(4 + static_cast<uint32_t>(round) % 4, 3);
    std::vector<TileList> lists(grid.tileCount());
    std::vector<TileEntry*> current(grid.tileCount());
    std::vector<TileEntry> entries(grid.tileCount() + grid.tilesPerLayer());
    Binner binner(grid, lists.data(), current.data());
    binner.begin(set.get(), 7, entries.data(), static_cast<uint32_t>(entries.size()));
    std::vector<uint32_t> layer(set->count);
    std::vector<bool> hides(set->count);
    uint32_t added = 0;
    for (; added < set->count; ++added) {
      layer[added] = random() % 3;
      hides[added] = random() % 2;
      if (!binner.add(added, layer[added], state.samples_log2, hides[added])) break;
    }
    ASSERT_EQ(added, set->count);
    binner.publish();
    for (const TileEntry* c : current) ASSERT_EQ(c, nullptr);
    for (uint32_t tile = 0; tile < grid.tileCount(); ++tile) {
      const TileEntry* entry = lists[tile].takeInOrder();
      if (entry) {
        ASSERT_EQ(entry->order, 7u);
        ASSERT_EQ(entry->set, set.get());
        ASSERT_EQ(entry->next, nullptr);
      }
      const PixelRect rect = tileRect(grid, tile);
      // What hides the tile is found nearly always; bounds are those of samples, taken for themselves in x and y.
      const uint32_t firstVisible = entry && entry->hiding ? entry->hiding - 1 : 0;
      uint32_t lastHiding = 0;
      for (uint32_t n = 0; n < set->count; ++n) {
        if (layer[n] != tile / grid.tilesPerLayer()) continue;
        const auto [covered, all] = samplesIn(*set, n, rect, state.samples_log2);
        if (hides[n] && covered == all) lastHiding = n;
        if (entry && n + 1 == entry->hiding) {
          ASSERT_TRUE(hides[n] && covered == all);
        }
      }
      hideable += lastHiding > 0;
      hidden += firstVisible > 0 && firstVisible == lastHiding;
      for (uint32_t n = 0; n < set->count; ++n) {
        const bool marked = entry && (entry->mask[n / 64] >> (n % 64) & 1);
        marks += marked;
        if (layer[n] != tile / grid.tilesPerLayer()) {
          ASSERT_FALSE(marked);
          continue;
        }
        const bool touches = samplesIn(*set, n, rect, state.samples_log2).first > 0;
        if (touches && n >= firstVisible) {
          ASSERT_TRUE(marked) << "round " << round << " tile " << tile << " primitive " << n;
        }
        if (n < firstVisible) {
          ASSERT_FALSE(marked);
        }
        useless += marked && !touches;
      }
    }
  }
  EXPECT_GT(hideable, 100u);
  EXPECT_GT(hidden, hideable * 7 / 10);
  EXPECT_LT(useless, marks / 5);  // a bounding box in a tile whose corner it passes by
}

TEST(Binner, ASetEndsBeforeItsEntriesDo) {
  SetupState state = testState(kWidth, kHeight);
  Mesh mesh;
  mesh.add({-1, -1, 0, 1});
  mesh.add({3, -1, 0, 1});
  mesh.add({-1, 3, 0, 1});
  for (int i = 0; i < 5; ++i) mesh.triangle(0, 1, 2);
  mesh.transform(state);
  auto set = std::make_unique<PrimitiveSet>();
  mesh.setUp(state, *set);
  ASSERT_EQ(set->count, 5u);
  const TileGrid grid = gridOf(4, 5);
  std::vector<TileList> lists(grid.tileCount());
  std::vector<TileEntry*> current(grid.tileCount());
  Binner binner(grid, lists.data(), current.data());
  std::vector<TileEntry> entries(binner.maxEntries() * 2 + 1);
  binner.begin(set.get(), 0, entries.data(), static_cast<uint32_t>(entries.size()));
  EXPECT_TRUE(binner.add(0, 0, 0, false));
  EXPECT_TRUE(binner.add(1, 1, 0, false));
  EXPECT_FALSE(binner.add(2, 2, 0, false));
  EXPECT_EQ(binner.publish(), 2 * binner.maxEntries());
}

}  // namespace
}  // namespace pumice::raster
