// A queue with its command processor: decodes the submissions of the ring, in order, into nodes and spans.
//
// The processor is a resumable machine. Whoever makes progress possible takes the queue's decode token (an atomic) and
// decodes until the processor parks; all of its state is here, none on a stack. A thread that finds the token taken
// leaves a mark instead, and the holder looks again before it lets go: no wake-up is lost.
//
// Threads: decode and everything under "holder" belong to the holder of the token; the rest says its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "backend/draw/packet_walker.h"
#include "backend/gpu/gates.h"
#include "backend/gpu/node.h"
#include "backend/gpu/pass.h"
#include "backend/kmd/queue.h"

namespace pumice::gpu {

struct Machine;
class Progress;

class Queue final : public kmd::Queue {
 public:
  Queue(Machine& machine, const kmd::QueueInfo& info, uint32_t number);
  ~Queue() = default;

  // In-flight spans, and nodes of all kinds, beyond which the processor parks; and where it goes on.
  static constexpr uint32_t kMaxSpans = 256;
  static constexpr uint32_t kResumeSpans = 192;
  static constexpr uint32_t kMaxNodes = 2048;
  static constexpr uint32_t kResumeNodes = 1536;
  static constexpr uint32_t kMaxCallDepth = 16;
  static constexpr uint8_t kDecodePriority = sched::Pool::kPriorities - 1;  // before spans

  uint32_t number() const { return number_; }  // for logs
  Machine& machine() { return machine_; }

  // Any thread. Takes the token, or leaves the mark that makes the holder look again.
  bool takeTokenOrMark();
  // With the token: decodes until the processor parks, then gives the token back or hands it to a worker.
  void decode(Progress& progress);
  // With the token, which goes with it: a worker decodes.
  void handDecodeToWorker(uint8_t priority);

  // Any thread.
  static void release(Node* node);  // one reference
  void releaseEdge(Edge* edge) { edges_.release(edge); }
  void spanCompleted(Progress& progress);
  void eventWritten() { pendingEventWrites_.fetch_sub(1, std::memory_order_seq_cst); }
  bool parkedOnEvents() const { return parkedOnEvents_.load(std::memory_order_seq_cst); }
  // A pass that was begun has ended, or waits for blocks that other passes have.
  void passEnded() { passesInFlight_.fetch_sub(1, std::memory_order_release); }
  void waitForBlocks(Pass* pass) { starvedPass_.exchange(pass, std::memory_order_seq_cst); }
  // Blocks have come back.
  Pass* takeStarvedPass() { return starvedPass_.exchange(nullptr, std::memory_order_seq_cst); }
  // The window has room again and the processor is waiting for that.
  bool windowReopened() const;

  // Holder.
  Node* newNode(NodeKind kind);  // one reference: its own
  void addEdge(Node* from, Node* to);
  // Adds the edges and ends the construction; the node may fire at once.
  void start(Node* node, const Predecessors& predecessors, Progress& progress);

  Queue* nextDecode = nullptr;  // Progress's list; the token's holder's

 private:
  enum class Step : uint8_t {
    kNext,   // go on with the next packet
    kPark,   // until someone pokes
    kHand,   // a worker must go on: what follows is work, and this thread is the application's
    kYield,  // let others have this worker
  };
  Step run(Progress& progress);
  Step beginBatch(Progress& progress);
  Step endBatch(Progress& progress);
  Step step(Progress& progress);
  bool windowFull() const;
  bool parkOnWindow();
  bool mayYield(Progress& progress);

  // Packets. Each consumes its packet, or returns what keeps it from doing so.
  Step onCall(const abi::CallPacket& packet);
  Step onWork(const Work& work, LaneMask gateLanes, uint32_t lane, uint32_t secondLane, Progress& progress);
  Step onPass(const abi::BeginPassPacket& packet, Progress& progress);
  Step waitForEventsOf(draw::PacketWalker at);
  void afterPass(draw::PacketWalker at, Progress& progress);
  void onBeginDrawQuery(const abi::DrawQueryPacket& packet);
  void onEndDrawQuery(const abi::DrawQueryPacket& packet, Progress& progress);
  void onBeginStatistics();
  raster::BlockArena& drawArena();  // throws std::bad_alloc
  Step onTransfer(const Work& work, Progress& progress);
  Step onCopyQueries(const abi::CopyQueriesPacket& packet, Progress& progress);
  void onWriteEvent(const abi::EventPacket& packet, bool set, Progress& progress);
  Step onWaitEvents(const abi::WaitEventsPacket& packet);
  void onTimestamp(const abi::TimestampPacket& packet, Progress& progress);
  void onEndStatistics(const abi::EndStatisticsPacket& packet, Progress& progress);
  void onResetQueries(const abi::ResetQueriesPacket& packet, Progress& progress);
  Span* newSpan(const Work& work, uint32_t lane, uint32_t secondLane);  // to be started
  void addSpan(const Work& work, const Predecessors& predecessors, uint32_t lane, uint32_t secondLane,
               Progress& progress);
  void waitFor(const kmd::SubmitWait& wait, Progress& progress);
  Node* newSignal(const kmd::SubmitSignal& signal);  // to be started
  void replaceHeld(Node*& place, Node* node);
  void corrupt(const char* what);

  static constexpr uint32_t kNoLane = UINT32_MAX;
  enum Token : uint32_t { kFree, kHeld, kHeldAndMarked };

  Machine& machine_;
  const uint32_t number_;
  const uint8_t priority_;

  alignas(64) std::atomic<uint32_t> token_{kFree};
  std::atomic<bool> parkedOnEvents_{false};
  std::atomic<bool> parkedOnWindow_{false};
  std::atomic<uint32_t> nodesInUse_{0};
  std::atomic<uint32_t> pendingEventWrites_{0};
  std::atomic<uint32_t> passesInFlight_{0};
  std::atomic<Pass*> starvedPass_{nullptr};  // one at most: passes are cut one after the other

  // Holder.
  Gates gates_{*this};
  Node* lastRetire_ = nullptr;      // join of the newest batch, if it may be incomplete: batches retire in order
  Node* lastEventWrite_ = nullptr;  // event commands of a queue take effect in order
  Node* statistics_ = nullptr;      // of the query that has begun; under construction until it ends
  Node* lastCut_ = nullptr;         // fires when the newest pass has been cut into chunks
  draw::QueryTargets drawQueries_;  // that have begun outside of a pass
  const kmd::RingRecord* batch_ = nullptr;
  uint32_t waitsDone_ = 0;
  uint32_t streamsBegun_ = 0;
  uint32_t depth_ = 0;
  const std::byte* stack_[kMaxCallDepth] = {};  // next packet of each stream
  uint64_t batchesBegun_ = 0;
  uint64_t decodeStart_ns_ = 0;

  OwnedPool<Node> nodes_;
  OwnedPool<Span, Node> spans_;
  OwnedPool<Edge> edges_;
  OwnedPool<Pass> passes_;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> drawMemory_;
  std::unique_ptr<raster::BlockArena> drawArena_;  // made with the first pass
  sched::Task decodeTask_;

  static Queue* fromDecodeTask(sched::Task* task);
  static void decodeOnWorker(sched::Task* task, sched::Worker& worker);
};

}  // namespace pumice::gpu
