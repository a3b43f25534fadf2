// Graphics pipelines as objects: what caches hold of their stages, what creation tells, many of them at once, shaders
// that are given inline, code that is replaced while it draws.
//
// covers: vkCreateGraphicsPipelines, vkGetPipelineCacheData, VK_EXT_pipeline_creation_feedback
// covers: VK_EXT_pipeline_creation_cache_control
#include <array>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <vector>

#include "cts-subset/support/draw_test.h"
#include "shaders/color_frag.spv.h"
#include "shaders/color_vert.spv.h"
#include "shaders/push_color_frag.spv.h"
#include "shaders/spec_color_frag.spv.h"
#include "shaders/texture_frag.spv.h"
#include "shaders/texture_vert.spv.h"
#include "shaders/whole_vert.spv.h"

namespace pumice::cts {
namespace {

class DrawPipelineTest : public FilledTargetTest {
 protected:
  void SetUp() override { setenv("PUMICE_CACHE", "0", 1); }  // what a test before has left on the disk
  void TearDown() override {
    FilledTargetTest::TearDown();
    unsetenv("PUMICE_CACHE");
  }
  void prepareFull() {
    createFullDevice();
    prepareTargets();
  }
  VkPipelineCache makeCache(std::span<const std::byte> data = {}) {
    VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    info.initialDataSize = data.size();
    info.pInitialData = data.data();
    VkPipelineCache cache = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreatePipelineCache(device(), &info, nullptr, &cache), VK_SUCCESS);
    defer([this, cache] { vkDestroyPipelineCache(device(), cache, nullptr); });
    return cache;
  }
  struct Feedback {
    bool all, vertex, fragment;
    bool operator==(const Feedback&) const = default;
  };
  // Creates a pipeline that blends or does not; which parts the cache had.
  Feedback hits(VkPipelineCache cache, bool blends, VkPipeline* made = nullptr) {
    VkPipelineCreationFeedback all{}, stages[2]{};
    VkPipelineCreationFeedbackCreateInfo feedback{VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO};
    feedback.pPipelineCreationFeedback = &all;
    feedback.pipelineStageCreationFeedbackCount = 2;
    feedback.pPipelineStageCreationFeedbacks = stages;
    const VkPipeline pipeline = makeWhole([&](PipelineState& s) {
      s.cache = cache;
      s.next = &feedback;
      s.blend[0].blendEnable = blends;
      s.blend[0].srcColorBlendFactor = s.blend[0].dstColorBlendFactor = VK_BLEND_FACTOR_ONE;
      s.blend[0].srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
    });
    if (made != nullptr) *made = pipeline;
    for (const auto& f : {all, stages[0], stages[1]}) {
      EXPECT_NE(f.flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT, 0u);
    }
    EXPECT_EQ(all.duration, stages[0].duration + stages[1].duration);
    const auto hit = [](const VkPipelineCreationFeedback& f) {
      return (f.flags & VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT) != 0;
    };
    return {hit(all), hit(stages[0]), hit(stages[1])};
  }
};

TEST_F(DrawPipelineTest, CachesHoldStages) {
  prepareFull();
  const VkPipelineCache cache = makeCache();
  EXPECT_EQ(hits(cache, false), (Feedback{false, false, false}));
  EXPECT_EQ(hits(cache, false), (Feedback{true, true, true}));
  EXPECT_EQ(hits(cache, true), (Feedback{false, true, false}));  // other state, other fragment code
  size_t size = 0;
  VK_OK(vkGetPipelineCacheData(device(), cache, &size, nullptr));
  std::vector<std::byte> data(size);
  VK_OK(vkGetPipelineCacheData(device(), cache, &size, data.data()));
  const VkPipelineCache again = makeCache(data);
  VkPipeline pipeline = VK_NULL_HANDLE;
  EXPECT_EQ(hits(again, true, &pipeline), (Feedback{true, true, true}));
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    drawWhole(c, {0.2f, 0.4f, 0, 1});
    drawWhole(c, {0.2f, 0.4f, 0.6f, 1});
  });
  expectPicture(picture(), [](uint32_t, uint32_t) -> Rgba { return {0.4f, 0.8f, 0.6f, 1}; });
}

