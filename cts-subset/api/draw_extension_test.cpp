// Drawing beyond Vulkan 1.0: dynamic rendering, second versions of commands, state that is dynamic by extensions, draws
// with counts in buffers and several in one command.
//
// covers: VK_KHR_dynamic_rendering, feature:dynamicRendering, vkCmdBeginRendering, vkCmdEndRendering,
// covers: VK_EXT_extended_dynamic_state, feature:extendedDynamicState, vkCmdSetCullMode, vkCmdSetFrontFace,
// covers: vkCmdSetPrimitiveTopology, vkCmdSetViewportWithCount, vkCmdSetScissorWithCount, vkCmdBindVertexBuffers2,
// covers: vkCmdSetDepthTestEnable, vkCmdSetDepthWriteEnable, vkCmdSetDepthCompareOp, vkCmdSetDepthBoundsTestEnable,
// covers: vkCmdSetStencilTestEnable, vkCmdSetStencilOp, VK_EXT_extended_dynamic_state2, feature:extendedDynamicState2,
// covers: vkCmdSetRasterizerDiscardEnable, vkCmdSetDepthBiasEnable, vkCmdSetPrimitiveRestartEnable
#include <algorithm>
#include <array>
#include <cstring>

#include "cts-subset/support/draw_test.h"
#include "shaders/color_frag.spv.h"
#include "shaders/color_vert.spv.h"
#include "shaders/draw_index_vert.spv.h"
#include "shaders/grid_vert.spv.h"
#include "shaders/numbers_frag.spv.h"
#include "shaders/push_color_frag.spv.h"
#include "shaders/whole_vert.spv.h"

