// The command processor: passes and the queries that count what they draw. Other packets are in processor.cpp.
#include <bit>

#include "backend/gpu/machine.h"
#include "backend/gpu/pass.h"
#include "backend/gpu/pass_scan.h"
#include "backend/gpu/progress.h"
#include "backend/gpu/queries.h"
#include "backend/gpu/queue.h"

namespace pumice::gpu {
namespace {

constexpr uint32_t kIndirectLane = static_cast<uint32_t>(abi::Stage::kIndirect);
constexpr uint32_t kGeometryLane = static_cast<uint32_t>(abi::Stage::kGeometry);
constexpr uint32_t kFragmentLane = static_cast<uint32_t>(abi::Stage::kFragment);
constexpr LaneMask laneBit(uint32_t lane) {
  return 1u << lane;
}

// What a pass may take for its primitives. A chunk reserves up to kChunkBlocks of it (draw/chunk_source.cpp) and mostly
// takes two: beyond a dozen workers the usual size would keep some from working.
constexpr uint64_t kArenaBytes = 32ull << 20;
constexpr uint64_t kArenaBytesPerWorker = 5ull << 19;
constexpr uint64_t kLeastArenaBytes = 64 * raster::kArenaBlockBytes;

}  // namespace

raster::BlockArena& Queue::drawArena() {
  if (!drawArena_) {
    uint64_t size_B = machine_.config.drawArena_B;
    if (size_B == 0) size_B = std::max(kArenaBytes, kArenaBytesPerWorker * machine_.pool->workerCount());
    const auto blocks = static_cast<uint32_t>(std::max(size_B, kLeastArenaBytes) / raster::kArenaBlockBytes);
    drawMemory_.reset(static_cast<std::byte*>(std::aligned_alloc(4096, blocks * raster::kArenaBlockBytes)));
    if (!drawMemory_) throw std::bad_alloc();
    drawArena_ = std::make_unique<raster::BlockArena>(drawMemory_.get(), blocks);
  }
  return *drawArena_;
}

// The stack's top is at the pass's begin, and behind its end afterwards.
Queue::Step Queue::onPass(const abi::BeginPassPacket& packet, Progress& progress) {
  progress.propagate();
  if (progress.hasReady()) progress.shareReady();
  if (parkOnWindow()) return Step::kPark;
  const std::byte* const begin = stack_[depth_ - 1];
  const PassScan scan = scanPass(draw::PacketWalker(begin));
  if (!scan.whole) {
    corrupt("a pass that does not end");
    return Step::kPark;
  }
  draw::PacketWalker inside{begin};
  inside.packet();
  inside.advance();
  if (scan.eventWaits)
    if (const Step step = waitForEventsOf(inside); step != Step::kNext) return step;

  const bool counts = scan.queries || drawQueries_ != draw::QueryTargets{};
  const LaneMask queryBit = counts ? kQueryLaneBit : 0;
  Predecessors geometryGates;
  Predecessors tileGates;
  gates_.addGates(laneBit(kGeometryLane) | (scan.indirect ? laneBit(kIndirectLane) : 0) | queryBit, geometryGates);
  gates_.addGates(laneBit(kFragmentLane) | queryBit, tileGates);
  if (lastCut_ && lastCut_->isComplete()) replaceHeld(lastCut_, nullptr);
  geometryGates.add(lastCut_);
  const bool open = geometryGates.empty() && tileGates.empty();
  if (open && !progress.worker()) return Step::kHand;
  if (open && machine_.isLost()) return Step::kPark;

  draw::PassInfo info;
  info.packet = &packet;
  info.grid = draw::gridOf(packet);
  info.oneTarget = scan.oneTarget;
  raster::BlockArena& arena = drawArena();
  Pass* pass = passes_.acquire();
  pass->begin(*this, info, inside, drawQueries_, arena, scan.tile_ns, scan.measured);

  const uint64_t tiles = info.grid.tileCount();
  const uint64_t total_ns = scan.chunks * scan.chunk_ns + tiles * scan.tile_ns;
  // With the arena to itself it never waits for blocks.
  if (open && machine_.config.inlineSmallSpans && scan.measured && total_ns <= kInlineBudget_ns &&
      passesInFlight_.load(std::memory_order_acquire) == 0) {
    progress.letOthersGo(this);
    progress.runPassAlone(*pass);
    passes_.release(pass);
    if (machine_.isLost()) return Step::kPark;  // the stream may be gone
  } else {
    Work work;
    work.pass = pass;
    work.passMeasured = scan.measured;
    work.kind = WorkKind::kPassGeometry;
    work.unitCount = scan.chunks;
    work.unitCost_ns = static_cast<uint32_t>(std::min<uint64_t>(scan.chunk_ns, UINT32_MAX));
    Span* geometry = newSpan(work, kGeometryLane, scan.indirect ? kIndirectLane : kNoLane);
    work.kind = WorkKind::kPassTiles;
    work.unitCount = tiles;
    work.unitCost_ns = static_cast<uint32_t>(std::min<uint64_t>(scan.tile_ns, UINT32_MAX));
    Span* tileSpan = newSpan(work, kFragmentLane, kNoLane);
    Node* cut = newNode(NodeKind::kGate);
    cut->pending.store(1, std::memory_order_relaxed);  // until the pass has been cut
    replaceHeld(lastCut_, cut);
    pass->setSpans(geometry, tileSpan, cut);
    passesInFlight_.fetch_add(1, std::memory_order_relaxed);
    // From here on the pass may run, and end.
    start(geometry, geometryGates, progress);
    start(tileSpan, tileGates, progress);
  }
  if (scan.others) afterPass(inside, progress);
  stack_[depth_ - 1] = scan.end.position();
  return Step::kNext;
}

// Waits inside of a pass come before it: nothing that the pass does could set the events.
Queue::Step Queue::waitForEventsOf(draw::PacketWalker at) {
  for (const abi::PacketHeader* header; (header = at.packet())->op != abi::PacketOp::kEndPass; at.advance()) {
    if (header->op != abi::PacketOp::kWaitEvents) continue;
    const Step step = onWaitEvents(*reinterpret_cast<const abi::WaitEventsPacket*>(header));
    if (step != Step::kNext) return step;
  }
  return Step::kNext;
}

// Timestamps and ends of queries inside of a pass come after it.
void Queue::afterPass(draw::PacketWalker at, Progress& progress) {
  for (const abi::PacketHeader* header; (header = at.packet())->op != abi::PacketOp::kEndPass; at.advance()) {
    switch (header->op) {
      case abi::PacketOp::kWriteTimestamp:
        onTimestamp(*reinterpret_cast<const abi::TimestampPacket*>(header), progress);
        break;
      case abi::PacketOp::kEndDrawQuery:
        onEndDrawQuery(*reinterpret_cast<const abi::DrawQueryPacket*>(header), progress);
        break;
      case abi::PacketOp::kBeginStatistics:
        onBeginStatistics();
        break;
      case abi::PacketOp::kEndStatistics:
        onEndStatistics(*reinterpret_cast<const abi::EndStatisticsPacket*>(header), progress);
        break;
      default:
        break;
    }
  }
}

void Queue::onBeginDrawQuery(const abi::DrawQueryPacket& packet) {
  auto* slots = reinterpret_cast<abi::QuerySlot*>(packet.slotAddress);
  if (packet.kind == abi::DrawQueryKind::kStatistics) {
    drawQueries_.statistics = slots;
    drawQueries_.statisticBits = packet.statistics;
  } else {
    drawQueries_.occlusion = slots;
  }
}

void Queue::onEndDrawQuery(const abi::DrawQueryPacket& packet, Progress& progress) {
  progress.propagate();
  const bool statistics = packet.kind == abi::DrawQueryKind::kStatistics;
  if (statistics) {
    drawQueries_.statistics = nullptr;
    drawQueries_.statisticBits = 0;
  } else {
    drawQueries_.occlusion = nullptr;
  }
  auto* slots = reinterpret_cast<abi::QuerySlot*>(packet.slotAddress);
  const uint32_t count = statistics ? static_cast<uint32_t>(std::popcount(packet.statistics)) : 1;
  Predecessors earlier;
  gates_.addEarlier(laneBit(kGeometryLane) | laneBit(kFragmentLane), earlier, progress);
  gates_.addGates(kQueryLaneBit, earlier);
  if (earlier.empty()) {
    if (!machine_.isLost()) finishQuery(slots, count, machine_.queryWaiters);
    return;
  }
  Node* node = newNode(NodeKind::kFinishQuery);
  node->slots = slots;
  node->slotCount = count;
  addEdge(node, gates_.collector(kQueryLane));
  start(node, earlier, progress);
}

}  // namespace pumice::gpu
