#include "icd/objects/graphics_pipeline.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "backend/formats/format_table.h"
#include "backend/trace/log.h"
#include "gen/entrypoints.h"
#include "icd/objects/pipeline_layout.h"
#include "icd/objects/pnext.h"
#include "icd/objects/render_pass.h"

namespace pumice::icd {
namespace {

constexpr PipelineParts kVertexInput = VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT;
constexpr PipelineParts kPreRasterization = VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT;
constexpr PipelineParts kFragmentShader = VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT;
constexpr PipelineParts kFragmentOutput = VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT;

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

AttachmentFormats attachmentFormats(const VkGraphicsPipelineCreateInfo& info, PipelineParts parts) {
  AttachmentFormats out;
  if ((parts & (kPreRasterization | kFragmentShader | kFragmentOutput)) == 0) return out;
  if (const RenderPass* pass = RenderPass::from(info.renderPass)) {
    const Subpass& subpass = pass->subpasses()[info.subpass];
    const auto formatOf = [&](const AttachmentReference& r) {
      return r.used() ? pass->attachments()[r.attachment].format : VK_FORMAT_UNDEFINED;
    };
    out.colorCount = std::min(static_cast<uint32_t>(subpass.colors.size()), abi::kMaxColorAttachments);
    for (uint32_t i = 0; i < out.colorCount; ++i) out.color[i] = formatOf(subpass.colors[i]);
    const VkFormat depthStencil = formatOf(subpass.depthStencil);
    setDepthStencil(depthStencil, depthStencil, &out);
  } else if (const auto* rendering = findInChain<VkPipelineRenderingCreateInfo>(info.pNext);
             rendering != nullptr && (parts & kFragmentOutput) != 0) {
    out.colorCount = std::min(rendering->colorAttachmentCount, abi::kMaxColorAttachments);
    std::copy_n(rendering->pColorAttachmentFormats, out.colorCount, out.color);
    setDepthStencil(rendering->depthAttachmentFormat, rendering->stencilAttachmentFormat, &out);
  }
  return out;
}

void GraphicsParts::add(const GraphicsParts& library) {
  parts |= library.parts;
  dynamic |= library.dynamic;
  copyParts(library.values, library.parts, &values);
  if ((library.parts & kPreRasterization) != 0) {
    vertex = library.vertex;
    vertexCode = library.vertexCode;
  }
  if ((library.parts & kFragmentShader) != 0) {
    fragment = library.fragment;
    key.flags |= library.key.flags & shader::kKeySampleShading;
  }
  if ((library.parts & kFragmentOutput) != 0) {
    formats = library.formats;
    const uint8_t sampleShading = key.flags & shader::kKeySampleShading;
    key = library.key;
    key.flags |= sampleShading;
  }
}

GraphicsBuild::GraphicsBuild(const VkGraphicsPipelineCreateInfo& info, const CodeCaches& caches)
    : PipelineBuild(info.flags), info_(info) {
  const auto* libraries = findInChain<VkPipelineLibraryCreateInfoKHR>(info.pNext);
  const bool linked = libraries != nullptr && libraries->libraryCount != 0;
  for (uint32_t i = 0; linked && i < libraries->libraryCount; ++i) {
    parts_.add(GraphicsLibrary::from(libraries->pLibraries[i])->parts());
  }
  const auto* subset = findInChain<VkGraphicsPipelineLibraryCreateInfoEXT>(info.pNext);
  readOwn(subset != nullptr ? subset->flags : linked ? 0 : kAllParts);
  if (result_ == VK_SUCCESS) beginStages(caches, linked);
}

// What the create info itself has. Pointers of other parts may point to anything.
void GraphicsBuild::readOwn(PipelineParts own) {
  if (own == 0) return;
  VkGraphicsPipelineCreateInfo part = info_;
  if ((own & kVertexInput) == 0) {
    part.pVertexInputState = nullptr;
    part.pInputAssemblyState = nullptr;
  }
  if ((own & kPreRasterization) == 0) {
    part.pViewportState = nullptr;
    part.pRasterizationState = nullptr;
  }
  if ((own & kFragmentShader) == 0) part.pDepthStencilState = nullptr;
  if ((own & kFragmentOutput) == 0) part.pColorBlendState = nullptr;
  if ((own & (kFragmentShader | kFragmentOutput)) == 0) part.pMultisampleState = nullptr;
  if ((own & (kPreRasterization | kFragmentShader)) == 0) part.stageCount = 0;
  if (hasOtherStages(part)) {
    PUMICE_ERROR("icd", "vkCreateGraphicsPipelines: only vertex and fragment stages are supported");
    result_ = VK_ERROR_INITIALIZATION_FAILED;
    return;
  }

  GraphicsParts made;
  made.parts = own;
  made.dynamic = dynamicSetOf(info_.pDynamicState) & dynamicOf(own);
  // What always discards has no fragment shader and no output interface.
  const bool discards = part.pRasterizationState != nullptr ? part.pRasterizationState->rasterizerDiscardEnable &&
                                                                  !made.dynamic.has(Dynamic::kRasterizerDiscardEnable)
                                                            : parts_.discards();
  made.formats = attachmentFormats(info_, discards ? own & ~(kFragmentShader | kFragmentOutput) : own);
  // With dynamic rendering a library of the fragment shader alone does not know the formats, but its tests.
  const bool unknown = info_.renderPass == VK_NULL_HANDLE && (own & kFragmentOutput) == 0;
  const bool depthStencil =
      unknown || made.formats.depth != VK_FORMAT_UNDEFINED || made.formats.stencil != VK_FORMAT_UNDEFINED;
  readDrawValues(part, made.dynamic, {depthStencil, made.formats.colorCount != 0}, &made.values);
  const bool hasStages = (own & (kPreRasterization | kFragmentShader)) != 0;
  const PipelineLayout* layout = hasStages ? PipelineLayout::from(info_.layout) : nullptr;
  if ((own & kPreRasterization) != 0) {
    const VkPipelineShaderStageCreateInfo* vertex = stageOf(part, VK_SHADER_STAGE_VERTEX_BIT);
    if (vertex != nullptr) {
      made.vertex = std::make_shared<CompileSource>(StageRequest{VK_SHADER_STAGE_VERTEX_BIT, vertex, layout});
    }
  }
  if (!discards) {
    addOutputs(part, made.dynamic, made.values, made.formats, &made.key);
    if ((own & kFragmentShader) != 0) {
      made.fragment = std::make_shared<CompileSource>(
          StageRequest{VK_SHADER_STAGE_FRAGMENT_BIT, stageOf(part, VK_SHADER_STAGE_FRAGMENT_BIT), layout});
    }
  }
  parts_.add(made);
}

void GraphicsBuild::beginStages(const CodeCaches& caches, bool linked) {
  const BuildTiers tiers = buildTiers(info_.flags);
  if (parts_.vertex == nullptr) {  // a library without stages
    if (!isLibrary()) {
      PUMICE_ERROR("icd", "vkCreateGraphicsPipelines: there is no vertex stage");
      result_ = VK_ERROR_INITIALIZATION_FAILED;
    }
    return;
  }
  const PipelineLayout* layout = PipelineLayout::from(info_.layout);
  const auto rebound = [&](std::shared_ptr<CompileSource> source) {
    return std::make_shared<CompileSource>(*source, layout);
  };
  if (linked && layout != nullptr && !parts_.vertex->fits(*layout)) {
    parts_.vertex = rebound(parts_.vertex);
    parts_.vertexCode = nullptr;
  }
  vertex_.emplace(parts_.vertex, parts_.vertexCode, caches, tiers);
  if (!isLibrary() && !parts_.discards() && parts_.fragment != nullptr) {
    // Linked in another pipeline too, it gets another key there.
    if (linked) parts_.fragment = rebound(parts_.fragment);
    addTests(parts_.dynamic, parts_.values, parts_.formats, &parts_.key);
    fragment_.emplace(parts_.fragment, nullptr, caches, tiers);
  }
  vertexFound_ = vertex_->find();
  if (vertexFound_) result_ = vertex_->result();
  if (result_ != VK_SUCCESS || (vertexFound_ && findFragment(vertex_->object().vertex))) return;
  if (mayCompile()) {
    needsCompile_ = true;
  } else {
    result_ = VK_PIPELINE_COMPILE_REQUIRED;
  }
}

bool GraphicsBuild::findFragment(const shader::VertexInterface& vertex) {
  if (!fragment_) return true;
  linkVaryings(vertex, &parts_.key);
  fragment_->link(parts_.key);
  if (!fragment_->find()) return false;
  result_ = fragment_->result();
  return true;
}

// The code of the fragment stage, made while that of the vertex stage is, or after it.
class GraphicsBuild::FragmentJob final : public CompileJob, public shader::VertexInterfaceListener {
 public:
  explicit FragmentJob(GraphicsBuild& build) : build_(build) {}
  ~FragmentJob() override { join(); }
  FragmentJob(const FragmentJob&) = delete;
  FragmentJob& operator=(const FragmentJob&) = delete;

