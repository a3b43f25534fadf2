#include "icd/objects/draw_values.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "icd/objects/pnext.h"

namespace pumice::icd {
namespace {

void setFlag(uint16_t* flags, uint16_t flag, bool on) {
  *flags = static_cast<uint16_t>(on ? *flags | flag : *flags & ~flag);
}

void setFlag(uint8_t* flags, uint8_t flag, bool on) {
  *flags = static_cast<uint8_t>(on ? *flags | flag : *flags & ~flag);
}

void readVertexInput(const VkPipelineVertexInputStateCreateInfo& info, DrawValues* out) {
  VertexInputValues& v = out->vertexInput;
  for (uint32_t i = 0; i < info.vertexBindingDescriptionCount; ++i) {
    const VkVertexInputBindingDescription& b = info.pVertexBindingDescriptions[i];
    if (b.binding >= abi::kMaxVertexAttributes) continue;  // not allowed
    v.bindings[b.binding].rate =
        b.inputRate == VK_VERTEX_INPUT_RATE_INSTANCE ? abi::AttributeRate::kInstance : abi::AttributeRate::kVertex;
    out->vertexStride_B[b.binding] = b.stride;
  }
  if (const auto* divisors = findInChain<VkPipelineVertexInputDivisorStateCreateInfoEXT>(info.pNext)) {
    for (uint32_t i = 0; i < divisors->vertexBindingDivisorCount; ++i) {
      const VkVertexInputBindingDivisorDescriptionEXT& d = divisors->pVertexBindingDivisors[i];
      if (d.binding < abi::kMaxVertexAttributes) v.bindings[d.binding].divisor = d.divisor;
    }
  }
  for (uint32_t i = 0; i < info.vertexAttributeDescriptionCount; ++i) {
    const VkVertexInputAttributeDescription& a = info.pVertexAttributeDescriptions[i];
    v.add(a.location, a.binding, a.format, a.offset);
  }
}

void readViewports(const VkPipelineViewportStateCreateInfo& info, DynamicSet dynamic, DrawValues* out) {
  // More than the limit are not allowed.
  out->viewports.count = std::min(info.viewportCount, abi::kMaxViewports);
  out->scissorCount = std::min(info.scissorCount, abi::kMaxViewports);
  const auto* control = findInChain<VkPipelineViewportDepthClipControlCreateInfoEXT>(info.pNext);
  out->viewports.depthNegativeOneToOne = control != nullptr && control->negativeOneToOne ? 1 : 0;
  if (!dynamic.has(Dynamic::kViewports)) {
    for (uint32_t i = 0; i < out->viewports.count; ++i) {
      const VkViewport& v = info.pViewports[i];
      out->viewports.viewports[i] = {v.x, v.y, v.width, v.height, v.minDepth, v.maxDepth};
    }
  }
  if (!dynamic.has(Dynamic::kScissors)) {
    for (uint32_t i = 0; i < out->scissorCount; ++i) {
      const VkRect2D& s = info.pScissors[i];
      out->viewports.scissors[i] = {s.offset.x, s.offset.y, s.extent.width, s.extent.height};
    }
  }
}

abi::LineMode lineMode(VkLineRasterizationModeEXT mode) {
  switch (mode) {
    case VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT:
      return abi::LineMode::kBresenham;
    case VK_LINE_RASTERIZATION_MODE_RECTANGULAR_SMOOTH_EXT:
      return abi::LineMode::kRectangularSmooth;
    default:
      return abi::LineMode::kRectangular;
  }
}

void readRasterization(const VkPipelineRasterizationStateCreateInfo& info, DrawValues* out) {
  abi::RasterState& r = out->raster;
  r.polygonMode = static_cast<uint8_t>(info.polygonMode);
  r.lineWidth = info.lineWidth;
  r.depthBiasConstant = info.depthBiasConstantFactor;
  r.depthBiasClamp = info.depthBiasClamp;
  r.depthBiasSlope = info.depthBiasSlopeFactor;
  // Without the structure, what is clamped is not clipped (Vulkan 1.3, 27.4).
  const auto* clip = findInChain<VkPipelineRasterizationDepthClipStateCreateInfoEXT>(info.pNext);
  setFlag(&r.flags, abi::kRasterDepthClip, clip != nullptr ? clip->depthClipEnable : !info.depthClampEnable);
  setFlag(&r.flags, abi::kRasterDepthBias, info.depthBiasEnable);
  setFlag(&r.flags, abi::kRasterDiscard, info.rasterizerDiscardEnable);
  setFlag(&r.flags, abi::kRasterFrontClockwise, info.frontFace == VK_FRONT_FACE_CLOCKWISE);
  setFlag(&r.flags, abi::kRasterCullFront, (info.cullMode & VK_CULL_MODE_FRONT_BIT) != 0);
  setFlag(&r.flags, abi::kRasterCullBack, (info.cullMode & VK_CULL_MODE_BACK_BIT) != 0);
  if (const auto* p = findInChain<VkPipelineRasterizationProvokingVertexStateCreateInfoEXT>(info.pNext)) {
    setFlag(&r.flags, abi::kRasterProvokingLast, p->provokingVertexMode == VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT);
  }
  if (const auto* line = findInChain<VkPipelineRasterizationLineStateCreateInfoEXT>(info.pNext)) {
    r.lineMode = lineMode(line->lineRasterizationMode);
    setFlag(&r.flags, abi::kRasterStipple, line->stippledLineEnable);
    r.stippleFactor = line->lineStippleFactor;
    r.stipplePattern = line->lineStipplePattern;
  }
  setFlag(&out->fragment.depthFlags, abi::kDepthClamp, info.depthClampEnable);
}

abi::StencilFace stencilFace(const VkStencilOpState& s) {
  // The masks are of the eight bits that stencil formats have (Vulkan 1.3, 29.7).
  return {static_cast<uint8_t>(s.reference),   static_cast<uint8_t>(s.compareMask),
          static_cast<uint8_t>(s.writeMask),   static_cast<uint8_t>(s.compareOp),
          static_cast<uint8_t>(s.failOp),      static_cast<uint8_t>(s.passOp),
          static_cast<uint8_t>(s.depthFailOp), 0};
}

void readDepthStencil(const VkPipelineDepthStencilStateCreateInfo& info, DrawValues* out) {
  abi::FragmentState& f = out->fragment;
  setFlag(&f.depthFlags, abi::kDepthTest, info.depthTestEnable);
  setFlag(&f.depthFlags, abi::kDepthWrite, info.depthWriteEnable);
  setFlag(&f.depthFlags, abi::kDepthBounds, info.depthBoundsTestEnable);
  setFlag(&f.depthFlags, abi::kStencilTest, info.stencilTestEnable);
  f.depthCompareOp = static_cast<uint8_t>(info.depthCompareOp);
  f.depthBoundsMin = info.minDepthBounds;
  f.depthBoundsMax = info.maxDepthBounds;
  f.front = stencilFace(info.front);
  f.back = stencilFace(info.back);
}

// Compares bits, so that what is set to what it was costs no new block.
class Copier {
 public:
  explicit Copier(DynamicSet dynamic) : dynamic_(dynamic) {}

