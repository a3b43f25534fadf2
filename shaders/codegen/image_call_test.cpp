// What compiled code and the interpreter ask of the texture unit: a unit that answers with a hash of the question,
// which the test computes on its own.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <set>
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
#include "test_shaders/images.h"

namespace pumice::shader::codegen {
namespace {

using abi::ImageCall;
using abi::ImageOp;

constexpr uint32_t kLanes = 40, kGroups = 2, kOutputs = 32;

uint32_t hash(std::initializer_list<uint32_t> words) {
  uint32_t h = 2166136261u;
  for (const uint32_t w : words) h = (h ^ w) * 16777619u;
  return h >> 12;  // exact as a float, also times 15
}
uint32_t bits(float f) {
  return std::bit_cast<uint32_t>(f);
}

// Descriptors of the test: the first word says which it is.
uint32_t idAt(uint64_t address) {
  uint32_t id = 0;
  std::memcpy(&id, reinterpret_cast<const void*>(address), sizeof id);
  return id;
}

std::multiset<uint32_t> written;  // hashes of the writes

// Rows of coordinates that the binding's accesses use, the layer included.
uint32_t rowsOf(uint32_t id, ImageOp op) {
  switch (id) {
    case 3:
    case 13:
      return 4;
    case 5:
    case 8:
    case 11:
      return 2;
    default:
      return op == ImageOp::kSample || id != 0 ? 3 : 2;
  }
}

void answer(ImageCall* call) {
  for (uint32_t l = 0; l < abi::kImageCallLanes; ++l) {
    if ((call->activeLanes >> l & 1) == 0) continue;
    const bool uniform = (call->flags & abi::kImageUniformDescriptor) != 0;
    const uint32_t flags = call->flags & ~uint32_t{abi::kImageUniformDescriptor};
    const uint32_t id = idAt(call->image[uniform ? 0 : l]);
    uint32_t h = hash({static_cast<uint32_t>(call->op), flags, id});
    const auto mix = [&h](uint32_t w) { h = hash({h, w}); };
    if (call->op >= ImageOp::kSample) mix(idAt(call->sampler[uniform ? 0 : l]));
    for (uint32_t r = 0; r < rowsOf(id, call->op); ++r) mix(call->coordinate[r][l]);
    if ((flags & (abi::kImageLod | abi::kImageSampleIndex)) != 0) mix(call->lod[l]);
    if ((flags & abi::kImageReference) != 0) mix(call->reference[l]);
    if ((flags & abi::kImageGrad) != 0) {
      for (uint32_t r = 0; r < 3; ++r) mix(call->ddx[r][l]);
      for (uint32_t r = 0; r < 3; ++r) mix(call->ddy[r][l]);
    }
    if ((flags & abi::kImageOffset) != 0) {
      for (uint32_t r = 0; r + 1 < rowsOf(id, call->op); ++r) mix(static_cast<uint32_t>(call->offset[r][l]));
    }
    if (call->op == ImageOp::kGather) mix(call->gatherComponent);
    if (call->op == ImageOp::kWrite) {
      for (uint32_t c = 0; c < 4; ++c) mix(call->texel[c][l]);
      written.insert(h);
      continue;
    }
    if (call->op >= ImageOp::kAtomicAdd && call->op <= ImageOp::kAtomicFMax) {
      mix(call->texel[0][l]);
      if (call->op == ImageOp::kAtomicCompareExchange || (flags & abi::kImage64) != 0) mix(call->texel[1][l]);
    }
    // Integer images answer with the hash, the others with floats.
    const bool integers = id == 5 || id == 6 || id == 8 || id == 11;
    for (uint32_t c = 0; c < 4; ++c) call->texel[c][l] = integers ? h + c : bits(static_cast<float>(h + c));
  }
}

// A texture of id `id` asked like this; the words as `answer` mixes them.
uint32_t question(ImageOp op, uint32_t flags, uint32_t id, std::initializer_list<uint32_t> words) {
  uint32_t h = hash({static_cast<uint32_t>(op), flags, id});
  for (const uint32_t w : words) h = hash({h, w});
  return h;
}
// put(vec4) of the answer.
uint32_t floatAnswer(uint32_t h) {
  const auto c = [h](uint32_t i) { return static_cast<float>(h + i); };
  return bits(c(0) + 2.0f * c(1) + 4.0f * c(2) + 8.0f * c(3));
}

std::vector<uint32_t> expected(std::multiset<uint32_t>& writes) {
  std::vector<uint32_t> all(kLanes * kGroups * kOutputs);
  constexpr auto kLod = uint32_t{abi::kImageLod};
  for (uint32_t i = 0; i < kLanes * kGroups; ++i) {
    const auto f = static_cast<float>(i);
    size_t at = i * kOutputs;
    const auto put = [&](uint32_t v) { all[at++] = v; };
    put(floatAnswer(question(ImageOp::kRead, kLod, 1, {i, 2 * i, 0, 3})));
    put(floatAnswer(question(ImageOp::kRead, kLod, 1, {i - 1, 11, 0, 1})));
    put(floatAnswer(question(ImageOp::kSample, kLod, 2, {102, bits(f), bits(0.5f), bits(2.0f), bits(1.5f)})));
    put(floatAnswer(question(ImageOp::kSample, abi::kImageGrad, 3,
                             {103, bits(f), bits(1.0f), bits(2.0f), bits(3.0f), bits(0.25f), bits(f), bits(0.5f),
                              bits(4.0f), bits(5.0f), bits(6.0f)})));
    put(bits(static_cast<float>(question(ImageOp::kSample, kLod | abi::kImageReference, 4,
                                         {104, bits(f), bits(0.25f), bits(0.0f), bits(0.0f), bits(0.75f)}))));
    put(floatAnswer(question(ImageOp::kGather, 0, 1, {101, bits(f), bits(0.125f), bits(0.0f), 2})));
    put(floatAnswer(question(ImageOp::kSample, kLod, 1, {101, bits(f), bits(2.0f), bits(0.0f), bits(2.0f)})));
    put(floatAnswer(
        question(ImageOp::kSample, kLod | abi::kImageOffset, 13,
                 {113, bits(f), bits(2.0f), bits(3.0f), bits(0.0f), bits(0.0f), 1, static_cast<uint32_t>(-2), 3})));
    const uint32_t t = question(ImageOp::kRead, 0, 5, {i + 5, 0});
    put(t + 2 * (t + 3));
    writes.insert(question(ImageOp::kWrite, 0, 8, {i, 0, i, static_cast<uint32_t>(-static_cast<int>(i)), 3, 4}));
    put(question(ImageOp::kAtomicAdd, 0, 6, {i, 1, 0, i + 100}));
    put(question(ImageOp::kAtomicCompareExchange, 0, 6, {1, i, 0, i, 5}));
    put(floatAnswer(question(ImageOp::kRead, 0, 7, {i, 3, 4})));
    // many[3] does not exist: a null descriptor.
    const uint32_t texture = i % 4 < 3 ? 20 + i % 4 : 0;
    put(floatAnswer(texture != 0 ? question(ImageOp::kRead, kLod, texture, {i, 9, 0, 0})
                                 : question(ImageOp::kRead, kLod, 0, {i, 9, 0})));
    const uint32_t longs = question(ImageOp::kAtomicUMax, abi::kImage64, 11, {i, 0, 7, i << 1});
    put(longs);
    put(longs + 1);
    put(floatAnswer(question(ImageOp::kRead, abi::kImageSampleIndex, 12, {i, 2, 3, 1})));
    put(i % 3 == 1 ? floatAnswer(question(ImageOp::kSample, kLod, 1, {101, bits(f), bits(6.0f), bits(0.0f), bits(f)}))
                   : 77);
    put(50 * 1000 + 20);
    put(3);
    put(9);
    put(4);
    put(1234);
  }
  return all;
}

__attribute__((noreturn)) void leave(void*) {
  std::abort();
}

class ImageCalls : public testing::Test {
 protected:
  void SetUp() override {
    bind(0, 1, 16);
    for (const uint32_t id : {1u, 2u, 3u, 4u, 13u}) {
      bind(id, 1, 128);
      image(id, 0, id);
      sampler(id, 64, 100 + id);
    }
    for (const uint32_t id : {5u, 6u, 7u, 8u, 11u, 12u}) {
      bind(id, 1, 64);
      image(id, 0, id);
    }
    bind(9, 3, 64);
    for (uint32_t n = 0; n < 3; ++n) image(9, n * 64, 20 + n);
    bind(10, 1, 64);
    sampler(10, 0, 110);
    for (abi::BindingSlot& s : slots_) {
      if (s.binding == 1)
        field(s, offsetof(abi::ImageDescriptor, width), 100u), field(s, offsetof(abi::ImageDescriptor, height), 41u);
      if (s.binding == 1) field(s, offsetof(abi::ImageDescriptor, levelCount), uint8_t{9});
      if (s.binding == 3) field(s, offsetof(abi::ImageDescriptor, depthOrLayers), 18u);
      if (s.binding == 8) field(s, offsetof(abi::TexelBufferDescriptor, elementCount), 1234u);
      if (s.binding == 12)
        field(s, offsetof(abi::ImageDescriptor, width), 8u),
            field(s, offsetof(abi::ImageDescriptor, samples_log2), uint8_t{2});
    }
    out_.assign(kLanes * kGroups * kOutputs, 0);
    const abi::BufferDescriptor buffer{reinterpret_cast<uint64_t>(out_.data()), out_.size() * 4};
    std::memcpy(set_.data() + slots_[0].offset_B, &buffer, sizeof buffer);
    state_.setAddress[0] = reinterpret_cast<uint64_t>(set_.data());
    runtime_.leave = leave;
    runtime_.accessImage = answer;
    env_.runtime = &runtime_;
    env_.bindings = &state_;
    env_.pushConstants = push_.data();
    env_.cancelWord = &cancel_;
    env_.sink = sink_.data();
    env_.groupCount[0] = kGroups;
    env_.groupCount[1] = env_.groupCount[2] = 1;
    written.clear();
  }

