#include "icd/objects/command_buffer.h"

#include <algorithm>
#include <cstring>

#include "gen/entrypoints.h"
#include "icd/objects/command_pool.h"
#include "icd/objects/compute_pipeline.h"
#include "icd/objects/device.h"
#include "icd/objects/graphics_pipeline.h"
#include "icd/objects/instance.h"
#include "icd/objects/pnext.h"
#include "icd/objects/render_pass.h"

namespace pumice::icd {

CommandBuffer::CommandBuffer(CommandPool& pool)
    : stream_(pool.chunks()),
      orderDispatches_(pool.device().physicalDevice().instance().workarounds().orderDispatches) {}

VkResult CommandBuffer::init(VkCommandBufferLevel level) {
  isSecondary_ = level == VK_COMMAND_BUFFER_LEVEL_SECONDARY;
  return VK_SUCCESS;
}

void CommandBuffer::begin(const VkCommandBufferBeginInfo& info) {
  reset();
  if ((info.flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT) == 0 || !isSecondary_) return;
  const VkCommandBufferInheritanceInfo& inherited = *info.pInheritanceInfo;
  if (const RenderPass* pass = RenderPass::from(inherited.renderPass)) {
    pass_.inherit(*pass, inherited.subpass);
  } else if (const auto* rendering = findInChain<VkCommandBufferInheritanceRenderingInfo>(inherited.pNext)) {
    pass_.inherit(*rendering);
  }
  targetsChanged(true);
}

VkResult CommandBuffer::end() {
  stream_.finish();
  return stream_.outOfMemory() ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

void CommandBuffer::reset() {
  stream_.reset();
  insidePass_ = false;
  pass_.forget();
  forgetState();
}

void CommandBuffer::forgetState() {
  pipeline_ = nullptr;
  bindings_.forget();
  drawBindings_.forget();
  pushConstants_ = {};
  pushConstantsBlock_ = nullptr;
  draws_.forget();
  if (insidePass_) draws_.setTargets(pass_.targets());
}

void CommandBuffer::bindPipeline(const GraphicsPipeline& pipeline) {
  draws_.bindPrograms(pipeline.programs());
}

bool CommandBuffer::prepareDraw(DrawHead* out) {
  if (!insidePass_ || !draws_.ready()) return false;
  const abi::BindingState* bindings = drawBindings_.flush(stream_);
  out->pushConstants = flushPushConstants();
  out->state = draws_.flush(stream_, bindings);
  return true;
}

void CommandBuffer::targetsChanged(bool insidePass) {
  insidePass_ = insidePass;
  if (insidePass) draws_.setTargets(pass_.targets());
}

void CommandBuffer::pushConstants(uint32_t offset_B, uint32_t size_B, const void* data) {
  const auto room = static_cast<uint32_t>(pushConstants_.size()) - std::min(offset_B, abi::kMaxPushConstantBytes);
  std::memcpy(pushConstants_.data() + offset_B, data, std::min(size_B, room));  // beyond the limit: not allowed
  pushConstantsBlock_ = nullptr;
}

const std::byte* CommandBuffer::flushPushConstants() {
  if (pushConstantsBlock_ == nullptr) {
    std::byte* block = stream_.appendBytes(pushConstants_.size());
    std::memcpy(block, pushConstants_.data(), pushConstants_.size());
    pushConstantsBlock_ = block;
  }
  return pushConstantsBlock_;
}

void CommandBuffer::orderBehindDispatches() {
  auto* packet = stream_.append<abi::BarrierPacket>(abi::PacketOp::kBarrier);
  packet->src = packet->dst = abi::stageBit(abi::Stage::kCompute);
}

void CommandBuffer::dispatch(const uint32_t (&base)[3], const uint32_t (&count)[3]) {
  if (count[0] == 0 || count[1] == 0 || count[2] == 0 || pipeline_ == nullptr) return;
  const abi::BindingState* bindings = bindings_.flush(stream_);
  const std::byte* pushConstants = flushPushConstants();
  if (orderDispatches_) orderBehindDispatches();
  auto* packet = stream_.append<abi::DispatchPacket>(abi::PacketOp::kDispatch);
  packet->program = &pipeline_->program();
  packet->bindings = bindings;
  packet->pushConstants = pushConstants;
  std::copy_n(base, 3, packet->groupBase);
  std::copy_n(count, 3, packet->groupCount);
}

void CommandBuffer::dispatchIndirect(uint64_t argsAddress) {
  if (pipeline_ == nullptr) return;
  const abi::BindingState* bindings = bindings_.flush(stream_);
  const std::byte* pushConstants = flushPushConstants();
  if (orderDispatches_) orderBehindDispatches();
  auto* packet = stream_.append<abi::DispatchIndirectPacket>(abi::PacketOp::kDispatchIndirect);
  packet->program = &pipeline_->program();
  packet->bindings = bindings;
  packet->pushConstants = pushConstants;
  packet->argsAddress = argsAddress;
}

VKAPI_ATTR VkResult VKAPI_CALL vkBeginCommandBuffer(VkCommandBuffer commandBuffer,
                                                    const VkCommandBufferBeginInfo* pBeginInfo) {
  CommandBuffer::from(commandBuffer)->begin(*pBeginInfo);
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
