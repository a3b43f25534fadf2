// The front end by itself: chunks of a pass to sets in bins, looked at through the tiles' lists.
#include "backend/draw/front_end.h"

#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "backend/draw/chunk_source.h"

namespace pumice::draw {
namespace {

constexpr uint32_t kEdge = 256;  // of the framebuffer

// Positions of numbered vertices; the varyings say which vertex and instance it was.
std::vector<std::array<float, 4>> g_positions;
void numberedVertices(abi::VertexEnv* env, const abi::VertexBlock* blocks, uint32_t count) {
  for (uint32_t b = 0; b < count; ++b)
    for (uint32_t l = 0; l < abi::kVertexBlockLanes; ++l) {
      const uint32_t v = blocks[b].vertexIndex[l];
      for (uint32_t c = 0; c < 4; ++c)
        std::memcpy(&blocks[b].outputs[c][l], &g_positions[v % g_positions.size()][c], 4);
      const float size = 3;
      std::memcpy(&blocks[b].outputs[abi::kRowPointSize][l], &size, 4);
      const uint32_t varyings[8] = {
          v, blocks[b].instanceIndex[l], env->baseVertex, env->baseInstance, env->drawIndex, v * 3, 7, b};
      for (uint32_t i = 0; i < 8; ++i) blocks[b].outputs[abi::kRowVaryings + i][l] = varyings[i];
    }
}

// A pass of one color attachment that nobody writes, and all that a front end needs.
class FrontEndTest : public testing::Test {
 protected:
  FrontEndTest() {
    vertex_.entry = numberedVertices;
    vertex_.varyingSlotCount = 2;
    fragment_.entry = [](abi::FragmentEnv*, const abi::FragmentRun*) {};
    viewports_.count = 1;
    viewports_.viewports[0] = {0, 0, kEdge, kEdge, 0, 1};
    viewports_.scissors[0] = {0, 0, kEdge, kEdge};
    raster_.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    raster_.polygonMode = VK_POLYGON_MODE_FILL;
    raster_.flags = abi::kRasterDepthClip;
    raster_.lineWidth = 1;
    fragmentState_.sampleMask = ~0u;
    fragmentState_.colorWriteEnable = 0xFF;
    std::memset(&targets_, abi::kNoAttachment, sizeof targets_);
    begin_.header = {abi::PacketOp::kBeginPass, 0, sizeof begin_};
    begin_.area = {0, 0, kEdge, kEdge};
    begin_.layerCount = 1;
    begin_.tileEdge_log2 = 6;
    g_positions.clear();
  }

  void position(float x, float y, float z = 0.5f, float w = 1) { g_positions.push_back({x, y, z, w}); }

  template <typename Packet>
  void put(Packet packet) {
    ASSERT_LE(used_B_ + sizeof packet, sizeof stream_);
    std::memcpy(stream_ + used_B_, &packet, sizeof packet);
    used_B_ += sizeof packet;
  }
  void draw(uint32_t count, uint32_t first = 0, uint32_t instances = 1, uint32_t firstInstance = 0,
            uint32_t drawIndex = 0) {
    put(abi::DrawPacket{{abi::PacketOp::kDraw, 0, sizeof(abi::DrawPacket)},
                        &state_,
                        constants_,
                        first,
                        count,
                        firstInstance,
                        instances,
                        0,
                        drawIndex});
  }
  void drawIndexed(const std::vector<uint16_t>& indices, int32_t offset, uint32_t instances = 1) {
    indices_ = {reinterpret_cast<uint64_t>(indices.data()), indices.size() * 2, abi::IndexType::kUint16, 0};
    put(abi::DrawPacket{{abi::PacketOp::kDraw, abi::kDrawIndexed, sizeof(abi::DrawPacket)},
                        &state_,
                        constants_,
                        0,
                        static_cast<uint32_t>(indices.size()),
                        0,
                        instances,
                        offset,
                        0});
  }

  struct Primitive {
    const abi::PrimitiveRecord* record;
    const raster::SetDraw* draw;
    const ChunkDraw* payload;
    uint32_t layer;
    uint32_t row(uint32_t at, uint32_t component) const {
      uint32_t word;
      std::memcpy(&word, &payload->varyings[at][component], 4);
      return word;
    }
    uint32_t vertex(uint32_t k) const {
      return row(k == 0 ? record->vertex0 : k == 1 ? record->vertex1 : record->vertex2, 0);
    }
  };

