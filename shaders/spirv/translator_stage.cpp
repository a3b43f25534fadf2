// Inputs and outputs of the graphics stages. A variable lives in private memory of the invocation: inputs are stored
// there before the shader begins, outputs are taken from there when it has ended. Scalar replacement then leaves of it
// what is used, and dynamic indices need no rule of their own.
#include <algorithm>

#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using ir::Op;
using SC = spv::StorageClass;

// The decorations of a variable, or of a block's member, that say what it is.
void Translator::decorateIo(uint32_t id, uint32_t member, IoLeaf& leaf, uint32_t& location) {
  const auto literal = [&](spv::Decoration kind) -> const uint32_t* {
    const Decoration* d = module_.find(id, kind, member);
    return d && !d->literals.empty() ? d->literals.data() : nullptr;
  };
  if (const uint32_t* b = literal(spv::Decoration::BuiltIn)) {
    leaf.isBuiltin = true;
    leaf.builtin = static_cast<spv::BuiltIn>(*b);
  }
  if (const uint32_t* l = literal(spv::Decoration::Location)) location = *l;
  if (const uint32_t* c = literal(spv::Decoration::Component)) leaf.component = *c;
  if (const uint32_t* i = literal(spv::Decoration::Index)) leaf.index = *i;
  Interpolation& how = leaf.interpolation;
  how.flat |= module_.has(id, spv::Decoration::Flat, member);
  how.noPerspective |= module_.has(id, spv::Decoration::NoPerspective, member);
  how.centroid |= module_.has(id, spv::Decoration::Centroid, member);
  how.sample |= module_.has(id, spv::Decoration::Sample, member);
}

// All scalars of a type, with the locations that the specification gives them ("Location Assignment"). `at` is what is
// known from further out.
void Translator::collectIo(const TypeInfo& t, uint32_t offset_B, IoLeaf at, uint32_t& location, uint32_t& builtinIndex,
                           std::vector<IoLeaf>& out) {
  switch (t.op) {
    case spv::Op::OpTypeStruct:
      for (uint32_t i = 0; i < t.members.size(); ++i) {
        IoLeaf member = at;
        decorateIo(t.id, i, member, location);
        uint32_t inMember = 0;
        collectIo(type(t.members[i]), offset_B + t.naturalOffset[i], member, location,
                  member.isBuiltin && !at.isBuiltin ? inMember : builtinIndex, out);
        if (module_.has(t.id, spv::Decoration::Block)) ++at.group;
      }
      return;
    case spv::Op::OpTypeArray:
    case spv::Op::OpTypeMatrix: {
      const TypeInfo& element = type(t.element);
      const uint32_t stride =
          (element.naturalSize + element.naturalAlign - 1) / element.naturalAlign * element.naturalAlign;
      for (uint32_t i = 0; i < t.count; ++i) collectIo(element, offset_B + i * stride, at, location, builtinIndex, out);
      return;
    }
    case spv::Op::OpTypeVector:
    case spv::Op::OpTypeBool:
    case spv::Op::OpTypeInt:
    case spv::Op::OpTypeFloat: {
      if (ir::kindBits(t.scalar.kind) < 32 && !t.scalar.isBool()) failUnsupported("an input or output of this type");
      const uint32_t bytes = t.scalar.isBool() ? 4 : ir::kindBytes(t.scalar.kind);
      const uint32_t rows = bytes / 4;
      const uint32_t first = at.component;
      for (uint32_t c = 0; c < t.leaves; ++c) {
        const uint32_t row = first + c * rows;
        at.offset_B = offset_B + c * bytes;
        at.type = t.scalar;
        at.location = location + row / 4;
        at.component = row % 4;
        at.builtinIndex = builtinIndex++;
        out.push_back(at);
      }
      location += (first + t.leaves * rows + 3) / 4;
      return;
    }
    default:
      failUnsupported("an input or output of this type");
  }
}

