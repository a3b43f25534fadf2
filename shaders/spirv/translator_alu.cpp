// Component-wise arithmetic, conversions and comparisons.
#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using ir::Op;

ir::Value* Translator::resizeInt(Value* v, ir::Type to, bool isSigned) {
  if (!v->type.isInt() || !to.isInt()) failInvalid("an integer is expected");
  const uint32_t from = ir::kindBits(v->type.kind), want = ir::kindBits(to.kind);
  if (from == want) return v;
  if (from > want) return e().convert(Op::Trunc, to, v);
  return e().convert(isSigned ? Op::SExt : Op::ZExt, to, v);
}

ir::Value* Translator::boolToInt(Value* b) {
  return e().select(b, e().i32(1), e().i32(0));
}
ir::Value* Translator::intToBool(Value* i) {
  return e().compare(Op::INe, i, e().i32(0));
}

// `count` low bits set; all of them from the type's width on.
ir::Value* Translator::bitFieldMask(Value* count, ir::Type t) {
  Value* width = e().integer(t, ir::kindBits(t.kind));
  Value* mask = e().binary(Op::ISub, e().binary(Op::Shl, e().integer(t, 1), count), e().integer(t, 1));
  return e().select(e().compare(Op::ULt, count, width), mask, e().integer(t, ~0ull));
}

// The remainder with the sign of b.
ir::Value* Translator::signedMod(Value* a, Value* b) {
  const ir::Type t = a->type;
  Value* zero = e().integer(t, 0);
  Value* r = e().binary(Op::SRem, a, b);
  Value* differs = e().compare(Op::SLt, e().binary(Op::Xor, r, b), zero);
  Value* fix = e().binary(Op::And, differs, e().compare(Op::INe, r, zero));
  return e().select(fix, e().binary(Op::IAdd, r, b), r);
}

