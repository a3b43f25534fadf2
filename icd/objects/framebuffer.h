// VkFramebuffer: the image views that a render pass draws to. Those of an imageless framebuffer come with the begin of
// the render pass.
#pragma once

#include <vector>

#include "icd/objects/object.h"

namespace pumice::icd {

class Device;
class ImageView;

class Framebuffer : public Object<Framebuffer, VkFramebuffer, VK_OBJECT_TYPE_FRAMEBUFFER> {
 public:
  explicit Framebuffer(Device&) {}

  VkResult init(const VkFramebufferCreateInfo& info);

  bool imageless() const { return imageless_; }
  /// By the index of the render pass's attachments; empty if imageless.
  const std::vector<const ImageView*>& views() const { return views_; }
  VkExtent2D extent() const { return extent_; }
  uint32_t layerCount() const { return layerCount_; }

 private:
  bool imageless_ = false;
  std::vector<const ImageView*> views_;
  VkExtent2D extent_{};
  uint32_t layerCount_ = 0;
};

}  // namespace pumice::icd
