#include "shaders/ir/interpreter_image.h"

#include "backend/abi/descriptor_room.h"

namespace pumice::shader::ir {

uint64_t descriptorAddress(const abi::BindingSlot& slot, const abi::BindingState& state, uint64_t index, bool sampler) {
  alignas(64) static constexpr std::byte kNull[sizeof(abi::ImageDescriptor) + sizeof(abi::SamplerDescriptor)]{};
  if (index >= slot.count || slot.set >= abi::kMaxBoundSets || state.setAddress[slot.set] == 0)
    return reinterpret_cast<uint64_t>(kNull);
  return state.setAddress[slot.set] + slot.offset_B + index * slot.stride_B +
         (sampler ? abi::samplerOffset_B(slot.stride_B) : 0);
}

void accessImage(const Inst& inst, abi::ImageCallFunction* textureUnit,
                 const std::function<uint64_t(const Value*)>& operand, uint64_t results[4]) {
  const ImageAccess a = imageAccess(inst);
  const ImageOperands at = imageOperands(a);
  abi::ImageCall call{};
  call.op = a.op;
  call.gatherComponent = a.gatherComponent;
  call.activeLanes = 1;
  call.flags = a.flags | abi::kImageUniformDescriptor;
  const auto bits = [&](uint32_t i) { return operand(inst.operands[i]); };
  const auto word = [&](uint32_t i) { return static_cast<uint32_t>(bits(i)); };
  call.image[0] = bits(0);
  if (a.hasSampler()) call.sampler[0] = bits(at.sampler);
  for (uint32_t c = 0; c < a.spatial; ++c) call.coordinate[c][0] = word(at.coordinates + c);
  call.coordinate[a.spatial][0] = word(at.layer);
  if (at.lod != at.minLod) call.lod[0] = word(at.lod);
  if (at.minLod != at.reference) call.minLod[0] = word(at.minLod);
  if (at.reference != at.gradients) call.reference[0] = word(at.reference);
  if (at.gradients != at.offsets) {
    for (uint32_t c = 0; c < a.spatial; ++c) {
      call.ddx[c][0] = word(at.gradients + c);
      call.ddy[c][0] = word(at.gradients + a.spatial + c);
    }
  }
  if (at.offsets != at.gatherOffsets) {
    for (uint32_t c = 0; c < a.spatial; ++c) call.offset[c][0] = static_cast<int32_t>(word(at.offsets + c));
  }
  if (at.gatherOffsets != at.values) {
    for (uint32_t i = 0; i < 8; ++i) call.gatherOffset[i / 2][i % 2] = static_cast<int32_t>(word(at.gatherOffsets + i));
  }
  const bool wide = a.has(abi::kImage64);
  const uint32_t values = at.count - at.values;
  for (uint32_t i = 0; i < values && (!wide || i < 2); ++i) {
    const uint64_t v = bits(at.values + i);
    if (wide) {
      call.texel[2 * i][0] = static_cast<uint32_t>(v);
      call.texel[2 * i + 1][0] = static_cast<uint32_t>(v >> 32);
    } else {
      call.texel[i][0] = static_cast<uint32_t>(v);
    }
  }
  textureUnit(&call);
  for (uint32_t c = 0; c < 4; ++c) results[c] = call.texel[c][0];
  if (wide) {
    // One component of 64 bits; what a format lacks is 0, 0, 1.
    results[0] |= results[1] << 32;
    results[1] = results[2] = 0;
    results[3] = 1;
  }
}

}  // namespace pumice::shader::ir