namespace pumice::cts {
namespace {

struct Vertex {
  float x, y, z, w;
  float r, g, b, a;
};
struct Push {
  float color[4];
  float depth;
};
const TriangleModel::Corner kCorners[3] = {{5.25, 3.5}, {60.125, 20.75}, {17, 58.0625}};
constexpr VkExtent2D kExtent{64, 64};
constexpr VkShaderStageFlags kStages = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;

class DrawExtensionTest : public DrawTest {
 protected:
  // A device with all there is, a target with depth and stencil for dynamic rendering.
  void prepare() {
    createFullDevice();
    color_ = makeTarget(kRgba8, kExtent);
    depth_ = makeTarget(VK_FORMAT_D32_SFLOAT_S8_UINT, kExtent);
    const VkPushConstantRange range{kStages, 0, sizeof(Push)};
    layout_ = makeLayout({}, {&range, 1});
    rendering_.colorAttachmentCount = 1;
    rendering_.pColorAttachmentFormats = &format_;
    rendering_.depthAttachmentFormat = rendering_.stencilAttachmentFormat = VK_FORMAT_D32_SFLOAT_S8_UINT;
  }
  void begin(VkCommandBuffer c, VkRenderingFlags flags = 0, VkClearValue color = clearColor(0, 0, 0),
             VkClearValue depth = clearDepth(1)) {
    DEVICE_FN(vkCmdBeginRenderingKHR);
    VkRenderingAttachmentInfo colorInfo{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    colorInfo.imageView = color_.view;
    colorInfo.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
    colorInfo.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    colorInfo.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    colorInfo.clearValue = color;
    VkRenderingAttachmentInfo depthInfo = colorInfo;
    depthInfo.imageView = depth_.view;
    depthInfo.clearValue = depth;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.flags = flags;
    info.renderArea = {{0, 0}, kExtent};
    info.layerCount = 1;
    info.colorAttachmentCount = 1;
    info.pColorAttachments = &colorInfo;
    info.pDepthAttachment = info.pStencilAttachment = &depthInfo;
    vkCmdBeginRenderingKHR(c, &info);
  }
  void end(VkCommandBuffer c) {
    DEVICE_FN(vkCmdEndRenderingKHR);
    vkCmdEndRenderingKHR(c);
    barrier(c, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  }
  void draw(const std::function<void(VkCommandBuffer)>& record, VkClearValue depth = clearDepth(1)) {
    run([&](VkCommandBuffer c) {
      begin(c, 0, clearColor(0, 0, 0), depth);
      record(c);
      end(c);
    });
  }
  VkPipeline makeColored(const std::function<void(PipelineState&)>& change) {
    PipelineState state(kExtent);
    state.addFloats({4, 4});
    state.next = &rendering_;
    change(state);
    return makePipeline(state, k_color_vert, k_color_frag);
  }
  VkPipeline makeWhole(const std::function<void(PipelineState&)>& change) {
    PipelineState state(kExtent);
    state.next = &rendering_;
    state.layout = layout_;
    change(state);
    return makePipeline(state, k_whole_vert, k_push_color_frag);
  }
  void drawWhole(VkCommandBuffer c, const Rgba& color, float depth = 0) {
    const Push push{{color.r, color.g, color.b, color.a}, depth};
    vkCmdPushConstants(c, layout_, kStages, 0, sizeof push, &push);
    vkCmdDraw(c, 3, 1, 0, 0);
  }
  TestBuffer makeTriangle(const Rgba& color, float depth = 0) {
    std::vector<Vertex> vertices;
    for (const auto& k : kCorners) {
      vertices.push_back({static_cast<float>(k.x / 32 - 1), static_cast<float>(k.y / 32 - 1), depth, 1, color.r,
                          color.g, color.b, color.a});
    }
    return makeVertices(vertices);
  }

  const TriangleModel model_{kCorners[0], kCorners[1], kCorners[2]};
  Target color_, depth_;
  VkFormat format_ = kRgba8;
  VkPipelineRenderingCreateInfo rendering_{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
};

TEST_F(DrawExtensionTest, DynamicRendering) {
  prepare();
  const VkPipeline pipeline = makeColored([](PipelineState&) {});
  const TestBuffer triangle = makeTriangle({1, 1, 0, 1});
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, triangle);
    vkCmdDraw(c, 3, 1, 0, 0);
  });
  expectPicture(readColor(color_), [&](uint32_t x, uint32_t y) -> Rgba {
    return model_.covers(x, y) ? Rgba{1, 1, 0, 1} : Rgba{0, 0, 0, 1};
  });
}

// Begins in one command buffer, goes on in a second: what is cleared is cleared once.
TEST_F(DrawExtensionTest, SuspendedAndResumed) {
  prepare();
  const VkPipeline pipeline = makeWhole([](PipelineState& s) { s.dynamic = {VK_DYNAMIC_STATE_SCISSOR}; });
  VkCommandBuffer commands[2];
  for (uint32_t i = 0; i < 2; ++i) {
    commands[i] = makeCommands();
    VulkanTest::begin(commands[i]);
    begin(commands[i], i == 0 ? VK_RENDERING_SUSPENDING_BIT : VK_RENDERING_RESUMING_BIT, clearColor(0, 0, 1));
    vkCmdBindPipeline(commands[i], VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    const VkRect2D scissor{{static_cast<int32_t>(20 * i), 0}, {20, 64}};
    vkCmdSetScissor(commands[i], 0, 1, &scissor);
    drawWhole(commands[i], i == 0 ? Rgba{1, 0, 0, 1} : Rgba{0, 1, 0, 1});
    DEVICE_FN(vkCmdEndRenderingKHR);
    vkCmdEndRenderingKHR(commands[i]);
    VK_OK(vkEndCommandBuffer(commands[i]));
  }
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 2;
  info.pCommandBuffers = commands;
  VK_OK(vkQueueSubmit(queue(), 1, &info, VK_NULL_HANDLE));
  VK_OK(vkQueueWaitIdle(queue()));
  expectPicture(readColor(color_), [](uint32_t x, uint32_t) -> Rgba {
    return x < 20 ? Rgba{1, 0, 0, 1} : x < 40 ? Rgba{0, 1, 0, 1} : Rgba{0, 0, 1, 1};
  });
}

TEST_F(DrawExtensionTest, SecondariesOfDynamicRendering) {
  prepare();
  const VkPipeline pipeline = makeColored([](PipelineState&) {});
  const TestBuffer triangle = makeTriangle({1, 0, 1, 1});
  const VkCommandBuffer secondary = makeCommands(0, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  VkCommandBufferInheritanceRenderingInfo rendering{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO};
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachmentFormats = &format_;
  rendering.depthAttachmentFormat = rendering.stencilAttachmentFormat = VK_FORMAT_D32_SFLOAT_S8_UINT;
  rendering.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  VkCommandBufferInheritanceInfo inherited{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO, &rendering};
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT;
  info.pInheritanceInfo = &inherited;
  VK_OK(vkBeginCommandBuffer(secondary, &info));
  vkCmdBindPipeline(secondary, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
  bindVertices(secondary, triangle);
  vkCmdDraw(secondary, 3, 1, 0, 0);
  VK_OK(vkEndCommandBuffer(secondary));
  run([&](VkCommandBuffer c) {
    begin(c, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
    vkCmdExecuteCommands(c, 1, &secondary);
    end(c);
  });
  expectPicture(readColor(color_), [&](uint32_t x, uint32_t y) -> Rgba {
    return model_.covers(x, y) ? Rgba{1, 0, 1, 1} : Rgba{0, 0, 0, 1};
  });
}

// One pipeline whose state is all dynamic, and several draws with it.
TEST_F(DrawExtensionTest, ExtendedDynamicState) {
  prepare();
  DEVICE_FN(vkCmdSetCullModeEXT);
  DEVICE_FN(vkCmdSetFrontFaceEXT);
  DEVICE_FN(vkCmdSetPrimitiveTopologyEXT);
  DEVICE_FN(vkCmdSetViewportWithCountEXT);
  DEVICE_FN(vkCmdSetScissorWithCountEXT);
  DEVICE_FN(vkCmdBindVertexBuffers2EXT);
  DEVICE_FN(vkCmdSetDepthTestEnableEXT);
  DEVICE_FN(vkCmdSetDepthWriteEnableEXT);
  DEVICE_FN(vkCmdSetDepthCompareOpEXT);
  DEVICE_FN(vkCmdSetDepthBoundsTestEnableEXT);
  DEVICE_FN(vkCmdSetStencilTestEnableEXT);
  DEVICE_FN(vkCmdSetStencilOpEXT);
  DEVICE_FN(vkCmdSetRasterizerDiscardEnableEXT);
  DEVICE_FN(vkCmdSetDepthBiasEnableEXT);
  DEVICE_FN(vkCmdSetPrimitiveRestartEnableEXT);
  const VkPipeline pipeline = makeColored([](PipelineState& s) {
    s.viewports.viewportCount = s.viewports.scissorCount = 0;
    s.dynamic = {VK_DYNAMIC_STATE_CULL_MODE,
                 VK_DYNAMIC_STATE_FRONT_FACE,
                 VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY,
                 VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT,
                 VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT,
                 VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE,
                 VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE,
                 VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE,
                 VK_DYNAMIC_STATE_DEPTH_COMPARE_OP,
                 VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE,
                 VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE,
                 VK_DYNAMIC_STATE_STENCIL_OP,
                 VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE,
                 VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE,
                 VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE};
    s.depth.front = {VK_STENCIL_OP_KEEP, VK_STENCIL_OP_KEEP, VK_STENCIL_OP_KEEP, VK_COMPARE_OP_NEVER, 0xff, 0xff, 7};
    s.depth.back = s.depth.front;
    s.depth.maxDepthBounds = 1;
  });
  // Columns of the target, 16 pixels each, as triangle strips of four vertices 48 bytes apart.
  struct Padded {
    Vertex vertex;
    float padding[4];
  };
  std::vector<Padded> vertices;
  const auto addColumn = [&](uint32_t column, float z, const Rgba& color) {
    for (int i = 0; i < 4; ++i) {
      const float x = static_cast<float>(column + (i & 1)) / 2 - 1, y = i < 2 ? -1.0f : 1.0f;
      vertices.push_back({{x, y, z, 1, color.r, color.g, color.b, color.a}, {}});
    }
  };
  addColumn(0, 0.5f, {1, 0, 0, 1});
  addColumn(0, 0.75f, {0, 0, 1, 1});
  addColumn(1, 0.5f, {0, 1, 0, 1});
  addColumn(2, 0.5f, {0, 1, 1, 1});
  addColumn(3, 0.5f, {1, 1, 1, 1});
  const TestBuffer buffer = makeVertices(vertices);
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    const VkViewport viewport{0, 0, 64, 64, 0, 1};
    const VkRect2D scissor{{0, 0}, kExtent};
    const VkDeviceSize zero = 0, size = buffer.size, stride = sizeof(Padded);
    vkCmdSetCullModeEXT(c, VK_CULL_MODE_NONE);
    vkCmdSetFrontFaceEXT(c, VK_FRONT_FACE_CLOCKWISE);
    vkCmdSetPrimitiveTopologyEXT(c, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP);
    vkCmdSetViewportWithCountEXT(c, 1, &viewport);
    vkCmdSetScissorWithCountEXT(c, 1, &scissor);
    vkCmdBindVertexBuffers2EXT(c, 0, 1, &buffer.buffer, &zero, &size, &stride);
    vkCmdSetDepthTestEnableEXT(c, VK_TRUE);
    vkCmdSetDepthWriteEnableEXT(c, VK_TRUE);
    vkCmdSetDepthCompareOpEXT(c, VK_COMPARE_OP_LESS);
    vkCmdSetDepthBoundsTestEnableEXT(c, VK_FALSE);
    vkCmdSetStencilTestEnableEXT(c, VK_FALSE);
    vkCmdSetStencilOpEXT(c, VK_STENCIL_FACE_FRONT_AND_BACK, VK_STENCIL_OP_KEEP, VK_STENCIL_OP_REPLACE,
                         VK_STENCIL_OP_KEEP, VK_COMPARE_OP_ALWAYS);
    vkCmdSetRasterizerDiscardEnableEXT(c, VK_FALSE);
    vkCmdSetDepthBiasEnableEXT(c, VK_FALSE);
    vkCmdSetPrimitiveRestartEnableEXT(c, VK_FALSE);
    vkCmdDraw(c, 4, 1, 0, 0);  // red at 0.5
    vkCmdDraw(c, 4, 1, 4, 0);  // blue is behind it
    vkCmdSetDepthCompareOpEXT(c, VK_COMPARE_OP_GREATER);
    vkCmdDraw(c, 4, 1, 4, 0);  // and now before it
    vkCmdSetDepthTestEnableEXT(c, VK_FALSE);
    vkCmdSetStencilTestEnableEXT(c, VK_TRUE);
    vkCmdDraw(c, 4, 1, 8, 0);  // green, and 7 in the stencil
    vkCmdSetStencilTestEnableEXT(c, VK_FALSE);
    vkCmdSetCullModeEXT(c, VK_CULL_MODE_FRONT_BIT);
    vkCmdDraw(c, 4, 1, 12, 0);  // culled: 0, 1, 2 go clockwise
    vkCmdSetFrontFaceEXT(c, VK_FRONT_FACE_COUNTER_CLOCKWISE);
    vkCmdDraw(c, 4, 1, 12, 0);  // not any more
    vkCmdSetRasterizerDiscardEnableEXT(c, VK_TRUE);
    vkCmdDraw(c, 4, 1, 16, 0);
  });
  expectPicture(readColor(color_), [](uint32_t x, uint32_t) -> Rgba {
    const Rgba columns[] = {{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1}, {0, 0, 0, 1}};
    return columns[x / 16];
  });
  const std::vector<std::byte> stencil = readBytes(depth_, VK_IMAGE_ASPECT_STENCIL_BIT, 1);
  for (uint32_t i = 0; i < 64 * 64; ++i) ASSERT_EQ(static_cast<int>(stencil[i]), i % 64 / 16 == 1 ? 7 : 0) << i;
}

// covers: VK_EXT_vertex_input_dynamic_state, feature:vertexInputDynamicState, vkCmdSetVertexInputEXT
// covers: VK_EXT_vertex_attribute_divisor, feature:vertexAttributeInstanceRateDivisor,
// covers: feature:vertexAttributeInstanceRateZeroDivisor
TEST_F(DrawExtensionTest, VertexInputIsDynamic) {
  prepare();
  DEVICE_FN(vkCmdSetVertexInputEXT);
  const VkPipeline pipeline = makeColored([](PipelineState& s) { s.dynamic = {VK_DYNAMIC_STATE_VERTEX_INPUT_EXT}; });
  // Positions as halves of the target, colors of bytes: of each second instance, then the same for all.
  const TestBuffer places = makeVertices<std::array<float, 2>>({{-1, -1}, {1, -1}, {-1, 3}, {0, -1}, {1, -1}, {0, 3}});
  const TestBuffer colors = makeVertices<uint32_t>({0xff0000ff, 0xff00ff00, 0xffff0000});
  const auto set = [&](VkCommandBuffer c, uint32_t divisor) {
    const VkVertexInputBindingDescription2EXT bindings[] = {
        {VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT, nullptr, 2, 8, VK_VERTEX_INPUT_RATE_VERTEX, 1},
        {VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT, nullptr, 5, 4, VK_VERTEX_INPUT_RATE_INSTANCE,
         divisor}};
    const VkVertexInputAttributeDescription2EXT attributes[] = {
        {VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, nullptr, 1, 5, VK_FORMAT_R8G8B8A8_UNORM, 0},
        {VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, nullptr, 0, 2, VK_FORMAT_R32G32_SFLOAT, 0}};
    vkCmdSetVertexInputEXT(c, 2, bindings, 2, attributes);
  };
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    bindVertices(c, places, 2);
    bindVertices(c, colors, 5);
    set(c, 2);
    vkCmdDraw(c, 3, 4, 0, 0);  // the last instance lies above: color 1
    set(c, 0);
    vkCmdDraw(c, 3, 2, 3, 2);  // color 2 for all
  });
  const TriangleModel left({0, 0}, {64, 0}, {0, 128}), right({32, 0}, {64, 0}, {32, 128});
  expectPicture(readColor(color_), [&](uint32_t x, uint32_t y) -> Rgba {
    if (right.covers(x, y)) return {0, 0, 1, 1};
    return left.covers(x, y) ? Rgba{0, 1, 0, 1} : Rgba{0, 0, 0, 1};
  });
}

// covers: VK_EXT_color_write_enable, feature:colorWriteEnable, vkCmdSetColorWriteEnableEXT
TEST_F(DrawExtensionTest, ColorWritesAreDynamic) {
  prepare();
  DEVICE_FN(vkCmdSetColorWriteEnableEXT);
  const VkPipeline pipeline =
      makeWhole([](PipelineState& s) { s.dynamic = {VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT}; });
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    const VkBool32 on = VK_TRUE, off = VK_FALSE;
    vkCmdSetColorWriteEnableEXT(c, 1, &on);
    drawWhole(c, {1, 0, 0, 1});
    vkCmdSetColorWriteEnableEXT(c, 1, &off);
    drawWhole(c, {0, 1, 0, 1});
  });
  expectPicture(readColor(color_), [](uint32_t, uint32_t) -> Rgba { return {1, 0, 0, 1}; });
}