  void onVertexInterface(const shader::VertexInterface& interface) noexcept override {
    vertex_ = interface;
    offered_ = CompilePool::instance().offer(*this);
  }
  void run() noexcept override {
    try {
      StageBuild& fragment = *build_.fragment_;
      result_ = build_.findFragment(vertex_) ? fragment.result() : fragment.compile();
    } catch (const std::bad_alloc&) {
      result_ = VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    hasRun_ = true;
  }
  /// Once the vertex stage is there.
  VkResult result() {
    join();
    if (!hasRun_) run();
    return result_;
  }

 private:
  void join() {
    if (std::exchange(offered_, false)) CompilePool::instance().finish(*this);
  }

  GraphicsBuild& build_;
  shader::VertexInterface vertex_{};
  VkResult result_ = VK_SUCCESS;
  bool offered_ = false, hasRun_ = false;
};

VkResult GraphicsBuild::compile() {
  if (vertexFound_) return fragment_->compile();
  if (!fragment_) return vertex_->compile();
  FragmentJob fragment(*this);
  const VkResult result = vertex_->compile(&fragment);
  return result == VK_SUCCESS ? fragment.result() : result;
}

VkResult GraphicsBuild::make(Device& device, const VkAllocationCallbacks* callbacks, VkPipeline* out) {
  return isLibrary() ? GraphicsLibrary::create(callbacks, out, device, *this)
                     : GraphicsPipeline::create(callbacks, out, device, *this);
}

void GraphicsBuild::feedBack() const {
  const auto* asked = findInChain<VkPipelineCreationFeedbackCreateInfo>(info_.pNext);
  if (asked == nullptr) return;
  constexpr VkPipelineCreationFeedbackFlags kHit = VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
  VkPipelineCreationFeedback all{VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT, 0};
  if (vertex_) all.flags |= kHit;
  for (const auto* stage : {&vertex_, &fragment_}) {
    if (!*stage) continue;
    const VkPipelineCreationFeedback f = (*stage)->feedback();
    all.duration += f.duration;
    all.flags &= f.flags | ~kHit;  // a hit if all of it was
  }
  std::vector<VkPipelineCreationFeedback> stages;
  for (uint32_t i = 0; i < asked->pipelineStageCreationFeedbackCount; ++i) {
    const auto& stage = info_.pStages[i].stage == VK_SHADER_STAGE_VERTEX_BIT ? vertex_ : fragment_;
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
    if (build.readsTargets()) {
      fragment_.flags = (fragment_.flags | abi::kFragmentReadsTarget) & ~uint32_t{abi::kFragmentOccludes};
    }
    fragment_.blockCost_ns = std::max(fragment->object().info.groupCost_ns, 1u);
    fragmentCode_.take(*fragment, fragment_);
    programs_.fragment = &fragment_;
  }
  dynamic_ = build.parts().dynamic;
  values_ = build.parts().values;
  if (!dynamic_.has(Dynamic::kVertexInput)) vertexInput_ = vertexInputState(values_.vertexInput, vertex_);
  return VK_SUCCESS;
}

VkResult GraphicsLibrary::init(GraphicsBuild& build) {
  parts_ = build.parts();
  if (parts_.vertex != nullptr) parts_.vertexCode = build.vertex().code();
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
  return createPipelines<GraphicsBuild>(*Device::from(device), pipelineCache, std::span(pCreateInfos, createInfoCount),
                                        pAllocator, pPipelines);
}

}  // namespace pumice::icd
