// Vertex shaders on blocks that the test fills: interpreter and machine code against what the shader's text says.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "shaders/cache/code_arena.h"
#include "shaders/cache/elf_loader.h"
#include "shaders/codegen/codegen.h"
#include "shaders/codegen/target_features.h"
#include "shaders/ir/interpreter.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/verifier.h"
#include "shaders/passes/passes.h"
#include "shaders/spirv/reader.h"
#include "test_shaders/vertex_io.h"

namespace pumice::shader::codegen {
namespace {

using abi::kVertexBlockLanes;
using Rows = std::vector<std::array<uint32_t, kVertexBlockLanes>>;

constexpr uint32_t kUntouched = 0xdead'beef;
constexpr std::array<uint32_t, 4> kCounts{64, 5, 0, 33};
constexpr uint32_t kPick = 1;
constexpr std::array<float, 4> kScale{2.0f, 4.0f, 0.5f, 1.0f};

uint32_t bits(float f) {
  return std::bit_cast<uint32_t>(f);
}

// The attributes of vertex `n`, counted over all blocks.
struct Attributes {
  float position[3];
  int32_t numbers[2];
  double wide[3];
  float matrix[2][2];
};
Attributes attributesOf(uint32_t n) {
  const auto f = static_cast<float>(n);
  return {{f, f * 0.5f - 3.0f, 7.0f - f},
          {static_cast<int32_t>(n % 9), static_cast<int32_t>(n * 5)},
          {f + 0.1, -f / 3.0, 1e200 * f},
          {{f, 1.0f}, {-f, 3.0f}}};
}

class VertexCode : public testing::Test {
 protected:
  VertexCode() {
    set_ = {reinterpret_cast<uint64_t>(&count_), sizeof count_};
    state_.setAddress[0] = reinterpret_cast<uint64_t>(&set_);
    std::memcpy(push_.data(), kScale.data(), sizeof kScale);
    std::memcpy(push_.data() + 16, &kPick, sizeof kPick);
    env_.common.runtime = &runtime_;
    env_.common.bindings = &state_;
    env_.common.pushConstants = push_.data();
    env_.common.cancelWord = &cancel_;
    env_.common.sink = sink_.data();
    env_.baseVertex = 1000;
    env_.baseInstance = 20;
    env_.drawIndex = 6;
    env_.viewIndex = 3;
  }

  spirv::ReadResult read(uint32_t subgroupSize, Tier tier) {
    VertexCompileInfo info;
    info.spirv = vertex_io;
    info.subgroupSize = subgroupSize;
    spirv::ReadResult r = spirv::readVertex(info);
    EXPECT_EQ(r.status, CompileStatus::kOk) << r.message;
    if (!r.function) return r;
    passes::runPasses(*r.function, tier);
    EXPECT_EQ(ir::verify(*r.function), "") << ir::print(*r.function);
    fillBlocks(r.vertex);
    return r;
  }

  void fillBlocks(const VertexInterface& i) {
    count_ = 0;
    const auto slotOf = [&](uint32_t location) {
      for (uint32_t s = 0; s < i.inputSlotCount; ++s)
        if (i.inputLocation[s] == location) return s;
      ADD_FAILURE() << "no slot of location " << location;
      return 0u;
    };
    for (size_t b = 0; b < kCounts.size(); ++b) {
      Rows& in = inputs_[b];
      in.assign(4 * i.inputSlotCount, {});
      outputs_[b].assign(abi::kMaxVertexOutputRows, {});
      for (auto& row : outputs_[b]) row.fill(kUntouched);
      for (uint32_t lane = 0; lane < kVertexBlockLanes; ++lane) {
        const uint32_t n = static_cast<uint32_t>(b) * kVertexBlockLanes + lane;
        const Attributes a = attributesOf(n);
        for (uint32_t c = 0; c < 3; ++c) in[4 * slotOf(0) + c][lane] = bits(a.position[c]);
        for (uint32_t c = 0; c < 2; ++c) in[4 * slotOf(3) + c][lane] = static_cast<uint32_t>(a.numbers[c]);
        for (uint32_t c = 0; c < 3; ++c) {
          const auto word = std::bit_cast<uint64_t>(a.wide[c]);
          in[4 * slotOf(5) + 2 * c][lane] = static_cast<uint32_t>(word);
          in[4 * slotOf(5) + 2 * c + 1][lane] = static_cast<uint32_t>(word >> 32);
        }
        for (uint32_t column = 0; column < 2; ++column)
          for (uint32_t c = 0; c < 2; ++c) in[4 * slotOf(8 + column) + c][lane] = bits(a.matrix[column][c]);
        vertexIndex_[b][lane] = n + 1000;
        instanceIndex_[b][lane] = n / 7 + 20;
      }
      blocks_[b] = {reinterpret_cast<abi::VertexRow*>(in.data()),
                    reinterpret_cast<abi::VertexRow*>(outputs_[b].data()),
                    vertexIndex_[b].data(),
                    instanceIndex_[b].data(),
                    kCounts[b],
                    0};
    }
  }

