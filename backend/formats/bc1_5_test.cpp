// BC1 to BC5 against the specification's formulas in double precision: every pair of endpoints of a channel.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "backend/formats/block_test_support.h"

namespace pumice::formats {
namespace {

using test::BlockBits;

struct Color565 {
  int r, g, b;
  int packed() const { return r << 11 | g << 5 | b; }
  double channel(int c) const { return c == 0 ? r / 31.0 : c == 1 ? g / 63.0 : b / 31.0; }
};

double blackOrThird(const Color565& a, const Color565& b, int code, int c, bool thirds) {
  switch (code) {
    case 0:
      return a.channel(c);
    case 1:
      return b.channel(c);
    case 2:
      return thirds ? (2 * a.channel(c) + b.channel(c)) / 3 : (a.channel(c) + b.channel(c)) / 2;
    default:
      return thirds ? (a.channel(c) + 2 * b.channel(c)) / 3 : 0;
  }
}

void expectColor(const BlockCodec& codec, const BlockBits& block, const Color565& a, const Color565& b, uint32_t codes,
                 bool thirds, bool transparent) {
  const std::vector<float> floats = test::floatsOf(codec, block.data());
  const std::vector<test::Rgba8> bytes = test::bytesOf(codec, block.data());
  for (size_t i = 0; i < 16; ++i) {
    const int code = static_cast<int>(codes >> (2 * i)) & 3;
    for (size_t c = 0; c < 3; ++c) {
      const double expected = blackOrThird(a, b, code, static_cast<int>(c), thirds);
      ASSERT_NEAR(static_cast<double>(floats[4 * i + c]), expected, 1e-7) << "texel " << i;
      ASSERT_LE(std::fabs(bytes[i].c[c] - expected * 255), 0.5 + 1e-9) << "texel " << i;
    }
    const bool clear = transparent && code == 3;
    if (codec.info->blockBytes == 8) {
      ASSERT_EQ(floats[4 * i + 3], clear ? 0.0f : 1.0f);
      ASSERT_EQ(bytes[i].c[3], clear ? 0 : 255);
    }
  }
}

/// All pairs of the two widths of endpoints, both orders, all codes somewhere.
template <typename F>
void forColorPairs(F f) {
  std::mt19937 random(1);
  for (int a = 0; a < 64; ++a) {
    for (int b = 0; b < 64; ++b) {
      const Color565 first{a / 2, a, b % 32}, second{b / 2, b, a % 32};
      f(first, second, static_cast<uint32_t>(random()));
    }
  }
}

TEST(Bc1, EveryPairOfEndpoints) {
  for (VkFormat format : {VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_FORMAT_BC1_RGBA_UNORM_BLOCK}) {
    const BlockCodec codec = blockCodec(format);
    ASSERT_EQ(codec.decodedFormat, VK_FORMAT_R8G8B8A8_UNORM);
    forColorPairs([&](const Color565& a, const Color565& b, uint32_t codes) {
      BlockBits block;
      block.put(16, static_cast<uint64_t>(a.packed()));
      block.put(16, static_cast<uint64_t>(b.packed()));
      block.put(32, codes);
      const bool thirds = a.packed() > b.packed();
      expectColor(codec, block, a, b, codes, thirds, !thirds && format == VK_FORMAT_BC1_RGBA_UNORM_BLOCK);
    });
  }
}

TEST(Bc2, FourBitAlphaAndColorsThatAreAlwaysThirds) {
  const BlockCodec codec = blockCodec(VK_FORMAT_BC2_UNORM_BLOCK);
  forColorPairs([&](const Color565& a, const Color565& b, uint32_t codes) {
    BlockBits block;
    for (unsigned i = 0; i < 16; ++i) block.put(4, (i + codes) & 15);
    block.put(16, static_cast<uint64_t>(a.packed()));
    block.put(16, static_cast<uint64_t>(b.packed()));
    block.put(32, codes);
    expectColor(codec, block, a, b, codes, true, false);
    const std::vector<float> floats = test::floatsOf(codec, block.data());
    const std::vector<test::Rgba8> bytes = test::bytesOf(codec, block.data());
    for (unsigned i = 0; i < 16; ++i) {
      ASSERT_FLOAT_EQ(floats[4 * i + 3], static_cast<float>((i + codes) & 15) / 15.0f);
      ASSERT_EQ(bytes[i].c[3], static_cast<int>((i + codes) & 15) * 17);
    }
  });
}

double channelValue(double first, double second, int code, bool sevenths, double least) {
  if (code == 0) return first;
  if (code == 1) return second;
  if (sevenths) return ((8 - code) * first + (code - 1) * second) / 7;
  if (code == 6) return least;
  if (code == 7) return 1;
  return ((6 - code) * first + (code - 1) * second) / 5;
}

// Every pair of endpoints; the codes of the 16 texels go through all eight values twice, from another one each time.
template <typename F>
void forChannelPairs(F f) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      BlockBits block;
      block.put(8, static_cast<uint64_t>(a));
      block.put(8, static_cast<uint64_t>(b));
      for (int i = 0; i < 16; ++i) block.put(3, static_cast<uint64_t>((i + a + b) & 7));
      for (int i = 0; i < 8; ++i) block.put(8, static_cast<uint64_t>(17 * i));  // what follows in two-part blocks
      f(a, b, block);
    }
  }
}

