#include "shaders/ir/semantics.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pumice::shader::ir {
namespace {

uint64_t eval(Op op, Kind k, std::vector<uint64_t> operands, Kind result = Kind::kVoid) {
  const auto r = evaluate(op, k, result == Kind::kVoid ? k : result, operands);
  EXPECT_TRUE(r.has_value()) << opName(op);
  return r.value_or(0xdead);
}
uint64_t f32(float v) {
  return std::bit_cast<uint32_t>(v);
}
uint64_t f64(double v) {
  return std::bit_cast<uint64_t>(v);
}

constexpr Kind kInts[] = {Kind::kI8, Kind::kI16, Kind::kI32, Kind::kI64};

// Expected values by hand, in the order I8, I16, I32, I64.
struct IntCase {
  Op op;
  uint64_t a[4], b[4], expected[4];
};
constexpr uint64_t kAll8 = 0xff, kAll16 = 0xffff, kAll32 = 0xffffffff, kAll64 = ~0ull;
constexpr uint64_t kMin8 = 0x80, kMin16 = 0x8000, kMin32 = 0x80000000, kMin64 = 1ull << 63;
constexpr uint64_t kMax8 = 0x7f, kMax16 = 0x7fff, kMax32 = 0x7fffffff, kMax64 = kMin64 - 1;

// clang-format off
const IntCase kIntCases[] = {
    {Op::IAdd, {kAll8, kAll16, kAll32, kAll64}, {1, 1, 1, 1}, {0, 0, 0, 0}},
    {Op::IAdd, {kMax8, kMax16, kMax32, kMax64}, {1, 1, 1, 1}, {kMin8, kMin16, kMin32, kMin64}},
    {Op::ISub, {0, 0, 0, 0}, {1, 1, 1, 1}, {kAll8, kAll16, kAll32, kAll64}},
    {Op::IMul, {kMin8, kMin16, kMin32, kMin64}, {2, 2, 2, 2}, {0, 0, 0, 0}},
    {Op::IMul, {kAll8, kAll16, kAll32, kAll64}, {kAll8, kAll16, kAll32, kAll64}, {1, 1, 1, 1}},
    {Op::IMul, {0x13, 0x1234, 0x12345678, 0x123456789abcdef0}, {0x11, 0x11, 0x11, 0x11},
               {0x43, 0x3574, 0x3579bdf8, 0x3579be02468acdf0}},
    {Op::UMulHi, {kAll8, kAll16, kAll32, kAll64}, {kAll8, kAll16, kAll32, kAll64},
                 {kAll8 - 1, kAll16 - 1, kAll32 - 1, kAll64 - 1}},
    {Op::SMulHi, {kAll8, kAll16, kAll32, kAll64}, {kAll8, kAll16, kAll32, kAll64}, {0, 0, 0, 0}},
    {Op::SMulHi, {kMin8, kMin16, kMin32, kMin64}, {kMin8, kMin16, kMin32, kMin64},
                 {0x40, 0x4000, 0x40000000, 1ull << 62}},
    {Op::SMulHi, {kAll8, kAll16, kAll32, kAll64}, {1, 1, 1, 1}, {kAll8, kAll16, kAll32, kAll64}},
    {Op::UDiv, {7, 7, 7, 7}, {0, 0, 0, 0}, {kAll8, kAll16, kAll32, kAll64}},
    {Op::UDiv, {kAll8, kAll16, kAll32, kAll64}, {2, 2, 2, 2}, {kMax8, kMax16, kMax32, kMax64}},
    {Op::SDiv, {7, 7, 7, 7}, {0, 0, 0, 0}, {kAll8, kAll16, kAll32, kAll64}},
    {Op::SDiv, {kMin8, kMin16, kMin32, kMin64}, {kAll8, kAll16, kAll32, kAll64}, {kMin8, kMin16, kMin32, kMin64}},
    {Op::SDiv, {kAll8 - 6, kAll16 - 6, kAll32 - 6, kAll64 - 6}, {2, 2, 2, 2},  // -7 / 2 = -3
               {kAll8 - 2, kAll16 - 2, kAll32 - 2, kAll64 - 2}},
    {Op::URem, {7, 7, 7, 7}, {0, 0, 0, 0}, {7, 7, 7, 7}},
    {Op::URem, {kAll8, kAll16, kAll32, kAll64}, {10, 10, 10, 10}, {5, 5, 5, 5}},
    {Op::SRem, {7, 7, 7, 7}, {0, 0, 0, 0}, {7, 7, 7, 7}},
    {Op::SRem, {kMin8, kMin16, kMin32, kMin64}, {kAll8, kAll16, kAll32, kAll64}, {0, 0, 0, 0}},
    {Op::SRem, {kAll8 - 6, kAll16 - 6, kAll32 - 6, kAll64 - 6}, {2, 2, 2, 2},  // -7 % 2 = -1
               {kAll8, kAll16, kAll32, kAll64}},
    {Op::SRem, {7, 7, 7, 7}, {kAll8 - 1, kAll16 - 1, kAll32 - 1, kAll64 - 1}, {1, 1, 1, 1}},
    {Op::And, {0x35, 0x35, 0x35, 0x35}, {0x53, 0x53, 0x53, 0x53}, {0x11, 0x11, 0x11, 0x11}},
    {Op::Or,  {0x35, 0x35, 0x35, 0x35}, {0x53, 0x53, 0x53, 0x53}, {0x77, 0x77, 0x77, 0x77}},
    {Op::Xor, {0x35, 0x35, 0x35, 0x35}, {0x53, 0x53, 0x53, 0x53}, {0x66, 0x66, 0x66, 0x66}},
    {Op::Not, {0, 0, 0, 0}, {0, 0, 0, 0}, {kAll8, kAll16, kAll32, kAll64}},
    {Op::Not, {kMax8, kMax16, kMax32, kMax64}, {0, 0, 0, 0}, {kMin8, kMin16, kMin32, kMin64}},
    {Op::Shl, {kAll8, kAll16, kAll32, kAll64}, {7, 15, 31, 63}, {kMin8, kMin16, kMin32, kMin64}},
    {Op::Shl, {1, 1, 1, 1}, {9, 17, 33, 65}, {2, 2, 2, 2}},
    {Op::UShr, {kMin8, kMin16, kMin32, kMin64}, {7, 15, 31, 63}, {1, 1, 1, 1}},
    {Op::UShr, {kMin8, kMin16, kMin32, kMin64}, {8, 16, 32, 64}, {kMin8, kMin16, kMin32, kMin64}},
    {Op::SShr, {kMin8, kMin16, kMin32, kMin64}, {7, 15, 31, 63}, {kAll8, kAll16, kAll32, kAll64}},
    {Op::SShr, {kMax8, kMax16, kMax32, kMax64}, {kAll8, kAll16, kAll32, kAll64}, {0, 0, 0, 0}},
    {Op::UMin, {kMin8, kMin16, kMin32, kMin64}, {1, 1, 1, 1}, {1, 1, 1, 1}},
    {Op::UMax, {kMin8, kMin16, kMin32, kMin64}, {1, 1, 1, 1}, {kMin8, kMin16, kMin32, kMin64}},
    {Op::SMin, {kMin8, kMin16, kMin32, kMin64}, {1, 1, 1, 1}, {kMin8, kMin16, kMin32, kMin64}},
    {Op::SMax, {kMin8, kMin16, kMin32, kMin64}, {1, 1, 1, 1}, {1, 1, 1, 1}},
    {Op::BitCount, {kAll8, kAll16, kAll32, kAll64}, {0, 0, 0, 0}, {8, 16, 32, 64}},
    {Op::BitCount, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}},
    {Op::BitReverse, {0x13, 0x0013, 0x13, 0x13}, {0, 0, 0, 0}, {0xc8, 0xc800, 0xc8000000, 0xc8ull << 56}},
    {Op::CountLeadingZeros, {0, 0, 0, 0}, {0, 0, 0, 0}, {8, 16, 32, 64}},
    {Op::CountLeadingZeros, {1, 1, 1, 1}, {0, 0, 0, 0}, {7, 15, 31, 63}},
    {Op::CountLeadingZeros, {kMin8, kMin16, kMin32, kMin64}, {0, 0, 0, 0}, {0, 0, 0, 0}},
    {Op::CountTrailingZeros, {0, 0, 0, 0}, {0, 0, 0, 0}, {8, 16, 32, 64}},
    {Op::CountTrailingZeros, {kMin8, kMin16, kMin32, kMin64}, {0, 0, 0, 0}, {7, 15, 31, 63}},
    {Op::IEq, {kAll8, kAll16, kAll32, kAll64}, {kAll8, kAll16, kAll32, kAll64}, {1, 1, 1, 1}},
    {Op::INe, {kAll8, kAll16, kAll32, kAll64}, {kAll8, kAll16, kAll32, kAll64}, {0, 0, 0, 0}},
    {Op::ULt, {kMin8, kMin16, kMin32, kMin64}, {1, 1, 1, 1}, {0, 0, 0, 0}},
    {Op::ULt, {1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}},
    {Op::ULe, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}},
    {Op::ULe, {kAll8, kAll16, kAll32, kAll64}, {0, 0, 0, 0}, {0, 0, 0, 0}},
    {Op::SLt, {kMin8, kMin16, kMin32, kMin64}, {1, 1, 1, 1}, {1, 1, 1, 1}},
    {Op::SLt, {kMax8, kMax16, kMax32, kMax64}, {kMin8, kMin16, kMin32, kMin64}, {0, 0, 0, 0}},
    {Op::SLe, {kAll8, kAll16, kAll32, kAll64}, {0, 0, 0, 0}, {1, 1, 1, 1}},
    {Op::SLe, {0, 0, 0, 0}, {0, 0, 0, 0}, {1, 1, 1, 1}},
};
// clang-format on

