// Expanded functions, run by the scalar semantics, against long double; and their special values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "shaders/ir/verifier.h"
#include "shaders/passes/math_test_util.h"

namespace pumice::shader::passes {
namespace {

using ir::Op;
using test::asBits;
using test::asFloat;
using test::Expanded;

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

class Unary : public testing::TestWithParam<test::UnaryFunction> {};

TEST_P(Unary, Error) {
  const test::UnaryFunction& f = GetParam();
  const Expanded e(f.op, ir::kF32, {ir::kF32});
  ASSERT_EQ(ir::verify(e.function()), "");
  double worst = 0;
  float worstAt = 0;
  const auto check = [&](uint32_t bits) {
    const float x = asFloat(bits);
    const float got = asFloat(e.evaluate({bits}));
    const long double want = f.reference(x);
    if (std::fabs(x) > f.high) {
      // Sanity: no NaN, and bounded where the function is.
      if (std::isfinite(x)) {
        EXPECT_FALSE(std::isnan(got) && !std::isnan(want)) << f.name << "(" << x << ")";
      }
      return;
    }
    const double error = test::ulpError(got, want);
    if (error > worst) {
      worst = error;
      worstAt = x;
    }
  };
  // Evenly over all patterns, and dense around 1 and other places where methods change.
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 65521) check(static_cast<uint32_t>(bits));
  for (const float centre :
       {1.0f, 0.5f, 0.625f, 1.41421356f, 0.70710678f, 3.14159265f, 1.57079633f, 88.0f, 127.0f, 128.0f, 2.0f}) {
    for (uint32_t i = 0; i < 2000; i++) {
      check(asBits(centre) - 1000 + i);
      check((asBits(centre) - 1000 + i) | 0x80000000u);
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100000; i++) {
    check(asBits(std::uniform_real_distribution<float>(-10, 10)(random)));
    check(asBits(std::uniform_real_distribution<float>(-1, 1)(random)));
    check(asBits(std::uniform_real_distribution<float>(-200, 200)(random)));
  }
  std::printf("%-12s %6.2f ulp at %.9g (%zu operations)\n", f.name, worst, static_cast<double>(worstAt),
              e.instructions().size());
  EXPECT_LE(worst, f.maxUlp) << "at " << worstAt;
}

INSTANTIATE_TEST_SUITE_P(All, Unary, testing::ValuesIn(test::unaryFunctions()),
                         [](const auto& p) { return std::string(p.param.name); });

// The specification's limit, 3 + 2 |x| ulp, leaves least room near zero.
TEST(LowerMath, ExponentialsNearZero) {
  for (const Op op : {Op::FExp, Op::FExp2}) {
    const Expanded e(op, ir::kF32, {ir::kF32});
    double worst = 0;
    for (int i = -400000; i <= 400000; ++i) {
      const float x = static_cast<float>(i) * 2.5e-6f;
      const long double want =
          op == Op::FExp ? std::exp(static_cast<long double>(x)) : std::exp2(static_cast<long double>(x));
      worst = std::max(worst,
                       test::ulpError(asFloat(e.evaluate({asBits(x)})), want) - 2 * std::fabs(static_cast<double>(x)));
    }
    EXPECT_LE(worst, 2.5);
  }
}

float evaluate(Op op, float x) {
  return asFloat(Expanded(op, ir::kF32, {ir::kF32}).evaluate({asBits(x)}));
}
float evaluate(Op op, float x, float y) {
  return asFloat(Expanded(op, ir::kF32, {ir::kF32, ir::kF32}).evaluate({asBits(x), asBits(y)}));
}

// Same value, zeros by sign, any NaN for a NaN.
void expectSame(float got, float want, const char* what) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << what << ": " << got;
  } else {
    EXPECT_EQ(asBits(got), asBits(want)) << what << ": " << got << ", should be " << want;
  }
}

