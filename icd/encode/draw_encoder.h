// Writes draws: keeps what a command buffer has set for them, and puts a state group into the stream when something in
// it has changed since the last draw (backend/abi/draw_packets.h). A draw with nothing new is one packet.
//
// Thread rules: those of the command buffer. Allocates in the stream only.
#pragma once

#include "icd/encode/command_stream.h"
#include "icd/objects/draw_values.h"

namespace pumice::icd {

/// What binding a graphics pipeline brings. All of it belongs to the pipeline, which outlives the stream's execution.
struct DrawPrograms {
  const abi::GraphicsPrograms* programs;
  const DrawValues* values;
  DynamicSet dynamic;
  /// The pipeline's own block; nullptr when vertex input is dynamic.
  const abi::VertexInputState* vertexInput;
};

class DrawEncoder {
 public:
  void bindPrograms(const DrawPrograms& programs);
  /// `size_B` is what of the buffer lies behind `address`. Address 0 is the null buffer.
  void bindVertexBuffer(uint32_t binding, uint64_t address, uint64_t size_B);
  void bindIndexBuffer(uint64_t address, uint64_t size_B, abi::IndexType type);
  void setTargets(const abi::TargetState& targets);

  /// For vkCmdSet*: the values, and which groups the call changes.
  DrawValues& change(uint32_t groups) {
    dirty_ |= groups;
    return values_;
  }
  const DrawValues& values() const { return values_; }

  /// False when the draw can have no effect: no programs are bound.
  [[nodiscard]] bool ready() const { return programs_.programs != nullptr; }
  /// The block of all that is set now. Only when ready().
  const abi::DrawState* flush(CommandStream& stream, const abi::BindingState* bindings);

  /// Nothing is known any more, and nothing is in the stream: a new recording, or after a called stream.
  void forget();

 private:
  // Beside DrawGroups.
  static constexpr uint32_t kGroupIndexBuffer = 1u << 16, kGroupTargets = 1u << 17, kGroupPrograms = 1u << 18;

  static abi::TargetState noTargets();
  void writeVertexInput(CommandStream& stream);
  void writeVertexBuffers(CommandStream& stream);
  void writeViewports(CommandStream& stream);
  void writeRaster(CommandStream& stream);
  void writeFragment(CommandStream& stream);

  DrawPrograms programs_{};
  DrawValues values_;
  abi::VertexBuffer vertexBuffers_[abi::kMaxVertexAttributes]{};
  abi::IndexBufferState indexBuffer_{};
  abi::TargetState targets_ = noTargets();
  float viewportDepth_[abi::kMaxViewports][2]{};

  uint32_t bindingCount_ = 0;  // of the bindings that an attribute names, up to the last
  uint32_t dirty_ = ~0u;
  abi::DrawState state_{};                 // addresses of what the stream holds
  const abi::DrawState* block_ = nullptr;  // the same in the stream
};

}  // namespace pumice::icd