TEST(Semantics, IntegersByHand) {
  for (const IntCase& c : kIntCases) {
    for (int i = 0; i < 4; i++) {
      EXPECT_EQ(eval(c.op, kInts[i], {c.a[i], c.b[i]}), c.expected[i])
          << opName(c.op) << " " << kindBits(kInts[i]) << " bits, a = " << c.a[i] << ", b = " << c.b[i];
    }
  }
}

// Every pair of 8-bit values against the language's own arithmetic in a wider type.
TEST(Semantics, IntegersOf8BitsExhaustively) {
  for (uint32_t a = 0; a < 256; a++) {
    for (uint32_t b = 0; b < 256; b++) {
      const int sa = static_cast<int8_t>(a), sb = static_cast<int8_t>(b);
      const auto check = [&](Op op, int expected) {
        const uint64_t r = evaluate(op, Kind::kI8, Kind::kI8, std::vector<uint64_t>{a, b}).value();
        if (r != static_cast<uint8_t>(expected)) ADD_FAILURE() << opName(op) << " " << a << " " << b << " = " << r;
      };
      check(Op::IMul, sa * sb);
      check(Op::UMulHi, static_cast<int>(a * b) / 256);
      check(Op::SMulHi, (sa * sb) >> 8);
      check(Op::SShr, sa >> (b % 8));
      check(Op::SMin, sa < sb ? sa : sb);
      check(Op::SMax, sa > sb ? sa : sb);
      check(Op::SLt, sa < sb);
      if (b == 0) continue;
      check(Op::UDiv, static_cast<int>(a / b));
      check(Op::URem, static_cast<int>(a % b));
      check(Op::SDiv, sa / sb);
      check(Op::SRem, sa % sb);
    }
  }
}

