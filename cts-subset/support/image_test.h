// The fixture of image tests: images with memory, and a model of what they hold, element by element, that knows nothing
// of layouts. An element is a texel, or a block of a compressed format.
#pragma once

#include <random>

#include "cts-subset/support/vulkan_test.h"

namespace pumice::cts {

/// What a test knows about one aspect of a format, written down by hand.
struct AspectFacts {
  VkImageAspectFlagBits aspect;
  uint32_t bytes;  // of an element
  uint32_t blockWidth = 1, blockHeight = 1;
  uint32_t divisor[2] = {1, 1};  // of a chroma plane
  uint32_t validBits = 0;        // of the lowest word; 0: all (24-bit depth)
};

struct FormatFacts {
  VkFormat format;
  std::vector<AspectFacts> aspects;
};

struct Size {
  uint32_t width, height, depth;
};

struct TestImage {
  VkImage image = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkImageCreateInfo info{};

  uint32_t layers() const { return info.arrayLayers; }
  bool isVolume() const { return info.imageType == VK_IMAGE_TYPE_3D; }
};

/// One aspect of an image, as elements.
class Model {
 public:
  Model(const TestImage& image, const AspectFacts& facts);

  const AspectFacts& facts() const { return facts_; }
  Size texels(uint32_t level) const;    // of the plane
  Size elements(uint32_t level) const;  // depth: slices of the volume, else array layers
  std::byte* at(uint32_t level, uint32_t slice, uint32_t y, uint32_t x) {
    const Size size = elements(level);
    return levels_[level].data() + ((size_t{slice} * size.height + y) * size.width + x) * facts_.bytes;
  }
  std::vector<std::byte>& level(uint32_t level) { return levels_[level]; }
  void randomise(std::mt19937& random);

 private:
  VkImageCreateInfo info_;
  AspectFacts facts_;
  std::vector<std::vector<std::byte>> levels_;
};

class ImageTest : public VulkanTest {
 protected:
  static VkImageCreateInfo imageInfo(VkFormat format, VkImageType type, VkExtent3D extent, uint32_t levels = 1,
                                     uint32_t layers = 1);
  /// Bound to memory of its own and in the layout GENERAL.
  TestImage makeImage(const VkImageCreateInfo& info);
  /// All levels and slices of the model's aspect, by a copy of each level.
  void upload(const TestImage& image, Model& model);
  /// What the image holds, into a model of the same form; bits that have no meaning are zero.
  void download(const TestImage& image, Model& into);
  /// Fails with the place of the first difference.
  void expectEqual(Model& expected, Model& actual, uint32_t levels);

  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  uint32_t upTo(uint32_t most) { return 1 + below(most); }

  std::mt19937 random_{1};
};

/// Formats of every element size and kind, with what the tests need to know of them.
const std::vector<FormatFacts>& transferFormats();

}  // namespace pumice::cts
