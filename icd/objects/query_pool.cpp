#include "icd/objects/query_pool.h"

#include <atomic>
#include <bit>
#include <cstring>

#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/status_result.h"
#include "icd/objects/timing.h"

namespace pumice::icd {
namespace {

template <typename T>
std::byte* store(std::byte* at, uint64_t value) {
  const T narrow = static_cast<T>(value);
  std::memcpy(at, &narrow, sizeof narrow);
  return at + sizeof narrow;
}

bool isAvailable(const abi::QuerySlot* slot) {
  return std::atomic_ref<const uint64_t>(slot->available).load(std::memory_order_acquire) != 0;
}

}  // namespace

QueryPool::~QueryPool() {
  device_.gpu().free(slots_);
}

VkResult QueryPool::init(const VkQueryPoolCreateInfo& info) {
  if (info.queryType == VK_QUERY_TYPE_PIPELINE_STATISTICS) {
    constexpr uint32_t kDispatches = VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT;
    countsDispatches_ = (info.pipelineStatistics & kDispatches) != 0;
    drawStatistics_ = info.pipelineStatistics & (kDispatches - 1);
    drawSlots_ = static_cast<uint32_t>(std::popcount(drawStatistics_));
    slotsPerQuery_ = drawSlots_ + (countsDispatches_ ? 1 : 0);
  } else if (info.queryType == VK_QUERY_TYPE_OCCLUSION) {
    drawSlots_ = 1;
  }
  kmd::AllocationInfo wish;  // zeroed: no query is available
  wish.size_B = uint64_t{info.queryCount} * slotsPerQuery_ * sizeof(abi::QuerySlot);
  return toResult(device_.gpu().allocate(wish, &slots_));
}

void QueryPool::reset(uint32_t first, uint32_t count) {
  std::memset(reinterpret_cast<void*>(slotAddress(first)), 0, size_t{count} * slotsPerQuery_ * sizeof(abi::QuerySlot));
}

VkResult QueryPool::results(uint32_t first, uint32_t count, size_t stride_B, VkQueryResultFlags flags, std::byte* out) {
  const auto put = (flags & VK_QUERY_RESULT_64_BIT) != 0 ? store<uint64_t> : store<uint32_t>;
  VkResult result = VK_SUCCESS;
  for (uint32_t i = 0; i < count; ++i) {
    const auto* slot = reinterpret_cast<const abi::QuerySlot*>(slotAddress(first + i));
    const abi::QuerySlot* last = slot + slotsPerQuery_ - 1;
    const abi::QuerySlot* lastOfDraws = drawSlots_ != 0 ? slot + drawSlots_ - 1 : last;
    // Draws and dispatches end on their own; in each the last slot becomes available after the others.
    for (const abi::QuerySlot* s : {lastOfDraws, last}) {
      if ((flags & VK_QUERY_RESULT_WAIT_BIT) == 0) break;
      if (const kmd::Status status = device_.gpu().waitQuery(s); status != kmd::Status::kOk) return toResult(status);
    }
    const bool available = isAvailable(lastOfDraws) && isAvailable(last);
    std::byte* at = out + i * stride_B;
    for (; slot <= last; ++slot) {
      // Vulkan 1.3, 19.4: without availability the result is left alone unless PARTIAL asks for a value in between.
      if (available || (flags & VK_QUERY_RESULT_PARTIAL_BIT) != 0) put(at, slot->value);
      at += (flags & VK_QUERY_RESULT_64_BIT) != 0 ? 8 : 4;
    }
    if (!available && (flags & VK_QUERY_RESULT_PARTIAL_BIT) == 0) result = VK_NOT_READY;
    if ((flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT) != 0) put(at, available);
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateQueryPool(VkDevice device, const VkQueryPoolCreateInfo* pCreateInfo,
                                                 const VkAllocationCallbacks* pAllocator, VkQueryPool* pQueryPool) {
  return QueryPool::create(pAllocator, pQueryPool, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyQueryPool(VkDevice, VkQueryPool queryPool,
                                              const VkAllocationCallbacks* pAllocator) {
  QueryPool::destroy(queryPool, pAllocator);
}

VKAPI_ATTR void VKAPI_CALL vkResetQueryPool(VkDevice, VkQueryPool queryPool, uint32_t firstQuery, uint32_t queryCount) {
  QueryPool::from(queryPool)->reset(firstQuery, queryCount);
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetQueryPoolResults(VkDevice, VkQueryPool queryPool, uint32_t firstQuery,
                                                     uint32_t queryCount, size_t, void* pData, VkDeviceSize stride,
                                                     VkQueryResultFlags flags) {
  return QueryPool::from(queryPool)->results(firstQuery, queryCount, stride, flags, static_cast<std::byte*>(pData));
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(VkPhysicalDevice,
                                                                              uint32_t* pTimeDomainCount,
                                                                              VkTimeDomainEXT* pTimeDomains) {
  static constexpr VkTimeDomainEXT kDomains[] = {VK_TIME_DOMAIN_DEVICE_EXT, VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT};
  const uint32_t room = pTimeDomains != nullptr ? *pTimeDomainCount : 2;
  *pTimeDomainCount = room < 2 ? room : 2;
  for (uint32_t i = 0; pTimeDomains != nullptr && i < *pTimeDomainCount; ++i) pTimeDomains[i] = kDomains[i];
  return room < 2 ? VK_INCOMPLETE : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetCalibratedTimestampsEXT(VkDevice, uint32_t timestampCount,
                                                            const VkCalibratedTimestampInfoEXT*, uint64_t* pTimestamps,
                                                            uint64_t* pMaxDeviation) {
  // Both domains are the monotonic clock in nanoseconds.
  const uint64_t now = monotonicNow_ns();
  for (uint32_t i = 0; i < timestampCount; ++i) pTimestamps[i] = now;
  *pMaxDeviation = 1;
  return VK_SUCCESS;
}

}  // namespace pumice::icd
