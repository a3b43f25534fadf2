// One thread's turn at making progress: a submission, a host signal, a task of a worker. It carries the lists of what
// has become possible meanwhile (nodes that fired, spans that are ready, queues whose decode token this thread took)
// and works them off in a loop, so that no chain of dependencies, however long, recurses.
//
// Workers run ready spans themselves when they are short; application threads hand every span to the pool, since they
// never run a shader.
//
// On the stack of the thread; not shared.
#pragma once

#include <cstdint>

#include "backend/gpu/node.h"
#include "backend/gpu/pass.h"

namespace pumice::gpu {

struct DrawContext;
struct Machine;

// Estimated work up to this runs where it is decoded or becomes ready: waking another worker costs 3 us, and the other
// one 3 us more until it runs.
inline constexpr uint64_t kInlineBudget_ns = 20'000;

class Progress {
 public:
  // `worker`: the worker whose thread this is, nullptr on application threads.
  Progress(Machine& machine, sched::Worker* worker);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  sched::Worker* worker() const { return worker_; }

  // A predecessor of the node is complete (or its construction is).
  void arrive(Node* node) {
    if (node->pending.fetch_sub(1, std::memory_order_acq_rel) == 1) fire(node);
  }
  // Raises the timeline and lets its waiters go, on whichever queue they are.
  void signal(kmd::Timeline* timeline, uint64_t value);
  void writeEvent(kmd::Event* event, bool set);
  // Something that the queue may be parked on has changed: decodes it in drain(), if no other thread does.
  void poke(Queue* queue);

  // Tells the successors of all nodes that have fired, and theirs.
  void propagate();
  // Works everything off. Spans go to the pool or run here.
  void drain();
  // Hands ready spans to the pool: what a thread does before it turns to something that may take long.
  void shareReady();
  bool hasReady() const { return firstReady_ != nullptr; }
  // Before work of `queue` runs on this thread: what is held for other queues goes to the pool. However long the work
  // takes, and be it for ever, they do not wait for it.
  void letOthersGo(const Queue* queue) {
    if (firstReady_ || firstQueue_) letOthersGoSlowly(queue);
  }

  // The body of a span's task: takes chunks until there are none. The caller holds a reference.
  void runSpan(Span* span);
  // A pass without spans, whose gates are open: all of it on this worker.
  void runPassAlone(Pass& pass);

 private:
  void fire(Node* node);
  void complete(Node* node);
  void completeSpan(Span* span);
  // Takes jobs of the pass until there are none, or others want this worker; `span` is one of its spans, of which the
  // caller holds a reference, nullptr if it has none.
  void runPass(Pass& pass, Span* span);
  void runPassJob(Pass& pass, const Pass::Job& job, DrawContext* context, Pass::Effects* effects);
  void bringAbout(Pass& pass, const Pass::Effects& effects);
  void finishUnits(Span* span, uint64_t count);
  void letOthersGoSlowly(const Queue* queue);
  void runReady();
  // Ready span in hand: shares it with as many workers as it has chunks for, and works on it.
  void startHere(Span* span);
  // One from the list goes to the pool.
  void spreadReady(Span* span);
  void handToPool(Span* span, uint32_t slots);
  // For a span that has not started: gives it to as many workers as are useful, less those that are there already.
  void spread(Span* span, uint32_t already);
  // Once the cost of a unit is known better: further workers, if the span was thought to be smaller.
  void widen(Span* span);
  uint32_t usefulWorkers(const Span& span, uint64_t units) const;
  // Of a pass: the caller has taken a reference for the list, because its jobs may be done before the span is started.
  void addReady(Span* span);
  Span* takeReady();
  void addQueue(Queue* queue);
  Queue* takeQueue();

  Machine& machine_;
  sched::Worker* const worker_;
  Node* firstFired_ = nullptr;
  Node* lastFired_ = nullptr;
  Span* firstReady_ = nullptr;
  Span* lastReady_ = nullptr;
  Queue* firstQueue_ = nullptr;  // decode tokens held, to be decoded
  Queue* lastQueue_ = nullptr;
};

}  // namespace pumice::gpu