// Results that half precision holds only as a denormal become a zero of the same sign.
ir::Value* Translator::quantizeToF16(Value* a) {
  Value* wide = e().convert(Op::FConvert, ir::kF32, e().convert(Op::FConvert, ir::kF16, a));
  Value* small = e().compare(Op::FOLt, e().unary(Op::FAbs, wide), e().real(ir::kF32, 0x1p-14));
  Value* sign = e().binary(Op::And, e().bitcast(ir::kI32, wide), e().i32(0x8000'0000u));
  return e().select(small, e().bitcast(ir::kF32, sign), wide);
}

bool Translator::emitAlu(spv::Op op, const Instr& in, uint32_t firstOperand) {
  auto id = [&](uint32_t i) { return in.word(firstOperand + i); };
  // Result kinds: same as operand 0, Bool, or stated by the result type.
  enum class Want : uint8_t { kAny, kInt, kFloat, kBool };
  auto check = [&](Value* v, Want want) {
    const ir::Type t = v->type;
    if ((want == Want::kInt && !t.isInt()) || (want == Want::kFloat && !t.isFloat()) ||
        (want == Want::kBool && !t.isBool()))
      failInvalid("operation on a wrong type");
  };
  auto finish = [&](Leaves out) {
    const TypeInfo& t = type(in.resultType);
    if (out.size() != t.leaves || out.empty() || out.size() > 4 || out[0]->type != t.scalar)
      failInvalid("operation with a wrong result type");
    setLeaves(in, out);
    return true;
  };
  auto map1 = [&](Want want, auto f) {
    const Val a = get(id(0));
    std::span<Value*> out = allocate(a.leaves.size());
    for (size_t i = 0; i < out.size(); ++i) {
      check(a.leaves[i], want);
      out[i] = f(a.leaves[i]);
    }
    return finish(out);
  };
  auto map2Loose = [&](Want want, auto f) {  // operand types may differ
    const Val a = get(id(0)), b = get(id(1));
    if (a.leaves.size() != b.leaves.size()) failInvalid("operation on different sizes");
    std::span<Value*> out = allocate(a.leaves.size());
    for (size_t i = 0; i < out.size(); ++i) {
      check(a.leaves[i], want);
      check(b.leaves[i], want);
      out[i] = f(a.leaves[i], b.leaves[i]);
    }
    return finish(out);
  };
  auto map2 = [&](Want want, auto f) {
    return map2Loose(want, [&](Value* a, Value* b) {
      if (a->type != b->type) failInvalid("operation on different types");
      return f(a, b);
    });
  };
  auto same1 = [&](Want want, Op o) { return map1(want, [&](Value* a) { return e().unary(o, a); }); };
  auto same2 = [&](Want want, Op o) { return map2(want, [&](Value* a, Value* b) { return e().binary(o, a, b); }); };
  auto cmp = [&](Want want, Op o) { return map2(want, [&](Value* a, Value* b) { return e().compare(o, a, b); }); };
  auto shift = [&](Op o) {
    return map2Loose(Want::kInt, [&](Value* a, Value* b) { return e().binary(o, a, shiftAmount(b, a->type)); });
  };
  auto convert = [&](Want want, Op o) {
    const ir::Type to = type(in.resultType).scalar;
    return map1(want, [&](Value* a) { return e().convert(o, to, a); });
  };
  auto resultScalar = [&] { return type(in.resultType).scalar; };
  // {low or sum, high or carry} as a structure of two members.
  auto pair = [&](auto f) {
    const Val a = get(id(0)), b = get(id(1));
    if (a.leaves.size() != b.leaves.size()) failInvalid("operation on different sizes");
    const size_t n = a.leaves.size();
    std::span<Value*> out = allocate(2 * n);
    for (size_t i = 0; i < n; ++i) {
      check(a.leaves[i], Want::kInt);
      if (a.leaves[i]->type != b.leaves[i]->type) failInvalid("operation on different types");
      f(a.leaves[i], b.leaves[i], out[i], out[n + i]);
    }
    if (type(in.resultType).leaves != 2 * n) failInvalid("operation with a wrong result type");
    setLeaves(in, out);
    return true;
  };
  auto flag = [&](Value* c, ir::Type t) { return e().select(c, e().integer(t, 1), e().integer(t, 0)); };

  switch (op) {
    // -- integers
    case spv::Op::OpSNegate:
      return map1(Want::kInt, [&](Value* a) { return e().binary(Op::ISub, e().integer(a->type, 0), a); });
    case spv::Op::OpIAdd:
      return same2(Want::kInt, Op::IAdd);
    case spv::Op::OpISub:
      return same2(Want::kInt, Op::ISub);
    case spv::Op::OpIMul:
      return same2(Want::kInt, Op::IMul);
    case spv::Op::OpUDiv:
      return same2(Want::kInt, Op::UDiv);
    case spv::Op::OpSDiv:
      return same2(Want::kInt, Op::SDiv);
    case spv::Op::OpUMod:
      return same2(Want::kInt, Op::URem);
    case spv::Op::OpSRem:
      return same2(Want::kInt, Op::SRem);
    case spv::Op::OpSMod:
      return map2(Want::kInt, [&](Value* a, Value* b) { return signedMod(a, b); });
    case spv::Op::OpIAddCarry:
      return pair([&](Value* a, Value* b, Value*& lo, Value*& hi) {
        lo = e().binary(Op::IAdd, a, b);
        hi = flag(e().compare(Op::ULt, lo, a), a->type);
      });
    case spv::Op::OpISubBorrow:
      return pair([&](Value* a, Value* b, Value*& lo, Value*& hi) {
        lo = e().binary(Op::ISub, a, b);
        hi = flag(e().compare(Op::ULt, a, b), a->type);
      });
    case spv::Op::OpUMulExtended:
    case spv::Op::OpSMulExtended:
      return pair([&](Value* a, Value* b, Value*& lo, Value*& hi) {
        lo = e().binary(Op::IMul, a, b);
        hi = e().binary(op == spv::Op::OpUMulExtended ? Op::UMulHi : Op::SMulHi, a, b);
      });
    case spv::Op::OpShiftLeftLogical:
      return shift(Op::Shl);
    case spv::Op::OpShiftRightLogical:
      return shift(Op::UShr);
    case spv::Op::OpShiftRightArithmetic:
      return shift(Op::SShr);
    case spv::Op::OpBitwiseAnd:
      return same2(Want::kInt, Op::And);
    case spv::Op::OpBitwiseOr:
      return same2(Want::kInt, Op::Or);
    case spv::Op::OpBitwiseXor:
      return same2(Want::kInt, Op::Xor);
    case spv::Op::OpNot:
      return same1(Want::kInt, Op::Not);
    case spv::Op::OpBitReverse:
      return same1(Want::kInt, Op::BitReverse);
    case spv::Op::OpBitCount:
      return map1(Want::kInt, [&](Value* a) { return resizeInt(e().unary(Op::BitCount, a), resultScalar(), false); });
    case spv::Op::OpBitFieldInsert: {
      const Val base = get(id(0)), insert = get(id(1));
      if (base.leaves.size() != insert.leaves.size()) failInvalid("operation on different sizes");
      std::span<Value*> out = allocate(base.leaves.size());
      for (size_t i = 0; i < out.size(); ++i) {
        const ir::Type t = base.leaves[i]->type;
        if (!t.isInt() || insert.leaves[i]->type != t) failInvalid("operation on a wrong type");
        Value* offset = resizeInt(scalar(id(2)), t, false);
        Value* mask = bitFieldMask(resizeInt(scalar(id(3)), t, false), t);
        Value* kept = e().binary(Op::And, base.leaves[i], e().unary(Op::Not, e().binary(Op::Shl, mask, offset)));
        out[i] = e().binary(Op::Or, kept, e().binary(Op::Shl, e().binary(Op::And, insert.leaves[i], mask), offset));
      }
      return finish(out);
    }
    case spv::Op::OpBitFieldUExtract:
      return map1(Want::kInt, [&](Value* a) {
        Value* offset = resizeInt(scalar(id(1)), a->type, false);
        Value* mask = bitFieldMask(resizeInt(scalar(id(2)), a->type, false), a->type);
        return e().binary(Op::And, e().binary(Op::UShr, a, offset), mask);
      });
    case spv::Op::OpBitFieldSExtract:
      return map1(Want::kInt, [&](Value* a) {
        const ir::Type t = a->type;
        Value* width = e().integer(t, ir::kindBits(t.kind));
        Value* offset = resizeInt(scalar(id(1)), t, false);
        Value* count = resizeInt(scalar(id(2)), t, false);
        Value* left = e().binary(Op::ISub, e().binary(Op::ISub, width, count), offset);
        Value* field = e().binary(Op::SShr, e().binary(Op::Shl, a, left), e().binary(Op::ISub, width, count));
        return e().select(e().compare(Op::IEq, count, e().integer(t, 0)), e().integer(t, 0), field);
      });
    case spv::Op::OpIEqual:
      return cmp(Want::kInt, Op::IEq);
    case spv::Op::OpINotEqual:
      return cmp(Want::kInt, Op::INe);
    case spv::Op::OpULessThan:
      return cmp(Want::kInt, Op::ULt);
    case spv::Op::OpULessThanEqual:
      return cmp(Want::kInt, Op::ULe);
    case spv::Op::OpSLessThan:
      return cmp(Want::kInt, Op::SLt);
    case spv::Op::OpSLessThanEqual:
      return cmp(Want::kInt, Op::SLe);
    case spv::Op::OpUGreaterThan:
      return map2(Want::kInt, [&](Value* a, Value* b) { return e().compare(Op::ULt, b, a); });
    case spv::Op::OpUGreaterThanEqual:
      return map2(Want::kInt, [&](Value* a, Value* b) { return e().compare(Op::ULe, b, a); });
    case spv::Op::OpSGreaterThan:
      return map2(Want::kInt, [&](Value* a, Value* b) { return e().compare(Op::SLt, b, a); });
    case spv::Op::OpSGreaterThanEqual:
      return map2(Want::kInt, [&](Value* a, Value* b) { return e().compare(Op::SLe, b, a); });

    // -- booleans
    case spv::Op::OpLogicalEqual:
      return cmp(Want::kBool, Op::IEq);
    case spv::Op::OpLogicalNotEqual:
      return cmp(Want::kBool, Op::INe);
    case spv::Op::OpLogicalOr:
      return same2(Want::kBool, Op::Or);
    case spv::Op::OpLogicalAnd:
      return same2(Want::kBool, Op::And);
    case spv::Op::OpLogicalNot:
      return same1(Want::kBool, Op::Not);
    case spv::Op::OpAny:
    case spv::Op::OpAll: {
      const Val a = get(id(0));
      if (a.leaves.empty()) failInvalid("operation on a wrong type");
      Value* r = a.leaves[0];
      check(r, Want::kBool);
      for (size_t i = 1; i < a.leaves.size(); ++i)
        r = e().binary(op == spv::Op::OpAny ? Op::Or : Op::And, r, a.leaves[i]);
      return finish(std::initializer_list<Value*>{r});
    }

    // -- floats
    case spv::Op::OpFNegate: {
      const Val a = get(id(0));
      if (a.leaves.size() > 4) {  // a matrix
        negateAll(in, a.leaves);
        return true;
      }
      return same1(Want::kFloat, Op::FNeg);
    }
    case spv::Op::OpFAdd:
      return same2(Want::kFloat, Op::FAdd);
    case spv::Op::OpFSub:
      return same2(Want::kFloat, Op::FSub);
    case spv::Op::OpFMul:
      return same2(Want::kFloat, Op::FMul);
    case spv::Op::OpFDiv:
      return same2(Want::kFloat, Op::FDiv);
    case spv::Op::OpFRem:
      return same2(Want::kFloat, Op::FRem);
    case spv::Op::OpFMod:
      return same2(Want::kFloat, Op::FMod);
    case spv::Op::OpIsNan:
      return map1(Want::kFloat, [&](Value* a) { return e().compare(Op::FUNe, a, a); });
    case spv::Op::OpIsInf:
      return map1(Want::kFloat, [&](Value* a) {
        return e().compare(Op::FOEq, e().unary(Op::FAbs, a), e().real(a->type, __builtin_inf()));
      });
    case spv::Op::OpIsFinite:
      return map1(Want::kFloat, [&](Value* a) {
        return e().compare(Op::FOLt, e().unary(Op::FAbs, a), e().real(a->type, __builtin_inf()));
      });
    case spv::Op::OpOrdered:
      return map2(Want::kFloat, [&](Value* a, Value* b) {
        return e().binary(Op::And, e().compare(Op::FOEq, a, a), e().compare(Op::FOEq, b, b));
      });
    case spv::Op::OpUnordered:
      return map2(Want::kFloat, [&](Value* a, Value* b) {
        return e().binary(Op::Or, e().compare(Op::FUNe, a, a), e().compare(Op::FUNe, b, b));
      });
    case spv::Op::OpFOrdEqual:
      return cmp(Want::kFloat, Op::FOEq);
    case spv::Op::OpFOrdNotEqual:
    case spv::Op::OpLessOrGreater:
      return cmp(Want::kFloat, Op::FONe);
    case spv::Op::OpFOrdLessThan:
      return cmp(Want::kFloat, Op::FOLt);
    case spv::Op::OpFOrdLessThanEqual:
      return cmp(Want::kFloat, Op::FOLe);
    case spv::Op::OpFOrdGreaterThan:
      return map2(Want::kFloat, [&](Value* a, Value* b) { return e().compare(Op::FOLt, b, a); });
    case spv::Op::OpFOrdGreaterThanEqual:
      return map2(Want::kFloat, [&](Value* a, Value* b) { return e().compare(Op::FOLe, b, a); });
    case spv::Op::OpFUnordEqual:
      return cmp(Want::kFloat, Op::FUEq);
    case spv::Op::OpFUnordNotEqual:
      return cmp(Want::kFloat, Op::FUNe);
    case spv::Op::OpFUnordLessThan:
      return cmp(Want::kFloat, Op::FULt);
    case spv::Op::OpFUnordLessThanEqual:
      return cmp(Want::kFloat, Op::FULe);
    case spv::Op::OpFUnordGreaterThan:
      return map2(Want::kFloat, [&](Value* a, Value* b) { return e().compare(Op::FULt, b, a); });
    case spv::Op::OpFUnordGreaterThanEqual:
      return map2(Want::kFloat, [&](Value* a, Value* b) { return e().compare(Op::FULe, b, a); });
    case spv::Op::OpQuantizeToF16:
      return map1(Want::kFloat, [&](Value* a) { return quantizeToF16(a); });

    // -- conversions
    case spv::Op::OpConvertFToU:
      return convert(Want::kFloat, Op::FToU);
    case spv::Op::OpConvertFToS:
      return convert(Want::kFloat, Op::FToS);
    case spv::Op::OpConvertSToF:
      return convert(Want::kInt, Op::SToF);
    case spv::Op::OpConvertUToF:
      return convert(Want::kInt, Op::UToF);
    case spv::Op::OpUConvert:
    case spv::Op::OpSConvert:
      return map1(Want::kInt, [&](Value* a) { return resizeInt(a, resultScalar(), op == spv::Op::OpSConvert); });
    case spv::Op::OpFConvert: {
      const Decoration* mode = module_.find(in.result, spv::Decoration::FPRoundingMode);
      const bool toZero = mode && !mode->literals.empty() &&
                          static_cast<spv::FPRoundingMode>(mode->literals[0]) == spv::FPRoundingMode::RTZ;
      const ir::Type to = resultScalar();
      return map1(Want::kFloat, [&](Value* a) {
        return a->type == to ? a : e().convert(toZero ? Op::FConvertRtz : Op::FConvert, to, a);
      });
    }
    case spv::Op::OpSatConvertSToU:
    case spv::Op::OpSatConvertUToS:
      return false;  // kernels only
    case spv::Op::OpBitcast:
      emitBitcast(in, firstOperand);
      return true;

    // -- choice
    case spv::Op::OpSelect: {
      const Val c = get(id(0));
      const TypeInfo& t = type(in.resultType);
      if (t.op == spv::Op::OpTypePointer) {
        const Leaves a = valueForPhi(id(1), in.resultType), b = valueForPhi(id(2), in.resultType);
        std::span<Value*> out = allocate(a.size());
        for (size_t i = 0; i < out.size(); ++i) {
          if (a[i]->type != b[i]->type) failInvalid("operation on different types");
          out[i] = e().select(scalar(id(0)), a[i], b[i]);
        }
        set(in.result, valueFromPhi(in.resultType, out));
        return true;
      }
      const Val a = get(id(1)), b = get(id(2));
      if (a.leaves.size() != b.leaves.size() || c.leaves.empty() || a.leaves.size() != t.leaves ||
          (c.leaves.size() != 1 && c.leaves.size() != a.leaves.size()))
        failInvalid("operation on different sizes");
      std::span<Value*> out = allocate(a.leaves.size());
      for (size_t i = 0; i < out.size(); ++i) {
        Value* condition = c.leaves[c.leaves.size() == 1 ? 0 : i];
        check(condition, Want::kBool);
        if (a.leaves[i]->type != b.leaves[i]->type) failInvalid("operation on different types");
        out[i] = e().select(condition, a.leaves[i], b.leaves[i]);
      }
      setLeaves(in, out);
      return true;
    }
    default:
      return false;
  }
}

// Between any two types of the same number of bits, little endian; pointers count as 64-bit integers.
void Translator::emitBitcast(const Instr& in, uint32_t firstOperand) {
  const Val a = get(in.word(firstOperand));
  const TypeInfo& to = type(in.resultType);
  if (a.leaves.empty() || to.leaves == 0 || to.leaves > 4 || to.scalar.isVoid() || to.scalar.isBool() ||
      a.leaves[0]->type.isBool() || a.leaves.size() > 4)
    failInvalid("bitcast of a wrong type");
  const uint32_t from = ir::kindBits(a.leaves[0]->type.kind), want = ir::kindBits(to.scalar.kind);
  if (from * a.leaves.size() != uint64_t{want} * to.leaves) failInvalid("bitcast between different sizes");
  auto intOf = [](uint32_t bits) {
    return bits == 8 ? ir::kI8 : bits == 16 ? ir::kI16 : bits == 32 ? ir::kI32 : ir::kI64;
  };
  std::span<Value*> out = allocate(to.leaves);
  if (from == want) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = e().bitcast(to.scalar, a.leaves[i]);
  } else if (from < want) {
    const uint32_t parts = want / from;
    const ir::Type wide = intOf(want);
    for (size_t i = 0; i < out.size(); ++i) {
      Value* v = nullptr;
      for (uint32_t k = 0; k < parts; ++k) {
        Value* part = e().convert(Op::ZExt, wide, e().bitcast(intOf(from), a.leaves[i * parts + k]));
        if (k) part = e().binary(Op::Shl, part, e().integer(wide, uint64_t{k} * from));
        v = v ? e().binary(Op::Or, v, part) : part;
      }
      out[i] = e().bitcast(to.scalar, v);
    }
  } else {
    const uint32_t parts = from / want;
    const ir::Type wide = intOf(from);
    for (size_t i = 0; i < a.leaves.size(); ++i) {
      Value* v = e().bitcast(wide, a.leaves[i]);
      for (uint32_t k = 0; k < parts; ++k) {
        Value* part = k ? e().binary(Op::UShr, v, e().integer(wide, uint64_t{k} * want)) : v;
        out[i * parts + k] = e().bitcast(to.scalar, e().convert(Op::Trunc, intOf(want), part));
      }
    }
  }
  setLeaves(in, out);
}

}  // namespace pumice::shader::spirv
