#include "icd/objects/fragment_key.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "icd/objects/pnext.h"

namespace pumice::icd {
namespace {

// Minimum and maximum are of the colors as they are.
bool usesFactors(VkBlendOp op) {
  return op != VK_BLEND_OP_MIN && op != VK_BLEND_OP_MAX;
}

shader::ColorTarget colorTarget(VkFormat format, const VkPipelineColorBlendAttachmentState& a, bool blends,
                                bool writes) {
  shader::ColorTarget t{};
  t.format = format;
  if (!writes) return t;
  t.writeMask = static_cast<uint8_t>(a.colorWriteMask);
  t.blendEnable = blends && a.blendEnable;
  if (t.blendEnable == 0) return t;
  t.colorOp = static_cast<uint8_t>(a.colorBlendOp);
  t.alphaOp = static_cast<uint8_t>(a.alphaBlendOp);
  if (usesFactors(a.colorBlendOp)) {
    t.srcColorFactor = static_cast<uint8_t>(a.srcColorBlendFactor);
    t.dstColorFactor = static_cast<uint8_t>(a.dstColorBlendFactor);
  }
  if (usesFactors(a.alphaBlendOp)) {
    t.srcAlphaFactor = static_cast<uint8_t>(a.srcAlphaBlendFactor);
    t.dstAlphaFactor = static_cast<uint8_t>(a.dstAlphaBlendFactor);
  }
  return t;
}

void addColors(const VkPipelineColorBlendStateCreateInfo& info, DynamicSet dynamic, uint8_t writeEnable,
               const AttachmentFormats& formats, shader::FragmentKey* key) {
  // A logic operation takes the place of blending in all attachments (Vulkan 1.3, 29.2).
  const bool blends = !info.logicOpEnable;
  bool any = false;
  for (uint32_t i = 0; i < std::min(formats.colorCount, info.attachmentCount); ++i) {
    if (formats.color[i] == VK_FORMAT_UNDEFINED) continue;
    any = true;
    const bool writes = dynamic.has(Dynamic::kColorWriteEnable) || (writeEnable >> i & 1) != 0;
    key->color[i] = colorTarget(formats.color[i], info.pAttachments[i], blends, writes);
  }
  if (!any) return;
  if (dynamic.has(Dynamic::kColorWriteEnable)) key->dynamic |= shader::kDynamicColorWrite;
  if (blends) return;
  key->flags |= shader::kKeyLogicOp;
  if (dynamic.has(Dynamic::kLogicOp)) {
    key->dynamic |= shader::kDynamicLogicOp;
  } else {
    key->logicOp = static_cast<uint8_t>(info.logicOp);
  }
}

void addSamples(const VkPipelineMultisampleStateCreateInfo& info, shader::FragmentKey* key) {
  // One sample at a time is what any fraction above one sample asks for (Vulkan 1.3, 27.5.1).
  const float samples = static_cast<float>(info.rasterizationSamples);
  if (info.sampleShadingEnable && std::ceil(info.minSampleShading * samples) > 1) {
    key->flags |= shader::kKeySampleShading;
  }
  if (info.alphaToCoverageEnable) key->flags |= shader::kKeyAlphaToCoverage;
  if (info.alphaToOneEnable) key->flags |= shader::kKeyAlphaToOne;
}

void addTests(const abi::FragmentState& state, DynamicSet dynamic, shader::FragmentKey* key) {
  constexpr struct {
    Dynamic state;
    abi::DepthFlags flag;
  } kFlags[] = {{Dynamic::kDepthTestEnable, abi::kDepthTest},
                {Dynamic::kDepthWriteEnable, abi::kDepthWrite},
                {Dynamic::kDepthBoundsTestEnable, abi::kDepthBounds},
                {Dynamic::kStencilTestEnable, abi::kStencilTest}};
  unsigned flags = state.depthFlags, open = 0;
  for (const auto& f : kFlags) {
    if (dynamic.has(f.state)) open |= f.flag;
  }
  flags |= open;
  if (key->depthFormat == VK_FORMAT_UNDEFINED) {
    flags &= ~unsigned{abi::kDepthTest | abi::kDepthWrite | abi::kDepthBounds | abi::kDepthClamp};
  }
  if (key->stencilFormat == VK_FORMAT_UNDEFINED) flags &= ~unsigned{abi::kStencilTest};
  if ((flags & abi::kDepthTest) == 0) flags &= ~unsigned{abi::kDepthWrite};
  key->depthFlags = static_cast<uint8_t>(flags);
  if ((flags & open) != 0) key->dynamic |= shader::kDynamicDepthFlags;

  if ((flags & abi::kDepthTest) != 0) {
    if (dynamic.has(Dynamic::kDepthCompareOp)) {
      key->dynamic |= shader::kDynamicDepthCompare;
    } else {
      key->depthCompareOp = state.depthCompareOp;
    }
  }
  if ((flags & abi::kStencilTest) == 0) return;
  if (dynamic.has(Dynamic::kStencilOp)) {
    key->dynamic |= shader::kDynamicStencilOps;
    return;
  }
  const auto ops = [](const abi::StencilFace& f) {
    return shader::StencilOps{f.compareOp, f.failOp, f.passOp, f.depthFailOp};
  };
  key->front = ops(state.front);
  key->back = ops(state.back);
}

}  // namespace

void addOutputs(const VkGraphicsPipelineCreateInfo& info, DynamicSet dynamic, const DrawValues& values,
                const AttachmentFormats& formats, shader::FragmentKey* key) {
  if (info.pMultisampleState != nullptr) addSamples(*info.pMultisampleState, key);
  if (info.pColorBlendState != nullptr && formats.colorCount != 0) {
    addColors(*info.pColorBlendState, dynamic, values.fragment.colorWriteEnable, formats, key);
  }
}

void addTests(DynamicSet dynamic, const DrawValues& values, const AttachmentFormats& formats,
              shader::FragmentKey* key) {
  std::memset(key->varyingSlot, shader::kNotLinked, sizeof key->varyingSlot);
  key->depthFormat = formats.depth;
  key->stencilFormat = formats.stencil;
  key->samples_log2 = values.raster.samples_log2;
  addTests(values.fragment, dynamic, key);
}

void linkVaryings(const shader::VertexInterface& vertex, shader::FragmentKey* key) {
  for (uint32_t slot = 0; slot < vertex.varyingSlotCount; ++slot) {
    const uint8_t location = vertex.varyingLocation[slot];
    if (location < shader::kMaxLinkedLocations) key->varyingSlot[location] = static_cast<uint8_t>(slot);
  }
}

}  // namespace pumice::icd
