// Barriers, events, timestamps and queries, debug labels.
#include <cstring>

#include "gen/entrypoints.h"
#include "icd/encode/stage_masks.h"
#include "icd/objects/buffer.h"
#include "icd/objects/command_buffer.h"
#include "icd/objects/event.h"
#include "icd/objects/query_pool.h"

namespace pumice::icd {
namespace {

struct Scopes {
  abi::StageMask src = 0;
  abi::StageMask dst = 0;
};

void barrier(CommandStream& stream, const Scopes& scopes) {
  if (scopes.src == 0 || scopes.dst == 0) return;  // orders nothing
  auto* packet = stream.append<abi::BarrierPacket>(abi::PacketOp::kBarrier);
  packet->src = scopes.src;
  packet->dst = scopes.dst;
}

// Calls `use` with the scopes of each kind of barrier. Memory is coherent, so only stages matter: access masks, ranges,
// layouts and queue ownership cost nothing.
template <typename Use>
void forEachBarrier(const VkDependencyInfo& info, Use&& use) {
  const auto all = [&](const auto* barriers, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      use(Scopes{sourceStages(barriers[i].srcStageMask), destinationStages(barriers[i].dstStageMask)});
    }
  };
  all(info.pMemoryBarriers, info.memoryBarrierCount);
  all(info.pBufferMemoryBarriers, info.bufferMemoryBarrierCount);
  all(info.pImageMemoryBarriers, info.imageMemoryBarrierCount);
}

Scopes unionOf(const VkDependencyInfo& info) {
  Scopes all;
  forEachBarrier(info, [&](const Scopes& s) {
    all.src |= s.src;
    all.dst |= s.dst;
  });
  return all;
}

void setOrReset(VkCommandBuffer commandBuffer, abi::PacketOp op, VkEvent event, abi::StageMask src) {
  auto* packet = CommandBuffer::from(commandBuffer)->stream().append<abi::EventPacket>(op);
  packet->event = Event::from(event)->gpuEvent();
  packet->src = src;
  packet->reserved = 0;
}

void waitEvents(VkCommandBuffer commandBuffer, uint32_t count, const VkEvent* events, const Scopes& scopes) {
  // Waiting for some, then for the others, is waiting for all.
  constexpr uint32_t kMost = ChunkPool::kMaxInlineBytes / sizeof(void*);
  for (; count > kMost; count -= kMost, events += kMost) waitEvents(commandBuffer, kMost, events, scopes);
  auto* packet = CommandBuffer::from(commandBuffer)
                     ->stream()
                     .append<abi::WaitEventsPacket>(abi::PacketOp::kWaitEvents, count * sizeof(void*));
  packet->src = scopes.src;
  packet->dst = scopes.dst;
  packet->eventCount = count;
  packet->reserved = 0;
  auto* list = reinterpret_cast<void**>(packet + 1);
  for (uint32_t i = 0; i < count; ++i) list[i] = Event::from(events[i])->gpuEvent();
}

// With multiview one for each view (Vulkan 1.3, 18.5).
void writeTimestamp(VkCommandBuffer commandBuffer, VkPipelineStageFlags2 stage, VkQueryPool pool, uint32_t query) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  for (uint32_t i = 0; i < self.pass().viewCount(); ++i) {
    auto* packet = self.stream().append<abi::TimestampPacket>(abi::PacketOp::kWriteTimestamp);
    packet->slotAddress = QueryPool::from(pool)->slotAddress(query + i);
    packet->src = sourceStages(stage);
    packet->reserved = 0;
  }
}

// What of a query draws count. Nothing if that is only what dispatches do.
void drawQuery(CommandStream& stream, abi::PacketOp op, const QueryPool& pool, uint32_t query, bool precise) {
  if (pool.drawSlots() == 0) return;
  auto* packet = stream.append<abi::DrawQueryPacket>(op);
  packet->slotAddress = pool.slotAddress(query);
  packet->kind = pool.drawStatistics() != 0 ? abi::DrawQueryKind::kStatistics
                 : precise                  ? abi::DrawQueryKind::kPreciseOcclusion
                                            : abi::DrawQueryKind::kOcclusion;
  packet->statistics = pool.drawStatistics();
}

void beginQuery(CommandStream& stream, const QueryPool& pool, uint32_t query, bool precise) {
  if (pool.countsDispatches()) stream.append<abi::PacketHeader>(abi::PacketOp::kBeginStatistics);
  drawQuery(stream, abi::PacketOp::kBeginDrawQuery, pool, query, precise);
}

