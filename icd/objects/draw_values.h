// The state of a draw that comes from a pipeline or, where the pipeline says so, from the command buffer: everything
// but programs, bindings, vertex and index buffers and attachments.
//
// A pipeline holds the values of its create info and the set of those that are dynamic. Binding it copies the others
// into the command buffer's own values, vkCmdSet* functions write the rest there; so a draw looks at one place only.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

#include "backend/abi/draw_packets.h"

namespace pumice::icd {

/// VkDynamicState of Vulkan 1.3 and of the extensions that the driver has, without gaps.
enum class Dynamic : uint8_t {
  kViewports,
  kViewportCount,
  kScissors,
  kScissorCount,
  kLineWidth,
  kLineStipple,
  kDepthBias,
  kDepthBiasEnable,
  kBlendConstants,
  kDepthBounds,
  kDepthBoundsTestEnable,
  kStencilCompareMask,
  kStencilWriteMask,
  kStencilReference,
  kStencilTestEnable,
  kStencilOp,
  kCullMode,
  kFrontFace,
  kTopology,
  kPrimitiveRestartEnable,
  kRasterizerDiscardEnable,
  kDepthTestEnable,
  kDepthWriteEnable,
  kDepthCompareOp,
  kVertexInput,
  kVertexStride,
  kColorWriteEnable,
  kLogicOp,
};

class DynamicSet {
 public:
  DynamicSet& operator|=(DynamicSet other) {
    bits_ |= other.bits_;
    return *this;
  }
  DynamicSet operator&(DynamicSet other) const {
    other.bits_ &= bits_;
    return other;
  }
  void add(Dynamic d) { bits_ |= 1u << static_cast<uint32_t>(d); }
  bool has(Dynamic d) const { return (bits_ & (1u << static_cast<uint32_t>(d))) != 0; }

 private:
  uint32_t bits_ = 0;
};

/// States that the driver does not know are ignored: it has not the extension that brings them.
DynamicSet dynamicSetOf(const VkPipelineDynamicStateCreateInfo* info);

/// Vertex input by locations and bindings, as the API has it; abi::VertexInputState has a program's slots.
struct VertexInputValues {
  struct Attribute {
    uint8_t location, binding;
    uint16_t reserved;
    uint32_t format;  // VkFormat
    uint32_t offset_B;
    bool operator==(const Attribute&) const = default;
  };
  struct Binding {
    abi::AttributeRate rate = abi::AttributeRate::kVertex;
    uint32_t divisor = 1;
    bool operator==(const Binding&) const = default;
  };
  uint32_t attributeCount = 0;
  Attribute attributes[abi::kMaxVertexAttributes]{};
  Binding bindings[abi::kMaxVertexAttributes]{};
  bool operator==(const VertexInputValues&) const = default;

  /// An attribute beyond the limits, which is not allowed, is left out.
  void add(uint32_t location, uint32_t binding, VkFormat format, uint32_t offset_B);
};

/// The slots of a program, fed by the attributes of its locations.
abi::VertexInputState vertexInputState(const VertexInputValues& values, const abi::VertexProgram& program);

struct DrawValues {
  VertexInputValues vertexInput;
  uint32_t vertexStride_B[abi::kMaxVertexAttributes]{};
  abi::ViewportState viewports{};
  uint32_t scissorCount = 0;
  abi::RasterState raster{};
  abi::FragmentState fragment{};  // viewportDepth is filled in when it is written
};

/// Which attachments the pipeline's subpass has at all. The structures of the others may not even exist.
struct DrawTargets {
  bool depthStencil = false, color = false;
};

/// The values of a create info; those that are dynamic may be anything. Parts that a pipeline library does not have are
/// left alone.
void readDrawValues(const VkGraphicsPipelineCreateInfo& info, DynamicSet dynamic, DrawTargets targets, DrawValues* out);

/// Parts of a graphics pipeline, which may come from different libraries.
using PipelineParts = VkGraphicsPipelineLibraryFlagsEXT;
inline constexpr PipelineParts kAllParts = VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT |
                                           VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT |
                                           VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT |
                                           VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT;
/// What of the state can be dynamic in these parts.
DynamicSet dynamicOf(PipelineParts parts);
/// Copies the values of these parts.
void copyParts(const DrawValues& from, PipelineParts parts, DrawValues* to);

/// What copyStaticValues() and setters changed: bits of abi::DrawState's groups.
enum DrawGroups : uint32_t {
  kGroupVertexInput = 1,
  kGroupVertexBuffers = 2,
  kGroupViewports = 4,
  kGroupRaster = 8,
  kGroupFragment = 16,
};

/// Copies what is not dynamic. Returns the groups that are not what they were.
uint32_t copyStaticValues(const DrawValues& from, DynamicSet dynamic, DrawValues* to);

}  // namespace pumice::icd
