#include "backend/formats/attachment_formats.h"

#include <gtest/gtest.h>

namespace pumice::formats {
namespace {

// Vulkan 1.3, "Required Format Support": COLOR_ATTACHMENT_BIT and COLOR_ATTACHMENT_BLEND_BIT.
TEST(AttachmentFormats, WhatTheSpecificationRequires) {
  const VkFormat blendable[] = {
      VK_FORMAT_R5G6B5_UNORM_PACK16,
      VK_FORMAT_A1R5G5B5_UNORM_PACK16,
      VK_FORMAT_R8_UNORM,
      VK_FORMAT_R8G8_UNORM,
      VK_FORMAT_R8G8B8A8_UNORM,
      VK_FORMAT_R8G8B8A8_SRGB,
      VK_FORMAT_B8G8R8A8_UNORM,
      VK_FORMAT_B8G8R8A8_SRGB,
      VK_FORMAT_A8B8G8R8_UNORM_PACK32,
      VK_FORMAT_A8B8G8R8_SRGB_PACK32,
      VK_FORMAT_A2B10G10R10_UNORM_PACK32,
      VK_FORMAT_R16_SFLOAT,
      VK_FORMAT_R16G16_SFLOAT,
      VK_FORMAT_R16G16B16A16_SFLOAT,
  };
  for (const VkFormat f : blendable) EXPECT_TRUE(isColorAttachmentFormat(f) && isBlendableFormat(f)) << f;
  const VkFormat color[] = {
      VK_FORMAT_R8_UINT,
      VK_FORMAT_R8_SINT,
      VK_FORMAT_R8G8_UINT,
      VK_FORMAT_R8G8_SINT,
      VK_FORMAT_R8G8B8A8_UINT,
      VK_FORMAT_R8G8B8A8_SINT,
      VK_FORMAT_A8B8G8R8_UINT_PACK32,
      VK_FORMAT_A8B8G8R8_SINT_PACK32,
      VK_FORMAT_A2B10G10R10_UINT_PACK32,
      VK_FORMAT_R16_UINT,
      VK_FORMAT_R16_SINT,
      VK_FORMAT_R16G16_UINT,
      VK_FORMAT_R16G16_SINT,
      VK_FORMAT_R16G16B16A16_UINT,
      VK_FORMAT_R16G16B16A16_SINT,
      VK_FORMAT_R32_UINT,
      VK_FORMAT_R32_SINT,
      VK_FORMAT_R32G32_UINT,
      VK_FORMAT_R32G32_SINT,
      VK_FORMAT_R32G32B32A32_UINT,
      VK_FORMAT_R32G32B32A32_SINT,
  };
  for (const VkFormat f : color) EXPECT_TRUE(isColorAttachmentFormat(f) && !isBlendableFormat(f)) << f;
  const VkFormat floats[] = {VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT};
  for (const VkFormat f : floats) EXPECT_TRUE(isColorAttachmentFormat(f)) << f;
}

TEST(AttachmentFormats, WhatHasNoBlocksOrNoChannels) {
  const VkFormat none[] = {
      VK_FORMAT_UNDEFINED,
      VK_FORMAT_R8G8B8_UNORM,
      VK_FORMAT_R32G32B32_SFLOAT,
      VK_FORMAT_R64_UINT,
      VK_FORMAT_E5B9G9R9_UFLOAT_PACK32,
      VK_FORMAT_BC1_RGBA_UNORM_BLOCK,
      VK_FORMAT_R8G8B8A8_USCALED,
      VK_FORMAT_G8B8G8R8_422_UNORM,
      VK_FORMAT_G8_B8R8_2PLANE_420_UNORM,
      VK_FORMAT_D32_SFLOAT,
      VK_FORMAT_S8_UINT,
      VK_FORMAT_D24_UNORM_S8_UINT,
  };
  for (const VkFormat f : none) EXPECT_FALSE(isColorAttachmentFormat(f)) << f;
}

TEST(AttachmentFormats, DepthAndStencil) {
  const VkFormat all[] = {VK_FORMAT_D16_UNORM,         VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_D32_SFLOAT,
                          VK_FORMAT_S8_UINT,           VK_FORMAT_D16_UNORM_S8_UINT,   VK_FORMAT_D24_UNORM_S8_UINT,
                          VK_FORMAT_D32_SFLOAT_S8_UINT};
  for (const VkFormat f : all) EXPECT_TRUE(isDepthStencilAttachmentFormat(f)) << f;
  EXPECT_FALSE(isDepthStencilAttachmentFormat(VK_FORMAT_R32_SFLOAT));
  EXPECT_FALSE(isDepthStencilAttachmentFormat(VK_FORMAT_UNDEFINED));
}

}  // namespace
}  // namespace pumice::formats
