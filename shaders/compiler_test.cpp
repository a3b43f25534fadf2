// libpumice_compiler.so as the driver uses it: opened, asked for code, which is loaded and run.
#include "shaders/compiler.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "shaders/cache/build_id.h"
#include "shaders/cache/code_arena.h"
#include "shaders/cache/compiler_library.h"
#include "shaders/cache/elf_loader.h"
#include "test_shaders/saxpy.h"

namespace pumice::shader {
namespace {

constexpr std::array<abi::BindingSlot, 2> kBindings = {abi::BindingSlot{0, 0, 1, 0, 16, abi::kNotDynamic},
                                                       abi::BindingSlot{0, 1, 1, 16, 16, abi::kNotDynamic}};

// Before anything opens it.
const int kPathSet = setenv("PUMICE_COMPILER_LIBRARY", PUMICE_TEST_COMPILER, 0);

__attribute__((noreturn)) void leave(void*) {
  std::abort();
}

ComputeCompileInfo saxpyInfo() {
  ComputeCompileInfo info;
  info.spirv = saxpy;
  info.bindings = kBindings;
  return info;
}

TEST(CompilerLibrary, Opens) {
  const cache::CompilerLibrary& library = cache::compilerLibrary();
  ASSERT_EQ(kPathSet, 0);
  ASSERT_NE(library.table, nullptr) << library.message;
  EXPECT_STREQ(library.table->buildId, cache::buildId());
  EXPECT_EQ(&library, &cache::compilerLibrary());
}

TEST(CompilerLibrary, CompilesLoadsRuns) {
  ASSERT_NE(cache::compilerLibrary().table, nullptr);
  for (const Tier tier : {Tier::kQuick, Tier::kBetter}) {
    ComputeCompileInfo info = saxpyInfo();
    info.target.tier = tier;
    const CompileResult r = cache::compilerLibrary().table->compileCompute(info);
    ASSERT_EQ(r.status, CompileStatus::kOk) << r.message;
    EXPECT_EQ(r.object.info.localSize[0], 64u);
    const cache::LoadResult loaded = cache::loadObject(cache::CodeArena::instance(), r.object.elf, kEntrySymbol);
    ASSERT_EQ(loaded.status, cache::LoadStatus::kOk) << loaded.message;

    constexpr uint32_t kCount = 1000;
    std::vector<float> y(kCount + 100), x(kCount);
    for (uint32_t i = 0; i < kCount; i++) {
      y[i] = static_cast<float>(i);
      x[i] = static_cast<float>(3 * i);
    }
    const std::array<abi::BufferDescriptor, 2> set = {
        abi::BufferDescriptor{reinterpret_cast<uint64_t>(y.data()), kCount * 4},
        abi::BufferDescriptor{reinterpret_cast<uint64_t>(x.data()), kCount * 4}};
    abi::BindingState bindings{};
    bindings.setAddress[0] = reinterpret_cast<uint64_t>(set.data());
    alignas(64) std::array<uint32_t, abi::kMaxPushConstantBytes / 4> push{};
    push[0] = kCount - 7;
    push[1] = std::bit_cast<uint32_t>(2.0f);
    const uint32_t cancel = 0;
    static const abi::RuntimeTable runtime{abi::kShaderAbiVersion, leave, [] { return uint64_t{0}; }, nullptr, {}};
    alignas(64) std::array<std::byte, abi::kSinkBytes> sink;
    std::vector<std::byte> frame(r.object.info.frameBytes + 64);
    const uint64_t frameBase = (reinterpret_cast<uint64_t>(frame.data()) + 63) & ~uint64_t{63};
    abi::ComputeEnv env{};
    env.runtime = &runtime;
    env.bindings = &bindings;
    env.pushConstants = reinterpret_cast<const std::byte*>(push.data());
    env.cancelWord = &cancel;
    env.frame = reinterpret_cast<std::byte*>(frameBase);
    env.sink = sink.data();
    env.groupCount[0] = 16;
    env.groupCount[1] = env.groupCount[2] = 1;
    reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry))(&env, 0, 16);
    for (uint32_t i = 0; i < kCount; i++) {
      ASSERT_EQ(y[i], static_cast<float>(i < push[0] ? 7 * i : i)) << i;
    }
    cache::CodeArena::instance().free(loaded.code.block);
  }
}

TEST(CompilerLibrary, Describes) {
  ASSERT_NE(cache::compilerLibrary().table, nullptr);
  EXPECT_NE(cache::compilerLibrary().table->describe(saxpyInfo()).find("Load"), std::string::npos);
}

TEST(CompilerLibrary, BadInput) {
  ASSERT_NE(cache::compilerLibrary().table, nullptr);
  const CompilerTable& table = *cache::compilerLibrary().table;
  ComputeCompileInfo info = saxpyInfo();
  for (size_t n = 0; n < std::size(saxpy); n += 3) {
    info.spirv = std::span(saxpy).first(n);
    EXPECT_NE(table.compileCompute(info).status, CompileStatus::kOk) << n;
  }
  info = saxpyInfo();
  info.entryPoint = "nobody";
  EXPECT_NE(table.compileCompute(info).status, CompileStatus::kOk);
  // Damaged words: any status, no crash.
  std::mt19937 random(3);
  for (int round = 0; round < 300; round++) {
    std::vector<uint32_t> words(std::begin(saxpy), std::end(saxpy));
    for (int i = 0; i < 3; i++) words[5 + random() % (words.size() - 5)] ^= 1u << (random() % 32);
    info = saxpyInfo();
    info.spirv = words;
    table.compileCompute(info);
  }
}

TEST(CompilerLibrary, ThreadsAgree) {
  ASSERT_NE(cache::compilerLibrary().table, nullptr);
  const CompilerTable& table = *cache::compilerLibrary().table;
  const CompileResult want = table.compileCompute(saxpyInfo());
  std::vector<std::thread> threads;
  std::atomic<int> different = 0;
  for (int t = 0; t < 3; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; i++) {
        if (table.compileCompute(saxpyInfo()).object.elf != want.object.elf) different++;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(different, 0);
}

// exit() while other threads compile: nothing that they use is destroyed.
TEST(CompilerLibraryDeathTest, ExitWhileCompiling) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const CompilerTable& table = *cache::compilerLibrary().table;
        for (int t = 0; t < 2; t++) {
          std::thread([&table] {
            for (;;) {
              if (table.compileCompute(saxpyInfo()).status != CompileStatus::kOk) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
              }
            }
          }).detach();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace pumice::shader
