// Operations on exponents and remainders, for F32 and F64.
#include "shaders/passes/math_expansions.h"

namespace pumice::shader::passes {
namespace {

using ir::Op;

struct Layout {
  int fractionBits, bias;
  double minNormal;
  double toNormal;  // times a denormal gives a normal number …
  int toNormalLog2;
  uint64_t exponentMask() const { return (2ull * static_cast<uint64_t>(bias) + 1) << fractionBits; }
};

Layout layoutOf(Num x) {
  if (x.kind() == ir::Kind::kF64) return {52, 1023, 0x1p-1022, 0x1p54, 54};
  return {23, 127, 0x1p-126, 0x1p25, 25};
}

// x = significand * 2^exponent for finite x != 0, the significand in [1, 2) with x's sign.
struct Parts {
  Num significand;
  Num exponent;  // integer of x's size
  Num ordinary;  // Bool: finite and not zero
};
Parts split(Num x) {
  const Layout f = layoutOf(x);
  const Num a = abs(x);
  const Num denormal = less(a, f.minNormal);
  const Num bits = toBits(select(denormal, x * f.toNormal, x));
  const Num field = integer(Op::And, integer(Op::UShr, bits, static_cast<uint64_t>(f.fractionBits)),
                            f.exponentMask() >> f.fractionBits);
  const uint64_t bias = static_cast<uint64_t>(f.bias);
  const Num offset =
      select(denormal, bitsLike(bits, bias + static_cast<uint64_t>(f.toNormalLog2)), bitsLike(bits, bias));
  const Num one =
      integer(Op::Or, integer(Op::And, bits, ~f.exponentMask() & (signMask(x.kind()) * 2 - 1)), bias << f.fractionBits);
  const Num finite = less(a, std::bit_cast<double>(0x7ffull << 52));
  const Num notZero = greater(a, 0.0);
  return {fromBits(one), binary(Op::ISub, field, offset), binary(Op::And, finite, notZero)};
}

}  // namespace

Num expandInverseSqrt(Num x) {
  return like(x, 1.0) / sqrt(x);
}

// One rounding: the significand is scaled exactly as far as normal numbers go, then by one more power of two.
Num expandLdexp(Num x, Num exponent) {
  const Layout f = layoutOf(x);
  const Parts p = split(x);
  const auto clampTo = [](Num v, int64_t low, int64_t high) {
    return integer(Op::SMax, integer(Op::SMin, v, static_cast<uint64_t>(high) & (signMask(v.kind()) * 2 - 1)),
                   static_cast<uint64_t>(low) & (signMask(v.kind()) * 2 - 1));
  };
  // No sum below overflows.
  Num e = clampTo(exponent, -8000, 8000);
  if (x.kind() == ir::Kind::kF64) e = {x.builder, x.builder->convert(Op::SExt, ir::kI64, e.value)};
  e = binary(Op::IAdd, p.exponent, e);
  e = clampTo(e, -2 * f.bias, 2 * f.bias);
  const Num high = binary(Op::SLt, bitsLike(e, static_cast<uint64_t>(f.bias)), e);
  const Num low =
      binary(Op::SLt, e, bitsLike(e, (0 - static_cast<uint64_t>(f.bias - 1)) & (signMask(e.kind()) * 2 - 1)));
  const uint64_t shift = static_cast<uint64_t>(f.bias) + 1;
  const Num inRange = select(high, integer(Op::ISub, e, shift), select(low, integer(Op::IAdd, e, shift), e));
  const double up = x.kind() == ir::Kind::kF64 ? 0x1p1023 : 0x1p127;
  const double down = x.kind() == ir::Kind::kF64 ? 0x1p-1024 : 0x1p-128;
  const Num scale = fromBits(integer(Op::Shl, integer(Op::IAdd, inRange, static_cast<uint64_t>(f.bias)),
                                     static_cast<uint64_t>(f.fractionBits)));
  Num r = p.significand * scale;
  r = select(high, r * up * 2.0, select(low, r * down, r));
  return select(p.ordinary, r, x);
}

Num expandFrexpSig(Num x) {
  const Parts p = split(x);
  return select(p.ordinary, p.significand * 0.5, x);
}

Num expandFrexpExp(Num x) {
  const Parts p = split(x);
  Num e = select(p.ordinary, integer(Op::IAdd, p.exponent, 1), bitsLike(p.exponent, 0));
  if (x.kind() == ir::Kind::kF64) e = {x.builder, x.builder->convert(Op::Trunc, ir::kI32, e.value)};
  return e;
}

// The quotient may have been rounded up to an integer that it does not reach; then the remainder has the wrong sign and
// one divisor is missing. Exact while |a / b| is below 2^24 (F64: 2^53).
Num expandRem(Num a, Num b) {
  const Num n = unary(Op::FTrunc, a / b);
  const Num r = fma(-n, b, a);
  const Num divisor = xorBits(abs(b), signBits(a));
  const Num wrong = integer(Op::INe, binary(Op::Xor, signBits(r), signBits(a)), 0);
  // A zero gets the sign of a.
  const Num corrected = select(equal(r, 0.0), xorBits(abs(r), signBits(a)), r + divisor);
  return select(wrong, corrected, r);
}

Num expandMod(Num a, Num b) {
  const Num n = unary(Op::FFloor, a / b);
  const Num r = fma(-n, b, a);
  const Num wrong = integer(Op::INe, binary(Op::Xor, signBits(r), signBits(b)), 0);
  const Num corrected = select(equal(r, 0.0), xorBits(abs(r), signBits(b)), r + b);
  return select(wrong, corrected, r);
}

}  // namespace pumice::shader::passes
