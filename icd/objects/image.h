// VkImage: a layout per memory plane, and after binding an address for each. Planes are those of multi-planar formats,
// and depth and stencil of combined formats (docs/formats.md, docs/images.md).
#pragma once

#include "backend/abi/packets.h"
#include "backend/formats/image_layout.h"
#include "backend/kmd/door.h"
#include "icd/objects/object.h"

namespace pumice::icd {

class Device;
class DeviceMemory;

struct ImagePlane {
  VkFormat format = VK_FORMAT_UNDEFINED;  // of its texels
  uint32_t width = 0, height = 0;         // of level 0, in its texels
  formats::PlaneLayout layout;
  uint64_t offset_B = 0;  // in the image's memory; 0 if the planes are bound one by one
};

/// What follows from the create info alone: neither allocates nor fails.
struct ImageForm {
  VkImageType type = VK_IMAGE_TYPE_2D;
  VkFormat format = VK_FORMAT_UNDEFINED;
  VkExtent3D extent{};
  uint32_t levelCount = 0, layerCount = 0, sampleCount = 0;
  VkImageCreateFlags flags = 0;
  bool transient = false;
  bool tooLarge = false;  // for any memory: sizes are not valid
  uint32_t planeCount = 0;
  ImagePlane planes[3];
  uint64_t size_B = 0;

  ImageForm() = default;
  explicit ImageForm(const VkImageCreateInfo& info);

  bool disjoint() const { return (flags & VK_IMAGE_CREATE_DISJOINT_BIT) != 0; }
  /// Of the whole image, or of one plane of a disjoint one.
  void requirements(VkImageAspectFlagBits planeAspect, VkMemoryRequirements* out) const;
};

class Image : public Object<Image, VkImage, VK_OBJECT_TYPE_IMAGE> {
 public:
  explicit Image(Device& device) : device_(device) {}
  ~Image();

  VkResult init(const VkImageCreateInfo& info);
  /// aspect: a memory plane of a disjoint image, or 0 for all.
  void bind(const DeviceMemory& memory, VkDeviceSize offset, VkImageAspectFlags aspect);
  /// All planes, one after the other from this address on.
  void bindTo(uint64_t address);

  const ImageForm& form() const { return form_; }
  const ImagePlane& plane(uint32_t index) const { return form_.planes[index]; }
  uint64_t address(uint32_t plane) const { return address_[plane]; }
  /// Of the first abi::ImageLevel of a plane.
  uint64_t levelTable(uint32_t plane) const { return kmd::allocationAddress(table_) + tableOffset_B(plane); }

  /// A level of a plane from a slice on: a depth slice of a 3D image, else an array layer.
  abi::Surface surface(uint32_t plane, uint32_t level, uint32_t firstSlice) const;
  VkExtent3D levelExtent(uint32_t plane, uint32_t level) const;

  uint32_t layersFrom(uint32_t first, uint32_t count) const {
    return count == VK_REMAINING_ARRAY_LAYERS ? form_.layerCount - first : count;
  }
  uint32_t levelsFrom(uint32_t first, uint32_t count) const {
    return count == VK_REMAINING_MIP_LEVELS ? form_.levelCount - first : count;
  }

 private:
  uint64_t tableOffset_B(uint32_t plane) const;

  Device& device_;
  ImageForm form_;
  kmd::Allocation* table_ = nullptr;
  uint64_t address_[3] = {};
};

}  // namespace pumice::icd
