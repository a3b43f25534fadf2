// Formats of attachments: what the specification requires, and that a texel which is drawn has the same bits as one
// that is cleared to the same color. (Clears go through the format codecs, drawing is compiled: they share no code.)
#include <bit>
#include <cstring>

#include "cts-subset/support/draw_test.h"
#include "shaders/push_color_frag.spv.h"
#include "shaders/push_sint_frag.spv.h"
#include "shaders/push_uint_frag.spv.h"
#include "shaders/whole_vert.spv.h"

namespace pumice::cts {
namespace {

enum class Numbers : uint8_t { kFloat, kUint, kSint };

struct ColorFormat {
  VkFormat format;
  uint32_t bytes;
  Numbers numbers = Numbers::kFloat;
};

constexpr ColorFormat kRequired[] = {
    {VK_FORMAT_R5G6B5_UNORM_PACK16, 2},
    {VK_FORMAT_A1R5G5B5_UNORM_PACK16, 2},
    {VK_FORMAT_R8_UNORM, 1},
    {VK_FORMAT_R8_UINT, 1, Numbers::kUint},
    {VK_FORMAT_R8_SINT, 1, Numbers::kSint},
    {VK_FORMAT_R8G8_UNORM, 2},
    {VK_FORMAT_R8G8_UINT, 2, Numbers::kUint},
    {VK_FORMAT_R8G8_SINT, 2, Numbers::kSint},
    {VK_FORMAT_R8G8B8A8_UNORM, 4},
    {VK_FORMAT_R8G8B8A8_UINT, 4, Numbers::kUint},
    {VK_FORMAT_R8G8B8A8_SINT, 4, Numbers::kSint},
    {VK_FORMAT_R8G8B8A8_SRGB, 4},
    {VK_FORMAT_B8G8R8A8_UNORM, 4},
    {VK_FORMAT_B8G8R8A8_SRGB, 4},
    {VK_FORMAT_A8B8G8R8_UNORM_PACK32, 4},
    {VK_FORMAT_A8B8G8R8_UINT_PACK32, 4, Numbers::kUint},
    {VK_FORMAT_A8B8G8R8_SINT_PACK32, 4, Numbers::kSint},
    {VK_FORMAT_A8B8G8R8_SRGB_PACK32, 4},
    {VK_FORMAT_A2B10G10R10_UNORM_PACK32, 4},
    {VK_FORMAT_A2B10G10R10_UINT_PACK32, 4, Numbers::kUint},
    {VK_FORMAT_R16_UINT, 2, Numbers::kUint},
    {VK_FORMAT_R16_SINT, 2, Numbers::kSint},
    {VK_FORMAT_R16_SFLOAT, 2},
    {VK_FORMAT_R16G16_UINT, 4, Numbers::kUint},
    {VK_FORMAT_R16G16_SINT, 4, Numbers::kSint},
    {VK_FORMAT_R16G16_SFLOAT, 4},
    {VK_FORMAT_R16G16B16A16_UINT, 8, Numbers::kUint},
    {VK_FORMAT_R16G16B16A16_SINT, 8, Numbers::kSint},
    {VK_FORMAT_R16G16B16A16_SFLOAT, 8},
    {VK_FORMAT_R32_UINT, 4, Numbers::kUint},
    {VK_FORMAT_R32_SINT, 4, Numbers::kSint},
    {VK_FORMAT_R32_SFLOAT, 4},
    {VK_FORMAT_R32G32_UINT, 8, Numbers::kUint},
    {VK_FORMAT_R32G32_SINT, 8, Numbers::kSint},
    {VK_FORMAT_R32G32_SFLOAT, 8},
    {VK_FORMAT_R32G32B32A32_UINT, 16, Numbers::kUint},
    {VK_FORMAT_R32G32B32A32_SINT, 16, Numbers::kSint},
    {VK_FORMAT_R32G32B32A32_SFLOAT, 16},
};

constexpr ColorFormat kMore[] = {
    {VK_FORMAT_R4G4B4A4_UNORM_PACK16, 2}, {VK_FORMAT_R8G8B8A8_SNORM, 4}, {VK_FORMAT_A2R10G10B10_UNORM_PACK32, 4},
    {VK_FORMAT_R16G16B16A16_UNORM, 8},    {VK_FORMAT_R16G16_SNORM, 4},   {VK_FORMAT_B10G11R11_UFLOAT_PACK32, 4},
    {VK_FORMAT_B5G5R5A1_UNORM_PACK16, 2},
};

class DrawFormatTest : public FilledTargetTest {
 protected:
  VkFormatFeatureFlags features(VkFormat format) {
    VkFormatProperties properties{};
    vkGetPhysicalDeviceFormatProperties(physicalDevice(), format, &properties);
    return properties.optimalTilingFeatures;
  }

