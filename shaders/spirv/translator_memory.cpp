// Loads, stores, atomics, barriers and built-in values.
#include <algorithm>
#include <bit>

#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using ir::MemRef;
using ir::Op;
using ir::Space;
using SC = spv::StorageClass;

namespace {

uint8_t log2Floor(uint32_t v) {
  return v ? static_cast<uint8_t>(31 - std::countl_zero(v)) : 0;
}

}  // namespace

Translator::Access Translator::access(const Pointer& p, ir::Type t) {
  if (p.kind != Pointer::Kind::kMemory) failUnsupported("an access to a whole array of resources");
  Access a{};
  MemRef& m = a.mem;
  m.space = p.space;
  m.local = p.local;
  m.isVolatile = p.isVolatile;
  m.readOnly = p.readOnly;
  m.align_log2 = log2Floor(t.isBool() ? 4 : ir::kindBytes(t.kind));
  Value* index = p.index ? p.index : e().i32(0);
  m.scale_B = p.index ? p.scale : 1;
  Value* base = p.base;
  if (p.offset >= 0 && p.offset <= 0xffff'ffff) {
    m.offset_B = static_cast<uint32_t>(p.offset);
  } else if (p.space == Space::kGlobal) {
    base = e().binary(Op::IAdd, base, e().integer(ir::kI64, static_cast<uint64_t>(p.offset)));
  } else {
    // Far out of range whatever the index is.
    index = e().i32(~0u);
    m.scale_B = 1;
    m.offset_B = ~0u;
  }
  if (p.space == Space::kGlobal && p.align) m.align_log2 = std::min(m.align_log2, log2Floor(p.align));
  if (ir::addressOperandCount(p.space) == 2) {
    a.address[0] = base;
    a.address[1] = index;
    a.addressCount = 2;
  } else {
    a.address[0] = index;
    a.addressCount = 1;
  }
  return a;
}

// Loads all leaves of what p points to.
void Translator::loadInto(const Pointer& p, std::span<Value*> out) {
  const TypeInfo& t = type(p.type);
  if (t.op == spv::Op::OpTypeStruct || t.op == spv::Op::OpTypeArray || t.op == spv::Op::OpTypeMatrix ||
      (t.op == spv::Op::OpTypeVector && p.componentStride)) {
    const uint32_t n = t.op == spv::Op::OpTypeStruct ? static_cast<uint32_t>(t.members.size()) : t.count;
    for (uint32_t i = 0; i < n; ++i) {
      uint32_t memberType = 0;
      const uint32_t start = memberStart(t, i, &memberType);
      loadInto(childPointer(p, i), out.subspan(start, type(memberType).leaves));
    }
    return;
  }
  if (t.leaves == 0 || t.leaves > 4 || out.size() != t.leaves) failInvalid("load of a type without a size");
  const bool isBool = t.scalar.isBool();
  const ir::Type memory{isBool ? ir::Kind::kI32 : t.scalar.kind, static_cast<uint8_t>(t.leaves)};
  const Access a = access(p, memory);
  ir::Inst* in = e().inst(Op::Load, memory, Leaves(a.address, a.addressCount));
  in->mem = a.mem;
  for (uint32_t i = 0; i < t.leaves; ++i) {
    out[i] = e().extract(in->result, i);
    if (isBool) out[i] = intToBool(out[i]);
  }
}

Val Translator::load(const Pointer& p, uint32_t typeId) {
  const TypeInfo& t = type(typeId);
  if (p.type != typeId) failInvalid("load with a wrong result type");
  if (p.kind == Pointer::Kind::kBuiltin) {
    const Decoration* d = module_.find(p.variable, spv::Decoration::BuiltIn);
    if (!d || d->literals.empty()) failUnsupported("an input that is no built-in value");
    const auto b = static_cast<spv::BuiltIn>(d->literals[0]);
    if (!p.component) {
      std::span<Value*> out = allocate(t.leaves);
      for (uint32_t i = 0; i < t.leaves; ++i) out[i] = loadBuiltin(b, i);
      return {typeId, out, nullptr};
    }
    const uint32_t n = type(type(module_.get(p.variable).resultType).element).count;
    if (p.component->def == Value::Def::kConstant)
      return make(typeId, {loadBuiltin(b, static_cast<uint32_t>(std::min<uint64_t>(p.component->bits, n - 1)))});
    Value* v = loadBuiltin(b, 0);
    for (uint32_t i = 1; i < n; ++i)
      v = e().select(e().compare(Op::IEq, p.component, e().i32(i)), loadBuiltin(b, i), v);
    return make(typeId, {v});
  }
  if (p.kind == Pointer::Kind::kResource) return loadResource(p, typeId);
  if (t.op == spv::Op::OpTypePointer && t.storage != SC::PhysicalStorageBuffer) return loadPointer(p, typeId);
  std::span<Value*> out = allocate(t.leaves);
  loadInto(p, out);
  return {typeId, out, nullptr};
}

