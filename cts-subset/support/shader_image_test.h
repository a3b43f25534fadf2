// The fixture of tests in which shaders read, sample and write images: views and samplers with the fields that a test
// cares about, and sets of descriptors of every kind.
#pragma once

#include "cts-subset/support/image_test.h"

namespace pumice::cts {

/// What one binding of a set holds; one of the arrays, as the type says.
struct Binding {
  VkDescriptorType type;
  std::vector<VkDescriptorImageInfo> images = {};
  std::vector<VkDescriptorBufferInfo> buffers = {};
  std::vector<VkBufferView> texelBuffers = {};
  VkDescriptorBindingFlags flags = 0;
  uint32_t count = 0;                               // of the layout; 0: as many as there are infos
  std::vector<VkDescriptorType> mutableTypes = {};  // not empty: the layout's type is mutable

  uint32_t infoCount() const {
    return static_cast<uint32_t>(std::max({images.size(), buffers.size(), texelBuffers.size()}));
  }
  uint32_t layoutCount() const { return count != 0 ? count : infoCount(); }
};

class ShaderImageTest : public ImageTest {
 protected:
  static constexpr VkDescriptorType kStorageBuffer = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  static constexpr VkDescriptorType kSampledImage = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
  static constexpr VkDescriptorType kStorageImage = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
  static constexpr VkDescriptorType kCombined = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  static constexpr VkDescriptorType kSampler = VK_DESCRIPTOR_TYPE_SAMPLER;
  static constexpr VkDescriptorType kUniformTexels = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
  static constexpr VkDescriptorType kStorageTexels = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;

  /// imageInfo() of a 2D image with more usages; `change` may turn it into another.
  TestImage makeShaderImage(VkFormat format, VkImageUsageFlags usage, VkExtent3D extent, uint32_t levels = 1,
                            uint32_t layers = 1, const std::function<void(VkImageCreateInfo&)>& change = {});
  /// Of all levels and layers, in the image's format; `change` may make it another.
  VkImageView makeView(const TestImage& image, VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D,
                       const std::function<void(VkImageViewCreateInfo&)>& change = {});
  VkBufferView makeBufferView(const TestBuffer& buffer, VkFormat format, VkDeviceSize offset = 0,
                              VkDeviceSize range = VK_WHOLE_SIZE);
  /// Filters as given, all levels, repeating; `change` may make it another.
  VkSampler makeSampler(VkFilter filter, const std::function<void(VkSamplerCreateInfo&)>& change = {});

  /// A pipeline and a set with the bindings, numbered in order; the infos are not written yet. If the last binding has
  /// VARIABLE_DESCRIPTOR_COUNT, the set has all of its layoutCount().
  Compute makeProgram(std::span<const uint32_t> spirv, std::span<const Binding> bindings, uint32_t pushBytes = 0,
                      const VkSpecializationInfo* constants = nullptr);
  /// Writes the infos of a binding from an element on.
  void write(const Compute& program, uint32_t binding, const Binding& what, uint32_t element = 0);
  void writeAll(const Compute& program, std::span<const Binding> bindings);
  /// makeProgram(), writeAll() and one dispatch to completion.
  void runOnce(std::span<const uint32_t> spirv, std::span<const Binding> bindings, VkExtent3D groups,
               std::span<const std::byte> push = {}, const VkSpecializationInfo* constants = nullptr);

  /// One region, both images in the layout GENERAL. What the layer says of it is dropped: it wants a queue that draws.
  void blit(const TestImage& from, const TestImage& to, const VkImageBlit& region, VkFilter filter);

  static VkDescriptorImageInfo imageOf(VkImageView view, VkSampler sampler = VK_NULL_HANDLE) {
    return {sampler, view, VK_IMAGE_LAYOUT_GENERAL};
  }
  static Binding bufferBinding(const TestBuffer& buffer, VkDescriptorType type = kStorageBuffer) {
    return {.type = type, .buffers = {{buffer.buffer, 0, VK_WHOLE_SIZE}}};
  }
};

}  // namespace pumice::cts
