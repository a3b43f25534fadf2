#include "backend/gpu/gates.h"

#include <bit>

#include "backend/gpu/progress.h"
#include "backend/gpu/queue.h"
#include "backend/trace/seeded_fault.h"

namespace pumice::gpu {

void Gates::hold(Node*& place, Node* node) {
  if (node) node->references.fetch_add(1, std::memory_order_relaxed);
  if (place) Queue::release(place);
  place = node;
}

void Gates::dropIfComplete(Node*& place) {
  if (place && place->isComplete()) hold(place, nullptr);
}

void Gates::seal(Lane& lane, Progress& progress) {
  // Only the construction left: all members are complete (and the earlier collector, its predecessor). It goes on as
  // the empty collector that it is.
  if (!lane.current || lane.current->pending.load(std::memory_order_acquire) == 1) return;
  Node* sealed = lane.current;
  hold(lane.sealed, sealed);
  hold(lane.current, nullptr);
  progress.arrive(sealed);
}

void Gates::addEarlier(LaneMask lanes, Predecessors& predecessors, Progress& progress) {
  for (; lanes; lanes &= lanes - 1) {
    Lane& lane = lanes_[std::countr_zero(lanes)];
    seal(lane, progress);
    dropIfComplete(lane.sealed);
    dropIfComplete(lane.gate);
    predecessors.add(lane.sealed);
    predecessors.add(lane.gate);
  }
}

void Gates::addGates(LaneMask lanes, Predecessors& predecessors) {
  for (; lanes; lanes &= lanes - 1) {
    Node*& gate = lanes_[std::countr_zero(lanes)].gate;
    dropIfComplete(gate);
    predecessors.add(gate);
  }
}

void Gates::barrier(LaneMask src, LaneMask dst, Progress& progress) {
  if (dst == 0) return;
  Predecessors earlier;
  addEarlier(src, earlier, progress);
  if (PUMICE_SEEDED_FAULT("gate-drop-chain"))
    for (uint32_t i = 0; i < kLaneCount; ++i) earlier.remove(lanes_[i].gate);
  if (earlier.empty()) return;
  if (earlier.size() == 1) {
    gateBehind(*earlier.begin(), dst, earlier, progress);
    return;
  }
  Node* join = queue_.newNode(NodeKind::kGate);
  join->references.fetch_add(1, std::memory_order_relaxed);  // until the lanes have it
  queue_.start(join, earlier, progress);
  gateBehind(join, dst, earlier, progress);
  Queue::release(join);
}

void Gates::gateBehind(Node* node, LaneMask dst, const Predecessors& covered, Progress& progress) {
  node->references.fetch_add(1, std::memory_order_relaxed);  // a lane that drops it must not be the last to have it
  LaneMask left = dst;
  for (uint32_t i = 0; i < kLaneCount; ++i) {
    if (!(left & (1u << i))) continue;
    Node*& gate = lanes_[i].gate;
    dropIfComplete(gate);
    if (!gate || covered.contains(gate)) {
      hold(gate, node);
      continue;
    }
    if (gate == node) continue;
    // The stage's own gate still holds beside the new one. Lanes with the same old gate share the join.
    Predecessors both;
    both.add(gate);
    both.add(node);
    const Node* old = gate;
    Node* join = queue_.newNode(NodeKind::kGate);
    join->references.fetch_add(1, std::memory_order_relaxed);
    queue_.start(join, both, progress);
    for (uint32_t k = i; k < kLaneCount; ++k) {
      if (!(left & (1u << k)) || lanes_[k].gate != old) continue;
      hold(lanes_[k].gate, join);
      left &= ~(1u << k);
    }
    Queue::release(join);
  }
  Queue::release(node);
}

Node* Gates::collector(uint32_t index) {
  Lane& lane = lanes_[index];
  if (!lane.current) {
    Node* node = queue_.newNode(NodeKind::kGate);
    node->pending.store(1, std::memory_order_relaxed);  // construction, until it is sealed
    dropIfComplete(lane.sealed);
    if (lane.sealed) queue_.addEdge(lane.sealed, node);
    hold(lane.current, node);
  }
  return lane.current;
}

}  // namespace pumice::gpu