void Translator::store(const Pointer& p, Leaves leaves) {
  const TypeInfo& t = type(p.type);
  if (p.kind != Pointer::Kind::kMemory || p.space == Space::kPush) failInvalid("store to read-only memory");
  if (p.storage == SC::Input) failInvalid("store to an input");
  if (t.leaves != leaves.size()) failInvalid("store of a wrong type");
  if (t.op == spv::Op::OpTypeStruct || t.op == spv::Op::OpTypeArray || t.op == spv::Op::OpTypeMatrix ||
      (t.op == spv::Op::OpTypeVector && p.componentStride)) {
    const uint32_t n = t.op == spv::Op::OpTypeStruct ? static_cast<uint32_t>(t.members.size()) : t.count;
    for (uint32_t i = 0; i < n; ++i) {
      uint32_t memberType = 0;
      const uint32_t start = memberStart(t, i, &memberType);
      store(childPointer(p, i), leaves.subspan(start, type(memberType).leaves));
    }
    return;
  }
  if (leaves.empty() || leaves.size() > 4) failInvalid("store of a type without a size");
  Value* parts[4];
  for (size_t i = 0; i < leaves.size(); ++i) {
    parts[i] = leaves[i]->type.isBool() ? boolToInt(leaves[i]) : leaves[i];
    if (parts[i]->type != (t.scalar.isBool() ? ir::kI32 : t.scalar)) failInvalid("store of a wrong type");
  }
  if (p.storage == SC::Output) markWritten(p);
  if (p.space == Space::kBuffer || p.space == Space::kGlobal) sideEffects_ = true;
  Value* value = e().tuple(Leaves(parts, leaves.size()));
  const Access a = access(p, value->type);
  Value* operands[3];
  std::copy_n(a.address, a.addressCount, operands);
  operands[a.addressCount] = value;
  ir::Inst* in = e().inst(Op::Store, ir::kVoid, Leaves(operands, a.addressCount + 1));
  in->mem = a.mem;
  in->mem.readOnly = false;
}

void Translator::applyMemoryOperands(const Instr& in, uint32_t first, Pointer& p) {
  if (first >= in.operandCount()) return;
  const uint32_t mask = in.operand(first);
  if (mask & static_cast<uint32_t>(spv::MemoryAccessMask::Volatile)) p.isVolatile = true, p.readOnly = false;
  if (mask & static_cast<uint32_t>(spv::MemoryAccessMask::Aligned)) p.align = in.operand(first + 1);
}

