// Variables, access chains, and pointers as values.
#include <algorithm>
#include <numeric>

#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using ir::Op;
using ir::Space;
using SC = spv::StorageClass;

// -- variables

// Bytes up to the end of the last scalar, by decorations.
uint64_t Translator::explicitSize(const TypeInfo& t, uint32_t matrixStride, bool rowMajor) {
  switch (t.op) {
    case spv::Op::OpTypeStruct: {
      uint64_t end = 0;
      for (uint32_t i = 0; i < t.members.size(); ++i) {
        const Decoration* stride = module_.find(t.id, spv::Decoration::MatrixStride, i);
        const uint64_t size =
            explicitSize(type(t.members[i]), stride && !stride->literals.empty() ? stride->literals[0] : 0,
                         module_.has(t.id, spv::Decoration::RowMajor, i));
        end = std::max(end, (t.offset[i] == kNoOffset ? 0 : t.offset[i]) + size);
      }
      return end;
    }
    case spv::Op::OpTypeArray:
      return uint64_t{t.arrayStride} * (t.count - 1) + explicitSize(type(t.element), matrixStride, rowMajor);
    case spv::Op::OpTypeMatrix: {
      const TypeInfo& column = type(t.element);
      const uint64_t strides = rowMajor ? column.count : t.count;
      return matrixStride ? matrixStride * strides : t.naturalSize;
    }
    default:
      return t.naturalSize;
  }
}

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
      if (t.unsized) failUnsupported("a private variable of this type");
      p.local = static_cast<uint32_t>(fn_.locals.size());
      fn_.locals.push_back({std::max(t.naturalSize, 1u), t.naturalAlign, {}});
      if (p.storage == SC::Private && in.operandCount() > 1) {
        const Val init = get(in.operand(1));
        Emitter::Prologue prologue(emitter_);
        if (init.pointer && init.leaves.empty())
          storePointer(p, *init.pointer);
        else
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
        const uint64_t end = explicitSize(t, 0, false);
        if (end > abi::kMaxSharedBytes) failUnsupported("too much workgroup memory");
        fn_.sharedBytes = std::max(fn_.sharedBytes, static_cast<uint32_t>((end + 63) / 64 * 64));
      } else {
        if (t.unsized) failUnsupported("a workgroup variable of this size");
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
    case SC::UniformConstant:
      p.kind = Pointer::Kind::kResource;
      break;
    case SC::Input:
      if (fn_.stage == ir::Stage::kCompute) {
        p.kind = Pointer::Kind::kBuiltin;
        break;
      }
      [[fallthrough]];
    case SC::Output:
      p = stageVariable(in, p);
      break;
    default:
      failUnsupported("storage class " + std::to_string(in.operand(0)));
  }
  return {in.resultType, {}, new (arena_.allocate(sizeof(Pointer), alignof(Pointer))) Pointer(p)};
}

