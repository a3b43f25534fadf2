// Draws, and the buffers that they read.
#include "gen/entrypoints.h"
#include "icd/objects/buffer.h"
#include "icd/objects/command_buffer.h"

namespace pumice::icd {
namespace {

struct DrawRange {
  uint32_t first, count;  // vertices, or indices
  int32_t vertexOffset = 0;
  uint32_t firstInstance, instanceCount;
  uint32_t drawIndex = 0;
};

void draw(CommandBuffer& self, const CommandBuffer::DrawHead& head, const DrawRange& range, uint16_t flags) {
  auto* packet = self.stream().append<abi::DrawPacket>(abi::PacketOp::kDraw);
  packet->header.flags = flags;
  packet->state = head.state;
  packet->pushConstants = head.pushConstants;
  packet->first = range.first;
  packet->count = range.count;
  packet->firstInstance = range.firstInstance;
  packet->instanceCount = range.instanceCount;
  packet->vertexOffset = range.vertexOffset;
  packet->drawIndex = range.drawIndex;
}

void drawOnce(VkCommandBuffer commandBuffer, const DrawRange& range, uint16_t flags) {
  if (range.count == 0 || range.instanceCount == 0) return;
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  CommandBuffer::DrawHead head;
  if (self.prepareDraw(&head)) draw(self, head, range, flags);
}

void drawIndirect(VkCommandBuffer commandBuffer, uint64_t args, uint64_t count, uint32_t maxDrawCount, uint32_t stride,
                  uint16_t flags) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  CommandBuffer::DrawHead head;
  if (maxDrawCount == 0 || !self.prepareDraw(&head)) return;
  auto* packet = self.stream().append<abi::DrawIndirectPacket>(abi::PacketOp::kDrawIndirect);
  packet->header.flags = flags;
  packet->state = head.state;
  packet->pushConstants = head.pushConstants;
  packet->argsAddress = args;
  packet->countAddress = count;
  packet->stride_B = stride;
  packet->maxDrawCount = maxDrawCount;
}

uint64_t addressIn(VkBuffer buffer, VkDeviceSize offset) {
  return Buffer::from(buffer)->address() + offset;
}

abi::IndexType indexType(VkIndexType type) {
  switch (type) {
    case VK_INDEX_TYPE_UINT16:
      return abi::IndexType::kUint16;
    case VK_INDEX_TYPE_UINT8_EXT:
      return abi::IndexType::kUint8;
    default:
      return abi::IndexType::kUint32;
  }
}

}  // namespace

VKAPI_ATTR void VKAPI_CALL vkCmdBindVertexBuffers2(VkCommandBuffer commandBuffer, uint32_t firstBinding,
                                                   uint32_t bindingCount, const VkBuffer* pBuffers,
                                                   const VkDeviceSize* pOffsets, const VkDeviceSize* pSizes,
                                                   const VkDeviceSize* pStrides) {
  DrawEncoder& draws = CommandBuffer::from(commandBuffer)->draws();
  for (uint32_t i = 0; i < bindingCount; ++i) {
    const uint32_t binding = firstBinding + i;
    if (binding >= abi::kMaxVertexAttributes) return;  // not allowed
    if (const Buffer* buffer = Buffer::from(pBuffers[i])) {
      const uint64_t size_B = buffer->rangeFrom(pOffsets[i], pSizes != nullptr ? pSizes[i] : VK_WHOLE_SIZE);
      draws.bindVertexBuffer(binding, buffer->address() + pOffsets[i], size_B);
    } else {
      draws.bindVertexBuffer(binding, 0, 0);
    }
    if (pStrides != nullptr && draws.values().vertexStride_B[binding] != pStrides[i]) {
      draws.change(kGroupVertexBuffers).vertexStride_B[binding] = static_cast<uint32_t>(pStrides[i]);
    }
  }
}

VKAPI_ATTR void VKAPI_CALL vkCmdBindVertexBuffers(VkCommandBuffer commandBuffer, uint32_t firstBinding,
                                                  uint32_t bindingCount, const VkBuffer* pBuffers,
                                                  const VkDeviceSize* pOffsets) {
  icd::vkCmdBindVertexBuffers2(commandBuffer, firstBinding, bindingCount, pBuffers, pOffsets, nullptr, nullptr);
}

VKAPI_ATTR void VKAPI_CALL vkCmdBindIndexBuffer(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset,
                                                VkIndexType type) {
  const Buffer& indices = *Buffer::from(buffer);
  CommandBuffer::from(commandBuffer)
      ->draws()
      .bindIndexBuffer(indices.address() + offset, indices.rangeFrom(offset, VK_WHOLE_SIZE), indexType(type));
}

