// For tests of the output merger: a function around it that handles one block and one mix, as fragment code does, and
// draws with it that are compared with output_merger_reference.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "shaders/codegen/jit_test_util.h"
#include "shaders/codegen/lane_masks.h"
#include "shaders/codegen/output_merger.h"
#include "shaders/codegen/output_merger_reference.h"

namespace pumice::shader::codegen::test {

class MergerCode {
 public:
  MergerCode(const TargetFeatures& features, const FragmentKey& key, const ShaderShape& shape,
             Tier tier = Tier::kBetter)
      : features_(features),
        key_(key),
        shape_(shape),
        code_(
            features, 3, [this](auto& b, auto& f) { emit(b, f); }, tier) {}

  void operator()(abi::FragmentEnv* env, VectorInput* block, VectorInput* mix) const { code_(env, block, mix); }

 private:
  void emit(llvm::IRBuilder<>& b, llvm::Function& f) {
    OutputMerger merger(b, features_, key_, f.getArg(0));
    merger.begin();
    emitVector(b, merger, f.getArg(1), true);
    emitVector(b, merger, f.getArg(2), false);
  }

  void emitVector(llvm::IRBuilder<>& b, OutputMerger& merger, llvm::Value* input, bool isBlock) {
    const auto at = [&](size_t offset_B) { return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), input, offset_B); };
    const auto lanes = [&](llvm::Type* t) { return llvm::FixedVectorType::get(t, 16); };
    const auto vector = [&](llvm::Type* t, size_t offset_B) -> llvm::Value* {
      return b.CreateAlignedLoad(lanes(t), at(offset_B), llvm::Align(4));
    };
    const auto mask = [&](size_t offset_B) { return loadLaneMask(b, features_, at(offset_B)); };
    const auto quads = [&](size_t offset_B) -> llvm::Value* {
      llvm::Type* t = b.getInt32Ty();
      if (!isBlock) t = llvm::FixedVectorType::get(t, 4);
      return b.CreateAlignedLoad(t, at(offset_B), llvm::Align(4));
    };
    const uint32_t samples = 1u << key_.samples_log2;
    llvm::Type* real = b.getFloatTy();
    FragmentOutputs o;
    for (uint32_t i = 0; i < abi::kMaxColorAttachments; ++i) {
      if (key_.color[i].format == VK_FORMAT_UNDEFINED) continue;
      const auto& info = formats::formatInfo(key_.color[i].format);
      llvm::Type* t = formats::texelType(info) == formats::TexelType::kFloat ? real : b.getInt32Ty();
      for (uint32_t c = 0; c < 4; ++c)
        o.color[i][c] = vector(t, offsetof(VectorInput, color) + size_t{i} * 256 + size_t{c} * 64);
    }
    for (uint32_t c = 0; c < 4; ++c) o.secondColor[c] = vector(real, offsetof(VectorInput, second) + size_t{c} * 64);
    if (shape_.writesDepth) o.depth = vector(real, offsetof(VectorInput, shaderDepth));
    if (shape_.writesReference) o.stencilReference = vector(b.getInt32Ty(), offsetof(VectorInput, stencilReference));
    if (shape_.writesMask) o.sampleMask = vector(b.getInt32Ty(), offsetof(VectorInput, sampleMask));

    FragmentVector v;
    v.isBlock = isBlock;
    v.position = quads(offsetof(VectorInput, position));
    if (merger.needsViewport()) v.viewport = quads(offsetof(VectorInput, viewport));
    if (merger.needsFacing()) v.backFacing = mask(offsetof(VectorInput, backFacing));
    for (uint32_t s = 0; s < samples; ++s) {
      v.coverage.push_back(mask(offsetof(VectorInput, coverage) + 2 * s));
      if (merger.needsDepth()) v.depth.push_back(vector(real, offsetof(VectorInput, depth) + size_t{s} * 64));
    }
    merger.maskSamples(v);
    if (shape_.early) merger.earlyTests(v);
    const auto finish = [&](FragmentVector& left, uint32_t first) {
      merger.lateTests(left, o);
      merger.write(left, o);
      for (uint32_t s = 0; s < left.coverage.size(); ++s)
        b.CreateStore(b.CreateBitCast(left.coverage[s], b.getInt16Ty()),
                      at(offsetof(VectorInput, coverage) + 2 * (first + s)));
    };
    if (!shape_.perSample) return finish(v, 0);
    for (uint32_t s = 0; s < samples; ++s) {
      FragmentVector one = v;
      // Constant, or not, as in a loop.
      one.sample = s % 2 == 0 ? static_cast<llvm::Value*>(b.getInt32(s))
                              : b.CreateLoad(b.getInt32Ty(), at(offsetof(VectorInput, sampleNumber) + 4 * s));
      one.coverage = {v.coverage[s]};
      if (!v.depth.empty()) one.depth = {v.depth[s]};
      finish(one, s);
    }
  }

  const TargetFeatures& features_;
  const FragmentKey& key_;
  ShaderShape shape_;
  JitFunction code_;
};