TEST_F(DrawPipelineTest, NothingIsCompiledWhereThatIsForbidden) {
  prepareFull();
  const VkPipelineCache cache = makeCache();
  PipelineState known(kExtent);
  known.renderPass = pass_;
  known.layout = layout_;
  known.cache = cache;
  makePipeline(known, k_whole_vert, k_push_color_frag);
  VkPipelineShaderStageCreateInfo stages[3][2];
  PipelineState unknown(kExtent);
  unknown.renderPass = pass_;
  unknown.layout = layout_;
  unknown.blend[0].colorWriteMask = 1;
  VkGraphicsPipelineCreateInfo infos[3] = {pipelineInfo(known, stages[0], k_whole_vert, k_push_color_frag),
                                           pipelineInfo(unknown, stages[1], k_whole_vert, k_push_color_frag),
                                           pipelineInfo(known, stages[2], k_whole_vert, k_push_color_frag)};
  for (auto& info : infos) info.flags = VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT;
  VkPipeline made[3];
  EXPECT_EQ(vkCreateGraphicsPipelines(device(), cache, 3, infos, nullptr, made), VK_PIPELINE_COMPILE_REQUIRED);
  EXPECT_NE(made[0], VK_NULL_HANDLE);
  EXPECT_EQ(made[1], VK_NULL_HANDLE);
  EXPECT_NE(made[2], VK_NULL_HANDLE);
  for (VkPipeline p : made) vkDestroyPipeline(device(), p, nullptr);
  infos[1].flags |= VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT;
  EXPECT_EQ(vkCreateGraphicsPipelines(device(), cache, 3, infos, nullptr, made), VK_PIPELINE_COMPILE_REQUIRED);
  EXPECT_NE(made[0], VK_NULL_HANDLE);
  EXPECT_EQ(made[1], VK_NULL_HANDLE);
  EXPECT_EQ(made[2], VK_NULL_HANDLE);
  vkDestroyPipeline(device(), made[0], nullptr);
}

// One call makes them all; each has constants of its own.
TEST_F(DrawPipelineTest, ManyInOneCall) {
  prepareFull();
  constexpr uint32_t kCount = 16;
  const VkSpecializationMapEntry entry{0, 0, 4};
  std::vector<uint32_t> values(kCount);
  std::vector<VkSpecializationInfo> constants(kCount);
  std::deque<PipelineState> states;
  std::vector<std::array<VkPipelineShaderStageCreateInfo, 2>> stages(kCount);
  std::vector<VkGraphicsPipelineCreateInfo> infos;
  const VkDynamicState scissor = VK_DYNAMIC_STATE_SCISSOR;
  VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  dynamic.dynamicStateCount = 1;
  dynamic.pDynamicStates = &scissor;
  for (uint32_t i = 0; i < kCount; ++i) {
    values[i] = 7 * i;
    constants[i] = {1, &entry, 4, &values[i]};
    PipelineState& state = states.emplace_back(kExtent);
    state.renderPass = pass_;
    state.layout = layout_;
    state.fragmentConstants = &constants[i];
    infos.push_back(pipelineInfo(state, stages[i].data(), k_whole_vert, k_spec_color_frag));
    infos.back().pDynamicState = &dynamic;
  }
  std::vector<VkPipeline> made(kCount);
  VK_OK(vkCreateGraphicsPipelines(device(), VK_NULL_HANDLE, kCount, infos.data(), nullptr, made.data()));
  draw([&](VkCommandBuffer c) {
    for (uint32_t i = 0; i < kCount; ++i) {
      const VkRect2D column{{static_cast<int32_t>(4 * i), 0}, {4, 64}};
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, made[i]);
      vkCmdSetScissor(c, 0, 1, &column);
      drawWhole(c, {});
    }
  });
  for (VkPipeline p : made) vkDestroyPipeline(device(), p, nullptr);
  expectPicture(picture(), [](uint32_t x, uint32_t) -> Rgba {
    return {static_cast<float>(7 * (x / 4)) / 255, 0, 1, 1};
  });
}