bool Translator::emitMemory(const Instr& in) {
  switch (in.op) {
    case spv::Op::OpVariable:
      emitVariable(in);
      return true;
    case spv::Op::OpAccessChain:
    case spv::Op::OpInBoundsAccessChain:
      set(in.result, {in.resultType, {}, accessChain(in, false)});
      return true;
    case spv::Op::OpPtrAccessChain:
    case spv::Op::OpInBoundsPtrAccessChain:
      set(in.result, {in.resultType, {}, accessChain(in, true)});
      return true;
    case spv::Op::OpLoad: {
      Pointer p = *pointer(in.operand(0));
      applyMemoryOperands(in, 1, p);
      // What the shader has done since it began counts, if the load is volatile.
      if (p.isVolatile && isHelperVariable(in.operand(0)))
        setScalar(in, e().inst(Op::IsHelper, ir::kBool, {})->result);
      else
        set(in.result, load(p, in.resultType));
      return true;
    }
    case spv::Op::OpStore: {
      if (emitTableStore(in)) return true;
      Pointer p = *pointer(in.operand(0));
      applyMemoryOperands(in, 2, p);
      const Val v = get(in.operand(1));
      if (v.pointer && v.leaves.empty())
        storePointer(p, *v.pointer);
      else
        store(p, v.leaves);
      return true;
    }
    case spv::Op::OpCopyMemory: {
      Pointer to = *pointer(in.operand(0)), from = *pointer(in.operand(1));
      applyMemoryOperands(in, 2, to);
      applyMemoryOperands(in, 2, from);
      if (type(to.type).leaves != type(from.type).leaves) failInvalid("copy between different types");
      store(to, load(from, from.type).leaves);
      return true;
    }
    case spv::Op::OpArrayLength:
      emitArrayLength(in);
      return true;
    case spv::Op::OpConvertPtrToU:
      setScalar(in, resizeInt(scalar(in.operand(0)), type(in.resultType).scalar, false));
      return true;
    case spv::Op::OpConvertUToPtr:
      setScalar(in, resizeInt(scalar(in.operand(0)), ir::kI64, false));
      return true;
    case spv::Op::OpPtrEqual:
    case spv::Op::OpPtrNotEqual:
    case spv::Op::OpPtrDiff: {
      const Pointer* a = pointer(in.operand(0));
      const Pointer* b = pointer(in.operand(1));
      if (a->space != b->space || (a->space != Space::kBuffer && a->space != Space::kShared))
        failUnsupported("comparison of these pointers");
      Value* x = byteOffset(*a);
      Value* y = byteOffset(*b);
      if (in.op == spv::Op::OpPtrDiff) {
        const TypeInfo& t = type(module_.get(in.operand(0)).resultType);
        const uint32_t stride = a->explicitLayout && t.arrayStride ? t.arrayStride : type(a->type).naturalSize;
        Value* d = e().binary(Op::SDiv, e().binary(Op::ISub, x, y), e().i32(std::max(stride, 1u)));
        setScalar(in, resizeInt(d, type(in.resultType).scalar, true));
        return true;
      }
      Value* equal = e().compare(Op::IEq, x, y);
      if (a->space == Space::kBuffer) {
        auto address = [&](const Pointer* p) { return e().convert(Op::BufferAddress, ir::kI64, p->base); };
        equal = e().binary(Op::And, equal, e().compare(Op::IEq, address(a), address(b)));
      }
      setScalar(in, in.op == spv::Op::OpPtrEqual ? equal : e().unary(Op::Not, equal));
      return true;
    }
    case spv::Op::OpControlBarrier:
    case spv::Op::OpMemoryBarrier:
      emitBarrier(in);
      return true;
    case spv::Op::OpReadClockKHR: {
      Value* t = e().inst(Op::ReadClock, ir::kI64, {})->result;
      if (type(in.resultType).leaves == 1) {
        setScalar(in, t);
      } else {
        setLeaves(in, std::initializer_list<Value*>{
                          e().convert(Op::Trunc, ir::kI32, t),
                          e().convert(Op::Trunc, ir::kI32, e().binary(Op::UShr, t, e().integer(ir::kI64, 32)))});
      }
      return true;
    }
    default:
      if (in.op >= spv::Op::OpAtomicLoad && in.op <= spv::Op::OpAtomicXor) {
        emitAtomic(in);
        return true;
      }
      if (in.op == spv::Op::OpAtomicFAddEXT || in.op == spv::Op::OpAtomicFMinEXT || in.op == spv::Op::OpAtomicFMaxEXT) {
        emitAtomic(in);
        return true;
      }
      return false;
  }
}

