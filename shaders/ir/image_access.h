// What an image operation of the IR (ImageRead, ImageAccess, ImageWrite) does and where its operands stand. The meaning
// is that of the machine's texture unit, backend/abi/image_call.h, whose fields the operands fill.
//
// Operands, in this order, those in brackets as the flags say:
//   image I64, [sampler I64: kSample, kGather, kQueryLod], coordinates (I32; sampling: F32): `spatial` of them, then
//   the array layer (always: zero if the image has no layers), [lod I32 or F32], [minLod F32], [reference F32],
//   [gradients F32: x, y, z by screen x, then by screen y], [offsets I32: one per spatial coordinate],
//   [gather offsets I32: x and y of four texels], values (kWrite: 4 of the texel's type; atomics: one, exchange with
//   comparison: new value, comparator).
#pragma once

#include "backend/abi/image_call.h"
#include "shaders/ir/ir.h"

namespace pumice::shader::ir {

struct ImageAccess {
  abi::ImageOp op = abi::ImageOp::kRead;
  uint8_t gatherComponent = 0;
  uint8_t spatial = 2;  // coordinates besides the layer: 1 .. 3
  uint8_t format = 0;   // of storage images: the likely one, a spv::ImageFormat; 0 = unknown
  uint32_t flags = 0;   // abi::ImageCallFlags

  bool hasSampler() const { return op >= abi::ImageOp::kSample; }
  bool isAtomic() const { return op >= abi::ImageOp::kAtomicAdd && op <= abi::ImageOp::kAtomicFMax; }
  bool has(abi::ImageCallFlags flag) const { return (flags & flag) != 0; }
};

inline void setImageAccess(Inst& inst, const ImageAccess& a) {
  inst.imm = static_cast<uint32_t>(a.op) | uint32_t{a.gatherComponent} << 8 | uint32_t{a.spatial} << 16 |
             uint32_t{a.format} << 24;
  inst.imm2 = a.flags;
}
inline ImageAccess imageAccess(const Inst& inst) {
  return {static_cast<abi::ImageOp>(inst.imm & 0xff), static_cast<uint8_t>(inst.imm >> 8),
          static_cast<uint8_t>(inst.imm >> 16), static_cast<uint8_t>(inst.imm >> 24), inst.imm2};
}

// Index of the first operand of each group; the group is empty if the flags leave it out.
struct ImageOperands {
  uint32_t sampler, coordinates, layer, lod, minLod, reference, gradients, offsets, gatherOffsets, values, count;
};
inline ImageOperands imageOperands(const ImageAccess& a) {
  ImageOperands o{};
  uint32_t at = 1;
  const auto take = [&at](bool there, uint32_t n) {
    const uint32_t first = at;
    if (there) at += n;
    return first;
  };
  o.sampler = take(a.hasSampler(), 1);
  o.coordinates = take(true, a.spatial);
  o.layer = take(true, 1);
  o.lod = take(a.has(abi::kImageLod) || a.has(abi::kImageSampleIndex), 1);
  o.minLod = take(a.has(abi::kImageMinLod), 1);
  o.reference = take(a.has(abi::kImageReference), 1);
  o.gradients = take(a.has(abi::kImageGrad), 2u * a.spatial);
  o.offsets = take(a.has(abi::kImageOffset), a.spatial);
  o.gatherOffsets = take(a.has(abi::kImageGatherOffsets), 8);
  const bool exchange = a.op == abi::ImageOp::kAtomicCompareExchange;
  o.values = take(a.op == abi::ImageOp::kWrite || a.isAtomic(), a.op == abi::ImageOp::kWrite ? 4 : exchange ? 2 : 1);
  o.count = at;
  return o;
}

}  // namespace pumice::shader::ir
