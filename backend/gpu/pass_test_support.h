// Passes for tests: streams of draws, programs of both stages that are C++ functions, attachments, and a naive
// reference.
//
// A vertex's position is read from vertex buffer 0, four floats, or made from its number; fragment functions write an
// id to a 32-bit color attachment. The reference draws the same primitives one after the other, with coverage from
// raster/raster_reference.h's definition: exact integers, no tiles, no bins.
#pragma once

#include <functional>
#include <memory>

#include "backend/abi/draw_packets.h"
#include "backend/gpu/image_test_support.h"
#include "backend/gpu/test_support.h"

namespace pumice::gpu::test {

inline constexpr StageMask kGeometryStage = abi::stageBit(Stage::kGeometry);

struct Vec4 {
  float x, y, z, w;
};

// Copies slot 0 to the position, and slot 1, if there is one, to varying 0.
inline void copyPositions(abi::VertexEnv*, const abi::VertexBlock* blocks, uint32_t count) {
  for (uint32_t b = 0; b < count; ++b)
    for (uint32_t row = 0; row < 4; ++row)
      for (uint32_t l = 0; l < abi::kVertexBlockLanes; ++l) blocks[b].outputs[row][l] = blocks[b].inputs[row][l];
}

// What the fragment functions here do with each covered sample.
template <typename Use>
void forEachSample(const abi::FragmentRun& run, uint32_t samples, Use&& use) {
  for (uint32_t s = 0; s < samples; ++s) {
    for (uint32_t i = 0; i < run.blockCount; ++i)
      for (uint32_t l = 0; l < 16; ++l)
        if (run.blockCoverage[s][i] >> l & 1)
          use((run.blockPosition[i] & 0xFFFF) + (l & 1) + (l >> 1 & 2),
              (run.blockPosition[i] >> 16) + (l >> 1 & 1) + (l >> 2 & 2), s, run.blockPrimitive[i]);
    for (uint32_t i = 0; i < run.mixCount; ++i)
      for (uint32_t l = 0; l < 16; ++l)
        if (run.mixCoverage[s][i] >> l & 1)
          use((run.mixPosition[i][l / 4] & 0xFFFF) + (l & 1), (run.mixPosition[i][l / 4] >> 16) + (l >> 1 & 1), s,
              run.mixPrimitive[i][l / 4]);
  }
}

inline uint32_t* texel(const abi::Surface& s, uint32_t x, uint32_t y, uint32_t sample) {
  return reinterpret_cast<uint32_t*>(s.address + (y / 4) * s.rowPitch_B + (x / 4) * s.blockPitch_B +
                                     sample * s.samplePitch_B + abi::quadMajorIndex(x % 4, y % 4) * 4);
}

// What a fragment adds to the texel: new = old * 31 + this. So every fragment shows, and so does their order.
inline uint32_t mix(uint32_t old, uint32_t id) {
  return old * 31 + id + 1;
}

inline void mixIds(abi::FragmentEnv* env, const abi::FragmentRun* run) {
  uint32_t draw;
  std::memcpy(&draw, env->common.pushConstants, 4);
  const abi::Surface& target = env->color[0];
  forEachSample(*run, target.sampleCount, [&](uint32_t x, uint32_t y, uint32_t s, uint32_t primitive) {
    uint32_t* t = texel(target, x, y, s);
    *t = mix(*t, draw * 1000003 + env->primitives[primitive].primitiveId);
    ++env->counters->samplesPassed;
  });
  env->counters->invocations += run->blockCount * 16 + run->mixCount * 16;
}

// Overwrites, so that what is below cannot be seen.
inline void writeIds(abi::FragmentEnv* env, const abi::FragmentRun* run) {
  uint32_t draw;
  std::memcpy(&draw, env->common.pushConstants, 4);
  const abi::Surface& target = env->color[0];
  forEachSample(*run, target.sampleCount, [&](uint32_t x, uint32_t y, uint32_t s, uint32_t primitive) {
    *texel(target, x, y, s) = draw * 1000003 + env->primitives[primitive].primitiveId;
  });
}

struct Attachment {
  Attachment(uint32_t width, uint32_t height, uint32_t layers, uint32_t samples, uint32_t value = 0)
      : random(1), image(shape(width, height, layers, samples), random) {
    auto* words = reinterpret_cast<uint32_t*>(image.data());
    std::fill(words, words + image.layout().size_B / 4, value);
  }
  static formats::ImageShape shape(uint32_t width, uint32_t height, uint32_t layers, uint32_t samples) {
    formats::ImageShape s;
    s.width = width;
    s.height = height;
    s.layerCount = layers;
    s.sampleCount = samples;
    s.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    return s;
  }
  abi::Surface surface() { return image.surface(0, 0); }
  uint32_t at(uint32_t x, uint32_t y, uint32_t sample = 0, uint32_t layer = 0) {
    uint32_t value;
    std::memcpy(&value, image.at(0, layer, sample, x, y), 4);
    return value;
  }
  std::mt19937 random;
  TestImage image;
};

// All groups of a draw's state, with defaults: triangles, one viewport, one color attachment.
struct DrawSetup {
  abi::VertexProgram vertex{};
  abi::FragmentProgram fragment{};
  abi::GraphicsPrograms programs{&vertex, &fragment};
  abi::VertexInputState input{};
  abi::VertexBufferState buffers{};
  abi::IndexBufferState indices{};
  abi::ViewportState viewports{};
  abi::RasterState raster{};
  abi::FragmentState fragmentState{};
  abi::TargetState targets{};
  abi::DrawState state{&programs, nullptr, &input, &buffers, &indices, &viewports, &raster, &fragmentState, &targets};
  std::vector<Vec4> positions;
  std::vector<uint32_t> index32;

