// Fragment shaders on runs that the test fills: machine code against the interpreter, bit for bit, and both against
// what the shader's text says, with interpolation in double precision.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "shaders/cache/code_arena.h"
#include "shaders/cache/elf_loader.h"
#include "shaders/codegen/codegen.h"
#include "shaders/codegen/fragment_test_util.h"
#include "shaders/codegen/target_features.h"
#include "shaders/ir/interpreter.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/verifier.h"
#include "shaders/passes/passes.h"
#include "shaders/spirv/reader.h"
#include "test_shaders/fragment_io.h"
#include "test_shaders/fragment_quads.h"

namespace pumice::shader::codegen {
namespace {

using Words = std::array<uint32_t, 4>;

double real(uint32_t word) {
  return std::bit_cast<float>(word);
}

class FragmentCode : public testing::Test {
 protected:
  FragmentCode() {
    env_.common.runtime = &runtime_;
    env_.common.bindings = &bindings_;
    env_.common.pushConstants = push_.data();
    env_.common.cancelWord = &cancel_;
    env_.common.sink = sink_.data();
    log_.resize(1 + kSize * kSize);
    logDescriptor_ = {reinterpret_cast<uint64_t>(log_.data()), log_.size() * 4};
    bindings_.setAddress[0] = reinterpret_cast<uint64_t>(&logDescriptor_);
    state_.sampleMask = ~0u;
    state_.colorWriteEnable = 0xff;
    env_.state = &state_;
    env_.counters = &counters_;
    env_.layer = 5;
    env_.viewIndex = 2;
    for (uint32_t i = 0; i < kTargets; ++i) {
      targets_[i].resize(kSize * kSize);
      surfaces_[i] = targetSurface(targets_[i]);
    }
    env_.color = surfaces_.data();
    env_.depth = &none_;
    env_.stencil = &none_;
    scene_.attach(env_);
  }

  void push(std::array<float, 4> v) { std::memcpy(push_.data(), v.data(), sizeof v); }

  FragmentKey key(std::initializer_list<VkFormat> formats) {
    FragmentKey k{};
    uint32_t i = 0;
    for (const VkFormat f : formats) k.color[i++] = {f, 15, 0, 0, 0, 0, 0, 0, 0};
    std::fill_n(k.varyingSlot, kMaxLinkedLocations, kNotLinked);
    for (uint32_t l = 0; l < 12; ++l) k.varyingSlot[l] = static_cast<uint8_t>(11 - l);
    return k;
  }

  spirv::ReadResult read(std::span<const uint32_t> code, const FragmentKey& k, uint32_t subgroupSize, Tier tier) {
    FragmentCompileInfo info;
    info.spirv = code;
    info.subgroupSize = subgroupSize;
    info.key = k;
    spirv::ReadResult r = spirv::readFragment(info);
    EXPECT_EQ(r.status, CompileStatus::kOk) << r.message;
    if (!r.function) return r;
    passes::runPasses(*r.function, tier);
    EXPECT_EQ(ir::verify(*r.function), "") << ir::print(*r.function);
    return r;
  }

  void clear() {
    for (auto& t : targets_) std::fill(t.begin(), t.end(), Words{kUntouched, kUntouched, kUntouched, kUntouched});
    std::fill(log_.begin(), log_.end(), 0u);
    counters_ = {};
  }