TEST(Bc3, EveryPairOfAlphas) {
  const BlockCodec codec = blockCodec(VK_FORMAT_BC3_UNORM_BLOCK);
  forChannelPairs([&](int a, int b, const BlockBits& block) {
    const std::vector<float> floats = test::floatsOf(codec, block.data());
    const std::vector<test::Rgba8> bytes = test::bytesOf(codec, block.data());
    for (int i = 0; i < 16; ++i) {
      const double expected = channelValue(a / 255.0, b / 255.0, (i + a + b) & 7, a > b, 0);
      const auto texel = static_cast<size_t>(i);
      ASSERT_NEAR(static_cast<double>(floats[4 * texel + 3]), expected, 1e-7);
      ASSERT_LE(std::fabs(bytes[texel].c[3] - expected * 255), 0.5 + 1e-9);
    }
  });
  forColorPairs([&](const Color565& a, const Color565& b, uint32_t codes) {
    BlockBits block;
    block.put(64, 0);
    block.put(16, static_cast<uint64_t>(a.packed()));
    block.put(16, static_cast<uint64_t>(b.packed()));
    block.put(32, codes);
    expectColor(codec, block, a, b, codes, true, false);
  });
}

TEST(Bc4, EveryPairOfEndpoints) {
  for (bool isSigned : {false, true}) {
    const BlockCodec codec = blockCodec(isSigned ? VK_FORMAT_BC4_SNORM_BLOCK : VK_FORMAT_BC4_UNORM_BLOCK);
    ASSERT_EQ(codec.decodedFormat, isSigned ? VK_FORMAT_R16_SNORM : VK_FORMAT_R16_UNORM);
    forChannelPairs([&](int a, int b, const BlockBits& block) {
      if (isSigned) {
        a = static_cast<int8_t>(a);
        b = static_cast<int8_t>(b);
      }
      const double scale = isSigned ? 127 : 255;
      const double first = std::fmax(a / scale, -1), second = std::fmax(b / scale, -1);
      const std::vector<float> floats = test::floatsOf(codec, block.data());
      uint16_t texels[16];
      codec.decode(block.data(), texels, 8);
      for (int i = 0; i < 16; ++i) {
        const double expected = channelValue(first, second, (i + a + b) & 7, a > b, isSigned ? -1 : 0);
        const auto texel = static_cast<size_t>(i);
        ASSERT_NEAR(static_cast<double>(floats[4 * texel]), expected, 1e-7) << a << " " << b;
        ASSERT_EQ(floats[4 * texel + 1], 0.0f);
        ASSERT_EQ(floats[4 * texel + 3], 1.0f);
        const double code = isSigned ? static_cast<int16_t>(texels[i]) : texels[i];
        ASSERT_LE(std::fabs(code - expected * (isSigned ? 32767 : 65535)), 0.5 + 1e-9);
      }
    });
  }
}

TEST(Bc5, TwoChannelsOneAfterTheOther) {
  for (bool isSigned : {false, true}) {
    const BlockCodec one = blockCodec(isSigned ? VK_FORMAT_BC4_SNORM_BLOCK : VK_FORMAT_BC4_UNORM_BLOCK);
    const BlockCodec two = blockCodec(isSigned ? VK_FORMAT_BC5_SNORM_BLOCK : VK_FORMAT_BC5_UNORM_BLOCK);
    std::mt19937_64 random(2);
    for (int n = 0; n < 1000; ++n) {
      const uint64_t block[2] = {random(), random()};
      const std::vector<float> red = test::floatsOf(one, &block[0]), green = test::floatsOf(one, &block[1]);
      const std::vector<float> both = test::floatsOf(two, block);
      uint16_t red16[16], green16[16], both16[32];
      one.decode(&block[0], red16, 8);
      one.decode(&block[1], green16, 8);
      two.decode(block, both16, 16);
      for (size_t i = 0; i < 16; ++i) {
        ASSERT_EQ(both[4 * i], red[4 * i]);
        ASSERT_EQ(both[4 * i + 1], green[4 * i]);
        ASSERT_EQ(both[4 * i + 2], 0.0f);
        ASSERT_EQ(both16[2 * i], red16[i]);
        ASSERT_EQ(both16[2 * i + 1], green16[i]);
      }
    }
  }
}

}  // namespace
}  // namespace pumice::formats
