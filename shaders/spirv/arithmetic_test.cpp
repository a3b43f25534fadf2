// GLSL.std.450, matrices, integers of every width. Expected values are worked out here in double precision or by hand.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "shaders/spirv/test_machine.h"
#include "test_shaders/glsl_math.h"
#include "test_shaders/integers.h"

namespace pumice::shader::spirv {
namespace {

TEST(Arithmetic, GlslMath) {
  TestMachine m;
  m.buffer(0).resize(200);
  m.buffer(1) = floatWords({1.5f, -2.5f, 3.0f, -0.25f, 2.0f, 4.0f, -1.0f, 0.5f, 0.0f, 2.0f});
  m.buffer(1).push_back(static_cast<uint32_t>(-7));
  m.buffer(1).push_back(0);
  ASSERT_EQ(m.loadAndRun(glsl_math), "");
  const double pi = 3.14159265358979;
  // length(vec2(4.5, 6) / 1.5) = length(3, 4)
  const std::vector<double> expected = {-2,
                                        -2,
                                        2.5,
                                        -1,
                                        0,
                                        -1,
                                        0,     // round .. ceil
                                        0.75,  // fract
                                        1.5,
                                        -2.5,
                                        -1,
                                        -0.25,
                                        2,
                                        4,
                                        3,
                                        0.5,
                                        1,
                                        -0.5,
                                        1,  // min, max, clamp, mix, step
                                        0.5,
                                        7,  // smoothstep, fma
                                        5,
                                        5,
                                        2.5,  // length, distance, length
                                        -2.5 * -1 - 4 * 3.0,
                                        3.0 * 2 - -1 * 1.5,
                                        1.5 * 4 - 2 * -2.5,  // cross
                                        3 - 10 - 3 - 0.125,  // dot
                                        0,
                                        0,
                                        -1,  // normalize
                                        1.5,
                                        -2.5,  // faceforward: dot(b, a) = -7 < 0
                                        1.5,
                                        2.5,  // reflect
                                        0,
                                        -1,  // refract straight down: eta i - (eta d + sqrt k) n
                                        0,
                                        0,  // total reflection
                                        -0.5,
                                        -2,  // modf
                                        0.75,
                                        4,
                                        192,  // frexp 12, ldexp 1.5 * 2^7
                                        1.5,
                                        1.5,  // mod
                                        270,
                                        pi / 2,  // degrees, radians
                                        1.5 * 3 - 4 * 2,
                                        1,
                                        0,
                                        0,
                                        1,  // mat2
                                        8,
                                        0.5,
                                        0,
                                        0,
                                        0,
                                        0.25,
                                        0,
                                        -0.75,
                                        0,
                                        1,  // mat3
                                        8,
                                        0,
                                        0,
                                        0,
                                        1,  // mat4: the last column goes to (0, 0, 0, 1)
                                        1 * 1.5 + 4 * -2.5,
                                        2 * 1.5 + 5 * -2.5,
                                        3 * 1.5 + 6 * -2.5,  // wide * a.xy
                                        1.5 - 5 + 9,
                                        6 - 12.5 + 18,
                                        3,
                                        6,  // a.xyz * wide, transpose
                                        5,
                                        7,
                                        9,
                                        6,
                                        -10,
                                        8,
                                        10,
                                        12,
                                        -4,  // last column, outer product, scale, negate
                                        8,
                                        4,
                                        2,
                                        0.5,
                                        8,
                                        0,  // exp2 .. sin
                                        1,
                                        1,
                                        1,
                                        0};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(m.asFloat(0, i), expected[i], 2e-6 * std::max(1.0, std::abs(expected[i]))) << i;
  EXPECT_EQ(m.buffer(0)[expected.size()], 0u);
}

TEST(Arithmetic, Integers) {
  TestMachine m;
  m.buffer(0).resize(120);
  const uint32_t big = 0x89abcdef;
  m.buffer(1) = {static_cast<uint32_t>(-7), 3, big, std::bit_cast<uint32_t>(-3.75f), 0};
  m.buffer(2) = {0xffffffff, 1, static_cast<uint32_t>(-4), 0xffffffff, 11, 0};
  ASSERT_EQ(m.loadAndRun(integers), "");
  auto s = [](int64_t v) { return static_cast<uint32_t>(v); };
  auto f = [](float v) { return std::bit_cast<uint32_t>(v); };
  const uint64_t square = uint64_t{big} * big;
  auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  const auto product = static_cast<uint64_t>(int64_t{-70'000'000'000});
  const Words expected = {
      s(-2),
      2,  // OpSMod
      big / 3,
      big % 3,
      0x4d5e6f78,
      0x113579bd,
      s(-4),
      0x76543210,
      7,
      7,
      s(-1),
      s(-7),
      big,
      s(-5),
      9,
      0xcd,
      s(-119),
      big,
      0,
      0x8912cdef,
      3,
      0xc0000000,
      20,
      4,
      s(-1),
      31,
      2,
      s(-1),
      2 * big,
      1,
      3 - big,
      1,
      high(square),
      low(square),
      s(-1),
      s(-21),
      0x8140817f,
      0x003300ff,
      0x7fff8001,
      0x8000ffff,
      0xc3803c00,
      f(-64.0f / 127),
      f(0.2f),
      f(-3.75f),
      f(-1.0f),
      5,
      6,
      s(-3),
      3,
      f(2309737967.0f),
      f(-7.0f),
      0xef + 1000,
      s(-12817),
      90000 - 65536,
      s(-3),
      1,
      low(square),
      high(square),
      low(product),
      high(product),
      low(square / 3),
      high(square / 3),
      low(uint64_t{big} * 4),
      high(uint64_t{big} * 4),
      low(square >> 36),
      high(square >> 36),
      1,
      low(square),
      0x20001,
      0xffffffff,
      1,
      s(-4),
      s(-1),
      11,
      77,
      34,
      4,
      0xdef,
      1 + 2 * 0 + 4 * 1,
  };
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(m.buffer(0)[i], expected[i]) << i;
  EXPECT_EQ(m.buffer(2), (Words{5, 2, s(-9), s(-1), 78, 0}));
}

}  // namespace
}  // namespace pumice::shader::spirv
