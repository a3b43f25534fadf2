// VkQueryPool: an array of abi::QuerySlot in GPU memory: one slot per query, of pipeline statistics one per counter, in
// the order of the counters' bits. That of compute shaders is the last of them, so draws and dispatches have slots of
// their own, and a query is available when all of its slots are.
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
  /// How many of a query's slots, from the first on, are counted by draws.
  uint32_t drawSlots() const { return drawSlots_; }
  /// What they count, in a pool of pipeline statistics; 0: samples that pass.
  VkQueryPipelineStatisticFlags drawStatistics() const { return drawStatistics_; }
  /// Whether the last slot of a query counts invocations of compute shaders.
  bool countsDispatches() const { return countsDispatches_; }
  void reset(uint32_t first, uint32_t count);
  /// As vkGetQueryPoolResults.
  VkResult results(uint32_t first, uint32_t count, size_t stride_B, VkQueryResultFlags flags, std::byte* out);

 private:
  Device& device_;
  kmd::Allocation* slots_ = nullptr;
  uint32_t slotsPerQuery_ = 1;
  uint32_t drawSlots_ = 0;
  VkQueryPipelineStatisticFlags drawStatistics_ = 0;
  bool countsDispatches_ = false;
};

}  // namespace pumice::icd
