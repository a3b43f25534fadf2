// VkPipelineCache: an ObjectCache with Vulkan's header in front when it becomes bytes.
#pragma once

#include "icd/objects/object.h"
#include "icd/objects/object_cache.h"

namespace pumice::icd {

class Device;

class PipelineCache : public Object<PipelineCache, VkPipelineCache, VK_OBJECT_TYPE_PIPELINE_CACHE> {
 public:
  explicit PipelineCache(Device&) {}

  VkResult init(const VkPipelineCacheCreateInfo& info);

  ObjectCache& objects() { return objects_; }
  VkResult data(size_t* size_B, void* out) const;

 private:
  ObjectCache objects_;
};

}  // namespace pumice::icd
