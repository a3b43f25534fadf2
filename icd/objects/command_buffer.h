// VkCommandBuffer: a command stream and the state that commands depend on. The vkCmd* functions in icd/encode write
// through it. State goes into the stream as immutable blocks, and only when it changed since the last dispatch, so that
// one stream may run many times at once.
#pragma once

#include <array>

#include "backend/abi/packets.h"
#include "icd/encode/binding_tracker.h"
#include "icd/encode/command_stream.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class CommandPool;
class ComputePipeline;

class CommandBuffer : public Object<CommandBuffer, VkCommandBuffer, VK_OBJECT_TYPE_COMMAND_BUFFER> {
 public:
  explicit CommandBuffer(CommandPool& pool);

  VkResult init(VkCommandBufferLevel level);

  void begin();
  /// Reports what went wrong during recording.
  VkResult end();
  void reset();

  /// First packet; nullptr when recording failed.
  const std::byte* firstPacket() const { return stream_.first(); }
  CommandStream& stream() { return stream_; }

  // -- compute state
  void bindPipeline(const ComputePipeline& pipeline) { pipeline_ = &pipeline; }
  BindingTracker& bindings() { return bindings_; }
  void pushConstants(uint32_t offset_B, uint32_t size_B, const void* data);
  void dispatch(const uint32_t (&base)[3], const uint32_t (&count)[3]);
  void dispatchIndirect(uint64_t argsAddress);
  /// After a called stream nothing is known about what is bound.
  void forgetState();

 private:
  const std::byte* flushPushConstants();
  void orderBehindDispatches();

  CommandStream stream_;
  const bool orderDispatches_;  // see Workarounds
  const ComputePipeline* pipeline_ = nullptr;

  BindingTracker bindings_;
  std::array<std::byte, abi::kMaxPushConstantBytes> pushConstants_{};
  // What the stream holds already; nullptr: to be written before the next command that reads them.
  const std::byte* pushConstantsBlock_ = nullptr;
};

}  // namespace pumice::icd
