// Prints how fast the row functions of hot formats are; asserts nothing about it. 1,024 texels, so all from the caches.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "backend/formats/texel_codec.h"

namespace pumice::formats {
namespace {

template <typename F>
double texelsPerSecond(size_t texels, F run) {
  double best_s = 1e9;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) run();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best_s = std::min(best_s, time.count() / 50);
  }
  return static_cast<double>(texels) / best_s;
}

TEST(CodecSpeed, HotFormats) {
  constexpr size_t kTexels = 1024;
  const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM,
                              VK_FORMAT_R8G8B8A8_SRGB,
                              VK_FORMAT_R8G8B8A8_UINT,
                              VK_FORMAT_B8G8R8A8_UNORM,
                              VK_FORMAT_B8G8R8A8_SRGB,
                              VK_FORMAT_R16G16B16A16_SFLOAT,
                              VK_FORMAT_R32G32B32A32_SFLOAT,
                              VK_FORMAT_R32_SFLOAT,
                              VK_FORMAT_R8_UNORM,
                              VK_FORMAT_R8G8_UNORM,
                              VK_FORMAT_R16_SFLOAT,
                              VK_FORMAT_A2B10G10R10_UNORM_PACK32,
                              VK_FORMAT_B10G11R11_UFLOAT_PACK32,
                              VK_FORMAT_R5G6B5_UNORM_PACK16,
                              VK_FORMAT_R16G16B16A16_UNORM,
                              VK_FORMAT_E5B9G9R9_UFLOAT_PACK32};
  std::vector<std::byte> texels(kTexels * 16);
  std::vector<float> rgba(kTexels * 4);
  for (VkFormat format : formats) {
    const TexelCodec codec = texelCodec(format);
    for (size_t i = 0; i < rgba.size(); ++i) rgba[i] = static_cast<float>(i % 977) / 976.0f;
    const double encode = texelsPerSecond(kTexels, [&] { codec.encode(rgba.data(), kTexels, texels.data()); });
    const double decode = texelsPerSecond(kTexels, [&] { codec.decode(texels.data(), kTexels, rgba.data()); });
    std::printf("%-36s decode %6.0f Mtexel/s, encode %6.0f Mtexel/s\n", codec.info->name, decode / 1e6, encode / 1e6);
  }
}

}  // namespace
}  // namespace pumice::formats
