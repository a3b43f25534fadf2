#include <algorithm>
#include <bit>

#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

namespace {

constexpr uint32_t kMaxLeaves = 1u << 16;  // larger composites are not worth reading as values
constexpr uint64_t kMaxObjectBytes = 1u << 24;

uint32_t alignUp(uint64_t v, uint32_t align) {
  const uint64_t r = (v + align - 1) / align * align;
  if (r > kMaxObjectBytes) failUnsupported("an object of private or shared memory is too large");
  return static_cast<uint32_t>(r);
}

}  // namespace

std::span<ir::Value*> Translator::allocate(size_t n) {
  if (n == 0) return {};
  auto* p = static_cast<Value**>(arena_.allocate(n * sizeof(Value*), alignof(Value*)));
  std::fill_n(p, n, nullptr);
  return {p, n};
}

Val Translator::make(uint32_t typeId, Leaves leaves) {
  std::span<Value*> copy = allocate(leaves.size());
  std::copy(leaves.begin(), leaves.end(), copy.begin());
  return {typeId, copy, nullptr};
}

const TypeInfo& Translator::type(uint32_t id) {
  if (auto it = types_.find(id); it != types_.end()) return it->second;
  if (typeDepth_ > 64) failUnsupported("types are nested too deeply");
  ++typeDepth_;
  TypeInfo t;
  t.id = id;
  buildType(t, module_.get(id));
  --typeDepth_;
  return types_.emplace(id, std::move(t)).first->second;
}

