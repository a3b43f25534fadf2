#include "icd/wsi/swapchain.h"

#include <algorithm>

#include "backend/trace/log.h"
#include "gen/entrypoints.h"
#include "icd/objects/array_out.h"
#include "icd/objects/device.h"
#include "icd/objects/fence.h"
#include "icd/objects/format_features.h"
#include "icd/objects/image.h"
#include "icd/objects/semaphore.h"
#include "icd/objects/status_result.h"
#include "icd/wsi/surface.h"

namespace pumice::icd {
namespace {

VkImageCreateFlags imageFlags(VkSwapchainCreateFlagsKHR flags) {
  if ((flags & VK_SWAPCHAIN_CREATE_MUTABLE_FORMAT_BIT_KHR) == 0) return 0;
  return VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
}

VkImageCreateInfo imageInfo(const VkSwapchainCreateInfoKHR& info) {
  VkImageCreateInfo out{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  out.flags = imageFlags(info.flags);
  out.imageType = VK_IMAGE_TYPE_2D;
  out.format = info.imageFormat;
  out.extent = {info.imageExtent.width, info.imageExtent.height, 1};
  out.mipLevels = 1;
  out.arrayLayers = info.imageArrayLayers;
  out.samples = VK_SAMPLE_COUNT_1_BIT;
  out.tiling = VK_IMAGE_TILING_OPTIMAL;
  out.usage = info.imageUsage;
  return out;
}

}  // namespace

VkImageUsageFlags presentableUsage(VkFormat format) {
  constexpr VkImageUsageFlagBits kUsages[] = {VK_IMAGE_USAGE_TRANSFER_SRC_BIT,     VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                              VK_IMAGE_USAGE_SAMPLED_BIT,          VK_IMAGE_USAGE_STORAGE_BIT,
                                              VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT};
  VkImageUsageFlags out = 0;
  for (VkImageUsageFlagBits usage : kUsages) {
    VkImageFormatProperties ignored;
    if (imageFormatProperties(format, VK_IMAGE_TYPE_2D, VK_IMAGE_TILING_OPTIMAL, usage, 0, &ignored) == VK_SUCCESS) {
      out |= usage;
    }
  }
  return out;
}

Swapchain::~Swapchain() {
  engine_.reset();  // before the images that it shows
  for (const SwapchainImage& i : images_) {
    Image::destroy(i.image, nullptr);
    device_.gpu().free(i.memory);
  }
  if (surface_ != nullptr) surface_->leave(this);
}

VkResult Swapchain::init(const VkSwapchainCreateInfoKHR& info) {
  Swapchain* old = from(info.oldSwapchain);
  Surface* surface = Surface::from(info.surface);
  if (!surface->claim(this, old)) {
    PUMICE_ERROR("wsi", "vkCreateSwapchainKHR: the surface has a swapchain that is not retired");
    return VK_ERROR_NATIVE_WINDOW_IN_USE_KHR;
  }
  surface_ = surface;
  // Even if this fails the old one is retired (VkSwapchainCreateInfoKHR, oldSwapchain).
  std::shared_ptr<HandOver> before;
  if (old != nullptr) before = old->engine().retire();
  if (const VkResult result = makeImages(info); result != VK_SUCCESS) return result;
  return makeEngine(info, std::move(before));
}

VkResult Swapchain::makeImages(const VkSwapchainCreateInfoKHR& info) {
  const VkImageCreateInfo imageCreateInfo = imageInfo(info);
  images_.reserve(info.minImageCount);
  for (uint32_t i = 0; i < info.minImageCount; ++i) {
    SwapchainImage& next = images_.emplace_back();
    if (VkResult r = Image::create(nullptr, &next.image, device_, imageCreateInfo); r != VK_SUCCESS) return r;
    Image& image = *Image::from(next.image);
    kmd::AllocationInfo wish;
    wish.size_B = image.form().size_B;
    if (VkResult r = toResult(device_.gpu().allocate(wish, &next.memory)); r != VK_SUCCESS) return r;
    image.bindTo(kmd::allocationAddress(next.memory));
  }
  return VK_SUCCESS;
}

VkResult Swapchain::makeEngine(const VkSwapchainCreateInfoKHR& info, std::shared_ptr<HandOver> before) {
  const bool opaque = info.compositeAlpha == VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
  std::unique_ptr<Presenter> presenter;
  const PresenterInfo wish{info.imageFormat, info.imageExtent, info.presentMode, opaque};
  if (VkResult r = surface_->window().makePresenter(wish, &presenter); r != VK_SUCCESS) return r;
  std::vector<abi::Surface> images;
  for (const SwapchainImage& i : images_) images.push_back(Image::from(i.image)->surface(0, 0, 0));
  engine_ = std::make_unique<PresentEngine>(PresentEngine::Config{device_.gpu(), std::move(presenter), info.presentMode,
                                                                  info.imageExtent, pixelForm(info.imageFormat), opaque,
                                                                  std::move(images), std::move(before)});
  return engine_->start();
}

uint64_t Swapchain::imageAddress(uint32_t index) const {
  return kmd::allocationAddress(images_[index].memory);
}

VkResult Swapchain::acquire(uint64_t timeout_ns, VkSemaphore semaphore, VkFence fence, uint32_t* index) {
  const VkResult result = engine_->acquire(timeout_ns, index);
  if (result != VK_SUCCESS && result != VK_SUBOPTIMAL_KHR) return result;
  // Nobody reads the image any more: what waits for it may go on at once.
  kmd::Status status = kmd::Status::kOk;
  if (Semaphore* s = Semaphore::from(semaphore)) {
    status = device_.gpu().signalTimeline(s->timeline(), s->signalValue(0));
  }
  if (Fence* f = Fence::from(fence); f != nullptr && status == kmd::Status::kOk) {
    status = device_.gpu().signalTimeline(f->point().timeline, f->point().value);
  }
  return status == kmd::Status::kOk ? result : toResult(status);
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateSwapchainKHR(VkDevice device, const VkSwapchainCreateInfoKHR* pCreateInfo,
                                                    const VkAllocationCallbacks* pAllocator,
                                                    VkSwapchainKHR* pSwapchain) {
  return Swapchain::create(pAllocator, pSwapchain, *Device::from(device), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroySwapchainKHR(VkDevice, VkSwapchainKHR swapchain,
                                                 const VkAllocationCallbacks* pAllocator) {
  Swapchain::destroy(swapchain, pAllocator);
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetSwapchainImagesKHR(VkDevice, VkSwapchainKHR swapchain, uint32_t* pCount,
                                                       VkImage* pSwapchainImages) {
  const Swapchain& self = *Swapchain::from(swapchain);
  ArrayOut<VkImage> out(pCount, pSwapchainImages);
  for (uint32_t i = 0; i < self.imageCount(); ++i) out.append([&](VkImage* p) { *p = self.image(i); });
  return out.result();
}

VKAPI_ATTR VkResult VKAPI_CALL vkAcquireNextImageKHR(VkDevice, VkSwapchainKHR swapchain, uint64_t timeout,
                                                     VkSemaphore semaphore, VkFence fence, uint32_t* pImageIndex) {
  return Swapchain::from(swapchain)->acquire(timeout, semaphore, fence, pImageIndex);
}

VKAPI_ATTR VkResult VKAPI_CALL vkAcquireNextImage2KHR(VkDevice, const VkAcquireNextImageInfoKHR* pInfo,
                                                      uint32_t* pImageIndex) {
  return Swapchain::from(pInfo->swapchain)->acquire(pInfo->timeout, pInfo->semaphore, pInfo->fence, pImageIndex);
}

VKAPI_ATTR VkResult VKAPI_CALL vkWaitForPresentKHR(VkDevice, VkSwapchainKHR swapchain, uint64_t presentId,
                                                   uint64_t timeout) {
  return Swapchain::from(swapchain)->engine().waitForPresent(presentId, timeout);
}

}  // namespace pumice::icd