TEST(Semantics, Bools) {
  EXPECT_EQ(eval(Op::Not, Kind::kBool, {0}), 1u);
  EXPECT_EQ(eval(Op::Not, Kind::kBool, {1}), 0u);
  EXPECT_EQ(eval(Op::And, Kind::kBool, {1, 0}), 0u);
  EXPECT_EQ(eval(Op::Or, Kind::kBool, {1, 0}), 1u);
  EXPECT_EQ(eval(Op::Xor, Kind::kBool, {1, 1}), 0u);
  EXPECT_EQ(eval(Op::IEq, Kind::kBool, {1, 0}), 0u);
  EXPECT_EQ(eval(Op::INe, Kind::kBool, {1, 0}), 1u);
  EXPECT_EQ(eval(Op::Select, Kind::kI32, {1, 5, 6}), 5u);
  EXPECT_EQ(eval(Op::Select, Kind::kF64, {0, 5, 6}), 6u);
}

TEST(Semantics, FloatComparisonsAndNaN) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  struct {
    Op op;
    int lt, eq, gt, unordered;
  } const cases[] = {
      {Op::FOEq, 0, 1, 0, 0}, {Op::FONe, 1, 0, 1, 0}, {Op::FOLt, 1, 0, 0, 0}, {Op::FOLe, 1, 1, 0, 0},
      {Op::FUEq, 0, 1, 0, 1}, {Op::FUNe, 1, 0, 1, 1}, {Op::FULt, 1, 0, 0, 1}, {Op::FULe, 1, 1, 0, 1},
  };
  for (const Kind k : {Kind::kF16, Kind::kF32, Kind::kF64}) {
    for (const auto& c : cases) {
      const auto is = [&](double a, double b) {
        return static_cast<int>(eval(c.op, k, {fromDouble(k, a), fromDouble(k, b)}, Kind::kBool));
      };
      EXPECT_EQ(is(-1, 2), c.lt) << opName(c.op);
      EXPECT_EQ(is(2, 2), c.eq) << opName(c.op);
      EXPECT_EQ(is(0.0, -0.0), c.eq) << opName(c.op);
      EXPECT_EQ(is(INFINITY, 2), c.gt) << opName(c.op);
      EXPECT_EQ(is(kNan, 2), c.unordered) << opName(c.op);
      EXPECT_EQ(is(2, kNan), c.unordered) << opName(c.op);
      EXPECT_EQ(is(kNan, kNan), c.unordered) << opName(c.op);
    }
  }
}