  DrawSetup(uint32_t width, uint32_t height, uint32_t samples_log2 = 0) {
    vertex.entry = copyPositions;
    vertex.inputSlotCount = 1;
    vertex.blockCost_ns = 100;
    fragment.entry = mixIds;
    fragment.blockCost_ns = 20;
    input.attributeCount = 1;
    input.attributes[0] = {VK_FORMAT_R32G32B32A32_SFLOAT, 0, 0, 0, abi::AttributeRate::kVertex, 1, 0};
    viewports.count = 1;
    viewports.viewports[0] = {0, 0, static_cast<float>(width), static_cast<float>(height), 0, 1};
    viewports.scissors[0] = {0, 0, width, height};
    raster.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    raster.polygonMode = VK_POLYGON_MODE_FILL;
    raster.samples_log2 = static_cast<uint8_t>(samples_log2);
    raster.flags = abi::kRasterDepthClip;
    raster.lineWidth = 1;
    fragmentState.sampleMask = ~0u;
    fragmentState.colorWriteEnable = 0xFF;
    std::memset(&targets, abi::kNoAttachment, sizeof targets);
    targets.color[0] = 0;
  }
  DrawSetup(const DrawSetup&) = delete;

  void usePositions() {
    buffers.buffers[0] = {reinterpret_cast<uint64_t>(positions.data()), positions.size() * sizeof(Vec4), sizeof(Vec4)};
  }
  void useIndices() {
    indices = {reinterpret_cast<uint64_t>(index32.data()), index32.size() * 4, abi::IndexType::kUint32, 0};
  }
};

// Writes passes into a stream.
class PassStream : public Stream {
 public:
  struct Target {
    Attachment* attachment;
    abi::LoadOp load = abi::LoadOp::kLoad;
    uint32_t clear = 0;
  };
  struct Options {
    uint32_t layers = 1, viewMask = 0;
    uint8_t tileEdge_log2 = 6;
    uint8_t samples_log2 = 0;
    const abi::PassArea* area = nullptr;
  };