TEST(LowerMath, SpecialValues) {
  const float denormal = 0x1p-149f;
  struct Row {
    Op op;
    float x, want;
  };
  for (const Row& r : std::initializer_list<Row>{
           {Op::FExp2, 0, 1},
           {Op::FExp2, -0.0f, 1},
           {Op::FExp2, kInf, kInf},
           {Op::FExp2, -kInf, 0},
           {Op::FExp2, kNan, kNan},
           {Op::FExp2, 128, kInf},
           {Op::FExp2, -149, denormal},
           {Op::FExp2, 10, 1024},
           {Op::FExp2, -126, 0x1p-126f},
           {Op::FExp2, -151, 0},
           {Op::FExp2, 1e30f, kInf},
           {Op::FExp2, -1e30f, 0},
           {Op::FExp, 0, 1},
           {Op::FExp, kInf, kInf},
           {Op::FExp, -kInf, 0},
           {Op::FExp, kNan, kNan},
           {Op::FExp, 1e30f, kInf},
           {Op::FExp, -1e30f, 0},
           {Op::FLog2, 1, 0},
           {Op::FLog2, 8, 3},
           {Op::FLog2, 0, -kInf},
           {Op::FLog2, -0.0f, -kInf},
           {Op::FLog2, -1, kNan},
           {Op::FLog2, kInf, kInf},
           {Op::FLog2, -kInf, kNan},
           {Op::FLog2, kNan, kNan},
           {Op::FLog2, denormal, -149},
           {Op::FLog2, 0x1p127f, 127},
           {Op::FLog, 1, 0},
           {Op::FLog, 0, -kInf},
           {Op::FLog, -1, kNan},
           {Op::FLog, kInf, kInf},
           {Op::FLog, kNan, kNan},
           {Op::FSin, 0, 0},
           {Op::FSin, -0.0f, -0.0f},
           {Op::FSin, kInf, kNan},
           {Op::FSin, -kInf, kNan},
           {Op::FSin, kNan, kNan},
           {Op::FSin, denormal, denormal},
           {Op::FCos, 0, 1},
           {Op::FCos, -0.0f, 1},
           {Op::FCos, kInf, kNan},
           {Op::FCos, kNan, kNan},
           {Op::FTan, 0, 0},
           {Op::FTan, -0.0f, -0.0f},
           {Op::FTan, kInf, kNan},
           {Op::FAsin, 0, 0},
           {Op::FAsin, -0.0f, -0.0f},
           {Op::FAsin, 2, kNan},
           {Op::FAsin, kNan, kNan},
           {Op::FAcos, 1, 0},
           {Op::FAcos, 2, kNan},
           {Op::FAcos, -2, kNan},
           {Op::FAtan, 0, 0},
           {Op::FAtan, -0.0f, -0.0f},
           {Op::FAtan, kInf, 1.57079637f},
           {Op::FAtan, -kInf, -1.57079637f},
           {Op::FAtan, kNan, kNan},
           {Op::FSinh, 0, 0},
           {Op::FSinh, -0.0f, -0.0f},
           {Op::FSinh, kInf, kInf},
           {Op::FSinh, -kInf, -kInf},
           {Op::FSinh, kNan, kNan},
           {Op::FCosh, 0, 1},
           {Op::FCosh, -kInf, kInf},
           {Op::FCosh, kNan, kNan},
           {Op::FTanh, -0.0f, -0.0f},
           {Op::FTanh, kInf, 1},
           {Op::FTanh, -kInf, -1},
           {Op::FTanh, kNan, kNan},
           {Op::FAsinh, -0.0f, -0.0f},
           {Op::FAsinh, kInf, kInf},
           {Op::FAsinh, -kInf, -kInf},
           {Op::FAsinh, kNan, kNan},
           {Op::FAcosh, 1, 0},
           {Op::FAcosh, 0, kNan},
           {Op::FAcosh, kInf, kInf},
           {Op::FAcosh, kNan, kNan},
           {Op::FAcosh, -5, kNan},
           {Op::FAtanh, -0.0f, -0.0f},
           {Op::FAtanh, 1, kInf},
           {Op::FAtanh, -1, -kInf},
           {Op::FAtanh, 2, kNan},
           {Op::FAtanh, kNan, kNan},
           {Op::FInverseSqrt, 0, kInf},
           {Op::FInverseSqrt, kInf, 0},
           {Op::FInverseSqrt, 4, 0.5f},
           {Op::FInverseSqrt, -1, kNan},
           {Op::FInverseSqrt, kNan, kNan},
       }) {
    const std::string what = std::string(ir::opName(r.op)) + "(" + std::to_string(r.x) + ")";
    expectSame(evaluate(r.op, r.x), r.want, what.c_str());
  }
}