TEST(Semantics, MinAndMaxAreTheVectorInstructions) {
  const uint64_t nan32 = 0x7fc00001;
  EXPECT_EQ(eval(Op::FMin, Kind::kF32, {nan32, f32(1)}), f32(1));
  EXPECT_EQ(eval(Op::FMin, Kind::kF32, {f32(1), nan32}), nan32);
  EXPECT_EQ(eval(Op::FMax, Kind::kF32, {nan32, f32(1)}), f32(1));
  EXPECT_EQ(eval(Op::FMax, Kind::kF32, {f32(1), nan32}), nan32);
  EXPECT_EQ(eval(Op::FMin, Kind::kF32, {f32(-0.0f), f32(0.0f)}), f32(0.0f));
  EXPECT_EQ(eval(Op::FMax, Kind::kF32, {f32(0.0f), f32(-0.0f)}), f32(-0.0f));
  EXPECT_EQ(eval(Op::FMin, Kind::kF64, {f64(-3), f64(2)}), f64(-3));
  EXPECT_EQ(eval(Op::FMax, Kind::kF16, {0xc200, 0x4000}), 0x4000u);  // -3, 2
}

TEST(Semantics, SignBitOperationsKeepNaN) {
  EXPECT_EQ(eval(Op::FNeg, Kind::kF32, {0x7fc12345}), 0xffc12345u);
  EXPECT_EQ(eval(Op::FAbs, Kind::kF32, {0xff812345}), 0x7f812345u) << "a signalling NaN stays one";
  EXPECT_EQ(eval(Op::FNeg, Kind::kF16, {0}), 0x8000u);
  EXPECT_EQ(eval(Op::FAbs, Kind::kF64, {f64(-0.0)}), 0u);
}

