// The ring of a queue: submissions on their way from submit() to the command processor. It never is full: it is a chain
// of segments that grows, and in steady state goes back and forth between two.
//
// Threads: one producer (submissions to a queue are externally synchronised) and one consumer (whoever holds the
// queue's decode token) at a time. The counters may be read by anyone at any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/kmd/door.h"

namespace pumice::kmd {

// One batch as it lies in the ring; the arrays follow in this order, each 8-byte aligned.
struct RingRecord {
  uint32_t size_B;  // of record and arrays; 0 = nothing more in this segment
  uint32_t waitCount;
  uint32_t streamCount;
  uint32_t signalCount;

  std::span<const SubmitWait> waits() const { return {reinterpret_cast<const SubmitWait*>(this + 1), waitCount}; }
  std::span<const std::byte* const> streams() const {
    return {reinterpret_cast<const std::byte* const*>(waits().data() + waitCount), streamCount};
  }
  std::span<const SubmitSignal> signals() const {
    return {reinterpret_cast<const SubmitSignal*>(streams().data() + streamCount), signalCount};
  }
};
static_assert(sizeof(RingRecord) % 8 == 0 && sizeof(SubmitWait) % 8 == 0 && sizeof(SubmitSignal) % 8 == 0);

class SubmissionRing {
 public:
  SubmissionRing();  // throws std::bad_alloc
  ~SubmissionRing();
  SubmissionRing(const SubmissionRing&) = delete;
  SubmissionRing& operator=(const SubmissionRing&) = delete;

  // Producer: all batches or none; visible to the consumer at once. kOutOfHostMemory changes nothing.
  Status push(std::span<const Submission> batches) noexcept;

  // Consumer: the oldest record that was not popped, or nullptr. A record stays valid until the next call of front().
  const RingRecord* front() noexcept;
  void pop() noexcept;

  uint64_t tail() const { return tail_.load(std::memory_order_acquire); }  // submissions given
  uint64_t head() const { return head_.load(std::memory_order_acquire); }  // submissions taken

 private:
  struct Segment {
    Segment* next;  // written by the producer before the first record of `next` is counted in tail_
    size_t capacity_B;
    std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
  };
  static Segment* allocate(size_t capacity_B) noexcept;
  static void release(Segment* segment) noexcept;

  std::atomic<uint64_t> tail_{0};
  std::atomic<uint64_t> head_{0};
  std::atomic<Segment*> spare_{nullptr};  // one emptied segment, from consumer to producer

  Segment* write_ = nullptr;  // producer's
  size_t writeOffset_B_ = 0;
  Segment* read_ = nullptr;  // consumer's
  size_t readOffset_B_ = 0;
};

}  // namespace pumice::kmd
