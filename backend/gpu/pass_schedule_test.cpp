// Passes among other work: order, several queues, loss.
#include <gtest/gtest.h>

#include <thread>

#include "backend/gpu/pass_reference.h"

namespace pumice::gpu {
namespace {

using namespace test;
using raster::Point;

// Reads the picture that was drawn before, through the surface, as a compute shader.
struct Sum {
  abi::Surface surface;
  uint64_t total;
};
void sumTexels(abi::ComputeEnv* env, uint64_t, uint64_t) {
  auto* sum = payload<Sum*>(env);
  sum->total = 0;
  for (uint32_t y = 0; y < kHeight; ++y)
    for (uint32_t x = 0; x < kWidth; ++x) sum->total += *texel(sum->surface, x, y, 0);
}

uint64_t total(Reference& reference) {
  uint64_t sum = 0;
  for (uint32_t y = 0; y < kHeight; ++y)
    for (uint32_t x = 0; x < kWidth; ++x) sum += reference.at(x, y);
  return sum;
}

// Passes on the same attachment with barriers between them, a dispatch that reads each result.
TEST(PassOrder, PassesAndDispatchesSeeEachOther) {
  std::mt19937 random(1);
  Scene scene;
  scene.addSmallTriangles(random, 3000);
  const Program program(sumTexels);
  for (const bool inlined : {true, false}) {
    TestDevice device({.workerCount = 3, .inlineSmallSpans = inlined, .drawArena_B = 1});
    kmd::Queue* queue = device.queue();
    Attachment target(kWidth, kHeight, 1, 1);
    std::deque<Sum> sums;
    std::vector<uint64_t> expected;
    Reference reference(kWidth, kHeight);
    PassStream stream;
    for (uint32_t i = 0; i < 60; ++i) {
      const uint32_t count = i % 3 ? 5 : 3000;  // small ones, and some of several batches
      stream.beginPass(kWidth, kHeight, {{&target}});
      stream.draw(scene, i, 3 * count);
      stream.endPass();
      stream.barrier(kFragment, kCompute);
      sums.push_back({target.surface(), 0});
      stream.dispatch(program, &sums.back());
      stream.barrier(kCompute, kFragment);
      scene.expect(reference, i, 0, count);
      expected.push_back(total(reference));
    }
    runAndWait(device, queue, stream);
    for (size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i].total, expected[i]) << i;
    ASSERT_EQ(reference.differences(target), 0u);
  }
}

// Passes that do not depend on each other share the arena of their queue, whichever of them may run first.
TEST(PassOrder, IndependentPassesShareTheArena) {
  std::mt19937 random(2);
  Scene scene;
  scene.addSmallTriangles(random, 6000);
  Reference reference(kWidth, kHeight);
  scene.expect(reference, 1, 0, 6000);
  for (const uint32_t workers : {1u, 3u}) {
    TestDevice device({.workerCount = workers, .drawArena_B = 1});
    kmd::Queue* queue = device.queue();
    kmd::Timeline* timeline = device.timeline();
    std::deque<Attachment> targets;
    PassStream stream;
    for (uint32_t i = 0; i < 12; ++i) {
      targets.emplace_back(kWidth, kHeight, 1u, 1u);
      stream.beginPass(kWidth, kHeight, {{&targets.back()}});
      stream.draw(scene, 1, 18000);
      stream.endPass();
    }
    // Geometry may begin before the host lets fragments run: it fills the arena and waits.
    ASSERT_EQ(Batch().wait(timeline, 1, kFragment).run(stream).submit(device, queue), Status::kOk);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (Attachment& target : targets) ASSERT_EQ(Reference(kWidth, kHeight).differences(target), 0u);
    ASSERT_EQ(device->signalTimeline(timeline, 1), Status::kOk);
    ASSERT_EQ(device.idle(queue), Status::kOk);
    for (Attachment& target : targets) ASSERT_EQ(reference.differences(target), 0u);
  }
}

TEST(PassOrder, SeveralQueuesDrawAtOnce) {
  std::mt19937 random(3);
  Scene scene;
  scene.addSmallTriangles(random, 2000);
  TestDevice device({.workerCount = 3, .drawArena_B = 1});
  struct Client {
    explicit Client(TestDevice& d) : queue(d.queue()), target(kWidth, kHeight, 1, 1), expected(kWidth, kHeight) {}
    kmd::Queue* queue;
    Attachment target;
    Reference expected;
    PassStream stream;
  };
  std::deque<Client> clients;
  for (uint32_t q = 0; q < 3; ++q) {
    Client& client = clients.emplace_back(device);
    for (uint32_t i = 0; i < 20; ++i) {
      const uint32_t first = (q * 500 + i * 50) % 1000;
      client.stream.beginPass(kWidth, kHeight, {{&client.target}});
      client.stream.draw(scene, i + q, 3 * 1000, 3 * first);
      client.stream.endPass();
      client.stream.barrier(kFragment, kFragment);
      scene.expect(client.expected, i + q, first, 1000);
    }
  }
  for (Client& client : clients) ASSERT_EQ(Batch().run(client.stream).submit(device, client.queue), Status::kOk);
  for (Client& client : clients) {
    ASSERT_EQ(device.idle(client.queue), Status::kOk);
    ASSERT_EQ(client.expected.differences(client.target), 0u);
  }
}

// Vertices of the second draw read what those of the first have written: a barrier between stages of geometry.
std::atomic<uint32_t> g_written{0};
std::atomic<uint32_t> g_seenEarly{0};
void writingVertices(abi::VertexEnv* env, const abi::VertexBlock* blocks, uint32_t count) {
  copyPositions(env, blocks, count);
  std::this_thread::sleep_for(std::chrono::microseconds(100));  // so that others would overtake it
  for (uint32_t b = 0; b < count; ++b) g_written += blocks[b].count;
}
void readingVertices(abi::VertexEnv* env, const abi::VertexBlock* blocks, uint32_t count) {
  copyPositions(env, blocks, count);
  uint32_t expected;
  std::memcpy(&expected, env->common.pushConstants, 4);
  if (g_written != expected) ++g_seenEarly;
}

TEST(PassOrder, ABarrierInsideOfAPassSeparatesItsVertices) {
  std::mt19937 random(9);
  Scene writes;
  writes.addSmallTriangles(random, 2000);
  writes.vertex.entry = writingVertices;
  writes.vertex.flags = abi::kVertexHasSideEffects;
  Scene reads;
  reads.points = writes.points;
  reads.positions = writes.positions;
  reads.usePositions();
  reads.vertex.entry = readingVertices;
  for (const uint32_t workers : {1u, 3u}) {
    TestDevice device({.workerCount = workers, .drawArena_B = 1});
    Attachment target(kWidth, kHeight, 1, 1);
    Reference expected(kWidth, kHeight);
    PassStream stream;
    g_written = g_seenEarly = 0;
    stream.beginPass(kWidth, kHeight, {{&target}});
    for (uint32_t i = 0; i < 5; ++i) {
      stream.draw(writes, i, 6000);
      stream.barrier(kGeometryStage, kGeometryStage);
      stream.draw(reads, 6000 * (i + 1), 6000);
      stream.barrier(kGeometryStage, kGeometryStage);
      writes.expect(expected, i, 0, 2000);
      writes.expect(expected, 6000 * (i + 1), 0, 2000);
    }
    stream.endPass();
    runAndWait(device, device.queue(), stream);
    EXPECT_EQ(g_written.load(), 30000u);
    EXPECT_EQ(g_seenEarly.load(), 0u);
    EXPECT_EQ(expected.differences(target), 0u);
  }
}

// Chunks that reserve blocks and take none, because nothing of them is drawn: what the next pass waits for are the
// reservations.
void slowVertices(abi::VertexEnv* env, const abi::VertexBlock* blocks, uint32_t count) {
  copyPositions(env, blocks, count);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST(PassOrder, ReservationsThatAreNotUsedComeBack) {
  std::mt19937 random(11);
  Scene unseen;
  unseen.addSmallTriangles(random, 60);
  unseen.vertex.entry = slowVertices;
  unseen.vertex.flags = abi::kVertexHasSideEffects | abi::kVertexWritesLayer;  // each in a set of its own, maybe
  unseen.raster.flags |= abi::kRasterDiscard;
  Scene skipped;  // but it looks like much work, so that all workers come
  skipped.raster.flags |= abi::kRasterDiscard;
  Scene scene;
  scene.addSmallTriangles(random, 1000);
  TestDevice device({.workerCount = 3, .inlineSmallSpans = false, .drawArena_B = 1});
  kmd::Queue* queue = device.queue();
  Reference expected(kWidth, kHeight);
  scene.expect(expected, 1, 0, 1000);
  for (uint32_t triangles = 40; triangles <= 60; triangles += 4) {
    Attachment first(kWidth, kHeight, 1, 1);
    Attachment second(kWidth, kHeight, 1, 1);
    PassStream stream;
    stream.beginPass(kWidth, kHeight, {{&first}});
    stream.draw(unseen, 0, 3 * triangles);
    stream.draw(skipped, 0, 30000);
    stream.endPass();
    stream.beginPass(kWidth, kHeight, {{&second}});
    stream.draw(scene, 1, 3000);
    stream.endPass();
    runAndWait(device, queue, stream);
    ASSERT_EQ(expected.differences(second), 0u) << triangles;
  }
}

// Random passes of several queues, with barriers or without, of any size, with gates that the host opens late: each
// attachment is what its own passes make it.
TEST(PassOrder, RandomPasses) {
  std::mt19937 random(10);
  Scene scene;
  scene.addSmallTriangles(random, 4000);
  VkDrawIndirectCommand indirect{1500, 1, 300, 0};
  for (int round = 0; round < 12; ++round) {
    TestDevice device({.workerCount = static_cast<uint32_t>(1 + random() % 4),
                       .inlineSmallSpans = random() % 3 != 0,
                       .drawArena_B = 1});
    struct Client {
      kmd::Queue* queue;
      kmd::Timeline* gate;
      std::deque<Attachment> targets;
      std::deque<Reference> expected;
      std::deque<PassStream> streams;
    };
    std::deque<Client> clients(2);
    uint32_t id = 0;
    for (Client& client : clients) {
      client.queue = device.queue();
      client.gate = device.timeline();
      for (int t = 0; t < 3; ++t) {
        client.targets.emplace_back(kWidth, kHeight, 1u, 1u);
        client.expected.emplace_back(kWidth, kHeight);
      }
      for (uint64_t batch = 1; batch <= 4; ++batch) {
        PassStream& stream = client.streams.emplace_back();
        for (int p = 0; p < 6; ++p) {
          const uint32_t t = random() % 3;
          PassStream::Options options;
          options.tileEdge_log2 = static_cast<uint8_t>(4 + random() % 4);
          const bool clears = random() % 4 == 0;
          stream.beginPass(kWidth, kHeight,
                           {{&client.targets[t], clears ? abi::LoadOp::kClear : abi::LoadOp::kLoad, 17}}, options);
          if (clears) client.expected[t].fill({0, 0, kWidth, kHeight}, 17);
          for (uint32_t draws = random() % 4; draws-- > 0; ++id) {
            if (random() % 4 == 0) {
              stream.drawIndirect(scene, id, &indirect, 0, 1, nullptr, false);
              scene.expect(client.expected[t], id, 100, 500);
            } else {
              const uint32_t count = random() % 3 ? random() % 40 : random() % 3000;
              const uint32_t first = random() % 1000;
              stream.draw(scene, id, 3 * count, 3 * first);
              scene.expect(client.expected[t], id, first, count);
            }
          }
          stream.endPass();
          // Passes on different attachments need none; here each waits for those on its own by waiting for all.
          stream.barrier(kFragment | (random() % 2 ? kAll : kFragment),
                         kFragment | (random() % 2 ? kGeometryStage : 0));
        }
        const StageMask stages = random() % 3 == 0 ? kAll : random() % 2 ? kFragment : kGeometryStage | kIndirect;
        ASSERT_EQ(Batch().wait(client.gate, batch, stages).run(stream).submit(device, client.queue), Status::kOk);
      }
    }
    for (uint64_t batch = 1; batch <= 4; ++batch)
      for (Client& client : clients) {
        if (random() % 2) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ASSERT_EQ(device->signalTimeline(client.gate, batch), Status::kOk);
      }
    for (Client& client : clients) {
      ASSERT_EQ(device.idle(client.queue), Status::kOk);
      for (size_t t = 0; t < 3; ++t) ASSERT_EQ(client.expected[t].differences(client.targets[t]), 0u) << round;
    }
  }
}

// ---- Loss.

std::atomic<bool> g_running{false};
void endlessFragments(abi::FragmentEnv* env, const abi::FragmentRun*) {
  g_running = true;
  while (__atomic_load_n(env->common.cancelWord, __ATOMIC_RELAXED) == 0) {
  }
  env->common.runtime->leave(env);
}
void endlessVertices(abi::VertexEnv* env, const abi::VertexBlock*, uint32_t) {
  g_running = true;
  while (__atomic_load_n(env->common.cancelWord, __ATOMIC_RELAXED) == 0) {
  }
  env->common.runtime->leave(env);
}
void faultingFragments(abi::FragmentEnv* env, const abi::FragmentRun*) {
  *reinterpret_cast<volatile uint32_t*>(uintptr_t{4096} + env->workerIndex * 64) = 1;
}

class PassLoss : public testing::Test {
 protected:
  void draw(Scene& scene, const kmd::DeviceConfig& config, bool cancel) {
    TestDevice device(config);
    kmd::Queue* queue = device.queue();
    Attachment target(kWidth, kHeight, 1, 1);
    PassStream stream;
    for (int i = 0; i < 3; ++i) {
      stream.beginPass(kWidth, kHeight, {{&target}});
      stream.draw(scene, 1, static_cast<uint32_t>(scene.points.size()));
      stream.endPass();
    }
    g_running = false;
    const Status status = Batch().run(stream).submit(device, queue);
    if (cancel) {
      while (!g_running) std::this_thread::yield();
      device->lose("test");
    }
    if (status == Status::kOk) {
      EXPECT_EQ(device.idle(queue), Status::kDeviceLost);
    }
    EXPECT_TRUE(device->lost());
    EXPECT_EQ(device.machine().activeThreads.load(), 0u);
  }
};

TEST_F(PassLoss, EndsThePassInMidTile) {
  std::mt19937 random(6);
  Scene scene;
  scene.addSmallTriangles(random, 5000);
  scene.fragment.entry = endlessFragments;
  draw(scene, {.workerCount = 2, .drawArena_B = 1}, true);
  draw(scene, {.workerCount = 2, .watchdog_ns = 50'000'000}, false);
}

TEST_F(PassLoss, EndsThePassInMidChunk) {
  std::mt19937 random(7);
  Scene scene;
  scene.addSmallTriangles(random, 5000);
  scene.vertex.entry = endlessVertices;
  draw(scene, {.workerCount = 2}, true);
}

TEST_F(PassLoss, AFaultLosesTheDevice) {
  std::mt19937 random(8);
  Scene scene;
  scene.addSmallTriangles(random, 500);
  scene.fragment.entry = faultingFragments;
  scene.fragment.debugName = "faulty";
  draw(scene, {.workerCount = 2}, false);
  // Indices that are not there, looked at when the pass is cut.
  Scene cut;
  cut.addSmallTriangles(random, 500);
  cut.raster.flags |= abi::kRasterPrimitiveRestart;
  TestDevice device({.workerCount = 2});
  kmd::Queue* queue = device.queue();
  Attachment target(kWidth, kHeight, 1, 1);
  PassStream stream;
  cut.indices = {4096, 1 << 20, abi::IndexType::kUint32, 0};
  stream.beginPass(kWidth, kHeight, {{&target}});
  stream.drawIndexed(cut, 1, 1000);
  stream.endPass();
  if (Batch().run(stream).submit(device, queue) == Status::kOk) {
    EXPECT_EQ(device.idle(queue), Status::kDeviceLost);
  }
}

}  // namespace
}  // namespace pumice::gpu
