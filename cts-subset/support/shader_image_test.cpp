#include "cts-subset/support/shader_image_test.h"

#include <algorithm>

namespace pumice::cts {

TestImage ShaderImageTest::makeShaderImage(VkFormat format, VkImageUsageFlags usage, VkExtent3D extent, uint32_t levels,
                                           uint32_t layers, const std::function<void(VkImageCreateInfo&)>& change) {
  VkImageCreateInfo info = imageInfo(format, VK_IMAGE_TYPE_2D, extent, levels, layers);
  info.usage |= usage;
  if (change) change(info);
  return makeImage(info);
}

VkImageView ShaderImageTest::makeView(const TestImage& image, VkImageViewType type,
                                      const std::function<void(VkImageViewCreateInfo&)>& change) {
  VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  info.image = image.image;
  info.viewType = type;
  info.format = image.info.format;
  info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS};
  if (change) change(info);
  VkImageView view = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateImageView(device(), &info, nullptr, &view), VK_SUCCESS);
  defer([this, view] { vkDestroyImageView(device(), view, nullptr); });
  return view;
}

VkBufferView ShaderImageTest::makeBufferView(const TestBuffer& buffer, VkFormat format, VkDeviceSize offset,
                                             VkDeviceSize range) {
  VkBufferViewCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
  info.buffer = buffer.buffer;
  info.format = format;
  info.offset = offset;
  info.range = range;
  VkBufferView view = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateBufferView(device(), &info, nullptr, &view), VK_SUCCESS);
  defer([this, view] { vkDestroyBufferView(device(), view, nullptr); });
  return view;
}

VkSampler ShaderImageTest::makeSampler(VkFilter filter, const std::function<void(VkSamplerCreateInfo&)>& change) {
  VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  info.magFilter = info.minFilter = filter;
  info.maxLod = VK_LOD_CLAMP_NONE;
  if (change) change(info);
  VkSampler sampler = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateSampler(device(), &info, nullptr, &sampler), VK_SUCCESS);
  defer([this, sampler] { vkDestroySampler(device(), sampler, nullptr); });
  return sampler;
}

VulkanTest::Compute ShaderImageTest::makeProgram(std::span<const uint32_t> spirv, std::span<const Binding> bindings,
                                                 uint32_t pushBytes, const VkSpecializationInfo* constants) {
  SetOptions options;
  std::vector<VkDescriptorType> types;
  std::vector<uint32_t> counts;
  std::vector<VkMutableDescriptorTypeListEXT> lists;
  for (const Binding& b : bindings) {
    types.push_back(b.mutableTypes.empty() ? b.type : VK_DESCRIPTOR_TYPE_MUTABLE_EXT);
    lists.push_back({static_cast<uint32_t>(b.mutableTypes.size()), b.mutableTypes.data()});
    counts.push_back(b.layoutCount());
    options.flags.push_back(b.flags);
  }
  const VkMutableDescriptorTypeCreateInfoEXT mutableInfo{VK_STRUCTURE_TYPE_MUTABLE_DESCRIPTOR_TYPE_CREATE_INFO_EXT,
                                                         nullptr, static_cast<uint32_t>(lists.size()), lists.data()};
  if (std::ranges::any_of(bindings, [](const Binding& b) { return !b.mutableTypes.empty(); })) {
    options.layoutChain = options.poolChain = &mutableInfo;
  }
  return makeCompute(spirv, types, pushBytes, constants, counts, options);
}

void ShaderImageTest::write(const Compute& program, uint32_t binding, const Binding& what, uint32_t element) {
  if (what.infoCount() == 0) return;
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = program.set;
  write.dstBinding = binding;
  write.dstArrayElement = element;
  write.descriptorCount = what.infoCount();
  write.descriptorType = what.type;
  write.pImageInfo = what.images.data();
  write.pBufferInfo = what.buffers.data();
  write.pTexelBufferView = what.texelBuffers.data();
  vkUpdateDescriptorSets(device(), 1, &write, 0, nullptr);
}

void ShaderImageTest::writeAll(const Compute& program, std::span<const Binding> bindings) {
  for (uint32_t i = 0; i < bindings.size(); ++i) write(program, i, bindings[i]);
}

void ShaderImageTest::runOnce(std::span<const uint32_t> spirv, std::span<const Binding> bindings, VkExtent3D groups,
                              std::span<const std::byte> push, const VkSpecializationInfo* constants) {
  const Compute program = makeProgram(spirv, bindings, static_cast<uint32_t>(push.size()), constants);
  writeAll(program, bindings);
  run([&](VkCommandBuffer c) {
    bindAll(c, program);
    if (!push.empty()) {
      vkCmdPushConstants(c, program.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, static_cast<uint32_t>(push.size()),
                         push.data());
    }
    vkCmdDispatch(c, groups.width, groups.height, groups.depth);
  });
}

void ShaderImageTest::blit(const TestImage& from, const TestImage& to, const VkImageBlit& region, VkFilter filter) {
  for (const std::string& message : takeMessages()) ADD_FAILURE() << message;
  run([&](VkCommandBuffer c) {
    vkCmdBlitImage(c, from.image, VK_IMAGE_LAYOUT_GENERAL, to.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region, filter);
  });
  takeMessages();
}

}  // namespace pumice::cts
