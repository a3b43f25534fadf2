#include "backend/gpu/progress.h"

#include <algorithm>

#include "backend/gpu/engine.h"
#include "backend/gpu/machine.h"
#include "backend/gpu/queries.h"
#include "backend/gpu/queue.h"
#include "backend/sched/futex.h"

namespace pumice::gpu {
Progress::Progress(Machine& machine, sched::Worker* worker) : machine_(machine), worker_(worker) {
  machine_.activeThreads.fetch_add(1, std::memory_order_seq_cst);
}

Progress::~Progress() {
  const uint32_t before = machine_.activeThreads.fetch_sub(1, std::memory_order_seq_cst);
  if (before == 1 && machine_.isLost()) sched::futexWake(machine_.activeThreads);
}

void Progress::fire(Node* node) {
  const bool lost = machine_.isLost();  // then nothing takes effect any more
  switch (node->kind) {
    case NodeKind::kSpan: {
      auto* span = static_cast<Span*>(node);
      if (!lost) span->updateCost();  // its program may have run since it was recorded
      if (!span->work.isPass()) {
        addReady(span);
      } else {
        const bool geometry = span->work.kind == WorkKind::kPassGeometry;
        if (span->work.pass->open(geometry ? Pass::Side::kGeometry : Pass::Side::kTiles)) addReady(span);
      }
      return;
    }
    case NodeKind::kGate:
    case NodeKind::kWait:
      break;
    case NodeKind::kFinishQuery:
      if (!lost) finishQuery(node->slots, node->slotCount, machine_.queryWaiters);
      break;
    case NodeKind::kSignal:
      if (!lost) signal(node->timeline, node->value);
      break;
    case NodeKind::kRetire:
      if (!lost) node->queue->retired().signal(node->value);
      break;
    case NodeKind::kWriteEvent:
      if (!lost) node->event->write(node->eventValue);
      node->queue->eventWritten();
      machine_.pokeQueuesParkedOnEvents(*this);
      break;
    case NodeKind::kTimestamp:
      if (!lost) writeTimestamp(node->slots, machine_.queryWaiters);
      break;
    case NodeKind::kResetQueries:
      if (!lost) resetQueries(node->slots, node->slotCount);
      break;
    case NodeKind::kStatistics:
      if (!lost) {
        const uint64_t count = __atomic_load_n(&node->value, __ATOMIC_RELAXED);
        writeStatistics(node->slots, node->slotCount, node->slotIndex, count, machine_.queryWaiters);
      }
      break;
  }
  node->link = nullptr;
  (lastFired_ ? lastFired_->link : firstFired_) = node;
  lastFired_ = node;
}

void Progress::propagate() {
  while (firstFired_) {
    Node* node = firstFired_;
    firstFired_ = node->link;
    if (!firstFired_) lastFired_ = nullptr;
    complete(node);
  }
}

void Progress::complete(Node* node) {
  // The stack turned round: successors are told in the order in which they were added, so that what a submission
  // signals comes before what the next one does.
  Edge* newest = node->successors.exchange(Node::closed(), std::memory_order_acq_rel);
  Edge* oldest = nullptr;
  while (newest) {
    Edge* next = newest->link;
    newest->link = oldest;
    oldest = newest;
    newest = next;
  }
  Queue* queue = node->queue;
  while (oldest) {
    Edge* next = oldest->link;
    Node* target = oldest->target;
    if (oldest != &target->firstEdge) queue->releaseEdge(oldest);
    arrive(target);
    oldest = next;
  }
  Queue::release(node);
  if (queue->windowReopened()) poke(queue);
}

void Progress::signal(kmd::Timeline* timeline, uint64_t value) {
  for (kmd::TimelineWaiter* waiter = timeline->signal(value); waiter;) {
    kmd::TimelineWaiter* next = waiter->next;
    arrive(Node::fromWaiter(waiter));
    waiter = next;
  }
}

void Progress::writeEvent(kmd::Event* event, bool set) {
  event->write(set);
  if (set) machine_.pokeQueuesParkedOnEvents(*this);
}

void Progress::poke(Queue* queue) {
  if (queue->takeTokenOrMark()) addQueue(queue);
}

void Progress::addQueue(Queue* queue) {
  queue->nextDecode = nullptr;
  (lastQueue_ ? lastQueue_->nextDecode : firstQueue_) = queue;
  lastQueue_ = queue;
}

Queue* Progress::takeQueue() {
  Queue* queue = firstQueue_;
  firstQueue_ = queue->nextDecode;
  if (!firstQueue_) lastQueue_ = nullptr;
  return queue;
}

void Progress::addReady(Span* span) {
  span->nextReady = nullptr;
  (lastReady_ ? lastReady_->nextReady : firstReady_) = span;
  lastReady_ = span;
}

Span* Progress::takeReady() {
  Span* span = firstReady_;
  firstReady_ = span->nextReady;
  if (!firstReady_) lastReady_ = nullptr;
  return span;
}

void Progress::spreadReady(Span* span) {
  const bool held = span->work.isPass();  // afterwards another may be gone
  spread(span, 0);
  if (held) Queue::release(span);
}

void Progress::drain() {
  for (;;) {
    propagate();
    if (firstReady_) {
      if (worker_)
        runReady();
      else
        shareReady();
    } else if (firstQueue_) {
      takeQueue()->decode(*this);
    } else {
      return;
    }
  }
}

// A worker with ready spans runs one, and keeps others of the same queue for later if together they are not worth a
// wake-up. That is as good as the estimates are: what belongs to other queues never waits for them, and where there is
// no more than the compiler's guess, nothing does.
void Progress::runReady() {
  Span* span = takeReady();
  bool trusted = span->measured.load(std::memory_order_relaxed);
  uint64_t rest_ns = 0;
  for (Span* other = firstReady_; other && trusted && rest_ns <= kInlineBudget_ns; other = other->nextReady) {
    rest_ns += other->estimate_ns();
    trusted = other->measured.load(std::memory_order_relaxed);
  }
  if (!trusted || rest_ns > kInlineBudget_ns) shareReady();
  letOthersGo(trusted ? span->queue : nullptr);
  if (firstQueue_ && span->estimate_ns() > kInlineBudget_ns)
    spreadReady(span);
  else
    startHere(span);
}

void Progress::letOthersGoSlowly(const Queue* queue) {
  Span* spans = firstReady_;
  firstReady_ = lastReady_ = nullptr;
  while (spans) {
    Span* next = spans->nextReady;
    if (spans->queue == queue)
      addReady(spans);
    else
      spreadReady(spans);
    spans = next;
  }
  Queue* queues = firstQueue_;
  firstQueue_ = lastQueue_ = nullptr;
  while (queues) {
    Queue* next = queues->nextDecode;
    if (queues == queue)
      addQueue(queues);
    else
      queues->handDecodeToWorker(Queue::kDecodePriority);
    queues = next;
  }
}

void Progress::shareReady() {
  while (firstReady_) spreadReady(takeReady());
}

uint32_t Progress::usefulWorkers(const Span& span, uint64_t units) const {
  uint64_t workers = machine_.pool->workerCount();
  // Nobody knows how long the first run of a program takes: one worker is left for other queues.
  if (workers > 1 && !span.measured.load(std::memory_order_relaxed)) --workers;
  uint64_t total_ns;
  if (__builtin_mul_overflow(span.unitCost_ns.load(std::memory_order_relaxed), units, &total_ns)) total_ns = UINT64_MAX;
  return static_cast<uint32_t>(std::clamp<uint64_t>(std::min(total_ns / kInlineBudget_ns, units), 1, workers));
}

void Progress::handToPool(Span* span, uint32_t slots) {
  span->references.fetch_add(slots, std::memory_order_relaxed);
  span->shared.store(true, std::memory_order_relaxed);
  machine_.pool->push(&span->task, slots);
}

void Progress::spread(Span* span, uint32_t already) {
  const uint32_t useful = usefulWorkers(*span, span->work.unitCount);
  span->wantedWorkers.store(useful, std::memory_order_relaxed);
  if (useful > already) handToPool(span, useful - already);
}

void Progress::widen(Span* span) {
  uint32_t wanted = span->wantedWorkers.load(std::memory_order_relaxed);
  if (wanted >= machine_.pool->workerCount()) return;
  const uint64_t begun = span->nextUnit.load(std::memory_order_relaxed);
  if (begun >= span->work.unitCount) return;
  const uint32_t useful = usefulWorkers(*span, span->work.unitCount - begun);
  // Only one of those who see this adds the difference.
  if (useful > wanted && span->wantedWorkers.compare_exchange_strong(wanted, useful, std::memory_order_relaxed))
    handToPool(span, useful - wanted);
}

void Progress::startHere(Span* span) {
  if (!span->work.isPass()) span->references.fetch_add(1, std::memory_order_relaxed);
  spread(span, 1);
  runSpan(span);
  Queue::release(span);
}

void Progress::runSpan(Span* span) {
  if (span->work.isPass()) return runPass(*span->work.pass, span);
  if (span->work.kind == WorkKind::kDispatchIndirect) {
    // Only one worker is here: the span has had one unit, hence one slot, so far.
    span->work = resolveIndirect(machine_, *worker_, *span->queue, span->work);
    if (span->work.unitCount == 0) {
      completeSpan(span);
      return;
    }
    span->unitsLeft.store(span->work.unitCount, std::memory_order_relaxed);
    span->updateCost();
    spread(span, 1);
  }
  const Work& work = span->work;
  const uint32_t workers = machine_.pool->workerCount();
  for (;;) {
    const uint64_t seen = span->nextUnit.load(std::memory_order_relaxed);
    if (seen >= work.unitCount) return;
    const bool lost = machine_.isLost();
    uint64_t wanted = work.unitCount;
    if (!lost && !span->measured.load(std::memory_order_relaxed))
      wanted = 1;  // finds out
    else if (!lost)
      wanted = chunkUnits(span->unitCost_ns.load(std::memory_order_relaxed), work.unitCount - seen, workers);
    const uint64_t begin = span->nextUnit.fetch_add(wanted, std::memory_order_relaxed);
    if (begin >= work.unitCount) return;
    const uint64_t count = std::min(wanted, work.unitCount - begin);
    if (!lost) {
      executeUnits(machine_, *worker_, *span->queue, work, begin, begin + count, Timing::kMeasure);
      span->updateCost();
      widen(span);
    }
    finishUnits(span, count);
    // Decoding goes first: what it finds may be more urgent than the rest of this span.
    if (machine_.waitingDecodes.load(std::memory_order_relaxed) > 0 && machine_.pool->idleWorkers() == 0) {
      handToPool(span, 1);
      return;
    }
  }
}

void Progress::finishUnits(Span* span, uint64_t count) {
  if (span->unitsLeft.fetch_sub(count, std::memory_order_acq_rel) == count) completeSpan(span);
}

void Progress::completeSpan(Span* span) {
  if (span->shared.load(std::memory_order_relaxed)) {
    // Never the last references: the span's own is released below.
    const uint32_t unused = machine_.pool->retract(&span->task);
    span->references.fetch_sub(unused, std::memory_order_relaxed);
  }
  Queue* queue = span->queue;
  for (Node* collector : span->collectors)
    if (collector) arrive(collector);
  Queue::release(span);
  queue->spanCompleted(*this);
}

}  // namespace pumice::gpu