// covers: feature:extendedDynamicState2LogicOp, vkCmdSetLogicOpEXT
TEST_F(DrawExtensionTest, LogicOperationsAreDynamic) {
  prepare();
  DEVICE_FN(vkCmdSetLogicOpEXT);
  const VkPipeline pipeline = makeWhole([](PipelineState& s) {
    s.colors.logicOpEnable = VK_TRUE;
    s.dynamic = {VK_DYNAMIC_STATE_LOGIC_OP_EXT};
  });
  const VkPipeline fixed = makeWhole([](PipelineState& s) {
    s.colors.logicOpEnable = VK_TRUE;
    s.colors.logicOp = VK_LOGIC_OP_INVERT;
  });
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdSetLogicOpEXT(c, VK_LOGIC_OP_COPY);
    drawWhole(c, {0x35 / 255.0f, 0x0f / 255.0f, 0, 1});
    vkCmdSetLogicOpEXT(c, VK_LOGIC_OP_XOR);
    drawWhole(c, {0x5c / 255.0f, 0x33 / 255.0f, 1, 0});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, fixed);
    drawWhole(c, {1, 1, 1, 1});
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdSetLogicOpEXT(c, VK_LOGIC_OP_AND_REVERSE);
    drawWhole(c, {0xf0 / 255.0f, 1, 1, 1});
  });
  const auto after = [](uint32_t first, uint32_t second, uint32_t third) {
    return static_cast<float>(third & (first ^ second)) / 255;  // s & ~~(a ^ b)
  };
  const Rgba expected{after(0x35, 0x5c, 0xf0), after(0x0f, 0x33, 0xff), after(0, 0xff, 0xff), after(0xff, 0, 0xff)};
  expectPicture(readColor(color_), [&](uint32_t, uint32_t) { return expected; });
}