  void check(const VertexInterface& i, const std::string& who) {
    uint32_t invocations = 0;
    for (size_t b = 0; b < kCounts.size(); ++b) {
      invocations += kCounts[b];
      for (uint32_t lane = 0; lane < kVertexBlockLanes; ++lane) {
        const auto got = [&](uint32_t row) { return outputs_[b][row][lane]; };
        if (lane >= kCounts[b]) {
          for (uint32_t row = 0; row < abi::kMaxVertexOutputRows; ++row) ASSERT_EQ(got(row), kUntouched) << who;
          continue;
        }
        checkVertex(i, static_cast<uint32_t>(b) * kVertexBlockLanes + lane, got, who);
        if (HasFailure()) return;
      }
    }
    EXPECT_EQ(count_, invocations) << who;
  }

  template <typename Got>
  void checkVertex(const VertexInterface& i, uint32_t n, const Got& got, const std::string& who) {
    const Attributes a = attributesOf(n);
    const float position[4] = {a.position[0], a.position[1], a.position[2], 1.0f};
    for (uint32_t c = 0; c < 4; ++c) ASSERT_EQ(got(abi::kRowPosition + c), bits(position[c] * kScale[c])) << who;
    ASSERT_EQ(got(abi::kRowPointSize), bits(position[0] + 0.5f)) << who;
    ASSERT_EQ(got(abi::kRowLayer), static_cast<uint32_t>(a.numbers[0])) << who;
    ASSERT_EQ(got(abi::kRowViewport), static_cast<uint32_t>(a.numbers[1]) & 15) << who;
    ASSERT_EQ(got(abi::kRowDistances), bits(position[1])) << who;
    ASSERT_EQ(got(abi::kRowDistances + 1), bits(-position[2])) << who;
    ASSERT_EQ(got(abi::kRowDistances + 2), bits(position[0] - position[1])) << who;

    const auto varying = [&](uint32_t location, uint32_t component) -> uint32_t {
      for (uint32_t s = 0; s < i.varyingSlotCount; ++s)
        if (i.varyingLocation[s] == location) return got(abi::kRowVaryings + 4 * s + component);
      ADD_FAILURE() << who << ": no slot of location " << location;
      return 0;
    };
    const bool even = n % 2 == 0;
    ASSERT_EQ(varying(0, 0), bits(0.25f)) << who;
    ASSERT_EQ(varying(0, 1), bits(even ? position[1] : 0.25f)) << who;
    if (!even && a.numbers[0] > 3) return;  // the shader returned
    ASSERT_EQ(varying(0, 2), bits(1.25f)) << who;
    const uint32_t ids[4] = {n + 1000, n / 7 + 20, 1000, 20};
    for (uint32_t c = 0; c < 4; ++c) ASSERT_EQ(varying(2, c), ids[c]) << who;
    const uint32_t more[3] = {6, 3, static_cast<uint32_t>(a.numbers[1])};
    for (uint32_t c = 0; c < 3; ++c) ASSERT_EQ(varying(3, c), more[c]) << who;
    for (uint32_t e = 0; e < 3; ++e)
      ASSERT_EQ(varying(4 + e, 0), bits(e == kPick ? 100.0f : static_cast<float>(e) + position[0])) << who;
    for (uint32_t c = 0; c < 2; ++c) {
      ASSERT_EQ(varying(9, c), bits(a.matrix[0][c] + 2.0f * a.matrix[1][c])) << who;
      ASSERT_EQ(varying(10, c), bits(a.matrix[a.numbers[1] & 1][c])) << who;
    }
    for (uint32_t c = 0; c < 3; ++c) {
      const auto word = std::bit_cast<uint64_t>(a.wide[c] * 2.0);
      ASSERT_EQ(varying(12 + c / 2, c % 2 * 2), static_cast<uint32_t>(word)) << who;
      ASSERT_EQ(varying(12 + c / 2, c % 2 * 2 + 1), static_cast<uint32_t>(word >> 32)) << who;
    }
    ASSERT_EQ(varying(20, 1), bits(position[2])) << who;
    ASSERT_EQ(varying(20, 2), bits(position[0])) << who;
  }

