// Exponentials, logarithms and what is made of them. Polynomials are minimax fits (Remez, relative error), rounded to
// F32.
#include <array>
#include <limits>

#include "shaders/passes/math_expansions.h"

namespace pumice::shader::passes {
namespace {

using ir::Op;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits of the pattern.
constexpr double kRoundMagic = 12582912.0;

// 2^f on [-0.5, 0.5]: 6e-9.
constexpr std::array kExp2Fine = {0x1.0p+0,      0x1.62e432p-1,  0x1.ebfbe6p-3, 0x1.c6ada6p-5,
                                  0x1.3b21c6p-7, 0x1.5fbfcap-10, 0x1.4bcae2p-13};
// 2^f there, 1.23e-7, that is one unit in the last place of the three (and more for large arguments) that Vulkan
// allows.
constexpr std::array kExp2 = {0x1.0p+0, 0x1.62e43p-1, 0x1.ebf958p-3, 0x1.c6ad2ap-5, 0x1.3d11bep-7, 0x1.6102c4p-10};
// e^r on [-ln 2 / 2, ln 2 / 2]: 1.22e-7.
constexpr std::array kExp = {0x1.0p+0, 0x1.0p+0, 0x1.fffd5ep-2, 0x1.5552cep-3, 0x1.5764c4p-5, 0x1.13cb94p-7};
// 2 * e^r there: 4.3e-9.
constexpr std::array kTwiceExpFine = {0x1.0p+1,    0x1.0p+1,      0x1.0p+0,     0x1.555466p-2,
                                      0x1.5553p-4, 0x1.1257cep-6, 0x1.6febd4p-9};
// log2(1 + t) / t on [sqrt(1/2) - 1, sqrt(2) - 1]: 4.7e-8.
constexpr std::array kLog2 = {0x1.715476p+0,  -0x1.71547p-1, 0x1.ec73dap-2,  -0x1.715c5p-2, 0x1.26d338p-2,
                              -0x1.e95b34p-3, 0x1.b9cde2p-3, -0x1.a8837cp-3, 0x1.01b232p-3};
// (log2(1 + t) - t log2 e) / t^2, there: 7.6e-9 of log2(1 + t).
constexpr std::array kLog2Rest = {-0x1.71547p-1, 0x1.ec7094p-2,  -0x1.715a82p-2, 0x1.277eaap-2, -0x1.eabaf8p-3,
                                  0x1.a2f238p-3, -0x1.8745bep-3, 0x1.7dcb1ep-3,  -0x1.c3c376p-4};
// ln(1 + t) / t, there: 3.3e-8.
constexpr std::array kLog = {0x1.0p+0,       -0x1.0p-1,     0x1.5556d8p-2,  -0x1.00038p-2, 0x1.98d7f4p-3,
                             -0x1.538256p-3, 0x1.317472p-3, -0x1.24329ap-3, 0x1.645dc4p-4};
// (sinh x - x) / x^3 by x^2 on [0, 1]: 2.4e-8 of sinh x.
constexpr std::array kSinh = {0x1.555598p-3, 0x1.10f76p-7, 0x1.ab428ap-13};
// (tanh x - x) / x^3 by x^2 on [0, 0.625]: 4.6e-9 of tanh x.
constexpr std::array kTanh = {-0x1.555532p-2, 0x1.1106f6p-3, -0x1.b835a4p-5, 0x1.51f91cp-6, -0x1.751148p-8};

constexpr double kLog2E = 0x1.715476p+0, kLog2ELow = 0x1.4ae0cp-26;
constexpr double kLn2High = 0x1.62e43p-1, kLn2Low = -0x1.05c610p-29;

// e^x * 2^-halvings (0 or 1) for x >= 0. The limit gives infinity: a scale of 2^127 and a polynomial above 2.
Num expOfPositive(Num x, int halvings) {
  const double magic = kRoundMagic + 126 - halvings;
  x = atMost(89.0 + 0.6 * halvings, x);
  const Num rounded = fma(x, like(x, kLog2E), like(x, magic));
  const Num k = rounded - magic;
  Num r = fma(k, like(x, -kLn2High), x);
  r = fma(k, like(x, -kLn2Low), r);
  const Num scale = fromBits(integer(Op::Shl, toBits(rounded), 23));
  return polynomial(r, kTwiceExpFine) * scale;
}

// x = 2^exponent * (1 + t), 1 + t in [sqrt(1/2), sqrt(2)); denormals too. Nothing useful for x <= 0, infinity and NaN.
struct LogParts {
  Num exponent, t;
};
LogParts splitForLog(Num x) {
  const Num denormal = less(x, 0x1p-126);
  const Num normal = select(denormal, x * 0x1p23, x);
  const Num correction = select(denormal, like(x, -23.0), like(x, 0.0));
  constexpr uint64_t kSqrtHalf = 0x3f3504f3;
  const Num i = integer(Op::ISub, toBits(normal), kSqrtHalf);
  const Num e = integer(Op::SShr, i, 23);
  const Num exponent = Num{x.builder, x.builder->convert(Op::SToF, ir::kF32, e.value)} + correction;
  const Num m = integer(Op::IAdd, integer(Op::And, i, 0x7fffff), kSqrtHalf);
  return {exponent, fromBits(m) - 1.0};
}

// r where x is positive and finite; -infinity for zeros, infinity for infinity, NaN for the rest.
Num logSpecials(Num x, Num r) {
  r = select(equal(x, kInf), x, r);
  return select(greater(x, 0.0), r, select(equal(x, 0.0), like(x, -kInf), like(x, kNan)));
}

Num logOfPositive(Num x) {
  const LogParts p = splitForLog(x);
  return fma(p.exponent, like(x, kLn2High), p.t * polynomial(p.t, kLog));
}

// To the nearest integer, |x| < 2^22.
Num nearest(Num x) {
  return (x + kRoundMagic) - kRoundMagic;
}

}  // namespace

Num expandExp2(Num x) {
  x = atLeast(-151.0, atMost(129.0, x));
  const Num k = nearest(x);
  return binary(Op::FScale, polynomial(x - k, kExp2), k);
}

Num expandExp(Num x) {
  x = atLeast(-105.0, atMost(89.0, x));
  const Num k = fma(x, like(x, kLog2E), like(x, kRoundMagic)) - kRoundMagic;
  // ln 2 to 24 bits: its error is a fortieth of the 2 |x| units in the last place that Vulkan allows.
  return binary(Op::FScale, polynomial(fma(k, like(x, -kLn2High), x), kExp), k);
}

Num expandLog2(Num x) {
  const LogParts p = splitForLog(x);
  return logSpecials(x, fma(p.t, polynomial(p.t, kLog2), p.exponent));
}

Num expandLog(Num x) {
  return logSpecials(x, logOfPositive(x));
}

// 2^(y log2 x) with a logarithm in two parts, good to 2^-30 or so: a large y magnifies its error.
Num expandPow(Num x, Num y) {
  const LogParts p = splitForLog(x);
  // t log2 e exactly in two parts, then the rest of the series, which is small beside it.
  const Num linear = p.t * kLog2E;
  Num rounding = fma(p.t, like(x, kLog2E), -linear);
  rounding = fma(p.t, like(x, kLog2ELow), rounding);
  const Num small = fma(p.t * p.t, polynomial(p.t, kLog2Rest), rounding);
  const Num sum = p.exponent + linear;
  const Num tail = ((p.exponent - sum) + linear) + small;
  const Num high = sum + tail;
  const Num low = (sum - high) + tail;
  const Num l = logSpecials(x, high);
  const Num product = y * l;
  Num rest = fma(y, l, -product);
  rest = fma(y, low, rest);
  // Beyond the range of results (where the parts may be infinite or NaN) only the product counts.
  rest = select(less(abs(product), 127.5), rest, like(x, 0.0));
  const Num limited = atLeast(-151.0, atMost(129.0, product));
  const Num k = nearest(limited);
  const Num r = binary(Op::FScale, polynomial((limited - k) + rest, kExp2Fine), k);
  // x^0 and 1^y are 1 even for infinities and NaN.
  const Num one = {x.builder, x.builder->binary(Op::Or, equal(y, 0.0).value, equal(x, 1.0).value)};
  return select(one, like(x, 1.0), r);
}

Num expandSinh(Num x) {
  const Num a = abs(x);
  const Num z = a * a;
  const Num small = fma(a * z, polynomial(z, kSinh), a);
  const Num h = expOfPositive(a, 1);
  const Num r = select(less(a, 1.0), small, h - like(x, 0.25) / h);
  return xorBits(r, signBits(x));
}

Num expandCosh(Num x) {
  const Num h = expOfPositive(abs(x), 1);
  return h + like(x, 0.25) / h;
}

Num expandTanh(Num x) {
  const Num a = abs(x);
  const Num z = a * a;
  const Num small = fma(a * z, polynomial(z, kTanh), a);
  const Num e = expOfPositive(a + a, 0);
  const Num large = 1.0 - like(x, 2.0) / (e + 1.0);
  return xorBits(select(less(a, 0.625), small, large), signBits(x));
}

namespace {

// ln(1 + w), w >= 0; where `big`, ln(x) + ln 2 instead. The rounding of 1 + w is made good to first order.
Num log1pOr(Num w, Num big, Num x) {
  const Num sum = w + 1.0;
  const Num lost = (w - (sum - 1.0)) / sum;
  const Num u = select(big, x, sum);
  const Num correction = select(big, like(w, kLn2High), lost);
  return select(equal(u, kInf), u, logOfPositive(u) + correction);
}

}  // namespace

Num expandAsinh(Num x) {
  const Num a = abs(x);
  const Num root = sqrt(fma(a, a, like(x, 1.0)));
  const Num w = a + a * a / (root + 1.0);
  const Num r = log1pOr(w, greater(a, 1e9), a);
  // Below, x^3 is lost; and NaN passes.
  return xorBits(select(greater(a, 1e-4), r, a), signBits(x));
}

Num expandAcosh(Num x) {
  const Num t = x - 1.0;
  const Num w = t + sqrt(fma(t, t, t + t));
  const Num r = log1pOr(w, greater(x, 1e9), x);
  return select(less(x, 1.0), like(x, kNan), select(equal(x, kInf), x, r));
}

Num expandAtanh(Num x) {
  const Num a = abs(x);
  const Num w = (a + a) / (1.0 - a);
  const Num never = {x.builder, x.builder->function().constantBool(false)};
  const Num r = log1pOr(w, never, a) * 0.5;
  const Num inside = select(less(a, 1.0), r, select(equal(a, 1.0), like(x, kInf), like(x, kNan)));
  return xorBits(select(less(a, 1e-4), a, inside), signBits(x));
}

}  // namespace pumice::shader::passes