TEST(Semantics, FloatArithmeticByHand) {
  EXPECT_EQ(eval(Op::FAdd, Kind::kF32, {f32(16777216.0f), f32(1.0f)}), f32(16777216.0f)) << "tie to even";
  EXPECT_EQ(eval(Op::FAdd, Kind::kF32, {f32(16777216.0f), f32(3.0f)}), f32(16777220.0f)) << "tie to even, up";
  EXPECT_EQ(eval(Op::FSub, Kind::kF32, {0x00800000, 0x00000001}), 0x007fffffu) << "denormals are kept";
  EXPECT_EQ(eval(Op::FMul, Kind::kF32, {f32(0x1p127f), f32(2)}), f32(INFINITY));
  EXPECT_EQ(eval(Op::FDiv, Kind::kF32, {f32(-1), f32(0)}), f32(-INFINITY));
  EXPECT_EQ(eval(Op::FDiv, Kind::kF32, {f32(1), f32(3)}), 0x3eaaaaabu);
  EXPECT_EQ(eval(Op::FSqrt, Kind::kF32, {f32(2)}), 0x3fb504f3u);
  EXPECT_EQ(eval(Op::FSqrt, Kind::kF64, {f64(2)}), 0x3ff6a09e667f3bcdu);
  EXPECT_EQ(eval(Op::FSqrt, Kind::kF32, {f32(-0.0f)}), f32(-0.0f));
  // (1 + 2^-23)^2 = 1 + 2^-22 + 2^-46: only a fused operation sees the last term.
  EXPECT_EQ(eval(Op::FFma, Kind::kF32, {0x3f800001, 0x3f800001, f32(-0x1.000004p0f)}), f32(0x1p-46f));
  EXPECT_EQ(eval(Op::FFma, Kind::kF64, {f64(1 + 0x1p-52), f64(1 + 0x1p-52), f64(-1 - 0x1p-51)}), f64(0x1p-104));
}

TEST(Semantics, HalfArithmeticByHand) {
  EXPECT_EQ(eval(Op::FAdd, Kind::kF16, {0x6800, 0x3c00}), 0x6800u) << "2048 + 1: tie to even";
  EXPECT_EQ(eval(Op::FAdd, Kind::kF16, {0x6800, 0x4200}), 0x6802u) << "2048 + 3 = 2052";
  EXPECT_EQ(eval(Op::FAdd, Kind::kF16, {0x7bff, 0x4c00}), 0x7c00u) << "65504 + 16 = 65520: ties to infinity";
  EXPECT_EQ(eval(Op::FAdd, Kind::kF16, {0x7bff, 0x4b00}), 0x7bffu) << "65504 + 14 = 65518";
  EXPECT_EQ(eval(Op::FMul, Kind::kF16, {0x0001, 0x3800}), 0x0000u) << "2^-24 / 2: ties to zero";
  EXPECT_EQ(eval(Op::FMul, Kind::kF16, {0x0003, 0x3800}), 0x0002u) << "3 * 2^-24 / 2: ties to even";
  EXPECT_EQ(eval(Op::FDiv, Kind::kF16, {0x3c00, 0x4200}), 0x3555u) << "1 / 3";
  EXPECT_EQ(eval(Op::FSqrt, Kind::kF16, {0x4000}), 0x3da8u) << "sqrt 2";
  EXPECT_EQ(eval(Op::FScale, Kind::kF32, {f32(0.75f), f32(128)}), f32(0x1.8p127f));
  EXPECT_EQ(eval(Op::FScale, Kind::kF32, {f32(1.0f), f32(128)}), 0x7f800000u);
  EXPECT_EQ(eval(Op::FScale, Kind::kF32, {f32(1.5f), f32(-149)}), 2u) << "half an ulp too much or too little: to even";
  EXPECT_EQ(eval(Op::FScale, Kind::kF32, {f32(0x1.000002p0f), f32(-150)}), 1u) << "just above the tie";
  EXPECT_EQ(eval(Op::FScale, Kind::kF32, {f32(1.0f), f32(-150)}), 0u) << "the tie goes to even";
  EXPECT_EQ(eval(Op::FFma, Kind::kF16, {0x3c01, 0x3c01, 0xbc02}), 0x0010u) << "(1 + 2^-10)^2 - 1 - 2^-9 = 2^-20";
}

