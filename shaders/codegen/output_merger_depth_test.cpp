// Depth and stencil tests.
#include <gtest/gtest.h>

#include "shaders/codegen/output_merger.h"
#include "shaders/codegen/output_merger_test_support.h"

namespace pumice::shader::codegen::test {
namespace {

constexpr VkFormat kDepthFormats[] = {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D16_UNORM, VK_FORMAT_X8_D24_UNORM_PACK32};

class OutputMergerDepth : public MergerTest {
 protected:
  FragmentKey depthKey(VkFormat depth, uint8_t flags, uint8_t samples_log2 = 0) {
    FragmentKey key = plainKey(samples_log2);
    key.depthFormat = depth;
    key.depthFlags = flags;
    key.color[0] = plainTarget(VK_FORMAT_R8G8B8A8_UNORM);
    return key;
  }
  StencilOps randomOps() {
    return {static_cast<uint8_t>(below(8)), static_cast<uint8_t>(below(8)), static_cast<uint8_t>(below(8)),
            static_cast<uint8_t>(below(8))};
  }
  static void set(abi::StencilFace& face, const StencilOps& ops) {
    face.compareOp = ops.compareOp;
    face.failOp = ops.failOp;
    face.passOp = ops.passOp;
    face.depthFailOp = ops.depthFailOp;
  }
};

TEST_F(OutputMergerDepth, EveryComparison) {
  for (const VkFormat format : kDepthFormats)
    for (uint8_t op = 0; op < 8; ++op) {
      FragmentKey key = depthKey(format, abi::kDepthTest | (op % 3 != 0 ? abi::kDepthWrite : 0), op % 2 == 0 ? 0 : 2);
      key.depthCompareOp = op;
      ShaderShape shape;
      shape.early = op % 4 < 2;
      shape.perSample = op == 7;
      draw(key, shape, 0, false, "operation " + std::to_string(op));
      if (HasFatalFailure()) return;
    }
}

TEST_F(OutputMergerDepth, DynamicComparisonsAndFlags) {
  for (const VkFormat format : kDepthFormats)
    for (uint8_t op = 0; op < 8; ++op) {
      FragmentKey key =
          depthKey(format, abi::kDepthTest | abi::kDepthWrite | abi::kDepthBounds | abi::kDepthClamp, op % 4);
      key.dynamic = op < 4 ? kDynamicDepthCompare : kDynamicDepthCompare | kDynamicDepthFlags;
      draw(key, {}, 0, false, "dynamic operation " + std::to_string(op),
           [&](abi::FragmentState& state, VectorInput&, VectorInput&) {
             state.depthCompareOp = op;
             state.depthFlags = static_cast<uint8_t>(below(32));
           });
      if (HasFatalFailure()) return;
    }
}

TEST_F(OutputMergerDepth, ClampsAndBounds) {
  for (const VkFormat format : kDepthFormats)
    for (int i = 0; i < 3; ++i) {
      FragmentKey key = depthKey(format, abi::kDepthTest | abi::kDepthWrite | (i == 1 ? 0 : abi::kDepthClamp) |
                                             (i == 0 ? 0 : abi::kDepthBounds));
      key.depthCompareOp = VK_COMPARE_OP_LESS_OR_EQUAL;
      draw(key, {}, 0, false, "clamps");
      if (HasFatalFailure()) return;
    }
  FragmentKey key = depthKey(VK_FORMAT_D32_SFLOAT, abi::kDepthBounds, 1);
  draw(key, {}, 0, false, "bounds alone");
}

TEST_F(OutputMergerDepth, DepthOfTheShader) {
  for (const VkFormat format : kDepthFormats) {
    FragmentKey key = depthKey(format, abi::kDepthTest | abi::kDepthWrite | abi::kDepthClamp, 2);
    key.depthCompareOp = VK_COMPARE_OP_GREATER;
    ShaderShape shape;
    shape.writesDepth = true;
    draw(key, shape, 0, false, "FragDepth");
    if (HasFatalFailure()) return;
  }
}

TEST_F(OutputMergerDepth, EveryStencilOperation) {
  for (uint8_t i = 0; i < 32; ++i) {
    const bool hasDepth = i % 4 != 0, dynamic = i >= 16;
    FragmentKey key =
        depthKey(hasDepth ? VK_FORMAT_D32_SFLOAT : VK_FORMAT_UNDEFINED,
                 abi::kStencilTest | (hasDepth ? abi::kDepthTest | abi::kDepthWrite : 0), i % 8 < 6 ? 0 : 2);
    key.stencilFormat = VK_FORMAT_S8_UINT;
    key.front = randomOps();
    key.back = i % 5 == 0 ? key.front : randomOps();
    // Every operation at every place, whatever else is random.
    key.front.compareOp = key.back.failOp = key.front.passOp = i % 8;
    key.back.compareOp = key.front.failOp = key.back.passOp = (i + 3) % 8;
    key.front.depthFailOp = (i + 5) % 8;
    key.dynamic = dynamic ? kDynamicStencilOps | (i % 3 == 0 ? kDynamicDepthFlags : 0) : 0;
    const StencilOps front = key.front, back = key.back;
    if (dynamic) key.front = key.back = {};
    ShaderShape shape;
    shape.early = i % 3 == 1;
    shape.writesReference = i % 4 == 2;
    draw(key, shape, 0, false, "stencil " + std::to_string(i),
         [&](abi::FragmentState& state, VectorInput&, VectorInput&) {
           set(state.front, front);
           set(state.back, back);
           state.depthFlags = static_cast<uint8_t>(below(32));
         });
    if (HasFatalFailure()) return;
  }
}

TEST_F(OutputMergerDepth, WhatAPipelineNeeds) {
  llvm::LLVMContext context;
  llvm::IRBuilder<> b(context);
  const TargetFeatures features = targetFeatures(4);
  FragmentKey key = depthKey(VK_FORMAT_D32_SFLOAT, abi::kDepthTest | abi::kDepthClamp);
  key.depthCompareOp = VK_COMPARE_OP_ALWAYS;
  const OutputMerger merger(b, features, key, nullptr);
  EXPECT_FALSE(merger.needsDepth());
  EXPECT_FALSE(merger.needsViewport());
  EXPECT_FALSE(merger.needsFacing());
  key.depthFlags |= abi::kDepthWrite | abi::kStencilTest;
  EXPECT_TRUE(merger.needsDepth());
  EXPECT_TRUE(merger.needsViewport());
  EXPECT_FALSE(merger.needsFacing());
  key.stencilFormat = VK_FORMAT_S8_UINT;
  EXPECT_TRUE(merger.needsFacing());
}

}  // namespace
}  // namespace pumice::shader::codegen::test
