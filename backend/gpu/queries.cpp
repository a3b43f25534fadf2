#include "backend/gpu/queries.h"

#include <cstring>

#include "backend/sched/futex.h"

namespace pumice::gpu {
namespace {

// VkQueryResultFlagBits: the packet carries the API's own values.
constexpr uint32_t kResult64 = 1, kResultWithAvailability = 4, kResultPartial = 8;

void writeResult(std::byte*& at, uint64_t value, bool wide) {
  if (wide) {
    std::memcpy(at, &value, 8);
    at += 8;
  } else {
    const auto narrow = static_cast<uint32_t>(value);
    std::memcpy(at, &narrow, 4);
    at += 4;
  }
}

}  // namespace

bool QueryWaiters::wait(const abi::QuerySlot* slot, const std::atomic<bool>& lost) noexcept {
  const auto isAvailable = [slot] { return __atomic_load_n(&slot->available, __ATOMIC_SEQ_CST) != 0; };
  if (isAvailable()) return true;
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  bool available;
  for (;;) {
    const uint32_t changes = changes_.load(std::memory_order_seq_cst);
    available = isAvailable();
    if (available || lost.load(std::memory_order_seq_cst)) break;
    sched::futexWait(changes_, changes);
  }
  waiters_.fetch_sub(1, std::memory_order_relaxed);
  return available;
}

void QueryWaiters::wakeAll() noexcept {
  changes_.fetch_add(1, std::memory_order_seq_cst);
  sched::futexWake(changes_);
}

void writeTimestamp(abi::QuerySlot* slot, QueryWaiters& waiters) {
  __atomic_store_n(&slot->value, sched::monotonicNow_ns(), __ATOMIC_RELAXED);
  __atomic_store_n(&slot->available, 1, __ATOMIC_SEQ_CST);
  waiters.queryWritten();
}

void writeStatistics(abi::QuerySlot* slots, uint32_t slotCount, uint32_t which, uint64_t count, QueryWaiters& waiters) {
  for (uint32_t i = 0; i < slotCount; ++i) __atomic_store_n(&slots[i].value, i == which ? count : 0, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < slotCount; ++i) __atomic_store_n(&slots[i].available, 1, __ATOMIC_SEQ_CST);
  waiters.queryWritten();
}

void finishQuery(abi::QuerySlot* slots, uint32_t slotCount, QueryWaiters& waiters) {
  for (uint32_t i = 0; i < slotCount; ++i) __atomic_store_n(&slots[i].available, 1, __ATOMIC_SEQ_CST);
  waiters.queryWritten();
}

void resetQueries(abi::QuerySlot* slots, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    __atomic_store_n(&slots[i].available, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&slots[i].value, 0, __ATOMIC_RELAXED);
  }
}

void copyQueries(const abi::CopyQueriesPacket& packet) {
  const bool wide = packet.vkResultFlags & kResult64;
  auto* slots = reinterpret_cast<const abi::QuerySlot*>(packet.slotAddress);
  for (uint32_t query = 0; query < packet.queryCount; ++query, slots += packet.slotsPerQuery) {
    auto* at = reinterpret_cast<std::byte*>(packet.dst + query * packet.stride_B);
    bool available = true;
    for (uint32_t i = 0; i < packet.slotsPerQuery; ++i)
      available &= __atomic_load_n(&slots[i].available, __ATOMIC_ACQUIRE) != 0;
    for (uint32_t i = 0; i < packet.slotsPerQuery; ++i) {
      // Without the partial bit, values of unavailable queries are left as they are in the buffer.
      if (available || (packet.vkResultFlags & kResultPartial))
        writeResult(at, __atomic_load_n(&slots[i].value, __ATOMIC_RELAXED), wide);
      else
        at += wide ? 8 : 4;
    }
    if (packet.vkResultFlags & kResultWithAvailability) writeResult(at, available ? 1 : 0, wide);
  }
}

}  // namespace pumice::gpu