TEST(LowerMath, CircularFunctionsStayInTheirRange) {
  const Expanded s(Op::FSin, ir::kF32, {ir::kF32}), c(Op::FCos, ir::kF32, {ir::kF32});
  for (uint64_t bits = 0; bits < 0x7f800000u; bits += 4099) {
    const float x = asFloat(bits);
    ASSERT_LE(std::fabs(asFloat(s.evaluate({bits}))), 1.0f) << "sin " << x;
    ASSERT_LE(std::fabs(asFloat(c.evaluate({bits}))), 1.0f) << "cos " << x;
  }
}

TEST(LowerMath, Pow) {
  const Expanded e(Op::FPow, ir::kF32, {ir::kF32, ir::kF32});
  std::mt19937 random(2);
  double worst = 0;  // beyond 3 + 2 |y log2 x| of the specification, as a fraction of it; and plain ulps
  double worstUlp = 0;
  for (int i = 0; i < 300000; i++) {
    const float x = std::exp2(std::uniform_real_distribution<float>(-20, 20)(random));
    const float y = std::uniform_real_distribution<float>(-6, 6)(random);
    const long double want = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    if (std::fabs(std::log2(want)) > 126) continue;
    const double error = test::ulpError(asFloat(e.evaluate({asBits(x), asBits(y)})), want);
    worst = std::max(worst, error / static_cast<double>(3 + 2 * std::fabs(std::log2(want))));
    worstUlp = std::max(worstUlp, error);
  }
  std::printf("%-12s %6.2f ulp, %.3f of what the specification allows (%zu operations)\n", "pow", worstUlp, worst,
              e.instructions().size());
  EXPECT_LE(worst, 1);
  expectSame(evaluate(Op::FPow, 2, 10), 1024, "2^10");
  expectSame(evaluate(Op::FPow, 10, 2), 100, "10^2");
  expectSame(evaluate(Op::FPow, 3, 4), 81, "3^4");
  expectSame(evaluate(Op::FPow, 0, 2), 0, "0^2");
  expectSame(evaluate(Op::FPow, 0, 0), 1, "0^0");
  expectSame(evaluate(Op::FPow, kInf, 0), 1, "inf^0");
  expectSame(evaluate(Op::FPow, 1, kInf), 1, "1^inf");
  expectSame(evaluate(Op::FPow, kInf, 2), kInf, "inf^2");
  expectSame(evaluate(Op::FPow, kInf, -2), 0, "inf^-2");
  expectSame(evaluate(Op::FPow, 0, -1), kInf, "0^-1");
  expectSame(evaluate(Op::FPow, 2, 1000), kInf, "2^1000");
  expectSame(evaluate(Op::FPow, 2, -1000), 0, "2^-1000");
  expectSame(evaluate(Op::FPow, 2, kInf), kInf, "2^inf");
  expectSame(evaluate(Op::FPow, 0.5f, kInf), 0, "0.5^inf");
  expectSame(evaluate(Op::FPow, kNan, 2), kNan, "nan^2");
  expectSame(evaluate(Op::FPow, 2, kNan), kNan, "2^nan");
  expectSame(evaluate(Op::FPow, -2, 2), kNan, "-2^2");
}