// A draw of one block and one mix: fills everything with numbers, runs the machine code, and compares all memory.
class MergerTest : public testing::Test {
 protected:
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  float real(float from, float to) { return from + (to - from) * static_cast<float>(below(1 << 20)) / (1 << 20); }

  FragmentKey plainKey(uint8_t samples_log2 = 0) {
    FragmentKey key{};
    key.samples_log2 = samples_log2;
    key.depthCompareOp = VK_COMPARE_OP_LESS;
    return key;
  }
  static ColorTarget plainTarget(VkFormat format) { return {format, 0xF, 0, 0, 0, 0, 0, 0, 0}; }

  std::unique_ptr<TestImage> makeImage(VkFormat format, uint32_t samples) {
    formats::ImageShape shape;
    shape.width = shape.height = kEdge;
    shape.layerCount = 1;
    shape.elementBytes = formats::formatInfo(format).blockBytes;
    shape.sampleCount = samples;
    shape.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    return std::make_unique<TestImage>(shape, random_);
  }

  float depthValue() {
    static constexpr float kValues[] = {0.0f, 0.25f, 0.5f, 0.75f, 1.0f, -0.5f, 1.5f, 0.3f, 0.7f};
    return below(40) == 0 ? std::nanf("") : kValues[below(9)];
  }

  // Numbers of a shader: `moderate` leaves out what floats cannot be blended with exactly enough.
  float colorValue(bool moderate) {
    if (below(3) == 0) return static_cast<float>(below(256)) / 255;
    if (moderate) return real(-1.5f, 1.5f);
    static constexpr float kOdd[] = {0.0f,  -0.0f,      1.0f,     0.5f,     1e30f, -1e30f,
                                     3e-6f, 0.0031308f, 65504.0f, 65520.0f, 1e-40f};
    switch (below(12)) {
      case 0:
        return std::nanf("");
      case 1:
        return std::numeric_limits<float>::infinity();
      case 2:
        return -std::numeric_limits<float>::infinity();
      case 3:
      case 4:
      case 5:
        return kOdd[below(11)];
      default:
        return real(-0.2f, 1.2f);
    }
  }

  void fillImage(TestImage& image, VkFormat format) {
    const auto channels = formats::reference::channelsOf(formats::formatInfo(format).name);
    for (uint32_t s = 0; s < image.shape().sampleCount; ++s)
      for (uint32_t y = 0; y < kEdge; ++y)
        for (uint32_t x = 0; x < kEdge; ++x) {
          std::memset(image.at(0, 0, s, x, y), 0, image.shape().elementBytes);
          for (const Channel& c : channels) {
            if (c.letter == 'X') continue;
            uint64_t code = random_();
            if (c.letter == 'D') {
              const float number = std::min(std::max(0.0f, depthValue()), 1.0f);  // never NaN
              code = c.bits == 32 ? std::bit_cast<uint32_t>(number)
                                  : formats::reference::encodeChannel(c, static_cast<double>(number));
            } else if (c.letter == 'S') {
              code = below(3) == 0 ? below(2) * 255 : below(256);
            } else if (c.numeric == Numeric::kSfloat || c.numeric == Numeric::kUfloat) {
              const float number = real(-1, 1);
              code = c.bits == 32 ? std::bit_cast<uint32_t>(number)
                                  : formats::reference::encodeChannel(c, static_cast<double>(number));
            }
            formats::reference::setBits(image.at(0, 0, s, x, y), c.offset, c.bits, code);
          }
        }
  }

  static uint32_t at(uint32_t x, uint32_t y) { return x | y << 16; }