  // Runs the whole pass as one batch; the primitives that any tile has, in order.
  std::vector<Primitive> run(uint32_t blocks = 512) { return run(begin_, blocks); }
  std::vector<Primitive> run(const abi::BeginPassPacket& begin, uint32_t blocks) {
    put(abi::EndPassPacket{{abi::PacketOp::kEndPass, 0, sizeof(abi::EndPassPacket)}});
    info_.packet = &begin;
    info_.grid = gridOf(begin);
    arenaBytes_.resize(blocks * raster::kArenaBlockBytes / 64 + 1);
    auto* memory = reinterpret_cast<std::byte*>(arenaBytes_.data());
    arena_ = std::make_unique<raster::BlockArena>(memory, blocks);
    ChunkSource source;
    source.begin(info_, PacketWalker(stream_), {});
    lists_ = std::make_unique<raster::TileList[]>(info_.grid.tileCount());
    std::vector<raster::TileEntry*> current(info_.grid.tileCount());
    const uint32_t cancel = 0;
    const WorkerEnv worker{nullptr, &cancel, &workerArena_, 3};
    ChunkMemory chunkMemory;
    for (auto chunk = std::make_unique<Chunk>();;) {
      const ChunkSource::Next next = source.next(*arena_, chunk.get());
      if (next == ChunkSource::Next::kEnd) break;
      EXPECT_EQ(next, ChunkSource::Next::kChunk);
      if (next != ChunkSource::Next::kChunk) break;
      uint32_t primitives = 0;
      for (uint32_t i = 0; i < chunk->pieceCount; ++i) primitives += chunk->pieces[i].primitives;
      EXPECT_LE(primitives, assembly::kMaxPrimitives);
      ++chunks_;
      chunkMemory.begin(*arena_, chunk->blocks, 1);
      EXPECT_TRUE(frontEnd_.run(info_, *chunk, worker, chunkMemory, lists_.get(), current.data()));
      EXPECT_LE(chunkMemory.taken(), chunk->blocks);
      mostTaken_ = std::max(mostTaken_, chunkMemory.taken());
      BlockLink* first;
      BlockLink* last;
      chunkMemory.end(&first, &last);
      for (const raster::TileEntry* e : current) EXPECT_EQ(e, nullptr);
    }
    std::map<std::pair<uint64_t, uint32_t>, Primitive> found;
    for (uint32_t tile = 0; tile < info_.grid.tileCount(); ++tile)
      for (const raster::TileEntry* e = lists_[tile].takeInOrder(); e; e = e->next)
        for (uint32_t n = 0; n < e->set->count; ++n) {
          if (!(e->mask[n / 64] >> (n % 64) & 1)) continue;
          uint32_t d = e->set->drawCount;
          while (e->set->draws[--d].firstPrimitive > n) {
          }
          const raster::SetDraw& setDraw = e->set->draws[d];
          found[{e->order, n}] = {&e->set->records[n], &setDraw, static_cast<const ChunkDraw*>(setDraw.payload),
                                  tile / info_.grid.tilesPerLayer()};
        }
    std::vector<Primitive> out;
    for (const auto& entry : found) out.push_back(entry.second);
    return out;
  }

  struct alignas(64) Line {
    std::byte bytes[64];
  };
  abi::VertexProgram vertex_{};
  abi::FragmentProgram fragment_{};
  abi::GraphicsPrograms programs_{&vertex_, &fragment_};
  abi::VertexInputState input_{};
  abi::VertexBufferState buffers_{};
  abi::IndexBufferState indices_{};
  abi::ViewportState viewports_{};
  abi::RasterState raster_{};
  abi::FragmentState fragmentState_{};
  abi::TargetState targets_{};
  abi::DrawState state_{&programs_,  nullptr,  &input_,         &buffers_, &indices_,
                        &viewports_, &raster_, &fragmentState_, &targets_};
  abi::BeginPassPacket begin_{};
  std::byte constants_[abi::kMaxPushConstantBytes] = {};
  alignas(8) std::byte stream_[4096] = {};
  size_t used_B_ = 0;
  PassInfo info_;
  std::vector<Line> arenaBytes_;
  std::unique_ptr<raster::BlockArena> arena_;
  std::unique_ptr<raster::TileList[]> lists_;
  sched::WorkerArena workerArena_;
  FrontEnd frontEnd_;
  uint32_t chunks_ = 0;
  uint32_t mostTaken_ = 0;
};

// What a fragment function reads of its primitives' vertices, over many blocks and chunks.
TEST_F(FrontEndTest, RecordsNameTheRowsOfTheirVertices) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i)
    position(static_cast<float>(random() % 2000) / 1000 - 1, static_cast<float>(random() % 2000) / 1000 - 1);
  vertex_.flags = 0;
  draw(900, 100, 3, 5, 9);
  const std::vector<Primitive> primitives = run();
  EXPECT_GT(chunks_, 3u);
  std::set<uint32_t> seen;
  for (const Primitive& p : primitives) {
    const uint32_t id = p.record->primitiveId;
    const uint32_t instance = p.row(p.record->vertex0, 1);
    ASSERT_LT(id, 300u);
    ASSERT_GE(instance, 5u);
    ASSERT_LT(instance, 8u);
    for (uint32_t k = 0; k < 3; ++k) EXPECT_EQ(p.vertex(k), 100 + id * 3 + k);
    EXPECT_EQ(p.record->provokingVertex, p.record->vertex0);
    EXPECT_EQ(p.row(p.record->vertex1, 2), 100u);
    EXPECT_EQ(p.row(p.record->vertex1, 3), 5u);
    EXPECT_EQ(p.row(p.record->vertex2 + 1, 0), 9u);
    EXPECT_EQ(p.row(p.record->vertex2 + 1, 1), 3 * p.vertex(2));
    EXPECT_EQ(p.payload->state, &state_);
    EXPECT_TRUE(seen.insert(instance * 1000 + id).second);
  }
  EXPECT_GT(seen.size(), 850u);  // all but those without a pixel
}