  // Runs the shader everywhere; check(pixel, values of the targets, what the interpreter says of its lane).
  using Check = std::function<void(const ScenePixel& p, const std::array<Words, kTargets>& got)>;
  void run(std::span<const uint32_t> code, const FragmentKey& k, const Check& check) {
    for (const uint32_t v : {4u, 8u, 16u})
      for (const uint32_t s : {4u, 16u}) {
        if (v > hostVectorLanes()) continue;
        const Tier tier = s == 4 ? Tier::kQuick : Tier::kBetter;
        const std::string who = "V " + std::to_string(v) + " S " + std::to_string(s);
        SCOPED_TRACE(who);
        const spirv::ReadResult r = read(code, k, s, tier);
        ASSERT_NE(r.function, nullptr);
        std::vector<ir::FragmentValues> values;
        clear();
        ASSERT_EQ(ir::interpretFragment(*r.function, slots_, env_, scene_.run(), values), "");
        const std::vector<uint32_t> interpretedLog = log_;
        clear();

        TargetOptions target;
        target.vectorLanes = v;
        target.tier = tier;
        const CompileResult compiled = generateCode(*r.function, slots_, target, &k);
        ASSERT_EQ(compiled.status, CompileStatus::kOk) << compiled.message;
        const auto loaded = cache::loadObject(cache::CodeArena::instance(), compiled.object.elf, kEntrySymbol);
        ASSERT_EQ(loaded.status, cache::LoadStatus::kOk) << loaded.message;
        std::vector<std::byte> frame(compiled.object.info.frameBytes + 64);
        env_.common.frame = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(frame.data()) + 63) / 64 * 64);
        reinterpret_cast<abi::FragmentEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry))(&env_, &scene_.run());
        cache::CodeArena::instance().free(loaded.code.block);
        EXPECT_EQ(log_, interpretedLog);
        checkTargets(k, values, check);
        if (HasFailure()) return;
      }
  }

  void checkTargets(const FragmentKey& k, const std::vector<ir::FragmentValues>& values, const Check& check) {
    std::vector<const ScenePixel*> owner(kSize * kSize, nullptr);
    uint64_t invocations = 0;
    for (const ScenePixel& p : scene_.pixels()) {
      invocations += p.covered ? 1 : 0;
      if (p.covered && (values[p.vector].live >> p.lane & 1) != 0) owner[p.x + kSize * p.y] = &p;
    }
    EXPECT_EQ(counters_.invocations, invocations);
    for (uint32_t y = 0; y < kSize; ++y)
      for (uint32_t x = 0; x < kSize; ++x) {
        const ScenePixel* p = owner[x + kSize * y];
        std::array<Words, kTargets> got{};
        for (uint32_t i = 0; i < kTargets; ++i) {
          got[i] = targets_[i][targetIndex(x, y)];
          const bool written = p != nullptr && k.color[i].format != VK_FORMAT_UNDEFINED;
          for (uint32_t c = 0; c < 4; ++c)
            ASSERT_EQ(got[i][c], written ? values[p->vector].output[4 * i + c][p->lane] : kUntouched)
                << x << ", " << y << " target " << i << " component " << c;
        }
        if (p != nullptr) check(*p, got);
        if (HasFailure()) return;
      }
  }

  Scene scene_;
  std::array<std::vector<Words>, kTargets> targets_;
  std::array<abi::Surface, abi::kMaxColorAttachments> surfaces_{};
  abi::Surface none_{};
  abi::FragmentState state_{};
  abi::FragmentCounters counters_{};
  std::vector<uint32_t> log_;
  abi::BufferDescriptor logDescriptor_{};
  uint32_t cancel_ = 0;
  abi::BindingState bindings_{};
  abi::RuntimeTable runtime_{};
  abi::FragmentEnv env_{};
  alignas(64) std::array<std::byte, abi::kMaxPushConstantBytes> push_{};
  alignas(64) std::array<std::byte, abi::kSinkBytes> sink_{};
  std::vector<abi::BindingSlot> slots_{{0, 0, 1, 0, 16, abi::kNotDynamic}};
};

constexpr VkFormat kFloats = VK_FORMAT_R32G32B32A32_SFLOAT;

