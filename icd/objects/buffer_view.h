// VkBufferView: the descriptor of a texel buffer, ready to be copied into sets.
#pragma once

#include "backend/abi/descriptor.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

class BufferView : public Object<BufferView, VkBufferView, VK_OBJECT_TYPE_BUFFER_VIEW> {
 public:
  explicit BufferView(Device&) {}

  VkResult init(const VkBufferViewCreateInfo& info);

  const abi::TexelBufferDescriptor& descriptor() const { return descriptor_; }

 private:
  abi::TexelBufferDescriptor descriptor_{};
};

}  // namespace pumice::icd