TEST_F(FrontEndTest, IndicesAreOffsetAndVerticesShared) {
  for (int i = 0; i < 5; ++i) position(i % 2 ? 0.9f : -0.9f, static_cast<float>(i) / 4 - 0.5f);
  raster_.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
  raster_.flags |= abi::kRasterProvokingLast;
  const std::vector<uint16_t> indices = {0, 1, 2, 3, 4};
  drawIndexed(indices, 1000);
  const std::vector<Primitive> primitives = run();
  ASSERT_EQ(primitives.size(), 3u);
  const uint32_t expected[3][3] = {{0, 1, 2}, {2, 1, 3}, {2, 3, 4}};
  std::set<uint32_t> rows;
  for (uint32_t i = 0; i < 3; ++i) {
    for (uint32_t k = 0; k < 3; ++k) EXPECT_EQ(primitives[i].vertex(k), 1000 + expected[i][k]);
    EXPECT_EQ(primitives[i].record->provokingVertex, primitives[i].record->vertex2);
    for (const uint32_t row :
         {primitives[i].record->vertex0, primitives[i].record->vertex1, primitives[i].record->vertex2})
      rows.insert(row);
  }
  EXPECT_EQ(rows.size(), 5u);
}

// Both faces of a triangle as lines and as points, with culling; lines have the polygon's face and provoking vertex.
TEST_F(FrontEndTest, PolygonModesKeepTheFace) {
  position(-0.5f, -0.5f);
  position(0.5f, -0.5f);
  position(-0.5f, 0.5f);
  position(-0.5f, -0.5f);
  position(-0.5f, 0.5f);
  position(0.5f, -0.5f);
  vertex_.flags = abi::kVertexWritesPointSize;
  for (const VkPolygonMode mode : {VK_POLYGON_MODE_LINE, VK_POLYGON_MODE_POINT}) {
    for (const uint16_t cull : {uint16_t{0}, uint16_t{abi::kRasterCullBack}, uint16_t{abi::kRasterCullFront}}) {
      raster_.polygonMode = static_cast<uint8_t>(mode);
      raster_.flags = static_cast<uint16_t>(abi::kRasterDepthClip | abi::kRasterFrontClockwise | cull);
      used_B_ = 0;
      draw(6);
      const std::vector<Primitive> primitives = run();
      ASSERT_EQ(primitives.size(), cull ? 3u : 6u);
      for (const Primitive& p : primitives) {
        const bool back = p.record->primitiveId == 1;  // the second one is counter-clockwise
        EXPECT_EQ((p.record->flags & abi::kPrimitiveBackFacing) != 0, back);
        EXPECT_EQ(cull, back ? cull & abi::kRasterCullFront : cull & abi::kRasterCullBack);
        EXPECT_EQ(p.row(p.record->provokingVertex, 0), p.record->primitiveId * 3);
        EXPECT_EQ(p.draw->edgeCount, 4);
      }
    }
  }
}

// Lines and points as such; a Bresenham line has all samples.
TEST_F(FrontEndTest, LinesAndPoints) {
  position(-0.5f, -0.5f);
  position(0.5f, 0.25f);
  position(0.5f, -0.25f);
  raster_.topology = VK_PRIMITIVE_TOPOLOGY_LINE_STRIP;
  raster_.lineMode = abi::LineMode::kBresenham;
  draw(3);
  std::vector<Primitive> primitives = run();
  ASSERT_EQ(primitives.size(), 2u);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(primitives[i].draw->allSamples);
    EXPECT_EQ(primitives[i].vertex(0), i);
    EXPECT_EQ(primitives[i].vertex(1), i + 1);
  }
  raster_.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
  vertex_.flags = abi::kVertexWritesPointSize;
  used_B_ = 0;
  draw(3);
  primitives = run();
  ASSERT_EQ(primitives.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(primitives[i].draw->allSamples);
    EXPECT_EQ(primitives[i].vertex(0), i);
    EXPECT_EQ(primitives[i].record->iLinear.dx, 1.0f / 3);
  }
}