// The change of code is not seen in the picture.
TEST_F(DrawPipelineTest, DrawsUntilBetterCodeIsThere) {
  prepareFull();
  PipelineState state(kExtent);
  state.addFloats({4, 4});
  state.renderPass = pass_;
  const VkPipeline pipeline = makePipeline(state, k_color_vert, k_color_frag);
  const TestBuffer triangle = makeTriangle({1, 0.4f, 0.2f, 1});
  const TriangleModel model(kTriangle[0], kTriangle[1], kTriangle[2]);
  // Long enough for the tier in the background: it begins after some milliseconds of running.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    draw([&](VkCommandBuffer c) {
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      bindVertices(c, triangle);
      for (int i = 0; i < 200; ++i) vkCmdDraw(c, 3, 1, 0, 0);
    });
    expectPicture(picture(), [&](uint32_t x, uint32_t y) -> Rgba {
      return model.covers(x, y) ? Rgba{1, 0.4f, 0.2f, 1} : Rgba{0, 0, 0, 1};
    });
  }
}

// Each part is a library; two pipelines share three of them and write to different formats. Sets are independent: the
// vertex shader's layout lacks the fragment shader's, whose shaders are given inline.
// covers: VK_KHR_pipeline_library, VK_EXT_graphics_pipeline_library, feature:graphicsPipelineLibrary
TEST_F(DrawPipelineTest, LinkedFromLibraries) {
  prepareFull();
  const TestImage texture = makeShaderImage(kRgba8, VK_IMAGE_USAGE_SAMPLED_BIT, {8, 8, 1});
  Model texels(texture, {VK_IMAGE_ASPECT_COLOR_BIT, 4});
  texels.randomise(random_);
  upload(texture, texels);
  const VkDescriptorImageInfo image = imageOf(makeView(texture), makeSampler(VK_FILTER_NEAREST));
  const Set set = makeSet(kCombined, {&image, 1});
  const VkDescriptorSetLayout none = VK_NULL_HANDLE;
  const auto independentLayout = [&](const VkDescriptorSetLayout& of) {
    VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    info.flags = VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT;
    info.setLayoutCount = 1;
    info.pSetLayouts = &of;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreatePipelineLayout(device(), &info, nullptr, &layout), VK_SUCCESS);
    defer([this, layout] { vkDestroyPipelineLayout(device(), layout, nullptr); });
    return layout;
  };
  const Target other = makeTarget(VK_FORMAT_R32G32B32A32_SFLOAT, kExtent);
  const VkRenderPass passes[2] = {makeRenderPass({targets_, 1}), makeRenderPass({&other, 1})};

  const auto makeLibrary = [&](VkGraphicsPipelineLibraryFlagsEXT parts, VkPipelineLayout layout, uint32_t pass,
                               const std::function<void(VkGraphicsPipelineCreateInfo&, PipelineState&)>& fill) {
    VkGraphicsPipelineLibraryCreateInfoEXT subset{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT, nullptr,
                                                  parts};
    PipelineState state(kExtent);
    state.colors.attachmentCount = 1;
    state.colors.pAttachments = state.blend.data();
    state.viewports.pViewports = &state.viewport;
    state.viewports.pScissors = &state.scissor;
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &subset};
    info.flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
    info.layout = layout;
    info.renderPass = passes[pass];
    fill(info, state);
    VkPipeline library = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateGraphicsPipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &library), VK_SUCCESS);
    defer([this, library] { vkDestroyPipeline(device(), library, nullptr); });
    return library;
  };
  VkShaderModuleCreateInfo code{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  VkPipelineShaderStageCreateInfo stage{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, &code};
  stage.pName = "main";
  const VkPipeline input = makeLibrary(VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT, VK_NULL_HANDLE, 0,
                                       [](VkGraphicsPipelineCreateInfo& info, PipelineState& state) {
                                         info.renderPass = VK_NULL_HANDLE;
                                         info.pVertexInputState = &state.vertexInput;
                                         info.pInputAssemblyState = &state.assembly;
                                       });
  const VkPipeline vertex =
      makeLibrary(VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT, independentLayout(none), 0,
                  [&](VkGraphicsPipelineCreateInfo& info, PipelineState& state) {
                    code.codeSize = sizeof k_texture_vert;
                    code.pCode = k_texture_vert;
                    stage.stage = VK_SHADER_STAGE_VERTEX_BIT;
                    info.stageCount = 1;
                    info.pStages = &stage;
                    info.pViewportState = &state.viewports;
                    info.pRasterizationState = &state.raster;
                  });
  VkPipeline pipelines[2];
  const VkPipelineLayout layout = independentLayout(set.layout);
  for (uint32_t i = 0; i < 2; ++i) {
    const VkPipeline fragment = makeLibrary(VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT, layout, i,
                                            [&](VkGraphicsPipelineCreateInfo& info, PipelineState& state) {
                                              code.codeSize = sizeof k_texture_frag;
                                              code.pCode = k_texture_frag;
                                              stage.stage = VK_SHADER_STAGE_FRAGMENT_BIT;
                                              info.stageCount = 1;
                                              info.pStages = &stage;
                                              info.pMultisampleState = &state.samples;
                                              info.pDepthStencilState = &state.depth;
                                            });
    const VkPipeline output =
        makeLibrary(VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT, VK_NULL_HANDLE, i,
                    [&](VkGraphicsPipelineCreateInfo& info, PipelineState& state) {
                      if (i == 1) state.blend[0].colorWriteMask = VK_COLOR_COMPONENT_G_BIT;
                      info.pMultisampleState = &state.samples;
                      info.pColorBlendState = &state.colors;
                    });
    const VkPipeline all[] = {input, vertex, fragment, output};
    VkPipelineLibraryCreateInfoKHR libraries{VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR, nullptr, 4, all};
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &libraries};
    info.layout = layout;
    VK_OK(vkCreateGraphicsPipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipelines[i]));
    defer([this, made = pipelines[i]] { vkDestroyPipeline(device(), made, nullptr); });
  }
  for (uint32_t i = 0; i < 2; ++i) {
    const Target& target = i == 0 ? targets_[0] : other;
    const VkFramebuffer framebuffer = makeFramebuffer(passes[i], {&target, 1});
    const VkClearValue clear = clearColor(0, 0, 0);
    run([&](VkCommandBuffer c) {
      barrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT);
      beginPass(c, passes[i], framebuffer, kExtent, {&clear, 1});
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines[i]);
      vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set.set, 0, nullptr);
      vkCmdDraw(c, 3, 1, 0, 0);
      vkCmdEndRenderPass(c);
    });
    expectPicture(
        readColor(target),
        [&](uint32_t x, uint32_t y) -> Rgba {
          const std::byte* texel = texels.at(0, 0, y / 8, x / 8);
          const auto channel = [&](int k) { return static_cast<float>(texel[k]) / 255; };
          return i == 0 ? Rgba{channel(0), channel(1), channel(2), channel(3)} : Rgba{0, channel(1), 0, 1};
        },
        0.1f / 255);
  }
}

