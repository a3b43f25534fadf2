#include "icd/objects/draw_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace pumice::icd {
namespace {

// A create info whose every value says which of two pipelines it belongs to.
struct Pipeline {
  explicit Pipeline(bool second) {
    const auto pick = [second](auto a, auto b) { return second ? b : a; };
    const VkBool32 on = pick(VK_FALSE, VK_TRUE);
    bindings[0] = {0, pick(12u, 16u), pick(VK_VERTEX_INPUT_RATE_VERTEX, VK_VERTEX_INPUT_RATE_INSTANCE)};
    attributes[0] = {0, 0, pick(VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_SFLOAT), 4};
    vertexInput.vertexBindingDescriptionCount = 1;
    vertexInput.pVertexBindingDescriptions = bindings;
    vertexInput.vertexAttributeDescriptionCount = 1;
    vertexInput.pVertexAttributeDescriptions = attributes;
    assembly.topology = pick(VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP);
    assembly.primitiveRestartEnable = on;
    viewports[0] = viewports[1] = {1, 2, pick(30.f, 31.f), -4, 0.25f, 0.75f};
    scissors[0] = scissors[1] = {{-3, 5}, {pick(7u, 8u), 9}};
    viewport.viewportCount = viewport.scissorCount = pick(1u, 2u);
    viewport.pViewports = viewports;
    viewport.pScissors = scissors;
    raster.rasterizerDiscardEnable = VK_FALSE;
    raster.polygonMode = VK_POLYGON_MODE_LINE;
    raster.cullMode = pick(VK_CULL_MODE_FRONT_BIT, VK_CULL_MODE_BACK_BIT);
    raster.frontFace = pick(VK_FRONT_FACE_COUNTER_CLOCKWISE, VK_FRONT_FACE_CLOCKWISE);
    raster.depthBiasEnable = on;
    raster.depthBiasConstantFactor = pick(1.f, 2.f);
    raster.depthBiasClamp = pick(3.f, 4.f);
    raster.depthBiasSlopeFactor = pick(5.f, 6.f);
    raster.lineWidth = pick(1.f, 7.f);
    raster.pNext = &line;
    line.lineRasterizationMode = VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT;
    line.stippledLineEnable = VK_TRUE;
    line.lineStippleFactor = pick(1u, 3u);
    line.lineStipplePattern = pick(uint16_t{0xF0F0}, uint16_t{0x0F0F});
    multisample.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
    multisample.pSampleMask = &sampleMask;
    depth.depthTestEnable = depth.depthWriteEnable = depth.depthBoundsTestEnable = depth.stencilTestEnable = on;
    depth.depthCompareOp = pick(VK_COMPARE_OP_LESS, VK_COMPARE_OP_GREATER_OR_EQUAL);
    depth.minDepthBounds = pick(0.1f, 0.2f);
    depth.maxDepthBounds = pick(0.8f, 0.9f);
    depth.front = {pick(VK_STENCIL_OP_KEEP, VK_STENCIL_OP_INVERT),
                   VK_STENCIL_OP_ZERO,
                   VK_STENCIL_OP_REPLACE,
                   VK_COMPARE_OP_EQUAL,
                   pick(0x1ABu, 0x1CDu),
                   pick(0x12u, 0x13u),
                   pick(0x21u, 0x22u)};
    depth.back = depth.front;
    blend.pNext = &writes;
    std::fill_n(blend.blendConstants, 4, pick(0.5f, 0.625f));
    writes.attachmentCount = 2;
    writes.pColorWriteEnables = colorWrites;
    colorWrites[0] = VK_TRUE;
    colorWrites[1] = on;
    info.pVertexInputState = &vertexInput;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &multisample;
    info.pDepthStencilState = &depth;
    info.pColorBlendState = &blend;
  }
  Pipeline(const Pipeline&) = delete;

  DrawValues values(DynamicSet dynamic = {}) const {
    DrawValues v;
    readDrawValues(info, dynamic, {true, true}, &v);
    return v;
  }

