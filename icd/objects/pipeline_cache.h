// VkPipelineCache: an ObjectCache with Vulkan's header in front when it becomes bytes.
#pragma once

#include <memory>

#include "icd/objects/object.h"
#include "icd/objects/object_cache.h"

namespace pumice::icd {

class Device;

class PipelineCache : public Object<PipelineCache, VkPipelineCache, VK_OBJECT_TYPE_PIPELINE_CACHE> {
 public:
  explicit PipelineCache(Device&) {}

  VkResult init(const VkPipelineCacheCreateInfo& info);

  /// Outlives this object where better code is still being made for it.
  const std::shared_ptr<ObjectCache>& objects() const { return objects_; }
  VkResult data(size_t* size_B, void* out) const;

 private:
  std::shared_ptr<ObjectCache> objects_ = std::make_shared<ObjectCache>();
};

}  // namespace pumice::icd
