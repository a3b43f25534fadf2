// What passes count.
#include <gtest/gtest.h>

#include "backend/gpu/pass_reference.h"

namespace pumice::gpu {
namespace {

using namespace test;
using abi::DrawQueryKind;
using raster::Point;

// Samples of a draw are those that the reference covers, over all batches; begin and end in a pass and around passes.
TEST(PassQueries, CountSamplesAndStatistics) {
  std::mt19937 random(4);
  Scene scene;
  scene.addSmallTriangles(random, 5000);
  Scene empty;  // no program: what is covered counts
  empty.points = scene.points;
  empty.positions = scene.positions;
  empty.usePositions();
  empty.programs.fragment = nullptr;
  uint64_t samples[3] = {};
  Reference reference(kWidth, kHeight);
  const auto covered = [&](uint32_t first, uint32_t count) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const Point* p = &scene.points[3 * (first + i)];
      reference.triangle(p[0], p[1], p[2], reference.whole(), [&](uint32_t&) { ++n; });
    }
    return n;
  };
  samples[0] = covered(0, 4000);
  samples[1] = covered(4000, 1000);
  samples[2] = covered(0, 10);
  constexpr uint32_t kBits = VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT |
                             VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_PRIMITIVES_BIT |
                             VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT |
                             VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT |
                             VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT;
  for (const bool inlined : {true, false}) {
    TestDevice device({.workerCount = 3, .inlineSmallSpans = inlined, .drawArena_B = 1});
    kmd::Queue* queue = device.queue();
    Attachment target(kWidth, kHeight, 1, 1);
    abi::QuerySlot slots[3] = {};
    abi::QuerySlot statistics[5] = {};
    uint64_t copied[3] = {};
    PassStream stream;
    std::memset(slots, 0xFF, sizeof slots);
    stream.resetQueries(slots, 3);
    stream.resetQueries(statistics, 5);
    stream.beginQuery(statistics, DrawQueryKind::kStatistics, kBits);
    stream.beginPass(kWidth, kHeight, {{&target}});
    stream.beginQuery(&slots[0], DrawQueryKind::kPreciseOcclusion);
    stream.draw(scene, 1, 3 * 4000);
    stream.endQuery(&slots[0], DrawQueryKind::kPreciseOcclusion);
    stream.draw(scene, 1, 3);
    stream.beginQuery(&slots[1], DrawQueryKind::kOcclusion);
    stream.draw(empty, 1, 3 * 1000, 3 * 4000);
    stream.endQuery(&slots[1], DrawQueryKind::kOcclusion);
    stream.endPass();
    stream.endQuery(statistics, DrawQueryKind::kStatistics, kBits);
    stream.beginQuery(&slots[2], DrawQueryKind::kOcclusion);
    for (uint32_t i = 0; i < 2; ++i) {
      stream.beginPass(kWidth, kHeight, {{&target}});
      stream.draw(empty, 1, 3 * 5, 15 * i);
      stream.endPass();
    }
    stream.endQuery(&slots[2], DrawQueryKind::kOcclusion);
    stream.copyQueries(slots, 3, copied, 8, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    runAndWait(device, queue, stream);
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(slots[i].value, samples[i]);
      EXPECT_EQ(slots[i].available, 1u);
      EXPECT_EQ(copied[i], samples[i]);
    }
    EXPECT_EQ(statistics[0].value, 3u * 5001);
    EXPECT_EQ(statistics[1].value, 5001u);
    EXPECT_EQ(statistics[2].value, 3u * 5001);
    EXPECT_EQ(statistics[3].value, 5001u);
    EXPECT_GE(statistics[4].value, samples[0]);
    for (const abi::QuerySlot& slot : statistics) EXPECT_EQ(slot.available, 1u);
  }
}

// The largest framebuffer has 16,384 tiles: a triangle that touches all of them, over and over.
TEST(PassQueries, TheLargestFramebuffer) {
  constexpr uint32_t kLargest = 16384;
  DrawSetup setup(kLargest, kLargest);
  for (const Vec4& p : {Vec4{-1, -1, 0, 1}, {1, -1, 0, 1}, {-1, 1, 0, 1}, {-1, 1, 0, 1}, {1, -1, 0, 1}, {1, 1, 0, 1}})
    setup.positions.push_back(p);
  setup.usePositions();
  setup.programs.fragment = nullptr;
  setup.raster.samples_log2 = 0;
  TestDevice device({.workerCount = 2, .drawArena_B = 1});
  abi::QuerySlot slots[2] = {};
  PassStream stream;
  PassStream::Options options;
  options.tileEdge_log2 = 7;
  stream.beginPass(kLargest, kLargest, {}, options);
  stream.beginQuery(&slots[0], DrawQueryKind::kOcclusion);
  stream.draw(setup, 0, 6);
  stream.endQuery(&slots[0], DrawQueryKind::kOcclusion);
  stream.beginQuery(&slots[1], DrawQueryKind::kOcclusion);
  for (int i = 0; i < 4; ++i) stream.draw(setup, 0, 3);
  stream.endQuery(&slots[1], DrawQueryKind::kOcclusion);
  stream.endPass();
  runAndWait(device, device.queue(), stream);
  EXPECT_EQ(slots[0].value, uint64_t{kLargest} * kLargest);
  // Of the pixels whose centers lie on the diagonal, all or none.
  const uint64_t half = uint64_t{kLargest} * (kLargest - 1) / 2;
  EXPECT_TRUE(slots[1].value == 4 * half || slots[1].value == 4 * (half + kLargest));
}

// A timestamp inside of a pass is not taken before the work that is recorded before it.
TEST(PassQueries, TimestampsInsideOfAPassComeAfterIt) {
  std::mt19937 random(5);
  Scene scene;
  scene.addTriangles(random, 100);
  TestDevice device;
  Attachment target(kWidth, kHeight, 1, 1);
  abi::QuerySlot slots[2] = {};
  PassStream stream;
  stream.timestamp(&slots[0], kAll);
  stream.beginPass(kWidth, kHeight, {{&target}});
  stream.draw(scene, 1, 300);
  stream.timestamp(&slots[1], kAll);
  stream.endPass();
  runAndWait(device, device.queue(), stream);
  EXPECT_EQ(slots[1].available, 1u);
  EXPECT_GT(slots[1].value, slots[0].value);
}

}  // namespace
}  // namespace pumice::gpu
