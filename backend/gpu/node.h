// Nodes: the vertices of a queue's dependency graph. A node fires when all its predecessors are complete; then it does
// what its kind says (nothing, for a gate), and when that is done, its successors are told.
//
// Who may do what: only the holder of a queue's decode token creates the queue's nodes and adds edges to them. Any
// thread may complete a predecessor, and thereby fire a node and carry out its action (progress.h). A node is reference
// counted: one reference is its own, until it is complete; the lanes of the gates hold others. Nodes and edges come
// from the queue's pools and go back there from any thread; nothing is allocated per command in steady state.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/abi/packets.h"
#include "backend/gpu/work.h"
#include "backend/kmd/event.h"
#include "backend/kmd/timeline.h"
#include "backend/sched/pool.h"

namespace pumice::gpu {

class Queue;
struct Node;

struct Edge {
  Edge* link = nullptr;
  Node* target = nullptr;
};

enum class NodeKind : uint8_t {
  kGate,          // joins its predecessors
  kSpan,          // work; see Span
  kWait,          // a point of a timeline; its single predecessor is the timeline itself
  kSignal,        // raises a timeline
  kRetire,        // counts one submission of the queue as retired
  kWriteEvent,    // sets or resets an event
  kTimestamp,     // writes a query slot
  kResetQueries,  // makes query slots unavailable
  kStatistics,    // writes the slots of a query
  kFinishQuery,   // makes a query available that passes have added to
};

struct Node {
  std::atomic<uint32_t> pending{0};        // predecessors not complete; one more while under construction
  std::atomic<uint32_t> references{0};     // at zero the node goes back to its pool
  std::atomic<Edge*> successors{nullptr};  // a stack; closed() once the node is complete
  Edge firstEdge;                          // from the first predecessor, so that most nodes need no other edge
  Queue* queue = nullptr;
  Node* link = nullptr;  // free list, or list of fired nodes: never both
  NodeKind kind = NodeKind::kGate;
  bool eventValue = false;  // kWriteEvent
  uint32_t slotCount = 0;   // kResetQueries, kStatistics, kFinishQuery
  uint32_t slotIndex = 0;   // kStatistics: the slot that gets the count
  uint64_t value = 0;       // kSignal, kRetire; kStatistics: the count, atomic until the node fires
  union {
    kmd::Timeline* timeline = nullptr;  // kSignal, kWait
    kmd::Event* event;                  // kWriteEvent
    abi::QuerySlot* slots;              // kTimestamp, kResetQueries, kStatistics, kFinishQuery
  };
  kmd::TimelineWaiter waiter;  // kWait

  bool isComplete() const { return successors.load(std::memory_order_acquire) == closed(); }

  // What `successors` holds once the node is complete.
  static Edge* closed() { return reinterpret_cast<Edge*>(1); }
  static Node* fromWaiter(kmd::TimelineWaiter* waiter);
};

// Work for the pool. `pending` and the other fields of the node as above; it has no successors but the collectors of
// the lanes that it is counted in (gates.h).
struct Span : Node {
  Work work;
  Node* collectors[2] = {nullptr, nullptr};
  Span* nextReady = nullptr;  // list of spans that fired and are not started
  // Workgroups, or blocks of a copy, are handed out in ascending order.
  std::atomic<uint64_t> nextUnit{0};
  std::atomic<uint64_t> unitsLeft{0};  // not executed; whoever brings it to zero completes the span
  // Estimate for one unit, and whether it has been measured. The program and the packet may be read only by those who
  // hold units that are not finished while the device is not lost: else the span may be complete, and its stream freed.
  std::atomic<uint64_t> unitCost_ns{0};
  std::atomic<bool> measured{false};
  std::atomic<bool> shared{false};         // has been given to the pool
  std::atomic<uint32_t> wantedWorkers{0};  // how many have been asked to work on it
  sched::Task task;

  // Saturates.
  uint64_t estimate_ns() const {
    uint64_t total_ns;
    const uint64_t unit_ns = unitCost_ns.load(std::memory_order_relaxed);
    return __builtin_mul_overflow(unit_ns, work.unitCount, &total_ns) ? UINT64_MAX : total_ns;
  }
  // By who may read the program.
  void updateCost() {
    unitCost_ns.store(gpu::estimate_ns(work, 1), std::memory_order_relaxed);
    measured.store(isMeasured(work), std::memory_order_relaxed);
  }
  static Span* fromTask(sched::Task* task);
};

// A pool with one owner, to whom any thread gives back. T has `T::link` (possibly of a base class of the same address).
template <typename T, typename Link = T>
class OwnedPool {
 public:
  // The owner. Throws std::bad_alloc.
  T* acquire() {
    if (!local_) local_ = returned_.exchange(nullptr, std::memory_order_acquire);
    if (!local_) addSlab();
    T* object = static_cast<T*>(local_);
    local_ = local_->link;
    return object;
  }

  // Any thread.
  void release(T* object) {
    Link* node = object;
    node->link = returned_.load(std::memory_order_relaxed);
    while (!returned_.compare_exchange_weak(node->link, node, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

 private:
  // A slab is not made of many large objects before anyone has needed a second one.
  static constexpr size_t kSlabObjects = sizeof(T) < 1024 ? 64 : 2;

  void addSlab() {
    slabs_.push_back(std::make_unique<T[]>(kSlabObjects));
    for (size_t i = kSlabObjects; i-- > 0;) {
      Link* node = &slabs_.back()[i];
      node->link = local_;
      local_ = node;
    }
  }

  Link* local_ = nullptr;
  std::atomic<Link*> returned_{nullptr};
  std::vector<std::unique_ptr<T[]>> slabs_;
};

}  // namespace pumice::gpu
