// Images and samplers of the same descriptors, which a shader declares as variables of their own: any image with any
// sampler. Every expected value is worked out by hand.
#include <array>
#include <cstring>

#include "cts-subset/support/shader_image_test.h"
#include "shaders/separate_samplers.spv.h"

namespace pumice::cts {
namespace {

// Four texels, and what they are from two texels before the first to two behind the last.
using Row = std::array<float, 4>;
using Seen = std::array<float, 8>;

class SeparateSamplerTest : public ShaderImageTest {
 protected:
  VkImageView makeRow(const Row& texels) {
    const TestImage image = makeShaderImage(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_SAMPLED_BIT, {4, 1, 1});
    Model model(image, {VK_IMAGE_ASPECT_COLOR_BIT, 4});
    std::memcpy(model.at(0, 0, 0, 0), texels.data(), sizeof texels);
    upload(image, model);
    return makeView(image);
  }
  VkSampler makeAddressing(VkSamplerAddressMode mode) {
    return makeSampler(VK_FILTER_NEAREST, [mode](VkSamplerCreateInfo& info) { info.addressModeU = mode; });
  }
  static Seen seenBy(const Row& r, VkSamplerAddressMode mode) {
    if (mode == VK_SAMPLER_ADDRESS_MODE_REPEAT) return {r[2], r[3], r[0], r[1], r[2], r[3], r[0], r[1]};
    if (mode == VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT) return {r[1], r[0], r[0], r[1], r[2], r[3], r[3], r[2]};
    return {r[0], r[0], r[0], r[1], r[2], r[3], r[3], r[3]};
  }
  Seen sample(const Compute& program, const TestBuffer& out, uint32_t image, uint32_t sampler) {
    const uint32_t push[] = {image, sampler};
    run([&](VkCommandBuffer c) {
      bindAll(c, program);
      vkCmdPushConstants(c, program.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, push);
      vkCmdDispatch(c, 1, 1, 1);
    });
    Seen seen;
    std::memcpy(seen.data(), out.bytes, sizeof seen);
    return seen;
  }

  static constexpr Row kRows[] = {{1, 2, 3, 4}, {10, 20, 30, 40}};
  static constexpr VkSamplerAddressMode kModes[] = {
      VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, VK_SAMPLER_ADDRESS_MODE_REPEAT, VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT};
};

TEST_F(SeparateSamplerTest, EveryImageWithEverySamplerOfCombinedDescriptors) {
  createFullDevice();
  const VkImageView views[] = {makeRow(kRows[0]), makeRow(kRows[1])};
  constexpr uint32_t kRowOf[] = {0, 1, 1, 0}, kModeOf[] = {0, 1, 2, 1};
  Binding combined{.type = kCombined};
  for (uint32_t i = 0; i < 4; ++i)
    combined.images.push_back(imageOf(views[kRowOf[i]], makeAddressing(kModes[kModeOf[i]])));
  const TestBuffer out = makeBuffer(sizeof(Seen));
  const Binding bindings[] = {bufferBinding(out), combined};
  const Compute program = makeProgram(k_separate_samplers, bindings, 8);
  writeAll(program, bindings);
  for (uint32_t image = 0; image < 4; ++image) {
    for (uint32_t sampler = 0; sampler < 4; ++sampler) {
      EXPECT_EQ(sample(program, out, image, sampler), seenBy(kRows[kRowOf[image]], kModes[kModeOf[sampler]]))
          << image << " " << sampler;
    }
  }
}

TEST_F(SeparateSamplerTest, MutableDescriptorsOfImagesSamplersAndBoth) {
  createFullDevice();
  const VkImageView views[] = {makeRow(kRows[0]), makeRow(kRows[1])};
  const VkSampler samplers[] = {makeAddressing(kModes[0]), makeAddressing(kModes[1]), makeAddressing(kModes[2])};
  const TestBuffer out = makeBuffer(sizeof(Seen));
  const Binding bindings[] = {bufferBinding(out),
                              {.type = kCombined,
                               .flags = VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT,
                               .count = 4,
                               .mutableTypes = {kCombined, kSampler, kSampledImage}}};
  const Binding elements[] = {{.type = kCombined, .images = {imageOf(views[0], samplers[0])}},
                              {.type = kSampler, .images = {imageOf(VK_NULL_HANDLE, samplers[1])}},
                              {.type = kSampledImage, .images = {imageOf(views[1])}},
                              {.type = kCombined, .images = {imageOf(views[1], samplers[2])}}};
  const Compute direct = makeProgram(k_separate_samplers, bindings, 8);
  const Compute copied = makeProgram(k_separate_samplers, bindings, 8);
  for (const Compute& program : {direct, copied}) {
    write(program, 0, bindings[0]);
    for (uint32_t i = 0; i < 4; ++i) write(program, 1, elements[3 - i], i);  // nothing of this may be left
  }
  for (uint32_t i = 0; i < 4; ++i) write(direct, 1, elements[i], i);
  const VkCopyDescriptorSet copy{VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET, nullptr, direct.set, 1, 0, copied.set, 1, 0, 4};
  vkUpdateDescriptorSets(device(), 0, nullptr, 1, &copy);
  constexpr std::pair<uint32_t, uint32_t> kImages[] = {{0, 0}, {2, 1}, {3, 1}};    // element, row
  constexpr std::pair<uint32_t, uint32_t> kSamplers[] = {{0, 0}, {1, 1}, {3, 2}};  // element, mode
  for (const Compute& program : {direct, copied}) {
    for (const auto& [image, row] : kImages) {
      for (const auto& [sampler, mode] : kSamplers)
        EXPECT_EQ(sample(program, out, image, sampler), seenBy(kRows[row], kModes[mode])) << image << " " << sampler;
    }
  }
}

}  // namespace
}  // namespace pumice::cts
