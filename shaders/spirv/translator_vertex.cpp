// Vertex shaders: from the rows of a block to the rows of its outputs (backend/abi/vertex_abi.h).
#include <algorithm>
#include <cstddef>

#include "backend/abi/vertex_abi.h"
#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using abi::VertexBlock;
using abi::VertexEnv;
using ir::Op;

namespace {

constexpr uint32_t kRowBytes = sizeof(abi::VertexRow);

}  // namespace

// A row of the block's inputs, outputs or indices starts at `pointer + row * kRowBytes`.
ir::Value* Translator::vertexInput(const IoLeaf& leaf) {
  Value* rows = loadGlobal(ir::kI64, stageAddress(Op::ItemAddress), e().i32(0), 1, offsetof(VertexBlock, inputs));
  Value* lane = loadBuiltin(spv::BuiltIn::LocalInvocationIndex, 0);
  const uint32_t first = 4 * vertexInputSlot(leaf.location) + leaf.component;
  const auto row = [&](ir::Type t, uint32_t r) { return loadGlobal(t, rows, lane, 4, r * kRowBytes); };
  if (ir::kindBits(leaf.type.kind) == 32) return row(leaf.type, first);
  Value* low = e().convert(Op::ZExt, ir::kI64, row(ir::kI32, first));
  Value* high = e().convert(Op::ZExt, ir::kI64, row(ir::kI32, first + 1));
  Value* both = e().binary(Op::Or, low, e().binary(Op::Shl, high, e().integer(ir::kI64, 32)));
  return e().bitcast(leaf.type, both);
}

// Slots are numbered as they are first used; a variable's locations, read in one go, are neighbours.
uint32_t Translator::vertexInputSlot(uint32_t location) {
  for (uint32_t s = 0; s < vertex_.inputSlotCount; ++s)
    if (vertex_.inputLocation[s] == location) return s;
  if (location >= abi::kMaxVertexAttributes || vertex_.inputSlotCount == abi::kMaxVertexAttributes)
    failUnsupported("a location of an input is out of range");
  vertex_.inputLocation[vertex_.inputSlotCount] = static_cast<uint8_t>(location);
  return vertex_.inputSlotCount++;
}

ir::Value* Translator::vertexBuiltin(spv::BuiltIn b) {
  const auto env = [&](uint32_t offset_B) {
    return loadGlobal(ir::kI32, stageAddress(Op::EnvAddress), e().i32(0), 1, offset_B);
  };
  const auto perLane = [&](uint32_t offset_B) {
    Value* numbers = loadGlobal(ir::kI64, stageAddress(Op::ItemAddress), e().i32(0), 1, offset_B);
    return loadGlobal(ir::kI32, numbers, loadBuiltin(spv::BuiltIn::LocalInvocationIndex, 0), 4, 0);
  };
  switch (b) {
    case spv::BuiltIn::VertexIndex:
      return perLane(offsetof(VertexBlock, vertexIndex));
    case spv::BuiltIn::InstanceIndex:
      return perLane(offsetof(VertexBlock, instanceIndex));
    case spv::BuiltIn::BaseVertex:
      return env(offsetof(VertexEnv, baseVertex));
    case spv::BuiltIn::BaseInstance:
      return env(offsetof(VertexEnv, baseInstance));
    case spv::BuiltIn::DrawIndex:
      return env(offsetof(VertexEnv, drawIndex));
    case spv::BuiltIn::ViewIndex:
      return env(offsetof(VertexEnv, viewIndex));
    default:
      return nullptr;
  }
}

void Translator::storeRow(uint32_t row, Value* v) {
  Value* rows = loadGlobal(ir::kI64, stageAddress(Op::ItemAddress), e().i32(0), 1, offsetof(VertexBlock, outputs));
  Value* lane = loadBuiltin(spv::BuiltIn::LocalInvocationIndex, 0);
  const auto store = [&](uint32_t r, Value* word) {
    ir::Inst* in = e().inst(Op::Store, ir::kVoid, {rows, lane, word});
    in->mem.space = ir::Space::kGlobal;
    in->mem.everyLane = true;
    in->mem.scale_B = 4;
    in->mem.offset_B = r * kRowBytes;
  };
  if (v->type.isBool()) v = boolToInt(v);
  if (ir::kindBits(v->type.kind) == 32) return store(row, v);
  Value* both = e().bitcast(ir::kI64, v);
  store(row, e().convert(Op::Trunc, ir::kI32, both));
  store(row + 1, e().convert(Op::Trunc, ir::kI32, e().binary(Op::UShr, both, e().integer(ir::kI64, 32))));
}