// covers: VK_EXT_index_type_uint8, feature:indexTypeUint8
TEST_F(DrawExtensionTest, IndicesOfOneByte) {
  prepare();
  PipelineState state(kExtent);
  state.next = &rendering_;
  state.assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
  state.assembly.primitiveRestartEnable = VK_TRUE;
  const VkPipeline pipeline = makePipeline(state, k_grid_vert, k_numbers_frag);
  const TestBuffer indices = makeVertices<uint8_t>({0, 1, 255, 0, 1, 2, 3});
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindIndexBuffer(c, indices.buffer, 0, VK_INDEX_TYPE_UINT8_EXT);
    vkCmdDrawIndexed(c, 7, 2, 0, 0, 5);
  });
  expectPicture(readColor(color_), [](uint32_t x, uint32_t y) -> Rgba {
    const uint32_t square = x / 16 + y / 16 * 4;
    return {square == 5 || square == 6 ? static_cast<float>(square) / 255 : 0, 0, 0, 1};
  });
}

// covers: VK_EXT_multi_draw, feature:multiDraw, vkCmdDrawMultiEXT, vkCmdDrawMultiIndexedEXT
// covers: VK_KHR_shader_draw_parameters, feature:shaderDrawParameters
// covers: VK_KHR_draw_indirect_count, feature:drawIndirectCount, vkCmdDrawIndirectCount, vkCmdDrawIndexedIndirectCount
TEST_F(DrawExtensionTest, ManyDrawsInOneCommand) {
  prepare();
  DEVICE_FN(vkCmdDrawMultiEXT);
  DEVICE_FN(vkCmdDrawMultiIndexedEXT);
  PipelineState state(kExtent);
  state.next = &rendering_;
  state.assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
  const VkPipeline pipeline = makePipeline(state, k_draw_index_vert, k_numbers_frag);
  const TestBuffer indices = makeVertices<uint16_t>({0, 1, 2, 3});
  // Of three draws, the buffer says two; vertices start at 4, whose lowest bits are those of 0.
  const TestBuffer args = makeBuffer(256, kVertexUsages);
  const VkDrawIndirectCommand plain[3] = {{4, 1, 4, 8}, {4, 1, 8, 8}, {4, 1, 0, 8}};
  const VkDrawIndexedIndirectCommand indexed[3] = {{4, 1, 0, 4, 12}, {4, 1, 0, 8, 12}, {4, 1, 0, 0, 12}};
  std::memcpy(args.bytes, plain, sizeof plain);
  std::memcpy(args.bytes + 64, indexed, sizeof indexed);
  args.as<uint32_t>()[50] = 2;
  draw([&](VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindIndexBuffer(c, indices.buffer, 0, VK_INDEX_TYPE_UINT16);
    const VkMultiDrawInfoEXT infos[] = {{0, 4}, {4, 0}, {12, 4}};
    vkCmdDrawMultiEXT(c, 3, infos, 1, 0, sizeof infos[0]);
    const VkMultiDrawIndexedInfoEXT indexedInfos[] = {{0, 4, 4}, {0, 4, 8}};
    vkCmdDrawMultiIndexedEXT(c, 2, indexedInfos, 1, 4, sizeof indexedInfos[0], nullptr);
    vkCmdDrawIndirectCount(c, args.buffer, 0, args.buffer, 200, 3, sizeof plain[0]);
    vkCmdDrawIndexedIndirectCount(c, args.buffer, 64, args.buffer, 200, 3, sizeof indexed[0]);
  });
  // {square of the base instance, number of the draw, base vertex} of each square that is drawn.
  const auto numbers = [](uint32_t square) -> std::array<uint32_t, 3> {
    switch (square) {
      case 0:
        return {0, 0, 0};
      case 2:
        return {0, 2, 12};
      case 4:
        return {4, 0, 4};
      case 5:
        return {4, 1, 8};
      case 8:
        return {8, 0, 4};
      case 9:
        return {8, 1, 8};
      case 12:
        return {12, 0, 4};
      case 13:
        return {12, 1, 8};
      default:
        return {0, 0, 0};
    }
  };
  expectPicture(readColor(color_), [&](uint32_t x, uint32_t y) -> Rgba {
    const auto n = numbers(x / 16 + y / 16 * 4);
    return {static_cast<float>(n[0]) / 255, static_cast<float>(n[1]) / 255, static_cast<float>(n[2]) / 255, 1};
  });
}