  template <typename T>
  void copy(Dynamic unless, const T& from, T* to, DrawGroups group) {
    if (!dynamic_.has(unless)) copy(from, to, group);
  }
  template <typename T>
  void copy(const T& from, T* to, DrawGroups group) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);  // no padding
    if (std::memcmp(&from, to, sizeof(T)) == 0) return;
    *to = from;
    changed_ |= group;
  }
  template <typename T>
  void copyArray(const T* from, T* to, uint32_t count, DrawGroups group) {
    if (std::memcmp(from, to, count * sizeof(T)) == 0) return;
    std::copy_n(from, count, to);
    changed_ |= group;
  }
  template <typename T>
  void copyFlags(T mask, T from, T* to, DrawGroups group) {
    copy(static_cast<T>((*to & ~mask) | (from & mask)), to, group);
  }
  template <typename T>
  void copyFlags(Dynamic unless, T mask, T from, T* to, DrawGroups group) {
    if (!dynamic_.has(unless)) copyFlags(mask, from, to, group);
  }
  void note(DrawGroups group) { changed_ |= group; }
  bool isDynamic(Dynamic d) const { return dynamic_.has(d); }
  uint32_t changed() const { return changed_; }

 private:
  DynamicSet dynamic_;
  uint32_t changed_ = 0;
};

