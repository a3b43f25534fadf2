#include "icd/objects/graphics_pipeline.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backend/formats/format_table.h"
#include "backend/trace/log.h"
#include "gen/entrypoints.h"
#include "icd/objects/pipeline_layout.h"
#include "icd/objects/pnext.h"
#include "icd/objects/render_pass.h"

namespace pumice::icd {
namespace {

const VkPipelineShaderStageCreateInfo* stageOf(const VkGraphicsPipelineCreateInfo& info, VkShaderStageFlagBits stage) {
  const auto* end = info.pStages + info.stageCount;
  const auto* at = std::find_if(info.pStages, end, [&](const auto& s) { return s.stage == stage; });
  return at != end ? at : nullptr;
}

bool hasOtherStages(const VkGraphicsPipelineCreateInfo& info) {
  return std::any_of(info.pStages, info.pStages + info.stageCount, [](const auto& s) {
    return s.stage != VK_SHADER_STAGE_VERTEX_BIT && s.stage != VK_SHADER_STAGE_FRAGMENT_BIT;
  });
}

void setDepthStencil(VkFormat depth, VkFormat stencil, AttachmentFormats* out) {
  if (depth != VK_FORMAT_UNDEFINED && formats::hasDepth(formats::formatInfo(depth))) {
    out->depth = formats::aspectFormat(depth, VK_IMAGE_ASPECT_DEPTH_BIT);
  }
  if (stencil != VK_FORMAT_UNDEFINED && formats::hasStencil(formats::formatInfo(stencil))) {
    out->stencil = formats::aspectFormat(stencil, VK_IMAGE_ASPECT_STENCIL_BIT);
  }
}

}  // namespace

AttachmentFormats attachmentFormats(const VkGraphicsPipelineCreateInfo& info) {
  AttachmentFormats out;
  if (const RenderPass* pass = RenderPass::from(info.renderPass)) {
    const Subpass& subpass = pass->subpasses()[info.subpass];
    const auto formatOf = [&](const AttachmentReference& r) {
      return r.used() ? pass->attachments()[r.attachment].format : VK_FORMAT_UNDEFINED;
    };
    out.colorCount = std::min(static_cast<uint32_t>(subpass.colors.size()), abi::kMaxColorAttachments);
    for (uint32_t i = 0; i < out.colorCount; ++i) out.color[i] = formatOf(subpass.colors[i]);
    const VkFormat depthStencil = formatOf(subpass.depthStencil);
    setDepthStencil(depthStencil, depthStencil, &out);
  } else if (const auto* rendering = findInChain<VkPipelineRenderingCreateInfo>(info.pNext)) {
    out.colorCount = std::min(rendering->colorAttachmentCount, abi::kMaxColorAttachments);
    std::copy_n(rendering->pColorAttachmentFormats, out.colorCount, out.color);
    setDepthStencil(rendering->depthAttachmentFormat, rendering->stencilAttachmentFormat, &out);
  }
  return out;
}

GraphicsBuild::GraphicsBuild(const VkGraphicsPipelineCreateInfo& info, const CodeCaches& caches)
    : PipelineBuild(info.flags), info_(info), dynamic_(dynamicSetOf(info.pDynamicState)) {
  const VkPipelineShaderStageCreateInfo* vertex = stageOf(info, VK_SHADER_STAGE_VERTEX_BIT);
  if (vertex == nullptr || hasOtherStages(info)) {
    PUMICE_ERROR("icd", "vkCreateGraphicsPipelines: only vertex and fragment stages are supported");
    result_ = VK_ERROR_INITIALIZATION_FAILED;
    return;
  }
  const AttachmentFormats formats = attachmentFormats(info);
  const bool depthStencil = formats.depth != VK_FORMAT_UNDEFINED || formats.stencil != VK_FORMAT_UNDEFINED;
  readDrawValues(info, dynamic_, {depthStencil, formats.colorCount != 0}, &values_);
  const PipelineLayout* layout = PipelineLayout::from(info.layout);
  const BuildTiers tiers = buildTiers(info.flags);
  vertex_.emplace(StageRequest{VK_SHADER_STAGE_VERTEX_BIT, vertex, layout}, caches, tiers);
  const bool discards =
      (values_.raster.flags & abi::kRasterDiscard) != 0 && !dynamic_.has(Dynamic::kRasterizerDiscardEnable);
  if (!discards) {
    key_ = fragmentKey(info, dynamic_, values_, formats);
    const VkPipelineShaderStageCreateInfo* fragment = stageOf(info, VK_SHADER_STAGE_FRAGMENT_BIT);
    fragment_.emplace(StageRequest{VK_SHADER_STAGE_FRAGMENT_BIT, fragment, layout}, caches, tiers);
  }
  vertexFound_ = vertex_->find();
  if (vertexFound_) result_ = vertex_->result();
  if (result_ != VK_SUCCESS || (vertexFound_ && findFragment())) return;
  if (mayCompile()) {
    needsCompile_ = true;
  } else {
    result_ = VK_PIPELINE_COMPILE_REQUIRED;
  }
}

bool GraphicsBuild::findFragment() {
  if (!fragment_) return true;
  linkVaryings(vertex_->object().vertex, &key_);
  fragment_->link(key_);
  if (!fragment_->find()) return false;
  result_ = fragment_->result();
  return true;
}

VkResult GraphicsBuild::compile() {
  if (vertexFound_) return fragment_->compile();
  if (const VkResult result = vertex_->compile(); result != VK_SUCCESS) return result;
  return findFragment() ? result_ : fragment_->compile();
}

void GraphicsBuild::feedBack() const {
  VkPipelineCreationFeedback all{VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT, 0};
  constexpr VkPipelineCreationFeedbackFlags kHit = VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
  all.flags |= kHit;
  const auto add = [&](const std::optional<StageBuild>& stage) {
    if (!stage) return;
    const VkPipelineCreationFeedback f = stage->feedback();
    all.duration += f.duration;
    all.flags &= f.flags | ~kHit;  // a hit if all of it was
  };
  add(vertex_);
  add(fragment_);
  std::vector<VkPipelineCreationFeedback> stages;
  for (uint32_t i = 0; i < info_.stageCount; ++i) {
    const std::optional<StageBuild>& stage = info_.pStages[i].stage == VK_SHADER_STAGE_VERTEX_BIT ? vertex_ : fragment_;
    stages.push_back(stage ? stage->feedback() : VkPipelineCreationFeedback{});
  }
  PipelineBuild::feedBack(info_.pNext, all, stages);
}

VkResult GraphicsPipeline::init(GraphicsBuild& build) {
  const shader::CompiledObject& object = build.vertex().object();
  const shader::VertexInterface& interface = object.vertex;
  vertex_.flags = interface.flags;
  vertex_.inputSlotCount = interface.inputSlotCount;
  vertex_.varyingSlotCount = interface.varyingSlotCount;
  vertex_.clipDistanceCount = interface.clipDistanceCount;
  vertex_.cullDistanceCount = interface.cullDistanceCount;
  vertex_.blockCost_ns = std::max(object.info.groupCost_ns, 1u);
  std::memcpy(vertex_.inputLocation, interface.inputLocation, sizeof vertex_.inputLocation);
  vertexCode_.take(build.vertex(), vertex_);
  programs_.vertex = &vertex_;
  if (StageBuild* fragment = build.fragment()) {
    fragment_.flags = fragment->object().fragment.flags;
    fragment_.blockCost_ns = std::max(fragment->object().info.groupCost_ns, 1u);
    fragmentCode_.take(*fragment, fragment_);
    programs_.fragment = &fragment_;
  }
  dynamic_ = build.dynamic();
  values_ = build.values();
  if (!dynamic_.has(Dynamic::kVertexInput)) vertexInput_ = vertexInputState(values_.vertexInput, vertex_);
  return VK_SUCCESS;
}

DrawPrograms GraphicsPipeline::programs() const {
  return {&programs_, &values_, dynamic_, dynamic_.has(Dynamic::kVertexInput) ? nullptr : &vertexInput_};
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateGraphicsPipelines(VkDevice device, VkPipelineCache pipelineCache,
                                                         uint32_t createInfoCount,
                                                         const VkGraphicsPipelineCreateInfo* pCreateInfos,
                                                         const VkAllocationCallbacks* pAllocator,
                                                         VkPipeline* pPipelines) {
  return createPipelines<GraphicsPipeline, GraphicsBuild>(
      *Device::from(device), pipelineCache, std::span(pCreateInfos, createInfoCount), pAllocator, pPipelines);
}

}  // namespace pumice::icd