// covers: VK_KHR_create_renderpass2, vkCreateRenderPass2, vkCmdBeginRenderPass2, vkCmdNextSubpass2, vkCmdEndRenderPass2
// covers: VK_KHR_imageless_framebuffer, feature:imagelessFramebuffer
TEST_F(DrawExtensionTest, RenderPassesOfTheSecondVersionWithoutImages) {
  prepare();
  VkAttachmentDescription2 attachment{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2};
  attachment.format = kRgba8;
  attachment.samples = VK_SAMPLE_COUNT_1_BIT;
  attachment.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  attachment.initialLayout = attachment.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
  VkAttachmentReference2 reference{VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, nullptr, 0, VK_IMAGE_LAYOUT_GENERAL,
                                   VK_IMAGE_ASPECT_COLOR_BIT};
  VkSubpassDescription2 subpasses[2] = {{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2},
                                        {VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2}};
  for (auto& s : subpasses) {
    s.colorAttachmentCount = 1;
    s.pColorAttachments = &reference;
  }
  VkSubpassDependency2 dependencies[2] = {{VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2},
                                          {VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2}};
  dependencies[0].dstSubpass = dependencies[1].srcSubpass = 1;
  dependencies[1].dstSubpass = VK_SUBPASS_EXTERNAL;
  dependencies[0].srcStageMask = dependencies[0].dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  dependencies[0].srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
  dependencies[0].dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
  dependencies[0].dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT;
  dependencies[1].srcStageMask = VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT;
  dependencies[1].dstStageMask = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  dependencies[1].srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  dependencies[1].dstAccessMask = VK_ACCESS_MEMORY_READ_BIT;
  VkRenderPassCreateInfo2 passInfo{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2};
  passInfo.attachmentCount = 1;
  passInfo.pAttachments = &attachment;
  passInfo.subpassCount = 2;
  passInfo.pSubpasses = subpasses;
  passInfo.dependencyCount = 2;
  passInfo.pDependencies = dependencies;
  VkRenderPass pass = VK_NULL_HANDLE;
  VK_OK(vkCreateRenderPass2(device(), &passInfo, nullptr, &pass));
  VkFramebufferAttachmentImageInfo image{VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENT_IMAGE_INFO};
  image.usage = color_.image.info.usage;
  image.width = image.height = 64;
  image.layerCount = 1;
  image.viewFormatCount = 1;
  image.pViewFormats = &format_;
  VkFramebufferAttachmentsCreateInfo images{VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENTS_CREATE_INFO, nullptr, 1, &image};
  VkFramebufferCreateInfo framebufferInfo{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO, &images};
  framebufferInfo.flags = VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT;
  framebufferInfo.renderPass = pass;
  framebufferInfo.attachmentCount = 1;
  framebufferInfo.width = framebufferInfo.height = 64;
  framebufferInfo.layers = 1;
  VkFramebuffer framebuffer = VK_NULL_HANDLE;
  VK_OK(vkCreateFramebuffer(device(), &framebufferInfo, nullptr, &framebuffer));
  defer([this, pass, framebuffer] {
    vkDestroyFramebuffer(device(), framebuffer, nullptr);
    vkDestroyRenderPass(device(), pass, nullptr);
  });
  VkPipeline pipelines[2];
  for (uint32_t i = 0; i < 2; ++i) {
    pipelines[i] = makeWhole([&](PipelineState& s) {
      s.next = nullptr;
      s.renderPass = pass;
      s.subpass = i;
      s.blend[0].colorWriteMask = i == 0 ? VK_COLOR_COMPONENT_R_BIT : VK_COLOR_COMPONENT_G_BIT;
    });
  }
  const VkClearValue clear = clearColor(0, 0, 1);
  run([&](VkCommandBuffer c) {
    VkRenderPassAttachmentBeginInfo views{VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO, nullptr, 1,
                                          &color_.view};
    VkRenderPassBeginInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, &views};
    info.renderPass = pass;
    info.framebuffer = framebuffer;
    info.renderArea = {{0, 0}, kExtent};
    info.clearValueCount = 1;
    info.pClearValues = &clear;
    const VkSubpassBeginInfo inlined{VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO};
    const VkSubpassEndInfo ends{VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
    vkCmdBeginRenderPass2(c, &info, &inlined);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines[0]);
    drawWhole(c, {0.4f, 1, 1, 1});
    vkCmdNextSubpass2(c, &inlined, &ends);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines[1]);
    drawWhole(c, {1, 0.8f, 0, 1});
    vkCmdEndRenderPass2(c, &ends);
  });
  expectPicture(readColor(color_), [](uint32_t, uint32_t) -> Rgba { return {0.4f, 0.8f, 1, 1}; });
}