  void beginPass(uint32_t width, uint32_t height, std::initializer_list<Target> targets, const Options& options) {
    abi::BeginPassPacket packet{};
    packet.area = options.area ? *options.area : abi::PassArea{0, 0, width, height};
    packet.layerCount = options.layers;
    packet.viewMask = options.viewMask;
    packet.attachmentCount = static_cast<uint16_t>(targets.size());
    packet.samples_log2 = options.samples_log2;
    packet.tileEdge_log2 = options.tileEdge_log2;
    auto* at = put(abi::PacketOp::kBeginPass, packet, targets.size() * sizeof(abi::PassAttachment));
    auto* attachment = reinterpret_cast<abi::PassAttachment*>(at + 1);
    for (const Target& t : targets) {
      *attachment = {};
      attachment->surface = t.attachment->surface();
      attachment->format = VK_FORMAT_R32_UINT;
      attachment->loadOp = t.load;
      attachment->loadViews = 0xff;
      std::memcpy(attachment->clearElement, &t.clear, 4);
      ++attachment;
    }
  }
  void beginPass(uint32_t width, uint32_t height, std::initializer_list<Target> targets) {
    beginPass(width, height, targets, Options{});
  }
  void endPass() { put(abi::PacketOp::kEndPass, abi::EndPassPacket{}); }

  void draw(const DrawSetup& setup, uint32_t id, uint32_t count, uint32_t first = 0, uint32_t instances = 1,
            uint32_t firstInstance = 0) {
    put(abi::PacketOp::kDraw,
        abi::DrawPacket{{}, &setup.state, constants(id), first, count, firstInstance, instances, 0, 0});
  }
  void drawIndexed(const DrawSetup& setup, uint32_t id, uint32_t count, uint32_t first = 0, int32_t offset = 0,
                   uint32_t instances = 1) {
    auto* packet = put(abi::PacketOp::kDraw,
                       abi::DrawPacket{{}, &setup.state, constants(id), first, count, 0, instances, offset, 0});
    packet->header.flags = abi::kDrawIndexed;
  }
  void drawIndirect(const DrawSetup& setup, uint32_t id, const void* args, uint32_t stride_B, uint32_t maxCount,
                    const uint32_t* count, bool indexed) {
    auto* packet = put(abi::PacketOp::kDrawIndirect, abi::DrawIndirectPacket{{},
                                                                             &setup.state,
                                                                             constants(id),
                                                                             reinterpret_cast<uint64_t>(args),
                                                                             reinterpret_cast<uint64_t>(count),
                                                                             stride_B,
                                                                             maxCount});
    if (indexed) packet->header.flags = abi::kDrawIndexed;
  }
  void clearAttachment(uint8_t attachment, uint32_t value, std::initializer_list<abi::ClearRect> rects,
                       uint32_t viewMask = 0) {
    abi::ClearAttachmentPacket packet{};
    packet.attachment = attachment;
    packet.viewMask = viewMask;
    packet.rectCount = static_cast<uint32_t>(rects.size());
    std::memcpy(packet.element, &value, 4);
    auto* at = put(abi::PacketOp::kClearAttachment, packet, rects.size() * sizeof(abi::ClearRect));
    std::memcpy(at + 1, rects.begin(), rects.size() * sizeof(abi::ClearRect));
  }
  void beginQuery(abi::QuerySlot* slot, abi::DrawQueryKind kind, uint32_t bits = 0) {
    put(abi::PacketOp::kBeginDrawQuery, abi::DrawQueryPacket{{}, reinterpret_cast<uint64_t>(slot), kind, bits});
  }
  void endQuery(abi::QuerySlot* slot, abi::DrawQueryKind kind, uint32_t bits = 0) {
    put(abi::PacketOp::kEndDrawQuery, abi::DrawQueryPacket{{}, reinterpret_cast<uint64_t>(slot), kind, bits});
  }

  const std::byte* constants(uint32_t id) {
    constants_.push_back({});
    std::memcpy(constants_.back().bytes, &id, 4);
    return constants_.back().bytes;
  }

 private:
  struct Constants {
    std::byte bytes[abi::kMaxPushConstantBytes];
  };
  std::deque<Constants> constants_;
};

}  // namespace pumice::gpu::test