TEST(LowerMath, Atan2) {
  const Expanded e(Op::FAtan2, ir::kF32, {ir::kF32, ir::kF32});
  std::mt19937 random(3);
  double worst = 0;
  for (int i = 0; i < 300000; i++) {
    const auto pick = [&] {
      return std::uniform_real_distribution<float>(-1, 1)(random) * std::exp2(float(int(random() % 60)) - 30);
    };
    const float y = pick(), x = pick();
    const long double want = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
    worst = std::max(worst, test::ulpError(asFloat(e.evaluate({asBits(y), asBits(x)})), want));
  }
  std::printf("%-12s %6.2f ulp (%zu operations)\n", "atan2", worst, e.instructions().size());
  EXPECT_LE(worst, 4);
  for (const float y : {0.0f, -0.0f, 1.0f, -1.0f, kInf, -kInf, kNan, 0x1p-149f, -0x1p127f}) {
    for (const float x : {0.0f, -0.0f, 1.0f, -1.0f, kInf, -kInf, kNan, 0x1p-149f, -0x1p127f}) {
      const float got = asFloat(e.evaluate({asBits(y), asBits(x)})), want = std::atan2(y, x);
      EXPECT_LE(test::ulpError(got, want), 2) << y << ", " << x << ": " << got;
      if (!std::isnan(want)) {
        EXPECT_EQ(std::signbit(got), std::signbit(want)) << y << ", " << x;
      }
    }
  }
}

template <typename F>
uint64_t bitsOf(F v) {
  if constexpr (sizeof(F) == 4) {
    return std::bit_cast<uint32_t>(v);
  } else {
    return std::bit_cast<uint64_t>(v);
  }
}

// ldexp, frexp and remainders against the C library, bit for bit.
template <typename F>
void checkExponents(ir::Type type) {
  const Expanded ldexp(Op::FLdexp, type, {type, ir::kI32});
  const Expanded sig(Op::FFrexpSig, type, {type}), exponent(Op::FFrexpExp, ir::kI32, {type});
  std::mt19937_64 random(4);
  const uint64_t mask = ir::kindMask(type.kind);
  for (int i = 0; i < 100000; i++) {
    uint64_t bits = random() & mask;
    if (i % 8 == 0) bits &= mask >> (sizeof(F) == 4 ? 9 : 12) | (1ull << (ir::kindBits(type.kind) - 1));  // denormals
    if (i % 64 == 1) bits = ir::infinityBits(type.kind) | (bits & 1);
    F x;
    std::memcpy(&x, &bits, sizeof x);
    const int e =
        i % 3 == 0 ? static_cast<int>(random()) : static_cast<int>(random() % 400) - 200 - (sizeof(F) == 8 ? 900 : 0);
    const F want = std::ldexp(x, std::clamp(e, -5000, 5000));
    const uint64_t got = ldexp.evaluate({bits, static_cast<uint32_t>(e)});
    if (std::isnan(want)) {
      EXPECT_GT(got & (mask >> 1), ir::infinityBits(type.kind));
    } else {
      ASSERT_EQ(got, bitsOf(want)) << x << " * 2^" << e;
    }
    int wantExponent = 0;
    const F wantSig = std::frexp(x, &wantExponent);
    if (std::isnan(x)) continue;
    ASSERT_EQ(sig.evaluate({bits}), bitsOf(wantSig)) << x;
    ASSERT_EQ(exponent.evaluate({bits}), static_cast<uint32_t>(std::isinf(x) ? 0 : wantExponent)) << x;
  }
}

TEST(LowerMath, LdexpAndFrexp) {
  checkExponents<float>(ir::kF32);
  checkExponents<double>(ir::kF64);
}

