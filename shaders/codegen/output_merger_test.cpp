// Colors: formats, blending, logic operations, masks.
#include "shaders/codegen/output_merger.h"

#include <gtest/gtest.h>

#include "backend/formats/attachment_formats.h"
#include "shaders/codegen/output_merger_test_support.h"

namespace pumice::shader::codegen::test {
namespace {

constexpr double kExact = 0;
constexpr double kRounded = 2e-6;  // of blending in floats

class OutputMergerColor : public MergerTest {};

std::string nameOf(VkFormat format) {
  return formats::formatInfo(format).name;
}

TEST_F(OutputMergerColor, EveryFormatIsStored) {
  uint32_t count = 0;
  std::vector<VkFormat> all;
  for (const formats::FormatInfo& info : formats::allFormats())
    if (formats::isColorAttachmentFormat(info.format)) all.push_back(info.format);
  for (size_t first = 0; first < all.size(); first += 4) {
    FragmentKey key = plainKey(static_cast<uint8_t>(count++ % 4));
    std::string names;
    for (size_t i = 0; i < 4 && first + i < all.size(); ++i) {
      key.color[i] = plainTarget(all[first + i]);
      names += nameOf(all[first + i]) + " ";
    }
    draw(key, {}, kExact, false, names);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(all.size(), 70u);
}

// Eight attachments with eight formats and states at a time.
constexpr VkFormat kBlended[] = {VK_FORMAT_R8G8B8A8_UNORM,           VK_FORMAT_B8G8R8A8_SRGB,
                                 VK_FORMAT_R8G8B8A8_SNORM,           VK_FORMAT_R16G16B16A16_SFLOAT,
                                 VK_FORMAT_R32G32B32A32_SFLOAT,      VK_FORMAT_R5G6B5_UNORM_PACK16,
                                 VK_FORMAT_B10G11R11_UFLOAT_PACK32,  VK_FORMAT_R16G16_UNORM,
                                 VK_FORMAT_A2B10G10R10_UNORM_PACK32, VK_FORMAT_R8_UNORM,
                                 VK_FORMAT_A1R5G5B5_UNORM_PACK16,    VK_FORMAT_R32_SFLOAT};

TEST_F(OutputMergerColor, EveryFactorAndOperation) {
  constexpr uint32_t kFactors = VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA + 1;
  // Every factor at every place several times, a third of the pairs, with all operations and formats in turn.
  constexpr uint32_t kPairs = kFactors * kFactors, kDraws = 15;
  for (uint32_t at = 0; at < 8 * kDraws;) {
    FragmentKey key = plainKey();
    for (ColorTarget& t : key.color) {
      const uint32_t pair = at * 5 % kPairs, other = (at * 5 + 100) % kPairs;
      t = plainTarget(kBlended[at * 7 % std::size(kBlended)]);
      t.blendEnable = 1;
      t.srcColorFactor = static_cast<uint8_t>(pair % kFactors);
      t.dstColorFactor = static_cast<uint8_t>(pair / kFactors);
      t.srcAlphaFactor = static_cast<uint8_t>(other % kFactors);
      t.dstAlphaFactor = static_cast<uint8_t>(other / kFactors);
      t.colorOp = static_cast<uint8_t>(at / 3 % 5);
      t.alphaOp = static_cast<uint8_t>(at / 2 % 5);
      ++at;
    }
    draw(key, {}, kRounded, true, "factors up to " + std::to_string(at));
    if (HasFatalFailure()) return;
  }
}

ColorTarget overTarget(VkFormat format) {
  return {format,
          0xF,
          1,
          VK_BLEND_FACTOR_SRC_ALPHA,
          VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
          VK_BLEND_OP_ADD,
          VK_BLEND_FACTOR_ONE,
          VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
          VK_BLEND_OP_ADD};
}

TEST_F(OutputMergerColor, BlendsEveryFormatAndNumberOfSamples) {
  std::vector<VkFormat> all;
  for (const formats::FormatInfo& info : formats::allFormats())
    if (formats::isBlendableFormat(info.format)) all.push_back(info.format);
  for (size_t first = 0; first < all.size(); first += 6) {
    FragmentKey key = plainKey(first % 18 != 0 ? 0 : static_cast<uint8_t>(1 + first / 18 % 3));
    for (size_t i = 0; i < 6 && first + i < all.size(); ++i) key.color[i] = overTarget(all[first + i]);
    draw(key, {}, kRounded, true, "formats from " + nameOf(all[first]));
    if (HasFatalFailure()) return;
  }
}

// NaN, infinities and numbers out of range, where results do not depend on how floats round.
TEST_F(OutputMergerColor, OddNumbersAreClampedBeforeBlending) {
  FragmentKey key = plainKey();
  const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SNORM, VK_FORMAT_R8G8B8A8_SRGB,
                              VK_FORMAT_R16_SNORM, VK_FORMAT_B5G6R5_UNORM_PACK16};
  for (size_t i = 0; i < std::size(formats); ++i) key.color[i] = overTarget(formats[i]);
  key.color[5] = overTarget(VK_FORMAT_R8G8B8A8_UNORM);
  key.color[5].colorOp = key.color[5].alphaOp = VK_BLEND_OP_MAX;
  key.color[6] = overTarget(VK_FORMAT_R16G16B16A16_SFLOAT);
  key.color[6].colorOp = key.color[6].alphaOp = VK_BLEND_OP_MIN;
  key.color[7] = overTarget(VK_FORMAT_R32G32B32A32_SFLOAT);
  key.color[7].srcColorFactor = key.color[7].srcAlphaFactor = VK_BLEND_FACTOR_ZERO;
  key.color[7].dstColorFactor = key.color[7].dstAlphaFactor = VK_BLEND_FACTOR_CONSTANT_COLOR;
  for (int i = 0; i < 4; ++i) draw(key, {}, kRounded, false, "odd numbers");
}

TEST_F(OutputMergerColor, WriteMasks) {
  for (uint32_t first = 0; first < 16; first += 8) {
    FragmentKey key = plainKey(first == 0 ? 0 : 2);
    for (uint32_t i = 0; i < 8; ++i) {
      key.color[i] = i % 2 == 0 ? overTarget(kBlended[i]) : plainTarget(kBlended[i]);
      key.color[i].writeMask = static_cast<uint8_t>(first + i);
    }
    draw(key, {}, kRounded, true, "masks from " + std::to_string(first));
  }
}

TEST_F(OutputMergerColor, LogicOperations) {
  const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM,      VK_FORMAT_R32_UINT,
                              VK_FORMAT_R16G16B16A16_SINT,   VK_FORMAT_R8_SNORM,
                              VK_FORMAT_R5G6B5_UNORM_PACK16, VK_FORMAT_A2B10G10R10_UINT_PACK32,
                              VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R8G8B8A8_SRGB};
  for (uint8_t op = 0; op < 16; ++op) {
    FragmentKey key = plainKey(op % 4 == 3 ? 1 : 0);
    key.flags = kKeyLogicOp;
    key.logicOp = op;
    for (size_t i = 0; i < std::size(formats); ++i) key.color[i] = overTarget(formats[i]);
    key.color[1].writeMask = 0xF;
    key.color[4].writeMask = 0x5;
    draw(key, {}, kExact, false, "operation " + std::to_string(op));
    if (op % 5 == 1) {  // between them every bit, set and not
      key.dynamic = kDynamicLogicOp;
      key.logicOp = 0;
      draw(key, {}, kExact, false, "dynamic operation " + std::to_string(op),
           [op](abi::FragmentState& state, VectorInput&, VectorInput&) { state.logicOp = op; });
    }
    if (HasFatalFailure()) return;
  }
}

TEST_F(OutputMergerColor, ColorWriteEnableAndAlphaToOne) {
  FragmentKey key = plainKey(2);
  key.dynamic = kDynamicColorWrite;
  key.flags = kKeyAlphaToOne;
  for (uint32_t i = 0; i < 8; ++i) key.color[i] = overTarget(kBlended[i]);
  draw(key, {}, kRounded, true, "color write enable");
}

TEST_F(OutputMergerColor, AlphaToCoverageAndSampleMasks) {
  for (uint8_t samples_log2 = 0; samples_log2 < 4; ++samples_log2)
    for (int i = 0; i < 4; ++i) {
      FragmentKey key = plainKey(samples_log2);
      key.flags = i % 2 == 0 ? kKeyAlphaToCoverage : kKeyAlphaToCoverage | kKeyAlphaToOne;
      key.color[0] = plainTarget(VK_FORMAT_R8G8B8A8_UNORM);
      ShaderShape shape;
      shape.writesMask = i >= 2;
      shape.perSample = i == 3;
      shape.early = i == 1;
      draw(key, shape, kExact, false, "samples_log2 " + std::to_string(samples_log2));
      if (HasFatalFailure()) return;
    }
}

// Nothing is read or written, and no test fails.
TEST_F(OutputMergerColor, AttachmentsThatAreNotThereOrOfAnotherShape) {
  FragmentKey key = plainKey();
  key.color[0] = overTarget(VK_FORMAT_R32G32B32A32_SFLOAT);
  key.depthFormat = VK_FORMAT_D16_UNORM;
  key.stencilFormat = VK_FORMAT_S8_UINT;
  key.depthFlags = abi::kDepthTest | abi::kDepthWrite | abi::kStencilTest | abi::kDepthBounds;
  key.depthCompareOp = VK_COMPARE_OP_NEVER;
  for (const uint32_t v : runnableWidths()) {
    const TargetFeatures features = targetFeatures(v);
    const MergerCode code(features, key, {});
    abi::Surface none[abi::kMaxColorAttachments] = {};
    // Of two samples, and of small texels.
    const std::unique_ptr<TestImage> other = makeImage(VK_FORMAT_R8_UNORM, 2);
    none[0] = other->surface(0, 0);
    const std::vector<std::byte> before = other->content();
    abi::FragmentCounters counters{};
    abi::FragmentEnv env{};
    env.common.sink = sink_;
    env.state = &state_;
    state_.sampleMask = ~0u;
    env.color = none;
    env.depth = env.stencil = none;
    env.counters = &counters;
    VectorInput block{}, mix{};
    block.coverage[0] = 0xFFF1;
    mix.coverage[0] = 0x1234;
    block.position[0] = at(16000, 12000);
    for (uint32_t& p : mix.position) p = at(8000, 16002);
    code(&env, &block, &mix);
    EXPECT_EQ(block.coverage[0], 0xFFF1);
    EXPECT_EQ(mix.coverage[0], 0x1234);
    EXPECT_EQ(counters.samplesPassed, 13u + 5u);
    EXPECT_TRUE(other->content() == before);
  }
}

}  // namespace
}  // namespace pumice::shader::codegen::test