Pointer Translator::stageVariable(const Instr& in, Pointer p) {
  const bool isInput = p.storage == SC::Input;
  const TypeInfo& t = type(p.type);
  if (t.unsized || t.leaves == 0) failUnsupported("an input or output of this type");
  p.space = ir::Space::kLocal;
  p.local = static_cast<uint32_t>(fn_.locals.size());
  fn_.locals.push_back({std::max(t.naturalSize, 1u), t.naturalAlign, {}});
  IoVariable io;
  io.variable = in.result;
  io.local = p.local;
  IoLeaf at;
  uint32_t location = 0, builtinIndex = 0;
  decorateIo(in.result, kNoMember, at, location);
  collectIo(t, 0, at, location, builtinIndex, io.leaves);
  io.written.resize(io.leaves.back().group + 1u);
  if (isInput) {
    Emitter::Prologue prologue(emitter_);
    for (const IoLeaf& leaf : io.leaves) {
      Value* v = leaf.isBuiltin ? loadBuiltin(leaf.builtin, leaf.builtinIndex)
                 : isFragment() ? fragmentInput(leaf)
                                : vertexInput(leaf);
      if (v->type.isBool() != leaf.type.isBool()) failInvalid("a built-in value of a wrong type");
      storeLocal(p.local, leaf.offset_B, v->type.isBool() ? boolToInt(v) : e().bitcast(leaf.type, v));
    }
    inputs_.push_back(std::move(io));
    return p;
  }
  outputs_.push_back(std::move(io));
  if (in.operandCount() > 1) {
    const Leaves initial = get(in.operand(1)).leaves;
    Emitter::Prologue prologue(emitter_);
    store(p, initial);
  }
  return p;
}

// A store to an output: what the shader never writes is left out of the interface.
void Translator::markWritten(const Pointer& p) {
  for (IoVariable& io : outputs_) {
    if (io.local != p.local) continue;
    // Stores are by scalar or vector, dynamic indices stay inside their member.
    auto leaf = std::upper_bound(io.leaves.begin(), io.leaves.end(), p.offset,
                                 [](int64_t offset, const IoLeaf& l) { return offset < l.offset_B; });
    if (leaf != io.leaves.begin()) --leaf;
    io.written[leaf->group] = true;
  }
}

void Translator::storeLocal(uint32_t local, uint32_t offset_B, Value* v) {
  ir::Inst* in = e().inst(Op::Store, ir::kVoid, {e().i32(0), v});
  in->mem.space = ir::Space::kLocal;
  in->mem.local = local;
  in->mem.offset_B = offset_B;
}

ir::Value* Translator::loadLocal(uint32_t local, uint32_t offset_B, ir::Type t) {
  ir::Inst* in = e().inst(Op::Load, t, {e().i32(0)});
  in->mem.space = ir::Space::kLocal;
  in->mem.local = local;
  in->mem.offset_B = offset_B;
  return in->result;
}

// The shader inside a Block, and behind it what happens with its outputs.
void Translator::emitStage(const FunctionDef& fn) {
  if (isFragment())
    beginFragment();
  else
    fn_.localSize[0] = abi::kVertexBlockLanes;
  // An output with an initial value is written, even if the shader never mentions it.
  for (const Instr* global : module_.globalVariables()) {
    if (static_cast<SC>(global->operand(0)) != SC::Output || global->operandCount() < 2) continue;
    if (std::find(interface_.begin(), interface_.end(), global->result) != interface_.end()) get(global->result);
  }
  shader_ = e().openBlock();
  emitFunction(fn, shader_);
  e().close(shader_);
  if (isFragment())
    emitFragmentOutputs();
  else
    emitVertexOutputs();
  e().br(fn_.body, {});
}

// EnvAddress or ItemAddress.
ir::Value* Translator::stageAddress(Op op) {
  Emitter::Prologue prologue(emitter_);
  return e().inst(op, ir::kI64, {})->result;
}

// Of memory that the machine has prepared: nobody writes it, and it may be read whatever invocations are active.
ir::Value* Translator::loadGlobal(ir::Type t, Value* base, Value* index, uint32_t scale_B, uint32_t offset_B) {
  ir::Inst* in = e().inst(Op::Load, t, {base, index});
  in->mem.space = ir::Space::kGlobal;
  in->mem.readOnly = true;
  in->mem.everyLane = true;
  in->mem.align_log2 = t == ir::kI64 ? 3 : 2;
  in->mem.scale_B = scale_B;
  in->mem.offset_B = offset_B;
  return in->result;
}

// Built-in values that compute shaders do not have.
ir::Value* Translator::stageBuiltin(spv::BuiltIn b, uint32_t component) {
  Value* v = nullptr;
  if (fn_.stage == ir::Stage::kCompute && b == spv::BuiltIn::ViewIndex) v = e().i32(0);
  if (fn_.stage == ir::Stage::kVertex && component == 0) v = vertexBuiltin(b);
  if (isFragment()) v = fragmentBuiltin(b, component);
  if (!v) failUnsupported("built-in value " + std::to_string(static_cast<uint32_t>(b)));
  return v;
}

}  // namespace pumice::shader::spirv
