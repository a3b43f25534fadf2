// What holds for every compressed format.
#include "backend/formats/block_decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "backend/formats/block_test_support.h"
#include "backend/formats/texel_codec.h"

namespace pumice::formats {
namespace {

std::vector<BlockCodec> allCodecs() {
  std::vector<BlockCodec> codecs;
  for (const FormatInfo& info : allFormats()) {
    if (const BlockCodec codec = blockCodec(info.format)) codecs.push_back(codec);
  }
  return codecs;
}

TEST(BlockDecode, ExistsForEveryFormatButHdrAndPvrtc) {
  for (const FormatInfo& info : allFormats()) {
    const bool expected = isCompressed(info) && info.compression != Compression::kAstcHdr &&
                          info.compression != Compression::kPvrtc && info.blockExtent[2] == 1;
    EXPECT_EQ(static_cast<bool>(blockCodec(info.format)), expected) << info.name;
  }
  EXPECT_EQ(allCodecs().size(), 54u);  // 16 BC, 6 ETC2, 4 EAC, 28 ASTC
  EXPECT_FALSE(blockCodec(VK_FORMAT_UNDEFINED));
}

TEST(BlockDecode, DecodedFormatKeepsTheTransferFunction) {
  for (const BlockCodec& codec : allCodecs()) {
    SCOPED_TRACE(codec.info->name);
    const FormatInfo& decoded = formatInfo(codec.decodedFormat);
    EXPECT_TRUE(texelCodec(codec.decodedFormat));
    EXPECT_EQ(isSrgb(decoded), isSrgb(*codec.info));
    EXPECT_EQ(texelType(decoded), TexelType::kFloat);
    EXPECT_GE(decoded.componentCount, codec.info->componentCount);
  }
}

/// A random block; some are made to be of rare kinds.
void randomBlock(std::mt19937_64& random, uint64_t block[2]) {
  block[0] = random();
  block[1] = random();
  switch (random() % 8) {
    case 0:
      block[0] = (block[0] & ~uint64_t{0x1FF}) | 0x1FC;  // ASTC: one color
      break;
    case 1:
      block[0] &= ~uint64_t{0xFF};  // BC7: reserved
      break;
    case 2:
      block[0] &= block[1];
      break;
    case 3:
      block[0] = ~uint64_t{0};
      break;
    default:
      break;
  }
}

// Buffers of exact size on the heap: AddressSanitizer sees a byte too far in either direction.
TEST(BlockDecode, AnyBlockStaysInBounds) {
  std::mt19937_64 random(1);
  for (const BlockCodec& codec : allCodecs()) {
    SCOPED_TRACE(codec.info->name);
    const size_t width = codec.info->blockExtent[0], height = codec.info->blockExtent[1];
    const size_t rowBytes = width * formatInfo(codec.decodedFormat).blockBytes;
    for (int n = 0; n < 3000; ++n) {
      uint64_t bits[2];
      randomBlock(random, bits);
      const std::vector<std::byte> block(reinterpret_cast<std::byte*>(bits),
                                         reinterpret_cast<std::byte*>(bits) + codec.info->blockBytes);
      const size_t gap = n % 2 == 0 ? 0 : 5;
      const size_t pitch = rowBytes + gap;
      std::vector<std::byte> texels((height - 1) * pitch + rowBytes, std::byte{0xA5});
      std::vector<std::byte> again(texels.size(), std::byte{0x5A});
      codec.decode(block.data(), texels.data(), pitch);
      codec.decode(block.data(), again.data(), pitch);
      for (size_t i = 0; i < texels.size(); ++i) {
        // Every byte of a texel is written, nothing between the rows.
        ASSERT_EQ(texels[i] == again[i], i % pitch < rowBytes);
      }
      std::vector<float> floats(width * height * 4, -1e30f);
      codec.decodeFloat(block.data(), floats.data());
      for (float value : floats) ASSERT_FALSE(std::isnan(value) || value == -1e30f);
    }
  }
}

// The floats are what the texels of decodedFormat stand for, up to the rounding that block_decode.h states.
TEST(BlockDecode, FloatsAgreeWithTexels) {
  std::mt19937_64 random(2);
  for (const BlockCodec& codec : allCodecs()) {
    SCOPED_TRACE(codec.info->name);
    const TexelCodec texels = texelCodec(codec.decodedFormat);
    const size_t count = codec.info->texelsPerBlock;
    double tolerance = 0;  // bit-exact: BC6H, BC7, ETC2, all sRGB
    if (codec.info->compression == Compression::kAstcLdr && !isSrgb(*codec.info)) tolerance = 1.0 / 255;
    if (codec.info->compression == Compression::kEac) tolerance = 1.0 / 32767;
    if (codec.info->compression == Compression::kBc && !isSrgb(*codec.info)) {
      if (codec.decodedFormat == VK_FORMAT_R8G8B8A8_UNORM) tolerance = 0.5001 / 255;
      if (texels.texelBytes <= 4 && codec.decodedFormat != VK_FORMAT_R8G8B8A8_UNORM) tolerance = 0.5001 / 32767;
      if (codec.info->format == VK_FORMAT_BC7_UNORM_BLOCK) tolerance = 0;
    }
    // sRGB's alpha is linear, and BC3's is between two codes.
    const double alphaTolerance = codec.info->format == VK_FORMAT_BC3_SRGB_BLOCK ? 0.5001 / 255 : tolerance;
    for (int n = 0; n < 300; ++n) {
      uint64_t block[2];
      randomBlock(random, block);
      std::vector<std::byte> bytes(count * texels.texelBytes);
      codec.decode(block, bytes.data(), codec.info->blockExtent[0] * size_t{texels.texelBytes});
      std::vector<float> expected(count * 4);
      texels.decode(bytes.data(), count, expected.data());
      const std::vector<float> got = test::floatsOf(codec, block);
      for (size_t i = 0; i < got.size(); ++i) {
        if (std::isinf(expected[i])) {
          ASSERT_EQ(got[i], expected[i]);
        } else {
          ASSERT_NEAR(got[i], expected[i], i % 4 == 3 ? alphaTolerance : tolerance) << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace pumice::formats
