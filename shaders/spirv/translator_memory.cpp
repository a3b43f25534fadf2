#include <algorithm>
#include <bit>
#include <numeric>

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

// -- variables

Val Translator::variablePointer(const Instr& in) {
  const TypeInfo& pt = type(in.resultType);
  if (pt.op != spv::Op::OpTypePointer) failInvalid("variable of a type that is no pointer");
  Pointer p;
  p.storage = static_cast<SC>(in.operand(0));
  p.type = pt.element;
  p.variable = in.result;
  p.isVolatile = module_.has(in.result, spv::Decoration::Volatile) || module_.has(in.result, spv::Decoration::Coherent);
  switch (p.storage) {
    case SC::Function:
    case SC::Private: {
      p.space = Space::kLocal;
      const TypeInfo& t = type(pt.element);
      if (t.leaves == 0 && t.op != spv::Op::OpTypeStruct) failUnsupported("a private variable of this type");
      p.local = static_cast<uint32_t>(fn_.locals.size());
      fn_.locals.push_back({std::max(t.naturalSize, 1u), t.naturalAlign, {}});
      if (p.storage == SC::Private && in.operandCount() > 1) {
        const Val init = get(in.operand(1));
        Emitter::Prologue prologue(emitter_);
        store(p, init.leaves);
      }
      break;
    }
    case SC::Workgroup: {
      p.space = Space::kShared;
      const TypeInfo& t = type(pt.element);
      p.explicitLayout = t.op == spv::Op::OpTypeStruct && module_.has(t.id, spv::Decoration::Block);
      if (p.explicitLayout) {
        // WorkgroupMemoryExplicitLayoutKHR: all such blocks alias each other from offset 0.
        uint64_t end = 0;
        for (size_t i = 0; i < t.members.size(); ++i) {
          const TypeInfo& m = type(t.members[i]);
          const uint64_t size = m.arrayStride ? uint64_t{m.arrayStride} * m.count : m.naturalSize;
          end = std::max(end, (t.offset[i] == kNoOffset ? 0 : t.offset[i]) + std::max<uint64_t>(size, m.naturalSize));
        }
        // Matrices and nested structs may be padded beyond the natural size; 16-byte columns bound that from above.
        if (end > abi::kMaxSharedBytes) failUnsupported("too much workgroup memory");
        fn_.sharedBytes = std::max(fn_.sharedBytes, static_cast<uint32_t>((end + 63) / 64 * 64));
      } else {
        if (t.naturalSize == 0) failUnsupported("a workgroup variable of this size");
        const uint64_t start = (uint64_t{fn_.sharedBytes} + 15) / 16 * 16;
        if (start + t.naturalSize > abi::kMaxSharedBytes) failUnsupported("too much workgroup memory");
        p.offset = static_cast<int64_t>(start);
        fn_.sharedBytes = static_cast<uint32_t>(start) + t.naturalSize;
      }
      if (in.operandCount() > 1) fn_.zeroShared = true;
      break;
    }
    case SC::PushConstant:
      p.space = Space::kPush;
      p.explicitLayout = true;
      p.readOnly = true;
      break;
    case SC::Uniform:
    case SC::StorageBuffer: {
      p.kind = Pointer::Kind::kDescriptors;
      p.space = Space::kBuffer;
      p.explicitLayout = true;
      const TypeInfo* t = &type(pt.element);
      while (t->op == spv::Op::OpTypeArray || t->op == spv::Op::OpTypeRuntimeArray) t = &type(t->element);
      const bool uniform = p.storage == SC::Uniform && !module_.has(t->id, spv::Decoration::BufferBlock);
      // NonWritable promises nothing about another name of the same memory if the variable may alias.
      const bool aliased = module_.has(in.result, spv::Decoration::Aliased);
      p.readOnly = !p.isVolatile && (uniform || (!aliased && module_.has(in.result, spv::Decoration::NonWritable)));
      if (t->id == pt.element) resolveDescriptor(p);
      break;
    }
    case SC::Input:
      p.kind = Pointer::Kind::kBuiltin;
      break;
    default:
      failUnsupported("storage class " + std::to_string(in.operand(0)));
  }
  return {in.resultType, {}, new (arena_.allocate(sizeof(Pointer), alignof(Pointer))) Pointer(p)};
}

