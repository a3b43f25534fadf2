// Samples that fragment code takes by itself against the interpreter, which asks the texture unit for every one of
// them: the same bits for every view and sampler, wherever the pixels see the image.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <memory>

#include "backend/texture/test_image.h"
#include "backend/texture/texture.h"
#include "shaders/codegen/fragment_test_fixture.h"
#include "test_shaders/fragment_sampling.h"

namespace pumice::shader::codegen {
namespace {

using texture::test::ImageShape;
using texture::test::TestImage;

uint64_t calls = 0;
void countedAccess(abi::ImageCall* call) {
  ++calls;
  texture::accessImage(call);
}

struct Push {
  float rows[4], offset[2], lod, reference;
};

// What one sampler2D or sampler2DShadow is.
struct Bound {
  ImageShape shape;
  abi::SamplerDescriptor sampler{};
  uint16_t minLod_8 = 0, swizzle = abi::kIdentitySwizzle;
};

abi::SamplerDescriptor samplerOf(uint32_t mag, uint32_t min, uint32_t mip, uint32_t u, uint32_t v) {
  abi::SamplerDescriptor s{};
  s.samplerClass = abi::makeSamplerClass(mag, min, mip, u, v, 0);
  s.maxLod = 1000;
  return s;
}

class FragmentSampling : public FragmentCode {
 protected:
  static constexpr uint32_t kSlot_B = sizeof(abi::ImageDescriptor) + sizeof(abi::SamplerDescriptor);

  FragmentSampling() {
    runtime_.accessImage = countedAccess;
    bindings_.setAddress[1] = reinterpret_cast<uint64_t>(set_.data());
    slots_.clear();
    for (uint32_t b = 1; b <= 2; ++b) slots_.push_back({1, b, 1, (b - 1) * kSlot_B, kSlot_B, abi::kNotDynamic});
  }

  void TearDown() override {
    if (loaded_.code.entry != nullptr) cache::CodeArena::instance().free(loaded_.code.block);
  }

  void compile(uint32_t v, uint32_t s, Tier tier) {
    spirv::ReadResult r = read(fragment_sampling, key_, s, tier);
    ASSERT_NE(r.function, nullptr);
    TargetOptions target;
    target.vectorLanes = v;
    target.tier = tier;
    const CompileResult compiled = generateCode(*r.function, slots_, target, &key_);
    ASSERT_EQ(compiled.status, CompileStatus::kOk) << compiled.message;
    if (loaded_.code.entry != nullptr) cache::CodeArena::instance().free(loaded_.code.block);
    loaded_ = cache::loadObject(cache::CodeArena::instance(), compiled.object.elf, kEntrySymbol);
    ASSERT_EQ(loaded_.status, cache::LoadStatus::kOk) << loaded_.message;
    frame_.resize(compiled.object.info.frameBytes + 64);
    function_ = std::move(r.function);
  }

  std::unique_ptr<TestImage> bind(uint32_t binding, const Bound& bound) {
    auto image = std::make_unique<TestImage>(bound.shape);
    image->fill(binding + bound.shape.width);
    abi::ImageDescriptor d = image->descriptor();
    d.minLod_8 = bound.minLod_8;
    d.swizzle = bound.swizzle;
    std::memcpy(set_.data() + size_t{binding - 1} * kSlot_B, &d, sizeof d);
    std::memcpy(set_.data() + size_t{binding - 1} * kSlot_B + sizeof d, &bound.sampler, sizeof bound.sampler);
    return image;
  }

  void compare(const Bound& image, const Bound& shadow, const Push& push) {
    const std::array kept{bind(1, image), bind(2, shadow)};  // as long as the set refers to them
    std::memcpy(push_.data(), &push, sizeof push);
    std::vector<ir::FragmentValues> values;
    clear();
    ASSERT_EQ(ir::interpretFragment(*function_, slots_, env_, scene_.run(), values), "");
    clear();
    env_.common.frame = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(frame_.data()) + 63) / 64 * 64);
    calls = 0;
    reinterpret_cast<abi::FragmentEntry>(reinterpret_cast<uintptr_t>(loaded_.code.entry))(&env_, &scene_.run());
    checkTargets(key_, *function_, values, [](const ScenePixel&, uint32_t, const Got&) {}, {});
  }

  FragmentKey key_ = key({kFloats, kFloats, kFloats, kFloats, kFloats, kFloats});
  std::unique_ptr<ir::Function> function_;
  cache::LoadResult loaded_{};
  std::vector<std::byte> frame_;
  alignas(64) std::array<std::byte, 2 * kSlot_B> set_{};
};

// Turned, `scale` texels a pixel of an image of 64.
Push turned(float scale, float x, float y) {
  const float s = scale / 64;
  return {{0.8f * s, -0.6f * s, 0.6f * s, 0.8f * s}, {x, y}, 0.6f, 0.4f};
}

