// GLSL.std.450: what the IR has no operation for is composed of others, as the extended instruction's specification
// defines it.
#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>

#include "shaders/spirv/translator.h"

namespace pumice::shader::spirv {

using ir::Op;

ir::Value* Translator::fclamp(Value* x, Value* lo, Value* hi) {
  return e().binary(Op::FMin, e().binary(Op::FMax, x, lo), hi);
}

// FMin gives b if any operand is a NaN; the N variants give the other one.
ir::Value* Translator::nmin(Value* a, Value* b) {
  return e().select(e().compare(Op::FUNe, b, b), a, e().binary(Op::FMin, a, b));
}
ir::Value* Translator::nmax(Value* a, Value* b) {
  return e().select(e().compare(Op::FUNe, b, b), a, e().binary(Op::FMax, a, b));
}

ir::Value* Translator::findUMsb(Value* x) {  // all ones for 0
  return e().binary(Op::ISub, e().integer(x->type, ir::kindBits(x->type.kind) - 1),
                    e().unary(Op::CountLeadingZeros, x));
}

namespace {

// Leaves of a column-major n x n matrix without row r and column c.
std::vector<ir::Value*> minorOf(std::span<ir::Value* const> m, uint32_t n, uint32_t r, uint32_t c) {
  std::vector<ir::Value*> out;
  for (uint32_t j = 0; j < n; ++j)
    for (uint32_t i = 0; i < n; ++i)
      if (i != r && j != c) out.push_back(m[j * n + i]);
  return out;
}

}  // namespace

ir::Value* Translator::determinant(Leaves m, uint32_t n) {
  auto mul = [&](Value* a, Value* b) { return e().binary(Op::FMul, a, b); };
  if (n == 1) return m[0];
  if (n == 2) return e().binary(Op::FSub, mul(m[0], m[3]), mul(m[2], m[1]));
  Value* sum = nullptr;
  for (uint32_t c = 0; c < n; ++c) {
    Value* term = mul(m[c * n], determinant(minorOf(m, n, 0, c), n - 1));
    sum = !sum ? term : e().binary(c % 2 ? Op::FSub : Op::FAdd, sum, term);
  }
  return sum;
}

// The adjugate over the determinant.
void Translator::inverse(Leaves m, uint32_t n, std::span<Value*> out) {
  Value* scale = e().binary(Op::FDiv, e().real(m[0]->type, 1.0), determinant(m, n));
  for (uint32_t c = 0; c < n; ++c)
    for (uint32_t r = 0; r < n; ++r) {
      Value* cofactor = determinant(minorOf(m, n, c, r), n - 1);
      if ((c + r) % 2) cofactor = e().unary(Op::FNeg, cofactor);
      out[c * n + r] = e().binary(Op::FMul, cofactor, scale);
    }
}

ir::Value* Translator::packNorm(Leaves v, uint32_t bits, bool isSigned) {
  const double scale = static_cast<double>((1u << (isSigned ? bits - 1 : bits)) - 1);
  Value* word = nullptr;
  for (uint32_t i = 0; i < v.size(); ++i) {
    if (v[i]->type != ir::kF32) failInvalid("operation on a wrong type");
    Value* x = fclamp(v[i], e().real(ir::kF32, isSigned ? -1.0 : 0.0), e().real(ir::kF32, 1.0));
    x = e().unary(Op::FRoundEven, e().binary(Op::FMul, x, e().real(ir::kF32, scale)));
    Value* part = e().convert(Op::FToS, ir::kI32, x);
    if (isSigned) part = e().binary(Op::And, part, e().i32((1u << bits) - 1));
    if (i) part = e().binary(Op::Shl, part, e().i32(i * bits));
    word = word ? e().binary(Op::Or, word, part) : part;
  }
  return word;
}

void Translator::unpackNorm(Value* word, uint32_t bits, bool isSigned, std::span<Value*> out) {
  const double scale = static_cast<double>((1u << (isSigned ? bits - 1 : bits)) - 1);
  for (uint32_t i = 0; i < out.size(); ++i) {
    Value* part = e().binary(Op::Shl, word, e().i32(32 - (i + 1) * bits));
    part = e().binary(isSigned ? Op::SShr : Op::UShr, part, e().i32(32 - bits));
    Value* x = e().binary(Op::FDiv, e().convert(Op::SToF, ir::kF32, part), e().real(ir::kF32, scale));
    out[i] = isSigned ? fclamp(x, e().real(ir::kF32, -1.0), e().real(ir::kF32, 1.0)) : x;
  }
}

void Translator::emitGlsl(const Instr& in) {
  if (emitInterpolation(in)) return;
  const uint32_t code = in.operand(1);
  auto id = [&](uint32_t i) { return in.operand(i + 2); };
  const TypeInfo& result = type(in.resultType);
  auto done = [&](Leaves out) {
    if (out.size() != result.leaves) failInvalid("operation with a wrong result type");
    for (uint32_t i = 0; i < out.size(); ++i)
      if (out[i]->type != leafType(result, i)) failInvalid("operation with a wrong result type");
    setLeaves(in, out);
  };
  auto floats = [&](uint32_t i) {
    const Val v = get(id(i));
    if (v.leaves.empty() || !v.leaves[0]->type.isFloat()) failInvalid("operation on a wrong type");
    for (Value* leaf : v.leaves)
      if (leaf->type != v.leaves[0]->type) failInvalid("operation on a wrong type");
    return v.leaves;
  };
  auto ints = [&](uint32_t i) {
    const Val v = get(id(i));
    if (v.leaves.empty() || !v.leaves[0]->type.isInt()) failInvalid("operation on a wrong type");
    return v.leaves;
  };
  auto agree = [](Leaves a, Leaves b) {
    if (a.size() != b.size() || a[0]->type != b[0]->type) failInvalid("operation on different types");
  };
  auto map1 = [&](Leaves a, auto f) {
    std::span<Value*> out = allocate(a.size());
    for (size_t i = 0; i < a.size(); ++i) out[i] = f(a[i]);
    done(out);
  };
  auto map2 = [&](Leaves a, Leaves b, auto f) {
    agree(a, b);
    std::span<Value*> out = allocate(a.size());
    for (size_t i = 0; i < a.size(); ++i) out[i] = f(a[i], b[i]);
    done(out);
  };
  auto map3 = [&](Leaves a, Leaves b, Leaves c, auto f) {
    agree(a, b);
    agree(a, c);
    std::span<Value*> out = allocate(a.size());
    for (size_t i = 0; i < a.size(); ++i) out[i] = f(a[i], b[i], c[i]);
    done(out);
  };
  auto op1 = [&](Op op) { map1(floats(0), [&](Value* a) { return e().unary(op, a); }); };
  auto op2 = [&](Op op) { map2(floats(0), floats(1), [&](Value* a, Value* b) { return e().binary(op, a, b); }); };
  auto int2 = [&](Op op) { map2(ints(0), ints(1), [&](Value* a, Value* b) { return e().binary(op, a, b); }); };
  auto intClamp = [&](Op low, Op high) {
    map3(ints(0), ints(1), ints(2),
         [&](Value* x, Value* lo, Value* hi) { return e().binary(high, e().binary(low, x, lo), hi); });
  };
  auto real = [&](ir::Type t, double v) { return e().real(t, v); };
  auto mul = [&](Value* a, Value* b) { return e().binary(Op::FMul, a, b); };
  auto add = [&](Value* a, Value* b) { return e().binary(Op::FAdd, a, b); };
  auto sub = [&](Value* a, Value* b) { return e().binary(Op::FSub, a, b); };
  auto length = [&](Leaves v) { return v.size() == 1 ? e().unary(Op::FAbs, v[0]) : e().unary(Op::FSqrt, dot(v, v)); };
  auto storeTo = [&](uint32_t pointerId, Leaves leaves) { store(*pointer(pointerId), leaves); };
  auto one = [&](Value* v) { done(std::initializer_list<Value*>{v}); };
  auto wordOf = [&](uint32_t i) {
    const Leaves v = ints(i);
    if (v.size() != 1 || v[0]->type != ir::kI32) failInvalid("operation on a wrong type");
    return v[0];
  };
  auto vectorOf = [&](uint32_t i, size_t n) {
    const Leaves v = floats(i);
    if (v.size() != n || v[0]->type != ir::kF32) failInvalid("operation on a wrong type");
    return v;
  };
  auto squareSize = [&](Leaves m) -> uint32_t {
    const uint32_t n = m.size() == 4 ? 2 : m.size() == 9 ? 3 : m.size() == 16 ? 4 : 0;
    if (n == 0) failInvalid("a square matrix is expected");
    return n;
  };
  auto unpack = [&](uint32_t n, uint32_t bits, bool isSigned) {
    std::span<Value*> out = allocate(n);
    unpackNorm(wordOf(0), bits, isSigned, out);
    done(out);
  };

  switch (code) {
    case GLSLstd450Round:  // ties may go either way
    case GLSLstd450RoundEven:
      return op1(Op::FRoundEven);
    case GLSLstd450Trunc:
      return op1(Op::FTrunc);
    case GLSLstd450FAbs:
      return op1(Op::FAbs);
    case GLSLstd450Floor:
      return op1(Op::FFloor);
    case GLSLstd450Ceil:
      return op1(Op::FCeil);
    case GLSLstd450Sin:
      return op1(Op::FSin);
    case GLSLstd450Cos:
      return op1(Op::FCos);
    case GLSLstd450Tan:
      return op1(Op::FTan);
    case GLSLstd450Asin:
      return op1(Op::FAsin);
    case GLSLstd450Acos:
      return op1(Op::FAcos);
    case GLSLstd450Atan:
      return op1(Op::FAtan);
    case GLSLstd450Sinh:
      return op1(Op::FSinh);
    case GLSLstd450Cosh:
      return op1(Op::FCosh);
    case GLSLstd450Tanh:
      return op1(Op::FTanh);
    case GLSLstd450Asinh:
      return op1(Op::FAsinh);
    case GLSLstd450Acosh:
      return op1(Op::FAcosh);
    case GLSLstd450Atanh:
      return op1(Op::FAtanh);
    case GLSLstd450Atan2:
      return op2(Op::FAtan2);
    case GLSLstd450Pow:
      return op2(Op::FPow);
    case GLSLstd450Exp:
      return op1(Op::FExp);
    case GLSLstd450Log:
      return op1(Op::FLog);
    case GLSLstd450Exp2:
      return op1(Op::FExp2);
    case GLSLstd450Log2:
      return op1(Op::FLog2);
    case GLSLstd450Sqrt:
      return op1(Op::FSqrt);
    case GLSLstd450InverseSqrt:
      return op1(Op::FInverseSqrt);
    case GLSLstd450SAbs:
      return map1(ints(0),
                  [&](Value* a) { return e().binary(Op::SMax, a, e().binary(Op::ISub, e().integer(a->type, 0), a)); });
    case GLSLstd450FSign:
      return map1(floats(0), [&](Value* a) {
        Value* zero = real(a->type, 0.0);
        Value* below = e().select(e().compare(Op::FOLt, a, zero), real(a->type, -1.0), a);
        return e().select(e().compare(Op::FOLt, zero, a), real(a->type, 1.0), below);
      });
    case GLSLstd450SSign:
      return map1(ints(0), [&](Value* a) {
        return e().binary(Op::SMax, e().binary(Op::SMin, a, e().integer(a->type, 1)), e().integer(a->type, ~0ull));
      });
    case GLSLstd450Fract:
      return map1(floats(0), [&](Value* a) { return sub(a, e().unary(Op::FFloor, a)); });
    case GLSLstd450Radians:
      return map1(floats(0), [&](Value* a) { return mul(a, real(a->type, 0.017453292519943295)); });
    case GLSLstd450Degrees:
      return map1(floats(0), [&](Value* a) { return mul(a, real(a->type, 57.295779513082323)); });
    case GLSLstd450Determinant: {
      const Leaves m = floats(0);
      return one(determinant(m, squareSize(m)));
    }
    case GLSLstd450MatrixInverse: {
      const Leaves m = floats(0);
      std::span<Value*> out = allocate(m.size());
      inverse(m, squareSize(m), out);
      return done(out);
    }
    case GLSLstd450Modf:
    case GLSLstd450ModfStruct: {
      const Leaves x = floats(0);
      std::span<Value*> parts = allocate(2 * x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        Value* whole = e().unary(Op::FTrunc, x[i]);
        // An infinity has no fraction.
        Value* infinite = e().compare(Op::FOEq, e().unary(Op::FAbs, x[i]), real(x[i]->type, __builtin_inf()));
        parts[i] = e().select(infinite, real(x[i]->type, 0.0), sub(x[i], whole));
        parts[x.size() + i] = whole;
      }
      if (code == GLSLstd450ModfStruct) return done(parts);
      storeTo(id(1), parts.subspan(x.size()));
      return done(parts.first(x.size()));
    }
    case GLSLstd450FMin:
      return op2(Op::FMin);
    case GLSLstd450FMax:
      return op2(Op::FMax);
    case GLSLstd450NMin:
      return map2(floats(0), floats(1), [&](Value* a, Value* b) { return nmin(a, b); });
    case GLSLstd450NMax:
      return map2(floats(0), floats(1), [&](Value* a, Value* b) { return nmax(a, b); });
    case GLSLstd450UMin:
      return int2(Op::UMin);
    case GLSLstd450SMin:
      return int2(Op::SMin);
    case GLSLstd450UMax:
      return int2(Op::UMax);
    case GLSLstd450SMax:
      return int2(Op::SMax);
    case GLSLstd450FClamp:
      return map3(floats(0), floats(1), floats(2), [&](Value* x, Value* lo, Value* hi) { return fclamp(x, lo, hi); });
    case GLSLstd450NClamp:
      return map3(floats(0), floats(1), floats(2),
                  [&](Value* x, Value* lo, Value* hi) { return nmin(nmax(x, lo), hi); });
    case GLSLstd450UClamp:
      return intClamp(Op::UMax, Op::UMin);
    case GLSLstd450SClamp:
      return intClamp(Op::SMax, Op::SMin);
    case GLSLstd450FMix:
      return map3(floats(0), floats(1), floats(2),
                  [&](Value* x, Value* y, Value* a) { return add(mul(x, sub(real(a->type, 1.0), a)), mul(y, a)); });
    case GLSLstd450Step:
      return map2(floats(0), floats(1), [&](Value* edge, Value* x) {
        return e().select(e().compare(Op::FOLt, x, edge), real(x->type, 0.0), real(x->type, 1.0));
      });
    case GLSLstd450SmoothStep:
      return map3(floats(0), floats(1), floats(2), [&](Value* lo, Value* hi, Value* x) {
        const ir::Type t = x->type;
        Value* s = e().binary(Op::FDiv, sub(x, lo), sub(hi, lo));
        s = fclamp(s, real(t, 0.0), real(t, 1.0));
        return mul(mul(s, s), sub(real(t, 3.0), mul(real(t, 2.0), s)));
      });
    case GLSLstd450Fma:
      return map3(floats(0), floats(1), floats(2),
                  [&](Value* a, Value* b, Value* c) { return e().ternary(Op::FFma, a, b, c); });
    case GLSLstd450Frexp:
    case GLSLstd450FrexpStruct: {
      const Leaves x = floats(0);
      const bool asStruct = code == GLSLstd450FrexpStruct;
      const ir::Type t =
          asStruct ? leafType(result, static_cast<uint32_t>(x.size())) : leafType(type(pointer(id(1))->type), 0);
      std::span<Value*> parts = allocate(2 * x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        parts[i] = e().unary(Op::FFrexpSig, x[i]);
        parts[x.size() + i] = resizeInt(e().convert(Op::FFrexpExp, ir::kI32, x[i]), t, true);
      }
      if (asStruct) return done(parts);
      storeTo(id(1), parts.subspan(x.size()));
      return done(parts.first(x.size()));
    }
    case GLSLstd450Ldexp: {
      const Leaves x = floats(0), exponent = ints(1);
      if (x.size() != exponent.size()) failInvalid("operation on different sizes");
      std::span<Value*> out = allocate(x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        Value* n = exponent[i];
        if (n->type == ir::kI64) {
          n = e().binary(Op::SMax, e().binary(Op::SMin, n, e().integer(ir::kI64, 100'000)),
                         e().integer(ir::kI64, static_cast<uint64_t>(-100'000ll)));
        }
        out[i] = e().binary(Op::FLdexp, x[i], resizeInt(n, ir::kI32, true));
      }
      return done(out);
    }
    case GLSLstd450PackSnorm4x8:
      return one(packNorm(vectorOf(0, 4), 8, true));
    case GLSLstd450PackUnorm4x8:
      return one(packNorm(vectorOf(0, 4), 8, false));
    case GLSLstd450PackSnorm2x16:
      return one(packNorm(vectorOf(0, 2), 16, true));
    case GLSLstd450PackUnorm2x16:
      return one(packNorm(vectorOf(0, 2), 16, false));
    case GLSLstd450PackHalf2x16: {
      const Leaves v = vectorOf(0, 2);
      auto half = [&](Value* x) {
        return e().convert(Op::ZExt, ir::kI32, e().bitcast(ir::kI16, e().convert(Op::FConvert, ir::kF16, x)));
      };
      return one(e().binary(Op::Or, half(v[0]), e().binary(Op::Shl, half(v[1]), e().i32(16))));
    }
    case GLSLstd450PackDouble2x32: {
      const Leaves v = ints(0);
      if (v.size() != 2 || v[0]->type != ir::kI32) failInvalid("operation on a wrong type");
      Value* hi = e().binary(Op::Shl, e().convert(Op::ZExt, ir::kI64, v[1]), e().integer(ir::kI64, 32));
      return one(e().bitcast(ir::kF64, e().binary(Op::Or, e().convert(Op::ZExt, ir::kI64, v[0]), hi)));
    }
    case GLSLstd450UnpackSnorm2x16:
      return unpack(2, 16, true);
    case GLSLstd450UnpackUnorm2x16:
      return unpack(2, 16, false);
    case GLSLstd450UnpackSnorm4x8:
      return unpack(4, 8, true);
    case GLSLstd450UnpackUnorm4x8:
      return unpack(4, 8, false);
    case GLSLstd450UnpackHalf2x16: {
      Value* word = wordOf(0);
      auto half = [&](Value* w) {
        return e().convert(Op::FConvert, ir::kF32, e().bitcast(ir::kF16, e().convert(Op::Trunc, ir::kI16, w)));
      };
      return done(std::initializer_list<Value*>{half(word), half(e().binary(Op::UShr, word, e().i32(16)))});
    }
    case GLSLstd450UnpackDouble2x32: {
      const Leaves v = floats(0);
      if (v.size() != 1 || v[0]->type != ir::kF64) failInvalid("operation on a wrong type");
      Value* bits = e().bitcast(ir::kI64, v[0]);
      return done(std::initializer_list<Value*>{
          e().convert(Op::Trunc, ir::kI32, bits),
          e().convert(Op::Trunc, ir::kI32, e().binary(Op::UShr, bits, e().integer(ir::kI64, 32)))});
    }
    case GLSLstd450Length:
      return one(length(floats(0)));
    case GLSLstd450Distance: {
      const Leaves a = floats(0), b = floats(1);
      agree(a, b);
      std::span<Value*> d = allocate(a.size());
      for (size_t i = 0; i < d.size(); ++i) d[i] = sub(a[i], b[i]);
      return one(length(d));
    }
    case GLSLstd450Cross: {
      const Leaves a = floats(0), b = floats(1);
      agree(a, b);
      if (a.size() != 3) failInvalid("operation on a wrong type");
      auto part = [&](uint32_t i, uint32_t j) { return sub(mul(a[i], b[j]), mul(b[i], a[j])); };
      return done(std::initializer_list<Value*>{part(1, 2), part(2, 0), part(0, 1)});
    }
    case GLSLstd450Normalize: {
      const Leaves v = floats(0);
      Value* scale = e().unary(Op::FInverseSqrt, dot(v, v));
      return map1(v, [&](Value* a) { return mul(a, scale); });
    }
    case GLSLstd450FaceForward: {
      const Leaves n = floats(0), i = floats(1), reference = floats(2);
      agree(n, i);
      agree(n, reference);
      Value* front = e().compare(Op::FOLt, dot(reference, i), real(n[0]->type, 0.0));
      return map1(n, [&](Value* a) { return e().select(front, a, e().unary(Op::FNeg, a)); });
    }
    case GLSLstd450Reflect: {
      const Leaves i = floats(0), n = floats(1);
      agree(i, n);
      Value* twice = mul(real(i[0]->type, 2.0), dot(n, i));
      return map2(i, n, [&](Value* a, Value* b) { return sub(a, mul(twice, b)); });
    }
    case GLSLstd450Refract: {
      const Leaves i = floats(0), n = floats(1);
      agree(i, n);
      const ir::Type t = i[0]->type;
      Value* eta = floats(2)[0];
      if (eta->type != t) eta = e().convert(Op::FConvert, t, eta);
      Value* d = dot(n, i);
      Value* k = sub(real(t, 1.0), mul(mul(eta, eta), sub(real(t, 1.0), mul(d, d))));
      Value* total = e().compare(Op::FOLt, k, real(t, 0.0));
      Value* scale = add(mul(eta, d), e().unary(Op::FSqrt, k));
      return map2(i, n,
                  [&](Value* a, Value* b) { return e().select(total, real(t, 0.0), sub(mul(eta, a), mul(scale, b))); });
    }
    case GLSLstd450FindILsb:
      return map1(ints(0), [&](Value* a) {
        return e().select(e().compare(Op::IEq, a, e().integer(a->type, 0)), e().integer(a->type, ~0ull),
                          e().unary(Op::CountTrailingZeros, a));
      });
    case GLSLstd450FindUMsb:
      return map1(ints(0), [&](Value* a) { return findUMsb(a); });
    case GLSLstd450FindSMsb:  // the highest bit that differs from the sign
      return map1(ints(0), [&](Value* a) {
        Value* sign = e().binary(Op::SShr, a, e().integer(a->type, ir::kindBits(a->type.kind) - 1));
        return findUMsb(e().binary(Op::Xor, a, sign));
      });
    default:
      failUnsupported("extended instruction " + std::to_string(code));
  }
}

}  // namespace pumice::shader::spirv
