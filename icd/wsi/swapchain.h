// VkSwapchainKHR: owns the presentable images, their memory and the engine that shows them.
#pragma once

#include <memory>
#include <vector>

#include "backend/kmd/door.h"
#include "icd/objects/object.h"
#include "icd/wsi/present_engine.h"

namespace pumice::icd {

class Device;
class Image;
class Surface;

/// All that images of the format can be used for when they are presentable; 0 when there can be none.
VkImageUsageFlags presentableUsage(VkFormat format);

class Swapchain : public Object<Swapchain, VkSwapchainKHR, VK_OBJECT_TYPE_SWAPCHAIN_KHR> {
 public:
  explicit Swapchain(Device& device) : device_(device) {}
  ~Swapchain();

  VkResult init(const VkSwapchainCreateInfoKHR& info);

  PresentEngine& engine() { return *engine_; }
  uint32_t imageCount() const { return static_cast<uint32_t>(images_.size()); }
  VkImage image(uint32_t index) const { return images_[index].image; }
  /// Of the image's memory, for images that the application binds to it.
  uint64_t imageAddress(uint32_t index) const;

  /// Signals the semaphore and the fence, either may be null, once there is an image.
  VkResult acquire(uint64_t timeout_ns, VkSemaphore semaphore, VkFence fence, uint32_t* index);

 private:
  struct SwapchainImage {
    VkImage image = VK_NULL_HANDLE;
    kmd::Allocation* memory = nullptr;
  };

  VkResult makeImages(const VkSwapchainCreateInfoKHR& info);
  VkResult makeEngine(const VkSwapchainCreateInfoKHR& info, std::shared_ptr<HandOver> before);

  Device& device_;
  Surface* surface_ = nullptr;  // once claimed
  std::vector<SwapchainImage> images_;
  std::unique_ptr<PresentEngine> engine_;
};

}  // namespace pumice::icd
