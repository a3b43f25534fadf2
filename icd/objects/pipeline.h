// VkPipeline: what the pipelines of all bind points, and libraries of them, have in common.
#pragma once

#include "icd/objects/object.h"

namespace pumice::icd {

enum class PipelineKind : uint8_t { kCompute, kGraphics, kGraphicsLibrary };

class Pipeline : public ObjectBase {
 public:
  static const Pipeline* from(VkPipeline handle) {
    return reinterpret_cast<const Pipeline*>(static_cast<uintptr_t>(reinterpret_cast<uint64_t>(handle)));
  }
  PipelineKind kind() const { return kind_; }

 protected:
  explicit Pipeline(VkObjectType type) : ObjectBase(type) {}
  ~Pipeline() = default;

  PipelineKind kind_ = PipelineKind::kCompute;
};

}  // namespace pumice::icd
