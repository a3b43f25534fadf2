// All that a compile of one shader stage reads, by value: code may be made on another thread, or again when the
// application's structures are gone. Immutable once its key is known; any thread may read it then.
#pragma once

#include <vulkan/vulkan_core.h>

#include <memory>
#include <string>
#include <vector>

#include "icd/objects/object_cache.h"
#include "shaders/compiler.h"

namespace pumice::icd {

class PipelineLayout;

/// What of a pipeline's create info makes one stage.
struct StageRequest {
  VkShaderStageFlagBits stage;  // compute, vertex or fragment
  /// nullptr: a fragment stage without a shader, which has depth and stencil tests all the same.
  const VkPipelineShaderStageCreateInfo* info;
  const PipelineLayout* layout;  // nullptr: no bindings
};

class CompileSource {
 public:
  /// Reads the environment too, so it is for the application's threads.
  explicit CompileSource(const StageRequest& request);
  /// The same stage of another pipeline: of a pipeline library, whose layout may lack sets. nullptr: the same layout.
  CompileSource(const CompileSource& from, const PipelineLayout* layout);
  CompileSource(const CompileSource&) = delete;
  CompileSource& operator=(const CompileSource&) = delete;

  VkShaderStageFlagBits stage() const { return stage_; }
  /// Whether code of this source serves a pipeline with the layout.
  bool fits(const PipelineLayout& layout) const;
  const std::string& dumpDirectory() const { return dumpDirectory_; }

  /// Of a fragment stage, before its key is asked for: the state that it is compiled for. Any one thread.
  void link(const shader::FragmentKey& key);

  /// Calls the compiler's function of the stage. The listener is a vertex stage's, and may be null.
  shader::CompileResult compile(const shader::CompilerTable& table, shader::Tier tier,
                                shader::VertexInterfaceListener* listener) const;
  /// Valid as long as this object.
  shader::ShaderCompileInfo of(shader::Tier tier) const;
  /// The same for both tiers.
  const CacheKey& key() const { return key_; }

 private:
  void refer();
  void makeKey();

  const VkShaderStageFlagBits stage_;
  std::shared_ptr<const std::vector<uint32_t>> spirv_;
  SpirvHash spirvHash_{};
  std::string entryPoint_ = "main";
  std::vector<shader::SpecConstant> constants_;
  std::vector<abi::BindingSlot> bindings_;
  std::string dumpDirectory_;
  shader::ShaderCompileInfo compile_;  // of the above
  shader::FragmentKey fragmentKey_{};
  CacheKey key_{};
};

}  // namespace pumice::icd
