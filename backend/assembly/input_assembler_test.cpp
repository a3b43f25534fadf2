#include "backend/assembly/input_assembler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace pumice::assembly {
namespace {

struct Vertex {
  uint32_t index, instance;
  bool operator==(const Vertex&) const = default;
  auto operator<=>(const Vertex&) const = default;
};
struct Primitive {
  std::vector<Vertex> vertices;
  uint32_t id;
  bool operator==(const Primitive&) const = default;
};

struct TestDraw {
  DrawInput input;
  abi::IndexBufferState indexBuffer{};
  std::vector<uint8_t> bytes;
  std::vector<uint32_t> indices;  // as the assembler must see them; empty: not indexed

  void setIndices(abi::IndexType type, const std::vector<uint32_t>& values, uint32_t readable) {
    const uint32_t size = type == abi::IndexType::kUint8 ? 1 : type == abi::IndexType::kUint16 ? 2 : 4;
    bytes.clear();
    for (uint32_t v : values) {
      for (uint32_t b = 0; b < size; ++b) bytes.push_back(static_cast<uint8_t>(v >> (8 * b)));
    }
    bytes.resize(size * readable);
    bytes.shrink_to_fit();  // AddressSanitizer sees reads behind it
    indices = values;
    for (size_t i = readable; i < indices.size(); ++i) indices[i] = 0;  // outside of the buffer
    indexBuffer = {reinterpret_cast<uint64_t>(bytes.data()), bytes.size(), type, 0};
    input.indices = &indexBuffer;
  }
};

// Chapter 21 of the specification, word by word: the vertices v(0) to v(n-1) of a run make these primitives.
std::vector<std::vector<uint32_t>> primitivesOfRun(VkPrimitiveTopology topology, uint32_t n, bool provokingLast) {
  std::vector<std::vector<uint32_t>> all;
  // Turned round until the provoking vertex is where the assembler says that it is.
  const auto addTriangle = [&](std::vector<uint32_t> t, uint32_t provoking) {
    while ((provokingLast ? t.back() : t.front()) != provoking) std::rotate(t.begin(), t.begin() + 1, t.end());
    all.push_back(t);
  };
  switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
      for (uint32_t i = 0; i < n; ++i) all.push_back({i});
      break;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
      for (uint32_t i = 0; i < n / 2; ++i) all.push_back({2 * i, 2 * i + 1});
      break;
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
      for (uint32_t i = 0; i + 1 < n; ++i) all.push_back({i, i + 1});
      break;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST:
      for (uint32_t i = 0; i < n / 3; ++i)
        addTriangle({3 * i, 3 * i + 1, 3 * i + 2}, provokingLast ? 3 * i + 2 : 3 * i);
      break;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP:
      for (uint32_t i = 0; i + 2 < n; ++i) {
        addTriangle({i, i + (1 + i % 2), i + (2 - i % 2)}, provokingLast ? i + 2 : i);
      }
      break;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN:
      for (uint32_t i = 0; i + 2 < n; ++i) addTriangle({i + 1, i + 2, 0}, provokingLast ? i + 2 : i + 1);
      break;
    default:
      ADD_FAILURE();
  }
  return all;
}

std::vector<Primitive> expected(const TestDraw& draw, uint32_t restartValue) {
  const DrawInput& in = draw.input;
  std::vector<Primitive> all;
  for (uint32_t instance = 0; instance < in.instanceCount; ++instance) {
    uint32_t id = 0;
    std::vector<uint32_t> run;
    const auto endRun = [&] {
      for (const auto& corners : primitivesOfRun(in.topology, static_cast<uint32_t>(run.size()), in.provokingLast)) {
        Primitive p{{}, id++};
        for (uint32_t c : corners) p.vertices.push_back({run[c], in.firstInstance + instance});
        all.push_back(p);
      }
      run.clear();
    };
    for (uint32_t i = 0; i < in.count; ++i) {
      if (in.indices == nullptr) {
        run.push_back(in.first + i);
        continue;
      }
      const size_t at = size_t{in.first} + i;
      const uint32_t index = at < draw.indices.size() ? draw.indices[at] : 0;
      if (in.restart && index == restartValue) {
        endRun();
      } else {
        run.push_back(index + static_cast<uint32_t>(in.vertexOffset));
      }
    }
    endRun();
  }
  return all;
}

// The whole draw in pieces of random sizes.
std::vector<Primitive> assembled(const DrawInput& in, std::mt19937& random, uint32_t most) {
  std::vector<Primitive> all;
  const auto piece = std::make_unique<Assembled>();
  Cursor cursor;
  for (;;) {
    const uint32_t wish = 1 + random() % most;
    Cursor next = cursor;
    const uint32_t count = advance(in, &next, wish);
    assemble(in, cursor, count, piece.get());
    EXPECT_EQ(piece->primitiveCount, count);
    std::set<Vertex> seen;
    for (uint32_t v = 0; v < piece->vertexCount; ++v) seen.insert({piece->vertexIndex[v], piece->instanceIndex[v]});
    EXPECT_EQ(seen.size(), piece->vertexCount);  // each once
    for (uint32_t i = 0; i < piece->primitiveCount; ++i) {
      Primitive p{{}, piece->primitiveId[i]};
      for (uint32_t c = 0; c < verticesPerPrimitive(in.topology); ++c) {
        const uint16_t v = piece->corners[i][c];
        EXPECT_LT(v, piece->vertexCount);
        p.vertices.push_back({piece->vertexIndex[v], piece->instanceIndex[v]});
      }
      all.push_back(p);
    }
    if (count < wish) return all;
    cursor = next;
  }
}

