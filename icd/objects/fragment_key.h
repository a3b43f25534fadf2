// What of a graphics pipeline's state fragment code is compiled for (shader::FragmentKey): two pipelines with the same
// key and shader share code, so whatever has no effect is left out of it.
#pragma once

#include <vulkan/vulkan_core.h>

#include "icd/objects/draw_values.h"
#include "shaders/compiler.h"

namespace pumice::icd {

/// Of the pipeline's subpass, or of dynamic rendering. VK_FORMAT_UNDEFINED: there is no such attachment.
struct AttachmentFormats {
  VkFormat color[abi::kMaxColorAttachments]{};
  uint32_t colorCount = 0;
  VkFormat depth = VK_FORMAT_UNDEFINED, stencil = VK_FORMAT_UNDEFINED;  // of the planes
};

/// As far as these parts of a pipeline say. What others say is not looked at: it may point to anything.
AttachmentFormats attachmentFormats(const VkGraphicsPipelineCreateInfo& info, PipelineParts parts);

/// What follows from the output interface and the samples, as far as `info` has them: to be called with the create info
/// of each part of a pipeline. `values` are those of `info`. Not for pipelines that always discard.
void addOutputs(const VkGraphicsPipelineCreateInfo& info, DynamicSet dynamic, const DrawValues& values,
                const AttachmentFormats& formats, shader::FragmentKey* key);
/// All but the links to the vertex stage, from a key that has the outputs.
void addTests(DynamicSet dynamic, const DrawValues& values, const AttachmentFormats& formats, shader::FragmentKey* key);

/// Where fragment code finds the outputs of the vertex stage.
void linkVaryings(const shader::VertexInterface& vertex, shader::FragmentKey* key);

}  // namespace pumice::icd