void Translator::emitVertexOutputs() {
  // Cull distances stand behind the clip distances, whose number must be known first.
  size_t clipDistances = 0, cullDistances = 0;
  for (const IoVariable& io : outputs_)
    for (const IoLeaf& leaf : io.leaves) {
      if (!leaf.isBuiltin || !io.written[leaf.group]) continue;
      if (leaf.builtin == spv::BuiltIn::ClipDistance) ++clipDistances;
      if (leaf.builtin == spv::BuiltIn::CullDistance) ++cullDistances;
    }
  if (clipDistances + cullDistances > abi::kMaxClipCullDistances) failUnsupported("too many clip and cull distances");
  vertex_.clipDistanceCount = static_cast<uint8_t>(clipDistances);
  vertex_.cullDistanceCount = static_cast<uint8_t>(cullDistances);
  const auto slotOf = [&](uint32_t location) -> uint32_t {
    for (uint32_t s = 0; s < vertex_.varyingSlotCount; ++s)
      if (vertex_.varyingLocation[s] == location) return s;
    if (location > 0xff || vertex_.varyingSlotCount == abi::kMaxVaryingSlots)
      failUnsupported("a location of an output is out of range");
    vertex_.varyingLocation[vertex_.varyingSlotCount] = static_cast<uint8_t>(location);
    return vertex_.varyingSlotCount++;
  };
  const auto rowOf = [&](const IoLeaf& leaf) -> uint32_t {
    if (!leaf.isBuiltin) return abi::kRowVaryings + 4 * slotOf(leaf.location) + leaf.component;
    switch (leaf.builtin) {
      case spv::BuiltIn::Position:
        return abi::kRowPosition + leaf.builtinIndex;
      case spv::BuiltIn::PointSize:
        vertex_.flags |= abi::kVertexWritesPointSize;
        return abi::kRowPointSize;
      case spv::BuiltIn::Layer:
        vertex_.flags |= abi::kVertexWritesLayer;
        return abi::kRowLayer;
      case spv::BuiltIn::ViewportIndex:
        vertex_.flags |= abi::kVertexWritesViewport;
        return abi::kRowViewport;
      case spv::BuiltIn::ClipDistance:
        return abi::kRowDistances + leaf.builtinIndex;
      case spv::BuiltIn::CullDistance:
        return abi::kRowDistances + vertex_.clipDistanceCount + leaf.builtinIndex;
      default:
        failUnsupported("built-in output " + std::to_string(static_cast<uint32_t>(leaf.builtin)));
    }
  };
  for (const IoVariable& io : outputs_)
    for (const IoLeaf& leaf : io.leaves) {
      if (!io.written[leaf.group]) continue;
      const ir::Type memory = leaf.type.isBool() ? ir::kI32 : leaf.type;
      storeRow(rowOf(leaf), loadLocal(io.local, leaf.offset_B, memory));
    }
  // Once more for fragment shaders that read them, as long as there are slots.
  for (const IoVariable& io : outputs_)
    for (const IoLeaf& leaf : io.leaves) {
      const bool isClip = leaf.isBuiltin && leaf.builtin == spv::BuiltIn::ClipDistance;
      const bool isCull = leaf.isBuiltin && leaf.builtin == spv::BuiltIn::CullDistance;
      if ((!isClip && !isCull) || !io.written[leaf.group]) continue;
      const uint32_t location = (isClip ? kClipDistanceLocation : kCullDistanceLocation) + leaf.builtinIndex / 4;
      const auto known = std::span(vertex_.varyingLocation).first(vertex_.varyingSlotCount);
      const bool isNew = std::find(known.begin(), known.end(), location) == known.end();
      if (isNew && vertex_.varyingSlotCount == abi::kMaxVaryingSlots) continue;
      storeRow(abi::kRowVaryings + 4 * slotOf(location) + leaf.builtinIndex % 4,
               loadLocal(io.local, leaf.offset_B, leaf.type));
    }
  if (sideEffects_) vertex_.flags |= abi::kVertexHasSideEffects;
}

}  // namespace pumice::shader::spirv
