// Compiles a fragment shader, lets interpreter and machine code shade the scene's run, and compares the targets.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
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

namespace pumice::shader::codegen {

inline constexpr float kFarDepth = 0.5f;
inline constexpr VkFormat kFloats = VK_FORMAT_R32G32B32A32_SFLOAT;
inline constexpr VkFormat kInts = VK_FORMAT_R32G32B32A32_SINT;

using Words = std::array<uint32_t, 4>;

inline double real(uint32_t word) {
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
    env_.color = surfaces_.data();
    env_.depth = &none_;
    env_.stencil = &none_;
    useSamples(1);
  }

  void useSamples(uint32_t samples) {
    samples_ = samples;
    scene_ = Scene(samples);
    scene_.attach(env_);
    for (uint32_t i = 0; i < kTargets; ++i) {
      targets_[i].resize(kSize * kSize * samples);
      surfaces_[i] = targetSurface(targets_[i], samples);
    }
    depths_.resize(kSize * kSize * samples);
    depthSurface_ = targetSurface(depths_, samples);
    stencils_.resize(kSize * kSize * samples);
    stencilSurface_ = targetSurface(stencils_, samples);
  }

  void push(std::array<float, 4> v) { std::memcpy(push_.data(), v.data(), sizeof v); }

  FragmentKey key(std::initializer_list<VkFormat> formats) {
    FragmentKey k{};
    uint32_t i = 0;
    for (const VkFormat f : formats) k.color[i++] = {f, 15, 0, 0, 0, 0, 0, 0, 0};
    k.samples_log2 = static_cast<uint8_t>(std::countr_zero(samples_));
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
    std::fill(depths_.begin(), depths_.end(), kFarDepth);
    std::fill(stencils_.begin(), stencils_.end(), uint8_t{0});
    counters_ = {};
  }

  // Machine code leaves what it writes in the targets.
  std::vector<ir::FragmentValues> execute(const ir::Function& fn, const FragmentKey& k, uint32_t v, Tier tier) {
    std::vector<ir::FragmentValues> values;
    clear();
    EXPECT_EQ(ir::interpretFragment(fn, slots_, env_, scene_.run(), values), "");
    const std::vector<uint32_t> interpretedLog = log_;
    clear();
    TargetOptions target;
    target.vectorLanes = v;
    target.tier = tier;
    const CompileResult compiled = generateCode(fn, slots_, target, &k);
    EXPECT_EQ(compiled.status, CompileStatus::kOk) << compiled.message;
    const auto loaded = cache::loadObject(cache::CodeArena::instance(), compiled.object.elf, kEntrySymbol);
    EXPECT_EQ(loaded.status, cache::LoadStatus::kOk) << loaded.message;
    if (HasFailure()) return values;
    std::vector<std::byte> frame(compiled.object.info.frameBytes + 64);
    env_.common.frame = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(frame.data()) + 63) / 64 * 64);
    reinterpret_cast<abi::FragmentEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry))(&env_, &scene_.run());
    cache::CodeArena::instance().free(loaded.code.block);
    EXPECT_EQ(log_, interpretedLog);
    return values;
  }

  // Runs the shader at every V, and looks at every sample that it should leave something of: `expected` by coverage and
  // discards alone, unless `passes` says more.
  using Got = std::array<Words, kTargets>;
  using Check = std::function<void(const ScenePixel& p, uint32_t sample, const Got& got)>;
  using Passes = std::function<bool(const ScenePixel& p, uint32_t sample, const ir::FragmentValues& values)>;
  void run(std::span<const uint32_t> code, const FragmentKey& k, const Check& check, const Passes& passes = {}) {
    struct Target {
      uint32_t v, s;
      Tier tier;
    };
    for (const auto& [v, s, tier] : {Target{4, 4, Tier::kQuick}, Target{8, 8, Tier::kBetter},
                                     Target{16, 4, Tier::kQuick}, Target{16, 16, Tier::kBetter}}) {
      if (v > hostVectorLanes()) continue;
      const std::string who = "V " + std::to_string(v) + " S " + std::to_string(s);
      SCOPED_TRACE(who);
      const spirv::ReadResult r = read(code, k, s, tier);
      ASSERT_NE(r.function, nullptr);
      const std::vector<ir::FragmentValues> values = execute(*r.function, k, v, tier);
      if (HasFailure()) return;
      checkTargets(k, *r.function, values, check, passes);
      if (HasFailure()) return;
    }
  }

  void checkTargets(const FragmentKey& k, const ir::Function& fn, const std::vector<ir::FragmentValues>& values,
                    const Check& check, const Passes& passes) {
    const bool perSample = fn.fragment.sampleShading;
    std::vector<const ScenePixel*> owner(kSize * kSize * samples_, nullptr);
    uint64_t invocations = 0;
    const auto valuesOf = [&](const ScenePixel& p, uint32_t sample) -> const ir::FragmentValues& {
      return values[perSample ? p.vector * samples_ + sample : p.vector];
    };
    for (const ScenePixel& p : scene_.pixels()) {
      bool any = false;
      for (uint32_t sample = 0; sample < samples_; ++sample) {
        if (((p.samples & state_.sampleMask) >> sample & 1) == 0) continue;
        const ir::FragmentValues& of = valuesOf(p, sample);
        const bool passed = !passes || passes(p, sample, of);
        // What early tests reject is not shaded.
        const bool isShaded = passed || !fn.fragment.earlyTests;
        invocations += isShaded && (perSample || !any) ? 1 : 0;
        any |= isShaded;
        if (passed && (of.live >> p.lane & 1) != 0) owner[targetIndex(p.x, p.y, sample, samples_)] = &p;
      }
    }
    EXPECT_EQ(counters_.invocations, invocations);
    for (uint32_t at = 0; at < owner.size(); ++at) {
      const ScenePixel* p = owner[at];
      const uint32_t sample = at / 16 % samples_;
      Got got{};
      for (uint32_t i = 0; i < kTargets; ++i) {
        got[i] = targets_[i][at];
        const bool written = p != nullptr && k.color[i].format != VK_FORMAT_UNDEFINED;
        for (uint32_t c = 0; c < 4; ++c)
          ASSERT_EQ(got[i][c], written ? valuesOf(*p, sample).output[4 * i + c][p->lane] : kUntouched)
              << "element " << at << " target " << i << " component " << c;
      }
      if (p != nullptr) check(*p, sample, got);
      if (HasFailure()) return;
    }
  }

  void near(uint32_t word, double want, double size, double tolerance = 4e-6) {
    EXPECT_NEAR(real(word), want, tolerance * (std::abs(want) + size));
  }

  uint32_t samples_ = 1;
  Scene scene_;
  std::array<std::vector<Words>, kTargets> targets_;
  std::array<abi::Surface, abi::kMaxColorAttachments> surfaces_{};
  abi::Surface none_{}, depthSurface_{}, stencilSurface_{};
  std::vector<float> depths_;
  std::vector<uint8_t> stencils_;
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

}  // namespace pumice::shader::codegen
