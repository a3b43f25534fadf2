#include "backend/draw/chunk_source.h"

#include <algorithm>
#include <cstring>

#include "backend/raster/clip.h"

namespace pumice::draw {
namespace {

constexpr uint32_t kMaxPrimitives = assembly::kMaxPrimitives;
// Of a chunk, where one primitive does not need more.
constexpr uint32_t kChunkBlocks = 128;

constexpr abi::StageMask kGeometry = abi::stageBit(abi::Stage::kGeometry);

// Triangles, lines or points that one primitive may become.
uint32_t outputsOf(const abi::DrawState& state) {
  const abi::RasterState& raster = *state.raster;
  if (assembly::verticesPerPrimitive(static_cast<VkPrimitiveTopology>(raster.topology)) < 3) return 1;
  if (raster.polygonMode != VK_POLYGON_MODE_FILL) return 3;
  // Each plane that cuts adds a corner at most (clip.h).
  const uint32_t planes =
      5 + (raster.flags & abi::kRasterDepthClip ? 2 : 0) + state.programs->vertex->clipDistanceCount;
  return std::min(1 + planes, raster::kMaxClippedTriangles);
}

bool isCounted(const QueryTargets& queries) {
  return queries.occlusion != nullptr ||
         (queries.statisticBits & VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT) != 0;
}

}  // namespace

bool hasEffect(const abi::DrawState& state, const QueryTargets& queries) {
  const abi::VertexProgram& vertex = *state.programs->vertex;
  if ((vertex.flags & abi::kVertexHasSideEffects) != 0 || queries.statistics != nullptr) return true;
  if ((state.raster->flags & abi::kRasterDiscard) != 0) return false;
  return state.programs->fragment != nullptr || queries.occlusion != nullptr;
}

void ChunkSource::begin(const PassInfo& pass, PacketWalker at, const QueryTargets& outer) {
  pass_ = &pass;
  walker_ = at;
  queries_ = outer;
  ended_ = corrupt_ = fence_ = again_ = mustRun_ = false;
  viewsLeft_ = 0;
  indirect_ = nullptr;
  bound_ = ChunkBound(pass.grid);
  made_.order = 0;
  made_.pieceCount = 0;
}

ChunkSource::Next ChunkSource::next(raster::BlockArena& arena, Chunk* out) {
  if (made_.pieceCount == 0) {
    if (fence_) {
      fence_ = false;
      return Next::kFence;
    }
    if (!fill(arena.blockCount())) {
      if (corrupt_) return Next::kCorrupt;
      if (again_) return Next::kAgain;
      if (fence_) {
        fence_ = false;
        return Next::kFence;
      }
      return Next::kEnd;
    }
  }
  if (!arena.reserve(made_.blocks)) return Next::kNoBlocks;
  out->order = made_.order++;
  out->blocks = made_.blocks;
  out->pieceCount = made_.pieceCount;
  std::copy_n(made_.pieces, made_.pieceCount, out->pieces);
  made_.pieceCount = 0;
  return Next::kChunk;
}

bool ChunkSource::fill(uint32_t arenaBlocks) {
  const uint32_t maxBlocks = std::min(kChunkBlocks, arenaBlocks / 2);
  primitives_ = 0;
  again_ = false;
  bound_.clear();
  while (made_.pieceCount < kMaxPieces && primitives_ < kMaxPrimitives) {
    if (viewsLeft_ == 0 && !nextCommand()) break;
    if (!addPiece(maxBlocks)) break;
  }
  made_.blocks = bound_.blocks();
  return made_.pieceCount != 0;
}

bool ChunkSource::nextCommand() {
  for (;;) {
    if (indirect_ && nextIndirect()) return true;
    if (ended_ || fence_ || again_) return false;
    const abi::PacketHeader* header = walker_.packet();
    if (!header) {
      ended_ = corrupt_ = true;
      return false;
    }
    bool found = false;
    switch (header->op) {
      case abi::PacketOp::kDraw:
        found = beginDraw(*reinterpret_cast<const abi::DrawPacket*>(header));
        break;
      case abi::PacketOp::kDrawIndirect: {
        const auto& packet = *reinterpret_cast<const abi::DrawIndirectPacket*>(header);
        indirect_ = &packet;
        indirectNext_ = 0;
        indirectCount_ = packet.maxDrawCount;
        if (packet.countAddress != 0) {
          uint32_t count;
          std::memcpy(&count, reinterpret_cast<const void*>(packet.countAddress), sizeof count);
          indirectCount_ = std::min(indirectCount_, count);
        }
        break;
      }
      case abi::PacketOp::kClearAttachment: {
        const auto& clear = *reinterpret_cast<const abi::ClearAttachmentPacket*>(header);
        if (clear.rectCount == 0 || clear.attachment >= pass_->packet->attachmentCount) break;
        current_ = {};
        current_.clear = &clear;
        current_.queries = {};
        cursor_ = {};
        viewsLeft_ = 1;
        layered_ = true;
        found = true;
        break;
      }
      case abi::PacketOp::kBeginDrawQuery:
      case abi::PacketOp::kEndDrawQuery:
        takeQuery(*reinterpret_cast<const abi::DrawQueryPacket*>(header), header->op == abi::PacketOp::kBeginDrawQuery);
        break;
      case abi::PacketOp::kBarrier: {
        const auto& barrier = *reinterpret_cast<const abi::BarrierPacket*>(header);
        fence_ = (barrier.src & kGeometry) != 0 && (barrier.dst & kGeometry) != 0;
        break;
      }
      case abi::PacketOp::kEndPass:
        ended_ = true;
        return false;
      default:
        break;  // the command processor's
    }
    walker_.advance();
    if (found) return true;
  }
}

void ChunkSource::takeQuery(const abi::DrawQueryPacket& packet, bool begins) {
  auto* slots = begins ? reinterpret_cast<abi::QuerySlot*>(packet.slotAddress) : nullptr;
  if (packet.kind == abi::DrawQueryKind::kStatistics) {
    queries_.statistics = slots;
    queries_.statisticBits = begins ? packet.statistics : 0;
  } else {
    queries_.occlusion = slots;
  }
}

bool ChunkSource::beginDraw(const abi::DrawPacket& packet) {
  const abi::DrawState& state = *packet.state;
  const auto topology = static_cast<VkPrimitiveTopology>(state.raster->topology);
  if (packet.count == 0 || packet.instanceCount == 0 || !assembly::isSupported(topology)) return false;
  if (!hasEffect(state, queries_)) return false;
  const bool indexed = (packet.header.flags & abi::kDrawIndexed) != 0;
  const uint16_t flags = state.raster->flags;
  current_.state = &state;
  current_.clear = nullptr;
  current_.pushConstants = packet.pushConstants;
  assembly::DrawInput& input = current_.input;
  input.topology = topology;
  input.restart = (flags & abi::kRasterPrimitiveRestart) != 0;
  input.provokingLast = (flags & abi::kRasterProvokingLast) != 0;
  input.indices = indexed ? state.indexBuffer : nullptr;
  input.first = packet.first;
  input.count = packet.count;
  input.firstInstance = packet.firstInstance;
  input.instanceCount = packet.instanceCount;
  input.vertexOffset = packet.vertexOffset;
  current_.drawIndex = packet.drawIndex;
  current_.queries = queries_;
  cursor_ = {};
  viewsLeft_ = pass_->hasViews() ? pass_->packet->viewMask : 1;

  const abi::VertexProgram& vertex = *state.programs->vertex;
  const abi::FragmentProgram* fragment = state.programs->fragment;
  layered_ = (vertex.flags & abi::kVertexWritesLayer) != 0 && !pass_->hasViews();
  corners_ = assembly::verticesPerPrimitive(topology);
  outputsPerPrimitive_ = outputsOf(state);
  varyings_B_ = corners_ * std::max<uint32_t>(vertex.varyingSlotCount, 1) * 16;
  const uint32_t fragmentFlags = fragment ? fragment->flags : 0;
  mustRun_ |= (fragmentFlags & (abi::kFragmentSideEffects | abi::kFragmentReadsTarget)) != 0 || isCounted(queries_);
  current_.mayHide = pass_->oneTarget && !mustRun_;
  return true;
}

bool ChunkSource::nextIndirect() {
  constexpr uint32_t kMostAtOnce = 1u << 14;  // below 0.2 ms
  for (uint32_t left = kMostAtOnce; indirectNext_ < indirectCount_; --left) {
    again_ = left == 0;
    if (again_) return false;
    const uint32_t i = indirectNext_++;
    const auto* args = reinterpret_cast<const std::byte*>(indirect_->argsAddress + uint64_t{i} * indirect_->stride_B);
    abi::DrawPacket draw{};
    draw.header.flags = indirect_->header.flags;
    draw.state = indirect_->state;
    draw.pushConstants = indirect_->pushConstants;
    draw.drawIndex = i;
    if (draw.header.flags & abi::kDrawIndexed) {
      VkDrawIndexedIndirectCommand command;
      std::memcpy(&command, args, sizeof command);
      draw.count = command.indexCount;
      draw.instanceCount = command.instanceCount;
      draw.first = command.firstIndex;
      draw.vertexOffset = command.vertexOffset;
      draw.firstInstance = command.firstInstance;
    } else {
      VkDrawIndirectCommand command;
      std::memcpy(&command, args, sizeof command);
      draw.count = command.vertexCount;
      draw.instanceCount = command.instanceCount;
      draw.first = command.firstVertex;
      draw.firstInstance = command.firstInstance;
    }
    if (beginDraw(draw)) return true;
  }
  indirect_ = nullptr;
  return false;
}

ChunkBound::Size ChunkSource::sizeOf(uint32_t primitives) const {
  if (current_.clear) return {primitives, primitives, 0};
  const uint32_t layered = layered_ ? primitives : pass_->hasViews() ? 1 : 0;
  return {primitives * outputsPerPrimitive_, layered, primitives * varyings_B_};
}

// As much of the current command as the chunk has room for. False: none of it.
bool ChunkSource::addPiece(uint32_t maxBlocks) {
  uint32_t primitives = kMaxPrimitives - primitives_;
  if (current_.state) {
    // The rows of a piece's vertices lie in one block.
    if (primitives * varyings_B_ > kBlockRoom_B) primitives = kBlockRoom_B / varyings_B_;
    // Small draws do not need room for all that the chunk could take.
    const uint64_t vertices = uint64_t{current_.input.count} * current_.input.instanceCount;
    primitives = static_cast<uint32_t>(std::min<uint64_t>(primitives, vertices));
  }
  while (primitives > 1 && bound_.blocksWith(sizeOf(primitives)) > maxBlocks) primitives /= 2;
  if (made_.pieceCount != 0 && bound_.blocksWith(sizeOf(primitives)) > maxBlocks) return false;

  current_.cursor = cursor_;
  uint32_t taken = 0;
  bool commandEnds = false;
  if (current_.clear) {
    while (taken < primitives && cursor_.instance < current_.clear->rectCount) {
      const uint32_t left = clearedLayers(*pass_, rectsOf(*current_.clear)[cursor_.instance]) - cursor_.primitive;
      const uint32_t now = std::min(left, primitives - taken);
      taken += now;
      cursor_.primitive += now;
      if (now == left) cursor_ = {cursor_.instance + 1, 0, 0, 0};
    }
    commandEnds = cursor_.instance == current_.clear->rectCount;
    current_.primitives = taken;
    if (taken != 0) made_.pieces[made_.pieceCount++] = current_;
    if (commandEnds) viewsLeft_ = 0;
  } else {
    taken = assembly::advance(current_.input, &cursor_, primitives);
    commandEnds = taken < primitives;
    if (taken != 0) {
      current_.primitives = taken;
      current_.view = pass_->hasViews() ? static_cast<uint32_t>(std::countr_zero(viewsLeft_)) : 0;
      current_.layer = pass_->hasViews()
                           ? static_cast<uint32_t>(std::popcount(pass_->packet->viewMask & ((1u << current_.view) - 1)))
                           : 0;
      made_.pieces[made_.pieceCount++] = current_;
    }
    if (commandEnds) {
      viewsLeft_ &= viewsLeft_ - 1;
      cursor_ = {};
    }
  }
  if (taken != 0) bound_.add(sizeOf(taken));
  primitives_ += taken;
  return true;
}

}  // namespace pumice::draw
