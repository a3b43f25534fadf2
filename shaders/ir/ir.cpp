#include "shaders/ir/ir.h"

#include <array>
#include <bit>
#include <cassert>

namespace pumice::shader::ir {

namespace {

uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0x9e37'79b9'7f4a'7c15ull;
  return h ^ (h >> 29);
}

}  // namespace

std::string_view opName(Op op) {
  static constexpr std::array<std::string_view, static_cast<size_t>(Op::kCount)> kNames = {
#define PUMICE_OP(name, operands, result, semantics) #name,
#include "shaders/ir/ops.def"
#undef PUMICE_OP
  };
  return op < Op::kCount ? kNames[static_cast<size_t>(op)] : "?";
}

bool isMemoryOp(Op op) {
  return op == Op::Load || op == Op::Store || isAtomicOp(op);
}

bool isAtomicOp(Op op) {
  return op >= Op::AtomicLoad && op <= Op::AtomicFMax;
}

bool isImageOp(Op op) {
  return op >= Op::ImageRead && op <= Op::ImageWrite;
}

bool isSubgroupOp(Op op) {
  return op >= Op::SubgroupElect && op <= Op::SubgroupExclusiveScan;
}

bool isTranscendental(Op op) {
  return op >= Op::FExp2 && op <= Op::FMod;
}

bool hasSideEffect(Op op) {
  switch (op) {
    case Op::Store:
    case Op::MemoryBarrier:
    case Op::ControlBarrier:
    case Op::Br:
    case Op::BrTable:
    case Op::Unreachable:
    case Op::ReadClock:
    case Op::FragmentOutput:
    case Op::Demote:
    case Op::ImageAccess:
    case Op::ImageWrite:
      return true;
    default:
      return isAtomicOp(op);
  }
}

Function::Function() {
  body = newConstruct(Construct::Shape::kBlock, nullptr);
}

Value* Function::newValue(Type type, Value::Def def) {
  Value& v = values_.emplace_back();
  v.id = static_cast<uint32_t>(values_.size() - 1);
  v.type = type;
  v.def = def;
  return &v;
}

// Constants are uniqued by an open-addressed table of value pointers, doubled when it is three quarters full.
Value* Function::constant(Type type, uint64_t bits) {
  assert(type.components == 1 && !type.isVoid() && type.kind != Kind::kBufferRef);
  const uint32_t width = kindBits(type.kind);
  if (width < 64) bits &= (1ull << width) - 1;
  auto slotOf = [&](const std::vector<Value*>& table, Type t, uint64_t b) {
    size_t i = mix(b * 31 + static_cast<uint64_t>(t.kind)) & (table.size() - 1);
    while (table[i] && !(table[i]->type == t && table[i]->bits == b)) i = (i + 1) & (table.size() - 1);
    return i;
  };
  if (4 * (constantCount_ + 1) > 3 * constants_.size()) {
    std::vector<Value*> grown(constants_.empty() ? 32 : 2 * constants_.size(), nullptr);
    for (Value* v : constants_)
      if (v) grown[slotOf(grown, v->type, v->bits)] = v;
    constants_.swap(grown);
  }
  Value*& slot = constants_[slotOf(constants_, type, bits)];
  if (!slot) {
    slot = newValue(type, Value::Def::kConstant);
    slot->bits = bits;
    ++constantCount_;
  }
  return slot;
}

Value* Function::constantF32(float v) {
  return constant(kF32, std::bit_cast<uint32_t>(v));
}
Value* Function::constantF64(double v) {
  return constant(kF64, std::bit_cast<uint64_t>(v));
}
Value* Function::zero(Type type) {
  return constant(type, 0);
}

Inst* Function::newInst(Op op, Type result) {
  Inst& inst = insts_.emplace_back(op);
  if (!result.isVoid()) {
    inst.result = newValue(result, Value::Def::kInst);
    inst.result->inst = &inst;
  }
  return &inst;
}

Construct* Function::newConstruct(Construct::Shape shape, Construct* parent) {
  Construct& c = constructs_.emplace_back(shape);
  c.id = static_cast<uint32_t>(constructs_.size() - 1);
  c.parent = parent;
  return &c;
}

Value* Function::addResult(Construct* c, Type type) {
  assert(c->shape != Construct::Shape::kLoop);
  Value* v = newValue(type, Value::Def::kResult);
  v->construct = c;
  v->index = static_cast<uint32_t>(c->results.size());
  c->results.push_back(v);
  return v;
}

Value* Function::addParam(Construct* loop, Value* initial) {
  assert(loop->shape == Construct::Shape::kLoop);
  Value* v = newValue(initial->type, Value::Def::kParam);
  v->construct = loop;
  v->index = static_cast<uint32_t>(loop->params.size());
  loop->params.push_back(v);
  loop->initial.push_back(initial);
  return v;
}

}  // namespace pumice::shader::ir
