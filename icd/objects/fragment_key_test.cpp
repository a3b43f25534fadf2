// What fragment code is compiled for, and what it must not be.
#include "icd/objects/fragment_key.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

namespace pumice::icd {
namespace {

// A create info with all that a key is made of, to be changed by a test.
struct Wish {
  VkPipelineColorBlendAttachmentState blend[2]{};
  VkPipelineColorBlendStateCreateInfo colors{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  VkPipelineDepthStencilStateCreateInfo depth{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  std::vector<VkDynamicState> dynamic;
  AttachmentFormats formats;

  Wish() {
    for (auto& b : blend) {
      b = {VK_FALSE,
           VK_BLEND_FACTOR_SRC_ALPHA,
           VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
           VK_BLEND_OP_ADD,
           VK_BLEND_FACTOR_ONE,
           VK_BLEND_FACTOR_ZERO,
           VK_BLEND_OP_SUBTRACT,
           0xf};
    }
    colors.attachmentCount = 2;
    colors.pAttachments = blend;
    samples.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
    depth.depthTestEnable = depth.depthWriteEnable = VK_TRUE;
    depth.depthCompareOp = VK_COMPARE_OP_GREATER;
    depth.front = {VK_STENCIL_OP_ZERO, VK_STENCIL_OP_INVERT, VK_STENCIL_OP_REPLACE, VK_COMPARE_OP_LESS, 1, 2, 3};
    depth.back = depth.front;
    formats.color[0] = VK_FORMAT_B8G8R8A8_UNORM;
    formats.color[1] = VK_FORMAT_R16_SFLOAT;
    formats.colorCount = 2;
    formats.depth = VK_FORMAT_D32_SFLOAT;
    formats.stencil = VK_FORMAT_S8_UINT;
  }

  shader::FragmentKey key() const {
    VkPipelineDynamicStateCreateInfo states{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
    states.dynamicStateCount = static_cast<uint32_t>(dynamic.size());
    states.pDynamicStates = dynamic.data();
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
    info.pColorBlendState = &colors;
    info.pMultisampleState = &samples;
    info.pDepthStencilState = &depth;
    info.pRasterizationState = &raster;
    const DynamicSet set = dynamicSetOf(&states);
    DrawValues values;
    readDrawValues(info, set, {true, true}, &values);
    shader::FragmentKey key{};
    addOutputs(info, set, values, formats, &key);
    addTests(set, values, formats, &key);
    return key;
  }
};

bool same(const shader::FragmentKey& a, const shader::FragmentKey& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

TEST(FragmentKeyTest, HasTheState) {
  Wish wish;
  wish.blend[0].blendEnable = VK_TRUE;
  wish.blend[1].colorWriteMask = 5;
  wish.depth.stencilTestEnable = VK_TRUE;
  wish.samples.alphaToCoverageEnable = VK_TRUE;
  const shader::FragmentKey key = wish.key();
  EXPECT_EQ(key.color[0].format, VK_FORMAT_B8G8R8A8_UNORM);
  EXPECT_EQ(key.color[0].blendEnable, 1);
  EXPECT_EQ(key.color[0].srcColorFactor, VK_BLEND_FACTOR_SRC_ALPHA);
  EXPECT_EQ(key.color[0].dstColorFactor, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA);
  EXPECT_EQ(key.color[0].alphaOp, VK_BLEND_OP_SUBTRACT);
  EXPECT_EQ(key.color[1].format, VK_FORMAT_R16_SFLOAT);
  EXPECT_EQ(key.color[1].writeMask, 5);
  EXPECT_EQ(key.color[1].blendEnable, 0);
  EXPECT_EQ(key.color[2].format, VK_FORMAT_UNDEFINED);
  EXPECT_EQ(key.depthFormat, VK_FORMAT_D32_SFLOAT);
  EXPECT_EQ(key.stencilFormat, VK_FORMAT_S8_UINT);
  EXPECT_EQ(key.samples_log2, 2);
  EXPECT_EQ(key.flags, shader::kKeyAlphaToCoverage);
  // Without the clip structure, depth is clipped, not clamped.
  EXPECT_EQ(key.depthFlags, abi::kDepthTest | abi::kDepthWrite | abi::kStencilTest);
  EXPECT_EQ(key.depthCompareOp, VK_COMPARE_OP_GREATER);
  EXPECT_EQ(key.front.compareOp, VK_COMPARE_OP_LESS);
  EXPECT_EQ(key.front.failOp, VK_STENCIL_OP_ZERO);
  EXPECT_EQ(key.front.passOp, VK_STENCIL_OP_INVERT);
  EXPECT_EQ(key.front.depthFailOp, VK_STENCIL_OP_REPLACE);
  EXPECT_EQ(key.dynamic, 0);
  for (uint8_t slot : key.varyingSlot) EXPECT_EQ(slot, shader::kNotLinked);
}

TEST(FragmentKeyTest, WhatHasNoEffectMakesNoOtherKey) {
  const shader::FragmentKey plain = Wish().key();
  const auto expectSame = [&](const char* what, const std::function<void(Wish&)>& change) {
    Wish wish;
    change(wish);
    EXPECT_TRUE(same(wish.key(), plain)) << what;
  };
  expectSame("factors without blending", [](Wish& w) { w.blend[0].srcColorBlendFactor = VK_BLEND_FACTOR_ZERO; });
  expectSame("stencil operations without the test", [](Wish& w) { w.depth.front.passOp = VK_STENCIL_OP_ZERO; });
  expectSame("constants", [](Wish& w) { w.colors.blendConstants[0] = 0.5f; });
  expectSame("stencil reference", [](Wish& w) { w.depth.back.reference = 77; });
  expectSame("one sample's worth of sample shading", [](Wish& w) {
    w.samples.sampleShadingEnable = VK_TRUE;
    w.samples.minSampleShading = 0.25f;
  });
  expectSame("dynamic state that is always read", [](Wish& w) {
    w.dynamic = {VK_DYNAMIC_STATE_BLEND_CONSTANTS, VK_DYNAMIC_STATE_STENCIL_REFERENCE, VK_DYNAMIC_STATE_VIEWPORT};
  });
  expectSame("dynamic stencil operations without the test", [](Wish& w) { w.dynamic = {VK_DYNAMIC_STATE_STENCIL_OP}; });

  Wish minimum;
  minimum.blend[0].blendEnable = VK_TRUE;
  minimum.blend[0].colorBlendOp = minimum.blend[0].alphaBlendOp = VK_BLEND_OP_MIN;
  const shader::FragmentKey ofMinimum = minimum.key();
  minimum.blend[0].dstColorBlendFactor = VK_BLEND_FACTOR_DST_COLOR;
  minimum.blend[0].srcAlphaBlendFactor = VK_BLEND_FACTOR_ZERO;
  EXPECT_TRUE(same(minimum.key(), ofMinimum));

  Wish none;
  none.formats.depth = none.formats.stencil = VK_FORMAT_UNDEFINED;
  EXPECT_EQ(none.key().depthFlags, 0);
  EXPECT_EQ(none.key().depthCompareOp, 0);
}

TEST(FragmentKeyTest, SampleShadingOfMoreThanOneSample) {
  Wish wish;
  wish.samples.sampleShadingEnable = VK_TRUE;
  wish.samples.minSampleShading = 0.3f;  // of four: two
  EXPECT_EQ(wish.key().flags, shader::kKeySampleShading);
}

TEST(FragmentKeyTest, LogicOperationsTakeThePlaceOfBlending) {
  Wish wish;
  wish.blend[0].blendEnable = VK_TRUE;
  wish.colors.logicOpEnable = VK_TRUE;
  wish.colors.logicOp = VK_LOGIC_OP_XOR;
  const shader::FragmentKey key = wish.key();
  EXPECT_EQ(key.flags, shader::kKeyLogicOp);
  EXPECT_EQ(key.logicOp, VK_LOGIC_OP_XOR);
  EXPECT_EQ(key.color[0].blendEnable, 0);
  EXPECT_EQ(key.color[0].writeMask, 0xf);
}

TEST(FragmentKeyTest, DynamicLogicOperations) {
  Wish wish;
  wish.colors.logicOp = VK_LOGIC_OP_XOR;
  wish.dynamic = {VK_DYNAMIC_STATE_LOGIC_OP_EXT};
  EXPECT_EQ(wish.key().dynamic, 0);  // there is none
  wish.colors.logicOpEnable = VK_TRUE;
  EXPECT_EQ(wish.key().flags, shader::kKeyLogicOp);
  EXPECT_EQ(wish.key().dynamic, shader::kDynamicLogicOp);
  EXPECT_EQ(wish.key().logicOp, 0);
}

TEST(FragmentKeyTest, DynamicTests) {
  Wish wish;
  wish.depth.depthTestEnable = wish.depth.depthWriteEnable = VK_FALSE;
  wish.dynamic = {VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE, VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE,
                  VK_DYNAMIC_STATE_DEPTH_COMPARE_OP};
  shader::FragmentKey key = wish.key();
  EXPECT_EQ(key.depthFlags, abi::kDepthTest | abi::kDepthWrite);
  EXPECT_EQ(key.dynamic, shader::kDynamicDepthFlags | shader::kDynamicDepthCompare);
  EXPECT_EQ(key.depthCompareOp, 0);

  wish.dynamic = {VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE, VK_DYNAMIC_STATE_STENCIL_OP};
  key = wish.key();
  EXPECT_EQ(key.depthFlags, abi::kStencilTest);
  EXPECT_EQ(key.dynamic, shader::kDynamicDepthFlags | shader::kDynamicStencilOps);
  EXPECT_EQ(key.front.passOp, 0);

  wish.formats.stencil = VK_FORMAT_UNDEFINED;  // nothing to test
  key = wish.key();
  EXPECT_EQ(key.depthFlags, 0);
  EXPECT_EQ(key.dynamic, 0);
}

TEST(FragmentKeyTest, ColorWriteEnables) {
  Wish wish;
  const VkBool32 enables[] = {VK_FALSE, VK_TRUE};
  VkPipelineColorWriteCreateInfoEXT writes{VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT};
  writes.attachmentCount = 2;
  writes.pColorWriteEnables = enables;
  wish.colors.pNext = &writes;
  shader::FragmentKey key = wish.key();
  EXPECT_EQ(key.color[0].writeMask, 0);
  EXPECT_EQ(key.color[0].format, VK_FORMAT_B8G8R8A8_UNORM);  // it is there, and what lies in it stays
  EXPECT_EQ(key.color[1].writeMask, 0xf);
  wish.dynamic = {VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT};
  key = wish.key();
  EXPECT_EQ(key.color[0].writeMask, 0xf);
  EXPECT_EQ(key.dynamic, shader::kDynamicColorWrite);
}

TEST(FragmentKeyTest, LinksLocationsToSlots) {
  shader::VertexInterface vertex{};
  vertex.varyingSlotCount = 3;
  vertex.varyingLocation[0] = 7;
  vertex.varyingLocation[1] = 0;
  vertex.varyingLocation[2] = 63;
  shader::FragmentKey key = Wish().key();
  linkVaryings(vertex, &key);
  EXPECT_EQ(key.varyingSlot[7], 0);
  EXPECT_EQ(key.varyingSlot[0], 1);
  EXPECT_EQ(key.varyingSlot[63], 2);
  EXPECT_EQ(key.varyingSlot[1], shader::kNotLinked);
}

}  // namespace
}  // namespace pumice::icd
