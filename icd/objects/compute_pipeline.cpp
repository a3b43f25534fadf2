#include "icd/objects/compute_pipeline.h"

#include <cstring>
#include <deque>
#include <new>
#include <vector>

#include "gen/entrypoints.h"
#include "icd/objects/compute_build.h"
#include "icd/objects/device.h"
#include "icd/objects/pipeline_cache.h"

namespace pumice::icd {

ComputePipeline::~ComputePipeline() {
  hot_.reset();
  if (code_) shader::cache::CodeArena::instance().free(code_);
}

VkResult ComputePipeline::init(ComputeBuild& build) {
  const shader::ComputeCodeInfo& info = build.info();
  program_.entry = build.entry();
  std::memcpy(program_.localSize, info.localSize, sizeof program_.localSize);
  program_.subgroupSize = info.subgroupSize;
  program_.sharedBytes = info.sharedBytes;
  program_.frameBytes = info.frameBytes;
  program_.groupCost_ns = info.groupCost_ns != 0 ? info.groupCost_ns : 1;
  program_.flags = info.flags;
  program_.codeHash = build.key().low;
  code_ = build.takeBlock();
  if (build.mayImprove()) hot_.emplace(HotTier::instance(), program_, build.hotLimit_ns(), build.betterCompile());
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateComputePipelines(VkDevice device, VkPipelineCache pipelineCache,
                                                        uint32_t createInfoCount,
                                                        const VkComputePipelineCreateInfo* pCreateInfos,
                                                        const VkAllocationCallbacks* pAllocator,
                                                        VkPipeline* pPipelines) {
  for (uint32_t i = 0; i < createInfoCount; ++i) pPipelines[i] = VK_NULL_HANDLE;
  Device& self = *Device::from(device);
  const PipelineCache* cache = PipelineCache::from(pipelineCache);
  const ComputeBuild::Caches caches{cache != nullptr ? cache->objects() : nullptr, self.diskCache()};
  std::deque<ComputeBuild> builds;  // they stay where they are
  std::vector<CompileJob*> jobs;
  for (uint32_t i = 0; i < createInfoCount; ++i) {
    ComputeBuild& build = builds.emplace_back(pCreateInfos[i], caches);
    if (build.needsCompile()) jobs.push_back(&build);
    // What follows is not created, so it is not compiled either.
    if (build.result() != VK_SUCCESS && build.returnsEarly()) break;
  }
  if (!CompilePool::instance().run(jobs)) throw std::bad_alloc();

  // Vulkan 1.3, 10.4: pipelines that can be made are made; what failed is null, and the first failure is the result.
  VkResult first = VK_SUCCESS;
  bool stopped = false;
  for (uint32_t i = 0; i < createInfoCount; ++i) {
    if (stopped || i >= builds.size()) {
      ComputeBuild::feedBackNothing(pCreateInfos[i]);
      continue;
    }
    ComputeBuild& build = builds[i];
    build.feedBack();
    VkResult result = build.result();
    if (result == VK_SUCCESS) result = ComputePipeline::create(pAllocator, &pPipelines[i], self, build);
    if (result == VK_SUCCESS) continue;
    if (first == VK_SUCCESS || (first > 0 && result < 0)) first = result;
    stopped = build.returnsEarly();
  }
  return first;
}

VKAPI_ATTR void VKAPI_CALL vkDestroyPipeline(VkDevice, VkPipeline pipeline, const VkAllocationCallbacks* pAllocator) {
  ComputePipeline::destroy(pipeline, pAllocator);
}

}  // namespace pumice::icd
