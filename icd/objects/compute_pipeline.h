// VkPipeline of the compute bind point: compiled code in the code arena and the program block that packets point to.
//
// A pipeline is created with quick code, unless a cache has better, and gets better code when it runs hot
// (hot_tier.h). PUMICE_TIER=quick or better keeps to one tier.
#pragma once

#include "backend/abi/shader_abi.h"
#include "icd/objects/pipeline.h"
#include "icd/objects/pipeline_build.h"

namespace pumice::icd {

class ComputeBuild final : public PipelineBuild {
 public:
  /// Looks into the caches. On the application's thread; `info` must live as long as this.
  ComputeBuild(const VkComputePipelineCreateInfo& info, const CodeCaches& caches);

  void feedBack() const;
  VkResult make(Device& device, const VkAllocationCallbacks* callbacks, VkPipeline* out);
  StageBuild& stage() { return stage_; }

 private:
  VkResult compile() override { return stage_.compile(); }

  const VkComputePipelineCreateInfo& info_;
  StageBuild stage_;
};

class ComputePipeline : public Object<ComputePipeline, VkPipeline, VK_OBJECT_TYPE_PIPELINE, Pipeline> {
 public:
  explicit ComputePipeline(Device&) {}

  /// Of a build that has succeeded, whose code it takes.
  VkResult init(ComputeBuild& build);

  const abi::ComputeProgram& program() const { return program_; }

 private:
  abi::ComputeProgram program_{};
  StageCode code_;
};

}  // namespace pumice::icd