void copyViewports(const DrawValues& from, DrawValues* to, Copier* c) {
  c->copy(from.viewports.depthNegativeOneToOne, &to->viewports.depthNegativeOneToOne, kGroupViewports);
  c->copy(Dynamic::kViewportCount, from.viewports.count, &to->viewports.count, kGroupViewports);
  c->copy(Dynamic::kScissorCount, from.scissorCount, &to->scissorCount, kGroupViewports);
  if (!c->isDynamic(Dynamic::kViewports)) {
    c->copyArray(from.viewports.viewports, to->viewports.viewports, from.viewports.count, kGroupViewports);
  }
  if (!c->isDynamic(Dynamic::kScissors)) {
    c->copyArray(from.viewports.scissors, to->viewports.scissors, from.scissorCount, kGroupViewports);
  }
}

void copyRaster(const abi::RasterState& from, abi::RasterState* to, Copier* c) {
  c->copy(Dynamic::kTopology, from.topology, &to->topology, kGroupRaster);
  c->copy(from.polygonMode, &to->polygonMode, kGroupRaster);
  c->copy(from.lineMode, &to->lineMode, kGroupRaster);
  c->copy(from.samples_log2, &to->samples_log2, kGroupRaster);
  c->copy(Dynamic::kLineStipple, from.stipplePattern, &to->stipplePattern, kGroupRaster);
  c->copy(Dynamic::kLineStipple, from.stippleFactor, &to->stippleFactor, kGroupRaster);
  c->copy(Dynamic::kLineWidth, from.lineWidth, &to->lineWidth, kGroupRaster);
  c->copy(Dynamic::kDepthBias, from.depthBiasConstant, &to->depthBiasConstant, kGroupRaster);
  c->copy(Dynamic::kDepthBias, from.depthBiasClamp, &to->depthBiasClamp, kGroupRaster);
  c->copy(Dynamic::kDepthBias, from.depthBiasSlope, &to->depthBiasSlope, kGroupRaster);
  const auto flags = [&](Dynamic unless, int mask) {
    c->copyFlags<uint16_t>(unless, static_cast<uint16_t>(mask), from.flags, &to->flags, kGroupRaster);
  };
  flags(Dynamic::kPrimitiveRestartEnable, abi::kRasterPrimitiveRestart);
  flags(Dynamic::kDepthBiasEnable, abi::kRasterDepthBias);
  flags(Dynamic::kFrontFace, abi::kRasterFrontClockwise);
  flags(Dynamic::kCullMode, abi::kRasterCullFront | abi::kRasterCullBack);
  flags(Dynamic::kRasterizerDiscardEnable, abi::kRasterDiscard);
  constexpr uint16_t kAlwaysStatic = abi::kRasterDepthClip | abi::kRasterProvokingLast | abi::kRasterStipple;
  c->copyFlags<uint16_t>(kAlwaysStatic, from.flags, &to->flags, kGroupRaster);
}

void copyStencil(const abi::StencilFace& from, abi::StencilFace* to, Copier* c) {
  c->copy(Dynamic::kStencilReference, from.reference, &to->reference, kGroupFragment);
  c->copy(Dynamic::kStencilCompareMask, from.compareMask, &to->compareMask, kGroupFragment);
  c->copy(Dynamic::kStencilWriteMask, from.writeMask, &to->writeMask, kGroupFragment);
  for (uint8_t abi::StencilFace::*op : {&abi::StencilFace::compareOp, &abi::StencilFace::failOp,
                                        &abi::StencilFace::passOp, &abi::StencilFace::depthFailOp}) {
    c->copy(Dynamic::kStencilOp, from.*op, &(to->*op), kGroupFragment);
  }
}