TEST(Semantics, RoundingToIntegralValues) {
  const struct {
    double in, floor, ceil, trunc, even;
  } cases[] = {{0.5, 0, 1, 0, 0},
               {1.5, 1, 2, 1, 2},
               {2.5, 2, 3, 2, 2},
               {-0.5, -1, -0.0, -0.0, -0.0},
               {-2.5, -3, -2, -2, -2},
               {-0.0, -0.0, -0.0, -0.0, -0.0},
               {1023.5, 1023, 1024, 1023, 1024}};
  for (const Kind k : {Kind::kF16, Kind::kF32, Kind::kF64}) {
    for (const auto& c : cases) {
      const auto is = [&](Op op, double expected) {
        EXPECT_EQ(eval(op, k, {fromDouble(k, c.in)}), fromDouble(k, expected)) << opName(op) << " " << c.in;
      };
      is(Op::FFloor, c.floor);
      is(Op::FCeil, c.ceil);
      is(Op::FTrunc, c.trunc);
      is(Op::FRoundEven, c.even);
    }
  }
}

TEST(Semantics, IntegerConversions) {
  EXPECT_EQ(eval(Op::SExt, Kind::kI8, {0x80}, Kind::kI16), 0xff80u);
  EXPECT_EQ(eval(Op::SExt, Kind::kI8, {0x7f}, Kind::kI64), 0x7fu);
  EXPECT_EQ(eval(Op::SExt, Kind::kI32, {0x80000000}, Kind::kI64), 0xffffffff80000000u);
  EXPECT_EQ(eval(Op::ZExt, Kind::kI16, {0xffff}, Kind::kI32), 0xffffu);
  EXPECT_EQ(eval(Op::Trunc, Kind::kI64, {0x123456789abcdef0}, Kind::kI8), 0xf0u);
  EXPECT_EQ(eval(Op::Bitcast, Kind::kF32, {0xffffffff}, Kind::kI32), 0xffffffffu);
}

TEST(Semantics, FloatToIntegerSaturates) {
  for (const Kind k : kInts) {
    const int n = static_cast<int>(kindBits(k));
    const uint64_t max = kindMask(k), smax = max >> 1, smin = smax + 1;
    const auto toS = [&](double v) { return eval(Op::FToS, Kind::kF64, {f64(v)}, k); };
    const auto toU = [&](double v) { return eval(Op::FToU, Kind::kF64, {f64(v)}, k); };
    EXPECT_EQ(toS(std::ldexp(1.0, n - 1)), smax);
    EXPECT_EQ(toS(-std::ldexp(1.0, n - 1)), smin);
    EXPECT_EQ(toS(1e300), smax);
    EXPECT_EQ(toS(-1e300), smin);
    EXPECT_EQ(toS(INFINITY), smax);
    EXPECT_EQ(toS(-INFINITY), smin);
    EXPECT_EQ(toS(NAN), 0u);
    EXPECT_EQ(toS(-1.999), max);
    EXPECT_EQ(toU(std::ldexp(1.0, n)), max);
    EXPECT_EQ(toU(-1), 0u);
    EXPECT_EQ(toU(-INFINITY), 0u);
    EXPECT_EQ(toU(INFINITY), max);
    EXPECT_EQ(toU(NAN), 0u);
    EXPECT_EQ(toU(3.999), 3u);
  }
  EXPECT_EQ(eval(Op::FToS, Kind::kF64, {f64(127.9)}, Kind::kI8), 127u);
  EXPECT_EQ(eval(Op::FToS, Kind::kF64, {f64(-128.9)}, Kind::kI8), 0x80u);
  EXPECT_EQ(eval(Op::FToS, Kind::kF32, {0xcf000000}, Kind::kI32), 0x80000000u);
  EXPECT_EQ(eval(Op::FToU, Kind::kF32, {0x4f7fffff}, Kind::kI32), 0xffffff00u);
  EXPECT_EQ(eval(Op::FToU, Kind::kF16, {0x7c00}, Kind::kI64), ~0ull);
}

