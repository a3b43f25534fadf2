#include "shaders/passes/algebra.h"

#include <bit>
#include <cmath>
#include <utility>

#include "shaders/ir/semantics.h"

namespace pumice::shader::passes {

using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

bool isConstant(const Value* v) {
  return v->def == Value::Def::kConstant;
}
bool isConstant(const Value* v, uint64_t bits) {
  return isConstant(v) && v->bits == bits;
}
uint64_t allOnes(Type t) {
  return ir::kindMask(t.kind);
}
const Inst* defOf(const Value* v, Op op) {
  return v->def == Value::Def::kInst && v->inst->op == op ? v->inst : nullptr;
}
bool isFloatOne(const Value* v) {
  return isConstant(v) && v->bits == ir::fromDouble(v->type.kind, 1.0);
}
uint64_t signBit(Type t) {
  return 1ull << (ir::kindBits(t.kind) - 1);
}

Value* folded(ir::Function& fn, const Inst& i) {
  if (!i.result || i.operands.empty() || i.operands.size() > 3 || i.result->type.components != 1 ||
      i.result->type.kind == ir::Kind::kBufferRef || ir::isMemoryOp(i.op))
    return nullptr;
  uint64_t bits[3];
  for (size_t k = 0; k < i.operands.size(); ++k) {
    if (!isConstant(i.operands[k])) return nullptr;
    bits[k] = i.operands[k]->bits;
  }
  const Value* typed = i.op == Op::Select ? i.operands[1] : i.operands[0];
  const auto r = ir::evaluate(i.op, typed->type.kind, i.result->type.kind, std::span(bits, i.operands.size()));
  return r ? fn.constant(i.result->type, *r) : nullptr;
}

bool isCommutative(Op op) {
  switch (op) {
    case Op::IAdd:
    case Op::IMul:
    case Op::UMulHi:
    case Op::SMulHi:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::UMin:
    case Op::UMax:
    case Op::SMin:
    case Op::SMax:
    case Op::IEq:
    case Op::INe:
    case Op::FAdd:
    case Op::FMul:
    case Op::FOEq:
    case Op::FONe:
    case Op::FUEq:
    case Op::FUNe:
      return true;
    default:
      return false;
  }
}

// The comparison that is true where `op` is false; `swap`: with exchanged operands.
struct Opposite {
  Op op = Op::kCount;  // kCount: there is none
  bool swap = false;
};
Opposite opposite(Op op) {
  switch (op) {
    case Op::IEq:
      return {Op::INe, false};
    case Op::INe:
      return {Op::IEq, false};
    case Op::ULt:
      return {Op::ULe, true};
    case Op::ULe:
      return {Op::ULt, true};
    case Op::SLt:
      return {Op::SLe, true};
    case Op::SLe:
      return {Op::SLt, true};
    case Op::FOEq:
      return {Op::FUNe, false};
    case Op::FUNe:
      return {Op::FOEq, false};
    case Op::FONe:
      return {Op::FUEq, false};
    case Op::FUEq:
      return {Op::FONe, false};
    case Op::FOLt:
      return {Op::FULe, true};
    case Op::FOLe:
      return {Op::FULt, true};
    case Op::FULt:
      return {Op::FOLe, true};
    case Op::FULe:
      return {Op::FOLt, true};
    default:
      return {};
  }
}

// A constant index becomes part of the offset, so that equal places look equal.
bool foldIndex(ir::Function& fn, Inst& i) {
  Value*& index = i.operands[ir::addressOperandCount(i.mem.space) - 1];
  if (!isConstant(index) || (index->bits == 0 && i.mem.scale_B == 1)) return false;
  // Unsigned in checked spaces, signed in kGlobal; there only what stays positive.
  uint64_t n = index->bits;
  if (i.mem.space == ir::Space::kGlobal && n > 0x7fff'ffffu) return false;
  uint64_t offset = 0;
  if (__builtin_mul_overflow(n, uint64_t{i.mem.scale_B}, &offset) || offset + i.mem.offset_B > 0xffff'ffffu)
    return false;
  i.mem.offset_B += static_cast<uint32_t>(offset);
  i.mem.scale_B = 1;
  index = fn.constant(index->type, 0);
  return true;
}

}  // namespace

Value* simplerValue(ir::Function& fn, const Inst& i) {
  if (Value* c = folded(fn, i)) return c;
  if (!i.result || i.operands.empty()) return nullptr;
  Value* a = i.operands[0];
  Value* b = i.operands.size() > 1 ? i.operands[1] : nullptr;
  const Type t = i.result->type;
  switch (i.op) {
    case Op::IAdd:
      if (isConstant(b, 0)) return a;
      if (isConstant(a, 0)) return b;
      // (x - y) + y
      if (const Inst* d = defOf(a, Op::ISub); d && d->operands[1] == b) return d->operands[0];
      if (const Inst* d = defOf(b, Op::ISub); d && d->operands[1] == a) return d->operands[0];
      break;
    case Op::ISub:
      if (isConstant(b, 0)) return a;
      if (a == b) return fn.constant(t, 0);
      if (const Inst* d = defOf(a, Op::IAdd)) {
        if (d->operands[1] == b) return d->operands[0];
        if (d->operands[0] == b) return d->operands[1];
      }
      break;
    case Op::IMul:
      if (isConstant(b, 1)) return a;
      if (isConstant(a, 1)) return b;
      if (isConstant(a, 0)) return a;
      if (isConstant(b, 0)) return b;
      break;
    case Op::UDiv:
      if (isConstant(b, 1)) return a;
      break;
    case Op::SDiv:
      if (isConstant(b, 1)) return a;
      break;
    case Op::URem:
      if (isConstant(b, 1)) return fn.constant(t, 0);
      break;
    case Op::And:
      if (a == b || isConstant(b, allOnes(t)) || isConstant(a, 0)) return a;
      if (isConstant(a, allOnes(t)) || isConstant(b, 0)) return b;
      break;
    case Op::Or:
      if (a == b || isConstant(b, 0) || isConstant(a, allOnes(t))) return a;
      if (isConstant(a, 0) || isConstant(b, allOnes(t))) return b;
      break;
    case Op::Xor:
      if (a == b) return fn.constant(t, 0);
      if (isConstant(b, 0)) return a;
      if (isConstant(a, 0)) return b;
      break;
    case Op::Not:
      if (const Inst* d = defOf(a, Op::Not)) return d->operands[0];
      break;
    case Op::Shl:
    case Op::UShr:
    case Op::SShr:
      if (isConstant(b) && b->bits % ir::kindBits(t.kind) == 0) return a;
      if (isConstant(a, 0)) return a;
      break;
    case Op::UMin:
    case Op::UMax:
    case Op::SMin:
    case Op::SMax:
    case Op::FMin:
    case Op::FMax:
      if (a == b) return a;
      if (i.op == Op::UMax && isConstant(b, 0)) return a;
      if (i.op == Op::UMin && isConstant(b, allOnes(t))) return a;
      break;
    case Op::IEq:
    case Op::ULe:
    case Op::SLe:
      if (a == b) return fn.constantBool(true);
      if (i.op == Op::IEq && a->type.isBool() && isConstant(b, 1)) return a;
      break;
    case Op::INe:
    case Op::ULt:
    case Op::SLt:
      if (a == b) return fn.constantBool(false);
      if (i.op == Op::ULt && isConstant(b, 0)) return fn.constantBool(false);
      if (i.op == Op::INe) {
        if (a->type.isBool() && isConstant(b, 0)) return a;
        // A boolean that travelled as an integer.
        if (const Inst* d = defOf(a, Op::Select); d && isConstant(b, 0) && isConstant(d->operands[2], 0) &&
                                                  isConstant(d->operands[1]) && d->operands[1]->bits != 0)
          return d->operands[0];
      }
      break;
    case Op::Select: {
      Value* no = i.operands[2];
      if (isConstant(a)) return a->bits ? b : no;
      if (b == no) return b;
      if (t.isBool() && isConstant(b, 1) && isConstant(no, 0)) return a;
      break;
    }
    case Op::FAdd:  // x + -0 is x for every x
      if (isConstant(b, signBit(t))) return a;
      if (isConstant(a, signBit(t))) return b;
      break;
    case Op::FSub:
      if (isConstant(b, 0)) return a;
      break;
    case Op::FMul:
      if (isFloatOne(b)) return a;
      if (isFloatOne(a)) return b;
      break;
    case Op::FDiv:
      if (isFloatOne(b)) return a;
      break;
    case Op::FNeg:
      if (const Inst* d = defOf(a, Op::FNeg)) return d->operands[0];
      break;
    case Op::FAbs:
      if (defOf(a, Op::FAbs)) return a;
      break;
    case Op::Trunc:
      if (const Inst* d = defOf(a, Op::ZExt); d && d->operands[0]->type == t) return d->operands[0];
      if (const Inst* d = defOf(a, Op::SExt); d && d->operands[0]->type == t) return d->operands[0];
      break;
    case Op::Bitcast:
      if (a->type == t) return a;
      if (const Inst* d = defOf(a, Op::Bitcast); d && d->operands[0]->type == t) return d->operands[0];
      break;
    case Op::Extract:
      if (const Inst* d = defOf(a, Op::Construct)) return d->operands[i.imm];
      break;
    case Op::Construct: {
      const Inst* first = defOf(a, Op::Extract);
      if (!first || first->operands[0]->type != t) break;
      for (size_t k = 0; k < i.operands.size(); ++k) {
        const Inst* part = defOf(i.operands[k], Op::Extract);
        if (!part || part->operands[0] != first->operands[0] || part->imm != k) return nullptr;
      }
      return first->operands[0];
    }
    default:
      break;
  }
  return nullptr;
}

bool makeCheaper(ir::Function& fn, Inst& i) {
  if (ir::isMemoryOp(i.op)) return foldIndex(fn, i);
  if (i.operands.empty() || !i.result) return false;
  // Constants stand on the right.
  if (i.operands.size() == 2 && isCommutative(i.op) && isConstant(i.operands[0]) && !isConstant(i.operands[1]))
    std::swap(i.operands[0], i.operands[1]);
  Value* a = i.operands[0];
  Value* b = i.operands.size() > 1 ? i.operands[1] : nullptr;
  const Type t = i.result->type;
  auto become = [&](Op op, std::initializer_list<Value*> operands) {
    i.op = op;
    i.operands = operands;
    return true;
  };
  switch (i.op) {
    case Op::IAdd:
    case Op::IMul:
    case Op::And:
    case Op::Or:
    case Op::Xor:
      // (x op c) op d
      if (const Inst* d = defOf(a, i.op); d && isConstant(b) && isConstant(d->operands[1])) {
        const uint64_t parts[] = {d->operands[1]->bits, b->bits};
        const auto r = ir::evaluate(i.op, t.kind, t.kind, parts);
        if (r) return become(i.op, {d->operands[0], fn.constant(t, *r)});
      }
      if (i.op == Op::Xor && isConstant(b, allOnes(t))) return become(Op::Not, {a});
      break;
    case Op::ISub:
      if (isConstant(b)) return become(Op::IAdd, {a, fn.constant(t, 0 - b->bits)});
      break;
    case Op::UDiv:
      if (isConstant(b) && std::has_single_bit(b->bits))
        return become(Op::UShr, {a, fn.constant(t, static_cast<uint64_t>(std::countr_zero(b->bits)))});
      break;
    case Op::URem:
      if (isConstant(b) && std::has_single_bit(b->bits)) return become(Op::And, {a, fn.constant(t, b->bits - 1)});
      break;
    case Op::FDiv:
      // By a power of two whose reciprocal is a normal number: exact.
      if (isConstant(b)) {
        const double d = ir::toDouble(t.kind, b->bits);
        int exponent = 0;
        const int limit = t == ir::kF16 ? 13 : t == ir::kF32 ? 125 : 1020;
        if (std::isfinite(d) && std::abs(std::frexp(d, &exponent)) == 0.5 && std::abs(exponent) < limit)
          return become(Op::FMul, {a, fn.constant(t, ir::fromDouble(t.kind, 1.0 / d))});
      }
      break;
    case Op::Not:
      if (a->type.isBool() && a->def == Value::Def::kInst)
        if (const Opposite o = opposite(a->inst->op); o.op != Op::kCount) {
          Value* x = a->inst->operands[0];
          Value* y = a->inst->operands[1];
          return become(o.op, {o.swap ? y : x, o.swap ? x : y});
        }
      break;
    case Op::IEq:
      if (a->type.isBool() && isConstant(b, 0)) return become(Op::Not, {a});
      if (const Inst* d = defOf(a, Op::Select); d && isConstant(b, 0) && isConstant(d->operands[2], 0) &&
                                                isConstant(d->operands[1]) && d->operands[1]->bits != 0)
        return become(Op::Not, {d->operands[0]});
      break;
    case Op::Select:
      if (const Inst* d = defOf(a, Op::Not)) return become(Op::Select, {d->operands[0], i.operands[2], b});
      if (t.isBool()) {
        Value* no = i.operands[2];
        if (isConstant(b, 0) && isConstant(no, 1)) return become(Op::Not, {a});
        if (isConstant(b, 1) || b == a) return become(Op::Or, {a, no});
        if (isConstant(no, 0) || no == a) return become(Op::And, {a, b});
      }
      break;
    default:
      break;
  }
  return false;
}

}  // namespace pumice::shader::passes