void Translator::emitVariable(const Instr& in) {
  // A call that is read again gets the same variable again: it is dead in between.
  if (!values_[in.result].type) set(in.result, variablePointer(in));
  if (in.operandCount() < 2) return;
  const Val init = get(in.operand(1));
  if (init.pointer && init.leaves.empty())
    storePointer(*values_[in.result].pointer, *init.pointer);
  else
    store(*values_[in.result].pointer, init.leaves);
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

// Of the variable's descriptor, or of one of an array of them. `op`: BufferDescriptor or DescriptorAddress.
ir::Inst* Translator::descriptor(ir::Op op, ir::Type t, const Pointer& p, Value* index) {
  const Decoration* set = module_.find(p.variable, spv::Decoration::DescriptorSet);
  const Decoration* binding = module_.find(p.variable, spv::Decoration::Binding);
  if (!set || !binding || set->literals.empty() || binding->literals.empty())
    failInvalid("a resource has no descriptor set or binding");
  ir::Inst* d = index ? e().inst(op, t, {index}) : e().inst(op, t, {});
  d->set = set->literals[0];
  d->binding = binding->literals[0];
  d->nonUniform = p.nonUniform;
  return d;
}

// Which element of an array of resources, once all of its dimensions are indexed away; nullptr: the first.
ir::Value* Translator::descriptorIndex(const Pointer& p) {
  Value* index = p.index;
  if (index && p.scale != 1) index = e().binary(Op::IMul, index, e().i32(p.scale));
  if (p.offset > 0) {
    const auto constant = static_cast<uint32_t>(std::min<int64_t>(p.offset, ~0u));
    index = index ? e().binary(Op::IAdd, index, e().i32(constant)) : e().i32(constant);
  }
  return index;
}

// All array dimensions are indexed away: turns the pointer into one to memory.
void Translator::resolveDescriptor(Pointer& p) {
  if (p.number) {
    Pointer chosen;
    const std::vector<uint32_t> arrays = descriptorArrays(p.numberType);
    for (uint32_t k = 0; k < arrays.size(); ++k) {
      Pointer one = p;
      one.number = nullptr;
      one.variable = arrays[k];
      resolveDescriptor(one);
      Value* before = chosen.base;
      chosen = one;
      if (k != 0) chosen.base = e().select(e().compare(Op::IEq, p.number, e().i32(k)), one.base, before);
    }
    p = chosen;
    return;
  }
  Value* index = descriptorIndex(p);
  p.kind = Pointer::Kind::kMemory;
  p.index = nullptr;
  p.offset = 0;
  p.scale = 1;
  if (index && index->def != Value::Def::kConstant) {
    p.base = descriptor(Op::BufferDescriptor, ir::kBufferRef, p, index)->result;
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
  p.base = descriptor(Op::BufferDescriptor, ir::kBufferRef, p, key ? index : nullptr)->result;
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
  if (p.kind == Pointer::Kind::kDescriptors || p.kind == Pointer::Kind::kResource) {
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
    if (p.kind == Pointer::Kind::kResource) return;
    if (at->id == t.element) resolveDescriptor(p);
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

Val Translator::makePointer(uint32_t pointerType, Value* base, Value* offset) {
  const TypeInfo& t = type(pointerType);
  Pointer p;
  p.storage = t.storage;
  p.type = t.element;
  if (isDescriptorArray(type(t.element))) {
    p.kind = Pointer::Kind::kDescriptors;
    p.number = base;
    p.numberType = t.element;
    base = nullptr;
  }
  p.space = t.storage == SC::Workgroup ? Space::kShared : Space::kBuffer;
  p.explicitLayout = t.storage != SC::Workgroup;
  p.base = base;
  p.index = offset;
  inferMatrixLayout(p);
  return {pointerType, {}, new (arena_.allocate(sizeof(Pointer), alignof(Pointer))) Pointer(p)};
}

// A pointer that came out of a phi or a variable does not tell the matrix layout, which is decorated on the block's
// member: take that of the first member of this type.
void Translator::inferMatrixLayout(Pointer& p) {
  const TypeInfo* t = &type(p.type);
  while (t->op == spv::Op::OpTypeArray || t->op == spv::Op::OpTypeRuntimeArray) t = &type(t->element);
  if (!p.explicitLayout || t->op != spv::Op::OpTypeMatrix) return;
  for (const Instr* s : module_.structTypes())
    for (uint32_t i = 0; i < s->operandCount(); ++i) {
      const TypeInfo* m = &type(s->operand(i));
      while (m->op == spv::Op::OpTypeArray || m->op == spv::Op::OpTypeRuntimeArray) m = &type(m->element);
      if (m->id != t->id) continue;
      const Decoration* stride = module_.find(s->result, spv::Decoration::MatrixStride, i);
      if (!stride || stride->literals.empty()) continue;
      p.matrixStride = stride->literals[0];
      p.rowMajor = module_.has(s->result, spv::Decoration::RowMajor, i);
      return;
    }
}

// Pointers in private variables are two 32-bit integers: the number of the storage buffer among the module's, and the
// byte offset in it (pointers to workgroup memory: 0 and the offset; pointers into arrays of descriptors: the number of
// the array and the index in it).
std::vector<ir::Value*> Translator::bufferChoices() {
  std::vector<Value*> choices;
  for (const Instr* v : module_.globalVariables()) {
    const auto storage = static_cast<SC>(v->operand(0));
    if (storage != SC::StorageBuffer && storage != SC::Uniform) continue;
    const Val p = lookup(v->result);
    if (p.pointer && p.pointer->base) choices.push_back(p.pointer->base);
  }
  if (choices.empty() || choices.size() > 32) failUnsupported("pointer variables over this many buffers");
  return choices;
}

// Whether a pointer to this is one to an array of descriptors.
bool Translator::isDescriptorArray(const TypeInfo& t) {
  const TypeInfo* at = &t;
  while (at->op == spv::Op::OpTypeArray || at->op == spv::Op::OpTypeRuntimeArray) at = &type(at->element);
  return at != &t && at->op == spv::Op::OpTypeStruct &&
         (module_.has(at->id, spv::Decoration::Block) || module_.has(at->id, spv::Decoration::BufferBlock));
}

// The arrays of descriptors of this type, in the module's order.
std::vector<uint32_t> Translator::descriptorArrays(uint32_t typeId) {
  std::vector<uint32_t> arrays;
  for (const Instr* v : module_.globalVariables()) {
    const auto storage = static_cast<SC>(v->operand(0));
    if ((storage == SC::StorageBuffer || storage == SC::Uniform) && type(v->resultType).element == typeId)
      arrays.push_back(v->result);
  }
  if (arrays.empty() || arrays.size() > 32) failUnsupported("variable pointers over this many arrays of descriptors");
  return arrays;
}

ir::Value* Translator::descriptorArrayNumber(const Pointer& p) {
  if (p.number) return p.number;
  const std::vector<uint32_t> arrays = descriptorArrays(p.type);
  const auto at = std::find(arrays.begin(), arrays.end(), p.variable);
  if (at == arrays.end()) failInvalid("a pointer of a wrong type");
  return e().i32(static_cast<uint32_t>(at - arrays.begin()));
}

void Translator::storePointer(const Pointer& to, const Pointer& value) {
  const bool descriptors = value.kind == Pointer::Kind::kDescriptors;
  if ((value.kind != Pointer::Kind::kMemory && !descriptors) ||
      (value.space != Space::kBuffer && value.space != Space::kShared))
    failUnsupported("this pointer in a variable");
  if (type(to.type).op != spv::Op::OpTypePointer || to.space != Space::kLocal) failInvalid("store of a wrong type");
  Value* number = e().i32(0);
  if (descriptors) {
    number = descriptorArrayNumber(value);
  } else if (value.space == Space::kBuffer) {
    const std::vector<Value*> choices = bufferChoices();
    auto address = [&](Value* b) { return e().convert(Op::BufferAddress, ir::kI64, b); };
    const auto known = std::find(choices.begin(), choices.end(), value.base);
    if (known != choices.end()) {
      number = e().i32(static_cast<uint32_t>(known - choices.begin()));
    } else {
      for (uint32_t k = 1; k < choices.size(); ++k)
        number = e().select(e().compare(Op::IEq, address(value.base), address(choices[k])), e().i32(k), number);
    }
  }
  Value* parts[] = {number, byteOffset(value)};
  const ir::Type pair{ir::Kind::kI32, 2};
  Value* both = e().tuple(parts);
  const Access a = access(to, pair);
  ir::Inst* in = e().inst(Op::Store, ir::kVoid, {a.address[0], both});
  in->mem = a.mem;
}

Val Translator::loadPointer(const Pointer& from, uint32_t pointerType) {
  if (from.space != Space::kLocal) failUnsupported("a logical pointer outside of private memory");
  const ir::Type pair{ir::Kind::kI32, 2};
  const Access a = access(from, pair);
  ir::Inst* in = e().inst(Op::Load, pair, {a.address[0]});
  in->mem = a.mem;
  Value* base = nullptr;
  if (isDescriptorArray(type(type(pointerType).element))) {
    base = e().extract(in->result, 0);
  } else if (type(pointerType).storage != SC::Workgroup) {
    Value* number = e().extract(in->result, 0);
    const std::vector<Value*> choices = bufferChoices();
    base = choices[0];
    for (uint32_t k = 1; k < choices.size(); ++k)
      base = e().select(e().compare(Op::IEq, number, e().i32(k)), choices[k], base);
  }
  return makePointer(pointerType, base, e().extract(in->result, 1));
}

}  // namespace pumice::shader::spirv
