#include "icd/encode/draw_encoder.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace pumice::icd {
namespace {

template <typename State>
const State* write(CommandStream& stream, const State& state) {
  State* block = stream.appendState<State>();
  *block = state;
  return block;
}

// Without an attachment its tests pass and nothing is written (Vulkan 1.3, 29.6 and 29.7); depth is written only where
// it is tested.
uint8_t effectiveDepthFlags(uint8_t flags, const abi::TargetState& targets) {
  constexpr auto kOfDepth = static_cast<uint8_t>(abi::kDepthTest | abi::kDepthWrite | abi::kDepthBounds);
  if (targets.depth == abi::kNoAttachment) flags &= static_cast<uint8_t>(~kOfDepth);
  if (targets.stencil == abi::kNoAttachment) flags &= static_cast<uint8_t>(~abi::kStencilTest);
  if ((flags & abi::kDepthTest) == 0) flags &= static_cast<uint8_t>(~abi::kDepthWrite);
  return flags;
}

}  // namespace

void DrawEncoder::bindPrograms(const DrawPrograms& programs) {
  if (programs.programs != programs_.programs) dirty_ |= kGroupPrograms | kGroupVertexInput;
  programs_ = programs;
  dirty_ |= copyStaticValues(*programs.values, programs.dynamic, &values_);
}

void DrawEncoder::bindVertexBuffer(uint32_t binding, uint64_t address, uint64_t size_B) {
  abi::VertexBuffer& b = vertexBuffers_[binding];
  if (b.address == address && b.size_B == size_B) return;
  b.address = address;
  b.size_B = size_B;
  dirty_ |= kGroupVertexBuffers;
}

void DrawEncoder::bindIndexBuffer(uint64_t address, uint64_t size_B, abi::IndexType type) {
  indexBuffer_ = {address, size_B, type, 0};
  dirty_ |= kGroupIndexBuffer;
}

void DrawEncoder::setTargets(const abi::TargetState& targets) {
  if (std::memcmp(&targets, &targets_, sizeof targets) == 0) return;
  targets_ = targets;
  dirty_ |= kGroupTargets | kGroupFragment;  // which tests are on depends on what there is
}

const abi::DrawState* DrawEncoder::flush(CommandStream& stream, const abi::BindingState* bindings) {
  if (dirty_ != 0) {
    if ((dirty_ & kGroupVertexInput) != 0) writeVertexInput(stream);
    if ((dirty_ & (kGroupVertexInput | kGroupVertexBuffers)) != 0) writeVertexBuffers(stream);
    if ((dirty_ & kGroupViewports) != 0) writeViewports(stream);
    if ((dirty_ & kGroupRaster) != 0) writeRaster(stream);
    if ((dirty_ & kGroupFragment) != 0) writeFragment(stream);
    if ((dirty_ & kGroupIndexBuffer) != 0) state_.indexBuffer = write(stream, indexBuffer_);
    if ((dirty_ & kGroupTargets) != 0) state_.targets = write(stream, targets_);
    state_.programs = programs_.programs;
    dirty_ = 0;
    block_ = nullptr;
  }
  if (block_ == nullptr || state_.bindings != bindings) {
    state_.bindings = bindings;
    block_ = write(stream, state_);
  }
  return block_;
}

// The stream is never read again: when memory has run out, its blocks lie on top of each other.
void DrawEncoder::writeVertexInput(CommandStream& stream) {
  abi::VertexInputState made;
  const abi::VertexInputState* input = programs_.vertexInput;
  if (input == nullptr) {
    made = vertexInputState(values_.vertexInput, *programs_.programs->vertex);
    input = &made;
  }
  state_.vertexInput = input == &made ? write(stream, made) : input;
  bindingCount_ = 0;
  for (uint32_t i = 0; i < input->attributeCount; ++i) {
    bindingCount_ = std::max<uint32_t>(bindingCount_, input->attributes[i].binding + 1u);
  }
}

// Nobody looks at bindings that no attribute names: the block ends behind the last that one does.
void DrawEncoder::writeVertexBuffers(CommandStream& stream) {
  auto* block =
      reinterpret_cast<abi::VertexBufferState*>(stream.appendBytes(bindingCount_ * sizeof(abi::VertexBuffer)));
  for (uint32_t i = 0; i < bindingCount_; ++i) {
    vertexBuffers_[i].stride_B = values_.vertexStride_B[i];
    block->buffers[i] = vertexBuffers_[i];
  }
  state_.vertexBuffers = block;
}

void DrawEncoder::writeViewports(CommandStream& stream) {
  state_.viewports = write(stream, values_.viewports);
  for (uint32_t i = 0; i < values_.viewports.count; ++i) {
    const float depth[2] = {values_.viewports.viewports[i].minDepth, values_.viewports.viewports[i].maxDepth};
    if (std::memcmp(depth, viewportDepth_[i], sizeof depth) == 0) continue;
    std::copy_n(depth, 2, viewportDepth_[i]);
    dirty_ |= kGroupFragment;
  }
}

void DrawEncoder::writeRaster(CommandStream& stream) {
  state_.raster = write(stream, values_.raster);
}

void DrawEncoder::writeFragment(CommandStream& stream) {
  abi::FragmentState fragment = values_.fragment;
  fragment.depthFlags = effectiveDepthFlags(fragment.depthFlags, targets_);
  std::memcpy(fragment.viewportDepth, viewportDepth_, sizeof fragment.viewportDepth);
  state_.fragment = write(stream, fragment);
}

void DrawEncoder::forget() {
  *this = {};
}

abi::TargetState DrawEncoder::noTargets() {
  abi::TargetState none{};
  std::memset(none.color, abi::kNoAttachment, sizeof none.color);
  none.depth = none.stencil = abi::kNoAttachment;
  return none;
}

}  // namespace pumice::icd