TEST_F(FragmentCode, InputsAndOutputs) {
  push({1.0f, 2.0f, -1.0f, 0.5f});
  const FragmentKey k = key({kFloats, kFloats, VK_FORMAT_R32G32B32A32_SINT, kFloats, VK_FORMAT_R32G32B32A32_UINT});
  run(fragment_io, k, [&](const ScenePixel& p, const std::array<Words, kTargets>& got) {
    const auto slot = [&](uint32_t location) { return k.varyingSlot[location]; };
    constexpr double kScale[4] = {1, 2, -1, 0.5};
    const auto near = [&](uint32_t word, double want, double size) {
      EXPECT_NEAR(real(word), want, 4e-6 * (std::abs(want) + size)) << "pixel " << p.x << ", " << p.y;
    };
    for (uint32_t c = 0; c < 4; ++c)
      near(got[0][c], kScale[c] * scene_.perspective(p, slot(0), c), scene_.largest(p, slot(0), c));
    EXPECT_EQ(real(got[1][0]), p.x + 0.5);
    EXPECT_EQ(real(got[1][1]), p.y + 0.5);
    near(got[1][2], scene_.depth(p), 1);
    near(got[1][3], scene_.oneOverW(p), 0.1);
    for (uint32_t c = 0; c < 3; ++c) EXPECT_EQ(got[2][c], scene_.flat(p, slot(2), c));
    const abi::PrimitiveRecord& primitive = scene_.primitive(p);
    const bool front = (primitive.flags & abi::kPrimitiveBackFacing) == 0;
    EXPECT_EQ(static_cast<int32_t>(got[2][3]), static_cast<int32_t>(primitive.primitiveId) * (front ? 1 : -1));
    for (uint32_t c = 0; c < 2; ++c) near(got[3][c], scene_.linear(p, slot(1), c), scene_.largest(p, slot(1), c));
    near(got[3][2], scene_.perspective(p, slot(4), 2) + scene_.perspective(p, slot(5), 2),
         scene_.largest(p, slot(4), 2) + scene_.largest(p, slot(5), 2));
    near(got[3][3], scene_.perspective(p, slot(6), 1), scene_.largest(p, slot(6), 1));
    const uint64_t wide = scene_.flat(p, slot(3), 0) | uint64_t{scene_.flat(p, slot(3), 1)} << 32;
    EXPECT_EQ(got[4][0], std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(wide))));
    EXPECT_EQ(got[4][1], scene_.flat(p, slot(8), 0));
    EXPECT_EQ(got[4][2], 5u);
    EXPECT_EQ(got[4][3], 2u);
  });
}

TEST_F(FragmentCode, QuadsHelpersAndDiscards) {
  push({scene_.median(11, 0), scene_.median(11, 1), 0, 0});
  const FragmentKey k = key({kFloats, kFloats, kFloats});
  uint32_t shaded = 0;
  run(fragment_quads, k, [&](const ScenePixel& p, const std::array<Words, kTargets>& got) {
    ++shaded;
    const auto at = [&](uint32_t lane, uint32_t c) {
      ScenePixel other = p;
      other.x = (p.x & ~1u) | (lane & 1u);
      other.y = (p.y & ~1u) | lane >> 1u;
      return scene_.perspective(other, 11, c);
    };
    const double size = 1e-5 * (std::pow(scene_.largest(p, 11, 0), 2) + std::pow(scene_.largest(p, 11, 1), 2) + 1);
    const uint32_t lane = (p.x & 1u) | (p.y & 1u) << 1u;
    const auto product = [&](uint32_t l) { return at(l, 0) * at(l, 1); };
    const auto square = [&](uint32_t l) { return at(l, 0) * at(l, 0); };
    EXPECT_NEAR(real(got[0][0]), product(lane | 1u) - product(lane & 2u), size);
    EXPECT_NEAR(real(got[0][1]), product(lane | 2u) - product(lane & 1u), size);
    EXPECT_NEAR(real(got[0][2]),
                std::abs(square(lane | 1u) - square(lane & 2u)) + std::abs(square(lane | 2u) - square(lane & 1u)),
                2 * size);
    EXPECT_NEAR(real(got[1][0]), product(1) - product(0), size);
    EXPECT_NEAR(real(got[1][1]), product(2) - product(0), size);
    EXPECT_NEAR(real(got[1][2]), std::abs(square(1) - square(0)) + std::abs(square(2) - square(0)), 2 * size);
    const double x = at(lane, 0), y = at(lane, 1);
    EXPECT_NEAR(real(got[0][3]), x, size);
    EXPECT_NEAR(real(got[1][3]), y, size);
    EXPECT_GE(real(got[0][3]), scene_.median(11, 0));
    EXPECT_GE(real(got[1][3]), scene_.median(11, 1));
    EXPECT_EQ(real(got[2][0]), 0);
    EXPECT_EQ(real(got[2][1]), 0);
    EXPECT_EQ(real(got[2][3]), 1);
    EXPECT_EQ(log_[1 + p.x + 64 * p.y], 1 + static_cast<uint32_t>(std::abs(real(got[0][3]))));
  });
  EXPECT_GT(shaded, 100u);
}

}  // namespace
}  // namespace pumice::shader::codegen