void endQuery(CommandStream& stream, const QueryPool& pool, uint32_t query) {
  drawQuery(stream, abi::PacketOp::kEndDrawQuery, pool, query, false);
  if (!pool.countsDispatches()) return;
  auto* packet = stream.append<abi::EndStatisticsPacket>(abi::PacketOp::kEndStatistics);
  packet->slotAddress = pool.slotAddress(query) + pool.drawSlots() * sizeof(abi::QuerySlot);
  packet->slotCount = 1;
  packet->invocationsSlot = 0;
}

void label(VkCommandBuffer commandBuffer, abi::PacketOp op, const VkDebugUtilsLabelEXT& info) {
  // Nobody reads a label to the end of 64 KiB.
  const size_t length = strnlen(info.pLabelName, ChunkPool::kMaxInlineBytes - 1);
  auto* packet = CommandBuffer::from(commandBuffer)->stream().append<abi::LabelPacket>(op, length + 1);
  std::memcpy(packet->color, info.color, sizeof packet->color);
  auto* text = reinterpret_cast<char*>(packet + 1);
  std::memcpy(text, info.pLabelName, length);
  text[length] = 0;
}

}  // namespace

VKAPI_ATTR void VKAPI_CALL vkCmdPipelineBarrier(VkCommandBuffer commandBuffer, VkPipelineStageFlags srcStageMask,
                                                VkPipelineStageFlags dstStageMask, VkDependencyFlags, uint32_t,
                                                const VkMemoryBarrier*, uint32_t, const VkBufferMemoryBarrier*,
                                                uint32_t, const VkImageMemoryBarrier*) {
  barrier(CommandBuffer::from(commandBuffer)->stream(), {sourceStages(srcStageMask), destinationStages(dstStageMask)});
}

