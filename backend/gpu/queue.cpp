// The token, the window and the nodes of a queue. What packets mean is in processor.cpp.
#include "backend/gpu/queue.h"

#include <cstddef>
#include <new>

#include "backend/gpu/machine.h"
#include "backend/gpu/progress.h"
#include "backend/sched/futex.h"
#include "backend/trace/log.h"

namespace pumice::gpu {
namespace {

// Spans start in three steps by their queue's priority.
uint8_t spanPriority(float priority) {
  return priority < 1.0f / 3 ? 0 : priority < 2.0f / 3 ? 1 : 2;
}

void runSpanOnWorker(sched::Task* task, sched::Worker& worker) {
  Span* span = Span::fromTask(task);
  Progress progress(span->queue->machine(), &worker);
  progress.runSpan(span);
  Queue::release(span);
  progress.drain();
}

// offsetof on these types is conditionally supported, and is by GCC and Clang.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
template <typename T, size_t offset>
T* container(void* member) {
  return reinterpret_cast<T*>(static_cast<std::byte*>(member) - offset);
}

}  // namespace

Node* Node::fromWaiter(kmd::TimelineWaiter* waiter) {
  return container<Node, offsetof(Node, waiter)>(waiter);
}
Span* Span::fromTask(sched::Task* task) {
  return container<Span, offsetof(Span, task)>(task);
}
Queue* Queue::fromDecodeTask(sched::Task* task) {
  return container<Queue, offsetof(Queue, decodeTask_)>(task);
}
#pragma GCC diagnostic pop

Queue::Queue(Machine& machine, const kmd::QueueInfo& info, uint32_t number)
    : kmd::Queue(info), machine_(machine), number_(number), priority_(spanPriority(info.priority)) {
  decodeTask_.run = decodeOnWorker;
}

// ---- Token --------------------------------------------------------------------------------------------------------

bool Queue::takeTokenOrMark() {
  uint32_t token = token_.load(std::memory_order_relaxed);
  for (;;) {
    // The mark is written even where there is one already: the holder must see all that happened before *this* call.
    const uint32_t wanted = token == kFree ? kHeld : kHeldAndMarked;
    if (token_.compare_exchange_weak(token, wanted, std::memory_order_acq_rel)) return token == kFree;
  }
}

void Queue::decode(Progress& progress) {
  decodeStart_ns_ = progress.worker() ? sched::monotonicNow_ns() : 0;
  for (;;) {
    Step step = Step::kPark;
    try {
      step = run(progress);
    } catch (const std::bad_alloc&) {
      machine_.lose("no host memory for the command processor");
    }
    if (step == Step::kHand || step == Step::kYield) {
      // A processor that made room for others waits behind them.
      handDecodeToWorker(step == Step::kHand ? kDecodePriority : priority_);
      return;
    }
    uint32_t token = kHeld;
    if (token_.compare_exchange_strong(token, kFree, std::memory_order_acq_rel)) return;
    token_.exchange(kHeld, std::memory_order_acq_rel);  // marked: look again
  }
}

void Queue::handDecodeToWorker(uint8_t priority) {
  decodeTask_.priority = priority;
  if (priority == kDecodePriority) machine_.waitingDecodes.fetch_add(1, std::memory_order_relaxed);
  machine_.pool->push(&decodeTask_, 1);
}

void Queue::decodeOnWorker(sched::Task* task, sched::Worker& worker) {
  Queue* queue = fromDecodeTask(task);
  Progress progress(queue->machine_, &worker);
  if (task->priority == kDecodePriority) queue->machine_.waitingDecodes.fetch_sub(1, std::memory_order_relaxed);
  queue->decode(progress);
  progress.drain();
}

bool Queue::mayYield(Progress& progress) {
  constexpr uint64_t kTurn_ns = 1'000'000;
  if (!progress.worker() || machine_.pool->waitingTasks() == 0 || machine_.pool->idleWorkers() > 0) return false;
  return sched::monotonicNow_ns() - decodeStart_ns_ > kTurn_ns;
}

// ---- Window -------------------------------------------------------------------------------------------------------

// Sequentially consistent, as is parkedOnWindow_: either the thread that completes something sees that the processor
// parks, or the processor sees what was completed.
bool Queue::windowFull() const {
  return spansInFlight_.load(std::memory_order_seq_cst) >= kMaxSpans ||
         nodesInUse_.load(std::memory_order_seq_cst) >= kMaxNodes;
}

bool Queue::windowReopened() const {
  return parkedOnWindow_.load(std::memory_order_seq_cst) &&
         spansInFlight_.load(std::memory_order_seq_cst) <= kResumeSpans &&
         nodesInUse_.load(std::memory_order_seq_cst) <= kResumeNodes;
}

// True if the processor must park.
bool Queue::parkOnWindow() {
  if (!windowFull()) return false;
  parkedOnWindow_.store(true, std::memory_order_seq_cst);
  if (windowFull()) return true;
  parkedOnWindow_.store(false, std::memory_order_seq_cst);
  return false;
}

void Queue::spanCompleted(Progress& progress) {
  spansInFlight_.fetch_sub(1, std::memory_order_seq_cst);
  if (windowReopened()) progress.poke(this);
}

// ---- Nodes --------------------------------------------------------------------------------------------------------

Node* Queue::newNode(NodeKind kind) {
  Node* node = nodes_.acquire();
  node->pending.store(0, std::memory_order_relaxed);
  node->references.store(1, std::memory_order_relaxed);
  node->successors.store(nullptr, std::memory_order_relaxed);
  node->firstEdge.target = nullptr;
  node->queue = this;
  node->link = nullptr;
  node->kind = kind;
  nodesInUse_.fetch_add(1, std::memory_order_relaxed);
  return node;
}

void Queue::release(Node* node) {
  if (node->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Queue* queue = node->queue;
  if (node->kind == NodeKind::kSpan) {
    auto* span = static_cast<Span*>(node);
    if (span->work.isPass() && span->work.pass->release()) queue->passes_.release(span->work.pass);
    queue->spans_.release(span);
  } else {
    queue->nodes_.release(node);
    queue->nodesInUse_.fetch_sub(1, std::memory_order_seq_cst);
  }
}

void Queue::addEdge(Node* from, Node* to) {
  Edge* edge = to->firstEdge.target ? edges_.acquire() : &to->firstEdge;
  edge->target = to;
  to->pending.fetch_add(1, std::memory_order_relaxed);
  Edge* first = from->successors.load(std::memory_order_acquire);
  do {
    if (first == Node::closed()) {
      to->pending.fetch_sub(1, std::memory_order_relaxed);  // never to zero: the construction counts
      if (edge == &to->firstEdge)
        edge->target = nullptr;
      else
        edges_.release(edge);
      return;
    }
    edge->link = first;
  } while (!from->successors.compare_exchange_weak(first, edge, std::memory_order_release, std::memory_order_acquire));
}

void Queue::start(Node* node, const Predecessors& predecessors, Progress& progress) {
  node->pending.fetch_add(1, std::memory_order_relaxed);
  for (Node* predecessor : predecessors) addEdge(predecessor, node);
  progress.arrive(node);
}

Span* Queue::newSpan(const Work& work, uint32_t lane, uint32_t secondLane) {
  Span* span = spans_.acquire();
  span->pending.store(0, std::memory_order_relaxed);
  span->references.store(1, std::memory_order_relaxed);
  span->firstEdge.target = nullptr;
  span->queue = this;
  span->kind = NodeKind::kSpan;
  span->work = work;
  span->nextUnit.store(0, std::memory_order_relaxed);
  span->unitsLeft.store(work.unitCount, std::memory_order_relaxed);
  span->wantedWorkers.store(0, std::memory_order_relaxed);
  span->shared.store(false, std::memory_order_relaxed);
  span->task.run = runSpanOnWorker;
  span->task.priority = priority_;
  span->collectors[0] = gates_.collector(lane);
  span->collectors[1] = secondLane == kNoLane ? nullptr : gates_.collector(secondLane);
  for (Node* collector : span->collectors)
    if (collector) collector->pending.fetch_add(1, std::memory_order_relaxed);
  spansInFlight_.fetch_add(1, std::memory_order_seq_cst);
  return span;
}

void Queue::addSpan(const Work& work, const Predecessors& predecessors, uint32_t lane, uint32_t secondLane,
                    Progress& progress) {
  start(newSpan(work, lane, secondLane), predecessors, progress);
}

void Queue::replaceHeld(Node*& place, Node* node) {
  if (node) node->references.fetch_add(1, std::memory_order_relaxed);
  if (place) release(place);
  place = node;
}

}  // namespace pumice::gpu
