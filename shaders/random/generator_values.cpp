// Expressions of random programs.
#include <algorithm>

#include "shaders/ir/semantics.h"
#include "shaders/random/generator.h"

namespace pumice::shader::random {

using namespace ir;

namespace {
constexpr Kind kIntKinds[] = {Kind::kI8, Kind::kI16, Kind::kI32, Kind::kI64};
constexpr Kind kFloatKinds[] = {Kind::kF16, Kind::kF32, Kind::kF64};
}  // namespace

Kind Generator::someIntKind() {
  return rng_.chance(60) ? Kind::kI32 : kIntKinds[rng_.below(4)];
}

Kind Generator::someKind() {
  const uint32_t dice = rng_.below(100);
  if (dice < 50) return someIntKind();
  if (dice < 75) return Kind::kF32;
  if (dice < 90) return kFloatKinds[rng_.below(3)];
  return Kind::kBool;
}

Type Generator::someType() {
  Type t{someKind(), 1};
  if (rng_.chance(8) && !t.isBool()) t.components = static_cast<uint8_t>(rng_.between(2, 4));
  return t;
}

Value* Generator::someConstant(Kind k) {
  const Type t{k, 1};
  if (t.isBool()) return fn_->constantBool(rng_.chance(50));
  if (t.isInt()) {
    const uint64_t mask = kindMask(k);
    switch (rng_.below(6)) {
      case 0:
        return fn_->constant(t, rng_.oneOf({uint64_t{0}, uint64_t{1}, uint64_t{2}, mask, mask >> 1, (mask >> 1) + 1}));
      case 1:
        return fn_->constant(t, rng_.next());
      case 2:
        return fn_->constant(t, 1ull << rng_.below(kindBits(k)));
      default:
        return fn_->constant(t, rng_.below(20));
    }
  }
  switch (rng_.below(8)) {
    case 0:  // zeros, infinities, NaN, extremes
      return fn_->constant(t, rng_.oneOf({uint64_t{0}, (kindMask(k) >> 1) + 1, infinityBits(k), infinityBits(k) - 1,
                                          uint64_t{1}, fromDouble(k, -1.0), fromDouble(k, __builtin_nan(""))}));
    case 1:
      return fn_->constant(t, rng_.next());
    case 2:
      return fn_->constant(t, fromDouble(k, static_cast<double>(rng_.bits32()) * 0x1p-32));
    default:
      return fn_->constant(t, fromDouble(k, (static_cast<double>(rng_.below(64)) - 32) / 4));
  }
}

Value* Generator::remember(Value* v, bool isUniform) {
  if (v->type.kind == Kind::kBufferRef) {
    pool_.references.push_back(v);
  } else if (v->type.components > 1) {
    pool_.tuples.push_back({v, isUniform});
  } else {
    pool_.scalars[static_cast<size_t>(v->type.kind)].push_back({v, isUniform});
  }
  return v;
}

bool Generator::isKnownUniform(const Value* v) const {
  if (v->def == Value::Def::kConstant) return true;
  const auto& known = pool_.scalars[static_cast<size_t>(v->type.kind)];
  return std::any_of(known.begin(), known.end(), [&](const Known& k) { return k.value == v && k.isUniform; });
}

Value* Generator::pick(Kind k, bool uniform) {
  const auto& known = pool_.scalars[static_cast<size_t>(k)];
  if (known.empty() || rng_.chance(12)) return someConstant(k);
  const auto n = static_cast<uint32_t>(known.size());
  for (int attempt = 0; attempt < 6; attempt++) {
    // Half of the time one of the newest, so that chains of operations arise.
    const uint32_t i = rng_.chance(50) ? n - 1 - rng_.below(std::min(n, 4u)) : rng_.below(n);
    if (!uniform || known[i].isUniform) return known[i].value;
  }
  return someConstant(k);
}

Value* Generator::pickType(Type t, bool uniform) {
  if (t.kind == Kind::kBufferRef) return pickReference();
  if (t.components == 1) return pick(t.kind, uniform);
  std::vector<Value*> fitting;
  for (const Known& k : pool_.tuples) {
    if (k.value->type == t && (k.isUniform || !uniform)) fitting.push_back(k.value);
  }
  if (!fitting.empty() && rng_.chance(80)) return fitting[rng_.below(static_cast<uint32_t>(fitting.size()))];
  std::vector<Value*> scalars;
  for (uint32_t i = 0; i < t.components; i++) scalars.push_back(pick(t.kind, uniform));
  return b_->construct(scalars);
}

Value* Generator::pickReference() {
  return pool_.references[rng_.below(static_cast<uint32_t>(pool_.references.size()))];
}

Value* Generator::smallIndex(uint32_t limit, bool uniform) {
  Value* v = pick(Kind::kI32, uniform);
  if ((limit & (limit - 1)) == 0) return b_->binary(Op::And, v, u32(limit - 1));
  return rng_.chance(50) ? b_->binary(Op::URem, v, u32(limit)) : b_->binary(Op::UMin, v, u32(limit - 1));
}

void Generator::expression(Flow flow) {
  const bool uniform = rng_.chance(flow.isUniform ? 25 : 8);
  const Kind k = someKind();
  if (rng_.chance(8)) return tupleExpression(uniform);
  const Type t{k, 1};
  Value* v = nullptr;
  if (rng_.chance(7)) {
    v = b_->select(pick(Kind::kBool, uniform), pick(k, uniform), pick(k, uniform));
  } else if (t.isBool()) {
    v = boolExpression(uniform);
  } else if (rng_.chance(15)) {
    v = convertTo(k, uniform);
  } else {
    v = t.isInt() ? intExpression(k, uniform) : floatExpression(k, uniform);
  }
  remember(v, uniform);
}

Value* Generator::intExpression(Kind k, bool uniform) {
  Value* a = pick(k, uniform);
  if (rng_.chance(12)) {
    return b_->unary(rng_.oneOf({Op::Not, Op::BitCount, Op::BitReverse, Op::CountLeadingZeros, Op::CountTrailingZeros}),
                     a);
  }
  Op op;
  if (rng_.chance(60)) {
    op = rng_.oneOf({Op::IAdd, Op::ISub, Op::IMul, Op::And, Op::Or, Op::Xor, Op::Shl, Op::UShr, Op::SShr});
  } else {
    op = rng_.oneOf(
        {Op::UMulHi, Op::SMulHi, Op::UDiv, Op::SDiv, Op::URem, Op::SRem, Op::UMin, Op::UMax, Op::SMin, Op::SMax});
  }
  return b_->binary(op, a, pick(k, uniform));
}

Value* Generator::floatExpression(Kind k, bool uniform) {
  Value* a = pick(k, uniform);
  if (options_.transcendental && rng_.chance(25)) return transcendental(k, uniform);
  const uint32_t dice = rng_.below(100);
  if (dice < 25) {
    return b_->unary(rng_.oneOf({Op::FNeg, Op::FAbs, Op::FSqrt, Op::FFloor, Op::FCeil, Op::FTrunc, Op::FRoundEven}), a);
  }
  if (dice < 40) return b_->ternary(Op::FFma, a, pick(k, uniform), pick(k, uniform));
  Op op = rng_.oneOf({Op::FAdd, Op::FSub, Op::FMul, Op::FMul, Op::FAdd, Op::FDiv, Op::FMin, Op::FMax});
  if (op == Op::FMul && !program_.contractable) op = Op::FMax;
  return b_->binary(op, a, pick(k, uniform));
}

Value* Generator::transcendental(Kind k, bool uniform) {
  Value* a = pick(k, uniform);
  if (k == Kind::kF64 && rng_.chance(50)) return b_->unary(rng_.oneOf({Op::FInverseSqrt, Op::FFrexpSig}), a);
  if (rng_.chance(20) || k == Kind::kF64) {
    Op op = rng_.oneOf({Op::FAtan2, Op::FPow, Op::FRem, Op::FMod});
    if (k == Kind::kF64) op = rng_.oneOf({Op::FRem, Op::FMod});  // GLSL.std.450 has no other ones
    return b_->binary(op, a, pick(k, uniform));
  }
  if (rng_.chance(10)) return b_->inst(Op::FLdexp, a->type, {a, pick(Kind::kI32, uniform)})->result;
  return b_->unary(rng_.oneOf({Op::FExp2, Op::FLog2, Op::FExp, Op::FLog, Op::FSin, Op::FCos, Op::FTan, Op::FAsin,
                               Op::FAcos, Op::FAtan, Op::FSinh, Op::FCosh, Op::FTanh, Op::FAsinh, Op::FAcosh,
                               Op::FAtanh, Op::FInverseSqrt, Op::FFrexpSig}),
                   a);
}

Value* Generator::boolExpression(bool uniform) {
  if (rng_.chance(15)) {
    Value* a = pick(Kind::kBool, uniform);
    if (rng_.chance(30)) return b_->unary(Op::Not, a);
    return b_->binary(rng_.oneOf({Op::And, Op::Or, Op::Xor, Op::IEq, Op::INe}), a, pick(Kind::kBool, uniform));
  }
  if (rng_.chance(60)) {
    const Kind k = someIntKind();
    Value* a = pick(k, uniform);
    if (rng_.chance(40)) a = b_->binary(Op::And, a, fn_->constant(a->type, rng_.between(1, 7)));
    return b_->binary(rng_.oneOf({Op::IEq, Op::INe, Op::ULt, Op::ULe, Op::SLt, Op::SLe}), a, pick(k, uniform));
  }
  const Kind k = kFloatKinds[rng_.below(3)];
  return b_->binary(rng_.oneOf({Op::FOEq, Op::FONe, Op::FOLt, Op::FOLe, Op::FUEq, Op::FUNe, Op::FULt, Op::FULe}),
                    pick(k, uniform), pick(k, uniform));
}

Value* Generator::convertTo(Kind k, bool uniform) {
  const Type to{k, 1};
  const bool fromInt = rng_.chance(50);
  const Kind from = fromInt ? kIntKinds[rng_.below(4)] : kFloatKinds[rng_.below(3)];
  Value* a = pick(from, uniform);
  if (kindBits(from) == kindBits(k) && rng_.chance(70)) {
    if (from == k) return b_->select(pick(Kind::kBool, uniform), a, pick(k, uniform));
    return b_->convert(Op::Bitcast, to, fromInt ? a : observable(a));
  }
  if (fromInt && to.isInt()) {
    if (from == k) return b_->unary(Op::Not, a);
    if (kindBits(from) > kindBits(k)) return b_->convert(Op::Trunc, to, a);
    return b_->convert(rng_.oneOf({Op::SExt, Op::ZExt}), to, a);
  }
  if (fromInt) return b_->convert(rng_.oneOf({Op::SToF, Op::UToF}), to, a);
  if (to.isInt()) return b_->convert(rng_.oneOf({Op::FToS, Op::FToU}), to, a);
  if (from == k) return b_->unary(Op::FNeg, a);
  return b_->convert(rng_.chance(75) ? Op::FConvert : Op::FConvertRtz, to, a);
}

// The same value in all invocations, but no analysis sees it (until simplification does).
void Generator::disguisedUniform() {
  Value* v = pick(Kind::kI32);
  Value* zero = rng_.chance(50) ? b_->binary(Op::Xor, v, v) : b_->binary(Op::And, v, b_->unary(Op::Not, v));
  remember(add(pick(Kind::kI32, true), zero), true);
}

void Generator::tupleExpression(bool uniform) {
  if (!pool_.tuples.empty() && rng_.chance(60)) {
    const Known from = pool_.tuples[rng_.below(static_cast<uint32_t>(pool_.tuples.size()))];
    remember(b_->extract(from.value, rng_.below(from.value->type.components)), from.isUniform);
    return;
  }
  Type t = memoryType();
  t.components = static_cast<uint8_t>(rng_.between(2, 4));
  if (rng_.chance(30)) {
    remember(b_->select(pick(Kind::kBool, uniform), pickType(t, uniform), pickType(t, uniform)), uniform);
    return;
  }
  std::vector<Value*> scalars;
  for (uint32_t i = 0; i < t.components; i++) scalars.push_back(pick(t.kind, uniform));
  remember(b_->construct(scalars), uniform);
}

void Generator::subgroupOperation() {
  const Kind k = someKind();
  Value* a = pick(k);
  switch (rng_.below(10)) {
    case 0:
      remember(b_->inst(Op::SubgroupElect, kBool, {})->result);
      return;
    case 1:
      remember(b_->unary(rng_.oneOf({Op::SubgroupAll, Op::SubgroupAny}), pick(Kind::kBool)));
      return;
    case 2:
      remember(b_->unary(Op::SubgroupAllEqual, a));
      return;
    case 3:
      remember(b_->inst(Op::SubgroupBallot, kI32, {pick(Kind::kBool)})->result);
      return;
    case 4:
      remember(b_->unary(Op::SubgroupBroadcastFirst, a));
      return;
    case 5:
    case 6: {
      Value* index = pick(Kind::kI32);
      if (rng_.chance(30)) index = u32(rng_.below(fn_->subgroupSize));
      if (rng_.chance(50)) index = b_->binary(Op::And, index, u32(fn_->subgroupSize - 1));
      const Op op =
          rng_.oneOf({Op::SubgroupShuffle, Op::SubgroupShuffleXor, Op::SubgroupShuffleUp, Op::SubgroupShuffleDown});
      remember(b_->binary(op, a, index));
      return;
    }
    default:
      break;
  }
  const Op op =
      rng_.oneOf({Op::SubgroupReduce, Op::SubgroupReduce, Op::SubgroupInclusiveScan, Op::SubgroupExclusiveScan});
  auto reduce = static_cast<ReduceOp>(rng_.below(13));
  while (!reduceAccepts(reduce, k)) reduce = static_cast<ReduceOp>(rng_.below(13));
  Inst* i = b_->inst(op, a->type, {a});
  i->imm2 = static_cast<uint32_t>(reduce);
  if (op == Op::SubgroupReduce && rng_.chance(30)) {
    i->imm = rng_.oneOf({1u, 2u, 4u, 8u, 16u, 32u});
    i->imm = std::min(i->imm, fn_->subgroupSize);
  }
  remember(i->result);
}

Value* Generator::hashBits(Value* v) {
  const Kind k = v->type.kind;
  if (v->type.isBool()) return b_->select(v, u32(0x9e3779b9), u32(0x7f4a7c15));
  if (v->type.isFloat()) {
    const Type bits = k == Kind::kF16 ? kI16 : k == Kind::kF32 ? kI32 : kI64;
    v = b_->convert(Op::Bitcast, bits, observable(v));
  }
  if (v->type == kI32) return v;
  if (v->type == kI64) {
    v = b_->binary(Op::Xor, v, b_->binary(Op::UShr, v, fn_->constant(kI64, 29)));
    return b_->convert(Op::Trunc, kI32, v);
  }
  return b_->convert(Op::ZExt, kI32, v);
}

void Generator::observeAll(const PoolMark& since) {
  Value* hash = nullptr;
  for (size_t k = 0; k < kKinds; k++) {
    for (size_t i = since.scalars[k]; i < pool_.scalars[k].size(); i++) {
      Value* bits = hashBits(pool_.scalars[k][i].value);
      hash = hash == nullptr ? bits : b_->binary(Op::Xor, b_->binary(Op::IMul, hash, u32(0x01000193)), bits);
    }
  }
  if (hash == nullptr) return;
  const OwnPlace p = ownPlace(kI32);
  b_->store(p.mem, {p.reference, p.index}, hash);
}

// NaNs have no defined sign and payload, so nobody may see them.
Value* Generator::observable(Value* v) {
  if (!v->type.isFloat()) return v;
  const Kind k = v->type.kind;
  return b_->select(b_->binary(Op::FUNe, v, v), fn_->constant(v->type, fromDouble(k, __builtin_nan(""))), v);
}

Value* Generator::observableTuple(Value* v) {
  if (!v->type.isFloat() || v->type.components == 1) return observable(v);
  std::vector<Value*> scalars;
  for (uint32_t i = 0; i < v->type.components; i++) scalars.push_back(observable(b_->extract(v, i)));
  return b_->construct(scalars);
}

}  // namespace pumice::shader::random
