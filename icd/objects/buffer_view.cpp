#include "icd/objects/buffer_view.h"

#include <algorithm>

#include "backend/formats/format_table.h"
#include "backend/texture/texel_format.h"
#include "gen/entrypoints.h"
#include "icd/objects/buffer.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/device.h"

namespace pumice::icd {

VkResult BufferView::init(const VkBufferViewCreateInfo& info) {
  const Buffer& buffer = *Buffer::from(info.buffer);
  const uint32_t texel_B = std::max<uint32_t>(formats::formatInfo(info.format).blockBytes, 1);
  // A range to the end need not be a whole number of texels (Vulkan 1.3, VkBufferViewCreateInfo).
  const uint64_t texels = buffer.rangeFrom(info.offset, info.range) / texel_B;
  descriptor_.address = buffer.address() + info.offset;
  descriptor_.elementCount = static_cast<uint32_t>(std::min<uint64_t>(texels, kMaxTexelBufferElements));
  descriptor_.viewClass = abi::makeViewClass(abi::ViewShape::kBuffer, false, texture::texelFormatIndex(info.format));
  descriptor_.elementBytes = static_cast<uint16_t>(texel_B);
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateBufferView(VkDevice device, const VkBufferViewCreateInfo* pCreateInfo,
                                                  const VkAllocationCallbacks* pAllocator, VkBufferView* pView) {
  return BufferView::create(pAllocator, pView, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyBufferView(VkDevice, VkBufferView bufferView,
                                               const VkAllocationCallbacks* pAllocator) {
  BufferView::destroy(bufferView, pAllocator);
}

}  // namespace pumice::icd
