// VkPipeline of the compute bind point: compiled code in the code arena and the program block that packets point to.
//
// A pipeline is created with quick code, unless a cache has better, and gets better code when it runs hot
// (hot_tier.h). PUMICE_TIER=quick or better keeps to one tier.
#pragma once

#include <optional>

#include "backend/abi/shader_abi.h"
#include "icd/objects/hot_tier.h"
#include "icd/objects/object.h"
#include "shaders/cache/code_arena.h"

namespace pumice::icd {

class ComputeBuild;
class Device;

class ComputePipeline : public Object<ComputePipeline, VkPipeline, VK_OBJECT_TYPE_PIPELINE> {
 public:
  explicit ComputePipeline(Device&) {}
  ~ComputePipeline();

  /// Of a build that has succeeded, whose code it takes.
  VkResult init(ComputeBuild& build);

  const abi::ComputeProgram& program() const { return program_; }

 private:
  abi::ComputeProgram program_{};
  shader::cache::CodeBlock code_;
  std::optional<HotProgram> hot_;  // of quick code that may be replaced
};

}  // namespace pumice::icd
