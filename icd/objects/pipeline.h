// VkPipeline: what the pipelines of all bind points have in common.
#pragma once

#include "icd/objects/object.h"

namespace pumice::icd {

class Pipeline : public ObjectBase {
 public:
  static const Pipeline* from(VkPipeline handle) {
    return reinterpret_cast<const Pipeline*>(static_cast<uintptr_t>(reinterpret_cast<uint64_t>(handle)));
  }
  VkPipelineBindPoint bindPoint() const { return bindPoint_; }

 protected:
  explicit Pipeline(VkObjectType type) : ObjectBase(type) {}
  ~Pipeline() = default;

  VkPipelineBindPoint bindPoint_ = VK_PIPELINE_BIND_POINT_COMPUTE;
};

}  // namespace pumice::icd
