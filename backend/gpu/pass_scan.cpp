#include "backend/gpu/pass_scan.h"

#include <algorithm>
#include <bitset>
#include <cstring>

namespace pumice::gpu {
namespace {

using abi::PacketOp;

// Rough times on one core: of a primitive's assembly, set-up and bins, of what a small draw costs beside, of a tile
// without anything, of a byte that is cleared, of a pixel's coverage.
constexpr uint64_t kPrimitive_ns = 50;
constexpr uint64_t kDraw_ns = 800;
constexpr uint64_t kTile_ns = 100;
constexpr uint64_t kClearBytesPer_ns = 8;
// What nobody knows before an indirect draw's arguments are read.
constexpr uint64_t kIndirectVertices = 3 * 256;

class Scanner {
 public:
  explicit Scanner(PassScan& out) : out_(out) {}

  void draw(const abi::DrawState& state, uint64_t vertices) {
    out_.draws = true;
    ++draws_;
    primitives_ += vertices / 3 + 1;
    if (&state == last_) {
      vertices_ns_ += vertices * vertex_ns_ / 64;
      return;
    }
    last_ = &state;
    const abi::VertexProgram& vertex = *state.programs->vertex;
    out_.measured &= __atomic_load_n(&vertex.measured, __ATOMIC_RELAXED) != 0;
    vertex_ns_ = __atomic_load_n(&vertex.blockCost_ns, __ATOMIC_RELAXED);
    vertices_ns_ += vertices * vertex_ns_ / 64;
    if (const abi::FragmentProgram* fragment = state.programs->fragment) {
      out_.measured &= __atomic_load_n(&fragment->measured, __ATOMIC_RELAXED) != 0;
      fragment_ns_ = std::max<uint64_t>(fragment_ns_, __atomic_load_n(&fragment->blockCost_ns, __ATOMIC_RELAXED));
    }
    if (!targets_)
      targets_ = state.targets;
    else if (targets_ != state.targets && std::memcmp(targets_, state.targets, sizeof *targets_) != 0)
      out_.oneTarget = false;
  }

  void clear(const abi::ClearAttachmentPacket& packet) { cleared_.set(packet.attachment); }

  void finish(const abi::BeginPassPacket& pass) {
    // What a draw covers does not hide clears of what it does not write.
    if (targets_) {
      for (const uint8_t color : targets_->color) cleared_.reset(color);
      if (cleared_.any()) out_.oneTarget = false;
    }
    const raster::TileGrid grid = draw::gridOf(pass);
    out_.chunks = std::max<uint64_t>(1, primitives_ / 256);
    out_.chunk_ns = (primitives_ * kPrimitive_ns + draws_ * kDraw_ns + vertices_ns_) / out_.chunks;
    uint64_t clearBytes = 0;  // of a pixel
    const auto* attachments = reinterpret_cast<const abi::PassAttachment*>(&pass + 1);
    for (uint32_t i = 0; i < pass.attachmentCount; ++i) {
      const abi::Surface& s = attachments[i].surface;
      if (attachments[i].loadOp == abi::LoadOp::kClear) clearBytes += uint64_t{s.elementBytes} * s.sampleCount;
    }
    // As if each pixel of the area were drawn to once.
    const uint64_t pixels = uint64_t{pass.area.width} * pass.area.height * grid.layers / grid.tileCount();
    out_.tile_ns = kTile_ns + pixels * clearBytes / kClearBytesPer_ns + (draws_ ? pixels * fragment_ns_ / 16 : 0);
  }

 private:
  PassScan& out_;
  const abi::DrawState* last_ = nullptr;
  const abi::TargetState* targets_ = nullptr;
  std::bitset<256> cleared_;  // attachments
  uint64_t draws_ = 0, primitives_ = 0, vertices_ns_ = 0, vertex_ns_ = 0, fragment_ns_ = 0;
};

}  // namespace

PassScan scanPass(draw::PacketWalker at) {
  PassScan out;
  Scanner scanner(out);
  const auto& begin = *reinterpret_cast<const abi::BeginPassPacket*>(at.packet());
  at.advance();
  for (;;) {
    const abi::PacketHeader* header = at.packet();
    if (!header) return out;
    ++out.packets;
    switch (header->op) {
      case PacketOp::kDraw: {
        const auto& packet = *reinterpret_cast<const abi::DrawPacket*>(header);
        scanner.draw(*packet.state, uint64_t{packet.count} * packet.instanceCount);
        break;
      }
      case PacketOp::kDrawIndirect: {
        const auto& packet = *reinterpret_cast<const abi::DrawIndirectPacket*>(header);
        scanner.draw(*packet.state, kIndirectVertices * std::min(packet.maxDrawCount, 1024u));
        out.indirect = true;
        break;
      }
      case PacketOp::kClearAttachment:
        scanner.clear(*reinterpret_cast<const abi::ClearAttachmentPacket*>(header));
        break;
      case PacketOp::kBeginDrawQuery:
        out.queries = true;
        break;
      case PacketOp::kWaitEvents:
        out.eventWaits = true;
        break;
      case PacketOp::kEndDrawQuery:
      case PacketOp::kBeginStatistics:
      case PacketOp::kEndStatistics:
      case PacketOp::kWriteTimestamp:
        out.others = true;
        break;
      case PacketOp::kBeginPass:
        return out;
      case PacketOp::kEndPass:
        out.whole = at.atTop();
        at.advance();
        out.end = at;
        scanner.finish(begin);
        return out;
      default:
        break;
    }
    at.advance();
  }
}

}  // namespace pumice::gpu