// One call links the same shaders with two output interfaces and names no layout: that of the library holds.
TEST_F(DrawPipelineTest, LinkedTwiceWithoutLayout) {
  createInstance({.validation = false});
  prepareFull();
  PipelineState state(kExtent);
  state.renderPass = pass_;
  state.layout = layout_;
  VkPipelineShaderStageCreateInfo stages[2];
  const VkGraphicsPipelineCreateInfo whole = pipelineInfo(state, stages, k_whole_vert, k_push_color_frag);
  const auto makeLibrary = [&](VkGraphicsPipelineLibraryFlagsEXT parts) {
    const VkGraphicsPipelineLibraryCreateInfoEXT subset{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
                                                        nullptr, parts};
    VkGraphicsPipelineCreateInfo info = whole;
    info.pNext = &subset;
    info.flags |= VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
    VkPipeline library = VK_NULL_HANDLE;
    EXPECT_EQ(vkCreateGraphicsPipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &library), VK_SUCCESS);
    defer([this, library] { vkDestroyPipeline(device(), library, nullptr); });
    return library;
  };
  constexpr auto kOutput = VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT;
  VkPipeline parts[2][2];
  parts[0][0] = parts[1][0] = makeLibrary(VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT |
                                          VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT |
                                          VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT);
  VkPipelineLibraryCreateInfoKHR libraries[2];
  VkGraphicsPipelineCreateInfo infos[2];
  for (uint32_t i = 0; i < 2; ++i) {
    state.blend[0].colorWriteMask = i == 0 ? VK_COLOR_COMPONENT_R_BIT : VK_COLOR_COMPONENT_G_BIT;
    parts[i][1] = makeLibrary(kOutput);
    libraries[i] = {VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR, nullptr, 2, parts[i]};
    infos[i] = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &libraries[i]};
  }
  VkPipeline pipelines[2];
  VK_OK(vkCreateGraphicsPipelines(device(), VK_NULL_HANDLE, 2, infos, nullptr, pipelines));
  for (const VkPipeline made : pipelines) defer([this, made] { vkDestroyPipeline(device(), made, nullptr); });
  for (uint32_t i = 0; i < 2; ++i) {
    draw([&](VkCommandBuffer c) {
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines[i]);
      drawWhole(c, {1, 1, 1, 1});
    });
    expectPicture(picture(), [&](uint32_t, uint32_t) -> Rgba { return {i == 0 ? 1.0f : 0, i == 1 ? 1.0f : 0, 0, 1}; });
  }
}