  std::unique_ptr<ir::Function> read(uint32_t subgroupSize, Tier tier) {
    ComputeCompileInfo info;
    info.spirv = images;
    info.bindings = slots_;
    info.subgroupSize = subgroupSize;
    spirv::ReadResult r = spirv::readCompute(info);
    EXPECT_EQ(r.status, CompileStatus::kOk) << r.message;
    if (!r.function) return nullptr;
    passes::runPasses(*r.function, tier);
    EXPECT_EQ(ir::verify(*r.function), "") << ir::print(*r.function);
    return std::move(r.function);
  }

  void check(const char* who) {
    std::multiset<uint32_t> writes;
    const std::vector<uint32_t> want = expected(writes);
    for (uint32_t i = 0; i < kLanes * kGroups; ++i)
      for (uint32_t n = 0; n < kOutputs; ++n)
        ASSERT_EQ(out_[i * kOutputs + n], want[i * kOutputs + n]) << who << ": invocation " << i << ", output " << n;
    EXPECT_EQ(written, writes) << who;
  }

  std::vector<abi::BindingSlot> slots_;
  std::vector<uint32_t> out_;
  alignas(64) std::array<std::byte, 4096> set_{};
  uint32_t used_ = 0;
  abi::BindingState state_{};
  abi::RuntimeTable runtime_{};
  abi::ComputeEnv env_{};
  alignas(64) std::array<std::byte, abi::kMaxPushConstantBytes> push_{};
  alignas(64) std::array<std::byte, abi::kSinkBytes> sink_{};
  uint32_t cancel_ = 0;