TEST(Semantics, IntegerToFloat) {
  EXPECT_EQ(eval(Op::SToF, Kind::kI8, {0x80}, Kind::kF16), 0xd800u) << "-128";
  EXPECT_EQ(eval(Op::UToF, Kind::kI8, {0x80}, Kind::kF16), 0x5800u) << "128";
  EXPECT_EQ(eval(Op::UToF, Kind::kI16, {0xffff}, Kind::kF16), 0x7c00u) << "65535 rounds to infinity";
  EXPECT_EQ(eval(Op::UToF, Kind::kI16, {65519}, Kind::kF16), 0x7bffu);
  EXPECT_EQ(eval(Op::UToF, Kind::kI32, {0xffffffff}, Kind::kF32), 0x4f800000u);
  // 2^63 + 2^39 is a tie in F32; one more in the lowest bit decides: no rounding by way of F64.
  EXPECT_EQ(eval(Op::UToF, Kind::kI64, {0x8000008000000000}, Kind::kF32), 0x5f000000u);
  EXPECT_EQ(eval(Op::UToF, Kind::kI64, {0x8000008000000001}, Kind::kF32), 0x5f000001u);
  EXPECT_EQ(eval(Op::SToF, Kind::kI64, {0x8000000000000000}, Kind::kF64), f64(-0x1p63));
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; i++) {
    const uint64_t v = random() >> (random() % 64);
    EXPECT_EQ(eval(Op::UToF, Kind::kI64, {v}, Kind::kF32), f32(static_cast<float>(v)));
    EXPECT_EQ(eval(Op::SToF, Kind::kI64, {v}, Kind::kF32), f32(static_cast<float>(static_cast<int64_t>(v))));
    EXPECT_EQ(eval(Op::UToF, Kind::kI64, {v}, Kind::kF64), f64(static_cast<double>(v)));
    EXPECT_EQ(eval(Op::SToF, Kind::kI64, {v}, Kind::kF64), f64(static_cast<double>(static_cast<int64_t>(v))));
  }
}

TEST(Semantics, DoubleToSingleAgreesWithTheMachine) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; i++) {
    // Exponents around the range of F32, denormals and overflow included.
    const uint64_t exponent = 1023 - 160 + random() % 300;
    uint64_t fraction = random() & ((1ull << 52) - 1);
    if (i % 4 == 0) fraction &= ~((1ull << (random() % 53)) - 1);
    const uint64_t bits = (random() & 1) << 63 | exponent << 52 | fraction;
    const double v = std::bit_cast<double>(bits);
    EXPECT_EQ(eval(Op::FConvert, Kind::kF64, {bits}, Kind::kF32), f32(static_cast<float>(v))) << v;
    // To zero: the nearest one, or its neighbour towards zero where that went up.
    float toZero = static_cast<float>(v);
    if (std::fabs(static_cast<double>(toZero)) > std::fabs(v)) toZero = std::nextafter(toZero, 0.0f);
    EXPECT_EQ(eval(Op::FConvertRtz, Kind::kF64, {bits}, Kind::kF32), f32(toZero)) << v;
  }
  EXPECT_EQ(eval(Op::FConvertRtz, Kind::kF64, {f64(1e300)}, Kind::kF32), 0x7f7fffffu);
  EXPECT_EQ(eval(Op::FConvertRtz, Kind::kF64, {f64(-INFINITY)}, Kind::kF32), 0xff800000u);
  EXPECT_EQ(eval(Op::FConvert, Kind::kF64, {0x7ff0000000000001}, Kind::kF32), 0x7fc00000u) << "NaN, not infinity";
  EXPECT_EQ(eval(Op::FConvert, Kind::kF64, {f64(65520 - 1e-9)}, Kind::kF16), 0x7bffu) << "one rounding only";
  EXPECT_EQ(eval(Op::FConvert, Kind::kF64, {f64(2049 + 0x1p-40)}, Kind::kF16), 0x6801u) << "just over the tie";
}

