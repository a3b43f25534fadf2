// vkCmdSet*: state that a pipeline leaves to the command buffer. What is set to what it was costs nothing.
#include <algorithm>
#include <cstring>

#include "gen/entrypoints.h"
#include "icd/objects/command_buffer.h"

namespace pumice::icd {
namespace {

DrawEncoder& drawsOf(VkCommandBuffer commandBuffer) {
  return CommandBuffer::from(commandBuffer)->draws();
}

// `member` is of DrawValues, or a part of it: a path as a function that returns a reference.
template <typename Path, typename T>
void set(VkCommandBuffer commandBuffer, DrawGroups group, Path member, const T& value) {
  DrawEncoder& draws = drawsOf(commandBuffer);
  const auto& old = member(draws.values());
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(old)>, T>);
  if (std::memcmp(&old, &value, sizeof value) != 0) member(draws.change(group)) = value;
}

template <typename T>
void setFlags(VkCommandBuffer commandBuffer, DrawGroups group, T abi::RasterState::*flags, int mask, int value) {
  const auto path = [&](auto& values) -> auto& {
    return values.raster.*flags;
  };
  const T old = drawsOf(commandBuffer).values().raster.*flags;
  set(commandBuffer, group, path, static_cast<T>((old & ~mask) | (value & mask)));
}

void setRasterFlag(VkCommandBuffer commandBuffer, abi::RasterFlags flag, bool on) {
  setFlags(commandBuffer, kGroupRaster, &abi::RasterState::flags, flag, on ? flag : 0);
}

void setDepthFlag(VkCommandBuffer commandBuffer, abi::DepthFlags flag, bool on) {
  const uint8_t old = drawsOf(commandBuffer).values().fragment.depthFlags;
  set(
      commandBuffer, kGroupFragment, [](auto& values) -> auto& { return values.fragment.depthFlags; },
      static_cast<uint8_t>(on ? old | flag : old & ~flag));
}

// Of one face or both.
void setStencil(VkCommandBuffer commandBuffer, VkStencilFaceFlags faces, uint8_t abi::StencilFace::*member,
                uint32_t value) {
  const auto byte = static_cast<uint8_t>(value);  // stencil formats have eight bits
  if ((faces & VK_STENCIL_FACE_FRONT_BIT) != 0) {
    set(
        commandBuffer, kGroupFragment, [&](auto& values) -> auto& { return values.fragment.front.*member; }, byte);
  }
  if ((faces & VK_STENCIL_FACE_BACK_BIT) != 0) {
    set(
        commandBuffer, kGroupFragment, [&](auto& values) -> auto& { return values.fragment.back.*member; }, byte);
  }
}

// How many of `count` from `first` on there can be: what is beyond a limit, which is not allowed, sets nothing.
uint32_t within(uint32_t limit, uint32_t first, uint32_t count) {
  return std::min(count, limit - std::min(first, limit));
}

void setViewports(VkCommandBuffer commandBuffer, uint32_t first, uint32_t count, const VkViewport* viewports) {
  for (uint32_t i = 0; i < within(abi::kMaxViewports, first, count); ++i) {
    const VkViewport& v = viewports[i];
    set(
        commandBuffer, kGroupViewports, [&](auto& values) -> auto& { return values.viewports.viewports[first + i]; },
        abi::Viewport{v.x, v.y, v.width, v.height, v.minDepth, v.maxDepth});
  }
}

void setScissors(VkCommandBuffer commandBuffer, uint32_t first, uint32_t count, const VkRect2D* scissors) {
  for (uint32_t i = 0; i < within(abi::kMaxViewports, first, count); ++i) {
    const VkRect2D& s = scissors[i];
    set(
        commandBuffer, kGroupViewports, [&](auto& values) -> auto& { return values.viewports.scissors[first + i]; },
        abi::Scissor{s.offset.x, s.offset.y, s.extent.width, s.extent.height});
  }
}

}  // namespace

// ---- Vulkan 1.0