 private:
  void bind(uint32_t binding, uint32_t count, uint32_t stride) {
    slots_.push_back({0, binding, count, used_, stride, abi::kNotDynamic});
    used_ += (count * stride + 63) / 64 * 64;
  }
  void word(uint32_t binding, uint32_t at, uint32_t value) {
    for (const abi::BindingSlot& s : slots_)
      if (s.binding == binding) std::memcpy(set_.data() + s.offset_B + at, &value, sizeof value);
  }
  void image(uint32_t binding, uint32_t at, uint32_t id) { word(binding, at, id); }
  void sampler(uint32_t binding, uint32_t at, uint32_t id) { word(binding, at, id); }
  template <typename T>
  void field(const abi::BindingSlot& s, size_t offset, T value) {
    std::memcpy(set_.data() + s.offset_B + offset, &value, sizeof value);
  }
};

TEST_F(ImageCalls, Interpreter) {
  const std::unique_ptr<ir::Function> fn = read(16, Tier::kBetter);
  ASSERT_NE(fn, nullptr);
  ASSERT_EQ(ir::interpret(*fn, slots_, env_, 0, kGroups), "");
  check("interpreter");
}

TEST_F(ImageCalls, MachineCode) {
  for (const uint32_t s : {4u, 8u, 16u, 32u})
    for (const uint32_t v : {4u, 8u, 16u})
      for (const uint32_t k : {1u, 2u}) {
        if (v > hostVectorLanes()) continue;
        const std::unique_ptr<ir::Function> fn = read(s, k == 1 ? Tier::kQuick : Tier::kBetter);
        ASSERT_NE(fn, nullptr);
        TargetOptions target;
        target.vectorLanes = v;
        target.gangVectors = k;
        const CompileResult r = generateCode(*fn, slots_, target);
        ASSERT_EQ(r.status, CompileStatus::kOk) << r.message;
        const auto loaded = cache::loadObject(cache::CodeArena::instance(), r.object.elf, kEntrySymbol);
        ASSERT_EQ(loaded.status, cache::LoadStatus::kOk) << loaded.message;
        std::vector<std::byte> frame(r.object.info.frameBytes + 64);
        env_.frame = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(frame.data()) + 63) / 64 * 64);
        std::fill(out_.begin(), out_.end(), 0);
        written.clear();
        reinterpret_cast<abi::ComputeEntry>(reinterpret_cast<uintptr_t>(loaded.code.entry))(&env_, 0, kGroups);
        const std::string who = "S " + std::to_string(s) + " V " + std::to_string(v) + " k " + std::to_string(k);
        check(who.c_str());
        cache::CodeArena::instance().free(loaded.code.block);
      }
}

}  // namespace
}  // namespace pumice::shader::codegen
