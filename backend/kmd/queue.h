// What every queue has before any engine is put behind it: the ring, the count of retired submissions as a timeline
// (so that waiting for idle is waiting for a point), and counters that anyone may read. The engine's side
// (gpu::Queue) derives from it.
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/kmd/door.h"
#include "backend/kmd/ring.h"
#include "backend/kmd/timeline.h"

namespace pumice::kmd {

class Queue {
 public:
  explicit Queue(const QueueInfo& info) : info_(info) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  const QueueInfo& info() const { return info_; }
  SubmissionRing& ring() { return ring_; }
  // Its value is the number of submissions whose signals have happened.
  Timeline& retired() { return retired_; }

  QueueCounters counters() const {
    return {ring_.head(), ring_.tail(), retired_.value(), packets_.load(std::memory_order_relaxed),
            spansInFlight_.load(std::memory_order_relaxed)};
  }

 protected:
  ~Queue() = default;

  const QueueInfo info_;
  SubmissionRing ring_;
  Timeline retired_;
  std::atomic<uint64_t> packets_{0};        // written by the holder of the decode token alone
  std::atomic<uint32_t> spansInFlight_{0};  // created and not complete
};

}  // namespace pumice::kmd
