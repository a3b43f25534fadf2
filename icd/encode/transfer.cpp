// Copies, fills and updates of buffers.
#include <cstring>

#include "gen/entrypoints.h"
#include "icd/objects/buffer.h"
#include "icd/objects/command_buffer.h"

namespace pumice::icd {
namespace {

template <typename Region>
void copyBuffer(VkCommandBuffer commandBuffer, VkBuffer src, VkBuffer dst, uint32_t count, const Region* regions) {
  CommandStream& stream = CommandBuffer::from(commandBuffer)->stream();
  for (uint32_t i = 0; i < count; ++i) {
    auto* packet = stream.append<abi::CopyBufferPacket>(abi::PacketOp::kCopyBuffer);
    packet->src = Buffer::from(src)->address() + regions[i].srcOffset;
    packet->dst = Buffer::from(dst)->address() + regions[i].dstOffset;
    packet->size_B = regions[i].size;
  }
}

}  // namespace

VKAPI_ATTR void VKAPI_CALL vkCmdCopyBuffer(VkCommandBuffer commandBuffer, VkBuffer srcBuffer, VkBuffer dstBuffer,
                                           uint32_t regionCount, const VkBufferCopy* pRegions) {
  copyBuffer(commandBuffer, srcBuffer, dstBuffer, regionCount, pRegions);
}

VKAPI_ATTR void VKAPI_CALL vkCmdCopyBuffer2(VkCommandBuffer commandBuffer, const VkCopyBufferInfo2* pCopyBufferInfo) {
  copyBuffer(commandBuffer, pCopyBufferInfo->srcBuffer, pCopyBufferInfo->dstBuffer, pCopyBufferInfo->regionCount,
             pCopyBufferInfo->pRegions);
}

VKAPI_ATTR void VKAPI_CALL vkCmdFillBuffer(VkCommandBuffer commandBuffer, VkBuffer dstBuffer, VkDeviceSize dstOffset,
                                           VkDeviceSize size, uint32_t data) {
  const Buffer& buffer = *Buffer::from(dstBuffer);
  auto* packet = CommandBuffer::from(commandBuffer)->stream().append<abi::FillBufferPacket>(abi::PacketOp::kFillBuffer);
  packet->dst = buffer.address() + dstOffset;
  // VK_WHOLE_SIZE leaves a tail of fewer than four bytes alone (Vulkan 1.3, 20.3).
  packet->size_B = buffer.rangeFrom(dstOffset, size) & ~uint64_t{3};
  packet->value = data;
  packet->reserved = 0;
}

VKAPI_ATTR void VKAPI_CALL vkCmdUpdateBuffer(VkCommandBuffer commandBuffer, VkBuffer dstBuffer, VkDeviceSize dstOffset,
                                             VkDeviceSize dataSize, const void* pData) {
  auto* packet = CommandBuffer::from(commandBuffer)
                     ->stream()
                     .append<abi::UpdateBufferPacket>(abi::PacketOp::kUpdateBuffer, dataSize);
  packet->dst = Buffer::from(dstBuffer)->address() + dstOffset;
  packet->size_B = dataSize;
  std::memcpy(packet + 1, pData, dataSize);
}

}  // namespace pumice::icd
