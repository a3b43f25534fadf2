// Passes in the machine, against a naive reference.
#include <gtest/gtest.h>

#include "backend/gpu/pass_reference.h"

namespace pumice::gpu {
namespace {

using namespace test;
using raster::Point;

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
    scene.usePositions();
    Scene strip(samples_log2), fan(samples_log2), restarts(samples_log2);
    for (Scene* s : {&strip, &fan, &restarts}) {
      s->points = scene.points;
      s->positions = scene.positions;
      s->usePositions();
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
  scene.usePositions();
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
      Attachment target(kWidth, kHeight, 1, 1, 5);
      PassStream stream;
      stream.beginPass(kWidth, kHeight, {{&target, abi::LoadOp::kClear, 0}});
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

// Clears at the begin, in the middle and by layers, in order with draws, on odd areas.
TEST(Pass, ClearsAreInOrder) {
  std::mt19937 random(3);
  for (const uint32_t samples_log2 : {0u, 2u}) {
    Scene scene(samples_log2);
    scene.addTriangles(random, 30);
    const abi::PassArea area{13, 7, 170, 133};
    const abi::PassArea one{20, 30, 77, 51};
    const abi::PassArea two{90, 60, 500, 500};
    const raster::PixelRect inside{13, 7, 183, 140};
    Reference expected(kWidth, kHeight, samples_log2, 3, 1);
    const auto clear = [&](const abi::PassArea& a, uint32_t value, uint32_t layer) {
      const uint32_t x0 = std::max(a.x, 13u), y0 = std::max(a.y, 7u);
      const uint32_t x1 = std::min(a.x + a.width, 183u), y1 = std::min(a.y + a.height, 140u);
      expected.fill({x0, y0, x1 - x0, y1 - y0}, value, layer);
    };
    const auto draw = [&](uint32_t id, uint32_t first, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i) {
        const Point* p = &scene.points[3 * (first + i)];
        expected.triangle(p[0], p[1], p[2], inside, [&](uint32_t& t) { t = mix(t, id * 1000003 + i); });
      }
    };
    for (uint32_t layer = 0; layer < 3; ++layer) clear(area, 99, layer);
    draw(0, 0, 10);
    clear(one, 5, 0);
    clear(one, 5, 1);
    clear(two, 5, 2);
    draw(1, 10, 10);
    clear(two, 6, 0);
    draw(2, 20, 10);

    TestDevice device;
    Attachment target(kWidth, kHeight, 3, 1u << samples_log2, 1);
    PassStream stream;
    PassStream::Options options;
    options.layers = 3;
    options.area = &area;
    options.tileEdge_log2 = 5;
    options.samples_log2 = static_cast<uint8_t>(samples_log2);
    stream.beginPass(kWidth, kHeight, {{&target, abi::LoadOp::kClear, 99}}, options);
    stream.draw(scene, 0, 30);
    // More layers than there are, which is not allowed: those that there are not are passed over, all at once.
    stream.clearAttachment(0, 5, {{one, 0, 2}, {two, 2, ~0u}, {two, 3, ~0u}, {two, ~0u, ~0u}, {one, 1, 0}});
    stream.draw(scene, 1, 30, 30);
    stream.clearAttachment(0, 6, {{two, 0, 1}});
    stream.draw(scene, 2, 30, 60);
    stream.endPass();
    runAndWait(device, device.queue(), stream);
    ASSERT_EQ(expected.differences(target, 3), 0u);
  }
}

// Arguments and counts that a dispatch writes just before.
TEST(Pass, IndirectDrawsReadTheirArgumentsInOrder) {
  std::mt19937 random(4);
  Scene scene;
  scene.addTriangles(random, 40);
  for (uint32_t i = 0; i < 120; ++i) scene.index32.push_back(119 - i);
  scene.useIndices();
  Reference expected(kWidth, kHeight);
  scene.expect(expected, 1, 5, 3);
  scene.expect(expected, 1, 20, 7);
  for (uint32_t i = 0; i < 4; ++i) {
    const Point* p = &scene.points[0];
    expected.mixTriangle(p[119 - 3 * i], p[118 - 3 * i], p[117 - 3 * i], 2, i);
  }
  struct Arguments {
    VkDrawIndirectCommand draws[3];
    VkDrawIndexedIndirectCommand indexed;
    uint32_t count;
  } arguments{};
  const Program writer([](abi::ComputeEnv* env, uint64_t, uint64_t) {
    auto* a = payload<Arguments*>(env);
    a->draws[0] = {9, 1, 15, 0};
    a->draws[1] = {21, 1, 60, 0};
    a->draws[2] = {60, 1, 0, 0};
    a->indexed = {12, 1, 0, 0, 0};
    a->count = 2;
  });
  for (const bool inlined : {true, false}) {
    arguments = {};
    TestDevice device({.workerCount = 3, .inlineSmallSpans = inlined});
    Attachment target(kWidth, kHeight, 1, 1);
    PassStream stream;
    stream.dispatch(writer, &arguments);
    stream.barrier(kCompute, kIndirect | kGeometryStage | kFragment);
    stream.beginPass(kWidth, kHeight, {{&target}});
    stream.drawIndirect(scene, 1, arguments.draws, sizeof(VkDrawIndirectCommand), 3, &arguments.count, false);
    stream.drawIndirect(scene, 2, &arguments.indexed, 0, 1, nullptr, true);
    stream.endPass();
    runAndWait(device, device.queue(), stream);
    ASSERT_EQ(expected.differences(target), 0u);
  }
}

// Layers and viewports by vertex, from the provoking one: slot 1 has them.
void placedVertices(abi::VertexEnv*, const abi::VertexBlock* blocks, uint32_t count) {
  for (uint32_t b = 0; b < count; ++b)
    for (uint32_t l = 0; l < abi::kVertexBlockLanes; ++l) {
      for (uint32_t row = 0; row < 4; ++row) blocks[b].outputs[row][l] = blocks[b].inputs[row][l];
      const uint32_t primitive = blocks[b].vertexIndex[l] / 3;
      const bool provoking = blocks[b].vertexIndex[l] % 3 == 0;
      blocks[b].outputs[abi::kRowLayer][l] = provoking ? primitive * 7 % 5 : 1234;
      blocks[b].outputs[abi::kRowViewport][l] = provoking ? primitive * 3 % 4 / 2 : 77;
    }
}

TEST(Pass, LayersAndViewportsByPrimitive) {
  std::mt19937 random(5);
  Scene scene;
  scene.addTriangles(random, 300);
  scene.vertex.entry = placedVertices;
  scene.vertex.flags = abi::kVertexWritesLayer | abi::kVertexWritesViewport;
  scene.viewports.count = 2;
  scene.viewports.viewports[1] = {32, 16, kViewport, kViewport, 0, 1};
  scene.viewports.scissors[0] = {10, 0, 150, 140};
  scene.viewports.scissors[1] = {0, 20, 500, 90};
  Reference expected(kWidth, kHeight, 0, 4);
  for (uint32_t i = 0; i < 300; ++i) {
    const uint32_t layer = i * 7 % 5;
    if (layer == 4) continue;  // there are four
    const bool second = i * 3 % 4 / 2 == 1;
    const auto moved = [&](Point p) { return second ? Point{p.x + 32 * 256, p.y + 16 * 256} : p; };
    const Point* p = &scene.points[3 * i];
    expected.triangle(
        moved(p[0]), moved(p[1]), moved(p[2]),
        second ? raster::PixelRect{32, 20, 200, 110} : raster::PixelRect{10, 0, 160, 140},
        [&](uint32_t& t) { t = mix(t, 1 * 1000003 + i); }, layer);
  }
  for (const uint64_t arena_B : {uint64_t{1}, uint64_t{0}}) {
    TestDevice device({.workerCount = 2, .drawArena_B = arena_B});
    Attachment target(kWidth, kHeight, 4, 1);
    PassStream stream;
    PassStream::Options options;
    options.layers = 4;
    options.tileEdge_log2 = 4;  // 130 tiles a layer: sets end because of their entries
    stream.beginPass(kWidth, kHeight, {{&target}}, options);
    stream.draw(scene, 1, 900);
    stream.endPass();
    runAndWait(device, device.queue(), stream);
    ASSERT_EQ(expected.differences(target, 4), 0u);
  }
}

// Each view has its own positions, and its own layer of the attachment.
void viewVertices(abi::VertexEnv* env, const abi::VertexBlock* blocks, uint32_t count) {
  copyPositions(env, blocks, count);
  for (uint32_t b = 0; b < count; ++b)
    for (uint32_t l = 0; l < abi::kVertexBlockLanes; ++l) {
      float x;
      std::memcpy(&x, &blocks[b].outputs[0][l], 4);
      x += static_cast<float>(env->viewIndex) / 16;
      std::memcpy(&blocks[b].outputs[0][l], &x, 4);
    }
}

TEST(Pass, EachViewIsDrawnToItsLayer) {
  std::mt19937 random(6);
  Scene scene;
  scene.addTriangles(random, 20);
  scene.vertex.entry = viewVertices;
  for (const uint32_t workers : {1u, 3u}) {
    TestDevice device({.workerCount = workers});
    Attachment target(kWidth, kHeight, 4, 1, 3);
    PassStream stream;
    PassStream::Options options;
    options.viewMask = 0b1101;
    stream.beginPass(kWidth, kHeight, {{&target, abi::LoadOp::kClear, 9}}, options);
    stream.draw(scene, 1, 30);
    stream.clearAttachment(0, 8, {{{50, 50, 60, 40}, 0, 1}}, 0b1001);
    stream.draw(scene, 1, 30, 30);
    stream.endPass();
    runAndWait(device, device.queue(), stream);
    // Primitives of the second draw are counted from 0 again.
    Reference expected(kWidth, kHeight, 0, 4, 3);
    for (const uint32_t view : {0u, 2u, 3u}) {
      const auto moved = [&](Point p) { return Point{p.x + static_cast<int32_t>(view) * 8 * 256, p.y}; };
      expected.fill({0, 0, kWidth, kHeight}, 9, view);
      for (uint32_t i = 0; i < 20; ++i) {
        const Point* p = &scene.points[3 * i];
        expected.mixTriangle(moved(p[0]), moved(p[1]), moved(p[2]), 1, i % 10, view);
        if (i == 9 && view != 2) expected.fill({50, 50, 60, 40}, 8, view);
      }
    }
    ASSERT_EQ(expected.differences(target, 4), 0u);
  }
}

// Counts what really ran.
std::atomic<uint64_t> g_fragments{0};
void countAndWrite(abi::FragmentEnv* env, const abi::FragmentRun* run) {
  writeIds(env, run);
  uint64_t count = 0;
  forEachSample(*run, 1, [&](uint32_t, uint32_t, uint32_t, uint32_t) { ++count; });
  g_fragments += count;
}

TEST(Pass, WhatIsHiddenIsLeftOut) {
  Scene scene;
  for (const Point p : {Point{0, 0}, Point{600 * 256, 0}, Point{0, 600 * 256}}) scene.add(p);  // all of it
  scene.usePositions();
  scene.fragment.entry = countAndWrite;
  scene.fragment.flags = abi::kFragmentOccludes;
  Scene effects;
  for (const Point p : scene.points) effects.add(p);
  effects.usePositions();
  effects.fragment.entry = countAndWrite;
  effects.fragment.flags = abi::kFragmentSideEffects;
  constexpr uint64_t kPixels = uint64_t{kWidth} * kHeight;
  abi::QuerySlot slot{};
  const auto draw = [&](bool query, bool sideEffects) {
    g_fragments = 0;
    TestDevice device({.workerCount = 2});
    Attachment target(kWidth, kHeight, 1, 1);
    PassStream stream;
    stream.beginPass(kWidth, kHeight, {{&target, abi::LoadOp::kClear, 4}});
    if (sideEffects) stream.draw(effects, 1, 3);
    if (query) stream.beginQuery(&slot, abi::DrawQueryKind::kOcclusion);
    for (uint32_t i = 0; i < 50; ++i) stream.draw(scene, 2 + i, 3);
    if (query) stream.endQuery(&slot, abi::DrawQueryKind::kOcclusion);
    stream.endPass();
    runAndWait(device, device.queue(), stream);
    for (uint32_t y = 0; y < kHeight; ++y)
      for (uint32_t x = 0; x < kWidth; ++x) EXPECT_EQ(target.at(x, y) / 1000003, 51u);
    return g_fragments.load();
  };
  EXPECT_EQ(draw(false, false), kPixels);
  EXPECT_EQ(draw(true, false), 50 * kPixels);
  EXPECT_EQ(draw(false, true), 51 * kPixels);
}

std::atomic<uint64_t> g_vertices{0};
void countVertices(abi::VertexEnv* env, const abi::VertexBlock* blocks, uint32_t count) {
  copyPositions(env, blocks, count);
  for (uint32_t b = 0; b < count; ++b) g_vertices += blocks[b].count;
}

TEST(Pass, DiscardedDrawsRunForTheirSideEffects) {
  std::mt19937 random(7);
  Scene scene;
  scene.addTriangles(random, 100);
  scene.vertex.entry = countVertices;
  scene.raster.flags |= abi::kRasterDiscard;
  g_vertices = 0;
  for (const uint32_t flags : {0u, uint32_t{abi::kVertexHasSideEffects}}) {
    scene.vertex.flags = flags;
    TestDevice device;
    Attachment target(kWidth, kHeight, 1, 1, 12);
    PassStream stream;
    stream.beginPass(kWidth, kHeight, {{&target}});
    stream.draw(scene, 1, 300);
    stream.endPass();
    runAndWait(device, device.queue(), stream);
    EXPECT_EQ(g_vertices.load(), flags ? 300u : 0u);
    EXPECT_EQ(Reference(kWidth, kHeight, 0, 1, 12).differences(target), 0u);
  }
}

}  // namespace
}  // namespace pumice::gpu