// Samples of depth and stencil into one, in every mode; the two planes have layouts of their own, and what is resolved
// into is not loaded.
// covers: VK_KHR_depth_stencil_resolve, VK_KHR_separate_depth_stencil_layouts, feature:separateDepthStencilLayouts
// covers: VK_EXT_load_store_op_none
TEST_F(DrawExtensionTest, DepthAndStencilAreResolved) {
  prepare();
  VkPhysicalDeviceDepthStencilResolveProperties modes{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_STENCIL_RESOLVE_PROPERTIES};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &modes};
  vkGetPhysicalDeviceProperties2(physicalDevice(), &properties);
  ASSERT_TRUE(modes.independentResolve);
  const Target pair[] = {makeTarget(VK_FORMAT_D32_SFLOAT_S8_UINT, kExtent, VK_SAMPLE_COUNT_4_BIT), depth_};
  const std::vector<TriangleModel> samples = samplesOf(kCorners, VK_SAMPLE_COUNT_4_BIT);
  for (const VkResolveModeFlagBits depthMode : {VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, VK_RESOLVE_MODE_AVERAGE_BIT,
                                                VK_RESOLVE_MODE_MIN_BIT, VK_RESOLVE_MODE_MAX_BIT}) {
    const VkResolveModeFlagBits stencilMode =
        depthMode == VK_RESOLVE_MODE_AVERAGE_BIT ? VK_RESOLVE_MODE_NONE : depthMode;
    ASSERT_NE(modes.supportedDepthResolveModes & depthMode, 0u);
    ASSERT_EQ(modes.supportedStencilResolveModes & stencilMode, static_cast<VkResolveModeFlags>(stencilMode));
    VkAttachmentDescriptionStencilLayout stencilLayout{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_STENCIL_LAYOUT, nullptr,
                                                       VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL};
    VkAttachmentDescription2 attachments[2] = {{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2, &stencilLayout},
                                               {VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2, &stencilLayout}};
    for (int i = 0; i < 2; ++i) {
      VkAttachmentDescription2& a = attachments[i];
      a.format = VK_FORMAT_D32_SFLOAT_S8_UINT;
      a.samples = i == 0 ? VK_SAMPLE_COUNT_4_BIT : VK_SAMPLE_COUNT_1_BIT;
      a.loadOp = a.stencilLoadOp = i == 0 ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_NONE_EXT;
      a.storeOp = a.stencilStoreOp = i == 0 ? VK_ATTACHMENT_STORE_OP_NONE_EXT : VK_ATTACHMENT_STORE_OP_STORE;
      a.initialLayout = a.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
    }
    VkAttachmentReferenceStencilLayout stencilReference{VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_STENCIL_LAYOUT, nullptr,
                                                        VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL};
    VkAttachmentReference2 from{VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, &stencilReference, 0,
                                VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL};
    VkAttachmentReference2 into = from;
    into.attachment = 1;
    VkSubpassDescriptionDepthStencilResolve resolve{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE,
                                                    nullptr, depthMode, stencilMode, &into};
    VkSubpassDescription2 subpass{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2, &resolve};
    subpass.pDepthStencilAttachment = &from;
    VkSubpassDependency2 toCopy{VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2};
    toCopy.dstSubpass = VK_SUBPASS_EXTERNAL;
    toCopy.srcStageMask = VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT;
    toCopy.dstStageMask = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    toCopy.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    toCopy.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT;
    VkRenderPassCreateInfo2 info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2};
    info.attachmentCount = 2;
    info.pAttachments = attachments;
    info.subpassCount = info.dependencyCount = 1;
    info.pSubpasses = &subpass;
    info.pDependencies = &toCopy;
    VkRenderPass pass = VK_NULL_HANDLE;
    VK_OK(vkCreateRenderPass2(device(), &info, nullptr, &pass));
    defer([this, pass] { vkDestroyRenderPass(device(), pass, nullptr); });
    const VkFramebuffer framebuffer = makeFramebuffer(pass, pair);
    PipelineState state(kExtent, 0);
    state.addFloats({4, 4});
    state.renderPass = pass;
    state.samples.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
    state.depth.depthTestEnable = state.depth.depthWriteEnable = state.depth.stencilTestEnable = VK_TRUE;
    state.depth.depthCompareOp = VK_COMPARE_OP_LESS;
    state.depth.front = {
        VK_STENCIL_OP_KEEP, VK_STENCIL_OP_REPLACE, VK_STENCIL_OP_KEEP, VK_COMPARE_OP_ALWAYS, 0xff, 0xff, 9};
    state.depth.back = state.depth.front;
    const VkPipeline pipeline = makePipeline(state, k_color_vert, {});
    const TestBuffer triangle = makeTriangle({}, 0.25f);
    const VkClearValue clears[] = {clearDepth(0.75f, 3), {}};
    run([&](VkCommandBuffer c) {
      const VkClearDepthStencilValue before{0, 77};
      const VkImageSubresourceRange all{VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT, 0, 1, 0, 1};
      vkCmdClearDepthStencilImage(c, depth_.image.image, VK_IMAGE_LAYOUT_GENERAL, &before, 1, &all);
      barrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT);
      beginPass(c, pass, framebuffer, kExtent, clears);
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      bindVertices(c, triangle);
      vkCmdDraw(c, 3, 1, 0, 0);
      vkCmdEndRenderPass(c);
    });
    const std::vector<float> depth = readDepth(depth_);
    const std::vector<std::byte> stencil = readBytes(depth_, VK_IMAGE_ASPECT_STENCIL_BIT, 1);
    for (uint32_t i = 0; i < 64 * 64; ++i) {
      float sum = 0, least = 1, most = 0;
      for (const TriangleModel& s : samples) {
        const float d = s.covers(i % 64, i / 64) ? 0.25f : 0.75f;
        sum += d;
        least = std::min(least, d);
        most = std::max(most, d);
      }
      const float first = samples[0].covers(i % 64, i / 64) ? 0.25f : 0.75f;
      const float expected = depthMode == VK_RESOLVE_MODE_SAMPLE_ZERO_BIT ? first
                             : depthMode == VK_RESOLVE_MODE_AVERAGE_BIT   ? sum / 4
                             : depthMode == VK_RESOLVE_MODE_MIN_BIT       ? least
                                                                          : most;
      ASSERT_EQ(depth[i], expected) << depthMode << ", pixel " << i;
      // Where depth is 0.25, stencil is 9, else 3; what is less in the one is more in the other.
      const float atStencil = depthMode == VK_RESOLVE_MODE_MIN_BIT   ? most
                              : depthMode == VK_RESOLVE_MODE_MAX_BIT ? least
                                                                     : first;
      const int expectedStencil = stencilMode == VK_RESOLVE_MODE_NONE ? 77 : atStencil == 0.25f ? 9 : 3;
      ASSERT_EQ(static_cast<int>(stencil[i]), expectedStencil) << depthMode << ", pixel " << i;
    }
  }
}

}  // namespace
}  // namespace pumice::cts