constexpr VkPrimitiveTopology kTopologies[] = {
    VK_PRIMITIVE_TOPOLOGY_POINT_LIST,    VK_PRIMITIVE_TOPOLOGY_LINE_LIST,      VK_PRIMITIVE_TOPOLOGY_LINE_STRIP,
    VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN};

TEST(InputAssembler, RandomDraws) {
  std::mt19937 random(1);
  for (uint32_t round = 0; round < 1500; ++round) {
    TestDraw draw;
    DrawInput& in = draw.input;
    in.topology = kTopologies[random() % 6];
    in.provokingLast = random() % 2 != 0;
    in.first = random() % 20;
    in.count = random() % 4 == 0 ? random() % 6 : random() % 900;
    in.firstInstance = random() % 3 * 1000;
    in.instanceCount = random() % 4;
    uint32_t restartValue = 0;
    if (random() % 4 != 0) {
      const auto type = static_cast<abi::IndexType>(random() % 3);
      restartValue = type == abi::IndexType::kUint8 ? 0xFF : type == abi::IndexType::kUint16 ? 0xFFFF : 0xFFFFFFFF;
      in.restart = random() % 2 != 0;
      in.vertexOffset = static_cast<int32_t>(random() % 100) - 50;
      const uint32_t often = 1 + random() % 40;
      std::vector<uint32_t> values(in.first + in.count);
      // Near each other; or anywhere, a few of them often.
      const bool anywhere = type == abi::IndexType::kUint32 && random() % 2 != 0;
      const uint32_t most = random() % 2 != 0 ? 100'000 : 0xFFFF'FFFF;
      for (uint32_t& v : values) {
        v = random() % (random() % 2 ? 16 : 250);
        if (anywhere) v = random() % 3 == 0 ? static_cast<uint32_t>(random()) % most : v * 0x0101'0101u;
        if (random() % often == 0) v = restartValue;
      }
      const auto all = static_cast<uint32_t>(values.size());
      draw.setIndices(type, values, random() % 4 == 0 ? random() % (all + 1) : all);
    }
    ASSERT_EQ(assembled(in, random, round % 3 == 0 ? 5 : kMaxPrimitives), expected(draw, restartValue))
        << "round " << round << ", topology " << in.topology;
  }
}

TEST(InputAssembler, EdgesOfTheNumbers) {
  std::mt19937 random(2);
  TestDraw draw;
  draw.input.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  draw.input.instanceCount = 2;
  draw.input.count = 6;
  // Sums wrap as 32-bit numbers do.
  draw.input.first = 0xFFFFFFFE;
  draw.input.firstInstance = 0xFFFFFFFF;
  EXPECT_EQ(assembled(draw.input, random, 3), expected(draw, 0));
  // Indices beyond what 64-bit sums could reach.
  draw.setIndices(abi::IndexType::kUint32, {1, 2, 3}, 3);
  draw.input.vertexOffset = -2;
  EXPECT_EQ(assembled(draw.input, random, 3), expected(draw, 0));
  // No buffer at all.
  draw.indexBuffer.address = 0;
  draw.indices.clear();
  EXPECT_EQ(assembled(draw.input, random, 3), expected(draw, 0));

  // Counts whose product does not fit 32 bits: the end is found, and the last piece is right.
  DrawInput large;
  large.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
  large.count = 0xFFFFFFFF;
  large.instanceCount = 3;
  Cursor cursor{2, 0xFFFFFFFC - 3, 0, 0};
  const Cursor before = cursor;
  EXPECT_EQ(advance(large, &cursor, 256), 4u);
  const auto piece = std::make_unique<Assembled>();
  assemble(large, before, 4, piece.get());
  ASSERT_EQ(piece->vertexCount, 6u);
  EXPECT_EQ(*std::max_element(piece->vertexIndex, piece->vertexIndex + 6), 0xFFFFFFFEu);
  EXPECT_EQ(piece->instanceIndex[0], 2u);

  // Nobody looks into every instance of a draw that has no primitive at all.
  draw.setIndices(abi::IndexType::kUint32, {0xFFFFFFFF, 1, 0xFFFFFFFF}, 3);
  draw.input.first = 0;
  draw.input.count = 3;
  draw.input.restart = true;
  draw.input.instanceCount = 0xFFFFFFFF;
  Cursor none;
  EXPECT_EQ(advance(draw.input, &none, 256), 0u);
  EXPECT_LE(none.instance, 1u);
}

TEST(InputAssembler, SharedVerticesAreThereOnce) {
  DrawInput strip;
  strip.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
  strip.count = 258;
  strip.instanceCount = 1;
  const auto piece = std::make_unique<Assembled>();
  assemble(strip, {}, 256, piece.get());
  EXPECT_EQ(piece->primitiveCount, 256u);
  EXPECT_EQ(piece->vertexCount, 258u);
  // Small instances share a piece but no vertices.
  DrawInput cubes;
  cubes.count = 3;
  cubes.instanceCount = 1000;
  assemble(cubes, {}, 256, piece.get());
  EXPECT_EQ(piece->primitiveCount, 256u);
  EXPECT_EQ(piece->vertexCount, 768u);
}

TEST(InputAssembler, Topologies) {
  for (VkPrimitiveTopology t : kTopologies) EXPECT_TRUE(isSupported(t));
  EXPECT_FALSE(isSupported(VK_PRIMITIVE_TOPOLOGY_PATCH_LIST));
  EXPECT_FALSE(isSupported(VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY));
}

}  // namespace
}  // namespace pumice::assembly