void Translator::emitArrayLength(const Instr& in) {
  const Pointer block = *pointer(in.operand(0));
  const TypeInfo& t = type(block.type);
  const uint32_t member = in.operand(1);
  if (t.op != spv::Op::OpTypeStruct || member >= t.members.size() || block.space != Space::kBuffer || !block.base)
    failInvalid("OpArrayLength of something that is no storage block");
  const TypeInfo& array = type(t.members[member]);
  if (array.op != spv::Op::OpTypeRuntimeArray) failInvalid("OpArrayLength of something that is no runtime array");
  const Pointer p = childPointer(block, member);
  Value* size = e().convert(Op::BufferSize, ir::kI32, block.base);
  Value* start = byteOffset(p);
  // A buffer that ends before the array has no elements.
  Value* bytes = e().binary(Op::ISub, e().binary(Op::UMax, size, start), start);
  setScalar(in, e().binary(Op::UDiv, bytes, e().i32(strideOf(array, p))));
}

void Translator::emitBarrier(const Instr& in) {
  const bool control = in.op == spv::Op::OpControlBarrier;
  const auto scope = static_cast<spv::Scope>(constantInt(in.operand(0)));
  ir::Inst* b = e().inst(control ? Op::ControlBarrier : Op::MemoryBarrier, ir::kVoid, {});
  if (control) {
    if (scope == spv::Scope::Subgroup || scope == spv::Scope::Invocation)
      b->imm = 1;
    else if (scope != spv::Scope::Workgroup)
      failUnsupported("control barrier beyond the workgroup");
  }
}

// -- atomics

void Translator::emitAtomic(const Instr& in) {
  const bool isStore = in.op == spv::Op::OpAtomicStore;
  const Pointer p = *pointer(in.operand(0));
  const TypeInfo& t = type(p.type);
  const bool texel = p.kind == Pointer::Kind::kTexel;
  if (t.leaves != 1 || t.scalar.isBool() || (p.kind != Pointer::Kind::kMemory && !texel) || p.space == Space::kPush)
    failInvalid("atomic operation on a wrong type");
  const uint32_t width = ir::kindBits(t.scalar.kind);
  if (width != 32 && width != 64) failUnsupported("atomic operation of this width");
  const ir::Type integer = width == 32 ? ir::kI32 : ir::kI64;

  Op op{};
  Value* values[2];
  size_t n = 0;
  auto operand = [&](uint32_t i) {
    Value* v = scalar(in.operand(i));
    if (v->type != t.scalar) failInvalid("atomic operation with a value of another type");
    return v;
  };
  auto one = [&](uint64_t v) {
    op = Op::AtomicIAdd;
    values[n++] = e().integer(integer, v);
  };
  auto plain = [&](Op o) {
    op = o;
    values[n++] = operand(3);
  };
  switch (in.op) {
    case spv::Op::OpAtomicLoad:
      op = Op::AtomicLoad;
      break;
    case spv::Op::OpAtomicStore:
    case spv::Op::OpAtomicExchange:
      op = isStore ? Op::AtomicStore : Op::AtomicExchange;
      values[n++] = e().bitcast(integer, operand(3));
      break;
    case spv::Op::OpAtomicCompareExchange:
      op = Op::AtomicCompareExchange;
      values[n++] = operand(4);
      values[n++] = operand(5);
      break;
    case spv::Op::OpAtomicIIncrement:
      one(1);
      break;
    case spv::Op::OpAtomicIDecrement:
      one(~0ull);
      break;
    case spv::Op::OpAtomicIAdd:
      plain(Op::AtomicIAdd);
      break;
    case spv::Op::OpAtomicISub:
      op = Op::AtomicIAdd;
      values[n++] = e().binary(Op::ISub, e().integer(integer, 0), operand(3));
      break;
    case spv::Op::OpAtomicSMin:
      plain(Op::AtomicSMin);
      break;
    case spv::Op::OpAtomicUMin:
      plain(Op::AtomicUMin);
      break;
    case spv::Op::OpAtomicSMax:
      plain(Op::AtomicSMax);
      break;
    case spv::Op::OpAtomicUMax:
      plain(Op::AtomicUMax);
      break;
    case spv::Op::OpAtomicAnd:
      plain(Op::AtomicAnd);
      break;
    case spv::Op::OpAtomicOr:
      plain(Op::AtomicOr);
      break;
    case spv::Op::OpAtomicXor:
      plain(Op::AtomicXor);
      break;
    case spv::Op::OpAtomicFAddEXT:
      plain(Op::AtomicFAdd);
      break;
    case spv::Op::OpAtomicFMinEXT:
      plain(Op::AtomicFMin);
      break;
    case spv::Op::OpAtomicFMaxEXT:
      plain(Op::AtomicFMax);
      break;
    default:
      failUnsupported("atomic operation " + std::to_string(static_cast<uint32_t>(in.op)));
  }
  sideEffects_ |= op != Op::AtomicLoad;
  const bool isFloatOp = op == Op::AtomicFAdd || op == Op::AtomicFMin || op == Op::AtomicFMax;
  const bool anyType = op == Op::AtomicLoad || op == Op::AtomicStore || op == Op::AtomicExchange;
  if (!anyType && isFloatOp != t.scalar.isFloat()) failInvalid("atomic operation on a wrong type");
  const ir::Type memory = isFloatOp ? t.scalar : integer;
  if (texel) {
    Value* old = emitImageAtomic(p, op, memory, Leaves(values, n));
    if (!isStore) setScalar(in, e().bitcast(t.scalar, old));
    return;
  }
  const Access a = access(p, memory);
  Value* operands[4];
  std::copy_n(a.address, a.addressCount, operands);
  std::copy_n(values, n, operands + a.addressCount);
  ir::Inst* i = e().inst(op, isStore ? ir::kVoid : memory, Leaves(operands, a.addressCount + n));
  i->mem = a.mem;
  i->mem.readOnly = false;
  if (!isStore) setScalar(in, e().bitcast(t.scalar, i->result));
}

