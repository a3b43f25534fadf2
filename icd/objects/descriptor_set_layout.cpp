#include "icd/objects/descriptor_set_layout.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "backend/abi/descriptor_room.h"
#include "gen/entrypoints.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/device.h"
#include "icd/objects/pnext.h"
#include "icd/objects/sampler.h"

namespace pumice::icd {
namespace {

constexpr uint64_t alignUp(uint64_t n, uint64_t align) {
  return (n + align - 1) & ~(align - 1);
}

uint32_t bytesOf(VkDescriptorType type) {
  switch (type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
      return sizeof(abi::SamplerDescriptor);
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
      return sizeof(abi::ImageDescriptor) + sizeof(abi::SamplerDescriptor);
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
      return sizeof(abi::ImageDescriptor);
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
      return sizeof(abi::TexelBufferDescriptor);
    default:
      return sizeof(abi::BufferDescriptor);
  }
}

uint32_t alignOf(uint32_t bytes) {
  switch (bytes) {
    case sizeof(abi::BufferDescriptor):
      return abi::kInlineUniformAlignBytes;
    case sizeof(abi::TexelBufferDescriptor):
      return sizeof(abi::TexelBufferDescriptor);
    default:
      return abi::kDescriptorAlignBytes;
  }
}

}  // namespace

DescriptorRoom descriptorRoom(VkDescriptorType type, const void* chain, uint32_t index) {
  if (type != VK_DESCRIPTOR_TYPE_MUTABLE_EXT) return {bytesOf(type), alignOf(bytesOf(type))};
  const auto* mutableTypes = findInChain<VkMutableDescriptorTypeCreateInfoEXT>(chain);
  if (mutableTypes == nullptr || index >= mutableTypes->mutableDescriptorTypeListCount) {
    return descriptorRoom(VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, nullptr, 0);  // the largest
  }
  const VkMutableDescriptorTypeListEXT& list = mutableTypes->pMutableDescriptorTypeLists[index];
  DescriptorRoom room = descriptorRoom(VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, nullptr, 0);
  for (uint32_t i = 0; i < list.descriptorTypeCount; ++i) {
    const DescriptorRoom one = descriptorRoom(list.pDescriptorTypes[i], nullptr, 0);
    room = {std::max(room.bytes, one.bytes), std::max(room.align_B, one.align_B)};
  }
  return room;
}

bool isDynamic(VkDescriptorType type) {
  return type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC || type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
}

VkResult DescriptorSetShape::init(const VkDescriptorSetLayoutCreateInfo& info) {
  const auto* flags = findInChain<VkDescriptorSetLayoutBindingFlagsCreateInfo>(info.pNext);
  if (flags != nullptr && flags->bindingCount == 0) flags = nullptr;
  std::vector<uint32_t> order(info.bindingCount);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return info.pBindings[a].binding < info.pBindings[b].binding; });
  bindings_.reserve(info.bindingCount);
  uint64_t offset = 0;
  for (uint32_t i : order) {
    const VkDescriptorSetLayoutBinding& in = info.pBindings[i];
    DescriptorBinding out{in.binding, in.descriptorType, in.descriptorCount, 0, 0, abi::kNotDynamic, false};
    // Of other types the pointer is not to be looked at.
    const bool samplers = in.descriptorType == VK_DESCRIPTOR_TYPE_SAMPLER ||
                          in.descriptorType == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    if (samplers && in.pImmutableSamplers != nullptr && in.descriptorCount != 0) {
      out.firstImmutable = static_cast<uint32_t>(immutableSamplers_.size());
      for (uint32_t s = 0; s < in.descriptorCount; ++s) {
        immutableSamplers_.push_back(Sampler::from(in.pImmutableSamplers[s])->descriptor());
      }
    }
    out.variableCount =
        flags != nullptr && (flags->pBindingFlags[i] & VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT) != 0;
    const DescriptorRoom room = descriptorRoom(in.descriptorType, info.pNext, i);
    out.stride_B = room.bytes;
    // A reserved binding takes no room, not even to be aligned: pools count with descriptors alone.
    if (in.descriptorCount == 0) {
      out.offset_B = static_cast<uint32_t>(offset);
      bindings_.push_back(out);
      continue;
    }
    offset = alignUp(offset, room.align_B);
    out.offset_B = static_cast<uint32_t>(offset);
    if (in.descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) {
      offset += sizeof(abi::BufferDescriptor) + in.descriptorCount;
    } else {
      offset += uint64_t{out.stride_B} * in.descriptorCount;
    }
    // vkGetDescriptorSetLayoutSupport says no to such layouts; offsets are 32 bits wide.
    if (offset > UINT32_MAX) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (isDynamic(in.descriptorType)) {
      out.dynamicIndex = dynamicCount_;
      dynamicCount_ += in.descriptorCount;
    }
    bindings_.push_back(out);
  }
  return VK_SUCCESS;
}

