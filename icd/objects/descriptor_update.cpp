#include "icd/objects/descriptor_update.h"

#include <algorithm>
#include <cstring>

#include "backend/abi/descriptor_room.h"
#include "backend/trace/seeded_fault.h"
#include "gen/entrypoints.h"
#include "icd/objects/buffer.h"
#include "icd/objects/buffer_view.h"
#include "icd/objects/descriptor_pool.h"
#include "icd/objects/descriptor_set_layout.h"
#include "icd/objects/image_view.h"
#include "icd/objects/pnext.h"
#include "icd/objects/sampler.h"

namespace pumice::icd {
namespace {

void writeBuffer(std::byte* at, const VkDescriptorBufferInfo& info) {
  abi::BufferDescriptor out{};  // null buffer: the null descriptor
  if (const Buffer* buffer = Buffer::from(info.buffer)) {
    out = {buffer->address() + info.offset, buffer->rangeFrom(info.offset, info.range)};
  }
  if (PUMICE_SEEDED_FAULT("descriptor-stale")) {
    abi::BufferDescriptor old;
    std::memcpy(&old, at, sizeof old);
    if (old.address != 0) return;
  }
  std::memcpy(at, &out, sizeof out);
}

// A null handle writes the null descriptor.
template <typename T, typename Handle>
void writeObject(std::byte* at, Handle handle) {
  decltype(T::from(handle)->descriptor()) none = {};
  const T* object = T::from(handle);
  const auto& out = object != nullptr ? object->descriptor() : none;
  std::memcpy(at, &out, sizeof out);
}

// How the data of one descriptor look in the application's arrays.
enum class Source { kBuffer, kImage, kTexelBuffer };

Source sourceOf(VkDescriptorType type) {
  switch (type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
      return Source::kImage;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
      return Source::kTexelBuffer;
    default:
      return Source::kBuffer;
  }
}

// Immutable samplers are in the set since it was made, and stay.
void writeImage(std::byte* at, size_t room_B, VkDescriptorType type, const VkDescriptorImageInfo& info,
                bool immutableSampler) {
  std::byte* samplerAt = at + abi::samplerOffset_B(static_cast<uint32_t>(room_B));
  if (type != VK_DESCRIPTOR_TYPE_SAMPLER) writeObject<ImageView>(at, info.imageView);
  const bool hasSampler = type == VK_DESCRIPTOR_TYPE_SAMPLER || type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  if (hasSampler && !immutableSampler) writeObject<Sampler>(samplerAt, info.sampler);
  // Of a mutable one with room for more, copies to a smaller one take the beginning.
  if (type == VK_DESCRIPTOR_TYPE_SAMPLER && samplerAt != at) writeObject<Sampler>(at, info.sampler);
}

// `bytes` is not more than the room of either. A sampler alone is at the beginning and at the end of what it lies in.
void copyDescriptor(std::byte* out, size_t outRoom_B, const std::byte* in, size_t bytes) {
  std::memmove(out, in, bytes);
  const size_t end_B = abi::samplerOffset_B(static_cast<uint32_t>(outRoom_B));
  if (bytes == sizeof(abi::SamplerDescriptor) && end_B != 0) std::memmove(out + end_B, in, bytes);
}

// `elementData(i)` points to the i-th descriptor's VkDescriptorBufferInfo, VkDescriptorImageInfo or VkBufferView.
template <typename ElementData>
void writeArray(const DescriptorSetShape& shape, std::byte* set, uint32_t binding, uint32_t element, uint32_t count,
                VkDescriptorType type, ElementData&& elementData) {
  DescriptorCursor cursor(shape, binding, element);
  const Source source = sourceOf(type);
  for (uint32_t i = 0; i < count; ++i, cursor.next()) {
    std::byte* at = set + cursor.offset_B();
    const void* data = elementData(i);
    switch (source) {
      case Source::kBuffer:
        writeBuffer(at, *static_cast<const VkDescriptorBufferInfo*>(data));
        break;
      case Source::kImage:
        writeImage(at, cursor.bytes(), type, *static_cast<const VkDescriptorImageInfo*>(data),
                   cursor.hasImmutableSamplers());
        break;
      case Source::kTexelBuffer:
        writeObject<BufferView>(at, *static_cast<const VkBufferView*>(data));
        break;
    }
  }
}

void writeInline(const DescriptorSetShape& shape, std::byte* set, uint32_t binding, uint32_t offset, uint32_t size,
                 const void* data) {
  std::byte* block = set + shape.find(binding)->offset_B + sizeof(abi::BufferDescriptor);
  std::memcpy(block + offset, data, size);
}

void copyDescriptors(const VkCopyDescriptorSet& copy) {
  DescriptorSet& src = *DescriptorSet::from(copy.srcSet);
  DescriptorSet& dst = *DescriptorSet::from(copy.dstSet);
  const DescriptorBinding& from = *src.shape().find(copy.srcBinding);
  if (from.type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) {
    // Elements are bytes; the descriptor in front belongs to the set.
    const std::byte* data = src.memory() + from.offset_B + sizeof(abi::BufferDescriptor) + copy.srcArrayElement;
    writeInline(dst.shape(), dst.memory(), copy.dstBinding, copy.dstArrayElement, copy.descriptorCount, data);
    return;
  }
  DescriptorCursor in(src.shape(), copy.srcBinding, copy.srcArrayElement);
  DescriptorCursor out(dst.shape(), copy.dstBinding, copy.dstArrayElement);
  for (uint32_t i = 0; i < copy.descriptorCount; ++i, in.next(), out.next()) {
    std::byte* to = dst.memory() + out.offset_B();
    const std::byte* data = src.memory() + in.offset_B();
    // Of a combined image sampler whose sampler is immutable, the image alone is copied (Vulkan 1.3, 14.2.4).
    if (out.hasImmutableSamplers()) {
      std::memmove(to, data, abi::samplerOffset_B(static_cast<uint32_t>(out.bytes())));
    } else {
      copyDescriptor(to, out.bytes(), data, std::min(in.bytes(), out.bytes()));
    }
  }
}

}  // namespace

DescriptorCursor::DescriptorCursor(const DescriptorSetShape& shape, uint32_t binding, uint32_t element)
    : shape_(shape), index_(static_cast<size_t>(shape.find(binding) - shape.bindings().data())), element_(element) {
  skipFullBindings();
}

size_t DescriptorCursor::offset_B() const {
  const DescriptorBinding& b = shape_.bindings()[index_];
  return b.offset_B + size_t{element_} * b.stride_B;
}

size_t DescriptorCursor::bytes() const {
  return shape_.bindings()[index_].stride_B;
}

bool DescriptorCursor::hasImmutableSamplers() const {
  return shape_.bindings()[index_].firstImmutable != DescriptorBinding::kNoImmutable;
}

void DescriptorCursor::next() {
  ++element_;
  skipFullBindings();
}

void DescriptorCursor::skipFullBindings() {
  while (index_ < shape_.bindings().size() && element_ >= shape_.bindings()[index_].count) {
    element_ -= shape_.bindings()[index_].count;
    ++index_;
  }
}

void writeDescriptors(const DescriptorSetShape& shape, std::byte* set, const VkWriteDescriptorSet& write) {
  if (write.descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) {
    const auto* block = findInChain<VkWriteDescriptorSetInlineUniformBlock>(write.pNext);
    writeInline(shape, set, write.dstBinding, write.dstArrayElement, block->dataSize, block->pData);
    return;
  }
  writeArray(shape, set, write.dstBinding, write.dstArrayElement, write.descriptorCount, write.descriptorType,
             [&](uint32_t i) -> const void* {
               switch (sourceOf(write.descriptorType)) {
                 case Source::kImage:
                   return &write.pImageInfo[i];
                 case Source::kTexelBuffer:
                   return &write.pTexelBufferView[i];
                 default:
                   return &write.pBufferInfo[i];
               }
             });
}

void writeDescriptors(const DescriptorSetShape& shape, std::byte* set, const VkDescriptorUpdateTemplateEntry& entry,
                      const void* data) {
  const auto* from = static_cast<const std::byte*>(data) + entry.offset;
  if (entry.descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) {
    writeInline(shape, set, entry.dstBinding, entry.dstArrayElement, entry.descriptorCount, from);
    return;
  }
  writeArray(shape, set, entry.dstBinding, entry.dstArrayElement, entry.descriptorCount, entry.descriptorType,
             [&](uint32_t i) -> const void* { return from + i * entry.stride; });
}

VKAPI_ATTR void VKAPI_CALL vkUpdateDescriptorSets(VkDevice, uint32_t descriptorWriteCount,
                                                  const VkWriteDescriptorSet* pDescriptorWrites,
                                                  uint32_t descriptorCopyCount,
                                                  const VkCopyDescriptorSet* pDescriptorCopies) {
  for (uint32_t i = 0; i < descriptorWriteCount; ++i) {
    DescriptorSet& set = *DescriptorSet::from(pDescriptorWrites[i].dstSet);
    writeDescriptors(set.shape(), set.memory(), pDescriptorWrites[i]);
  }
  for (uint32_t i = 0; i < descriptorCopyCount; ++i) copyDescriptors(pDescriptorCopies[i]);
}

}  // namespace pumice::icd
