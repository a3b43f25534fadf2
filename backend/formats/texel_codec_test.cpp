// Every codec against codec_reference.h: all codes of channels of up to 16 bits, edges and random values above; floats
// at and beside every rounding boundary.
#include "backend/formats/texel_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <random>

#include "backend/formats/codec_kernels.h"
#include "backend/formats/codec_reference.h"

namespace pumice::formats {
namespace {

using reference::Channel;

// Under ThreadSanitizer, which makes the walks ten times as slow and finds nothing in them, every 13th value will do.
#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kStep = 13;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr uint64_t kStep = 13;
#else
constexpr uint64_t kStep = 1;
#endif
#else
constexpr uint64_t kStep = 1;
#endif

/// Formats that the bit-by-bit reference reads: not E5B9G9R9 and not 64-bit components.
std::vector<TexelCodec> plainCodecs() {
  std::vector<TexelCodec> codecs;
  for (const FormatInfo& info : allFormats()) {
    const TexelCodec codec = texelCodec(info.format);
    if (codec && codec.channelBytes == 4 && info.sharedExponentBits == 0) codecs.push_back(codec);
  }
  return codecs;
}

int slotOf(char letter) {
  switch (letter) {
    case 'G':
      return 1;
    case 'B':
      return 2;
    case 'A':
      return 3;
    default:
      return 0;
  }
}

/// A decoded number as a double.
double number(TexelType type, uint32_t bits) {
  switch (type) {
    case TexelType::kUint:
      return bits;
    case TexelType::kSint:
      return static_cast<int32_t>(bits);
    default:
      return static_cast<double>(std::bit_cast<float>(bits));
  }
}

/// Codes of one channel that are worth reading: all, or the edges and many random ones.
std::vector<uint64_t> codesOf(const Channel& c, std::mt19937_64& random) {
  std::vector<uint64_t> codes;
  if (c.bits <= 16) {
    for (uint64_t code = 0; code < uint64_t{1} << c.bits; code += c.bits < 12 ? 1 : kStep) codes.push_back(code);
    return codes;
  }
  const uint64_t mask = (uint64_t{1} << c.bits) - 1;
  for (uint64_t edge : {uint64_t{0}, mask / 2, uint64_t{0x7F800000}, uint64_t{0x00800000}, uint64_t{0x80000000}}) {
    for (uint64_t near = 0; near < 5; ++near) codes.push_back((edge + near - 2) & mask);
  }
  for (int i = 0; i < 20000; ++i) codes.push_back(random() & mask);
  return codes;
}

TEST(TexelCodec, ExistsForWhatIsOneTexelOfOnePlane) {
  for (const FormatInfo& info : allFormats()) {
    const bool one = !isCompressed(info) && info.planeCount == 1 && info.blockExtent[0] == 1;
    EXPECT_EQ(static_cast<bool>(texelCodec(info.format)), one) << info.name;
  }
  EXPECT_FALSE(texelCodec(VK_FORMAT_UNDEFINED));
  EXPECT_FALSE(texelCodec(VK_FORMAT_G8B8G8R8_422_UNORM));
  EXPECT_GT(plainCodecs().size(), 110u);
}

TEST(TexelCodec, DecodesEveryCode) {
  std::mt19937_64 random(1);
  for (const TexelCodec& codec : plainCodecs()) {
    SCOPED_TRACE(codec.info->name);
    const std::vector<Channel> channels = reference::channelsOf(codec.info->name);
    for (const Channel& walked : channels) {
      if (walked.letter == 'X') continue;
      const std::vector<uint64_t> codes = codesOf(walked, random);
      std::vector<std::byte> texels(codes.size() * codec.texelBytes);
      for (std::byte& b : texels) b = static_cast<std::byte>(random());
      for (size_t i = 0; i < codes.size(); ++i) {
        reference::setBits(&texels[i * codec.texelBytes], walked.offset, walked.bits, codes[i]);
      }
      std::vector<uint32_t> rgba(codes.size() * 4, 0xDEADBEEF);
      codec.decode(texels.data(), codes.size(), rgba.data());
      for (size_t i = 0; i < codes.size(); ++i) {
        double expected[4] = {0, 0, 0, 1};
        bool checked[4] = {true, true, true, true};
        for (const Channel& c : channels) {
          if (c.letter == 'X') continue;
          if (i % 8 != 0 && &c != &walked) {  // the others have or had their own walk
            checked[slotOf(c.letter)] = false;
            continue;
          }
          const uint64_t code = reference::bitsOf(&texels[i * codec.texelBytes], c.offset, c.bits);
          const double value = reference::decodeChannel(c, code);
          // Correctly rounded where the number is a float.
          expected[slotOf(c.letter)] = codec.type == TexelType::kFloat ? static_cast<float>(value) : value;
        }
        for (int slot = 0; slot < 4; ++slot) {
          if (!checked[slot]) continue;
          const double got = number(codec.type, rgba[4 * i + static_cast<size_t>(slot)]);
          ASSERT_TRUE(got == expected[slot] || (std::isnan(got) && std::isnan(expected[slot])))
              << "code " << codes[i] << " slot " << slot << ": " << got << " for " << expected[slot];
        }
      }
    }
  }
}

/// Floats around everything that a channel can round to: each code's own value, the middle to the next, and the floats
/// beside them; NaN, infinities, denormals, negative and large numbers; random bits.
std::vector<float> floatsFor(const Channel& c, std::mt19937_64& random) {
  std::vector<float> floats = {0.0f,     -0.0f,    1.0f,      -1.0f,    2.0f,     1e-45f,
                               -1e-45f,  1e-38f,   3e38f,     -3e38f,   65504.0f, 65519.996f,
                               65520.0f, 65536.0f, 131072.0f, 65024.0f, 64512.0f, 65280.0f};
  for (float special : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    floats.push_back(special);
    floats.push_back(-special);
  }
  const auto around = [&](double value) {
    const auto middle = static_cast<float>(value);
    floats.insert(floats.end(), {middle, std::nextafterf(middle, -INFINITY), std::nextafterf(middle, INFINITY)});
  };
  const uint64_t count = c.bits <= 16 ? uint64_t{1} << c.bits : 4096;
  for (uint64_t i = 0; i + 1 < count; i += c.bits < 12 ? 1 : kStep) {
    const uint64_t code = c.bits <= 16 ? i : random() & ((uint64_t{1} << c.bits) - 2);
    const double here = reference::decodeChannel(c, code);
    const double next = reference::decodeChannel(c, code + 1);
    if (!std::isfinite(here) || !std::isfinite(next)) continue;
    around(here);
    around(c.numeric == reference::Numeric::kSrgb ? static_cast<double>(reference::srgbToLinear((code + 0.5L) / 255))
                                                  : (here + next) / 2);
  }
  for (int i = 0; i < 2000; ++i) {
    floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    floats.push_back(static_cast<float>(random() % 4000000) / 1999999.0f - 0.5f);
  }
  return floats;
}

TEST(TexelCodec, EncodesFloatsAtEveryBoundary) {
  std::mt19937_64 random(2);
  std::map<std::pair<reference::Numeric, int>, std::vector<float>> floatsOf;
  for (const TexelCodec& codec : plainCodecs()) {
    if (codec.type != TexelType::kFloat) continue;
    SCOPED_TRACE(codec.info->name);
    const std::vector<Channel> channels = reference::channelsOf(codec.info->name);
    for (const Channel& walked : channels) {
      if (walked.letter == 'X') continue;
      std::vector<float>& floats = floatsOf[{walked.numeric, walked.bits}];
      if (floats.empty()) floats = floatsFor(walked, random);
      std::vector<float> rgba(floats.size() * 4);
      for (size_t i = 0; i < rgba.size(); ++i) rgba[i] = floats[random() % floats.size()];
      for (size_t i = 0; i < floats.size(); ++i) {
        rgba[4 * i + static_cast<size_t>(slotOf(walked.letter))] = floats[i];
      }
      std::vector<std::byte> texels(floats.size() * codec.texelBytes, std::byte{0xFF});
      codec.encode(rgba.data(), floats.size(), texels.data());
      for (size_t i = 0; i < floats.size(); ++i) {
        for (const Channel& c : channels) {
          if (i % 8 != 0 && &c != &walked) continue;  // the others have or had their own walk
          const uint64_t code = reference::bitsOf(&texels[i * codec.texelBytes], c.offset, c.bits);
          if (c.letter == 'X') {
            ASSERT_EQ(code, 0u) << "padding";
            continue;
          }
          const float value = rgba[4 * i + static_cast<size_t>(slotOf(c.letter))];
          if (c.bits == 32) {
            ASSERT_EQ(code, std::bit_cast<uint32_t>(value));
            continue;
          }
          const uint64_t expected = reference::encodeChannel(c, static_cast<double>(value));
          ASSERT_TRUE(code == expected || (reference::isNan(c, code) && reference::isNan(c, expected)))
              << c.letter << " of " << value << ": code " << code << " for " << expected;
        }
      }
    }
  }
}

TEST(TexelCodec, EncodesIntegersClamped) {
  std::mt19937_64 random(3);
  for (const TexelCodec& codec : plainCodecs()) {
    if (codec.type == TexelType::kFloat) continue;
    SCOPED_TRACE(codec.info->name);
    const std::vector<Channel> channels = reference::channelsOf(codec.info->name);
    std::vector<uint32_t> numbers = {0, 1, 2, 3, 4, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE};
    for (int bit = 1; bit < 32; ++bit) {
      for (uint32_t near = 0; near < 5; ++near) {
        numbers.push_back((1u << bit) + near - 2);
        numbers.push_back(0u - (1u << bit) + near - 2);
      }
    }
    for (int i = 0; i < 2000; ++i) numbers.push_back(static_cast<uint32_t>(random()) >> (random() % 32));
    const size_t count = numbers.size() * 4;
    std::vector<uint32_t> rgba(count * 4);
    for (uint32_t& n : rgba) n = numbers[random() % numbers.size()];
    for (size_t i = 0; i < numbers.size(); ++i) {
      for (size_t slot = 0; slot < 4; ++slot) rgba[4 * (4 * i + slot) + slot] = numbers[i];
    }
    std::vector<std::byte> texels(count * codec.texelBytes, std::byte{0xFF});
    codec.encode(rgba.data(), count, texels.data());
    for (size_t i = 0; i < count; ++i) {
      for (const Channel& c : channels) {
        const uint64_t code = reference::bitsOf(&texels[i * codec.texelBytes], c.offset, c.bits);
        const double value = number(codec.type, rgba[4 * i + static_cast<size_t>(slotOf(c.letter))]);
        const uint64_t expected = c.letter == 'X' ? 0 : reference::encodeChannel(c, value);
        ASSERT_EQ(code, expected) << c.letter << " of " << value;
      }
    }
  }
}

// The loops for AVX2, the baseline's and the generic ones agree to the bit.
TEST(TexelCodec, AllLoopsOfAFormatAgree) {
  std::mt19937_64 random(4);
  constexpr size_t kCount = 4099;
  int hot = 0;
  for (const TexelCodec& codec : plainCodecs()) {
    SCOPED_TRACE(codec.info->name);
    for (bool wide : {false, true}) {
      const RowFunctions rows = hotRowFunctions(codec.info->format, wide);
      if (rows.decode == nullptr || (wide && !hasWideVectors())) continue;
      ++hot;
      std::vector<std::byte> texels(kCount * codec.texelBytes);
      for (std::byte& b : texels) b = static_cast<std::byte>(random());
      std::vector<uint32_t> expected(kCount * 4), got(kCount * 4);
      decodeGeneric(*codec.info, texels.data(), codec.texelBytes, kCount, expected.data());
      rows.decode(*codec.info, texels.data(), codec.texelBytes, kCount, got.data());
      ASSERT_EQ(expected, got);
      for (uint32_t& n : expected) {
        n = random() % 2 == 0 ? static_cast<uint32_t>(random()) : std::bit_cast<uint32_t>(random() % 513 / 512.0f);
      }
      std::vector<std::byte> again(texels.size());
      encodeGeneric(*codec.info, expected.data(), kCount, texels.data(), codec.texelBytes);
      rows.encode(*codec.info, expected.data(), kCount, again.data(), codec.texelBytes);
      ASSERT_EQ(texels, again);
    }
  }
  EXPECT_GE(hot, 15);
}

TEST(TexelCodec, TouchesExactlyItsTexels) {
  for (const FormatInfo& info : allFormats()) {
    const TexelCodec codec = texelCodec(info.format);
    if (!codec) continue;
    SCOPED_TRACE(info.name);
    const size_t outBytes = 4u * codec.channelBytes;
    for (size_t count : {0, 1, 2, 3, 5, 8, 17, 33}) {
      for (size_t gap : {0, 1, 7}) {
        const size_t stride = codec.texelBytes + gap;
        // Exact sizes, so that AddressSanitizer sees a step too far; one byte ahead, so that no texel is aligned.
        const size_t span = count == 0 ? 0 : (count - 1) * stride + codec.texelBytes;
        std::vector<std::byte> texels(1 + span);
        for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<std::byte>(i * 37 + 11);
        std::vector<std::byte> rgba(count * outBytes);
        codec.decode(texels.data() + 1, stride, count, rgba.data());
        std::vector<std::byte> one(outBytes);
        for (size_t i = 0; i < count; ++i) {
          codec.decode(texels.data() + 1 + i * stride, 1, one.data());
          ASSERT_TRUE(std::equal(one.begin(), one.end(), rgba.begin() + static_cast<ptrdiff_t>(i * outBytes)));
        }
        std::vector<std::byte> written(texels.size(), std::byte{0x5A});
        codec.encode(rgba.data(), count, written.data() + 1, stride);
        ASSERT_EQ(written[0], std::byte{0x5A});
        for (size_t i = 0; i < span; ++i) {
          if (i % stride < codec.texelBytes) continue;
          ASSERT_EQ(written[1 + i], std::byte{0x5A}) << "between texels";
        }
      }
    }
  }
}

// Decoding and encoding again gives the code back, except that SNORM has two codes for -1 and padding is lost.
TEST(TexelCodec, RoundTrips) {
  std::mt19937_64 random(5);
  for (const TexelCodec& codec : plainCodecs()) {
    SCOPED_TRACE(codec.info->name);
    constexpr size_t kCount = 2000;
    std::vector<std::byte> texels(kCount * codec.texelBytes), again(texels.size());
    for (std::byte& b : texels) b = static_cast<std::byte>(random());
    std::vector<uint32_t> rgba(kCount * 4);
    codec.decode(texels.data(), kCount, rgba.data());
    codec.encode(rgba.data(), kCount, again.data());
    for (size_t i = 0; i < kCount; ++i) {
      for (const Channel& c : reference::channelsOf(codec.info->name)) {
        uint64_t before = reference::bitsOf(&texels[i * codec.texelBytes], c.offset, c.bits);
        const uint64_t after = reference::bitsOf(&again[i * codec.texelBytes], c.offset, c.bits);
        if (c.letter == 'X') before = 0;
        if (c.numeric == reference::Numeric::kSnorm && before == uint64_t{1} << (c.bits - 1)) ++before;
        if (reference::isNan(c, before) && reference::isNan(c, after)) continue;
        ASSERT_EQ(before, after) << c.letter;
      }
    }
  }
}

// ---- the formats with rules of their own
// -------------------------------------------------------------------------------

/// "RGB to Shared Exponent Conversion", word for word, in double precision.
uint32_t referenceSharedExponent(const float* rgb) {
  constexpr int N = 9, B = 15, kMost = 31;
  const double limit = (std::pow(2, N) - 1) / std::pow(2, N) * std::pow(2, kMost - B);
  double clamped[3], largest = 0;
  for (int i = 0; i < 3; ++i) {
    clamped[i] = std::isnan(rgb[i]) ? 0 : std::fmax(0, std::fmin(limit, static_cast<double>(rgb[i])));
    largest = std::fmax(largest, clamped[i]);
  }
  const double floorOfLog = largest == 0 ? -1000 : std::floor(std::log2(largest));
  const double preliminary = std::fmax(-B - 1, floorOfLog) + 1 + B;
  const double most = std::floor(largest / std::pow(2, preliminary - B - N) + 0.5);
  const double exponent = most < std::pow(2, N) ? preliminary : preliminary + 1;
  uint32_t texel = static_cast<uint32_t>(exponent) << 27;
  for (int i = 0; i < 3; ++i) {
    texel |= static_cast<uint32_t>(std::floor(clamped[i] / std::pow(2, exponent - B - N) + 0.5)) << (9 * i);
  }
  return texel;
}

TEST(TexelCodec, SharedExponent) {
  const TexelCodec codec = texelCodec(VK_FORMAT_E5B9G9R9_UFLOAT_PACK32);
  ASSERT_TRUE(codec);
  for (uint32_t exponent = 0; exponent < 32; ++exponent) {
    for (uint32_t mantissa = 0; mantissa < 512; ++mantissa) {
      const uint32_t texel = exponent << 27 | mantissa | (mantissa ^ 0x155) << 9 | (511 - mantissa) << 18;
      float rgba[4];
      codec.decode(&texel, 1, rgba);
      const double scale = std::pow(2.0, static_cast<double>(exponent) - 15 - 9);
      ASSERT_EQ(static_cast<double>(rgba[0]), mantissa * scale);
      ASSERT_EQ(static_cast<double>(rgba[1]), (mantissa ^ 0x155) * scale);
      ASSERT_EQ(static_cast<double>(rgba[2]), (511 - mantissa) * scale);
      ASSERT_EQ(rgba[3], 1.0f);
    }
  }
  std::mt19937_64 random(6);
  std::vector<float> edges = {0.0f,     -0.0f,    -1.0f,  INFINITY,  -INFINITY, NAN,        65408.0f,
                              65409.0f, 65407.9f, 1e-45f, 0x1p-25f,  0x1p-24f,  0x1p-16f,   0x1.fffffep-26f,
                              3e38f,    1.0f,     511.5f, 511.4999f, 1023.999f, 0x1.ff8p3f, 0x1.ff7ffep3f};
  for (int i = 0; i < 300000; ++i) {
    float rgb[4] = {0, 0, 0, 1};
    for (int c = 0; c < 3; ++c) {
      switch (random() % 3) {
        case 0:
          rgb[c] = edges[random() % edges.size()];
          break;
        case 1:
          rgb[c] = std::bit_cast<float>(static_cast<uint32_t>(random()));
          break;
        default:  // near halves of the unit of some exponent
          rgb[c] = std::ldexp(static_cast<float>(random() % 1024) + 0.5f, static_cast<int>(random() % 34) - 26);
          if (random() % 2 == 0) rgb[c] = std::nextafterf(rgb[c], random() % 2 == 0 ? 0.0f : INFINITY);
      }
    }
    uint32_t texel;
    codec.encode(rgb, 1, &texel);
    ASSERT_EQ(texel, referenceSharedExponent(rgb)) << rgb[0] << " " << rgb[1] << " " << rgb[2];
  }
}

TEST(TexelCodec, WideComponentsAreCopied) {
  const uint64_t texel[4] = {0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x8000000000000000, 0x7FF8000000000001};
  struct Case {
    VkFormat format;
    int channels;
    uint64_t one;
  };
  for (const Case& c :
       {Case{VK_FORMAT_R64_UINT, 1, 1}, Case{VK_FORMAT_R64G64_SINT, 2, 1},
        Case{VK_FORMAT_R64G64B64_SFLOAT, 3, 0x3FF0000000000000}, Case{VK_FORMAT_R64G64B64A64_UINT, 4, 0}}) {
    const TexelCodec codec = texelCodec(c.format);
    SCOPED_TRACE(codec.info->name);
    ASSERT_TRUE(codec);
    EXPECT_EQ(codec.channelBytes, 8);
    uint64_t rgba[4];
    codec.decode(texel, 1, rgba);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(rgba[i], i < c.channels ? texel[i] : i == 3 ? c.one : 0);
    uint64_t back[4] = {};
    codec.encode(rgba, 1, back);
    for (int i = 0; i < c.channels; ++i) EXPECT_EQ(back[i], texel[i]);
  }
}

TEST(TexelCodec, FourTwoTwo) {
  float rgba[4 * 3];
  // G B G R: texels 0 and 1, 2 and 3.
  const uint8_t gbgr[8] = {10, 20, 30, 40, 50, 60, 70, 80};
  decode422(formatInfo(VK_FORMAT_G8B8G8R8_422_UNORM), gbgr, 1, 3, rgba);
  const float expected[12] = {40 / 255.f, 30 / 255.f, 20 / 255.f, 1,          80 / 255.f, 50 / 255.f,
                              60 / 255.f, 1,          80 / 255.f, 70 / 255.f, 60 / 255.f, 1};
  for (int i = 0; i < 12; ++i) EXPECT_EQ(rgba[i], expected[i]) << i;
  const uint8_t bgrg[4] = {10, 20, 30, 40};
  decode422(formatInfo(VK_FORMAT_B8G8R8G8_422_UNORM), bgrg, 0, 2, rgba);
  const float swapped[8] = {30 / 255.f, 20 / 255.f, 10 / 255.f, 1, 30 / 255.f, 40 / 255.f, 10 / 255.f, 1};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(rgba[i], swapped[i]) << i;
  const uint16_t wide[4] = {1000, 20000, 30000, 65535};
  decode422(formatInfo(VK_FORMAT_G16B16G16R16_422_UNORM), wide, 0, 1, rgba);
  EXPECT_EQ(rgba[0], 1.0f);
  EXPECT_EQ(rgba[1], 1000 / 65535.f);
  EXPECT_EQ(rgba[2], 20000 / 65535.f);
  const uint16_t ten[4] = {1023 << 6, (1 << 6) | 63, 512 << 6, 5 << 6};
  decode422(formatInfo(VK_FORMAT_B10X6G10X6R10X6G10X6_422_UNORM_4PACK16), ten, 0, 2, rgba);
  EXPECT_EQ(rgba[0], 512 / 1023.f);
  EXPECT_EQ(rgba[1], 1 / 1023.f);
  EXPECT_EQ(rgba[2], 1.0f);
  EXPECT_EQ(rgba[5], 5 / 1023.f);
  const uint16_t twelve[4] = {4095 << 4, 0, 7 << 4, 0};
  decode422(formatInfo(VK_FORMAT_G12X4B12X4G12X4R12X4_422_UNORM_4PACK16), twelve, 0, 2, rgba);
  EXPECT_EQ(rgba[1], 1.0f);
  EXPECT_EQ(rgba[5], 7 / 4095.f);
}

}  // namespace
}  // namespace pumice::formats