const DescriptorBinding* DescriptorSetShape::find(uint32_t binding) const {
  const auto at = std::lower_bound(bindings_.begin(), bindings_.end(), binding,
                                   [](const DescriptorBinding& b, uint32_t n) { return b.binding < n; });
  return at != bindings_.end() && at->binding == binding ? &*at : nullptr;
}

uint64_t DescriptorSetShape::size_B(uint32_t variableCount) const {
  if (bindings_.empty()) return 0;
  const DescriptorBinding& last = bindings_.back();
  const uint64_t count = last.variableCount ? std::min(last.count, variableCount) : last.count;
  const bool isInline = last.type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK && last.count != 0;
  const uint64_t bytes = isInline ? sizeof(abi::BufferDescriptor) + count : count * last.stride_B;
  return alignUp(last.offset_B + bytes, abi::kDescriptorAlignBytes);
}

void DescriptorSetShape::writeImmutableSamplers(std::byte* set, uint32_t variableCount) const {
  for (const DescriptorBinding& b : bindings_) {
    if (b.firstImmutable == DescriptorBinding::kNoImmutable) continue;
    const uint32_t count = b.variableCount ? std::min(b.count, variableCount) : b.count;
    const size_t behind_B = abi::samplerOffset_B(b.stride_B);
    for (uint32_t i = 0; i < count; ++i) {
      std::memcpy(set + b.offset_B + size_t{i} * b.stride_B + behind_B, &immutableSamplers_[b.firstImmutable + i],
                  sizeof(abi::SamplerDescriptor));
    }
  }
}

VkResult DescriptorSetLayout::init(const VkDescriptorSetLayoutCreateInfo& info) {
  shape_ = std::make_shared<DescriptorSetShape>();
  return shape_->init(info);
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateDescriptorSetLayout(VkDevice device,
                                                           const VkDescriptorSetLayoutCreateInfo* pCreateInfo,
                                                           const VkAllocationCallbacks* pAllocator,
                                                           VkDescriptorSetLayout* pSetLayout) {
  return DescriptorSetLayout::create(pAllocator, pSetLayout, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyDescriptorSetLayout(VkDevice, VkDescriptorSetLayout descriptorSetLayout,
                                                        const VkAllocationCallbacks* pAllocator) {
  DescriptorSetLayout::destroy(descriptorSetLayout, pAllocator);
}

VKAPI_ATTR void VKAPI_CALL vkGetDescriptorSetLayoutSupport(VkDevice, const VkDescriptorSetLayoutCreateInfo* pCreateInfo,
                                                           VkDescriptorSetLayoutSupport* pSupport) {
  const auto* flags = findInChain<VkDescriptorSetLayoutBindingFlagsCreateInfo>(pCreateInfo->pNext);
  uint64_t bytes = 0, dynamic = 0, inlineTooLarge = 0;
  uint32_t maxVariable = 0;
  const VkDescriptorSetLayoutBinding* dynamicVariable = nullptr;
  for (uint32_t i = 0; i < pCreateInfo->bindingCount; ++i) {
    const VkDescriptorSetLayoutBinding& b = pCreateInfo->pBindings[i];
    const bool isInline = b.descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
    const uint32_t room_B = isInline ? 1 : descriptorRoom(b.descriptorType, pCreateInfo->pNext, i).bytes;
    bytes += abi::kDescriptorAlignBytes + uint64_t{b.descriptorCount} * room_B;
    if (isDynamic(b.descriptorType)) dynamic += b.descriptorCount;
    if (isInline && b.descriptorCount > kMaxInlineUniformBlockSize_B) inlineTooLarge = 1;
    if (flags != nullptr && flags->bindingCount != 0 &&
        (flags->pBindingFlags[i] & VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT) != 0) {
      maxVariable = isInline ? kMaxInlineUniformBlockSize_B : kMaxUpdateAfterBindDescriptors;
      if (isDynamic(b.descriptorType)) dynamicVariable = &b;
    }
  }
  pSupport->supported = bytes <= UINT32_MAX && dynamic <= abi::kMaxDynamicOffsets && inlineTooLarge == 0;
  if (dynamicVariable != nullptr) {  // it shares the offsets with the others
    const uint64_t others = dynamic - dynamicVariable->descriptorCount;
    maxVariable = others < abi::kMaxDynamicOffsets ? static_cast<uint32_t>(abi::kMaxDynamicOffsets - others) : 0;
  }
  if (auto* variable = findInChain<VkDescriptorSetVariableDescriptorCountLayoutSupport>(pSupport->pNext)) {
    variable->maxVariableDescriptorCount = pSupport->supported ? maxVariable : 0;
  }
}

}  // namespace pumice::icd