  VkVertexInputBindingDescription bindings[1];
  VkVertexInputAttributeDescription attributes[1];
  VkPipelineVertexInputStateCreateInfo vertexInput{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  VkViewport viewports[2];
  VkRect2D scissors[2];
  VkPipelineViewportStateCreateInfo viewport{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  VkPipelineRasterizationLineStateCreateInfoEXT line{
      VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT};
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  VkSampleMask sampleMask = 0xA;
  VkPipelineMultisampleStateCreateInfo multisample{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  VkPipelineDepthStencilStateCreateInfo depth{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
  VkBool32 colorWrites[2];
  VkPipelineColorWriteCreateInfoEXT writes{VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT};
  VkPipelineColorBlendStateCreateInfo blend{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
};

TEST(DrawValues, EveryValueIsRead) {
  const Pipeline pipeline(true);
  const DrawValues v = pipeline.values();
  EXPECT_EQ(v.vertexInput.attributeCount, 1u);
  EXPECT_EQ(v.vertexInput.attributes[0].offset_B, 4u);
  EXPECT_EQ(v.vertexInput.bindings[0].rate, abi::AttributeRate::kInstance);
  EXPECT_EQ(v.vertexInput.bindings[0].divisor, 1u);
  EXPECT_EQ(v.vertexStride_B[0], 16u);
  EXPECT_EQ(v.viewports.count, 2u);
  EXPECT_EQ(v.viewports.depthNegativeOneToOne, 0u);
  EXPECT_EQ(v.viewports.viewports[1].width, 31.f);
  EXPECT_EQ(v.viewports.viewports[1].height, -4.f);
  EXPECT_EQ(v.viewports.viewports[1].maxDepth, 0.75f);
  EXPECT_EQ(v.viewports.scissors[1].x, -3);
  EXPECT_EQ(v.viewports.scissors[1].width, 8u);
  EXPECT_EQ(v.scissorCount, 2u);
  EXPECT_EQ(v.raster.topology, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP);
  EXPECT_EQ(v.raster.polygonMode, VK_POLYGON_MODE_LINE);
  EXPECT_EQ(v.raster.lineMode, abi::LineMode::kBresenham);
  EXPECT_EQ(v.raster.samples_log2, 2);
  EXPECT_EQ(v.raster.flags, abi::kRasterPrimitiveRestart | abi::kRasterDepthClip | abi::kRasterDepthBias |
                                abi::kRasterFrontClockwise | abi::kRasterCullBack | abi::kRasterStipple);
  EXPECT_EQ(v.raster.stipplePattern, 0x0F0F);
  EXPECT_EQ(v.raster.stippleFactor, 3u);
  EXPECT_EQ(v.raster.lineWidth, 7.f);
  EXPECT_EQ(v.raster.depthBiasConstant, 2.f);
  EXPECT_EQ(v.raster.depthBiasClamp, 4.f);
  EXPECT_EQ(v.raster.depthBiasSlope, 6.f);
  EXPECT_EQ(v.fragment.depthFlags, abi::kDepthTest | abi::kDepthWrite | abi::kDepthBounds | abi::kStencilTest);
  EXPECT_EQ(v.fragment.depthCompareOp, VK_COMPARE_OP_GREATER_OR_EQUAL);
  EXPECT_EQ(v.fragment.depthBoundsMin, 0.2f);
  EXPECT_EQ(v.fragment.depthBoundsMax, 0.9f);
  EXPECT_EQ(v.fragment.sampleMask, 0xAu);
  EXPECT_EQ(v.fragment.colorWriteEnable, 0xFF);
  EXPECT_EQ(v.fragment.blendConstant[3], 0.625f);
  EXPECT_EQ(v.fragment.back.compareMask, 0xCD);  // of eight bits
  EXPECT_EQ(v.fragment.back.writeMask, 0x13);
  EXPECT_EQ(v.fragment.back.reference, 0x22);
  EXPECT_EQ(v.fragment.back.failOp, VK_STENCIL_OP_INVERT);
  EXPECT_EQ(v.fragment.back.passOp, VK_STENCIL_OP_ZERO);
  EXPECT_EQ(v.fragment.back.depthFailOp, VK_STENCIL_OP_REPLACE);
  EXPECT_EQ(v.fragment.back.compareOp, VK_COMPARE_OP_EQUAL);
}

TEST(DrawValues, DepthClampAndClip) {
  Pipeline pipeline(false);
  pipeline.raster.depthClampEnable = VK_TRUE;
  EXPECT_EQ(pipeline.values().raster.flags & abi::kRasterDepthClip, 0);
  EXPECT_NE(pipeline.values().fragment.depthFlags & abi::kDepthClamp, 0);
  VkPipelineRasterizationDepthClipStateCreateInfoEXT clip{
      VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT};
  clip.depthClipEnable = VK_TRUE;
  pipeline.raster.pNext = &clip;
  EXPECT_NE(pipeline.values().raster.flags & abi::kRasterDepthClip, 0);
  pipeline.raster.depthClampEnable = clip.depthClipEnable = VK_FALSE;
  EXPECT_EQ(pipeline.values().raster.flags & abi::kRasterDepthClip, 0);
}

// Structures that the specification says are ignored may be dangling pointers.
TEST(DrawValues, WhatIsIgnoredIsNotRead) {
  Pipeline pipeline(true);
  const auto dangling = [](auto*& pointer) {
    pointer = reinterpret_cast<std::decay_t<decltype(pointer)>>(uintptr_t{8});
  };
  dangling(pipeline.info.pDepthStencilState);
  dangling(pipeline.info.pColorBlendState);
  DrawValues v;
  readDrawValues(pipeline.info, {}, {false, false}, &v);
  EXPECT_EQ(v.viewports.count, 2u);
  pipeline.raster.rasterizerDiscardEnable = VK_TRUE;
  dangling(pipeline.info.pViewportState);
  dangling(pipeline.info.pMultisampleState);
  DrawValues discarded;
  readDrawValues(pipeline.info, {}, {true, true}, &discarded);
  EXPECT_NE(discarded.raster.flags & abi::kRasterDiscard, 0);
  // Dynamic arrays too.
  Pipeline dynamic(true);
  dangling(dynamic.viewport.pViewports);
  dangling(dynamic.viewport.pScissors);
  dangling(dynamic.info.pVertexInputState);
  const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR,
                                   VK_DYNAMIC_STATE_VERTEX_INPUT_EXT};
  const VkPipelineDynamicStateCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0, 3,
                                              states};
  EXPECT_EQ(dynamic.values(dynamicSetOf(&info)).viewports.count, 2u);
}

// What of the values belongs to a dynamic state, as bytes.
using Part = std::function<std::vector<std::byte>(const DrawValues&)>;

template <typename... Fields>
std::vector<std::byte> bytesOf(const Fields&... fields) {
  std::vector<std::byte> all;
  const auto add = [&all](const auto& field) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&field);
    all.insert(all.end(), bytes, bytes + sizeof field);
  };
  (add(fields), ...);
  return all;
}

struct DynamicCase {
  VkDynamicState state;
  uint32_t group;
  Part part;
};

std::vector<DynamicCase> dynamicCases() {
  using V = const DrawValues&;
  const auto rasterFlag = [](uint16_t flag) {
    return [flag](V v) { return bytesOf(uint16_t(v.raster.flags & flag)); };
  };
  const auto depthFlag = [](uint8_t flag) {
    return [flag](V v) { return bytesOf(uint8_t(v.fragment.depthFlags & flag)); };
  };
  return {
      {VK_DYNAMIC_STATE_VIEWPORT, kGroupViewports, [](V v) { return bytesOf(v.viewports.viewports); }},
      {VK_DYNAMIC_STATE_SCISSOR, kGroupViewports, [](V v) { return bytesOf(v.viewports.scissors); }},
      {VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT, kGroupViewports,
       [](V v) { return bytesOf(v.viewports.viewports, v.viewports.count); }},
      {VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT, kGroupViewports,
       [](V v) { return bytesOf(v.viewports.scissors, v.scissorCount); }},
      {VK_DYNAMIC_STATE_LINE_WIDTH, kGroupRaster, [](V v) { return bytesOf(v.raster.lineWidth); }},
      {VK_DYNAMIC_STATE_LINE_STIPPLE_EXT, kGroupRaster,
       [](V v) { return bytesOf(v.raster.stippleFactor, v.raster.stipplePattern); }},
      {VK_DYNAMIC_STATE_DEPTH_BIAS, kGroupRaster,
       [](V v) { return bytesOf(v.raster.depthBiasConstant, v.raster.depthBiasClamp, v.raster.depthBiasSlope); }},
      {VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE, kGroupRaster, rasterFlag(abi::kRasterDepthBias)},
      {VK_DYNAMIC_STATE_CULL_MODE, kGroupRaster, rasterFlag(abi::kRasterCullFront | abi::kRasterCullBack)},
      {VK_DYNAMIC_STATE_FRONT_FACE, kGroupRaster, rasterFlag(abi::kRasterFrontClockwise)},
      {VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY, kGroupRaster, [](V v) { return bytesOf(v.raster.topology); }},
      {VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE, kGroupRaster, rasterFlag(abi::kRasterPrimitiveRestart)},
      {VK_DYNAMIC_STATE_BLEND_CONSTANTS, kGroupFragment, [](V v) { return bytesOf(v.fragment.blendConstant); }},
      {VK_DYNAMIC_STATE_DEPTH_BOUNDS, kGroupFragment,
       [](V v) { return bytesOf(v.fragment.depthBoundsMin, v.fragment.depthBoundsMax); }},
      {VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE, kGroupFragment, depthFlag(abi::kDepthBounds)},
      {VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE, kGroupFragment, depthFlag(abi::kDepthTest)},
      {VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE, kGroupFragment, depthFlag(abi::kDepthWrite)},
      {VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE, kGroupFragment, depthFlag(abi::kStencilTest)},
      {VK_DYNAMIC_STATE_DEPTH_COMPARE_OP, kGroupFragment, [](V v) { return bytesOf(v.fragment.depthCompareOp); }},
      {VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK, kGroupFragment,
       [](V v) { return bytesOf(v.fragment.front.compareMask, v.fragment.back.compareMask); }},
      {VK_DYNAMIC_STATE_STENCIL_WRITE_MASK, kGroupFragment,
       [](V v) { return bytesOf(v.fragment.front.writeMask, v.fragment.back.writeMask); }},
      {VK_DYNAMIC_STATE_STENCIL_REFERENCE, kGroupFragment,
       [](V v) { return bytesOf(v.fragment.front.reference, v.fragment.back.reference); }},
      {VK_DYNAMIC_STATE_STENCIL_OP, kGroupFragment,
       [](V v) { return bytesOf(v.fragment.front.failOp, v.fragment.back.failOp); }},
      {VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT, kGroupFragment,
       [](V v) { return bytesOf(v.fragment.colorWriteEnable); }},
      {VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE, kGroupVertexBuffers,
       [](V v) { return bytesOf(v.vertexStride_B); }},
      {VK_DYNAMIC_STATE_VERTEX_INPUT_EXT, kGroupVertexInput,
       [](V v) { return bytesOf(v.vertexInput.attributes, v.vertexStride_B); }},
  };
}

// A state, and one that it is a part of.
bool overlap(VkDynamicState a, VkDynamicState b) {
  constexpr VkDynamicState kPairs[][2] = {
      {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT},
      {VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT},
      {VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE, VK_DYNAMIC_STATE_VERTEX_INPUT_EXT}};
  return a == b || std::any_of(std::begin(kPairs), std::end(kPairs), [a, b](const auto& pair) {
           return (pair[0] == a && pair[1] == b) || (pair[0] == b && pair[1] == a);
         });
}

// Binding the second pipeline replaces everything but what is dynamic, which stays.
TEST(DrawValues, DynamicStatesStay) {
  const std::vector<DynamicCase> cases = dynamicCases();
  const Pipeline first(false), second(true);
  const DrawValues a = first.values(), b = second.values();
  for (const DynamicCase& one : cases) {
    SCOPED_TRACE(one.state);
    const VkPipelineDynamicStateCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0, 1,
                                                &one.state};
    const DynamicSet dynamic = dynamicSetOf(&info);
    ASSERT_NE(one.part(a), one.part(b));
    DrawValues bound = a;
    const uint32_t changed = copyStaticValues(second.values(dynamic), dynamic, &bound);
    EXPECT_EQ(one.part(bound), one.part(a));
    EXPECT_EQ(copyStaticValues(second.values(dynamic), dynamic, &bound), 0u);  // nothing is new now
    EXPECT_NE(changed, 0u);
    for (const DynamicCase& other : cases) {
      if (!overlap(one.state, other.state)) {
        EXPECT_EQ(other.part(bound), other.part(b)) << other.state;
      }
    }
    // The state's own group alone is touched when it stops being dynamic.
    const uint32_t own = copyStaticValues(b, {}, &bound);
    EXPECT_NE(own & one.group, 0u);
    EXPECT_EQ(one.part(bound), one.part(b));
  }
}

TEST(VertexInput, SlotsOfAProgram) {
  VertexInputValues values;
  values.attributeCount = 4;
  values.attributes[0] = {7, 3, 0, VK_FORMAT_R8G8B8A8_UNORM, 12};
  values.attributes[1] = {2, 1, 0, VK_FORMAT_R64G64B64A64_SFLOAT, 8};
  values.attributes[2] = {0, 0, 0, VK_FORMAT_R64G64B64_SFLOAT, 0};
  values.attributes[3] = {9, 0, 0, VK_FORMAT_R32_UINT, 0};  // the program does not read it
  values.bindings[3] = {abi::AttributeRate::kInstance, 5};
  abi::VertexProgram program{};
  program.inputSlotCount = 5;
  const uint8_t locations[] = {0, 2, 3, 7, 8};  // a dvec2 at 0, a dvec4 at 2, one that nothing feeds at 8
  std::copy_n(locations, 5, program.inputLocation);
  const abi::VertexInputState state = vertexInputState(values, program);
  ASSERT_EQ(state.attributeCount, 3u);
  EXPECT_EQ(state.attributes[0].slot, 0);
  EXPECT_EQ(state.attributes[0].slotCount, 1);  // of three components the shader reads two
  EXPECT_EQ(state.attributes[1].slot, 1);
  EXPECT_EQ(state.attributes[1].slotCount, 2);
  EXPECT_EQ(state.attributes[1].binding, 1);
  EXPECT_EQ(state.attributes[1].offset_B, 8u);
  EXPECT_EQ(state.attributes[2].slot, 3);
  EXPECT_EQ(state.attributes[2].format, static_cast<uint32_t>(VK_FORMAT_R8G8B8A8_UNORM));
  EXPECT_EQ(state.attributes[2].rate, abi::AttributeRate::kInstance);
  EXPECT_EQ(state.attributes[2].divisor, 5u);
  EXPECT_EQ(state.unboundSlots, 1u << 4);
}

}  // namespace
}  // namespace pumice::icd