  void fillVector(VectorInput& in, const FragmentKey& key, bool moderate) {
    for (uint32_t s = 0; s < abi::kMaxSamples; ++s) in.sampleNumber[s] = s;
    for (uint32_t& v : in.viewport) v = below(abi::kMaxViewports);
    in.backFacing = static_cast<uint16_t>(random_());
    for (uint32_t s = 0; s < abi::kMaxSamples; ++s) {
      in.coverage[s] = static_cast<uint16_t>(below(4) == 0 ? 0xFFFF : random_());
      for (float& d : in.depth[s]) d = depthValue();
    }
    for (uint32_t i = 0; i < abi::kMaxColorAttachments; ++i) {
      const auto& info = formats::formatInfo(key.color[i].format);
      const bool isInteger = formats::isKnown(info) && formats::texelType(info) != formats::TexelType::kFloat;
      for (auto& component : in.color[i])
        for (uint32_t& v : component) {
          v = std::bit_cast<uint32_t>(colorValue(moderate));
          if (isInteger) v = static_cast<uint32_t>(static_cast<int32_t>(random_()) >> 8 * below(4));
        }
    }
    for (auto& component : in.second)
      for (uint32_t& v : component) v = std::bit_cast<uint32_t>(colorValue(moderate));
    for (uint32_t lane = 0; lane < 16; ++lane) {
      in.shaderDepth[lane] = depthValue();
      in.stencilReference[lane] = static_cast<uint32_t>(random_());
      in.sampleMask[lane] = static_cast<uint32_t>(random_());
    }
  }

  void fillState(bool moderate) {
    for (float& c : state_.blendConstant) c = moderate ? real(-0.5f, 1.5f) : colorValue(true);
    state_.depthBoundsMin = 0.25f;
    state_.depthBoundsMax = 0.7f;
    state_.sampleMask = below(3) == 0 ? static_cast<uint32_t>(random_()) : ~0u;
    state_.colorWriteEnable = static_cast<uint8_t>(random_());
    state_.logicOp = static_cast<uint8_t>(below(16));
    for (abi::StencilFace* f : {&state_.front, &state_.back}) {
      f->reference = static_cast<uint8_t>(below(3) == 0 ? 255 : below(256));
      f->compareMask = static_cast<uint8_t>(below(2) == 0 ? 255 : below(256));
      f->writeMask = static_cast<uint8_t>(below(2) == 0 ? 255 : below(256));
    }
    for (auto& range : state_.viewportDepth) {
      range[0] = static_cast<float>(below(5)) / 4;
      range[1] = static_cast<float>(below(5)) / 4;
    }
  }

  // `slack`: see isStored. prepare changes the state and both vectors before the run.
  template <typename Prepare>
  void draw(const FragmentKey& key, const ShaderShape& shape, double slack, bool moderate, const std::string& what,
            Prepare&& prepare) {
    const uint32_t samples = 1u << key.samples_log2;
    for (const uint32_t v : runnableWidths()) {
      const TargetFeatures features = targetFeatures(v);
      const MergerCode code(features, key, shape, below(4) == 0 ? Tier::kQuick : Tier::kBetter);
      Targets targets;
      abi::Surface color[abi::kMaxColorAttachments] = {}, depth{}, stencil{};
      for (uint32_t i = 0; i < abi::kMaxColorAttachments; ++i) {
        if (key.color[i].format == VK_FORMAT_UNDEFINED) continue;
        targets.color[i] = makeImage(key.color[i].format, samples);
        fillImage(*targets.color[i], key.color[i].format);
        color[i] = targets.color[i]->surface(0, 0);
      }
      if (key.depthFormat != VK_FORMAT_UNDEFINED) {
        targets.depth = makeImage(key.depthFormat, samples);
        fillImage(*targets.depth, key.depthFormat);
        depth = targets.depth->surface(0, 0);
      }
      if (key.stencilFormat != VK_FORMAT_UNDEFINED) {
        targets.stencil = makeImage(VK_FORMAT_S8_UINT, samples);
        fillImage(*targets.stencil, VK_FORMAT_S8_UINT);
        stencil = targets.stencil->surface(0, 0);
      }
      state_ = {};
      fillState(moderate);
      VectorInput block{}, mix{};
      fillVector(block, key, moderate);
      fillVector(mix, key, moderate);
      block.position[0] = at(8, 4);
      // A quad of the block that it does not cover, two others, and one that fills up: it covers nothing.
      mix.position[0] = mix.position[3] = at(10, 4);
      mix.position[1] = at(2, 14);
      mix.position[2] = at(4, 4);
      for (uint32_t s = 0; s < abi::kMaxSamples; ++s) {
        block.coverage[s] &= 0xFF0F;
        mix.coverage[s] &= 0x0FFF;
      }
      prepare(state_, block, mix);

      abi::FragmentCounters counters{100, 7};
      abi::FragmentEnv env{};
      env.common.sink = sink_;
      env.state = &state_;
      env.color = color;
      env.depth = &depth;
      env.stencil = &stencil;
      env.counters = &counters;

      // The reference works on copies of depth and stencil, and looks at colors before they change.
      Targets wanted;
      std::vector<std::vector<std::byte>> before(abi::kMaxColorAttachments);
      for (uint32_t i = 0; i < abi::kMaxColorAttachments; ++i)
        if (targets.color[i]) {
          wanted.color[i] = std::make_unique<TestImage>(*targets.color[i]);
          before[i] = targets.color[i]->content();
        }
      if (targets.depth) wanted.depth = std::make_unique<TestImage>(*targets.depth);
      if (targets.stencil) wanted.stencil = std::make_unique<TestImage>(*targets.stencil);
      MergerReference reference(key, shape, state_);
      const VectorInput inputs[2] = {block, mix};
      MergerReference::Expected expected[2][abi::kMaxSamples][16];
      for (int n = 0; n < 2; ++n)
        for (uint32_t s = 0; s < samples; ++s)
          for (uint32_t lane = 0; lane < 16; ++lane)
            expected[n][s][lane] = reference.run(inputs[n], n == 0, lane, s, wanted);

      code(&env, &block, &mix);

      const std::string where = what + ", V " + std::to_string(v);
      EXPECT_EQ(counters.samplesPassed, 100 + reference.passed) << where;
      EXPECT_EQ(counters.invocations, 7u) << where;
      if (targets.depth) {
        ASSERT_TRUE(targets.depth->content() == wanted.depth->content()) << where << ": depth";
      }
      if (targets.stencil) {
        ASSERT_TRUE(targets.stencil->content() == wanted.stencil->content()) << where << ": stencil";
      }
      for (int n = 0; n < 2; ++n)
        for (uint32_t s = 0; s < samples; ++s)
          for (uint32_t lane = 0; lane < 16; ++lane) {
            const auto left = (n == 0 ? block : mix).coverage[s];
            ASSERT_EQ((left >> lane & 1) != 0, expected[n][s][lane].covered)
                << where << (n == 0 ? ", block" : ", mix") << ", sample " << s << ", lane " << lane;
          }
      for (uint32_t i = 0; i < abi::kMaxColorAttachments; ++i) {
        if (!targets.color[i]) continue;
        checkColors(i, key, inputs, expected, *targets.color[i], before[i], slack, where);
        if (HasFatalFailure()) return;
      }
    }
  }
  void draw(const FragmentKey& key, const ShaderShape& shape, double slack, bool moderate, const std::string& what) {
    draw(key, shape, slack, moderate, what, [](abi::FragmentState&, VectorInput&, VectorInput&) {});
  }

