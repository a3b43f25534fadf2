// Descriptors whose type is chosen when they are written.
//
// covers: VK_EXT_mutable_descriptor_type, VK_VALVE_mutable_descriptor_type, feature:mutableDescriptorType
#include <array>
#include <cstring>

#include "cts-subset/support/shader_image_test.h"
#include "shaders/mutable_types.spv.h"

namespace pumice::cts {
namespace {

class MutableDescriptorTest : public ShaderImageTest {
 protected:
  TestBuffer makeNumbers(uint32_t first) {
    const TestBuffer b = makeBuffer(
        4096, kAllUsages | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
    for (uint32_t i = 0; i < 1024; ++i) b.as<uint32_t>()[i] = first + i;
    return b;
  }
  VkImageView makeNumberedImage(uint32_t first) {
    const TestImage image =
        makeShaderImage(VK_FORMAT_R32_UINT, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT, {8, 1, 1});
    Model model(image, {VK_IMAGE_ASPECT_COLOR_BIT, 4});
    for (uint32_t x = 0; x < 8; ++x) {
      const uint32_t value = first + x;
      std::memcpy(model.at(0, 0, 0, x), &value, 4);
    }
    upload(image, model);
    return makeView(image);
  }
};

TEST_F(MutableDescriptorTest, EveryTypeInOneArrayWrittenCopiedAndRewritten) {
  createFullDevice();
  const TestBuffer numbers = makeNumbers(0), out = makeBuffer(8 * 32);
  const VkImageView image = makeNumberedImage(2000), store = makeNumberedImage(3000);
  const std::vector<VkDescriptorType> types = {
      kStorageBuffer, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, kSampledImage, kStorageImage, kUniformTexels, kStorageTexels};
  const std::array<Binding, 6> kinds = {
      Binding{.type = kStorageBuffer, .buffers = {{numbers.buffer, 0, 256}}},
      Binding{.type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, .buffers = {{numbers.buffer, 256, 256}}},
      Binding{.type = kSampledImage, .images = {imageOf(image)}},
      Binding{.type = kStorageImage, .images = {imageOf(store)}},
      Binding{.type = kUniformTexels, .texelBuffers = {makeBufferView(numbers, VK_FORMAT_R32_UINT, 1024, 64)}},
      Binding{.type = kStorageTexels, .texelBuffers = {makeBufferView(numbers, VK_FORMAT_R32_UINT, 2048, 64)}}};
  const Binding bindings[] = {
      bufferBinding(out),
      {.type = kStorageBuffer, .flags = VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT, .count = 6, .mutableTypes = types}};
  VkDescriptorSetLayoutSupport support{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_SUPPORT};
  const VkMutableDescriptorTypeListEXT list{6, types.data()};
  const VkMutableDescriptorTypeCreateInfoEXT info{VK_STRUCTURE_TYPE_MUTABLE_DESCRIPTOR_TYPE_CREATE_INFO_EXT, nullptr, 1,
                                                  &list};
  const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_MUTABLE_EXT, 1000, VK_SHADER_STAGE_ALL, nullptr};
  const VkDescriptorSetLayoutCreateInfo layout{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &info, 0, 1,
                                               &binding};
  vkGetDescriptorSetLayoutSupport(device(), &layout, &support);
  EXPECT_TRUE(support.supported);

  const Compute direct = makeProgram(k_mutable_types, bindings, 4), copied = makeProgram(k_mutable_types, bindings, 4);
  for (const Compute& program : {direct, copied}) write(program, 0, bindings[0]);
  // Each element is first something else, so that nothing of that may be left.
  for (uint32_t i = 0; i < 6; ++i) write(direct, 1, kinds[(i + 3) % 6], i);
  for (uint32_t i = 0; i < 6; ++i) write(direct, 1, kinds[i], i);
  for (uint32_t i = 0; i < 6; ++i) write(copied, 1, kinds[(i + 4) % 6], i);
  const VkCopyDescriptorSet copy{VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET, nullptr, direct.set, 1, 0, copied.set, 1, 0, 6};
  vkUpdateDescriptorSets(device(), 0, nullptr, 1, &copy);
  for (const Compute& program : {direct, copied}) {
    std::memset(out.bytes, 0, out.size);
    const uint32_t first = 0;
    run([&](VkCommandBuffer c) {
      bindAll(c, program);
      vkCmdPushConstants(c, program.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &first);
      vkCmdDispatch(c, 1, 1, 1);
    });
    for (uint32_t i = 0; i < 8; ++i) {
      const uint32_t expected[] = {i, 64 + 4 * i, 2000 + i, 3000 + i, 256 + i, 512 + i};
      EXPECT_EQ(std::memcmp(&out.as<uint32_t>()[8 * i], expected, sizeof expected), 0) << i;
    }
  }
}

}  // namespace
}  // namespace pumice::cts