void copyFragment(const abi::FragmentState& from, abi::FragmentState* to, Copier* c) {
  if (!c->isDynamic(Dynamic::kBlendConstants)) {
    c->copyArray(from.blendConstant, to->blendConstant, 4, kGroupFragment);
  }
  c->copy(Dynamic::kDepthBounds, from.depthBoundsMin, &to->depthBoundsMin, kGroupFragment);
  c->copy(Dynamic::kDepthBounds, from.depthBoundsMax, &to->depthBoundsMax, kGroupFragment);
  c->copy(Dynamic::kDepthCompareOp, from.depthCompareOp, &to->depthCompareOp, kGroupFragment);
  c->copy(Dynamic::kColorWriteEnable, from.colorWriteEnable, &to->colorWriteEnable, kGroupFragment);
  c->copy(Dynamic::kLogicOp, from.logicOp, &to->logicOp, kGroupFragment);
  c->copy(from.sampleMask, &to->sampleMask, kGroupFragment);
  const auto flags = [&](Dynamic unless, uint8_t mask) {
    c->copyFlags<uint8_t>(unless, mask, from.depthFlags, &to->depthFlags, kGroupFragment);
  };
  flags(Dynamic::kDepthTestEnable, abi::kDepthTest);
  flags(Dynamic::kDepthWriteEnable, abi::kDepthWrite);
  flags(Dynamic::kDepthBoundsTestEnable, abi::kDepthBounds);
  flags(Dynamic::kStencilTestEnable, abi::kStencilTest);
  c->copyFlags<uint8_t>(abi::kDepthClamp, from.depthFlags, &to->depthFlags, kGroupFragment);
  copyStencil(from.front, &to->front, c);
  copyStencil(from.back, &to->back, c);
}

}  // namespace

void VertexInputValues::add(uint32_t location, uint32_t binding, VkFormat format, uint32_t offset_B) {
  constexpr uint32_t kMost = abi::kMaxVertexAttributes;
  if (attributeCount == kMost || location >= kMost || binding >= kMost) return;
  attributes[attributeCount++] = {static_cast<uint8_t>(location), static_cast<uint8_t>(binding), 0,
                                  static_cast<uint32_t>(format), offset_B};
}

DynamicSet dynamicSetOf(const VkPipelineDynamicStateCreateInfo* info) {
  static constexpr struct {
    VkDynamicState state;
    Dynamic is;
  } kStates[] = {
      {VK_DYNAMIC_STATE_VIEWPORT, Dynamic::kViewports},
      {VK_DYNAMIC_STATE_SCISSOR, Dynamic::kScissors},
      {VK_DYNAMIC_STATE_LINE_WIDTH, Dynamic::kLineWidth},
      {VK_DYNAMIC_STATE_LINE_STIPPLE_EXT, Dynamic::kLineStipple},
      {VK_DYNAMIC_STATE_DEPTH_BIAS, Dynamic::kDepthBias},
      {VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE, Dynamic::kDepthBiasEnable},
      {VK_DYNAMIC_STATE_BLEND_CONSTANTS, Dynamic::kBlendConstants},
      {VK_DYNAMIC_STATE_DEPTH_BOUNDS, Dynamic::kDepthBounds},
      {VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE, Dynamic::kDepthBoundsTestEnable},
      {VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK, Dynamic::kStencilCompareMask},
      {VK_DYNAMIC_STATE_STENCIL_WRITE_MASK, Dynamic::kStencilWriteMask},
      {VK_DYNAMIC_STATE_STENCIL_REFERENCE, Dynamic::kStencilReference},
      {VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE, Dynamic::kStencilTestEnable},
      {VK_DYNAMIC_STATE_STENCIL_OP, Dynamic::kStencilOp},
      {VK_DYNAMIC_STATE_CULL_MODE, Dynamic::kCullMode},
      {VK_DYNAMIC_STATE_FRONT_FACE, Dynamic::kFrontFace},
      {VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY, Dynamic::kTopology},
      {VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE, Dynamic::kPrimitiveRestartEnable},
      {VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE, Dynamic::kRasterizerDiscardEnable},
      {VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE, Dynamic::kDepthTestEnable},
      {VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE, Dynamic::kDepthWriteEnable},
      {VK_DYNAMIC_STATE_DEPTH_COMPARE_OP, Dynamic::kDepthCompareOp},
      {VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE, Dynamic::kVertexStride},
      {VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT, Dynamic::kColorWriteEnable},
      {VK_DYNAMIC_STATE_LOGIC_OP_EXT, Dynamic::kLogicOp},
  };
  DynamicSet set;
  for (uint32_t i = 0; info != nullptr && i < info->dynamicStateCount; ++i) {
    const VkDynamicState state = info->pDynamicStates[i];
    for (const auto& known : kStates) {
      if (known.state == state) set.add(known.is);
    }
    // These stand for two.
    if (state == VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT) {
      set.add(Dynamic::kViewports);
      set.add(Dynamic::kViewportCount);
    } else if (state == VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT) {
      set.add(Dynamic::kScissors);
      set.add(Dynamic::kScissorCount);
    } else if (state == VK_DYNAMIC_STATE_VERTEX_INPUT_EXT) {
      set.add(Dynamic::kVertexInput);
      set.add(Dynamic::kVertexStride);
    }
  }
  return set;
}

