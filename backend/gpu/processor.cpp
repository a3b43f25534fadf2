// The command processor: what submissions and packets mean.
#include <new>

#include "backend/gpu/engine.h"
#include "backend/gpu/machine.h"
#include "backend/gpu/progress.h"
#include "backend/gpu/queries.h"
#include "backend/gpu/queue.h"
#include "backend/trace/log.h"
#include "backend/trace/seeded_fault.h"

namespace pumice::gpu {
namespace {

constexpr uint32_t kIndirectLane = static_cast<uint32_t>(abi::Stage::kIndirect);
constexpr uint32_t kComputeLane = static_cast<uint32_t>(abi::Stage::kCompute);
constexpr uint32_t kTransferLane = static_cast<uint32_t>(abi::Stage::kTransfer);
constexpr LaneMask laneBit(uint32_t lane) {
  return 1u << lane;
}

// The processor looks at the clock and at the pool's queue this often.
constexpr uint64_t kPacketsPerLook = 64;

template <typename Packet>
const Packet& as(const abi::PacketHeader* header) {
  return *reinterpret_cast<const Packet*>(header);
}

// "All commands" of a signal's source takes the query commands in, which are in no stage of their own.
LaneMask sourceLanes(abi::StageMask src) {
  return src == abi::kAllStages ? kAllLanes : src;
}

}  // namespace

Queue::Step Queue::run(Progress& progress) {
  parkedOnEvents_.store(false, std::memory_order_relaxed);
  parkedOnWindow_.store(false, std::memory_order_relaxed);
  for (;;) {
    if (machine_.isLost()) return Step::kPark;
    Step next = Step::kNext;
    if (!batch_ || waitsDone_ < batch_->waitCount)
      next = beginBatch(progress);
    else if (depth_ > 0)
      next = step(progress);
    else if (streamsBegun_ < batch_->streamCount)
      stack_[depth_++] = batch_->streams()[streamsBegun_++];
    else
      next = endBatch(progress);
    if (next != Step::kNext) return next;
  }
}

Queue::Step Queue::beginBatch(Progress& progress) {
  if (!batch_) {
    batch_ = ring_.front();
    if (!batch_) return Step::kPark;
    ring_.pop();  // the record stays until the next front()
    waitsDone_ = streamsBegun_ = 0;
    drawQueries_ = {};
    ++batchesBegun_;
  }
  for (; waitsDone_ < batch_->waitCount; ++waitsDone_) {
    if (parkOnWindow()) return Step::kPark;
    waitFor(batch_->waits()[waitsDone_], progress);
  }
  return Step::kNext;
}

// The batch need not stop for its waits: each becomes a node that the gates of its stages are put behind.
void Queue::waitFor(const kmd::SubmitWait& wait, Progress& progress) {
  if (wait.timeline->value() >= wait.value) return;
  Node* node = newNode(NodeKind::kWait);
  node->timeline = wait.timeline;
  node->waiter.value = wait.value;
  node->waiter.word = nullptr;
  node->pending.store(1, std::memory_order_relaxed);
  node->references.fetch_add(1, std::memory_order_relaxed);  // it may fire as soon as it is linked
  if (wait.timeline->addWaiter(&node->waiter)) {
    // Query commands have no stage to name.
    gates_.gateBehind(node, wait.dst | kQueryLaneBit | kWaitLaneBit, {}, progress);
  } else {
    release(node);
  }
  release(node);
}

Node* Queue::newSignal(const kmd::SubmitSignal& signal) {
  Node* node = newNode(NodeKind::kSignal);
  node->timeline = signal.timeline;
  node->value = signal.value;
  return node;
}

Queue::Step Queue::endBatch(Progress& progress) {
  if (parkOnWindow()) return Step::kPark;
  progress.propagate();
  const std::span<const kmd::SubmitSignal> signals = batch_->signals();

  // Everything earlier, as one node; batches retire in order.
  Predecessors earlier;
  if (!PUMICE_SEEDED_FAULT("signal-early")) gates_.addEarlier(kAllLanes, earlier, progress);
  earlier.add(lastEventWrite_);
  earlier.add(lastRetire_);
  if (earlier.empty()) {
    if (machine_.isLost()) return Step::kPark;
    for (const kmd::SubmitSignal& each : signals) progress.signal(each.timeline, each.value);
    retired_.signal(batchesBegun_);
  } else {
    Node* join = *earlier.begin();
    join->references.fetch_add(1, std::memory_order_relaxed);
    if (earlier.size() > 1) {
      release(join);
      join = newNode(NodeKind::kGate);
      join->references.fetch_add(1, std::memory_order_relaxed);
      start(join, earlier, progress);
    }
    // Signals of partial scopes first. They fire before the join or with it, but perhaps on another thread: what tells
    // the application that the batch is complete (a fence) comes after them, lest it destroys their semaphores.
    Node* done = join;
    for (const kmd::SubmitSignal& each : signals) {
      if (each.src == abi::kAllStages) continue;
      // Whatever its stages, a signal comes after the signals of earlier batches (Vulkan 1.3, 7.4.1): else a timeline
      // could reach a value before a smaller one. One without stages has no work to come after, and comes after all
      // that the batch waits for.
      Predecessors scope;
      gates_.addEarlier(each.src ? sourceLanes(each.src) : kWaitLaneBit, scope, progress);
      scope.add(lastRetire_);
      if (scope.empty()) {
        if (!machine_.isLost()) progress.signal(each.timeline, each.value);
        continue;
      }
      if (done == join) {
        done = newNode(NodeKind::kGate);
        done->pending.store(1, std::memory_order_relaxed);
        done->references.fetch_add(1, std::memory_order_relaxed);
        addEdge(join, done);
        release(join);
      }
      Node* node = newSignal(each);
      addEdge(node, done);
      start(node, scope, progress);
    }
    const bool partial = done != join;
    Predecessors all;
    all.add(done);
    for (const kmd::SubmitSignal& each : signals)
      if (each.src == abi::kAllStages) start(newSignal(each), all, progress);
    // The retire node comes last among what fires with `done`.
    Node* retire = newNode(NodeKind::kRetire);
    retire->value = batchesBegun_;
    retire->pending.store(1, std::memory_order_relaxed);
    addEdge(done, retire);
    if (partial) progress.arrive(done);
    release(done);
    replaceHeld(lastRetire_, retire);
    progress.arrive(retire);
  }
  batch_ = nullptr;
  return Step::kNext;
}

Queue::Step Queue::step(Progress& progress) {
  const std::byte*& at = stack_[depth_ - 1];
  const auto* header = reinterpret_cast<const abi::PacketHeader*>(at);
  Step next = Step::kNext;
  switch (header->op) {
    case abi::PacketOp::kJump:
      at = as<abi::JumpPacket>(header).target;
      return Step::kNext;
    case abi::PacketOp::kReturn:
      --depth_;
      return Step::kNext;
    case abi::PacketOp::kCall:
      return onCall(as<abi::CallPacket>(header));
    case abi::PacketOp::kNop:
    case abi::PacketOp::kLabelBegin:
    case abi::PacketOp::kLabelEnd:
      break;
    case abi::PacketOp::kBarrier: {
      if (parkOnWindow()) return Step::kPark;
      const auto& packet = as<abi::BarrierPacket>(header);
      progress.propagate();
      gates_.barrier(packet.src, packet.dst, progress);
      break;
    }
    case abi::PacketOp::kDispatch: {
      const Work work = dispatchWork(as<abi::DispatchPacket>(header));
      const uint64_t invocations = statistics_ ? invocationsOf(work) : 0;  // afterwards the packet may be gone
      next = onWork(work, laneBit(kComputeLane), kComputeLane, kNoLane, progress);
      if (next == Step::kNext && statistics_) __atomic_fetch_add(&statistics_->value, invocations, __ATOMIC_RELAXED);
      break;
    }
    case abi::PacketOp::kDispatchIndirect: {
      // The arguments are read, and their invocations counted, when both gates have opened, by the worker that starts
      // the span.
      Work work = dispatchIndirectWork(as<abi::DispatchIndirectPacket>(header));
      if (statistics_) work.invocations = &statistics_->value;
      next = onWork(work, laneBit(kComputeLane) | laneBit(kIndirectLane), kComputeLane, kIndirectLane, progress);
      break;
    }
    case abi::PacketOp::kCopyBuffer: {
      const auto& packet = as<abi::CopyBufferPacket>(header);
      next = onTransfer(copyWork(packet.dst, packet.src, packet.size_B), progress);
      break;
    }
    case abi::PacketOp::kFillBuffer: {
      const auto& packet = as<abi::FillBufferPacket>(header);
      next = onTransfer(fillWork(packet.dst, packet.size_B, packet.value), progress);
      break;
    }
    case abi::PacketOp::kUpdateBuffer: {
      const auto& packet = as<abi::UpdateBufferPacket>(header);
      next = onTransfer(copyWork(packet.dst, reinterpret_cast<uint64_t>(&packet + 1), packet.size_B), progress);
      break;
    }
    case abi::PacketOp::kCopyImage:
      next = onTransfer(copyImageWork(as<abi::CopyImagePacket>(header)), progress);
      break;
    case abi::PacketOp::kClearImage:
      next = onTransfer(clearImageWork(as<abi::ClearImagePacket>(header)), progress);
      break;
    case abi::PacketOp::kBlitImage:
      next = onTransfer(blitImageWork(as<abi::BlitImagePacket>(header)), progress);
      break;
    case abi::PacketOp::kResolveImage:
      next = onTransfer(resolveImageWork(as<abi::ResolveImagePacket>(header)), progress);
      break;
    case abi::PacketOp::kBeginPass:
      return onPass(as<abi::BeginPassPacket>(header), progress);
    case abi::PacketOp::kBeginDrawQuery:
      if (parkOnWindow()) return Step::kPark;
      onBeginDrawQuery(as<abi::DrawQueryPacket>(header));
      break;
    case abi::PacketOp::kEndDrawQuery:
      if (parkOnWindow()) return Step::kPark;
      onEndDrawQuery(as<abi::DrawQueryPacket>(header), progress);
      break;
    case abi::PacketOp::kSetEvent:
    case abi::PacketOp::kResetEvent:
      if (parkOnWindow()) return Step::kPark;
      onWriteEvent(as<abi::EventPacket>(header), header->op == abi::PacketOp::kSetEvent, progress);
      break;
    case abi::PacketOp::kWaitEvents:
      progress.propagate();
      next = onWaitEvents(as<abi::WaitEventsPacket>(header));
      break;
    case abi::PacketOp::kWriteTimestamp:
      if (parkOnWindow()) return Step::kPark;
      onTimestamp(as<abi::TimestampPacket>(header), progress);
      break;
    case abi::PacketOp::kBeginStatistics:
      if (parkOnWindow()) return Step::kPark;
      onBeginStatistics();
      break;
    case abi::PacketOp::kEndStatistics:
      if (parkOnWindow()) return Step::kPark;
      onEndStatistics(as<abi::EndStatisticsPacket>(header), progress);
      break;
    case abi::PacketOp::kResetQueries:
      if (parkOnWindow()) return Step::kPark;
      onResetQueries(as<abi::ResetQueriesPacket>(header), progress);
      break;
    case abi::PacketOp::kCopyQueries:
      next = onCopyQueries(as<abi::CopyQueriesPacket>(header), progress);
      break;
    default:
      corrupt("unknown packet");
      return Step::kPark;
  }
  if (next != Step::kNext) return next;
  if (header->sizeBytes < sizeof(abi::PacketHeader)) {
    corrupt("packet without a size");
    return Step::kPark;
  }
  at += header->sizeBytes;
  const uint64_t packets = packets_.load(std::memory_order_relaxed) + 1;
  packets_.store(packets, std::memory_order_relaxed);
  return packets % kPacketsPerLook == 0 && mayYield(progress) ? Step::kYield : Step::kNext;
}

Queue::Step Queue::onCall(const abi::CallPacket& packet) {
  if (depth_ == kMaxCallDepth) {
    corrupt("calls nested too deeply");
    return Step::kPark;
  }
  stack_[depth_ - 1] += packet.header.sizeBytes;
  stack_[depth_++] = packet.stream;
  return Step::kNext;
}

// What takes effect at once, here and below, does so only if the device is not lost once its gates have been seen open:
// a faulting span sets the loss before it opens the gates behind it, perhaps since the decoder last looked.
Queue::Step Queue::onWork(const Work& work, LaneMask gateLanes, uint32_t lane, uint32_t secondLane,
                          Progress& progress) {
  if (work.unitCount == 0) return Step::kNext;
  progress.propagate();
  // What is ready must not wait for what runs here.
  if (progress.hasReady()) progress.shareReady();
  if (parkOnWindow()) return Step::kPark;
  Predecessors gates;
  gates_.addGates(gateLanes, gates);
  // An application thread may decode what has to wait anyway; what could run now is a worker's.
  if (gates.empty() && !progress.worker()) return Step::kHand;
  if (gates.empty() && machine_.isLost()) return Step::kPark;
  const bool argumentsTooEarly =
      progress.worker() && work.kind == WorkKind::kDispatchIndirect && PUMICE_SEEDED_FAULT("indirect-early");
  if (!argumentsTooEarly && (!gates.empty() || !machine_.config.inlineSmallSpans)) {
    addSpan(work, gates, lane, secondLane, progress);
    return Step::kNext;
  }
  if (work.kind == WorkKind::kDispatchIndirect) {
    const Work resolved = resolveIndirect(machine_, *progress.worker(), *this, work);
    return onWork(resolved, gateLanes, lane, secondLane, progress);
  }
  // A program's first run may take for ever, and this queue's token with it: it gets a span.
  if (!isMeasured(work) || estimate_ns(work, work.unitCount) > kInlineBudget_ns) {
    addSpan(work, gates, lane, secondLane, progress);
    return Step::kNext;
  }
  progress.letOthersGo(this);
  executeUnits(machine_, *progress.worker(), *this, work, 0, work.unitCount, Timing::kSample);
  return Step::kNext;
}

Queue::Step Queue::onTransfer(const Work& work, Progress& progress) {
  return onWork(work, laneBit(kTransferLane), kTransferLane, kNoLane, progress);
}

Queue::Step Queue::onCopyQueries(const abi::CopyQueriesPacket& packet, Progress& progress) {
  if (packet.queryCount == 0) return Step::kNext;
  progress.propagate();
  if (progress.hasReady()) progress.shareReady();
  if (parkOnWindow()) return Step::kPark;
  Predecessors earlier;
  gates_.addEarlier(kQueryLaneBit, earlier, progress);  // sees the effect of earlier query commands
  gates_.addGates(laneBit(kTransferLane), earlier);
  if (earlier.empty() && !progress.worker()) return Step::kHand;
  if (earlier.empty() && machine_.isLost()) return Step::kPark;
  const Work work = copyQueriesWork(packet);
  if (earlier.empty() && machine_.config.inlineSmallSpans)
    executeUnits(machine_, *progress.worker(), *this, work, 0, 1, Timing::kSample);
  else
    addSpan(work, earlier, kTransferLane, kQueryLane, progress);
  return Step::kNext;
}

void Queue::onWriteEvent(const abi::EventPacket& packet, bool set, Progress& progress) {
  progress.propagate();
  auto* event = static_cast<kmd::Event*>(packet.event);
  Predecessors earlier;
  gates_.addEarlier(sourceLanes(packet.src), earlier, progress);
  earlier.add(lastEventWrite_);
  if (earlier.empty()) {
    if (!machine_.isLost()) progress.writeEvent(event, set);
    return;
  }
  Node* node = newNode(NodeKind::kWriteEvent);
  node->event = event;
  node->eventValue = set;
  pendingEventWrites_.fetch_add(1, std::memory_order_seq_cst);
  replaceHeld(lastEventWrite_, node);
  start(node, earlier, progress);
}

// Parks in mid-stream. Once the events are set, everything before their setting has happened, so that nothing is left
// to be gated. The queue's own earlier event commands must have taken effect first: an event may still be set from an
// earlier use and about to be reset.
Queue::Step Queue::onWaitEvents(const abi::WaitEventsPacket& packet) {
  auto* events = reinterpret_cast<kmd::Event* const*>(&packet + 1);
  const auto satisfied = [&] {
    if (pendingEventWrites_.load(std::memory_order_seq_cst) != 0 && !PUMICE_SEEDED_FAULT("event-stale-wait"))
      return false;
    for (uint32_t i = 0; i < packet.eventCount; ++i)
      if (!events[i]->isSet()) return false;
    return true;
  };
  if (satisfied()) return Step::kNext;
  parkedOnEvents_.store(true, std::memory_order_seq_cst);
  if (!satisfied()) return Step::kPark;
  parkedOnEvents_.store(false, std::memory_order_relaxed);
  return Step::kNext;
}

void Queue::onTimestamp(const abi::TimestampPacket& packet, Progress& progress) {
  progress.propagate();
  auto* slot = reinterpret_cast<abi::QuerySlot*>(packet.slotAddress);
  Predecessors earlier;
  gates_.addEarlier(packet.src, earlier, progress);
  gates_.addGates(kQueryLaneBit, earlier);
  if (earlier.empty()) {
    if (!machine_.isLost()) writeTimestamp(slot, machine_.queryWaiters);
    return;
  }
  Node* node = newNode(NodeKind::kTimestamp);
  node->slots = slot;
  addEdge(node, gates_.collector(kQueryLane));
  start(node, earlier, progress);
}

void Queue::onBeginStatistics() {
  if (!statistics_) statistics_ = newNode(NodeKind::kStatistics);
  statistics_->value = 0;
}

void Queue::onEndStatistics(const abi::EndStatisticsPacket& packet, Progress& progress) {
  if (!statistics_) return corrupt("a query ends that has not begun");
  progress.propagate();
  Node* node = statistics_;
  statistics_ = nullptr;
  node->slots = reinterpret_cast<abi::QuerySlot*>(packet.slotAddress);
  node->slotCount = packet.slotCount;
  node->slotIndex = packet.invocationsSlot;
  Predecessors earlier;
  gates_.addEarlier(laneBit(kComputeLane), earlier, progress);
  gates_.addGates(kQueryLaneBit, earlier);
  addEdge(node, gates_.collector(kQueryLane));
  start(node, earlier, progress);
}

void Queue::onResetQueries(const abi::ResetQueriesPacket& packet, Progress& progress) {
  progress.propagate();
  auto* slots = reinterpret_cast<abi::QuerySlot*>(packet.slotAddress);
  Predecessors earlier;
  gates_.addEarlier(kQueryLaneBit, earlier, progress);
  if (earlier.empty()) {
    if (!machine_.isLost()) resetQueries(slots, packet.slotCount);
    return;
  }
  Node* node = newNode(NodeKind::kResetQueries);
  node->slots = slots;
  node->slotCount = packet.slotCount;
  node->references.fetch_add(1, std::memory_order_relaxed);
  start(node, earlier, progress);
  gates_.gateBehind(node, kQueryLaneBit, earlier, progress);
  release(node);
}

void Queue::corrupt(const char* what) {
  PUMICE_ERROR("gpu", "queue %u: corrupt command stream: %s", number_, what);
  machine_.lose("corrupt command stream");
}

}  // namespace pumice::gpu