template <typename F>
void checkRemainders(ir::Type type) {
  const Expanded rem(Op::FRem, type, {type, type}), mod(Op::FMod, type, {type, type});
  std::mt19937_64 random(5);
  for (int i = 0; i < 100000; i++) {
    const auto pick = [&] {
      const F v = std::uniform_real_distribution<F>(-1, 1)(random) * std::exp2(F(int(random() % 16)) - 8);
      return random() % 4 == 0 ? std::round(v * 16) / 4 : v;
    };
    const F a = pick(), b = pick();
    if (b == 0 || std::fabs(a / b) > F(0x1p22)) continue;
    const F wantRem = std::fmod(a, b);
    F wantMod = wantRem;
    if (wantMod != 0 && std::signbit(wantMod) != std::signbit(b)) wantMod += b;
    if (wantMod == 0) wantMod = std::copysign(F(0), b);
    ASSERT_EQ(rem.evaluate({bitsOf(a), bitsOf(b)}), bitsOf(wantRem)) << a << " rem " << b;
    // The C library's remainder is rounded again when the divisor is added; ours is not.
    const uint64_t got = mod.evaluate({bitsOf(a), bitsOf(b)});
    ASSERT_LE(got > bitsOf(wantMod) ? got - bitsOf(wantMod) : bitsOf(wantMod) - got, 1u) << a << " mod " << b;
  }
}

TEST(LowerMath, Remainders) {
  checkRemainders<float>(ir::kF32);
  checkRemainders<double>(ir::kF64);
}

// F16 through F32: right to the last place almost always.
TEST(LowerMath, Half) {
  for (const test::UnaryFunction& f : test::unaryFunctions()) {
    if (f.op == Op::FSin || f.op == Op::FCos || f.op == Op::FTan) continue;  // same way, ill-conditioned at large x
    const Expanded e(f.op, ir::kF16, {ir::kF16});
    ASSERT_EQ(ir::verify(e.function()), "");
    for (uint64_t bits = 0; bits < 0x10000; bits++) {
      const double x = ir::toDouble(ir::Kind::kF16, bits);
      const uint64_t want = ir::fromDouble(ir::Kind::kF16, static_cast<double>(f.reference(x)));
      const uint64_t got = e.evaluate({bits});
      const bool nan = (want & 0x7fff) > 0x7c00;
      if (nan) {
        ASSERT_GT(got & 0x7fff, 0x7c00u) << f.name << " " << x;
      } else {
        ASSERT_LE(got > want ? got - want : want - got, 1u) << f.name << " " << x;
      }
    }
  }
}

// Uses inside constructs, loop parameters and branches are replaced as well.
TEST(LowerMath, ReplacesUsesEverywhere) {
  ir::Function fn;
  ir::Builder b(fn);
  ir::MemRef mem;
  mem.space = ir::Space::kPush;
  ir::Value* x = b.load(ir::kF32, mem, {fn.constantI32(0)});
  ir::Value* s = b.unary(Op::FSin, x);
  ir::Construct* block = b.openBlock();
  ir::Value* result = b.result(block, ir::kF32);
  ir::Construct* loop = b.openLoop({s});
  ir::Value* again = b.unary(Op::FExp2, loop->params[0]);
  ir::Construct* branch = b.openIf(b.binary(Op::FOLt, again, s));
  b.br(block, {again});
  b.openElse();
  b.br(branch);
  b.close();
  b.br(loop, {b.unary(Op::FCos, again)});
  b.close();
  b.unreachable();  // the loop is only left by the branch to the block
  b.close();
  mem.space = ir::Space::kShared;
  fn.sharedBytes = 4;
  b.store(mem, {fn.constantI32(0)}, result);
  b.br(fn.body);
  ASSERT_EQ(ir::verify(fn), "");
  lowerMath(fn);
  EXPECT_EQ(ir::verify(fn), "");
}

}  // namespace
}  // namespace pumice::shader::passes