  static std::span<const uint32_t> fragmentShader(Numbers numbers) {
    if (numbers == Numbers::kUint) return k_push_uint_frag;
    if (numbers == Numbers::kSint) return k_push_sint_frag;
    return k_push_color_frag;
  }

  // The part [8, 53) x [3, 40) is drawn, with triangles' quads at its edges; the rest is cleared.
  void drawOverClear(const ColorFormat& f, const VkClearValue& color) {
    const Target target = makeTarget(f.format, kExtent);
    PipelineState state(kExtent);
    state.renderPass = makeRenderPass({&target, 1});
    state.layout = layout_;
    state.scissor = {{8, 3}, {45, 37}};
    const VkPipeline pipeline = makePipeline(state, k_whole_vert, fragmentShader(f.numbers));
    const VkFramebuffer framebuffer = makeFramebuffer(state.renderPass, {&target, 1});
    Push push{};
    std::memcpy(push.color, &color.color, sizeof push.color);
    run([&](VkCommandBuffer c) {
      beginPass(c, state.renderPass, framebuffer, kExtent, {&color, 1});
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      vkCmdPushConstants(c, layout_, kStages, 0, sizeof push, &push);
      vkCmdDraw(c, 3, 1, 0, 0);
      vkCmdEndRenderPass(c);
    });
    const std::vector<std::byte> texels = readBytes(target, VK_IMAGE_ASPECT_COLOR_BIT, f.bytes);
    ASSERT_EQ(texels.size(), size_t{f.bytes} * kExtent.width * kExtent.height);
    const std::byte* cleared = texels.data();
    EXPECT_NE(std::count(cleared, cleared + f.bytes, std::byte{0}), f.bytes);
    for (uint32_t y = 0; y < kExtent.height; ++y)
      for (uint32_t x = 0; x < kExtent.width; ++x)
        ASSERT_EQ(std::memcmp(cleared, cleared + size_t{f.bytes} * (y * kExtent.width + x), f.bytes), 0)
            << "format " << f.format << " at " << x << ", " << y;
  }

  void drawOverClear(const ColorFormat& f) {
    VkClearValue color{};
    if (f.numbers == Numbers::kFloat) {
      color = clearColor(0.2f, 0.7f, 0.4f, 0.9f);
    } else if (f.numbers == Numbers::kUint) {
      color.color.uint32[0] = 200;
      color.color.uint32[1] = 77;
      color.color.uint32[2] = 100;
      color.color.uint32[3] = 2;
    } else {
      color.color.int32[0] = -100;
      color.color.int32[1] = 77;
      color.color.int32[2] = -1;
      color.color.int32[3] = 2;
    }
    drawOverClear(f, color);
  }
};

TEST_F(DrawFormatTest, TheRequiredOnesAreThere) {
  prepare();
  for (const ColorFormat& f : kRequired) {
    EXPECT_NE(features(f.format) & VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT, 0u) << f.format;
    const bool is32 = f.format >= VK_FORMAT_R32_UINT && f.format <= VK_FORMAT_R32G32B32A32_SFLOAT;
    if (f.numbers == Numbers::kFloat && !is32) {
      EXPECT_NE(features(f.format) & VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT, 0u) << f.format;
    }
  }
  for (const VkFormat f : {VK_FORMAT_D16_UNORM, VK_FORMAT_D32_SFLOAT}) {
    EXPECT_NE(features(f) & VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT, 0u) << f;
  }
}

TEST_F(DrawFormatTest, DrawnTexelsAreAsClearedOnes) {
  prepare();
  for (const ColorFormat& f : kRequired) {
    drawOverClear(f);
    if (HasFatalFailure()) return;
  }
  for (const ColorFormat& f : kMore) {
    if ((features(f.format) & VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT) == 0) continue;
    drawOverClear(f);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace pumice::cts