void Translator::buildType(TypeInfo& t, const Instr& in) {
  t.op = in.op;
  if (const Decoration* d = module_.find(t.id, spv::Decoration::ArrayStride); d && !d->literals.empty())
    t.arrayStride = d->literals[0];
  auto scalarType = [&](ir::Type s) {
    t.scalar = s;
    t.leaves = 1;
    t.naturalSize = t.naturalAlign = s.isBool() ? 4 : ir::kindBytes(s.kind);
  };
  auto repeated = [&](const TypeInfo& element, uint64_t count) {
    t.count = static_cast<uint32_t>(count);
    t.scalar = element.scalar;
    if (element.leaves * count > kMaxLeaves) failUnsupported("a composite has too many parts");
    t.leaves = static_cast<uint32_t>(element.leaves * count);
    t.naturalAlign = element.naturalAlign;
    t.unsized = element.unsized;
    t.naturalSize = alignUp(alignUp(element.naturalSize, element.naturalAlign) * count, 1);
  };
  switch (in.op) {
    case spv::Op::OpTypeVoid:
      t.unsized = true;
      break;
    case spv::Op::OpTypeBool:
      scalarType(ir::kBool);
      break;
    case spv::Op::OpTypeInt:
      t.isSigned = in.operand(1) != 0;
      switch (in.operand(0)) {
        case 8:
          scalarType(ir::kI8);
          break;
        case 16:
          scalarType(ir::kI16);
          break;
        case 32:
          scalarType(ir::kI32);
          break;
        case 64:
          scalarType(ir::kI64);
          break;
        default:
          failUnsupported("integer width");
      }
      break;
    case spv::Op::OpTypeFloat:
      if (in.operandCount() > 1) failUnsupported("floating-point encoding");
      switch (in.operand(0)) {
        case 16:
          scalarType(ir::kF16);
          break;
        case 32:
          scalarType(ir::kF32);
          break;
        case 64:
          scalarType(ir::kF64);
          break;
        default:
          failUnsupported("floating-point width");
      }
      break;
    case spv::Op::OpTypeVector:
    case spv::Op::OpTypeMatrix: {
      t.element = in.operand(0);
      const uint32_t n = in.operand(1);
      if (n < 2 || n > 4) failUnsupported("vector size");
      const TypeInfo& element = type(t.element);
      if (in.op == spv::Op::OpTypeVector ? element.leaves != 1 : element.op != spv::Op::OpTypeVector)
        failInvalid("vector or matrix of a wrong type");
      repeated(element, n);
      break;
    }
    case spv::Op::OpTypeArray: {
      t.element = in.operand(0);
      const uint32_t n = constantInt(in.operand(1));
      if (n == 0) failInvalid("array without elements");
      const TypeInfo& element = type(t.element);
      // Arrays in buffers may be huge; only as values and private variables they need leaves.
      if (static_cast<uint64_t>(element.leaves) * n > kMaxLeaves || element.leaves == 0) {
        t.count = n;
        t.naturalAlign = element.naturalAlign;
        const uint64_t size = static_cast<uint64_t>(element.naturalSize) * n;
        t.unsized = element.unsized || size > kMaxObjectBytes;
        t.naturalSize = t.unsized ? 0 : static_cast<uint32_t>(size);
      } else {
        repeated(element, n);
      }
      break;
    }
    case spv::Op::OpTypeRuntimeArray:
      t.unsized = true;
      t.element = in.operand(0);
      t.naturalAlign = type(t.element).naturalAlign;
      break;
    case spv::Op::OpTypeStruct: {
      bool sized = true;  // as a value
      uint64_t leaves = 0;
      uint64_t size = 0;
      for (uint32_t i = 0; i < in.operandCount(); ++i) {
        const TypeInfo& m = type(in.operand(i));
        t.members.push_back(m.id);
        t.leafStart.push_back(static_cast<uint32_t>(leaves));
        leaves += m.leaves;
        if (m.leaves == 0 && m.op != spv::Op::OpTypeStruct) sized = false;
        if (leaves > kMaxLeaves) sized = false, leaves = 0;
        size = (size + m.naturalAlign - 1) / m.naturalAlign * m.naturalAlign;
        t.naturalOffset.push_back(static_cast<uint32_t>(std::min<uint64_t>(size, kMaxObjectBytes)));
        size += m.naturalSize;
        t.unsized = t.unsized || m.unsized || size > kMaxObjectBytes;
        if (size > kMaxObjectBytes) size = kMaxObjectBytes;
        t.naturalAlign = std::max(t.naturalAlign, m.naturalAlign);
        const Decoration* d = module_.find(t.id, spv::Decoration::Offset, i);
        t.offset.push_back(d && !d->literals.empty() ? d->literals[0] : kNoOffset);
      }
      t.leaves = sized ? static_cast<uint32_t>(leaves) : 0;
      t.naturalSize = static_cast<uint32_t>((size + t.naturalAlign - 1) / t.naturalAlign * t.naturalAlign);
      break;
    }
    case spv::Op::OpTypePointer:
      t.storage = static_cast<spv::StorageClass>(in.operand(0));
      t.element = in.operand(1);
      if (t.storage == spv::StorageClass::PhysicalStorageBuffer) {
        scalarType(ir::kI64);
      } else if (t.storage != spv::StorageClass::Input) {
        t.naturalSize = 8;  // in a variable, see storePointer()
        t.naturalAlign = 4;
      } else {
        t.unsized = true;
      }
      break;
    case spv::Op::OpTypeImage:
    case spv::Op::OpTypeSampler:
    case spv::Op::OpTypeSampledImage:
      // Addresses of descriptors.
      t.scalar = ir::kI64;
      t.leaves = in.op == spv::Op::OpTypeSampledImage ? 2 : 1;
      if (in.op == spv::Op::OpTypeSampledImage) t.element = in.operand(0);
      t.naturalSize = 8 * t.leaves;
      t.naturalAlign = 8;
      break;
    case spv::Op::OpTypeForwardPointer:
    case spv::Op::OpTypeFunction:
      break;
    default:
      failUnsupported("type with opcode " + std::to_string(static_cast<uint32_t>(in.op)));
  }
}

