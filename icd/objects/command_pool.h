// VkCommandPool: the chunks that its command buffers record into, and those buffers. Externally synchronised together
// with all its command buffers.
#pragma once

#include <optional>
#include <vector>

#include "icd/encode/command_stream.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class CommandBuffer;
class Device;

class CommandPool : public Object<CommandPool, VkCommandPool, VK_OBJECT_TYPE_COMMAND_POOL> {
 public:
  explicit CommandPool(Device& device) : device_(device) {}
  ~CommandPool();

  VkResult init(const VkAllocationCallbacks* callbacks);

  Device& device() { return device_; }
  ChunkPool& chunks() { return *chunks_; }

  /// Makes room for so many more buffers, so that allocate() throws nothing.
  void prepare(uint32_t count);
  VkResult allocate(VkCommandBufferLevel level, VkCommandBuffer* out);
  void free(CommandBuffer* buffer);
  void reset(VkCommandPoolResetFlags flags);

 private:
  const VkAllocationCallbacks* callbacks() const { return callbacks_ ? &*callbacks_ : nullptr; }

  Device& device_;
  std::optional<VkAllocationCallbacks> callbacks_;
  std::optional<ChunkPool> chunks_;
  std::vector<CommandBuffer*> buffers_;
};

}  // namespace pumice::icd
