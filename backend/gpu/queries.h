// Query slots: what timestamps and statistics write and query copies read. The host reads them, too
// (vkGetQueryPoolResults), so that `available` is written last, with release order.
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/abi/packets.h"

namespace pumice::gpu {

// Threads of the application that sleep until a query is available. They are rare, and programs that have many queries
// wait for a fence: all share one word, and each written query wakes them all. Any thread.
class QueryWaiters {
 public:
  // False when the device is lost and the query not available.
  bool wait(const abi::QuerySlot* slot, const std::atomic<bool>& lost) noexcept;
  // After a slot has been made available, by a sequentially consistent store: both sides write, then read, so that the
  // waiter counts already or sees the slot.
  void queryWritten() noexcept {
    if (waiters_.load(std::memory_order_seq_cst) != 0) wakeAll();
  }
  // After the device has been marked as lost.
  void wakeAll() noexcept;

 private:
  std::atomic<uint32_t> waiters_{0};
  std::atomic<uint32_t> changes_{0};  // futex word
};

void writeTimestamp(abi::QuerySlot* slot, QueryWaiters& waiters);
// A query of statistics: `count` goes to the slot `which` of them, zero to the others.
void writeStatistics(abi::QuerySlot* slots, uint32_t slotCount, uint32_t which, uint64_t count, QueryWaiters& waiters);
// A query that passes have added to becomes available.
void finishQuery(abi::QuerySlot* slots, uint32_t slotCount, QueryWaiters& waiters);
void resetQueries(abi::QuerySlot* slots, uint32_t count);

// vkCmdCopyQueryPoolResults (Vulkan 1.3, 18.2). Everything that it could wait for has happened when it runs: a query
// that is not available now was not written by this queue, and is treated as without VK_QUERY_RESULT_WAIT_BIT.
void copyQueries(const abi::CopyQueriesPacket& packet);

}  // namespace pumice::gpu
