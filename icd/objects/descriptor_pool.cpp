#include "icd/objects/descriptor_pool.h"

#include <algorithm>
#include <cstring>

#include "backend/abi/descriptor.h"
#include "gen/entrypoints.h"
#include "icd/objects/descriptor_set_layout.h"
#include "icd/objects/device.h"
#include "icd/objects/pnext.h"
#include "icd/objects/status_result.h"

namespace pumice::icd {

DescriptorPool::~DescriptorPool() {
  reset();
  device_.gpu().free(memory_);
}

// The block has room for whatever sets the pool sizes allow: each descriptor with the padding in front of it that the
// worst order of bindings costs, each set rounded up.
VkResult DescriptorPool::init(const VkDescriptorPoolCreateInfo& info) {
  maxSets_ = info.maxSets;
  size_B_ = uint64_t{info.maxSets} * abi::kDescriptorAlignBytes;
  for (uint32_t i = 0; i < info.poolSizeCount; ++i) {
    const VkDescriptorPoolSize& size = info.pPoolSizes[i];
    if (size.type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) {
      size_B_ += size.descriptorCount;
      continue;
    }
    const DescriptorRoom room = descriptorRoom(size.type, info.pNext, i);
    size_B_ += size.descriptorCount * uint64_t{room.bytes + room.align_B - abi::kInlineUniformAlignBytes};
  }
  if (const auto* blocks = findInChain<VkDescriptorPoolInlineUniformBlockCreateInfo>(info.pNext)) {
    size_B_ += uint64_t{blocks->maxInlineUniformBlockBindings} * 2 * abi::kInlineUniformAlignBytes;
  }
  size_B_ = (size_B_ + abi::kDescriptorAlignBytes - 1) & ~uint64_t{abi::kDescriptorAlignBytes - 1};
  ranges_.reset(size_B_);
  kmd::AllocationInfo wish;  // zeroed: null descriptors
  wish.size_B = size_B_;
  return toResult(device_.gpu().allocate(wish, &memory_));
}

void DescriptorPool::prepare(uint32_t count) {
  const size_t most = std::min<size_t>(maxSets_, size_t{usedSlots_} + count);
  if (freeSlots_.capacity() >= most) return;
  const size_t room = std::min<size_t>(maxSets_, std::max(most, 2 * size_t{usedSlots_} + 16));
  ranges_.reserve(room + 1);  // one between any two sets, and at the ends
  freeSlots_.reserve(room);
}

VkResult DescriptorPool::allocate(const DescriptorSetShape& shape, uint32_t variableCount, VkDescriptorSet* out) {
  if (freeSlots_.empty() && usedSlots_ == maxSets_) return VK_ERROR_OUT_OF_POOL_MEMORY;
  const uint64_t size = shape.size_B(variableCount);
  uint64_t offset = 0;
  if (size != 0) {
    const auto range = ranges_.allocate(size);
    if (!range) {
      return ranges_.freeBytes() >= size ? VK_ERROR_FRAGMENTED_POOL : VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    offset = *range;
  }
  uint32_t index;
  if (freeSlots_.empty()) {
    index = usedSlots_++;
  } else {
    index = freeSlots_.back();
    freeSlots_.pop_back();
  }
  const uint64_t address = kmd::allocationAddress(memory_) + offset;
  auto* set = new (slot(index)) DescriptorSet(shape, address, offset, size);
  std::memset(set->memory(), 0, size);
  shape.writeImmutableSamplers(set->memory(), variableCount);
  // An inline uniform block is read through a descriptor, like any other uniform buffer; its bytes follow it.
  for (const DescriptorBinding& b : shape.bindings()) {
    if (b.type != VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK || b.count == 0) continue;
    const uint32_t bytes = b.variableCount ? std::min(b.count, variableCount) : b.count;
    const abi::BufferDescriptor self{address + b.offset_B + sizeof(abi::BufferDescriptor), bytes};
    std::memcpy(set->memory() + b.offset_B, &self, sizeof self);
  }
  *out = set->handle();
  return VK_SUCCESS;
}

void DescriptorPool::free(DescriptorSet* set) {
  ranges_.free(set->offset_B(), set->size_B());
  const auto index = static_cast<uint32_t>(set - slot(0));
  set->~DescriptorSet();
  freeSlots_.push_back(index);
}

void DescriptorPool::reset() {
  std::sort(freeSlots_.begin(), freeSlots_.end());
  auto nextFree = freeSlots_.begin();
  for (uint32_t i = 0; i < usedSlots_; ++i) {
    if (nextFree != freeSlots_.end() && *nextFree == i) {
      ++nextFree;
    } else {
      slot(i)->~DescriptorSet();
    }
  }
  usedSlots_ = 0;
  freeSlots_.clear();
  ranges_.reset(size_B_);
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateDescriptorPool(VkDevice device, const VkDescriptorPoolCreateInfo* pCreateInfo,
                                                      const VkAllocationCallbacks* pAllocator,
                                                      VkDescriptorPool* pDescriptorPool) {
  return DescriptorPool::create(pAllocator, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT,
                                size_t{pCreateInfo->maxSets} * sizeof(DescriptorSet), pDescriptorPool,
                                *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyDescriptorPool(VkDevice, VkDescriptorPool descriptorPool,
                                                   const VkAllocationCallbacks* pAllocator) {
  DescriptorPool::destroy(descriptorPool, pAllocator);
}

VKAPI_ATTR VkResult VKAPI_CALL vkResetDescriptorPool(VkDevice, VkDescriptorPool descriptorPool,
                                                     VkDescriptorPoolResetFlags) {
  DescriptorPool::from(descriptorPool)->reset();
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkAllocateDescriptorSets(VkDevice, const VkDescriptorSetAllocateInfo* pAllocateInfo,
                                                        VkDescriptorSet* pDescriptorSets) {
  DescriptorPool& pool = *DescriptorPool::from(pAllocateInfo->descriptorPool);
  const auto* variable = findInChain<VkDescriptorSetVariableDescriptorCountAllocateInfo>(pAllocateInfo->pNext);
  if (variable != nullptr && variable->descriptorSetCount == 0) variable = nullptr;
  std::fill_n(pDescriptorSets, pAllocateInfo->descriptorSetCount, VkDescriptorSet{});
  pool.prepare(pAllocateInfo->descriptorSetCount);
  VkResult result = VK_SUCCESS;
  uint32_t done = 0;
  for (; done < pAllocateInfo->descriptorSetCount; ++done) {
    const auto& shape = *DescriptorSetLayout::from(pAllocateInfo->pSetLayouts[done])->shape();
    // Without the structure a variable binding has no elements (Vulkan 1.3, 14.2.3).
    const uint32_t count = variable != nullptr ? variable->pDescriptorCounts[done] : 0;
    result = pool.allocate(shape, count, &pDescriptorSets[done]);
    if (result != VK_SUCCESS) break;
  }
  if (result == VK_SUCCESS) return result;
  // All or nothing, and the array is null on failure.
  for (uint32_t i = 0; i < done; ++i) pool.free(DescriptorSet::from(pDescriptorSets[i]));
  std::fill_n(pDescriptorSets, pAllocateInfo->descriptorSetCount, VkDescriptorSet{});
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL vkFreeDescriptorSets(VkDevice, VkDescriptorPool descriptorPool,
                                                    uint32_t descriptorSetCount,
                                                    const VkDescriptorSet* pDescriptorSets) {
  for (uint32_t i = 0; i < descriptorSetCount; ++i) {
    if (pDescriptorSets[i] != VK_NULL_HANDLE) {
      DescriptorPool::from(descriptorPool)->free(DescriptorSet::from(pDescriptorSets[i]));
    }
  }
  return VK_SUCCESS;
}

}  // namespace pumice::icd
