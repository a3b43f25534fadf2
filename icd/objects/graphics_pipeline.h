// VkPipeline of the graphics bind point: the code of its stages, the program blocks that draws name, and the state that
// it brings to draws.
#pragma once

#include <optional>

#include "backend/abi/draw_packets.h"
#include "icd/encode/draw_encoder.h"
#include "icd/objects/draw_values.h"
#include "icd/objects/fragment_key.h"
#include "icd/objects/pipeline.h"
#include "icd/objects/pipeline_build.h"

namespace pumice::icd {

/// A vertex stage, and a fragment stage unless nothing is ever rasterised. The fragment stage is compiled for the
/// places of the vertex stage's outputs, so it comes after it.
class GraphicsBuild final : public PipelineBuild {
 public:
  /// Looks into the caches. On the application's thread; `info` must live as long as this.
  GraphicsBuild(const VkGraphicsPipelineCreateInfo& info, const CodeCaches& caches);

  void feedBack() const;

  // Of a build that has succeeded.
  StageBuild& vertex() { return *vertex_; }
  StageBuild* fragment() { return fragment_ ? &*fragment_ : nullptr; }
  DynamicSet dynamic() const { return dynamic_; }
  const DrawValues& values() const { return values_; }

 private:
  VkResult compile() override;
  /// Looks for the code of the fragment stage; that of the vertex stage is there.
  bool findFragment();

  const VkGraphicsPipelineCreateInfo& info_;
  DynamicSet dynamic_;
  DrawValues values_;
  shader::FragmentKey key_{};
  std::optional<StageBuild> vertex_, fragment_;
  bool vertexFound_ = false;
};

class GraphicsPipeline : public Object<GraphicsPipeline, VkPipeline, VK_OBJECT_TYPE_PIPELINE, Pipeline> {
 public:
  explicit GraphicsPipeline(Device&) { bindPoint_ = VK_PIPELINE_BIND_POINT_GRAPHICS; }

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

}  // namespace pumice::icd