  uint32_t count_ = 0, cancel_ = 0;
  abi::BufferDescriptor set_{};
  abi::BindingState state_{};
  abi::RuntimeTable runtime_{};
  abi::VertexEnv env_{};
  alignas(64) std::array<std::byte, abi::kMaxPushConstantBytes> push_{};
  alignas(64) std::array<std::byte, abi::kSinkBytes> sink_{};
  std::array<Rows, kCounts.size()> inputs_, outputs_;
  std::array<std::array<uint32_t, kVertexBlockLanes>, kCounts.size()> vertexIndex_{}, instanceIndex_{};
  std::array<abi::VertexBlock, kCounts.size()> blocks_{};
  std::vector<abi::BindingSlot> slots_{{0, 0, 1, 0, 16, abi::kNotDynamic}};
};

TEST_F(VertexCode, Interface) {
  const spirv::ReadResult r = read(16, Tier::kBetter);
  ASSERT_NE(r.function, nullptr);
  EXPECT_EQ(r.vertex.flags, abi::kVertexWritesPointSize | abi::kVertexWritesLayer | abi::kVertexWritesViewport |
                                abi::kVertexHasSideEffects);
  EXPECT_EQ(r.vertex.inputSlotCount, 6);  // 0, 3, 5 and 6, 8 and 9
  EXPECT_EQ(r.vertex.clipDistanceCount, 2);
  EXPECT_EQ(r.vertex.cullDistanceCount, 1);
  // 0, 2, 3, 4 to 6, 9, 10, 12, 13, 20, but not 21; clip and cull distances
  EXPECT_EQ(r.vertex.varyingSlotCount, 13);
  for (uint32_t s = 0; s < r.vertex.inputSlotCount; ++s)
    if (r.vertex.inputLocation[s] == 5) {
      EXPECT_EQ(r.vertex.inputLocation[s + 1], 6);
    }
}

TEST_F(VertexCode, Interpreter) {
  const spirv::ReadResult r = read(16, Tier::kBetter);
  ASSERT_NE(r.function, nullptr);
  ASSERT_EQ(ir::interpretVertex(*r.function, slots_, env_, blocks_), "");
  check(r.vertex, "interpreter");
}

TEST_F(VertexCode, MachineCode) {
  for (const uint32_t s : {4u, 8u, 16u, 32u})
    for (const uint32_t v : {4u, 8u, 16u})
      for (const uint32_t k : {1u, 2u}) {
        if (v > hostVectorLanes()) continue;
        const spirv::ReadResult r = read(s, k == 1 ? Tier::kQuick : Tier::kBetter);
        ASSERT_NE(r.function, nullptr);
        TargetOptions target;
        target.vectorLanes = v;
        target.gangVectors = k;
        target.tier = k == 1 ? Tier::kQuick : Tier::kBetter;
        const CompileResult compiled = generateCode(*r.function, slots_, target);
        ASSERT_EQ(compiled.status, CompileStatus::kOk) << compiled.message;
        const auto loaded = cache::loadObject(cache::CodeArena::instance(), compiled.object.elf, kEntrySymbol);
        ASSERT_EQ(loaded.status, cache::LoadStatus::kOk) << loaded.message;
        std::vector<std::byte> frame(compiled.object.info.frameBytes + 64);
        env_.common.frame = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(frame.data()) + 63) / 64 * 64);
        reinterpret_cast<abi::VertexEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry))(
            &env_, blocks_.data(), static_cast<uint32_t>(blocks_.size()));
        check(r.vertex, "S " + std::to_string(s) + " V " + std::to_string(v) + " k " + std::to_string(k));
        cache::CodeArena::instance().free(loaded.code.block);
      }
}

}  // namespace
}  // namespace pumice::shader::codegen
