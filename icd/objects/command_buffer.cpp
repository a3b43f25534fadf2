#include "icd/objects/command_buffer.h"

#include <algorithm>
#include <cstring>

#include "backend/trace/seeded_fault.h"
#include "gen/entrypoints.h"
#include "icd/objects/command_pool.h"
#include "icd/objects/compute_pipeline.h"
#include "icd/objects/device.h"
#include "icd/objects/instance.h"
#include "icd/objects/pipeline_layout.h"

namespace pumice::icd {

CommandBuffer::CommandBuffer(CommandPool& pool)
    : stream_(pool.chunks()),
      orderDispatches_(pool.device().physicalDevice().instance().workarounds().orderDispatches) {}

VkResult CommandBuffer::init(VkCommandBufferLevel) {
  return VK_SUCCESS;
}

void CommandBuffer::begin() {
  reset();
}

VkResult CommandBuffer::end() {
  stream_.finish();
  return stream_.outOfMemory() ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

void CommandBuffer::reset() {
  stream_.reset();
  forgetState();
}

void CommandBuffer::forgetState() {
  pipeline_ = nullptr;
  bindings_ = {};
  pushConstants_ = {};
  pushSets_.clear();
  bindingsBlock_ = nullptr;
  pushConstantsBlock_ = nullptr;
}

void CommandBuffer::bindSet(uint32_t index, uint64_t address) {
  bindings_.setAddress[index] = address;
  bindingsBlock_ = nullptr;
  std::erase_if(pushSets_, [&](const PushSet& s) { return s.index == index; });
}

void CommandBuffer::setDynamicOffset(uint32_t index, uint32_t offset_B) {
  bindings_.dynamicOffset_B[index] = PUMICE_SEEDED_FAULT("dynamic-offset") ? 0 : offset_B;
  bindingsBlock_ = nullptr;
}

void CommandBuffer::pushConstants(uint32_t offset_B, uint32_t size_B, const void* data) {
  std::memcpy(pushConstants_.data() + offset_B, data, size_B);
  pushConstantsBlock_ = nullptr;
}

std::byte* CommandBuffer::pushSet(const PipelineLayout& layout, uint32_t index) {
  auto at = std::find_if(pushSets_.begin(), pushSets_.end(), [&](const PushSet& s) { return s.index == index; });
  const DescriptorSetShape& shape = layout.set(index);
  if (at == pushSets_.end()) at = pushSets_.insert(pushSets_.end(), PushSet{index, true, {}});
  at->memory.resize(shape.fullSize_B());
  shape.writeImmutableSamplers(at->memory.data(), UINT32_MAX);
  at->dirty = true;
  return at->memory.data();
}

void CommandBuffer::flushState() {
  for (PushSet& set : pushSets_) {
    if (!set.dirty) continue;
    // A set is aligned like one in a pool; stream memory is host memory, which the GPU addresses alike.
    std::byte* block = stream_.appendBytes(set.memory.size() + abi::kDescriptorAlignBytes);
    const uint64_t address = (reinterpret_cast<uint64_t>(block) + abi::kDescriptorAlignBytes - 1) &
                             ~uint64_t{abi::kDescriptorAlignBytes - 1};
    std::memcpy(reinterpret_cast<void*>(address), set.memory.data(), set.memory.size());
    bindings_.setAddress[set.index] = address;
    bindingsBlock_ = nullptr;
    set.dirty = false;
  }
  if (bindingsBlock_ == nullptr) {
    auto* block = stream_.appendState<abi::BindingState>();
    *block = bindings_;
    bindingsBlock_ = block;
  }
  if (pushConstantsBlock_ == nullptr) {
    std::byte* block = stream_.appendBytes(pushConstants_.size());
    std::memcpy(block, pushConstants_.data(), pushConstants_.size());
    pushConstantsBlock_ = block;
  }
}

void CommandBuffer::orderBehindDispatches() {
  auto* packet = stream_.append<abi::BarrierPacket>(abi::PacketOp::kBarrier);
  packet->src = packet->dst = abi::stageBit(abi::Stage::kCompute);
}

void CommandBuffer::dispatch(const uint32_t (&base)[3], const uint32_t (&count)[3]) {
  if (count[0] == 0 || count[1] == 0 || count[2] == 0 || pipeline_ == nullptr) return;
  flushState();
  if (orderDispatches_) orderBehindDispatches();
  auto* packet = stream_.append<abi::DispatchPacket>(abi::PacketOp::kDispatch);
  packet->program = &pipeline_->program();
  packet->bindings = bindingsBlock_;
  packet->pushConstants = pushConstantsBlock_;
  std::copy_n(base, 3, packet->groupBase);
  std::copy_n(count, 3, packet->groupCount);
}

void CommandBuffer::dispatchIndirect(uint64_t argsAddress) {
  if (pipeline_ == nullptr) return;
  flushState();
  if (orderDispatches_) orderBehindDispatches();
  auto* packet = stream_.append<abi::DispatchIndirectPacket>(abi::PacketOp::kDispatchIndirect);
  packet->program = &pipeline_->program();
  packet->bindings = bindingsBlock_;
  packet->pushConstants = pushConstantsBlock_;
  packet->argsAddress = argsAddress;
}

VKAPI_ATTR VkResult VKAPI_CALL vkBeginCommandBuffer(VkCommandBuffer commandBuffer, const VkCommandBufferBeginInfo*) {
  CommandBuffer::from(commandBuffer)->begin();
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkEndCommandBuffer(VkCommandBuffer commandBuffer) {
  return CommandBuffer::from(commandBuffer)->end();
}

VKAPI_ATTR VkResult VKAPI_CALL vkResetCommandBuffer(VkCommandBuffer commandBuffer, VkCommandBufferResetFlags) {
  CommandBuffer::from(commandBuffer)->reset();
  return VK_SUCCESS;
}

}  // namespace pumice::icd
