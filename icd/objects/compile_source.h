// All that a compile of one compute pipeline reads, by value: code may be made on another thread, or again when the
// application's structures are gone. Immutable; any thread may read it.
#pragma once

#include <vulkan/vulkan_core.h>

#include <memory>
#include <string>
#include <vector>

#include "icd/objects/object_cache.h"
#include "shaders/compiler.h"

namespace pumice::icd {

class CompileSource {
 public:
  /// Reads the environment too, so it is for the application's threads.
  explicit CompileSource(const VkComputePipelineCreateInfo& info);
  CompileSource(const CompileSource&) = delete;
  CompileSource& operator=(const CompileSource&) = delete;

  const std::string& dumpDirectory() const { return dumpDirectory_; }

  /// Valid as long as this object.
  shader::ComputeCompileInfo of(shader::Tier tier) const;
  /// The same for both tiers.
  const shader::cache::CacheKey& key() const { return key_; }

 private:
  std::shared_ptr<const std::vector<uint32_t>> spirv_;
  std::string entryPoint_;
  std::vector<shader::SpecConstant> constants_;
  std::vector<abi::BindingSlot> bindings_;
  std::string dumpDirectory_;
  shader::ComputeCompileInfo compile_;  // of the above
  shader::cache::CacheKey key_{};
};

}  // namespace pumice::icd
