// Prints how fast texels and blocks are converted; asserts nothing about it. Little data, so all from the caches.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include "backend/formats/block_decode.h"
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

TEST(CodecSpeed, Blocks) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> blocks(2 * 256);
  for (uint64_t& word : blocks) word = random();
  std::vector<uint64_t> astc = blocks;
  // A 6x6 grid of two-bit weights, one partition, RGB: random ASTC blocks are mostly illegal.
  for (size_t i = 0; i < astc.size(); i += 2) astc[i] = (astc[i] & ~uint64_t{0x1FFFF}) | 8u << 13 | 0x108;
  std::vector<std::byte> texels(12 * 12 * 8);
  for (VkFormat format :
       {VK_FORMAT_BC1_RGBA_UNORM_BLOCK, VK_FORMAT_BC3_UNORM_BLOCK, VK_FORMAT_BC4_UNORM_BLOCK, VK_FORMAT_BC5_UNORM_BLOCK,
        VK_FORMAT_BC6H_UFLOAT_BLOCK, VK_FORMAT_BC7_UNORM_BLOCK, VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK,
        VK_FORMAT_ETC2_R8G8B8A8_UNORM_BLOCK, VK_FORMAT_EAC_R11_UNORM_BLOCK, VK_FORMAT_ASTC_6x6_UNORM_BLOCK,
        VK_FORMAT_ASTC_8x8_SRGB_BLOCK}) {
    const BlockCodec codec = blockCodec(format);
    const auto& source = codec.info->compression == Compression::kAstcLdr ? astc : blocks;
    const size_t pitch_B = codec.info->blockExtent[0] * size_t{formatInfo(codec.decodedFormat).blockBytes};
    const double speed = texelsPerSecond(256 * size_t{codec.info->texelsPerBlock}, [&] {
      for (size_t i = 0; i < 256; ++i) codec.decode(&source[2 * i], texels.data(), pitch_B);
    });
    std::printf("%-36s decode %6.0f Mtexel/s\n", codec.info->name, speed / 1e6);
  }
}

}  // namespace
}  // namespace pumice::formats
