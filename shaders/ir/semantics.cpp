#include "shaders/ir/semantics.h"

#include <bit>
#include <cassert>
#include <cmath>

namespace pumice::shader::ir {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

struct Format {
  int significandBits;  // without the hidden one
  int bias;
};

Format formatOf(Kind k) {
  switch (k) {
    case Kind::kF16:
      return {10, 15};
    case Kind::kF32:
      return {23, 127};
    default:
      return {52, 1023};
  }
}

// Rounds (-1)^negative * significand * 2^exponent to the format. Overflow: infinity, or the largest finite value when
// rounding to zero; gradual underflow.
uint64_t pack(Kind kind, bool negative, uint64_t significand, int exponent, Rounding rounding) {
  const Format f = formatOf(kind);
  const uint64_t sign = negative ? 1ull << (kindBits(kind) - 1) : 0;
  if (significand == 0) return sign;

  // Bring the leading one to bit 63; the value is now significand * 2^exponent with 64 significant bits.
  const int shift = std::countl_zero(significand);
  significand <<= shift;
  exponent -= shift;
  const int minExponent = 1 - f.bias;  // of normal values
  int valueExponent = exponent + 63;   // of the leading one
  int keep = f.significandBits + 1;    // bits that survive
  if (valueExponent < minExponent) keep -= minExponent - valueExponent;

  uint64_t kept = 0;
  bool half = false, rest = false;  // the first bit dropped, and whether any other dropped bit is set
  if (keep > 0) {
    kept = keep == 64 ? significand : significand >> (64 - keep);
    const uint64_t dropped = significand << keep;
    half = (dropped >> 63) != 0;
    rest = (dropped << 1) != 0;
  } else {
    half = keep == 0;  // the leading one is exactly the first dropped bit
    rest = keep < 0 || (significand << 1) != 0;
  }
  if (rounding == Rounding::kNearestEven && half && (rest || (kept & 1) != 0)) kept++;

  // A carry out of the significand moves into the exponent field by itself, from denormal to normal as well.
  uint64_t bits;
  if (valueExponent < minExponent) {
    bits = kept;
  } else {
    const uint64_t hidden = 1ull << f.significandBits;
    bits = (static_cast<uint64_t>(valueExponent + f.bias) << f.significandBits) + (kept - hidden);
    if (bits >= infinityBits(kind)) bits = rounding == Rounding::kToZero ? infinityBits(kind) - 1 : infinityBits(kind);
  }
  return sign | bits;
}

int64_t signExtend(Kind k, uint64_t bits) {
  const uint32_t drop = 64 - kindBits(k);
  return static_cast<int64_t>(bits << drop) >> drop;
}

uint64_t bitReverse(uint64_t v, uint32_t n) {
  uint64_t r = 0;
  for (uint32_t i = 0; i < n; i++) r |= ((v >> i) & 1) << (n - 1 - i);
  return r;
}

std::optional<uint64_t> evaluateInteger(Op op, Kind k, uint64_t a, uint64_t b) {
  const uint32_t n = kindBits(k);
  const uint64_t mask = kindMask(k);
  const int64_t sa = signExtend(k, a), sb = signExtend(k, b);
  switch (op) {
    case Op::IAdd:
      return (a + b) & mask;
    case Op::ISub:
      return (a - b) & mask;
    case Op::IMul:
      return (a * b) & mask;
    case Op::UMulHi:
      return static_cast<uint64_t>((static_cast<Uint128>(a) * b) >> n) & mask;
    case Op::SMulHi:
      return static_cast<uint64_t>((static_cast<Int128>(sa) * sb) >> n) & mask;
    case Op::UDiv:
      return b == 0 ? mask : a / b;
    case Op::SDiv:
      if (b == 0) return mask;
      if (b == mask) return (0 - a) & mask;  // -1: also where the quotient overflows
      return static_cast<uint64_t>(sa / sb) & mask;
    case Op::URem:
      return b == 0 ? a : a % b;
    case Op::SRem:
      if (b == 0) return a;
      if (b == mask) return 0;
      return static_cast<uint64_t>(sa % sb) & mask;
    case Op::Shl:
      return (a << (b & (n - 1))) & mask;
    case Op::UShr:
      return a >> (b & (n - 1));
    case Op::SShr:
      return static_cast<uint64_t>(sa >> (b & (n - 1))) & mask;
    case Op::UMin:
      return a < b ? a : b;
    case Op::UMax:
      return a > b ? a : b;
    case Op::SMin:
      return sa < sb ? a : b;
    case Op::SMax:
      return sa > sb ? a : b;
    case Op::BitCount:
      return static_cast<uint64_t>(std::popcount(a));
    case Op::BitReverse:
      return bitReverse(a, n);
    case Op::CountLeadingZeros:
      return static_cast<uint64_t>(std::countl_zero(a)) - (64 - n);
    case Op::CountTrailingZeros:
      return a == 0 ? n : static_cast<uint64_t>(std::countr_zero(a));
    case Op::ULt:
      return a < b;
    case Op::ULe:
      return a <= b;
    case Op::SLt:
      return sa < sb;
    case Op::SLe:
      return sa <= sb;
    default:
      return std::nullopt;
  }
}

// Arithmetic in F (float or double); F16 uses float.
template <typename F>
std::optional<F> evaluateFloat(Op op, F a, F b, F c) {
  switch (op) {
    case Op::FAdd:
      return a + b;
    case Op::FSub:
      return a - b;
    case Op::FMul:
      return a * b;
    case Op::FDiv:
      return a / b;
    case Op::FFma:
      return std::fma(a, b, c);
    case Op::FSqrt:
      return std::sqrt(a);
    case Op::FFloor:
      return std::floor(a);
    case Op::FCeil:
      return std::ceil(a);
    case Op::FTrunc:
      return std::trunc(a);
    case Op::FRoundEven:
      return std::nearbyint(a);
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> compareFloat(Op op, double a, double b) {
  switch (op) {
    case Op::FOEq:
      return a == b;
    case Op::FONe:
      return a < b || a > b;
    case Op::FOLt:
      return a < b;
    case Op::FOLe:
      return a <= b;
    case Op::FUEq:
      return !(a < b || a > b);
    case Op::FUNe:
      return a != b;
    case Op::FULt:
      return !(a >= b);
    case Op::FULe:
      return !(a > b);
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> evaluateFloatBits(Op op, Kind k, uint64_t a, uint64_t b, uint64_t c) {
  const uint64_t sign = 1ull << (kindBits(k) - 1);
  switch (op) {
    case Op::FNeg:
      return a ^ sign;
    case Op::FAbs:
      return a & ~sign;
    case Op::FMin:
      return toDouble(k, a) < toDouble(k, b) ? a : b;
    case Op::FMax:
      return toDouble(k, a) > toDouble(k, b) ? a : b;
    case Op::FScale:
      // Exact in F64, then rounded once.
      assert(std::isnan(toDouble(k, a)) || std::fabs(toDouble(k, b)) <= 160);
      return fromDouble(k, std::ldexp(toDouble(k, a), static_cast<int>(toDouble(k, b))));
    default:
      break;
  }
  if (const auto truth = compareFloat(op, toDouble(k, a), toDouble(k, b))) return truth;
  if (k == Kind::kF64) {
    const auto r =
        evaluateFloat<double>(op, std::bit_cast<double>(a), std::bit_cast<double>(b), std::bit_cast<double>(c));
    if (!r) return std::nullopt;
    return std::bit_cast<uint64_t>(*r);
  }
  if (k == Kind::kF16 && op == Op::FFma) {
    // Exact in F64 wherever a tie in F16 is near: the product has 22 bits and all exponents are above -49.
    return fromDouble(k, std::fma(toDouble(k, a), toDouble(k, b), toDouble(k, c)));
  }
  const auto narrow = [k](uint64_t bits) { return static_cast<float>(toDouble(k, bits)); };
  const auto r = evaluateFloat<float>(op, narrow(a), narrow(b), narrow(c));
  if (!r) return std::nullopt;
  if (k == Kind::kF32) return std::bit_cast<uint32_t>(*r);
  return fromDouble(k, static_cast<double>(*r));
}

uint64_t floatToInteger(double v, Kind to, bool isSigned) {
  if (std::isnan(v)) return 0;
  const int n = static_cast<int>(kindBits(to));
  v = std::trunc(v);
  if (isSigned) {
    const double limit = std::ldexp(1.0, n - 1);
    if (v >= limit) return kindMask(to) >> 1;
    if (v < -limit) return 1ull << (n - 1);
    return static_cast<uint64_t>(static_cast<int64_t>(v)) & kindMask(to);
  }
  if (v <= 0) return 0;
  if (v >= std::ldexp(1.0, n)) return kindMask(to);
  return static_cast<uint64_t>(v);
}

std::optional<uint64_t> evaluateConversion(Op op, Kind from, Kind to, uint64_t a) {
  switch (op) {
    case Op::SExt:
      return static_cast<uint64_t>(signExtend(from, a)) & kindMask(to);
    case Op::ZExt:
    case Op::Bitcast:
      return a;
    case Op::Trunc:
      return a & kindMask(to);
    case Op::FToS:
      return floatToInteger(toDouble(from, a), to, true);
    case Op::FToU:
      return floatToInteger(toDouble(from, a), to, false);
    case Op::SToF: {
      const int64_t v = signExtend(from, a);
      return pack(to, v < 0, v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v), 0,
                  Rounding::kNearestEven);
    }
    case Op::UToF:
      return pack(to, false, a, 0, Rounding::kNearestEven);
    case Op::FConvert:
      return fromDouble(to, toDouble(from, a), Rounding::kNearestEven);
    case Op::FConvertRtz:
      return fromDouble(to, toDouble(from, a), Rounding::kToZero);
    default:
      return std::nullopt;
  }
}

}  // namespace

double toDouble(Kind kind, uint64_t bits) {
  if (kind == Kind::kF64) return std::bit_cast<double>(bits);
  if (kind == Kind::kF32) return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  const uint64_t sign = (bits & 0x8000) << 48;
  const uint64_t exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0x1f) {
    const uint64_t quiet = fraction != 0 ? 1ull << 51 : 0;
    return std::bit_cast<double>(sign | infinityBits(Kind::kF64) | quiet | fraction << 42);
  }
  if (exponent == 0) {
    const double magnitude = static_cast<double>(fraction) * 0x1p-24;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<double>(sign | (exponent + 1023 - 15) << 52 | fraction << 42);
}

uint64_t fromDouble(Kind kind, double value, Rounding rounding) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  if (kind == Kind::kF64) return bits;
  const bool negative = bits >> 63 != 0;
  const uint64_t exponent = (bits >> 52) & 0x7ff, fraction = bits & ((1ull << 52) - 1);
  if (exponent == 0x7ff) {
    const Format f = formatOf(kind);
    uint64_t r = infinityBits(kind) | (negative ? 1ull << (kindBits(kind) - 1) : 0);
    if (fraction != 0) r |= 1ull << (f.significandBits - 1) | fraction >> (52 - f.significandBits);
    return r;
  }
  if (exponent == 0) return pack(kind, negative, fraction, -1074, rounding);
  return pack(kind, negative, fraction | 1ull << 52, static_cast<int>(exponent) - 1075, rounding);
}

std::optional<uint64_t> evaluate(Op op, Kind operandKind, Kind resultKind, std::span<const uint64_t> operands) {
  const uint64_t a = operands.empty() ? 0 : operands[0];
  const uint64_t b = operands.size() < 2 ? 0 : operands[1];
  const uint64_t c = operands.size() < 3 ? 0 : operands[2];
  const Type type{operandKind, 1};

  switch (op) {
    case Op::Select:
      return a != 0 ? b : c;
    case Op::FragmentInput:
      return a;
    case Op::And:
      return a & b;
    case Op::Or:
      return a | b;
    case Op::Xor:
      return a ^ b;
    case Op::Not:
      return ~a & kindMask(operandKind);
    case Op::IEq:
      return a == b;
    case Op::INe:
      return a != b;
    default:
      break;
  }
  if (const auto r = evaluateConversion(op, operandKind, resultKind, a)) return r;
  if (type.isInt()) return evaluateInteger(op, operandKind, a, b);
  if (type.isFloat()) return evaluateFloatBits(op, operandKind, a, b, c);
  return std::nullopt;
}

Op reduceStep(ReduceOp op) {
  switch (op) {
    case ReduceOp::kIAdd:
      return Op::IAdd;
    case ReduceOp::kIMul:
      return Op::IMul;
    case ReduceOp::kUMin:
      return Op::UMin;
    case ReduceOp::kUMax:
      return Op::UMax;
    case ReduceOp::kSMin:
      return Op::SMin;
    case ReduceOp::kSMax:
      return Op::SMax;
    case ReduceOp::kAnd:
      return Op::And;
    case ReduceOp::kOr:
      return Op::Or;
    case ReduceOp::kXor:
      return Op::Xor;
    case ReduceOp::kFAdd:
      return Op::FAdd;
    case ReduceOp::kFMul:
      return Op::FMul;
    case ReduceOp::kFMin:
      return Op::FMin;
    case ReduceOp::kFMax:
      return Op::FMax;
  }
  return Op::kCount;
}

uint64_t reduceIdentity(ReduceOp op, Kind kind) {
  const uint64_t mask = kindMask(kind);
  const uint64_t sign = 1ull << (kindBits(kind) - 1);
  switch (op) {
    case ReduceOp::kIAdd:
    case ReduceOp::kUMax:
    case ReduceOp::kOr:
    case ReduceOp::kXor:
    case ReduceOp::kFAdd:
      return 0;
    case ReduceOp::kIMul:
      return 1;
    case ReduceOp::kUMin:
    case ReduceOp::kAnd:
      return mask;
    case ReduceOp::kSMin:
      return mask ^ sign;
    case ReduceOp::kSMax:
      return sign;
    case ReduceOp::kFMul:
      return fromDouble(kind, 1.0);
    case ReduceOp::kFMin:
      return infinityBits(kind);
    case ReduceOp::kFMax:
      return infinityBits(kind) | sign;
  }
  return 0;
}

bool reduceAccepts(ReduceOp op, Kind kind) {
  const Type type{kind, 1};
  if (op >= ReduceOp::kFAdd) return type.isFloat();
  if (op >= ReduceOp::kAnd) return type.isInt() || type.isBool();
  return type.isInt();
}

}  // namespace pumice::shader::ir
