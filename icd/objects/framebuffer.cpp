#include "icd/objects/framebuffer.h"

#include "gen/entrypoints.h"
#include "icd/objects/device.h"
#include "icd/objects/image_view.h"

namespace pumice::icd {

VkResult Framebuffer::init(const VkFramebufferCreateInfo& info) {
  imageless_ = (info.flags & VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT) != 0;
  extent_ = {info.width, info.height};
  layerCount_ = info.layers;
  if (imageless_) return VK_SUCCESS;
  for (uint32_t i = 0; i < info.attachmentCount; ++i) views_.push_back(ImageView::from(info.pAttachments[i]));
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateFramebuffer(VkDevice device, const VkFramebufferCreateInfo* pCreateInfo,
                                                   const VkAllocationCallbacks* pAllocator,
                                                   VkFramebuffer* pFramebuffer) {
  return Framebuffer::create(pAllocator, pFramebuffer, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyFramebuffer(VkDevice, VkFramebuffer framebuffer,
                                                const VkAllocationCallbacks* pAllocator) {
  Framebuffer::destroy(framebuffer, pAllocator);
}

}  // namespace pumice::icd