// Stages that are not there and shaders that are none: an error, a null handle, and the next pipeline is made.
TEST_F(DrawPipelineTest, WhatCannotBeMadeIsRefused) {
  createInstance({.validation = false});
  prepare();
  PipelineState state(kExtent);
  state.renderPass = pass_;
  state.layout = layout_;
  VkPipelineShaderStageCreateInfo stages[2][3];
  std::vector<VkGraphicsPipelineCreateInfo> infos(2, VkGraphicsPipelineCreateInfo{});
  for (int i = 0; i < 2; ++i) infos[i] = pipelineInfo(state, stages[i], k_whole_vert, k_push_color_frag);
  stages[0][2] = stages[0][0];
  stages[0][2].stage = VK_SHADER_STAGE_GEOMETRY_BIT;
  infos[0].stageCount = 3;
  VkPipeline made[2];
  EXPECT_EQ(vkCreateGraphicsPipelines(device(), VK_NULL_HANDLE, 2, infos.data(), nullptr, made),
            VK_ERROR_INITIALIZATION_FAILED);
  EXPECT_EQ(made[0], VK_NULL_HANDLE);
  EXPECT_NE(made[1], VK_NULL_HANDLE);
  vkDestroyPipeline(device(), made[1], nullptr);

  std::vector<uint32_t> damaged(std::begin(k_push_color_frag), std::end(k_push_color_frag));
  damaged.resize(damaged.size() / 2);
  stages[0][1].module = makeModule(damaged);
  infos[0].stageCount = 2;
  EXPECT_EQ(vkCreateGraphicsPipelines(device(), VK_NULL_HANDLE, 2, infos.data(), nullptr, made),
            VK_ERROR_INITIALIZATION_FAILED);
  EXPECT_EQ(made[0], VK_NULL_HANDLE);
  EXPECT_NE(made[1], VK_NULL_HANDLE);
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, made[1]);
    drawWhole(c, {0, 1, 0, 1});
  });
  vkDestroyPipeline(device(), made[1], nullptr);
  expectPicture(picture(), [](uint32_t, uint32_t) -> Rgba { return {0, 1, 0, 1}; });
}

}  // namespace
}  // namespace pumice::cts
