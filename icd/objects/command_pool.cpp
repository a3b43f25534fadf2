#include "icd/objects/command_pool.h"

#include <algorithm>

#include "gen/entrypoints.h"
#include "icd/objects/command_buffer.h"
#include "icd/objects/device.h"

namespace pumice::icd {
namespace {

void* allocateChunk(void* context, size_t size_B, size_t align_B) {
  return HostAllocator(static_cast<const VkAllocationCallbacks*>(context))
      .allocate(size_B, align_B, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
}

void freeChunk(void* context, void* memory) {
  HostAllocator(static_cast<const VkAllocationCallbacks*>(context)).free(memory);
}

}  // namespace

CommandPool::~CommandPool() {
  for (CommandBuffer* buffer : buffers_) CommandBuffer::destroy(buffer->handle(), callbacks());
}

VkResult CommandPool::init(const VkAllocationCallbacks* callbacks) {
  if (callbacks != nullptr) callbacks_ = *callbacks;
  chunks_.emplace(ChunkMemory{allocateChunk, freeChunk, callbacks_ ? &*callbacks_ : nullptr});
  return chunks_->initialize() ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

void CommandPool::prepare(uint32_t count) {
  if (buffers_.capacity() - buffers_.size() >= count) return;
  buffers_.reserve(std::max(buffers_.size() + count, 2 * buffers_.size()));
}

VkResult CommandPool::allocate(VkCommandBufferLevel level, VkCommandBuffer* out) {
  const VkResult result = CommandBuffer::create(callbacks(), out, *this, level);
  if (result == VK_SUCCESS) buffers_.push_back(CommandBuffer::from(*out));
  return result;
}

void CommandPool::free(CommandBuffer* buffer) {
  std::erase(buffers_, buffer);
  CommandBuffer::destroy(buffer->handle(), callbacks());
}

void CommandPool::reset(VkCommandPoolResetFlags flags) {
  for (CommandBuffer* buffer : buffers_) buffer->reset();
  if ((flags & VK_COMMAND_POOL_RESET_RELEASE_RESOURCES_BIT) != 0) chunks_->trim();
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo*,
                                                   const VkAllocationCallbacks* pAllocator,
                                                   VkCommandPool* pCommandPool) {
  return CommandPool::create(pAllocator, pCommandPool, *Device::from(device), pAllocator);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyCommandPool(VkDevice, VkCommandPool commandPool,
                                                const VkAllocationCallbacks* pAllocator) {
  CommandPool::destroy(commandPool, pAllocator);
}

VKAPI_ATTR VkResult VKAPI_CALL vkResetCommandPool(VkDevice, VkCommandPool commandPool, VkCommandPoolResetFlags flags) {
  CommandPool::from(commandPool)->reset(flags);
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL vkTrimCommandPool(VkDevice, VkCommandPool commandPool, VkCommandPoolTrimFlags) {
  CommandPool::from(commandPool)->chunks().trim();
}

VKAPI_ATTR VkResult VKAPI_CALL vkAllocateCommandBuffers(VkDevice, const VkCommandBufferAllocateInfo* pAllocateInfo,
                                                        VkCommandBuffer* pCommandBuffers) {
  CommandPool& pool = *CommandPool::from(pAllocateInfo->commandPool);
  std::fill_n(pCommandBuffers, pAllocateInfo->commandBufferCount, VkCommandBuffer{});
  pool.prepare(pAllocateInfo->commandBufferCount);
  for (uint32_t i = 0; i < pAllocateInfo->commandBufferCount; ++i) {
    const VkResult result = pool.allocate(pAllocateInfo->level, &pCommandBuffers[i]);
    if (result == VK_SUCCESS) continue;
    while (i-- > 0) pool.free(CommandBuffer::from(pCommandBuffers[i]));
    std::fill_n(pCommandBuffers, pAllocateInfo->commandBufferCount, VkCommandBuffer{});
    return result;
  }
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL vkFreeCommandBuffers(VkDevice, VkCommandPool commandPool, uint32_t commandBufferCount,
                                                const VkCommandBuffer* pCommandBuffers) {
  for (uint32_t i = 0; i < commandBufferCount; ++i) {
    if (pCommandBuffers[i] != nullptr) CommandPool::from(commandPool)->free(CommandBuffer::from(pCommandBuffers[i]));
  }
}

}  // namespace pumice::icd
