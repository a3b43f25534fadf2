#include "backend/assembly/vertex_fetch.h"

#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

namespace pumice::assembly {
namespace {

constexpr uint32_t kLanes = abi::kVertexBlockLanes;

// One attribute in slot 0 of binding 0.
struct Fetch {
  abi::VertexInputState input{};
  abi::VertexBufferState buffers{};
  std::vector<uint8_t> memory;
  std::vector<uint32_t> vertexIndex, instanceIndex;
  uint32_t firstInstance = 0;
  abi::VertexRow rows[8];

  Fetch(VkFormat format, uint32_t offset_B, uint32_t stride_B, uint32_t memory_B) : memory(memory_B) {
    std::mt19937 random(7);
    for (uint8_t& b : memory) b = static_cast<uint8_t>(random());
    input.attributeCount = 1;
    input.attributes[0] = {static_cast<uint32_t>(format), offset_B, 0, 0, abi::AttributeRate::kVertex, 1, 1};
    buffers.buffers[0] = {reinterpret_cast<uint64_t>(memory.data()), memory.size(), stride_B};
  }
  void run() {
    instanceIndex.resize(vertexIndex.size(), firstInstance);
    std::memset(rows, 0xEE, sizeof rows);
    fetchVertices(input, buffers, input.attributes[0].slotCount,
                  {vertexIndex.data(), instanceIndex.data(), static_cast<uint32_t>(vertexIndex.size()), firstInstance},
                  rows);
  }
  template <typename T>
  T word(uint32_t at) const {
    T value{};
    if (at + sizeof(T) <= memory.size()) std::memcpy(&value, memory.data() + at, sizeof value);
    return value;
  }
};

uint32_t bits(double value) {
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

float half(uint16_t h) {
  const double mantissa = h & 0x3ff;
  const int exponent = h >> 10 & 31;
  const double sign = (h & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return static_cast<float>(mantissa != 0 ? NAN : sign * INFINITY);
  return static_cast<float>(exponent == 0 ? sign * std::ldexp(mantissa, -24)
                                          : sign * std::ldexp(1024 + mantissa, exponent - 25));
}

// The four numbers that a format makes of the bytes at a place, by the specification's formulas.
using Convert = std::function<std::array<uint32_t, 4>(const Fetch&, uint32_t at)>;
struct FormatCase {
  VkFormat format;
  uint32_t bytes;
  Convert convert;
};

const std::vector<FormatCase>& formatCases() {
  static const std::vector<FormatCase> cases = {
      {VK_FORMAT_R32G32B32A32_SFLOAT, 16,
       [](const Fetch& f, uint32_t at) {
         return std::array{f.word<uint32_t>(at), f.word<uint32_t>(at + 4), f.word<uint32_t>(at + 8),
                           f.word<uint32_t>(at + 12)};
       }},
      {VK_FORMAT_R32G32B32_SFLOAT, 12,
       [](const Fetch& f, uint32_t at) {
         return std::array{f.word<uint32_t>(at), f.word<uint32_t>(at + 4), f.word<uint32_t>(at + 8), bits(1)};
       }},
      {VK_FORMAT_R32G32_SFLOAT, 8,
       [](const Fetch& f, uint32_t at) {
         return std::array{f.word<uint32_t>(at), f.word<uint32_t>(at + 4), 0u, bits(1)};
       }},
      {VK_FORMAT_R32_SINT, 4,
       [](const Fetch& f, uint32_t at) {
         return std::array{f.word<uint32_t>(at), 0u, 0u, 1u};
       }},
      {VK_FORMAT_R32G32B32_UINT, 12,
       [](const Fetch& f, uint32_t at) {
         return std::array{f.word<uint32_t>(at), f.word<uint32_t>(at + 4), f.word<uint32_t>(at + 8), 1u};
       }},
      {VK_FORMAT_R8G8B8A8_UNORM, 4,
       [](const Fetch& f, uint32_t at) {
         return std::array{bits(f.word<uint8_t>(at) / 255.0), bits(f.word<uint8_t>(at + 1) / 255.0),
                           bits(f.word<uint8_t>(at + 2) / 255.0), bits(f.word<uint8_t>(at + 3) / 255.0)};
       }},
      {VK_FORMAT_B8G8R8A8_UNORM, 4,
       [](const Fetch& f, uint32_t at) {
         return std::array{bits(f.word<uint8_t>(at + 2) / 255.0), bits(f.word<uint8_t>(at + 1) / 255.0),
                           bits(f.word<uint8_t>(at) / 255.0), bits(f.word<uint8_t>(at + 3) / 255.0)};
       }},
      {VK_FORMAT_R8_SSCALED, 1,
       [](const Fetch& f, uint32_t at) {
         return std::array{bits(f.word<int8_t>(at)), 0u, 0u, bits(1)};
       }},
      {VK_FORMAT_R16G16_SNORM, 4,
       [](const Fetch& f, uint32_t at) {
         const auto value = [&](uint32_t a) { return bits(std::max(f.word<int16_t>(a) / 32767.0, -1.0)); };
         return std::array{value(at), value(at + 2), 0u, bits(1)};
       }},
      {VK_FORMAT_R16G16B16_USCALED, 6,
       [](const Fetch& f, uint32_t at) {
         return std::array{bits(f.word<uint16_t>(at)), bits(f.word<uint16_t>(at + 2)), bits(f.word<uint16_t>(at + 4)),
                           bits(1)};
       }},
      {VK_FORMAT_R16G16_SINT, 4,
       [](const Fetch& f, uint32_t at) {
         return std::array{static_cast<uint32_t>(f.word<int16_t>(at)), static_cast<uint32_t>(f.word<int16_t>(at + 2)),
                           0u, 1u};
       }},
      {VK_FORMAT_R16G16B16A16_SFLOAT, 8,
       [](const Fetch& f, uint32_t at) {
         std::array<uint32_t, 4> all;
         for (uint32_t c = 0; c < 4; ++c) all[c] = bits(half(f.word<uint16_t>(at + 2 * c)));
         return all;
       }},
      {VK_FORMAT_A2B10G10R10_UNORM_PACK32, 4,
       [](const Fetch& f, uint32_t at) {
         const auto w = f.word<uint32_t>(at);
         return std::array{bits((w & 1023) / 1023.0), bits((w >> 10 & 1023) / 1023.0), bits((w >> 20 & 1023) / 1023.0),
                           bits((w >> 30) / 3.0)};
       }},
      {VK_FORMAT_A2R10G10B10_UINT_PACK32, 4,
       [](const Fetch& f, uint32_t at) {
         const auto w = f.word<uint32_t>(at);
         return std::array{w >> 20 & 1023, w >> 10 & 1023, w & 1023, w >> 30};
       }},
  };
  return cases;
}

void expectRows(const Fetch& f, const FormatCase& c, const std::function<bool(uint32_t)>& inside,
                const std::function<uint32_t(uint32_t)>& place) {
  Fetch zeros(c.format, 0, 0, 64);
  std::fill(zeros.memory.begin(), zeros.memory.end(), uint8_t{0});
  for (uint32_t i = 0; i < f.vertexIndex.size(); ++i) {
    const std::array<uint32_t, 4> expected = inside(i) ? c.convert(f, place(i)) : c.convert(zeros, 0);
    for (uint32_t r = 0; r < 4; ++r) {
      const float is = std::bit_cast<float>(f.rows[r][i]), want = std::bit_cast<float>(expected[r]);
      const bool bothNan = std::isnan(is) && std::isnan(want);
      ASSERT_TRUE(bothNan || f.rows[r][i] == expected[r]) << c.format << ", vertex " << i << ", component " << r << ": "
                                                          << std::hex << f.rows[r][i] << " is not " << expected[r];
    }
  }
}

TEST(VertexFetch, FormatsStridesAndBounds) {
  std::mt19937 random(3);
  for (const FormatCase& c : formatCases()) {
    for (uint32_t round = 0; round < 60; ++round) {
      const uint32_t offset = random() % 9;
      const uint32_t stride = round % 5 == 0 ? 0 : round % 5 == 1 ? c.bytes : random() % 40;
      Fetch f(c.format, offset, stride, round % 7 == 0 ? random() % 20 : 2000);
      f.vertexIndex.resize(1 + random() % kLanes);
      const bool inOrder = round % 2 != 0;
      for (uint32_t i = 0; i < f.vertexIndex.size(); ++i) f.vertexIndex[i] = inOrder ? 5 + i : random() % 200;
      if (round % 9 == 0) f.vertexIndex.back() = 0xFFFFFFFF;
      f.run();
      expectRows(
          f, c,
          [&](uint32_t i) {
            return uint64_t{f.vertexIndex[i]} * stride + offset + c.bytes <= uint64_t{f.memory.size()};
          },
          [&](uint32_t i) { return f.vertexIndex[i] * stride + offset; });
      for (uint32_t r = 0; r < 4; ++r) {
        for (size_t i = f.vertexIndex.size(); i < kLanes; ++i) ASSERT_EQ(f.rows[r][i], 0u);
      }
    }
  }
}

TEST(VertexFetch, NoBuffer) {
  const FormatCase& c = formatCases()[1];
  Fetch f(c.format, 0, 12, 64);
  f.buffers.buffers[0] = {};
  f.vertexIndex = {0, 1, 2};
  f.run();
  expectRows(
      f, c, [](uint32_t) { return false; }, [](uint32_t) { return 0; });
}

TEST(VertexFetch, InstancesAndDivisors) {
  const FormatCase& c = formatCases()[4];
  for (uint32_t divisor : {0u, 1u, 3u}) {
    Fetch f(c.format, 4, 12, 2000);
    f.input.attributes[0].rate = abi::AttributeRate::kInstance;
    f.input.attributes[0].divisor = divisor;
    f.firstInstance = 10;
    for (uint32_t i = 0; i < 40; ++i) {
      f.vertexIndex.push_back(1000 + i);
      f.instanceIndex.push_back(10 + i / 2);
    }
    f.run();
    expectRows(
        f, c, [](uint32_t) { return true; },
        [&](uint32_t i) { return 4 + 12 * (10 + (divisor == 0 ? 0 : (i / 2) / divisor)); });
  }
}

TEST(VertexFetch, SixtyFourBits) {
  Fetch f(VK_FORMAT_R64G64B64_SFLOAT, 8, 24, 1000);
  for (uint32_t slots : {1u, 2u}) {
    f.input.attributes[0].slotCount = static_cast<uint8_t>(slots);
    f.vertexIndex = {3, 0, 7};
    f.run();
    for (uint32_t i = 0; i < 3; ++i) {
      uint64_t expected[4] = {0, 0, 0, std::bit_cast<uint64_t>(1.0)};
      for (uint32_t k = 0; k < 3; ++k) expected[k] = f.word<uint64_t>(8 + 24 * f.vertexIndex[i] + 8 * k);
      for (uint32_t k = 0; k < 2 * slots; ++k) {
        EXPECT_EQ(f.rows[2 * k][i], static_cast<uint32_t>(expected[k]));
        EXPECT_EQ(f.rows[2 * k + 1][i], static_cast<uint32_t>(expected[k] >> 32));
      }
    }
  }
}

TEST(VertexFetch, SlotsThatNothingFeeds) {
  abi::VertexInputState input{};
  input.unboundSlots = 2;
  const abi::VertexBufferState buffers{};
  const uint32_t zero = 0;
  abi::VertexRow rows[8];
  std::memset(rows, 0xEE, sizeof rows);
  fetchVertices(input, buffers, 2, {&zero, &zero, 1, 0}, rows);
  EXPECT_EQ(rows[4][0], 0u);
  EXPECT_EQ(rows[6][63], 0u);
  EXPECT_EQ(rows[7][0], bits(1));
}

// Prints only.
TEST(VertexFetchSpeed, Print) {
  for (VkFormat format : {VK_FORMAT_R32G32B32_SFLOAT, VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R16G16_SNORM}) {
    for (bool inOrder : {true, false}) {
      Fetch f(format, 0, 32, 32 * 1024);
      std::mt19937 random(1);
      for (uint32_t i = 0; i < kLanes; ++i) f.vertexIndex.push_back(inOrder ? i : random() % 1000);
      f.run();
      const auto start = std::chrono::steady_clock::now();
      constexpr uint32_t kRounds = 2000;
      for (uint32_t i = 0; i < kRounds; ++i) {
        fetchVertices(f.input, f.buffers, 1, {f.vertexIndex.data(), f.instanceIndex.data(), kLanes, 0}, f.rows);
      }
      const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
      std::printf("format %d, %s: %.2f ns a vertex\n", format, inOrder ? "in order" : "anywhere",
                  time.count() / kRounds / kLanes);
    }
  }
}

}  // namespace
}  // namespace pumice::assembly