VKAPI_ATTR void VKAPI_CALL vkCmdDraw(VkCommandBuffer commandBuffer, uint32_t vertexCount, uint32_t instanceCount,
                                     uint32_t firstVertex, uint32_t firstInstance) {
  drawOnce(commandBuffer,
           {.first = firstVertex, .count = vertexCount, .firstInstance = firstInstance, .instanceCount = instanceCount},
           0);
}

VKAPI_ATTR void VKAPI_CALL vkCmdDrawIndexed(VkCommandBuffer commandBuffer, uint32_t indexCount, uint32_t instanceCount,
                                            uint32_t firstIndex, int32_t vertexOffset, uint32_t firstInstance) {
  drawOnce(commandBuffer,
           {.first = firstIndex,
            .count = indexCount,
            .vertexOffset = vertexOffset,
            .firstInstance = firstInstance,
            .instanceCount = instanceCount},
           abi::kDrawIndexed);
}

VKAPI_ATTR void VKAPI_CALL vkCmdDrawMultiEXT(VkCommandBuffer commandBuffer, uint32_t drawCount,
                                             const VkMultiDrawInfoEXT* pVertexInfo, uint32_t instanceCount,
                                             uint32_t firstInstance, uint32_t stride) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  CommandBuffer::DrawHead head;
  if (drawCount == 0 || instanceCount == 0 || !self.prepareDraw(&head)) return;
  const auto* at = reinterpret_cast<const std::byte*>(pVertexInfo);
  for (uint32_t i = 0; i < drawCount; ++i, at += stride) {
    const auto& info = *reinterpret_cast<const VkMultiDrawInfoEXT*>(at);
    if (info.vertexCount == 0) continue;
    draw(self, head,
         {.first = info.firstVertex,
          .count = info.vertexCount,
          .firstInstance = firstInstance,
          .instanceCount = instanceCount,
          .drawIndex = i},
         0);
  }
}

VKAPI_ATTR void VKAPI_CALL vkCmdDrawMultiIndexedEXT(VkCommandBuffer commandBuffer, uint32_t drawCount,
                                                    const VkMultiDrawIndexedInfoEXT* pIndexInfo, uint32_t instanceCount,
                                                    uint32_t firstInstance, uint32_t stride,
                                                    const int32_t* pVertexOffset) {
  CommandBuffer& self = *CommandBuffer::from(commandBuffer);
  CommandBuffer::DrawHead head;
  if (drawCount == 0 || instanceCount == 0 || !self.prepareDraw(&head)) return;
  const auto* at = reinterpret_cast<const std::byte*>(pIndexInfo);
  for (uint32_t i = 0; i < drawCount; ++i, at += stride) {
    const auto& info = *reinterpret_cast<const VkMultiDrawIndexedInfoEXT*>(at);
    if (info.indexCount == 0) continue;
    draw(self, head,
         {.first = info.firstIndex,
          .count = info.indexCount,
          .vertexOffset = pVertexOffset != nullptr ? *pVertexOffset : info.vertexOffset,
          .firstInstance = firstInstance,
          .instanceCount = instanceCount,
          .drawIndex = i},
         abi::kDrawIndexed);
  }
}

VKAPI_ATTR void VKAPI_CALL vkCmdDrawIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset,
                                             uint32_t drawCount, uint32_t stride) {
  drawIndirect(commandBuffer, addressIn(buffer, offset), 0, drawCount, stride, 0);
}

VKAPI_ATTR void VKAPI_CALL vkCmdDrawIndexedIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset,
                                                    uint32_t drawCount, uint32_t stride) {
  drawIndirect(commandBuffer, addressIn(buffer, offset), 0, drawCount, stride, abi::kDrawIndexed);
}

VKAPI_ATTR void VKAPI_CALL vkCmdDrawIndirectCount(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset,
                                                  VkBuffer countBuffer, VkDeviceSize countBufferOffset,
                                                  uint32_t maxDrawCount, uint32_t stride) {
  drawIndirect(commandBuffer, addressIn(buffer, offset), addressIn(countBuffer, countBufferOffset), maxDrawCount,
               stride, 0);
}

VKAPI_ATTR void VKAPI_CALL vkCmdDrawIndexedIndirectCount(VkCommandBuffer commandBuffer, VkBuffer buffer,
                                                         VkDeviceSize offset, VkBuffer countBuffer,
                                                         VkDeviceSize countBufferOffset, uint32_t maxDrawCount,
                                                         uint32_t stride) {
  drawIndirect(commandBuffer, addressIn(buffer, offset), addressIn(countBuffer, countBufferOffset), maxDrawCount,
               stride, abi::kDrawIndexed);
}

}  // namespace pumice::icd