ir::Type Translator::leafType(const TypeInfo& t, uint32_t leaf) {
  const TypeInfo* at = &t;
  while (true) {
    if (at->op == spv::Op::OpTypeStruct) {
      const auto next = std::upper_bound(at->leafStart.begin(), at->leafStart.end(), leaf);
      if (next == at->leafStart.begin()) failInvalid("member out of range");
      const auto i = static_cast<size_t>(next - at->leafStart.begin()) - 1;
      leaf -= at->leafStart[i];
      at = &type(at->members[i]);
    } else if (at->op == spv::Op::OpTypeArray) {
      const TypeInfo& element = type(at->element);
      if (element.leaves == 0) failUnsupported("an array of this type as a value");
      leaf %= element.leaves;
      at = &element;
    } else if (at->scalar.isVoid()) {
      failInvalid("a value of a type without values");
    } else {
      return at->scalar;
    }
  }
}

// First leaf of member or element `index`.
uint32_t Translator::memberStart(const TypeInfo& t, uint32_t index, uint32_t* memberType) {
  if (t.op == spv::Op::OpTypeStruct) {
    if (index >= t.members.size()) failInvalid("member index out of range");
    *memberType = t.members[index];
    return t.leafStart[index];
  }
  if (t.op != spv::Op::OpTypeVector && t.op != spv::Op::OpTypeMatrix && t.op != spv::Op::OpTypeArray)
    failInvalid("indexing of a type without members");
  if (index >= t.count) failInvalid("element index out of range");
  *memberType = t.element;
  return index * type(t.element).leaves;
}

uint32_t Translator::constantInt(uint32_t id) {
  const Val v = get(id);
  if (v.leaves.size() != 1 || v.leaves[0]->def != Value::Def::kConstant || !v.leaves[0]->type.isInt())
    failInvalid("an integer constant is expected");
  return static_cast<uint32_t>(std::min<uint64_t>(v.leaves[0]->bits, ~0u));
}

Val Translator::zeroValue(uint32_t typeId) {
  const TypeInfo& t = type(typeId);
  if (t.op == spv::Op::OpTypePointer && t.leaves == 0) {
    // Null: an offset that is out of range of everything.
    if (t.storage == spv::StorageClass::Workgroup) return makePointer(typeId, nullptr, e().i32(~0u));
    if (t.storage == spv::StorageClass::StorageBuffer) return makePointer(typeId, bufferChoices()[0], e().i32(~0u));
    failUnsupported("null of this logical pointer");
  }
  if (t.leaves == 0 && t.op != spv::Op::OpTypeStruct && t.op != spv::Op::OpTypeVoid)
    failUnsupported("a null or undefined value of this type");
  std::span<Value*> leaves = allocate(t.leaves);
  for (uint32_t i = 0; i < t.leaves; ++i) leaves[i] = fn_.zero(leafType(t, i));
  return {typeId, leaves, nullptr};
}

// An undefined object of a type without values may stand in a module as long as nothing is done with it.
Val Translator::undefinedValue(uint32_t typeId) {
  const TypeInfo& t = type(typeId);
  switch (t.op) {
    case spv::Op::OpTypeImage:
    case spv::Op::OpTypeSampler:
    case spv::Op::OpTypeSampledImage:
    case spv::Op::OpTypeRuntimeArray:
      return {typeId, {}, nullptr};
    case spv::Op::OpTypePointer:
      if (t.leaves == 0 && t.storage != spv::StorageClass::Workgroup && t.storage != spv::StorageClass::StorageBuffer)
        return {typeId, {}, nullptr};
      break;
    default:
      break;
  }
  return zeroValue(typeId);
}

uint64_t Translator::scalarLiteral(const Instr& in, const TypeInfo& t, uint32_t firstWord) {
  uint64_t bits = in.word(firstWord);
  if (ir::kindBits(t.scalar.kind) == 64) bits |= static_cast<uint64_t>(in.word(firstWord + 1)) << 32;
  return bits;
}

uint64_t Translator::specOverride(uint32_t id, uint64_t standard) {
  const Decoration* d = module_.find(id, spv::Decoration::SpecId);
  if (!d || d->literals.empty()) return standard;
  for (const SpecConstant& c : info_.specConstants)
    if (c.id == d->literals[0]) return c.bits;
  return standard;
}

