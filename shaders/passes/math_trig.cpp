// Circular functions and their inverses. Polynomials are minimax fits (Remez, relative error), rounded to F32.
#include <array>

#include "shaders/passes/math_expansions.h"

namespace pumice::shader::passes {
namespace {

using ir::Op;

constexpr double kRoundMagic = 12582912.0;  // 1.5 * 2^23
constexpr double kPi = 0x1.921fb6p+1, kHalfPi = 0x1.921fb6p+0;
constexpr double kInversePi = 0x1.45f306p-2;
// pi in three F32 parts. With fused multiply-add the first step is exact, the next two leave 2^-24 of the result.
constexpr double kPi1 = 0x1.921fb6p+1, kPi2 = -0x1.777a5cp-24, kPi3 = -0x1.ee59dap-49;

// (sin r - r) / r^3 by r^2 on [-pi/2, pi/2]. Found by a search near the minimax fit, so that the computed sine exceeds
// 1 for no F32 argument and is 1 at pi/2 (cos 0 = 1): 1.6 ulp with all roundings.
constexpr std::array kSin = {-0x1.555544p-3, 0x1.110e9cp-7, -0x1.9f707ep-13, 0x1.5dcec4p-19};
// (atan t - t) / t^3 by t^2 on [0, 1]: 1.7e-8 of atan t.
constexpr std::array kAtan = {-0x1.5554dcp-2, 0x1.9978ecp-3, -0x1.230a94p-3, 0x1.b4deb2p-4,
                              -0x1.3550e6p-4, 0x1.61eee4p-5, -0x1.0c1834p-6, 0x1.7ea792p-9};
// (asin s - s) / s^3 by s^2 on [0, 0.5]: 4.9e-9 of asin s.
constexpr std::array kAsin = {0x1.5555c8p-3, 0x1.330204p-4, 0x1.747bb8p-5, 0x1.8c3e5p-6, 0x1.595c62p-5};

// x - n * pi, n an integer or half of one, at most about 2^21; then into a range where the polynomial stays below 1 in
// magnitude whatever x was. NaN (also from infinity) passes.
Num reduceByPi(Num x, Num n) {
  Num r = fma(n, like(x, -kPi1), x);
  r = fma(n, like(x, -kPi2), r);
  r = fma(n, like(x, -kPi3), r);
  return atLeast(-2.0, atMost(2.0, r));
}

Num sinOfReduced(Num r) {
  const Num z = r * r;
  return fma(r * z, polynomial(z, kSin), r);
}

Num atanOfReduced(Num t) {
  const Num z = t * t;
  return fma(t * z, polynomial(z, kAtan), t);
}

struct AsinParts {
  Num large;   // Bool: |x| > 0.5
  Num result;  // asin |x|, or asin sqrt((1 - |x|) / 2) if large; NaN for |x| > 1
};
AsinParts asinParts(Num x) {
  const Num a = abs(x);
  const Num large = greater(a, 0.5);
  const Num z = select(large, fma(a, like(x, -0.5), like(x, 0.5)), a * a);
  const Num s = select(large, sqrt(z), a);
  return {large, fma(s * z, polynomial(z, kAsin), s)};
}

}  // namespace

Num expandSin(Num x) {
  const Num a = abs(x);  // keeps the sign of a zero
  const Num rounded = fma(a, like(x, kInversePi), like(x, kRoundMagic));
  const Num r = sinOfReduced(reduceByPi(a, rounded - kRoundMagic));
  const Num odd = integer(Op::Shl, toBits(rounded), 31);
  const Num sign = integer(Op::And, binary(Op::Xor, toBits(x), odd), 0x80000000u);
  return xorBits(r, sign);
}

// cos x = -sin(x - pi/2) = (-1)^(k+1) sin(x - (k + 1/2) pi): near its zeros the reduced argument is exact, too.
Num expandCos(Num x) {
  const Num rounded = fma(x, like(x, kInversePi), like(x, -0.5)) + kRoundMagic;
  const Num n = (rounded - kRoundMagic) + 0.5;
  const Num r = sinOfReduced(reduceByPi(x, n));
  const Num even = integer(Op::Xor, integer(Op::Shl, toBits(rounded), 31), 0x80000000u);
  return xorBits(r, even);
}

Num expandTan(Num x) {
  return expandSin(x) / expandCos(x);
}

Num expandAsin(Num x) {
  const AsinParts p = asinParts(x);
  const Num r = select(p.large, fma(p.result, like(x, -2.0), like(x, kHalfPi)), p.result);
  return xorBits(r, signBits(x));
}

Num expandAcos(Num x) {
  const AsinParts p = asinParts(x);
  const Num twice = p.result + p.result;
  const Num ofLarge = select(less(x, 0.0), kPi - twice, twice);
  const Num ofSmall = kHalfPi - xorBits(p.result, signBits(x));
  return select(p.large, ofLarge, ofSmall);
}

Num expandAtan(Num x) {
  const Num a = abs(x);
  const Num large = greater(a, 1.0);
  const Num t = select(large, like(x, -1.0), a) / select(large, a, like(x, 1.0));
  const Num r = atanOfReduced(t) + select(large, like(x, kHalfPi), like(x, 0.0));
  return xorBits(r, signBits(x));
}

Num expandAtan2(Num y, Num x) {
  const Num ax = abs(x), ay = abs(y);
  const Num steep = less(ax, ay);
  const Num divisor = select(steep, ay, ax);
  Num t = select(steep, -ax, ay) / divisor;
  t = select(binary(Op::FOEq, ax, ay), like(x, 1.0), t);  // two infinities
  t = select(equal(divisor, 0.0), ay, t);                 // two zeros, or y is NaN
  Num r = atanOfReduced(t) + select(steep, like(x, kHalfPi), like(x, 0.0));
  // By the sign bit, so that -0 counts as negative.
  const Num left = integer(Op::INe, signBits(x), 0);
  r = select(left, kPi - r, r);
  return xorBits(r, signBits(y));
}

}  // namespace pumice::shader::passes
