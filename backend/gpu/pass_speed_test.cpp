// Prints what the machine itself costs a pass: fragment functions here do next to nothing. Asserts nothing about it.
#include <sys/resource.h>

#include <algorithm>

#include "backend/gpu/pass_test_support.h"

namespace pumice::gpu::test {
namespace {

// Whole blocks are one line of the attachment; of mixes each quad is a quarter.
void paint(abi::FragmentEnv* env, const abi::FragmentRun* run) {
  const abi::Surface& s = env->color[0];
  const auto block = [&](uint32_t position) {
    const uint32_t x = position & 0xFFFF, y = position >> 16;
    return reinterpret_cast<std::byte*>(s.address + (y / 4) * s.rowPitch_B + (x / 4) * s.blockPitch_B);
  };
  for (uint32_t i = 0; i < run->blockCount; ++i) std::memset(block(run->blockPosition[i]), 1, 64);
  for (uint32_t i = 0; i < run->mixCount; ++i)
    for (uint32_t position : run->mixPosition[i])
      std::memset(block(position) + abi::quadMajorIndex(position & 3, position >> 16 & 3) * 4, 2, 16);
}

uint64_t processTime_ns() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// Of both clocks the least, in ms: other work of the machine is none of ours.
struct Cost {
  double wall_ms = 1e9, processor_ms = 1e9;
};
Cost costOf(Stream& stream, uint32_t workers, int runs) {
  TestDevice device({.workerCount = workers});
  kmd::Queue* queue = device.queue();
  Cost cost;
  for (int i = 0; i < runs; ++i) {
    const uint64_t wall_ns = sched::monotonicNow_ns(), processor_ns = processTime_ns();
    EXPECT_EQ(Batch().run(stream).submit(device, queue), Status::kOk);
    EXPECT_EQ(device.idle(queue), Status::kOk);
    cost.wall_ms = std::min(cost.wall_ms, static_cast<double>(sched::monotonicNow_ns() - wall_ns) / 1e6);
    cost.processor_ms = std::min(cost.processor_ms, static_cast<double>(processTime_ns() - processor_ns) / 1e6);
  }
  return cost;
}

void print(const char* what, Stream& stream, int runs, double units, const char* unit) {
  for (const uint32_t workers : {1u, 2u}) {
    const Cost cost = costOf(stream, workers, runs);
    std::printf("%s, %u workers: %.3f ms (processor %.3f ms), %.1f ns %s\n", what, workers, cost.wall_ms,
                cost.processor_ms, cost.processor_ms * 1e6 / units, unit);
  }
}

constexpr uint32_t kWide = 1920, kHigh = 1080;

void addGrid(DrawSetup& setup, uint32_t columns, uint32_t rows) {
  setup.fragment.entry = paint;
  for (uint32_t y = 0; y <= rows; ++y)
    for (uint32_t x = 0; x <= columns; ++x)
      setup.positions.push_back({static_cast<float>(x) * 2 / static_cast<float>(columns) - 1,
                                 static_cast<float>(y) * 2 / static_cast<float>(rows) - 1, 0.5f, 1});
  for (uint32_t y = 0; y < rows; ++y)
    for (uint32_t x = 0; x < columns; ++x) {
      const uint32_t v = y * (columns + 1) + x;
      for (const uint32_t i : {v, v + 1, v + columns + 1, v + columns + 1, v + 1, v + columns + 2})
        setup.index32.push_back(i);
    }
  setup.usePositions();
  setup.useIndices();
}

TEST(PassSpeed, AMillionSmallTriangles) {
  DrawSetup setup(kWide, kHigh);
  addGrid(setup, 1000, 500);
  Attachment target(kWide, kHigh, 1, 1);
  PassStream stream;
  stream.beginPass(kWide, kHigh, {{&target}});
  stream.drawIndexed(setup, 0, static_cast<uint32_t>(setup.index32.size()));
  stream.endPass();
  print("a million triangles of two pixels", stream, 7, 1e6, "a triangle");
}

TEST(PassSpeed, Fill) {
  DrawSetup setup(kWide, kHigh);
  addGrid(setup, 1, 1);
  Attachment target(kWide, kHigh, 1, 1);
  PassStream stream;
  stream.beginPass(kWide, kHigh, {{&target}});
  for (int i = 0; i < 10; ++i) stream.drawIndexed(setup, 0, 6);
  stream.endPass();
  print("1920x1080 filled ten times", stream, 21, 10.0 * kWide * kHigh / 16, "a block");
}

TEST(PassSpeed, ManyDraws) {
  DrawSetup setup(kWide, kHigh);
  addGrid(setup, 100, 100);
  Attachment target(kWide, kHigh, 1, 1);
  PassStream stream;
  stream.beginPass(kWide, kHigh, {{&target}});
  for (uint32_t i = 0; i < 10'000; ++i) stream.drawIndexed(setup, 0, 6, i * 6);
  stream.endPass();
  print("10,000 draws of two triangles", stream, 11, 1e4, "a draw");
}

void smallPasses(const char* what, uint32_t edge, uint32_t columns, uint32_t rows, abi::LoadOp load) {
  DrawSetup setup(edge, edge);
  addGrid(setup, std::max(columns, 1u), std::max(rows, 1u));
  setup.fragment.measured = setup.vertex.measured = 1;
  Attachment target(edge, edge, 1, 1);
  PassStream stream;
  for (int i = 0; i < 100; ++i) {
    stream.beginPass(edge, edge, {{&target, load, 3}});
    if (columns) stream.drawIndexed(setup, 0, columns * rows * 6);
    stream.endPass();
    stream.barrier(kFragment | kGeometryStage, kFragment | kGeometryStage);
  }
  print(what, stream, 51, 100, "a pass");
}

TEST(PassSpeed, SmallPasses) {
  smallPasses("100 dependent passes of 12 triangles on 64x64", 64, 3, 2, abi::LoadOp::kClear);
  smallPasses("100 dependent passes of 2 triangles on 16x16", 16, 1, 1, abi::LoadOp::kLoad);
  smallPasses("100 dependent passes of nothing on 16x16", 16, 0, 0, abi::LoadOp::kLoad);
}

}  // namespace
}  // namespace pumice::gpu::test