abi::VertexInputState vertexInputState(const VertexInputValues& values, const abi::VertexProgram& program) {
  abi::VertexInputState state{};
  for (uint32_t slot = 0; slot < program.inputSlotCount; ++slot) {
    const uint8_t location = program.inputLocation[slot];
    const auto* end = values.attributes + values.attributeCount;
    const auto* a = std::find_if(values.attributes, end, [&](const auto& v) { return v.location == location; });
    if (a == end) {
      state.unboundSlots |= 1u << slot;
      continue;
    }
    const VertexInputValues::Binding& binding = values.bindings[a->binding];
    // Vectors of three and four 64-bit components fill two locations, if the shader's vector has two.
    const auto format = static_cast<VkFormat>(a->format);
    const bool isWide = format >= VK_FORMAT_R64G64B64_UINT && format <= VK_FORMAT_R64G64B64A64_SFLOAT;
    const bool two = isWide && slot + 1 < program.inputSlotCount && program.inputLocation[slot + 1] == location + 1;
    state.attributes[state.attributeCount++] = {a->format,      a->offset_B,  static_cast<uint8_t>(slot),
                                                a->binding,     binding.rate, static_cast<uint8_t>(two ? 2 : 1),
                                                binding.divisor};
    if (two) ++slot;
  }
  return state;
}

void readDrawValues(const VkGraphicsPipelineCreateInfo& info, DynamicSet dynamic, DrawTargets targets,
                    DrawValues* out) {
  if (info.pVertexInputState != nullptr && !dynamic.has(Dynamic::kVertexInput)) {
    readVertexInput(*info.pVertexInputState, out);
  }
  if (const auto* assembly = info.pInputAssemblyState) {
    out->raster.topology = static_cast<uint8_t>(assembly->topology);
    setFlag(&out->raster.flags, abi::kRasterPrimitiveRestart, assembly->primitiveRestartEnable);
  }
  bool discards = false;
  if (info.pRasterizationState != nullptr) {
    readRasterization(*info.pRasterizationState, out);
    discards = info.pRasterizationState->rasterizerDiscardEnable && !dynamic.has(Dynamic::kRasterizerDiscardEnable);
  }
  out->fragment.sampleMask = ~0u;
  out->fragment.colorWriteEnable = 0xFF;
  // Of what is never rasterised these may be dangling pointers (Vulkan 1.3, 10.3).
  if (discards) return;
  if (info.pViewportState != nullptr) readViewports(*info.pViewportState, dynamic, out);
  if (const auto* multisample = info.pMultisampleState) {
    const auto samples =
        std::clamp<uint32_t>(multisample->rasterizationSamples, 1, abi::kMaxSamples);  // what is allowed
    out->raster.samples_log2 = static_cast<uint8_t>(std::countr_zero(samples));
    if (multisample->pSampleMask != nullptr) out->fragment.sampleMask = multisample->pSampleMask[0];
  }
  if (info.pDepthStencilState != nullptr && targets.depthStencil) readDepthStencil(*info.pDepthStencilState, out);
  if (const auto* blend = info.pColorBlendState; blend != nullptr && targets.color) {
    std::copy_n(blend->blendConstants, 4, out->fragment.blendConstant);
    out->fragment.logicOp = static_cast<uint8_t>(blend->logicOp);
    if (const auto* writes = findInChain<VkPipelineColorWriteCreateInfoEXT>(blend->pNext)) {
      const uint32_t count = std::min(writes->attachmentCount, abi::kMaxColorAttachments);
      for (uint32_t i = 0; writes->pColorWriteEnables != nullptr && i < count; ++i) {
        setFlag(&out->fragment.colorWriteEnable, static_cast<uint8_t>(1u << i), writes->pColorWriteEnables[i]);
      }
    }
  }
}