VKAPI_ATTR void VKAPI_CALL vkCmdSetViewport(VkCommandBuffer commandBuffer, uint32_t firstViewport,
                                            uint32_t viewportCount, const VkViewport* pViewports) {
  setViewports(commandBuffer, firstViewport, viewportCount, pViewports);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetScissor(VkCommandBuffer commandBuffer, uint32_t firstScissor, uint32_t scissorCount,
                                           const VkRect2D* pScissors) {
  setScissors(commandBuffer, firstScissor, scissorCount, pScissors);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetLineWidth(VkCommandBuffer commandBuffer, float lineWidth) {
  set(
      commandBuffer, kGroupRaster, [](auto& values) -> auto& { return values.raster.lineWidth; }, lineWidth);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetDepthBias(VkCommandBuffer commandBuffer, float depthBiasConstantFactor,
                                             float depthBiasClamp, float depthBiasSlopeFactor) {
  set(
      commandBuffer, kGroupRaster, [](auto& values) -> auto& { return values.raster.depthBiasConstant; },
      depthBiasConstantFactor);
  set(
      commandBuffer, kGroupRaster, [](auto& values) -> auto& { return values.raster.depthBiasClamp; }, depthBiasClamp);
  set(
      commandBuffer, kGroupRaster, [](auto& values) -> auto& { return values.raster.depthBiasSlope; },
      depthBiasSlopeFactor);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetBlendConstants(VkCommandBuffer commandBuffer, const float blendConstants[4]) {
  for (uint32_t i = 0; i < 4; ++i) {
    set(
        commandBuffer, kGroupFragment, [&](auto& values) -> auto& { return values.fragment.blendConstant[i]; },
        blendConstants[i]);
  }
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetDepthBounds(VkCommandBuffer commandBuffer, float minDepthBounds,
                                               float maxDepthBounds) {
  set(
      commandBuffer, kGroupFragment, [](auto& values) -> auto& { return values.fragment.depthBoundsMin; },
      minDepthBounds);
  set(
      commandBuffer, kGroupFragment, [](auto& values) -> auto& { return values.fragment.depthBoundsMax; },
      maxDepthBounds);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetStencilCompareMask(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask,
                                                      uint32_t compareMask) {
  setStencil(commandBuffer, faceMask, &abi::StencilFace::compareMask, compareMask);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetStencilWriteMask(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask,
                                                    uint32_t writeMask) {
  setStencil(commandBuffer, faceMask, &abi::StencilFace::writeMask, writeMask);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetStencilReference(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask,
                                                    uint32_t reference) {
  setStencil(commandBuffer, faceMask, &abi::StencilFace::reference, reference);
}

// ---- VK_EXT_extended_dynamic_state

VKAPI_ATTR void VKAPI_CALL vkCmdSetCullMode(VkCommandBuffer commandBuffer, VkCullModeFlags cullMode) {
  setRasterFlag(commandBuffer, abi::kRasterCullFront, (cullMode & VK_CULL_MODE_FRONT_BIT) != 0);
  setRasterFlag(commandBuffer, abi::kRasterCullBack, (cullMode & VK_CULL_MODE_BACK_BIT) != 0);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetFrontFace(VkCommandBuffer commandBuffer, VkFrontFace frontFace) {
  setRasterFlag(commandBuffer, abi::kRasterFrontClockwise, frontFace == VK_FRONT_FACE_CLOCKWISE);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetPrimitiveTopology(VkCommandBuffer commandBuffer,
                                                     VkPrimitiveTopology primitiveTopology) {
  set(
      commandBuffer, kGroupRaster, [](auto& values) -> auto& { return values.raster.topology; },
      static_cast<uint8_t>(primitiveTopology));
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetViewportWithCount(VkCommandBuffer commandBuffer, uint32_t viewportCount,
                                                     const VkViewport* pViewports) {
  setViewports(commandBuffer, 0, viewportCount, pViewports);
  set(
      commandBuffer, kGroupViewports, [](auto& values) -> auto& { return values.viewports.count; },
      within(abi::kMaxViewports, 0, viewportCount));
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetScissorWithCount(VkCommandBuffer commandBuffer, uint32_t scissorCount,
                                                    const VkRect2D* pScissors) {
  setScissors(commandBuffer, 0, scissorCount, pScissors);
  set(
      commandBuffer, kGroupViewports, [](auto& values) -> auto& { return values.scissorCount; },
      within(abi::kMaxViewports, 0, scissorCount));
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetDepthTestEnable(VkCommandBuffer commandBuffer, VkBool32 depthTestEnable) {
  setDepthFlag(commandBuffer, abi::kDepthTest, depthTestEnable);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetDepthWriteEnable(VkCommandBuffer commandBuffer, VkBool32 depthWriteEnable) {
  setDepthFlag(commandBuffer, abi::kDepthWrite, depthWriteEnable);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetDepthCompareOp(VkCommandBuffer commandBuffer, VkCompareOp depthCompareOp) {
  set(
      commandBuffer, kGroupFragment, [](auto& values) -> auto& { return values.fragment.depthCompareOp; },
      static_cast<uint8_t>(depthCompareOp));
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetDepthBoundsTestEnable(VkCommandBuffer commandBuffer,
                                                         VkBool32 depthBoundsTestEnable) {
  setDepthFlag(commandBuffer, abi::kDepthBounds, depthBoundsTestEnable);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetStencilTestEnable(VkCommandBuffer commandBuffer, VkBool32 stencilTestEnable) {
  setDepthFlag(commandBuffer, abi::kStencilTest, stencilTestEnable);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetStencilOp(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask,
                                             VkStencilOp failOp, VkStencilOp passOp, VkStencilOp depthFailOp,
                                             VkCompareOp compareOp) {
  setStencil(commandBuffer, faceMask, &abi::StencilFace::failOp, failOp);
  setStencil(commandBuffer, faceMask, &abi::StencilFace::passOp, passOp);
  setStencil(commandBuffer, faceMask, &abi::StencilFace::depthFailOp, depthFailOp);
  setStencil(commandBuffer, faceMask, &abi::StencilFace::compareOp, compareOp);
}

// ---- VK_EXT_extended_dynamic_state2

VKAPI_ATTR void VKAPI_CALL vkCmdSetRasterizerDiscardEnable(VkCommandBuffer commandBuffer,
                                                           VkBool32 rasterizerDiscardEnable) {
  setRasterFlag(commandBuffer, abi::kRasterDiscard, rasterizerDiscardEnable);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetDepthBiasEnable(VkCommandBuffer commandBuffer, VkBool32 depthBiasEnable) {
  setRasterFlag(commandBuffer, abi::kRasterDepthBias, depthBiasEnable);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetPrimitiveRestartEnable(VkCommandBuffer commandBuffer,
                                                          VkBool32 primitiveRestartEnable) {
  setRasterFlag(commandBuffer, abi::kRasterPrimitiveRestart, primitiveRestartEnable);
}

// ---- others

VKAPI_ATTR void VKAPI_CALL vkCmdSetLineStippleEXT(VkCommandBuffer commandBuffer, uint32_t lineStippleFactor,
                                                  uint16_t lineStipplePattern) {
  set(
      commandBuffer, kGroupRaster, [](auto& values) -> auto& { return values.raster.stippleFactor; },
      lineStippleFactor);
  set(
      commandBuffer, kGroupRaster, [](auto& values) -> auto& { return values.raster.stipplePattern; },
      lineStipplePattern);
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetColorWriteEnableEXT(VkCommandBuffer commandBuffer, uint32_t attachmentCount,
                                                       const VkBool32* pColorWriteEnables) {
  uint32_t enables = drawsOf(commandBuffer).values().fragment.colorWriteEnable;
  for (uint32_t i = 0; i < std::min(attachmentCount, abi::kMaxColorAttachments); ++i) {
    enables = pColorWriteEnables[i] ? enables | 1u << i : enables & ~(1u << i);
  }
  set(
      commandBuffer, kGroupFragment, [](auto& values) -> auto& { return values.fragment.colorWriteEnable; },
      static_cast<uint8_t>(enables));
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetVertexInputEXT(VkCommandBuffer commandBuffer, uint32_t vertexBindingDescriptionCount,
                                                  const VkVertexInputBindingDescription2EXT* pVertexBindingDescriptions,
                                                  uint32_t vertexAttributeDescriptionCount,
                                                  const VkVertexInputAttributeDescription2EXT* pVertexAttributes) {
  VertexInputValues input;
  DrawEncoder& draws = drawsOf(commandBuffer);
  for (uint32_t i = 0; i < vertexBindingDescriptionCount; ++i) {
    const VkVertexInputBindingDescription2EXT& b = pVertexBindingDescriptions[i];
    if (b.binding >= abi::kMaxVertexAttributes) continue;  // not allowed
    input.bindings[b.binding] = {
        b.inputRate == VK_VERTEX_INPUT_RATE_INSTANCE ? abi::AttributeRate::kInstance : abi::AttributeRate::kVertex,
        b.divisor};
    if (draws.values().vertexStride_B[b.binding] == b.stride) continue;
    draws.change(kGroupVertexBuffers).vertexStride_B[b.binding] = b.stride;
  }
  for (uint32_t i = 0; i < vertexAttributeDescriptionCount; ++i) {
    const VkVertexInputAttributeDescription2EXT& a = pVertexAttributes[i];
    input.add(a.location, a.binding, a.format, a.offset);
  }
  if (draws.values().vertexInput != input) draws.change(kGroupVertexInput).vertexInput = input;
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetLogicOpEXT(VkCommandBuffer commandBuffer, VkLogicOp logicOp) {
  set(
      commandBuffer, kGroupFragment, [](auto& values) -> auto& { return values.fragment.logicOp; },
      static_cast<uint8_t>(logicOp));
}

// VK_EXT_extended_dynamic_state2 has this function whatever its features; no pipeline can make its state dynamic while
// extendedDynamicState2PatchControlPoints is off, so it sets nothing.
VKAPI_ATTR void VKAPI_CALL vkCmdSetPatchControlPointsEXT(VkCommandBuffer, uint32_t) {}

}  // namespace pumice::icd