VKAPI_ATTR void VKAPI_CALL vkCmdPipelineBarrier2(VkCommandBuffer commandBuffer,
                                                 const VkDependencyInfo* pDependencyInfo) {
  CommandStream& stream = CommandBuffer::from(commandBuffer)->stream();
  Scopes last;
  forEachBarrier(*pDependencyInfo, [&](const Scopes& s) {
    if (s.src == last.src && s.dst == last.dst) return;  // many buffers, one pair of stages: the common case
    barrier(stream, s);
    last = s;
  });
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetEvent(VkCommandBuffer commandBuffer, VkEvent event, VkPipelineStageFlags stageMask) {
  setOrReset(commandBuffer, abi::PacketOp::kSetEvent, event, sourceStages(stageMask));
}

VKAPI_ATTR void VKAPI_CALL vkCmdSetEvent2(VkCommandBuffer commandBuffer, VkEvent event,
                                          const VkDependencyInfo* pDependencyInfo) {
  setOrReset(commandBuffer, abi::PacketOp::kSetEvent, event, unionOf(*pDependencyInfo).src);
}

VKAPI_ATTR void VKAPI_CALL vkCmdResetEvent(VkCommandBuffer commandBuffer, VkEvent event,
                                           VkPipelineStageFlags stageMask) {
  setOrReset(commandBuffer, abi::PacketOp::kResetEvent, event, sourceStages(stageMask));
}

VKAPI_ATTR void VKAPI_CALL vkCmdResetEvent2(VkCommandBuffer commandBuffer, VkEvent event,
                                            VkPipelineStageFlags2 stageMask) {
  setOrReset(commandBuffer, abi::PacketOp::kResetEvent, event, sourceStages(stageMask));
}

VKAPI_ATTR void VKAPI_CALL vkCmdWaitEvents(VkCommandBuffer commandBuffer, uint32_t eventCount, const VkEvent* pEvents,
                                           VkPipelineStageFlags srcStageMask, VkPipelineStageFlags dstStageMask,
                                           uint32_t, const VkMemoryBarrier*, uint32_t, const VkBufferMemoryBarrier*,
                                           uint32_t, const VkImageMemoryBarrier*) {
  waitEvents(commandBuffer, eventCount, pEvents, {sourceStages(srcStageMask), destinationStages(dstStageMask)});
}

VKAPI_ATTR void VKAPI_CALL vkCmdWaitEvents2(VkCommandBuffer commandBuffer, uint32_t eventCount, const VkEvent* pEvents,
                                            const VkDependencyInfo* pDependencyInfos) {
  for (uint32_t i = 0; i < eventCount; ++i) {
    waitEvents(commandBuffer, 1, &pEvents[i], unionOf(pDependencyInfos[i]));
  }
}

VKAPI_ATTR void VKAPI_CALL vkCmdWriteTimestamp(VkCommandBuffer commandBuffer, VkPipelineStageFlagBits pipelineStage,
                                               VkQueryPool queryPool, uint32_t query) {
  writeTimestamp(commandBuffer, pipelineStage, queryPool, query);
}

VKAPI_ATTR void VKAPI_CALL vkCmdWriteTimestamp2(VkCommandBuffer commandBuffer, VkPipelineStageFlags2 stage,
                                                VkQueryPool queryPool, uint32_t query) {
  writeTimestamp(commandBuffer, stage, queryPool, query);
}

VKAPI_ATTR void VKAPI_CALL vkCmdBeginQuery(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t query,
                                           VkQueryControlFlags flags) {
  beginQuery(CommandBuffer::from(commandBuffer)->stream(), *QueryPool::from(queryPool), query,
             (flags & VK_QUERY_CONTROL_PRECISE_BIT) != 0);
}

VKAPI_ATTR void VKAPI_CALL vkCmdEndQuery(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t query) {
  const QueryPool& pool = *QueryPool::from(queryPool);
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  endQuery(self.stream(), pool, query);
  // The first of the views' queries has counted them all; the others are there, with nothing (Vulkan 1.3, 18.3).
  for (uint32_t i = 1; i < self.pass().viewCount(); ++i) {
    beginQuery(self.stream(), pool, query + i, false);
    endQuery(self.stream(), pool, query + i);
  }
}

VKAPI_ATTR void VKAPI_CALL vkCmdResetQueryPool(VkCommandBuffer commandBuffer, VkQueryPool queryPool,
                                               uint32_t firstQuery, uint32_t queryCount) {
  auto* packet =
      CommandBuffer::from(commandBuffer)->stream().append<abi::ResetQueriesPacket>(abi::PacketOp::kResetQueries);
  packet->slotAddress = QueryPool::from(queryPool)->slotAddress(firstQuery);
  packet->slotCount = queryCount * QueryPool::from(queryPool)->slotsPerQuery();
  packet->reserved = 0;
}

VKAPI_ATTR void VKAPI_CALL vkCmdCopyQueryPoolResults(VkCommandBuffer commandBuffer, VkQueryPool queryPool,
                                                     uint32_t firstQuery, uint32_t queryCount, VkBuffer dstBuffer,
                                                     VkDeviceSize dstOffset, VkDeviceSize stride,
                                                     VkQueryResultFlags flags) {
  auto* packet =
      CommandBuffer::from(commandBuffer)->stream().append<abi::CopyQueriesPacket>(abi::PacketOp::kCopyQueries);
  packet->slotAddress = QueryPool::from(queryPool)->slotAddress(firstQuery);
  packet->queryCount = queryCount;
  packet->slotsPerQuery = QueryPool::from(queryPool)->slotsPerQuery();
  packet->dst = Buffer::from(dstBuffer)->address() + dstOffset;
  packet->stride_B = stride;
  packet->vkResultFlags = flags;
  packet->reserved = 0;
}

VKAPI_ATTR void VKAPI_CALL vkCmdBeginDebugUtilsLabelEXT(VkCommandBuffer commandBuffer,
                                                        const VkDebugUtilsLabelEXT* pLabelInfo) {
  label(commandBuffer, abi::PacketOp::kLabelBegin, *pLabelInfo);
}

VKAPI_ATTR void VKAPI_CALL vkCmdEndDebugUtilsLabelEXT(VkCommandBuffer commandBuffer) {
  CommandBuffer::from(commandBuffer)->stream().append<abi::PacketHeader>(abi::PacketOp::kLabelEnd);
}

VKAPI_ATTR void VKAPI_CALL vkCmdInsertDebugUtilsLabelEXT(VkCommandBuffer commandBuffer,
                                                         const VkDebugUtilsLabelEXT* pLabelInfo) {
  label(commandBuffer, abi::PacketOp::kLabelBegin, *pLabelInfo);
  CommandBuffer::from(commandBuffer)->stream().append<abi::PacketHeader>(abi::PacketOp::kLabelEnd);
}

}  // namespace pumice::icd
