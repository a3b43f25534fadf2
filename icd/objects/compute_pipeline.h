// VkPipeline of the compute bind point: compiled code in the code arena and the program block that packets point to.
//
// A pipeline is created with quick code, unless a cache has better, and gets better code when it runs hot
// (hot_tier.h). PUMICE_TIER=quick or better keeps to one tier.
#pragma once

#include <memory>
#include <optional>

#include "backend/abi/shader_abi.h"
#include "icd/objects/hot_tier.h"
#include "icd/objects/object.h"
#include "icd/objects/object_cache.h"
#include "shaders/cache/elf_loader.h"

namespace pumice::icd {

class Device;

class ComputePipeline : public Object<ComputePipeline, VkPipeline, VK_OBJECT_TYPE_PIPELINE> {
 public:
  explicit ComputePipeline(Device&) {}
  ~ComputePipeline();

  /// `cache` may be nullptr. Fills the creation feedback if the chain asks for it.
  VkResult init(const VkComputePipelineCreateInfo& info, const std::shared_ptr<ObjectCache>& cache);

  const abi::ComputeProgram& program() const { return program_; }

 private:
  VkResult build(const VkComputePipelineCreateInfo& info, const std::shared_ptr<ObjectCache>& cache, bool* cacheHit);
  VkResult load(const shader::CompiledObject& object, const CacheKey& key);

  abi::ComputeProgram program_{};
  shader::cache::CodeBlock code_;
  std::optional<HotProgram> hot_;  // of quick code that may be replaced
};

}  // namespace pumice::icd