// Values of module scope, made when they are first asked for.
Val Translator::constantValue(const Instr& in) {
  switch (in.op) {
    case spv::Op::OpConstantTrue:
    case spv::Op::OpConstantFalse:
      return make(in.resultType, {e().boolean(in.op == spv::Op::OpConstantTrue)});
    case spv::Op::OpSpecConstantTrue:
    case spv::Op::OpSpecConstantFalse:
      return make(in.resultType, {e().boolean(specOverride(in.result, in.op == spv::Op::OpSpecConstantTrue) != 0)});
    case spv::Op::OpConstant:
    case spv::Op::OpSpecConstant: {
      const TypeInfo& t = type(in.resultType);
      if (!t.scalar.isInt() && !t.scalar.isFloat()) failInvalid("constant of a wrong type");
      if (t.leaves != 1) failInvalid("constant of a wrong type");
      uint64_t bits = scalarLiteral(in, t, in.firstOperand);
      if (in.op == spv::Op::OpSpecConstant) bits = specOverride(in.result, bits);
      return make(in.resultType, {fn_.constant(t.scalar, bits)});
    }
    case spv::Op::OpConstantComposite:
    case spv::Op::OpSpecConstantComposite: {
      const uint32_t n = type(in.resultType).leaves;
      std::vector<Value*> leaves;
      for (uint32_t i = 0; i < in.operandCount(); ++i) {
        const Val part = get(in.operand(i));
        leaves.insert(leaves.end(), part.leaves.begin(), part.leaves.end());
      }
      if (leaves.size() != n) failInvalid("constant composite with a wrong number of parts");
      return make(in.resultType, leaves);
    }
    case spv::Op::OpConstantNull:
      return zeroValue(in.resultType);
    case spv::Op::OpUndef:
      return undefinedValue(in.resultType);
    case spv::Op::OpSpecConstantOp: {
      Emitter::Prologue prologue(emitter_);
      const auto op = static_cast<spv::Op>(in.operand(0));
      const uint32_t first = in.firstOperand + 1;
      if (!emitAlu(op, in, first) && !emitComposite(op, in, first))
        failUnsupported("specialisation constant operation " + std::to_string(in.operand(0)));
      return values_[in.result];
    }
    default:
      failInvalid("id " + std::to_string(in.result) + " is used before its definition");
  }
}

// With leaves also for physical pointers, whose addresses are computed only where somebody wants the number.
Val Translator::get(uint32_t id) {
  Val v = lookup(id);
  if (v.pointer && v.leaves.empty() && v.pointer->storage == spv::StorageClass::PhysicalStorageBuffer)
    v.leaves = make(v.type, {physicalAddress(*v.pointer)}).leaves;
  return v;
}

Val Translator::lookup(uint32_t id) {
  if (id < values_.size() && values_[id].type) return values_[id];
  const Instr& in = module_.get(id);
  if (in.op == spv::Op::OpVariable) {
    if (static_cast<spv::StorageClass>(in.operand(0)) == spv::StorageClass::Function)
      failInvalid("a variable is used before its definition");
    const Val v = variablePointer(in);
    values_[id] = v;
    return v;
  }
  if (constantDepth_ > 200) failInvalid("constants are nested too deeply");
  ++constantDepth_;
  const Val v = constantValue(in);
  --constantDepth_;
  if (v.type != in.resultType) failInvalid("constant of a wrong type");
  values_[id] = v;
  return v;
}

ir::Value* Translator::scalar(uint32_t id) {
  const Val v = get(id);
  if (v.leaves.size() != 1) failInvalid("a scalar is expected");
  return v.leaves[0];
}

void Translator::set(uint32_t id, const Val& v) {
  if (id == 0 || id >= values_.size()) failInvalid("result id out of range");
  values_[id] = v;
}

}  // namespace pumice::shader::spirv
