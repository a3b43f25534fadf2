// VkImageView: a descriptor, ready to be copied into sets, and what attachments will want to know.
#pragma once

#include "backend/abi/descriptor.h"
#include "backend/formats/format_table.h"
#include "backend/kmd/door.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class Device;
class Image;

class ImageView : public Object<ImageView, VkImageView, VK_OBJECT_TYPE_IMAGE_VIEW> {
 public:
  explicit ImageView(Device& device) : device_(device) {}
  ~ImageView();

  VkResult init(const VkImageViewCreateInfo& info);

  const Image& image() const { return *image_; }
  VkFormat format() const { return format_; }
  VkImageViewType viewType() const { return viewType_; }
  /// With the REMAINING numbers resolved.
  const VkImageSubresourceRange& range() const { return range_; }
  const abi::ImageDescriptor& descriptor() const { return descriptor_; }

 private:
  abi::ImageDescriptor describe(uint32_t plane, VkFormat texels) const;
  VkResult addChroma(const formats::FormatInfo& as);

  Device& device_;
  const Image* image_ = nullptr;
  VkFormat format_ = VK_FORMAT_UNDEFINED;
  VkImageViewType viewType_ = VK_IMAGE_VIEW_TYPE_2D;
  VkImageSubresourceRange range_{};
  abi::ImageDescriptor descriptor_{};
  kmd::Allocation* chroma_ = nullptr;  // abi::ChromaPlanes
};

}  // namespace pumice::icd