#if defined(__x86_64__)
__attribute__((target("f16c"))) uint32_t machineToHalf(float v, bool toZero) {
  const __m128 x = _mm_set_ss(v);
  const __m128i h = toZero ? _mm_cvtps_ph(x, _MM_FROUND_TO_ZERO) : _mm_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
  return static_cast<uint32_t>(_mm_cvtsi128_si32(h)) & 0xffff;
}
__attribute__((target("f16c"))) float machineFromHalf(uint32_t h) {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(static_cast<int>(h))));
}

TEST(Semantics, HalfConversionsAgreeWithTheMachine) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "no F16C, which all CPUs with AVX2 have";
  for (uint32_t h = 0; h < 0x10000; h++) {
    EXPECT_EQ(eval(Op::FConvert, Kind::kF16, {h}, Kind::kF32), f32(machineFromHalf(h))) << h;
  }
  std::mt19937 random(3);
  for (int i = 0; i < 300000; i++) {
    uint32_t bits = static_cast<uint32_t>(random());
    if (i % 2 == 0) bits = (bits & 0x807fffff) | (127 - 28 + static_cast<uint32_t>(random()) % 48) << 23;
    if (i % 8 == 0) bits &= ~0xfffu;  // ties
    const float v = std::bit_cast<float>(bits);
    EXPECT_EQ(eval(Op::FConvert, Kind::kF32, {bits}, Kind::kF16), machineToHalf(v, false)) << bits;
    EXPECT_EQ(eval(Op::FConvertRtz, Kind::kF32, {bits}, Kind::kF16), machineToHalf(v, true)) << bits;
  }
}
#endif

TEST(Semantics, IdentitiesAreNeutral) {
  const uint64_t sample[] = {0, 1, 5, 0x7f};
  for (uint32_t r = 0; r <= static_cast<uint32_t>(ReduceOp::kFMax); r++) {
    const auto op = static_cast<ReduceOp>(r);
    for (uint32_t k = static_cast<uint32_t>(Kind::kBool); k <= static_cast<uint32_t>(Kind::kF64); k++) {
      const Kind kind = static_cast<Kind>(k);
      if (!reduceAccepts(op, kind)) continue;
      for (uint64_t v : sample) {
        if (Type{kind, 1}.isFloat()) v = fromDouble(kind, static_cast<double>(v) + 0.5);
        v &= kindMask(kind);
        EXPECT_EQ(eval(reduceStep(op), kind, {reduceIdentity(op, kind), v}), v) << r << " " << k;
        EXPECT_EQ(eval(reduceStep(op), kind, {v, reduceIdentity(op, kind)}), v) << r << " " << k;
      }
    }
  }
  EXPECT_EQ(reduceIdentity(ReduceOp::kSMin, Kind::kI16), 0x7fffu);
  EXPECT_EQ(reduceIdentity(ReduceOp::kSMax, Kind::kI64), 1ull << 63);
  EXPECT_EQ(reduceIdentity(ReduceOp::kFMax, Kind::kF16), 0xfc00u);
  EXPECT_EQ(reduceIdentity(ReduceOp::kFMul, Kind::kF32), 0x3f800000u);
}

TEST(Semantics, OtherOperationsAreRefused) {
  EXPECT_FALSE(evaluate(Op::Load, Kind::kI32, Kind::kI32, std::vector<uint64_t>{0}));
  EXPECT_FALSE(evaluate(Op::FExp2, Kind::kF32, Kind::kF32, std::vector<uint64_t>{0}));
  EXPECT_FALSE(evaluate(Op::SubgroupReduce, Kind::kI32, Kind::kI32, std::vector<uint64_t>{0}));
  EXPECT_FALSE(evaluate(Op::FAdd, Kind::kI32, Kind::kI32, std::vector<uint64_t>{0, 0}));
  EXPECT_FALSE(evaluate(Op::IAdd, Kind::kF32, Kind::kF32, std::vector<uint64_t>{0, 0}));
}

}  // namespace
}  // namespace pumice::shader::ir
