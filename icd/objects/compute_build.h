// The code of one compute pipeline: found in the caches, or compiled.
//
// vkCreateComputePipelines makes one for each pipeline, has the pool run those that must compile, all at once, and
// then makes the pipelines.
#pragma once

#include <vulkan/vulkan_core.h>

#include <memory>

#include "icd/objects/compile_pool.h"
#include "icd/objects/compile_source.h"
#include "icd/objects/hot_tier.h"
#include "icd/objects/object_cache.h"
#include "shaders/cache/disk_cache.h"
#include "shaders/cache/elf_loader.h"

namespace pumice::icd {

/// Which code a pipeline is created with, and whether better code may follow.
struct BuildTiers {
  shader::Tier first = shader::Tier::kQuick;
  bool mayImprove = true;
  bool forced = false;  // code of the other tier does not serve
};

class ComputeBuild final : public CompileJob {
 public:
  /// Where code is looked for and kept. Each may be nullptr.
  struct Caches {
    std::shared_ptr<ObjectCache> application;
    std::shared_ptr<shader::cache::DiskCache> disk;
  };

  /// Looks into the caches. On the application's thread; `info` must live as long as this.
  ComputeBuild(const VkComputePipelineCreateInfo& info, Caches caches);
  ~ComputeBuild() override;

  /// Not in a cache, and the application lets it be compiled: run() has to be called, by whatever thread of the pool.
  bool needsCompile() const { return needsCompile_; }
  void run() noexcept override;

  bool returnsEarly() const { return (info_.flags & VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT) != 0; }
  VkResult result() const { return result_; }
  /// Tells the application, if it has asked, once the result is there.
  void feedBack() const;
  /// For a pipeline that was not even tried.
  static void feedBackNothing(const VkComputePipelineCreateInfo& info);

  // The rest: of a build whose result is VK_SUCCESS.

  const shader::ComputeCodeInfo& info() const { return code_->object.info; }
  const shader::cache::CacheKey& key() const { return source_->key(); }
  abi::ComputeEntry entry() const;
  /// The code's memory becomes the caller's.
  shader::cache::CodeBlock takeBlock();
  /// Better code may follow: how long the quick code is to run before, and what makes it.
  bool mayImprove() const;
  uint64_t hotLimit_ns() const;
  HotProgram::Compile betterCompile() const;

 private:
  using Code = std::shared_ptr<const shader::cache::CachedCode>;

  void find();
  bool take(Code code);
  VkResult load(const shader::cache::CachedCode& code);
  VkResult compile();

  const VkComputePipelineCreateInfo& info_;
  const Caches caches_;
  const BuildTiers tiers_;
  std::shared_ptr<const CompileSource> source_;
  Code code_;
  shader::cache::LoadedCode loaded_;
  uint64_t spent_ns_ = 0;
  VkResult result_ = VK_SUCCESS;
  bool applicationHit_ = false;
  bool needsCompile_ = false;
};

}  // namespace pumice::icd