// Polygons as lines get the bias that the filled triangle has.
TEST_F(FrontEndTest, DepthBiasOfOutlinesIsTheTrianglesOne) {
  position(-0.5f, -0.5f, 0.2f);
  position(0.5f, -0.5f, 0.8f);
  position(-0.5f, 0.5f, 0.3f);
  struct {
    abi::BeginPassPacket begin;
    abi::PassAttachment depth;
  } pass{begin_, {}};
  pass.begin.attachmentCount = 1;
  pass.depth.format = VK_FORMAT_D16_UNORM;
  targets_.depth = 0;
  raster_.flags |= abi::kRasterDepthBias;
  raster_.depthBiasConstant = 3;
  raster_.depthBiasSlope = 2;
  raster_.polygonMode = VK_POLYGON_MODE_LINE;
  draw(3);
  const std::vector<Primitive> primitives = run(pass.begin, 512);
  ASSERT_EQ(primitives.size(), 3u);
  // Slopes by hand: 0.6 over 128 pixels in x, 0.1 over 128 in y.
  const float bias = 2 * 0.6f / 128 + 3 * 0x1p-16f;
  const float depths[3] = {0.2f, 0.8f, 0.3f};
  for (uint32_t i = 0; i < 3; ++i) EXPECT_NEAR(primitives[i].record->depth.atOrigin, depths[i] + bias, 1e-6);
}

// Chunks of which nothing is seen share one block.
TEST_F(FrontEndTest, WhatIsCulledTakesNoMemory) {
  std::mt19937 random(3);
  for (int i = 0; i < 999; ++i) {
    const float x = static_cast<float>(random() % 1000) / 1000 - 1;
    const float y = static_cast<float>(random() % 1000) / 1000 - 1;
    position(x, y);
    position(x + 0.2f, y);
    position(x, y + 0.2f);  // clockwise on the screen
  }
  raster_.flags |= abi::kRasterCullFront | abi::kRasterFrontClockwise;
  draw(2997, 0, 30);
  EXPECT_TRUE(run(256).empty());
  EXPECT_GT(chunks_, 100u);
  // That block, and what the pieces' own records take.
  EXPECT_GE(arena_->available(), 254u);
}

// Triangles that all have to be cut, layers that all differ: what is taken is never more than what was reserved.
TEST_F(FrontEndTest, ChunksKeepToTheirReservation) {
  std::mt19937 random(2);
  const auto uniform = [&] { return static_cast<float>(random() % 20000) / 10000 - 1; };
  for (int i = 0; i < 3000; ++i) {
    const float w = uniform() + 0.5f;
    const float reach = random() % 4 ? 2.0f : 300.0f;
    position(uniform() * reach, uniform() * reach, uniform() * 2, w);
  }
  for (const uint32_t layers : {1u, 6u}) {
    begin_.layerCount = layers;
    begin_.tileEdge_log2 = 4;
    vertex_.flags = layers > 1 ? uint32_t{abi::kVertexWritesLayer} : 0;
    vertex_.entry = layers > 1 ? [](abi::VertexEnv* env, const abi::VertexBlock* blocks, uint32_t count) {
      numberedVertices(env, blocks, count);
      for (uint32_t b = 0; b < count; ++b)
        for (uint32_t l = 0; l < abi::kVertexBlockLanes; ++l)
          blocks[b].outputs[abi::kRowLayer][l] = blocks[b].vertexIndex[l] / 3 % 6;
    } : numberedVertices;
    for (const uint8_t slots : {uint8_t{2}, uint8_t{32}}) {
      vertex_.varyingSlotCount = slots;
      used_B_ = 0;
      chunks_ = mostTaken_ = 0;
      draw(3000);
      const std::vector<Primitive> primitives = run(4096);
      EXPECT_GT(primitives.size(), 100u);
      EXPECT_GT(chunks_, 3u);
      for (const Primitive& p : primitives) {
        ASSERT_LT(p.record->primitiveId, 1000u);
        ASSERT_EQ(p.layer, layers > 1 ? p.record->primitiveId % 6 : 0);
        ASSERT_EQ(p.vertex(1), p.record->primitiveId * 3 + 1);
      }
    }
  }
}

}  // namespace
}  // namespace pumice::draw