DynamicSet dynamicOf(PipelineParts parts) {
  DynamicSet set;
  const auto add = [&](VkGraphicsPipelineLibraryFlagBitsEXT part, std::initializer_list<Dynamic> states) {
    if ((parts & part) == 0) return;
    for (Dynamic d : states) set.add(d);
  };
  using enum Dynamic;
  add(VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT,
      {kTopology, kPrimitiveRestartEnable, kVertexInput, kVertexStride});
  add(VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT,
      {kViewports, kViewportCount, kScissors, kScissorCount, kLineWidth, kLineStipple, kDepthBias, kDepthBiasEnable,
       kCullMode, kFrontFace, kRasterizerDiscardEnable});
  add(VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT,
      {kDepthBounds, kDepthBoundsTestEnable, kStencilCompareMask, kStencilWriteMask, kStencilReference,
       kStencilTestEnable, kStencilOp, kDepthTestEnable, kDepthWriteEnable, kDepthCompareOp});
  add(VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT, {kBlendConstants, kColorWriteEnable, kLogicOp});
  return set;
}

void copyParts(const DrawValues& from, PipelineParts parts, DrawValues* to) {
  const abi::RasterState& r = from.raster;
  const abi::FragmentState& f = from.fragment;
  if ((parts & VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT) != 0) {
    to->vertexInput = from.vertexInput;
    std::copy(std::begin(from.vertexStride_B), std::end(from.vertexStride_B), to->vertexStride_B);
    to->raster.topology = r.topology;
    setFlag(&to->raster.flags, abi::kRasterPrimitiveRestart, (r.flags & abi::kRasterPrimitiveRestart) != 0);
  }
  if ((parts & VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT) != 0) {
    to->viewports = from.viewports;
    to->scissorCount = from.scissorCount;
    const abi::RasterState before = to->raster;
    to->raster = r;
    to->raster.topology = before.topology;
    to->raster.samples_log2 = before.samples_log2;
    setFlag(&to->raster.flags, abi::kRasterPrimitiveRestart, (before.flags & abi::kRasterPrimitiveRestart) != 0);
    setFlag(&to->fragment.depthFlags, abi::kDepthClamp, (f.depthFlags & abi::kDepthClamp) != 0);
  }
  if ((parts & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT) != 0) {
    const abi::FragmentState before = to->fragment;
    to->fragment = f;
    setFlag(&to->fragment.depthFlags, abi::kDepthClamp, (before.depthFlags & abi::kDepthClamp) != 0);
    std::copy(std::begin(before.blendConstant), std::end(before.blendConstant), to->fragment.blendConstant);
    to->fragment.colorWriteEnable = before.colorWriteEnable;
    to->fragment.logicOp = before.logicOp;
    to->fragment.sampleMask = before.sampleMask;
  }
  if ((parts & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT) != 0) {
    std::copy(std::begin(f.blendConstant), std::end(f.blendConstant), to->fragment.blendConstant);
    to->fragment.colorWriteEnable = f.colorWriteEnable;
    to->fragment.logicOp = f.logicOp;
    to->fragment.sampleMask = f.sampleMask;
    to->raster.samples_log2 = r.samples_log2;
  }
}

uint32_t copyStaticValues(const DrawValues& from, DynamicSet dynamic, DrawValues* to) {
  Copier c(dynamic);
  if (!dynamic.has(Dynamic::kVertexInput) && to->vertexInput != from.vertexInput) {
    to->vertexInput = from.vertexInput;
    c.note(kGroupVertexInput);
  }
  if (!dynamic.has(Dynamic::kVertexStride)) {
    c.copyArray(from.vertexStride_B, to->vertexStride_B, abi::kMaxVertexAttributes, kGroupVertexBuffers);
  }
  copyViewports(from, to, &c);
  copyRaster(from.raster, &to->raster, &c);
  copyFragment(from.fragment, &to->fragment, &c);
  return c.changed();
}

}  // namespace pumice::icd
