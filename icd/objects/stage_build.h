// The code of one shader stage of a pipeline that is being created: found in the caches, or compiled.
#pragma once

#include <vulkan/vulkan_core.h>

#include <memory>
#include <optional>

#include "icd/objects/compile_source.h"
#include "icd/objects/hot_tier.h"
#include "icd/objects/object_cache.h"
#include "shaders/cache/disk_cache.h"
#include "shaders/cache/elf_loader.h"

namespace pumice::icd {

/// Where code is looked for and kept. Each may be nullptr.
struct CodeCaches {
  std::shared_ptr<ObjectCache> application;
  std::shared_ptr<shader::cache::DiskCache> disk;
};

/// Which code a pipeline is created with, and whether better code may follow.
struct BuildTiers {
  shader::Tier first = shader::Tier::kQuick;
  bool mayImprove = true;
  bool forced = false;  // code of the other tier does not serve
};

/// Reads the environment: for the application's threads.
BuildTiers buildTiers(VkPipelineCreateFlags flags);

class StageBuild {
 public:
  using Code = std::shared_ptr<const shader::cache::CachedCode>;

  /// On the application's thread.
  StageBuild(const StageRequest& request, const CodeCaches& caches, const BuildTiers& tiers);
  /// Of a pipeline library's stage; `known` is its code, or nullptr.
  StageBuild(std::shared_ptr<CompileSource> source, Code known, const CodeCaches& caches, const BuildTiers& tiers);
  ~StageBuild();
  StageBuild(const StageBuild&) = delete;
  StageBuild& operator=(const StageBuild&) = delete;

  /// Of a fragment stage, before the others: what it is compiled for.
  void link(const shader::FragmentKey& key) { source_->link(key); }

  /// Looks into the caches. True: there is nothing left to do, and the result says how it went. Any one thread.
  [[nodiscard]] bool find();
  /// What find() has not found. On a thread of the compile pool. May throw std::bad_alloc. The listener is a vertex
  /// stage's, and may be null.
  VkResult compile(shader::VertexInterfaceListener* listener = nullptr);

  VkResult result() const { return result_; }
  /// Of find() and compile().
  VkPipelineCreationFeedback feedback() const;

  // The rest: of a build whose result is VK_SUCCESS.

  const shader::CompiledObject& object() const { return code_->object; }
  const Code& code() const { return code_; }
  const CacheKey& key() const { return source_->key(); }
  template <typename Entry>
  Entry entry() const {
    return reinterpret_cast<Entry>(reinterpret_cast<uintptr_t>(loaded_.entry));  // data to code pointer
  }
  /// The code's memory becomes the caller's.
  shader::cache::CodeBlock takeBlock();
  /// Better code may follow: how long the quick code is to run before, and what makes it.
  bool mayImprove() const;
  uint64_t hotLimit_ns() const;
  HotProgram::Compile betterCompile() const;

 private:
  bool findCode();
  bool take(Code code);
  VkResult load(const shader::cache::CachedCode& code);
  VkResult compileCode(shader::VertexInterfaceListener* listener);

  const CodeCaches caches_;
  const BuildTiers tiers_;
  std::shared_ptr<CompileSource> source_;
  const Code known_;
  Code code_;
  shader::cache::LoadedCode loaded_;
  uint64_t spent_ns_ = 0;
  VkResult result_ = VK_SUCCESS;
  bool applicationHit_ = false;
};

/// What a pipeline owns of each of its stages beside the program block: the code, and what replaces it.
class StageCode {
 public:
  StageCode() = default;
  ~StageCode();
  StageCode(const StageCode&) = delete;
  StageCode& operator=(const StageCode&) = delete;

  /// `program` has all else of the build already; it outlives this.
  template <typename Program>
  void take(StageBuild& build, Program& program) {
    program.entry = build.entry<decltype(program.entry)>();
    program.frameBytes = build.object().info.frameBytes;
    program.codeHash = build.key().low;
    block_ = build.takeBlock();
    if (build.mayImprove()) hot_.emplace(HotTier::instance(), program, build.hotLimit_ns(), build.betterCompile());
  }

 private:
  shader::cache::CodeBlock block_;
  std::optional<HotProgram> hot_;  // of quick code that may be replaced
};

}  // namespace pumice::icd
