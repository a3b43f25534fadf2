// VkQueryPool: an array of abi::QuerySlot in GPU memory: one slot per query, of pipeline statistics one per counter, in
// the order of the counters' bits.
#pragma once

#include "backend/abi/packets.h"
#include "backend/kmd/door.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class Device;

class QueryPool : public Object<QueryPool, VkQueryPool, VK_OBJECT_TYPE_QUERY_POOL> {
 public:
  explicit QueryPool(Device& device) : device_(device) {}
  ~QueryPool();

  VkResult init(const VkQueryPoolCreateInfo& info);

  uint64_t slotAddress(uint32_t query) const {
    return kmd::allocationAddress(slots_) + uint64_t{query} * slotsPerQuery_ * sizeof(abi::QuerySlot);
  }
  uint32_t slotsPerQuery() const { return slotsPerQuery_; }
  /// Which slot of a query counts compute shader invocations, abi::kNoSlot if none does.
  uint32_t invocationsSlot() const { return invocationsSlot_; }
  bool countsStatistics() const { return countsStatistics_; }
  void reset(uint32_t first, uint32_t count);
  /// As vkGetQueryPoolResults.
  VkResult results(uint32_t first, uint32_t count, size_t stride_B, VkQueryResultFlags flags, std::byte* out);

 private:
  Device& device_;
  kmd::Allocation* slots_ = nullptr;
  uint32_t slotsPerQuery_ = 1;
  uint32_t invocationsSlot_ = abi::kNoSlot;
  bool countsStatistics_ = false;
};

}  // namespace pumice::icd
