// Passes in the machine, against a naive reference.
#include <gtest/gtest.h>

#include "backend/gpu/pass_reference.h"

namespace pumice::gpu {
namespace {

using namespace test;
using raster::Point;

constexpr uint32_t kWidth = 200;
constexpr uint32_t kHeight = 150;

// A setup whose viewport the reference knows.
struct Scene : DrawSetup {
  std::vector<Point> points;

  explicit Scene(uint32_t samples_log2 = 0) : DrawSetup(kWidth, kHeight, samples_log2) {
    viewports.viewports[0] = {0, 0, kViewport, kViewport, 0, 1};
  }
  void add(Point p) {
    points.push_back(p);
    positions.push_back(clipOf(p));
  }
  void finish() { usePositions(); }
};

void runAndWait(TestDevice& device, kmd::Queue* queue, Stream& stream) {
  ASSERT_EQ(Batch().run(stream).submit(device, queue), Status::kOk);
  ASSERT_EQ(device.idle(queue), Status::kOk);
}

// Draws of every topology, with and without indices, restarts, instances; every tile edge and number of samples, one
// and several workers, inline or not.
TEST(Pass, DrawsOfEveryKindAsTheReference) {
  std::mt19937 random(1);
  for (uint32_t round = 0; round < 12; ++round) {
    const uint32_t samples_log2 = round % 4;
    Scene scene(samples_log2);
    for (int i = 0; i < 60; ++i) {
      Point p = randomPoint(random, 200, 150);
      if (i % 3 && i > 0 && random() % 2) {  // small triangles, too
        p = {scene.points.back().x + static_cast<int32_t>(random() % 2000) - 1000,
             scene.points.back().y + static_cast<int32_t>(random() % 2000) - 1000};
        p = {std::clamp(p.x, 0, 200 * 256), std::clamp(p.y, 0, 150 * 256)};
      }
      scene.add(p);
    }
    scene.finish();
    Scene strip(samples_log2), fan(samples_log2), restarts(samples_log2);
    for (Scene* s : {&strip, &fan, &restarts}) {
      s->points = scene.points;
      s->positions = scene.positions;
      s->finish();
    }
    strip.raster.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    fan.raster.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN;
    restarts.raster.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    restarts.raster.flags |= abi::kRasterPrimitiveRestart;
    for (int i = 0; i < 40; ++i) restarts.index32.push_back(random() % 5 ? random() % 60 : ~0u);
    restarts.useIndices();
    scene.index32.resize(90);
    for (uint32_t& i : scene.index32) i = random() % 50;
    scene.useIndices();

    Reference expected(kWidth, kHeight, samples_log2, 1, 7);
    const auto& p = scene.points;
    uint32_t id = 0;
    for (uint32_t i = 0; i < 60; i += 3) expected.mixTriangle(p[i], p[i + 1], p[i + 2], id, i / 3);
    ++id;
    for (uint32_t i = 0; i < 20; ++i) expected.mixTriangle(p[i + 4], p[i + 5], p[i + 6], id, i);
    ++id;
    for (uint32_t i = 1; i < 9; ++i) expected.mixTriangle(p[0], p[i], p[i + 1], id, i - 1);
    ++id;
    for (uint32_t instance = 0; instance < 3; ++instance)
      for (uint32_t i = 0; i < 90; i += 3) {
        const auto& x = scene.index32;
        expected.mixTriangle(p[x[i] + 10], p[x[i + 1] + 10], p[x[i + 2] + 10], id, i / 3);
      }
    ++id;
    uint32_t primitive = 0;
    for (uint32_t i = 0; i + 2 < 40; ++i) {
      const auto& x = restarts.index32;
      if (x[i] == ~0u || x[i + 1] == ~0u || x[i + 2] == ~0u) continue;
      expected.mixTriangle(p[x[i]], p[x[i + 1]], p[x[i + 2]], id, primitive++);
    }

    TestDevice device({.workerCount = 1 + round % 3, .inlineSmallSpans = round % 2 == 0});
    kmd::Queue* queue = device.queue();
    Attachment target(kWidth, kHeight, 1, 1u << samples_log2, 5);
    PassStream stream;
    PassStream::Options options;
    options.tileEdge_log2 = static_cast<uint8_t>(4 + round / 4 % 4);
    options.samples_log2 = static_cast<uint8_t>(samples_log2);
    stream.beginPass(kWidth, kHeight, {{&target, abi::LoadOp::kClear, 7}}, options);
    stream.draw(scene, 0, 60);
    stream.draw(strip, 1, 22, 4);
    stream.draw(fan, 2, 10);
    stream.drawIndexed(scene, 3, 90, 0, 10, 3);
    stream.drawIndexed(restarts, 4, 40);
    stream.endPass();
    runAndWait(device, queue, stream);
    ASSERT_EQ(expected.differences(target), 0u) << "round " << round;
  }
}

// More than any arena holds: many batches. And many small draws in one chunk.
TEST(Pass, LargeDrawsAreWorkedOnInBatches) {
  std::mt19937 random(2);
  constexpr uint32_t kTriangles = 110'000;
  Scene scene;
  for (uint32_t i = 0; i < kTriangles; ++i) {
    const Point p = randomPoint(random, 195, 145);
    scene.add(p);
    scene.add({p.x + static_cast<int32_t>(random() % 800), p.y + static_cast<int32_t>(random() % 800)});
    scene.add({p.x + static_cast<int32_t>(random() % 800), p.y + static_cast<int32_t>(random() % 800)});
  }
  scene.finish();
  Reference expected(kWidth, kHeight);
  const auto& p = scene.points;
  for (uint32_t i = 0; i < kTriangles; ++i) expected.mixTriangle(p[3 * i], p[3 * i + 1], p[3 * i + 2], 1, i);
  Reference small = expected;
  for (uint32_t d = 0; d < 2000; ++d)
    for (uint32_t i = 0; i < 2; ++i)
      small.mixTriangle(p[6 * d + 3 * i], p[6 * d + 3 * i + 1], p[6 * d + 3 * i + 2], 2 + d, i);
  for (const uint64_t arena_B : {uint64_t{1}, uint64_t{0}}) {
    for (const uint32_t workers : {1u, 3u}) {
      TestDevice device({.workerCount = workers, .drawArena_B = arena_B});
      kmd::Queue* queue = device.queue();
      Attachment target(kWidth, kHeight, 1, 1);
      PassStream stream;
      stream.beginPass(kWidth, kHeight, {{&target}});
      stream.draw(scene, 1, 3 * kTriangles);
      stream.endPass();
      runAndWait(device, queue, stream);
      ASSERT_EQ(expected.differences(target), 0u) << workers << " workers";
      PassStream more;
      more.beginPass(kWidth, kHeight, {{&target}});
      for (uint32_t d = 0; d < 2000; ++d) more.draw(scene, 2 + d, 6, 6 * d);
      more.endPass();
      runAndWait(device, queue, more);
      ASSERT_EQ(small.differences(target), 0u) << workers << " workers";
    }
  }
}

}  // namespace
}  // namespace pumice::gpu