void Translator::emitVariable(const Instr& in) {
  // A call that is read again gets the same variable again: it is dead in between.
  if (!values_[in.result].type) set(in.result, variablePointer(in));
  if (in.operandCount() > 1) store(*values_[in.result].pointer, get(in.operand(1)).leaves);
}

// A lookup table of GLSL: an array variable that holds one constant and is otherwise only read. Compilers store the
// whole constant right before each use, inside of loops too.
bool Translator::isConstantTable(uint32_t variable) {
  if (auto it = tables_.find(variable); it != tables_.end()) return it->second;
  bool& table = tables_[variable];
  table = false;
  const Instr& def = module_.get(variable);
  const TypeInfo& t = type(type(def.resultType).element);
  if (def.op != spv::Op::OpVariable || t.op != spv::Op::OpTypeArray || def.operandCount() > 1 || !function_)
    return false;
  uint32_t constant = 0;
  std::unordered_set<uint32_t> pointers{variable};
  for (const BlockDef& b : function_->blocks)
    for (const Instr& in : b.instrs) {
      if (in.op == spv::Op::OpStore && in.operand(0) == variable) {
        const uint32_t value = in.operand(1);
        const Instr* source = module_.def(value);
        if (!source || source->op < spv::Op::OpConstantTrue || source->op > spv::Op::OpSpecConstantOp) return false;
        if (constant && constant != value) return false;
        constant = value;
        continue;
      }
      if ((in.op == spv::Op::OpAccessChain || in.op == spv::Op::OpInBoundsAccessChain) &&
          pointers.count(in.operand(0))) {
        pointers.insert(in.result);
        continue;
      }
      if (in.op == spv::Op::OpLoad && pointers.count(in.operand(0))) continue;
      // Any other mention may write.
      for (uint32_t i = in.firstOperand; i < in.count; ++i)
        if (in.word(i) && pointers.count(in.word(i)) && in.op != spv::Op::OpLine) return false;
    }
  table = constant != 0;
  return table;
}

// Fills a constant table once, at the start. Reads that a store does not precede are undefined, so nobody can tell.
bool Translator::emitTableStore(const Instr& in) {
  const uint32_t variable = in.operand(0);
  const Instr* def = module_.def(variable);
  if (!def || def->op != spv::Op::OpVariable || !isConstantTable(variable)) return false;
  if (filledTables_.insert(variable).second) {
    const Leaves leaves = get(in.operand(1)).leaves;
    const Pointer p = *pointer(variable);
    Emitter::Prologue prologue(emitter_);
    store(p, leaves);
  }
  return true;
}

ir::Value* Translator::descriptor(const Pointer& p, Value* index) {
  const Decoration* set = module_.find(p.variable, spv::Decoration::DescriptorSet);
  const Decoration* binding = module_.find(p.variable, spv::Decoration::Binding);
  if (!set || !binding || set->literals.empty() || binding->literals.empty())
    failInvalid("a resource has no descriptor set or binding");
  ir::Inst* d = index ? e().inst(Op::BufferDescriptor, ir::kBufferRef, {index})
                      : e().inst(Op::BufferDescriptor, ir::kBufferRef, {});
  d->set = set->literals[0];
  d->binding = binding->literals[0];
  d->nonUniform = p.nonUniform;
  return d->result;
}

// All array dimensions are indexed away: turns the pointer into one to memory.
void Translator::resolveDescriptor(Pointer& p) {
  Value* index = p.index;
  if (p.offset > 0) {
    const auto constant = static_cast<uint32_t>(std::min<int64_t>(p.offset, ~0u));
    index = index ? e().binary(Op::IAdd, index, e().i32(constant)) : e().i32(constant);
  }
  p.kind = Pointer::Kind::kMemory;
  p.index = nullptr;
  p.offset = 0;
  p.scale = 1;
  if (index && index->def != Value::Def::kConstant) {
    p.base = descriptor(p, index);
    return;
  }
  // The same for all: fetched once, at the start.
  const uint64_t key = index ? index->bits : 0;
  if (key == 0) {
    if (auto it = descriptors_.find(p.variable); it != descriptors_.end()) {
      p.base = it->second;
      return;
    }
  }
  Emitter::Prologue prologue(emitter_);
  p.base = descriptor(p, key ? index : nullptr);
  if (key == 0) descriptors_.emplace(p.variable, p.base);
}

