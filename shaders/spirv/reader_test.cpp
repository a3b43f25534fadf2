#include "shaders/spirv/reader.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "shaders/spirv/test_machine.h"
#include "test_shaders/addresses.h"
#include "test_shaders/control.h"
#include "test_shaders/descriptors.h"
#include "test_shaders/layouts.h"
#include "test_shaders/saxpy.h"
#include "test_shaders/shared_block.h"
#include "test_shaders/shared_reduce.h"
#include "test_shaders/spec.h"
#include "test_shaders/subgroup.h"

namespace pumice::shader::spirv {
namespace {

TEST(Reader, Saxpy) {
  TestMachine m;
  m.groups = {2, 1, 1};
  m.push[0] = 100;
  m.push[1] = std::bit_cast<uint32_t>(2.0f);
  for (uint32_t i = 0; i < 128; ++i) {
    m.buffer(0).push_back(std::bit_cast<uint32_t>(static_cast<float>(i)));
    m.buffer(1).push_back(std::bit_cast<uint32_t>(static_cast<float>(10 * i)));
  }
  ASSERT_EQ(m.loadAndRun(saxpy), "");
  EXPECT_EQ(m.fn->localSize[0], 64u);
  for (uint32_t i = 0; i < 128; ++i)
    EXPECT_EQ(m.asFloat(0, i), i < 100 ? static_cast<float>(21 * i) : static_cast<float>(i)) << i;
  // The index variable became a value.
  EXPECT_TRUE(m.fn->locals.empty());
}

namespace control_expected {

int forLoop(int n) {
  return n * (n - 1) * (2 * n - 1) / 6;
}
int breakContinue(int n) {
  int s = 0;
  for (int i = 0; i <= n; ++i)
    if (i % 3 != 1) s += i;
  return s;
}
int collatz(int n) {
  int c = 0;
  for (; n != 1; ++c) n = n % 2 ? 3 * n + 1 : n / 2;
  return c;
}
int doWhile(int n) {
  return static_cast<int>(std::pow(3, std::max(n, 1)));
}
int switchFall(int n) {
  static constexpr int kTable[] = {11, 10, 11100, 11000, 11000, 11100, 11000, 10000, 11000, -9, 11000};
  return kTable[n];
}
int earlyReturn(int n) {
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j <= std::min(n + 1, 9); ++j)
      if (i * j == n) return i * 100 + j;
  return -1;
}
int switchInLoop(int n) {
  int r = 0;
  for (int i = 0; i < n; ++i) {
    if (i % 4 == 0) continue;
    if (i % 4 == 2 && i > 12) return r + 1000;
    r += i % 4 == 1 ? 3 : i % 4 == 2 ? 112 : 102;
  }
  return r;
}
int logic(int n) {
  if (n == 31 || (n >= 5 && n <= 19)) return n > 10 ? 2 : 1;
  return n == 3 ? 7 : 0;
}
int nestedIf(int n) {
  if (n % 2 == 0) return n - 3;
  if (n & 2) return n + 5;
  return (n & 4) ? (n + 7) * 2 : n + 7;
}

}  // namespace control_expected

TEST(Reader, ControlFlow) {
  namespace x = control_expected;
  TestMachine m;
  m.buffer(0).resize(320);
  ASSERT_EQ(m.loadAndRun(control), "");
  for (int n = 0; n < 32; ++n) {
    const int expected[] = {x::forLoop(n),         x::breakContinue(n), x::collatz(n + 1),  x::doWhile(n % 7),
                            x::switchFall(n % 11), x::earlyReturn(n),   x::switchInLoop(n), x::logic(n),
                            x::nestedIf(n),        (n / 3 + 1) * 3};
    for (size_t c = 0; c < 10; ++c)
      EXPECT_EQ(static_cast<int>(m.buffer(0)[static_cast<size_t>(n) * 10 + c]), expected[c]) << n << " column " << c;
  }
}

TEST(Reader, SharedMemoryAndAtomics) {
  TestMachine m;
  m.groups = {2, 1, 1};
  m.buffer(0).resize(16);
  for (uint32_t i = 0; i < 128; ++i) m.buffer(1).push_back(i * 3);
  m.buffer(2) = {0, 0, 5};
  ASSERT_EQ(m.loadAndRun(shared_reduce), "");
  EXPECT_EQ(m.buffer(0)[0], 3u * 63 * 64 / 2);
  EXPECT_EQ(m.buffer(0)[1], 3u * (127 * 128 / 2 - 63 * 64 / 2));
  EXPECT_EQ(m.buffer(0)[8], 1080u);
  EXPECT_EQ(m.buffer(2), (Words{2 * 63 * 64 / 2, 127, 9}));
}

TEST(Reader, SharedMemoryBlocks) {
  TestMachine m;
  m.buffer(0).resize(8);
  ASSERT_EQ(m.loadAndRun(shared_block), "");
  // Both blocks start at 0: words 0x11111111 * n seen as bytes, and a padded matrix at offset 32 behind a nested
  // struct.
  EXPECT_EQ(m.buffer(0), (Words{0x44, 0x2222, 6, 5, 0, 0, 0, 0}));
  EXPECT_GE(m.fn->sharedBytes, 32u + 16 + 2 * 16);
}

TEST(Reader, SpecialisationConstants) {
  TestMachine m;
  m.spec = {
      {0, 4, 8}, {1, 4, 3}, {2, 4, 1}, {3, 4, std::bit_cast<uint32_t>(1.5f)}, {4, 8, std::bit_cast<uint64_t>(-2.25)}};
  m.buffer(0).resize(8);
  ASSERT_EQ(m.loadAndRun(spec), "");
  EXPECT_EQ(m.buffer(0), (Words{63, 7, 802, 1, 15, static_cast<uint32_t>(-18), 42, 0}));
  EXPECT_EQ(m.fn->localSize[0], 8u);
  EXPECT_EQ(m.fn->localSize[1], 2u);

  TestMachine standard;
  standard.buffer(0).resize(8);
  ASSERT_EQ(standard.loadAndRun(spec), "");
  EXPECT_EQ(standard.buffer(0), (Words{144, 9, 102, 2, 25, 8, 0, 0}));
}

TEST(Reader, MemoryLayouts) {
  TestMachine m;
  m.buffer(0).resize(40);
  // std140: float f[3] (stride 16) at 0; row-major mat3x2 (2 rows of 16 bytes) at 48; column-major mat3x2 (3 columns of
  // 16 bytes) at 80; S (a 0, b 16, m 32: 2 columns of 16; size 64) x 2 at 128.
  std::vector<float> u(64);
  u[4] = 1.5f;  // f[1]
  for (size_t r = 0; r < 2; ++r)
    for (size_t c = 0; c < 3; ++c) u[12 + 4 * r + c] = static_cast<float>(10 * c + r);
  for (size_t c = 0; c < 3; ++c)
    for (size_t r = 0; r < 2; ++r) u[20 + 4 * c + r] = static_cast<float>(100 + 10 * c + r);
  u[48] = 3;  // s[1].a
  u[53] = 4;  // s[1].b.y
  u[62] = 5;  // s[1].m[1].z
  for (float f : u) m.buffer(1).push_back(std::bit_cast<uint32_t>(f));
  // scalar: vec3 v[3] at 0 (36 bytes), S at 36 (a, b, m without padding: 40 bytes), bytes at 76, shorts at 80, h at 84,
  // q at 88, d at 96.
  Words& v = m.buffer(2);
  v = floatWords({0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 77});
  v.push_back(0xfa000000u);  // bytes[3] = 250
  v.push_back(0xfffe0000u);  // shorts[1] = -2
  v.push_back(0x3e000000u);  // h[1] = 1.5
  v.push_back(7);            // q
  v.push_back(1);
  const auto d = std::bit_cast<uint64_t>(0.125);
  v.push_back(static_cast<uint32_t>(d));
  v.push_back(static_cast<uint32_t>(d >> 32));
  // row-major mat2 at 16: rows of 8 bytes; i behind it.
  const Words rows = floatWords({1, 2, 3, 4});
  std::copy(rows.begin(), rows.end(), m.push.begin() + 4);
  m.push[8] = 1;
  ASSERT_EQ(m.loadAndRun(layouts), "");
  const std::vector<float> expected = {1.5f, 0, 1, 10, 11, 20,  21, 100,  101,           110,    111, 120, 121, 3,
                                       4,    5, 3, 5,  77, 250, -2, 1.5f, 4294967303.0f, 0.125f, 21,  43,  40};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(m.asFloat(0, i), expected[i]) << i;
  EXPECT_EQ(m.asFloat(2, 2), 9.0f);
  EXPECT_EQ(m.buffer(2)[19], 0xfa0000c8u);
  EXPECT_EQ(m.buffer(2)[20], 0xfffefffbu);
  EXPECT_EQ(m.asFloat(2, 18), 6.0f);
  EXPECT_EQ(m.asFloat(2, 13), 1.0f);
}

TEST(Reader, DeviceAddresses) {
  struct Node {
    uint64_t next;
    int32_t value, pad;
    float v[4];
  };
  static_assert(sizeof(Node) == 32);
  std::array<Node, 3> nodes{};
  nodes[0] = {reinterpret_cast<uint64_t>(&nodes[2]), 10, 0, {}};
  nodes[2] = {reinterpret_cast<uint64_t>(&nodes[1]), 12, 0, {0, 0, 0, 99}};
  nodes[1] = {0, 11, 0, {}};
  TestMachine m;
  m.buffer(0).resize(8);
  const auto head = reinterpret_cast<uint64_t>(nodes.data());
  m.push[0] = static_cast<uint32_t>(head);
  m.push[1] = static_cast<uint32_t>(head >> 32);
  m.push[2] = 2;
  const auto initial = nodes;
  ASSERT_EQ(m.loadAndRun(addresses, [&] { nodes = initial; }), "");
  EXPECT_EQ(m.buffer(0), (Words{10, 12, 11, 11, 99, 10, 10, 0}));
  EXPECT_EQ(nodes[0].value, 110);
  EXPECT_EQ(nodes[0].v[2], 4.5f);
}

TEST(Reader, DescriptorArrays) {
  TestMachine m;
  m.buffer(0).resize(12, 0xeeeeeeee);
  m.buffers[1] = {{1, 2}, {3, 4, 5}, {100, 200, 300, 400}};
  m.buffers[2] = {{7, 0, 0, 0}, {8, 0, 0, 0}, {9, 0, 0, 0}, {10, 0, 0, 0}};
  ASSERT_EQ(m.loadAndRun(descriptors), "");
  // The last length is that of an element out of range: the null descriptor.
  EXPECT_EQ(m.buffer(0), (Words{102, 104, 300, 102, 7, 8, 9, 10, 2, 3, 4, 0}));
}

TEST(Reader, Subgroups) {
  TestMachine m;
  m.subgroupSize = 8;
  m.buffer(0).resize(16 * 40);
  ASSERT_EQ(m.loadAndRun(subgroup), "");
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t l = i % 8, g = i / 8, base = 8 * g;
    const uint32_t expected[] = {g * 100 + l,
                                 208,
                                 l == 0,
                                 g == 0,
                                 g == 0,
                                 1,
                                 base + 3,
                                 base,
                                 0xaa,
                                 l & 1,
                                 1,
                                 4,
                                 (l + 1) / 2,
                                 l / 2,
                                 107,
                                 1u << l,
                                 0xffu & ~((1u << l) - 1),
                                 0xffu & ~((2u << l) - 1),
                                 (2u << l) - 1,
                                 (1u << l) - 1,
                                 base + 7 - l,
                                 i ^ 2,
                                 l >= 2 ? i : 0,
                                 28 + 8 * base,
                                 (l + 1) * base + l * (l + 1) / 2,
                                 l == 0 ? 0 : base + 7,
                                 4 * (i & ~3u) + 6,
                                 g == 1,
                                 (i & ~3u) + 2,
                                 i ^ 1,
                                 i ^ 2,
                                 i ^ 3,
                                 16 - (base + 7),
                                 base + 4 > 3};
    uint32_t column = 0;
    for (uint32_t x : expected) {
      EXPECT_EQ(m.buffer(0)[16 * column + i], x) << "invocation " << i << " column " << column;
      ++column;
    }
  }
}

TEST(Reader, Rejects) {
  TestMachine m;
  EXPECT_EQ(m.read({}).status, CompileStatus::kInvalidSpirv);
  const uint32_t garbage[] = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(m.read(garbage).status, CompileStatus::kInvalidSpirv);
  ComputeCompileInfo info;
  info.spirv = saxpy;
  info.entryPoint = "other";
  EXPECT_EQ(readCompute(info).status, CompileStatus::kInvalidSpirv);
}

}  // namespace
}  // namespace pumice::shader::spirv
