#include "icd/encode/command_stream.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace pumice::icd {
namespace {

// Counts what is alive and fails on demand.
struct Heap {
  int live = 0;
  int failAfter = -1;  // allocations that still succeed; -1 = all
  ChunkMemory memory() {
    return {[](void* context, size_t size, size_t align) -> void* {
              auto* heap = static_cast<Heap*>(context);
              if (heap->failAfter == 0) return nullptr;
              if (heap->failAfter > 0) --heap->failAfter;
              ++heap->live;
              return std::aligned_alloc(align, (size + align - 1) / align * align);
            },
            [](void* context, void* p) {
              --static_cast<Heap*>(context)->live;
              std::free(p);
            },
            this};
  }
};

// Follows jumps; returns the number of fill packets, checking that their values count up.
uint32_t countFills(const std::byte* at) {
  uint32_t fills = 0;
  for (;;) {
    auto* header = reinterpret_cast<const abi::PacketHeader*>(at);
    EXPECT_EQ(header->sizeBytes % 8, 0u);
    switch (header->op) {
      case abi::PacketOp::kReturn:
        return fills;
      case abi::PacketOp::kJump:
        at = reinterpret_cast<const abi::JumpPacket*>(at)->target;
        continue;
      case abi::PacketOp::kFillBuffer:
        EXPECT_EQ(reinterpret_cast<const abi::FillBufferPacket*>(at)->value, fills);
        ++fills;
        break;
      case abi::PacketOp::kNop:
      case abi::PacketOp::kUpdateBuffer:
        break;
      default:
        ADD_FAILURE() << "unexpected packet";
        return fills;
    }
    at += header->sizeBytes;
  }
}

void record(CommandStream& stream, uint32_t fills) {
  for (uint32_t i = 0; i < fills; ++i) {
    stream.append<abi::FillBufferPacket>(abi::PacketOp::kFillBuffer)->value = i;
    if (i % 7 == 0) stream.appendState<abi::BindingState>()->setAddress[0] = i;
    if (i % 1000 == 999) stream.append<abi::UpdateBufferPacket>(abi::PacketOp::kUpdateBuffer, 65536);
  }
  stream.finish();
}

TEST(CommandStream, PacketsCrossChunksInOrder) {
  Heap heap;
  {
    ChunkPool pool(heap.memory());
    ASSERT_TRUE(pool.initialize());
    CommandStream stream(pool);
    EXPECT_EQ(stream.first(), nullptr);
    record(stream, 20000);
    EXPECT_EQ(countFills(stream.first()), 20000u);
    stream.reset();
    const int held = heap.live;
    record(stream, 20);
    EXPECT_EQ(countFills(stream.first()), 20u);
    EXPECT_EQ(heap.live, held) << "a recorded-again stream uses the chunks that it gave back";
    pool.trim();
  }
  EXPECT_EQ(heap.live, 0);
}

TEST(CommandStream, OutOfMemoryIsStickyAndLeaksNothing) {
  for (int allowed = 1; allowed < 12; ++allowed) {
    Heap heap;
    heap.failAfter = allowed;
    {
      ChunkPool pool(heap.memory());
      ASSERT_TRUE(pool.initialize());
      CommandStream stream(pool);
      record(stream, 20000);
      EXPECT_TRUE(stream.outOfMemory());
      EXPECT_EQ(stream.first(), nullptr);
      heap.failAfter = -1;
      record(stream, 10);
      EXPECT_TRUE(stream.outOfMemory()) << "only a reset clears the error";
      stream.reset();
      record(stream, 10);
      EXPECT_EQ(countFills(stream.first()), 10u);
    }
    EXPECT_EQ(heap.live, 0);
  }
}

TEST(CommandStream, PoolWithoutMemoryForItsDummyFails) {
  Heap heap;
  heap.failAfter = 0;
  ChunkPool pool(heap.memory());
  EXPECT_FALSE(pool.initialize());
}

}  // namespace
}  // namespace pumice::icd