// -- built-in values

ir::Value* Translator::loadBuiltin(spv::BuiltIn b, uint32_t component) {
  const uint64_t key = static_cast<uint64_t>(b) << 8 | component;
  if (auto it = builtins_.find(key); it != builtins_.end()) return it->second;
  Emitter::Prologue prologue(emitter_);
  auto read = [&](Op op) {
    ir::Inst* i = e().inst(op, ir::kI32, {});
    i->imm = component;
    return i->result;
  };
  Value* v = nullptr;
  switch (b) {
    case spv::BuiltIn::WorkgroupId:
      v = component < 3 ? read(Op::WorkgroupId) : nullptr;
      break;
    case spv::BuiltIn::NumWorkgroups:
      v = component < 3 ? read(Op::NumWorkgroups) : nullptr;
      break;
    case spv::BuiltIn::LocalInvocationId:
      v = component < 3 ? read(Op::LocalInvocationId) : nullptr;
      break;
    case spv::BuiltIn::GlobalInvocationId:
      if (component < 3)
        v = e().binary(
            Op::IAdd,
            e().binary(Op::IMul, loadBuiltin(spv::BuiltIn::WorkgroupId, component), e().i32(fn_.localSize[component])),
            loadBuiltin(spv::BuiltIn::LocalInvocationId, component));
      break;
    case spv::BuiltIn::WorkgroupSize:
      if (component < 3) v = e().i32(fn_.localSize[component]);
      break;
    case spv::BuiltIn::LocalInvocationIndex:
      v = read(Op::LocalInvocationIndex);
      break;
    case spv::BuiltIn::SubgroupId:
      v = read(Op::SubgroupId);
      break;
    case spv::BuiltIn::NumSubgroups:
      v = read(Op::NumSubgroups);
      break;
    case spv::BuiltIn::SubgroupSize:
      v = e().i32(fn_.subgroupSize);
      break;
    case spv::BuiltIn::SubgroupLocalInvocationId:
      v = read(Op::SubgroupInvocationId);
      break;
    case spv::BuiltIn::SubgroupEqMask:
    case spv::BuiltIn::SubgroupGeMask:
    case spv::BuiltIn::SubgroupGtMask:
    case spv::BuiltIn::SubgroupLeMask:
    case spv::BuiltIn::SubgroupLtMask:
      v = component == 0 ? subgroupMask(b) : e().i32(0);
      break;
    case spv::BuiltIn::DeviceIndex:
      v = e().i32(0);
      break;
    default:
      v = stageBuiltin(b, component);
      break;
  }
  if (!v) failInvalid("component of a built-in value");
  builtins_.emplace(key, v);
  return v;
}

}  // namespace pumice::shader::spirv