// -- indexing

// An index operand as I32 (checked spaces: out of range stays out of range) or, if `wide`, as I32 or I64.
ir::Value* Translator::indexValue(uint32_t id, bool wide) {
  Value* v = scalar(id);
  if (!v->type.isInt()) failInvalid("an index is no integer");
  switch (ir::kindBits(v->type.kind)) {
    case 32:
      return v;
    case 64:
      if (wide) return v;
      return e().convert(Op::Trunc, ir::kI32, e().binary(Op::UMin, v, e().integer(ir::kI64, 0xffff'ffffu)));
    default: {
      const Instr* in = module_.def(id);
      const bool isSigned = !in || type(in->resultType).isSigned;
      return e().convert(isSigned ? Op::SExt : Op::ZExt, ir::kI32, v);
    }
  }
}

void Translator::addIndex(Pointer& p, uint32_t indexId, uint32_t stride) {
  const bool wide = p.space == Space::kGlobal;
  Value* i = indexValue(indexId, wide);
  if (i->def == Value::Def::kConstant) {
    const int64_t n = i->type == ir::kI64 ? static_cast<int64_t>(i->bits) : static_cast<int32_t>(i->bits);
    int64_t product = 0;
    if (__builtin_mul_overflow(n, static_cast<int64_t>(stride), &product) ||
        __builtin_add_overflow(p.offset, product, &p.offset))
      failInvalid("constant index out of range");
    return;
  }
  if (!p.index) {
    p.index = i;
    p.scale = stride;
    return;
  }
  // Two dynamic indices: one in units of the strides' common divisor.
  const uint32_t unit = std::max(std::gcd(p.scale, stride), 1u);
  const ir::Type t = wide ? ir::kI64 : ir::kI32;
  auto scaled = [&](Value* v, uint32_t s) {
    v = resizeInt(v, t, true);
    return s == unit ? v : e().binary(Op::IMul, v, e().integer(t, s / unit));
  };
  Value* a = scaled(p.index, p.scale);
  p.index = e().binary(Op::IAdd, a, scaled(i, stride));
  p.scale = unit;
}

uint32_t Translator::strideOf(const TypeInfo& t, const Pointer& p) {
  if (p.explicitLayout) {
    if (t.arrayStride == 0) failInvalid("an array in a block has no stride");
    return t.arrayStride;
  }
  const TypeInfo& element = type(t.element);
  return (element.naturalSize + element.naturalAlign - 1) / element.naturalAlign * element.naturalAlign;
}

// The pointer to member or element `index` of what p points to, for constant steps.
Pointer Translator::childPointer(const Pointer& p, uint32_t index) {
  Pointer c = p;
  const TypeInfo& t = type(p.type);
  switch (t.op) {
    case spv::Op::OpTypeStruct: {
      if (index >= t.members.size()) failInvalid("member index out of range");
      c.type = t.members[index];
      if (p.explicitLayout) {
        if (t.offset[index] == kNoOffset) failInvalid("a member of a block has no offset");
        c.offset += t.offset[index];
        const Decoration* stride = module_.find(t.id, spv::Decoration::MatrixStride, index);
        c.matrixStride = stride && !stride->literals.empty() ? stride->literals[0] : 0;
        c.rowMajor = module_.has(t.id, spv::Decoration::RowMajor, index);
        if (module_.has(t.id, spv::Decoration::Volatile, index) || module_.has(t.id, spv::Decoration::Coherent, index))
          c.isVolatile = true, c.readOnly = false;
        // readonly buffers of GLSL have the decoration on every member.
        if (module_.has(t.id, spv::Decoration::NonWritable, index) && !c.isVolatile &&
            (p.variable == 0 || !module_.has(p.variable, spv::Decoration::Aliased)) && p.space == Space::kBuffer)
          c.readOnly = true;
      } else {
        c.offset += t.naturalOffset[index];
      }
      break;
    }
    case spv::Op::OpTypeArray:
    case spv::Op::OpTypeRuntimeArray:
      c.type = t.element;
      c.offset += static_cast<int64_t>(index) * strideOf(t, p);
      break;
    case spv::Op::OpTypeMatrix: {
      const TypeInfo& column = type(t.element);
      const uint32_t component = ir::kindBytes(column.scalar.kind);
      c.type = t.element;
      if (p.explicitLayout && p.matrixStride) {
        c.offset += static_cast<int64_t>(index) * (p.rowMajor ? component : p.matrixStride);
        c.componentStride = p.rowMajor ? p.matrixStride : 0;
      } else {
        c.offset += static_cast<int64_t>(index) * column.naturalSize;
      }
      break;
    }
    case spv::Op::OpTypeVector:
      c.type = t.element;
      c.offset += static_cast<int64_t>(index) * (p.componentStride   ? p.componentStride
                                                 : t.scalar.isBool() ? 4
                                                                     : ir::kindBytes(t.scalar.kind));
      c.componentStride = 0;
      break;
    default:
      failInvalid("access chain into a type without members");
  }
  return c;
}

void Translator::step(Pointer& p, uint32_t indexId) {
  const TypeInfo& t = type(p.type);
  if (p.kind == Pointer::Kind::kDescriptors) {
    // Arrays of arrays of descriptors are numbered through.
    if (t.op != spv::Op::OpTypeArray && t.op != spv::Op::OpTypeRuntimeArray)
      failInvalid("indexing of a resource that is no array");
    uint64_t inner = 1;
    const TypeInfo* at = &type(t.element);
    for (; at->op == spv::Op::OpTypeArray; at = &type(at->element)) inner *= at->count;
    if (inner > 1u << 20) failUnsupported("an array of descriptors is too large");
    if (module_.has(indexId, spv::Decoration::NonUniform)) p.nonUniform = true;
    addIndex(p, indexId, static_cast<uint32_t>(inner));
    p.type = t.element;
    if (at->id == t.element) {
      if (p.index && p.scale != 1) p.index = e().binary(Op::IMul, p.index, e().i32(p.scale));
      resolveDescriptor(p);
    }
    return;
  }
  if (p.kind == Pointer::Kind::kBuiltin) {
    if (t.op != spv::Op::OpTypeVector || p.component) failInvalid("indexing of a built-in value that is no vector");
    p.component = indexValue(indexId, false);
    p.type = t.element;
    return;
  }
  const bool constantStep = t.op == spv::Op::OpTypeStruct;
  if (constantStep) {
    p = childPointer(p, constantInt(indexId));
    return;
  }
  // Strides of arrays, matrices and vectors: the distance between elements 0 and 1.
  const int64_t before = p.offset;
  Pointer first = childPointer(p, 0);
  const auto stride = static_cast<uint32_t>(childPointer(p, 1).offset - before);
  addIndex(first, indexId, stride);
  p = first;
}

const Pointer* Translator::accessChain(const Instr& in, bool byElement) {
  Pointer p = *pointer(in.operand(0));
  if (module_.has(in.result, spv::Decoration::NonUniform)) p.nonUniform = true;
  uint32_t i = 1;
  if (byElement) {
    const Instr& baseDef = module_.get(in.operand(0));
    const TypeInfo& pt = type(baseDef.resultType);
    const TypeInfo& pointee = type(p.type);
    if (p.kind != Pointer::Kind::kMemory) failUnsupported("OpPtrAccessChain on this pointer");
    const uint32_t natural =
        (pointee.naturalSize + pointee.naturalAlign - 1) / pointee.naturalAlign * pointee.naturalAlign;
    addIndex(p, in.operand(i++), pt.arrayStride && p.explicitLayout ? pt.arrayStride : natural);
  }
  for (; i < in.operandCount(); ++i) step(p, in.operand(i));
  const TypeInfo& result = type(in.resultType);
  if (result.op != spv::Op::OpTypePointer || result.element != p.type)
    failInvalid("access chain with a wrong result type");
  return new (arena_.allocate(sizeof(Pointer), alignof(Pointer))) Pointer(p);
}

// -- pointers as values

Pointer Translator::physicalPointer(uint32_t pointerType, Value* address) {
  const TypeInfo& t = type(pointerType);
  Pointer p;
  p.storage = SC::PhysicalStorageBuffer;
  p.space = Space::kGlobal;
  p.type = t.element;
  p.base = address;
  p.explicitLayout = true;
  return p;
}

const Pointer* Translator::pointer(uint32_t id) {
  const Val v = lookup(id);
  if (v.pointer) return v.pointer;
  const TypeInfo& t = type(v.type);
  if (t.op != spv::Op::OpTypePointer || v.leaves.size() != 1) failInvalid("a pointer is expected");
  Pointer p = physicalPointer(v.type, v.leaves[0]);
  if (module_.has(id, spv::Decoration::Coherent) || module_.has(id, spv::Decoration::Volatile)) p.isVolatile = true;
  return new (arena_.allocate(sizeof(Pointer), alignof(Pointer))) Pointer(p);
}

ir::Value* Translator::physicalAddress(const Pointer& p) {
  if (p.space != Space::kGlobal) failUnsupported("a logical pointer is used as a value");
  Value* address = p.base;
  if (p.index) {
    Value* i = resizeInt(p.index, ir::kI64, true);
    if (p.scale != 1) i = e().binary(Op::IMul, i, e().integer(ir::kI64, p.scale));
    address = e().binary(Op::IAdd, address, i);
  }
  if (p.offset) address = e().binary(Op::IAdd, address, e().integer(ir::kI64, static_cast<uint64_t>(p.offset)));
  return address;
}

// index * scale + offset as one I32, for pointers that become values.
ir::Value* Translator::byteOffset(const Pointer& p) {
  Value* v = e().i32(static_cast<uint32_t>(p.offset));
  if (!p.index) return v;
  Value* i = p.scale == 1 ? p.index : e().binary(Op::IMul, p.index, e().i32(p.scale));
  return p.offset ? e().binary(Op::IAdd, i, v) : i;
}

// -- accesses

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
  if (t.op == spv::Op::OpTypePointer && t.storage != SC::PhysicalStorageBuffer)
    failUnsupported("a pointer variable that holds a logical pointer");
  std::span<Value*> out = allocate(t.leaves);
  loadInto(p, out);
  return {typeId, out, nullptr};
}

void Translator::store(const Pointer& p, Leaves leaves) {
  const TypeInfo& t = type(p.type);
  if (p.kind != Pointer::Kind::kMemory || p.space == Space::kPush) failInvalid("store to read-only memory");
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
      set(in.result, load(p, in.resultType));
      return true;
    }
    case spv::Op::OpStore: {
      if (emitTableStore(in)) return true;
      Pointer p = *pointer(in.operand(0));
      applyMemoryOperands(in, 2, p);
      store(p, get(in.operand(1)).leaves);
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
      if (in.op == spv::Op::OpAtomicFAddEXT) {
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
  if (t.leaves != 1 || t.scalar.isBool() || p.kind != Pointer::Kind::kMemory || p.space == Space::kPush)
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
    default:
      failUnsupported("atomic operation " + std::to_string(static_cast<uint32_t>(in.op)));
  }
  const bool isFloatOp = op == Op::AtomicFAdd;
  const bool anyType = op == Op::AtomicLoad || op == Op::AtomicStore || op == Op::AtomicExchange;
  if (!anyType && isFloatOp != t.scalar.isFloat()) failInvalid("atomic operation on a wrong type");
  const ir::Type memory = isFloatOp ? t.scalar : integer;
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
    case spv::BuiltIn::ViewIndex:
      v = e().i32(0);
      break;
    default:
      failUnsupported("built-in value " + std::to_string(static_cast<uint32_t>(b)));
  }
  if (!v) failInvalid("component of a built-in value");
  builtins_.emplace(key, v);
  return v;
}

}  // namespace pumice::shader::spirv
