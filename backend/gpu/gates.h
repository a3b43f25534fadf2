// The gates of one queue: which work is open, and behind what later work must wait, stage by stage (Vulkan 1.3, 7.1).
//
// Per stage (a *lane*) there is
//   - the gate: what new work of the stage waits for;
//   - the open work: what a barrier with this stage in its source waits for. It is counted in a collector node. When a
//     barrier or signal needs it, the collector is sealed: no more work joins it, and the next one has it as its
//     predecessor, so that a lane never holds more than one sealed collector.
// A barrier joins open[src] and gate[src] into gate[dst]. Because the gates of the source are joined too, chains hold
// across stages in which nothing runs, and because lanes belong to the queue, across command buffers and submissions.
//
// A pointer to a node that has completed means the same as none and is dropped when seen: in a queue whose work runs
// inline all lanes stay empty, and a barrier costs a few compares.
//
// Used by the holder of the queue's decode token alone.
#pragma once

#include <cstdint>

#include "backend/abi/stage.h"
#include "backend/gpu/node.h"

namespace pumice::gpu {

class Progress;

// Query commands order themselves against each other (Vulkan 1.3, 18.2) beside the pipeline's stages.
inline constexpr uint32_t kQueryLane = abi::kStageCount;
// No work is in this lane: its gate is what the batches so far wait for, at whatever stages. Signals that name no stage
// come after it.
inline constexpr uint32_t kWaitLane = abi::kStageCount + 1;
inline constexpr uint32_t kLaneCount = abi::kStageCount + 2;
using LaneMask = uint32_t;
inline constexpr LaneMask kQueryLaneBit = 1u << kQueryLane;
inline constexpr LaneMask kWaitLaneBit = 1u << kWaitLane;
inline constexpr LaneMask kAllLanes = (1u << kLaneCount) - 1;

// Distinct incomplete nodes. Holds no references: the lanes do.
class Predecessors {
 public:
  void add(Node* node) {
    if (node && !node->isComplete() && !contains(node)) nodes_[count_++] = node;
  }
  bool contains(const Node* node) const {
    for (uint32_t i = 0; i < count_; ++i)
      if (nodes_[i] == node) return true;
    return false;
  }
  void remove(const Node* node) {
    for (uint32_t i = 0; i < count_; ++i)
      if (nodes_[i] == node) nodes_[i--] = nodes_[--count_];
  }
  bool empty() const { return count_ == 0; }
  uint32_t size() const { return count_; }
  Node* const* begin() const { return nodes_; }
  Node* const* end() const { return nodes_ + count_; }

 private:
  Node* nodes_[2 * kLaneCount + 2];  // two per lane, and two that the caller adds
  uint32_t count_ = 0;
};

class Gates {
 public:
  explicit Gates(Queue& queue) : queue_(queue) {}

  // open[lanes] and gate[lanes]: everything earlier in those stages.
  void addEarlier(LaneMask lanes, Predecessors& predecessors, Progress& progress);
  // gate[lanes]: what new work in those stages waits for.
  void addGates(LaneMask lanes, Predecessors& predecessors);

  void barrier(LaneMask src, LaneMask dst, Progress& progress);
  // Later work in dst waits for the node, too. Gates that `node` itself waits for (`covered`) are replaced.
  void gateBehind(Node* node, LaneMask dst, const Predecessors& covered, Progress& progress);

  // The collector that a new span of the lane counts in; the caller adds the span to its `pending`.
  Node* collector(uint32_t lane);

 private:
  struct Lane {
    Node* gate = nullptr;
    Node* sealed = nullptr;   // earlier collectors, as one node
    Node* current = nullptr;  // collector that still takes members; under construction
  };
  void seal(Lane& lane, Progress& progress);
  static void hold(Node*& place, Node* node);
  static void dropIfComplete(Node*& place);

  Queue& queue_;
  Lane lanes_[kLaneCount];
};

}  // namespace pumice::gpu