  void checkColors(uint32_t i, const FragmentKey& key, const VectorInput (&inputs)[2],
                   const MergerReference::Expected (&expected)[2][abi::kMaxSamples][16], TestImage& image,
                   std::vector<std::byte>& before, double slack, const std::string& where) {
    const auto& info = formats::formatInfo(key.color[i].format);
    const auto channels = formats::reference::channelsOf(info.name);
    for (int n = 0; n < 2; ++n)
      for (uint32_t s = 0; s < image.shape().sampleCount; ++s)
        for (uint32_t lane = 0; lane < 16; ++lane) {
          const MergerReference::Texel& t = expected[n][s][lane].color[i];
          if (!expected[n][s][lane].covered || !t.written) continue;
          const Pixel p = pixelOf(inputs[n], n == 0, lane);
          const std::byte* actual = image.at(0, 0, s, p.x, p.y);
          std::byte* old = before.data() + image.offset(0, 0, s, p.x, p.y);
          for (size_t k = 0; k < channels.size(); ++k) {
            const Channel& c = channels[k];
            if (c.letter == 'X') continue;
            const auto component = std::string("RGBA").find(c.letter);
            const uint64_t code = formats::reference::bitsOf(actual, c.offset, c.bits);
            const uint64_t was = formats::reference::bitsOf(old, c.offset, c.bits);
            bool good = true;
            if ((key.color[i].writeMask >> component & 1) == 0)
              good = code == was;
            else if (t.isCode)
              good = code == t.code[k];
            else
              good = isStored(c, code, t.value[component], slack);
            ASSERT_TRUE(good) << where << ": " << info.name << ", attachment " << i << (n == 0 ? ", block" : ", mix")
                              << ", sample " << s << ", lane " << lane << ", " << c.letter << ": stored " << code
                              << " over " << was << ", wanted " << t.value[component] << " or code " << t.code[k];
          }
          std::memcpy(old, actual, info.blockBytes);
        }
    // Everything else is as it was.
    ASSERT_TRUE(image.content() == before) << where << ": " << info.name << ": texels that are not covered";
  }

  std::mt19937 random_{11};
  abi::FragmentState state_{};
  alignas(64) std::byte sink_[abi::kSinkBytes];
};

}  // namespace pumice::shader::codegen::test
