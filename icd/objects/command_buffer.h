// VkCommandBuffer: a command stream and the state that commands depend on. The vkCmd* functions in icd/encode write
// through it. State goes into the stream as immutable blocks, and only when it changed since the last dispatch or draw,
// so that one stream may run many times at once.
#pragma once

#include <array>

#include "backend/abi/packets.h"
#include "icd/encode/binding_tracker.h"
#include "icd/encode/command_stream.h"
#include "icd/encode/draw_encoder.h"
#include "icd/encode/pass_encoder.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class CommandPool;
class ComputePipeline;
class GraphicsPipeline;

class CommandBuffer : public Object<CommandBuffer, VkCommandBuffer, VK_OBJECT_TYPE_COMMAND_BUFFER> {
 public:
  explicit CommandBuffer(CommandPool& pool);

  VkResult init(VkCommandBufferLevel level);

  void begin(const VkCommandBufferBeginInfo& info);
  /// Reports what went wrong during recording.
  VkResult end();
  void reset();

  /// First packet; nullptr when recording failed.
  const std::byte* firstPacket() const { return stream_.first(); }
  CommandStream& stream() { return stream_; }

  // -- state
  /// What is bound at the one bind point is nothing to the other.
  BindingTracker& bindings(VkPipelineBindPoint point) {
    return point == VK_PIPELINE_BIND_POINT_GRAPHICS ? drawBindings_ : bindings_;
  }
  void pushConstants(uint32_t offset_B, uint32_t size_B, const void* data);

  // -- compute
  void bindPipeline(const ComputePipeline& pipeline) { pipeline_ = &pipeline; }
  void dispatch(const uint32_t (&base)[3], const uint32_t (&count)[3]);
  void dispatchIndirect(uint64_t argsAddress);

  // -- drawing
  void bindPipeline(const GraphicsPipeline& pipeline);
  DrawEncoder& draws() { return draws_; }
  /// What all draw packets name. False: the draw has no effect, there is no pass or no pipeline.
  struct DrawHead {
    const abi::DrawState* state;
    const std::byte* pushConstants;
  };
  [[nodiscard]] bool prepareDraw(DrawHead* out);

  // -- passes
  bool insidePass() const { return insidePass_; }
  PassEncoder& pass() { return pass_; }
  /// Another subpass or dynamic rendering is open, or none.
  void targetsChanged(bool insidePass);

  /// After a called stream nothing is known about what is bound; the pass goes on.
  void forgetState();

 private:
  const std::byte* flushPushConstants();
  void orderBehindDispatches();

  CommandStream stream_;
  bool isSecondary_ = false;
  const bool orderDispatches_;  // see Workarounds
  const ComputePipeline* pipeline_ = nullptr;

  DrawEncoder draws_;
  PassEncoder pass_;
  bool insidePass_ = false;

  BindingTracker bindings_, drawBindings_;
  std::array<std::byte, abi::kMaxPushConstantBytes> pushConstants_{};
  // What the stream holds already; nullptr: to be written before the next command that reads them.
  const std::byte* pushConstantsBlock_ = nullptr;
};

}  // namespace pumice::icd
