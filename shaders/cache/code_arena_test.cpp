#include "shaders/cache/code_arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

namespace pumice::shader::cache {
namespace {

TEST(CodeArena, WritesAreVisibleInTheExecutableView) {
  CodeArena arena;
  const CodeBlock block = arena.allocate(100);
  ASSERT_TRUE(block);
  EXPECT_GE(block.size_B, 100u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.exec) % CodeArena::kAlign_B, 0u);
  // mov eax, 42; ret
  const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};
  std::memcpy(block.write, code, sizeof code);
  EXPECT_EQ(reinterpret_cast<int (*)()>(reinterpret_cast<uintptr_t>(block.exec))(), 42);
  arena.free(block);
  EXPECT_EQ(arena.usedBytes(), 0u);
}

TEST(CodeArena, RefusesNonsense) {
  CodeArena arena;
  EXPECT_FALSE(arena.allocate(0));
  EXPECT_FALSE(arena.allocate(~size_t{0}));
  arena.free({});
  EXPECT_EQ(arena.reservedBytes(), 0u);
}

TEST(CodeArena, LargeBlocksGetTheirOwnChunk) {
  CodeArena arena;
  const CodeBlock large = arena.allocate(3 * CodeArena::kChunk_B + 1);
  ASSERT_TRUE(large);
  EXPECT_EQ(arena.reservedBytes(), 4 * CodeArena::kChunk_B);
  arena.free(large);
}

TEST(CodeArena, RandomUseCoalesces) {
  CodeArena arena;
  std::mt19937 random(1);
  struct Live {
    CodeBlock block;
    unsigned char mark;
  };
  std::vector<Live> live;
  for (int step = 0; step < 20000; step++) {
    if (live.size() < 200 && random() % 2 == 0) {
      const Live l{arena.allocate(1 + random() % 5000), static_cast<unsigned char>(random())};
      ASSERT_TRUE(l.block);
      std::memset(l.block.write, l.mark, l.block.size_B);
      live.push_back(l);
    } else if (!live.empty()) {
      const size_t at = random() % live.size();
      const Live l = live[at];
      for (size_t i = 0; i < l.block.size_B; i += 61) {
        ASSERT_EQ(std::to_integer<unsigned char>(l.block.exec[i]), l.mark);
      }
      arena.free(l.block);
      live[at] = live.back();
      live.pop_back();
    }
  }
  for (const Live& l : live) arena.free(l.block);
  EXPECT_EQ(arena.usedBytes(), 0u);
  const size_t reserved = arena.reservedBytes();
  // All one range again: a whole chunk fits without growth.
  const CodeBlock whole = arena.allocate(CodeArena::kChunk_B);
  EXPECT_TRUE(whole);
  EXPECT_EQ(arena.reservedBytes(), reserved);
  arena.free(whole);
}

TEST(CodeArena, Threads) {
  CodeArena arena;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; t++) {
    threads.emplace_back([&arena, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 2000; i++) {
        const CodeBlock b = arena.allocate(1 + random() % 3000);
        std::memset(b.write, static_cast<int>(t), b.size_B);
        for (size_t j = 0; j < b.size_B; j++) ASSERT_EQ(std::to_integer<unsigned>(b.exec[j]), t);
        arena.free(b);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(arena.usedBytes(), 0u);
}

}  // namespace
}  // namespace pumice::shader::cache