const float kInfinity = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST_F(FragmentSampling, EveryViewAndSampler) {
  constexpr VkFormat kFormats[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_R32_SFLOAT,
                                   VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB,  VK_FORMAT_R16_SFLOAT};
  constexpr uint32_t kExtents[][2] = {{64, 64}, {37, 50}, {100, 23}, {8, 9}, {11, 130}, {5, 6}};
  for (const auto& [v, s, tier] :
       {std::tuple{16u, 16u, Tier::kBetter}, {16u, 8u, Tier::kBetter}, {8u, 8u, Tier::kBetter}}) {
    if (v > hostVectorLanes()) continue;
    compile(v, s, tier);
    if (HasFailure()) return;
    std::mt19937 random(v + s);
    const auto any = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    for (uint32_t turn = 0; turn < (s == 16 ? 300 : 60); ++turn) {
      SCOPED_TRACE(std::to_string(v) + " turn " + std::to_string(turn));
      Bound bound[2];
      for (uint32_t b = 0; b < 2; ++b) {
        ImageShape& shape = bound[b].shape;
        shape.format = b == 0        ? kFormats[any(std::size(kFormats))]
                       : any(4) == 0 ? VK_FORMAT_D16_UNORM
                                     : VK_FORMAT_D32_SFLOAT;
        shape.width = kExtents[any(2) * any(6)][0];
        shape.height = kExtents[any(2) * any(6)][1];
        shape.quadMajor = any(2) == 0;
        shape.guardBehind = any(2) == 0;
        uint32_t levels = 1;
        while (std::max(shape.width, shape.height) >> levels != 0) ++levels;
        shape.levels = any(3) == 0 ? 1 : 1 + any(levels);
        const uint32_t filter = any(2);
        bound[b].sampler = samplerOf(filter, any(8) == 0 ? 1 - filter : filter, any(2),
                                     any(3) == 0 ? any(5) : 2 * any(2), any(3) == 0 ? any(5) : 2 * any(2));
        if (any(4) == 0) bound[b].sampler.lodBias = static_cast<float>(any(64)) / 16 - 2;
        if (any(4) == 0) bound[b].sampler.minLod = static_cast<float>(any(32)) / 16;
        if (any(4) == 0) bound[b].sampler.maxLod = static_cast<float>(any(64)) / 16;
        if (any(12) == 0) bound[b].sampler.maxLod = kNaN;
        if (any(8) == 0) bound[b].sampler.flags = static_cast<uint16_t>(1u << (1 + any(5)));
        bound[b].sampler.maxAnisotropy = 4;
        bound[b].sampler.compareOp = any(8);
        if (any(6) == 0) bound[b].minLod_8 = static_cast<uint16_t>(any(1024));
        if (any(8) == 0)
          bound[b].swizzle =
              abi::packSwizzle(abi::Swizzle::kBlue, abi::Swizzle::kOne, abi::Swizzle::kRed, abi::Swizzle::kGreen);
        if (any(24) == 0) bound[b].sampler.samplerClass = 0;
      }
      Push push = turned(std::exp2(static_cast<float>(any(64)) / 16 - 1.5f), static_cast<float>(any(400)) / 100 - 2,
                         static_cast<float>(any(400)) / 100 - 2);
      push.lod = static_cast<float>(any(80)) / 16 - 1;
      push.reference = static_cast<float>(any(5)) / 4;
      if (any(8) == 0) push.offset[any(2)] = std::array{kNaN, kInfinity, -kInfinity, 3e9f, -1.0f}[any(5)];
      if (any(16) == 0) push.lod = kNaN;
      compare(bound[0], bound[1], push);
      if (HasFailure()) return;
    }
  }
}

// That blocks of pixels really take their samples without a call.
TEST_F(FragmentSampling, BlocksNeedNoCall) {
  if (hostVectorLanes() < 16) GTEST_SKIP() << "windows are permutes of AVX-512";
  compile(16, 16, Tier::kBetter);
  Bound image, shadow;
  image.shape.width = image.shape.height = shadow.shape.width = shadow.shape.height = 64;
  shadow.shape.format = VK_FORMAT_D32_SFLOAT;
  shadow.shape.quadMajor = true;
  image.sampler = shadow.sampler = samplerOf(1, 1, 0, 2, 2);
  shadow.sampler.compareOp = 1;
  compare(image, shadow, turned(0.7f, 0.5f, 0.1f));
  // The places of `anywhere`, of its comparison and of all mixes are far apart; seven samples are not.
  EXPECT_LE(calls, (Scene::kBlocks + Scene::kMixes) * 2 + Scene::kMixes * 7);
}

}  // namespace
}  // namespace pumice::shader::codegen
