// The file read back by another library's decoder, texel by texel.
#include "icd/wsi/screenshot.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#define STBI_ONLY_PNG
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

#include "testing/temporary_directory.h"

namespace pumice::icd {
namespace {

constexpr VkExtent2D kExtent{5, 3};

// Rows of BGRA texels, another image for each seed.
struct Image {
  std::vector<uint32_t> texels;
  abi::Surface surface{};

  explicit Image(uint32_t seed) {
    for (uint32_t i = 0; i < kExtent.width * kExtent.height; ++i) texels.push_back(seed * 0x01030507 + i * 0x07050301);
    surface.address = reinterpret_cast<uint64_t>(texels.data());
    surface.rowPitch_B = kExtent.width * 4;
    surface.elementBytes = 4;
    surface.sampleCount = 1;
  }
};

TEST(Screenshot, TheFrameThatIsAskedFor) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("shot.png");
  const Image images[] = {Image(1), Image(2), Image(3)};
  Screenshot shot(path, 2);
  for (const Image& image : images) shot.frame(image.surface, pixelForm(VK_FORMAT_B8G8R8A8_UNORM), kExtent);

  int width = 0, height = 0, components = 0;
  stbi_uc* pixels = stbi_load(path.c_str(), &width, &height, &components, 4);
  ASSERT_NE(pixels, nullptr) << stbi_failure_reason();
  ASSERT_EQ(width, 5);
  ASSERT_EQ(height, 3);
  for (size_t i = 0; i < images[1].texels.size(); ++i) {
    const uint32_t texel = images[1].texels[i];
    EXPECT_EQ(pixels[4 * i], texel >> 16 & 0xff) << i;
    EXPECT_EQ(pixels[4 * i + 1], texel >> 8 & 0xff) << i;
    EXPECT_EQ(pixels[4 * i + 2], texel & 0xff) << i;
    EXPECT_EQ(pixels[4 * i + 3], 255) << "windows are opaque";
  }
  stbi_image_free(pixels);
}

TEST(Screenshot, NothingIsWrittenUnasked) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("none.png");
  const Image image(1);
  Screenshot late(path, 2), none("", 1);
  late.frame(image.surface, pixelForm(VK_FORMAT_B8G8R8A8_UNORM), kExtent);
  none.frame(image.surface, pixelForm(VK_FORMAT_B8G8R8A8_UNORM), kExtent);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Screenshot, AClosedDirectoryIsNoError) {
  const Image image(1);
  Screenshot shot("/nowhere/at/all.png", 1);
  shot.frame(image.surface, pixelForm(VK_FORMAT_B8G8R8A8_UNORM), kExtent);
}

}  // namespace
}  // namespace pumice::icd
