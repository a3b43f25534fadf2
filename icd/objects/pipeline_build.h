// What vkCreate*Pipelines does with all of its create infos: looks for each one's code, has the pool compile what is
// not there, all at once, and then makes the pipelines.
#pragma once

#include <vulkan/vulkan_core.h>

#include <deque>
#include <new>
#include <optional>
#include <vector>

#include "icd/objects/compile_pool.h"
#include "icd/objects/device.h"
#include "icd/objects/pipeline_cache.h"
#include "icd/objects/stage_build.h"

namespace pumice::icd {

/// Of a create info, which must live as long as this: the pipeline that is to be made of it.
class PipelineBuild : public CompileJob {
 public:
  /// Not in a cache, and the application lets it be compiled: run() has to be called, by whatever thread of the pool.
  bool needsCompile() const { return needsCompile_; }
  void run() noexcept final;

  bool returnsEarly() const { return (flags_ & VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT) != 0; }
  VkResult result() const { return result_; }

  /// Tells the application, if it has asked, once the result is there. By each of its stages in order.
  static void feedBack(const void* chain, const VkPipelineCreationFeedback& all,
                       std::span<const VkPipelineCreationFeedback> stages);
  /// For a pipeline that was not even tried.
  static void feedBackNothing(const void* chain);

 protected:
  explicit PipelineBuild(VkPipelineCreateFlags flags) : flags_(flags) {}

  bool mayCompile() const { return (flags_ & VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT) == 0; }
  /// May throw std::bad_alloc.
  virtual VkResult compile() = 0;

  const VkPipelineCreateFlags flags_;
  VkResult result_ = VK_SUCCESS;
  bool needsCompile_ = false;
};

/// `Build` is a PipelineBuild made from an `Info`, with feedBack(), and make() once it has succeeded.
template <typename Build, typename Info>
VkResult createPipelines(Device& device, VkPipelineCache cacheHandle, std::span<const Info> infos,
                         const VkAllocationCallbacks* callbacks, VkPipeline* out) {
  for (size_t i = 0; i < infos.size(); ++i) out[i] = VK_NULL_HANDLE;
  const PipelineCache* cache = PipelineCache::from(cacheHandle);
  const CodeCaches caches{cache != nullptr ? cache->objects() : nullptr, device.diskCache()};
  std::deque<Build> builds;  // they stay where they are
  std::vector<CompileJob*> jobs;
  for (const Info& info : infos) {
    Build& build = builds.emplace_back(info, caches);
    if (build.needsCompile()) jobs.push_back(&build);
    // What follows is not created, so it is not compiled either. Code may still come from the pipelines before.
    const bool mayBeFound = build.result() == VK_PIPELINE_COMPILE_REQUIRED && !jobs.empty();
    if (build.result() != VK_SUCCESS && build.returnsEarly() && !mayBeFound) break;
  }
  if (!CompilePool::instance().run(jobs)) throw std::bad_alloc();

  // Vulkan 1.3, 10.4: pipelines that can be made are made; what failed is null, and the first failure is the result.
  VkResult first = VK_SUCCESS;
  bool stopped = false, compiled = false;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (stopped || i >= builds.size()) {
      PipelineBuild::feedBackNothing(infos[i].pNext);
      continue;
    }
    // What an earlier pipeline of the call has put in the cache may be all that one needs that must not be compiled.
    compiled |= builds[i].needsCompile();
    std::optional<Build> again;
    if (compiled && builds[i].result() == VK_PIPELINE_COMPILE_REQUIRED) again.emplace(infos[i], caches);
    Build& build = again ? *again : builds[i];
    build.feedBack();
    VkResult result = build.result();
    if (result == VK_SUCCESS) result = build.make(device, callbacks, &out[i]);
    if (result == VK_SUCCESS) continue;
    if (first == VK_SUCCESS || (first > 0 && result < 0)) first = result;
    stopped = build.returnsEarly();
  }
  return first;
}

}  // namespace pumice::icd
