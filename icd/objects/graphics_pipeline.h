// VkPipeline of the graphics bind point: the code of its stages, the program blocks that draws name, and the state that
// it brings to draws. And pipeline libraries: some of its parts.
#pragma once

#include <memory>
#include <optional>

#include "backend/abi/draw_packets.h"
#include "icd/encode/draw_encoder.h"
#include "icd/objects/draw_values.h"
#include "icd/objects/fragment_key.h"
#include "icd/objects/pipeline.h"
#include "icd/objects/pipeline_build.h"

namespace pumice::icd {

/// What is known of a graphics pipeline, or of the parts that a library has. Immutable once a library has it.
struct GraphicsParts {
  PipelineParts parts = 0;
  DynamicSet dynamic;
  DrawValues values;
  AttachmentFormats formats;
  shader::FragmentKey key{};  // the output interface's share
  std::shared_ptr<CompileSource> vertex;
  StageBuild::Code vertexCode;              // of libraries
  std::shared_ptr<CompileSource> fragment;  // of libraries: not linked

  void add(const GraphicsParts& library);
  /// Nothing is ever rasterised, so there is no fragment stage.
  bool discards() const {
    return (values.raster.flags & abi::kRasterDiscard) != 0 && !dynamic.has(Dynamic::kRasterizerDiscardEnable);
  }
};

/// A vertex stage, and a fragment stage unless nothing is ever rasterised. The fragment stage is compiled for the
/// places of the vertex stage's outputs and for the output interface, so libraries have no code of it. Those places are
/// known once the vertex stage's module is read: both stages' code is made at once, where there are threads for it.
class GraphicsBuild final : public PipelineBuild {
 public:
  /// Looks into the caches. On the application's thread; `info` must live as long as this.
  GraphicsBuild(const VkGraphicsPipelineCreateInfo& info, const CodeCaches& caches);

  void feedBack() const;
  VkResult make(Device& device, const VkAllocationCallbacks* callbacks, VkPipeline* out);

  // Of a build that has succeeded.
  StageBuild& vertex() { return *vertex_; }
  StageBuild* fragment() { return fragment_ ? &*fragment_ : nullptr; }
  /// It may sample what it draws to.
  bool readsTargets() const {
    constexpr VkPipelineCreateFlags kFeedback = VK_PIPELINE_CREATE_COLOR_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT |
                                                VK_PIPELINE_CREATE_DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT;
    return (flags_ & kFeedback) != 0;
  }
  /// Those of a library have the vertex stage's code.
  GraphicsParts& parts() { return parts_; }

 private:
  bool isLibrary() const { return (flags_ & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) != 0; }
  void readOwn(PipelineParts own);
  void beginStages(const CodeCaches& caches, bool linked);
  VkResult compile() override;
  class FragmentJob;
  /// Looks for the code of the fragment stage behind such a vertex stage.
  bool findFragment(const shader::VertexInterface& vertex);

  const VkGraphicsPipelineCreateInfo& info_;
  GraphicsParts parts_;
  std::optional<StageBuild> vertex_, fragment_;
  bool vertexFound_ = false;
};

class GraphicsPipeline : public Object<GraphicsPipeline, VkPipeline, VK_OBJECT_TYPE_PIPELINE, Pipeline> {
 public:
  explicit GraphicsPipeline(Device&) { kind_ = PipelineKind::kGraphics; }

  /// Of a build that has succeeded, whose code it takes.
  VkResult init(GraphicsBuild& build);

  /// What binding it brings.
  DrawPrograms programs() const;

 private:
  abi::VertexProgram vertex_{};
  abi::FragmentProgram fragment_{};
  abi::GraphicsPrograms programs_{};
  DynamicSet dynamic_;
  DrawValues values_;
  abi::VertexInputState vertexInput_{};
  StageCode vertexCode_, fragmentCode_;
};

class GraphicsLibrary : public Object<GraphicsLibrary, VkPipeline, VK_OBJECT_TYPE_PIPELINE, Pipeline> {
 public:
  explicit GraphicsLibrary(Device&) { kind_ = PipelineKind::kGraphicsLibrary; }

  VkResult init(GraphicsBuild& build);

  const GraphicsParts& parts() const { return parts_; }

 private:
  GraphicsParts parts_;
};

}  // namespace pumice::icd
