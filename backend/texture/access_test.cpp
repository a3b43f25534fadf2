// Reads, writes and atomics against texels found and decoded by the test itself.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "backend/texture/test_image.h"
#include "backend/texture/texture.h"

namespace pumice::texture {
namespace {

using abi::ImageCall;
using abi::ImageOp;
using abi::ViewShape;
using test::ImageShape;
using test::Rgba;
using test::TestImage;

constexpr uint32_t kLanes = abi::kImageCallLanes;

/// The element of coordinate that is a slice.
uint32_t sliceSlot(ViewShape shape) {
  return shape == ViewShape::k1D ? 1 : 2;
}

/// A coordinate mostly inside [0, size), else anywhere.
int32_t someCoordinate(std::mt19937& random, uint32_t size) {
  switch (random() % 8) {
    case 0:
      return static_cast<int32_t>(random());
    case 1:
      return static_cast<int32_t>(size);
    case 2:
      return -1;
    default:
      return static_cast<int32_t>(random() % size);
  }
}

void expectNumbers(const Rgba& expected, const ImageCall& call, uint32_t lane, const TestImage& image,
                   const std::string& what) {
  const formats::TexelType type = formats::texelType(image.info());
  for (uint32_t c = 0; c < 4; ++c) {
    const uint32_t want = test::bitsOfNumber(expected.c[c], type);
    const uint32_t got = call.texel[c][lane];
    if (std::isnan(expected.c[c])) {
      EXPECT_TRUE(std::isnan(std::bit_cast<float>(got))) << what;
    } else if (want != got) {
      // sRGB: the double is rounded twice.
      ASSERT_TRUE(formats::isSrgb(image.info()) && want - got + 1 <= 2)
          << what << " component " << c << " lane " << lane << ": " << std::hex << got << " for " << want;
    }
  }
}

struct Case {
  ImageShape shape;
  uint32_t flags;
};

std::vector<Case> readCases(VkFormat format) {
  std::vector<Case> cases;
  for (const bool quadMajor : {false, true}) {
    const auto add = [&](ViewShape shape, uint32_t w, uint32_t h, uint32_t d, uint32_t levels, uint32_t samples,
                         uint32_t flags) {
      cases.push_back({{shape, format, w, h, d, levels, samples, quadMajor, true}, flags});
    };
    if (!quadMajor) {
      add(ViewShape::k1D, 13, 1, 1, 1, 0, 0);
      add(ViewShape::k1D, 9, 1, 5, 4, 0, abi::kImageLod);
    }
    add(ViewShape::k2D, 11, 7, 1, 1, 0, 0);
    add(ViewShape::k2D, 12, 9, 1, 4, 0, abi::kImageLod);
    add(ViewShape::k2D, 5, 6, 3, 1, 0, 0);
    add(ViewShape::k2D, 5, 6, 1, 1, 0, 0);
    add(ViewShape::k2D, 6, 5, 2, 1, 2, abi::kImageSampleIndex);
    add(ViewShape::k2D, 9, 3, 1, 1, 1, abi::kImageSampleIndex);
    add(ViewShape::k3D, 6, 5, 7, 3, 0, abi::kImageLod);
    add(ViewShape::kCube, 8, 8, 12, 2, 0, abi::kImageLod);
  }
  return cases;
}

struct Target {
  int64_t level, x, y, slice, sample;
};

/// Fills a lane's coordinates and says what they mean.
Target aim(ImageCall& call, uint32_t lane, const Case& test, std::mt19937& random, bool withLevels) {
  const ImageShape& s = test.shape;
  Target t{0, 0, 0, 0, 0};
  t.x = someCoordinate(random, s.width);
  call.coordinate[0][lane] = static_cast<uint32_t>(t.x);
  if (s.shape != ViewShape::k1D) {
    t.y = someCoordinate(random, s.height);
    call.coordinate[1][lane] = static_cast<uint32_t>(t.y);
  }
  t.slice = someCoordinate(random, s.depthOrLayers);
  call.coordinate[sliceSlot(s.shape)][lane] = static_cast<uint32_t>(t.slice);
  if (withLevels && (test.flags & abi::kImageLod) != 0) {
    t.level = someCoordinate(random, s.levels);
    call.lod[lane] = static_cast<uint32_t>(t.level);
  }
  if ((test.flags & abi::kImageSampleIndex) != 0) {
    t.sample = someCoordinate(random, 1u << s.samples_log2);
    call.lod[lane] = static_cast<uint32_t>(t.sample);
  }
  return t;
}

bool isInside(const TestImage& image, const Target& t) {
  return image.inside(t.level, t.x, t.y, t.slice, t.sample);
}

Rgba texelAt(const TestImage& image, const Target& t) {
  return image.texel(static_cast<uint32_t>(t.level), static_cast<uint32_t>(t.x), static_cast<uint32_t>(t.y),
                     static_cast<uint32_t>(t.slice), static_cast<uint32_t>(t.sample));
}

TEST(ImageRead, EveryFormatShapeAndOrder) {
  std::mt19937 random(11);
  for (const VkFormat format : test::plainFormats()) {
    for (const Case& test : readCases(format)) {
      if (test.shape.quadMajor && formats::formatInfo(format).blockBytes % 3 == 0) continue;  // always row-linear
      TestImage image(test.shape);
      image.fill(random());
      for (int round = 0; round < 2; ++round) {
        ImageCall call = test::makeCall(ImageOp::kRead, test.flags | abi::kImageUniformDescriptor, random());
        call.image[0] = image.address();
        call.activeLanes = static_cast<uint16_t>(round == 0 ? 0xFFFF : random());
        Target targets[kLanes];
        for (uint32_t lane = 0; lane < kLanes; ++lane) targets[lane] = aim(call, lane, test, random, true);
        const ImageCall before = call;
        test::accessInTurn(&call);
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
          if ((call.activeLanes >> lane & 1) == 0) {
            for (uint32_t c = 0; c < 4; ++c) ASSERT_EQ(call.texel[c][lane], before.texel[c][lane]);
            continue;
          }
          const Target& t = targets[lane];
          const Rgba expected = isInside(image, t) ? texelAt(image, t) : image.outside();
          expectNumbers(expected, call, lane, image, image.info().name);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(ImageRead, CompressedFormats) {
  std::mt19937 random(13);
  for (const formats::FormatInfo& info : formats::allFormats()) {
    if (!formats::blockCodec(info.format)) continue;
    for (const bool quadMajor : {false, true}) {
      const Case test{{ViewShape::k2D, info.format, 29, 23, 3, 3, 0, quadMajor, true}, abi::kImageLod};
      TestImage image(test.shape);
      image.fill(random());
      ImageCall call = test::makeCall(ImageOp::kRead, abi::kImageLod | abi::kImageUniformDescriptor);
      call.image[0] = image.address();
      Target targets[kLanes];
      for (uint32_t lane = 0; lane < kLanes; ++lane) targets[lane] = aim(call, lane, test, random, true);
      test::accessInTurn(&call);
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const Target& t = targets[lane];
        expectNumbers(isInside(image, t) ? texelAt(image, t) : image.outside(), call, lane, image, info.name);
        if (HasFatalFailure()) return;
      }
      // Nothing writes them.
      const std::vector<std::byte> before = image.contents();
      for (const ImageOp op : {ImageOp::kWrite, ImageOp::kAtomicAdd}) {
        call.op = op;
        call.flags = abi::kImageUniformDescriptor;
        test::accessInTurn(&call);
        ASSERT_TRUE(before == image.contents()) << info.name;
      }
    }
  }
}

TEST(ImageRead, ComponentMapping) {
  std::mt19937 random(12);
  for (const VkFormat format : {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8_UNORM, VK_FORMAT_R16G16_UINT,
                                VK_FORMAT_D16_UNORM, VK_FORMAT_R5G6B5_UNORM_PACK16}) {
    TestImage image({ViewShape::k2D, format, 8, 8});
    image.fill(3);
    for (int round = 0; round < 40; ++round) {
      uint32_t source[4];
      uint32_t swizzle = 0;
      for (uint32_t c = 0; c < 4; ++c) {
        source[c] = random() % 6;
        swizzle |= source[c] << (3 * c);
      }
      image.descriptor().swizzle = static_cast<uint16_t>(swizzle);
      ImageCall call = test::makeCall(ImageOp::kRead, abi::kImageUniformDescriptor);
      call.image[0] = image.address();
      const Case test{image.shape(), 0};
      Target targets[kLanes];
      for (uint32_t lane = 0; lane < kLanes; ++lane) targets[lane] = aim(call, lane, test, random, false);
      test::accessInTurn(&call);
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const Rgba texel = isInside(image, targets[lane]) ? texelAt(image, targets[lane]) : image.outside();
        Rgba expected{};
        for (uint32_t c = 0; c < 4; ++c) expected.c[c] = source[c] < 4 ? texel.c[source[c]] : source[c] == 5 ? 1 : 0;
        expectNumbers(expected, call, lane, image, "mapped");
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ImageRead, NullAndMixedDescriptors) {
  TestImage first({ViewShape::k2D, VK_FORMAT_R32_UINT, 4, 4});
  TestImage second({ViewShape::k3D, VK_FORMAT_R16G16_SINT, 3, 3, 3});
  first.fill(1);
  second.fill(2);
  const abi::ImageDescriptor null{};
  const abi::TexelBufferDescriptor nullBuffer{};
  const uint64_t kinds[] = {first.address(), second.address(), 0, reinterpret_cast<uint64_t>(&null),
                            reinterpret_cast<uint64_t>(&nullBuffer)};
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    ImageCall call = test::makeCall(ImageOp::kRead, 0, random());
    uint32_t kind[kLanes];
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      kind[lane] = random() % 5;
      call.image[lane] = kinds[kind[lane]];
      for (auto& component : call.coordinate) component[lane] = random() % 3;
      if (kind[lane] == 0) call.coordinate[2][lane] = 0;  // the layer
    }
    call.activeLanes = static_cast<uint16_t>(random());
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      if ((call.activeLanes >> lane & 1) == 0) call.image[lane] = 1;  // must not be looked at
    }
    test::accessInTurn(&call);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      if ((call.activeLanes >> lane & 1) == 0) continue;
      const uint32_t x = call.coordinate[0][lane];
      const uint32_t y = call.coordinate[1][lane];
      const uint32_t z = call.coordinate[2][lane];
      if (kind[lane] == 0) expectNumbers(first.texel(0, x, y, 0), call, lane, first, "first");
      if (kind[lane] == 1) expectNumbers(second.texel(0, x, y, z), call, lane, second, "second");
      for (uint32_t c = 0; c < 4 && kind[lane] > 1; ++c) EXPECT_EQ(call.texel[c][lane], 0u);
    }
  }
}

TEST(ImageRead, TexelBuffers) {
  std::mt19937 random(6);
  for (const VkFormat format : test::plainFormats()) {
    const uint32_t count = 37;
    TestImage memory({ViewShape::k1D, format, count, 1});
    memory.fill(random());
    abi::TexelBufferDescriptor buffer{};
    buffer.address = reinterpret_cast<uint64_t>(memory.memory());
    buffer.elementCount = count;
    buffer.elementBytes = static_cast<uint16_t>(memory.bytes());
    buffer.viewClass = abi::makeViewClass(ViewShape::kBuffer, false, texelFormatIndex(format));
    ImageCall call = test::makeCall(ImageOp::kRead, abi::kImageUniformDescriptor | abi::kImageLod);
    call.image[0] = reinterpret_cast<uint64_t>(&buffer);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      call.coordinate[0][lane] = static_cast<uint32_t>(someCoordinate(random, count));
    }
    test::accessInTurn(&call);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const uint32_t x = call.coordinate[0][lane];
      expectNumbers(x < count ? memory.texel(0, x, 0, 0) : memory.outside(), call, lane, memory, memory.info().name);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ImageWrite, EveryFormatShapeAndOrder) {
  std::mt19937 random(21);
  for (const VkFormat format : test::plainFormats()) {
    const formats::FormatInfo& info = formats::formatInfo(format);
    if (info.sharedExponentBits != 0) continue;  // its rounding is the codec's test
    for (const Case& test : readCases(format)) {
      if (test.shape.quadMajor && info.blockBytes % 3 == 0) continue;
      TestImage image(test.shape);
      image.fill(random());
      ImageCall call = test::makeCall(
          ImageOp::kWrite, (test.flags & ~uint32_t{abi::kImageLod}) | abi::kImageUniformDescriptor, random());
      call.image[0] = image.address();
      call.activeLanes = static_cast<uint16_t>(random() | random());
      std::vector<std::byte> expected = image.contents();
      const formats::TexelType type = formats::texelType(info);
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const Target t = aim(call, lane, test, random, false);
        double numbers[4];
        for (uint32_t c = 0; c < 4; ++c) {
          if (type == formats::TexelType::kFloat) {
            const auto value = static_cast<float>(static_cast<int32_t>(random())) * 0x1p-30f;
            call.texel[c][lane] = std::bit_cast<uint32_t>(value);
            numbers[c] = static_cast<double>(value);
          } else {
            call.texel[c][lane] = random() >> random() % 32;
            numbers[c] = call.texel[c][lane];
            if (type == formats::TexelType::kSint) numbers[c] = static_cast<int32_t>(call.texel[c][lane]);
          }
        }
        if ((call.activeLanes >> lane & 1) == 0 || !isInside(image, t)) continue;
        std::byte* texel = expected.data() + image.offset(static_cast<uint32_t>(t.level), static_cast<uint32_t>(t.x),
                                                          static_cast<uint32_t>(t.y), static_cast<uint32_t>(t.slice),
                                                          static_cast<uint32_t>(t.sample));
        for (uint32_t i = 0; i < image.bytes(); ++i) texel[i] = std::byte{0};
        for (const auto& c : image.channels()) {
          if (c.letter == 'X') continue;
          uint64_t code;
          if (c.numeric == formats::reference::Numeric::kSfloat && c.bits == 32) {
            code = call.texel[TestImage::slot(c.letter)][lane];
          } else {
            code = formats::reference::encodeChannel(c, numbers[TestImage::slot(c.letter)]);
          }
          formats::reference::setBits(texel, c.offset, c.bits, code);
        }
      }
      test::accessInTurn(&call);
      ASSERT_TRUE(expected == image.contents()) << info.name << " shape " << static_cast<int>(test.shape.shape);
    }
  }
}

TEST(ImageWrite, NullDescriptorsAndBuffers) {
  TestImage memory({ViewShape::k1D, VK_FORMAT_R32_UINT, 10, 1});
  memory.fill(1);
  abi::TexelBufferDescriptor buffer{};
  buffer.address = reinterpret_cast<uint64_t>(memory.memory());
  buffer.elementCount = 10;
  buffer.elementBytes = 4;
  buffer.viewClass = abi::makeViewClass(ViewShape::kBuffer, false, texelFormatIndex(VK_FORMAT_R32_UINT));
  const abi::ImageDescriptor null{};
  ImageCall call = test::makeCall(ImageOp::kWrite, 0);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    call.image[lane] = lane % 2 == 0 ? reinterpret_cast<uint64_t>(&buffer)
                       : lane == 1   ? 0
                                     : reinterpret_cast<uint64_t>(&null);
    call.coordinate[0][lane] = lane;
    call.texel[0][lane] = 1000 + lane;
  }
  const std::vector<std::byte> before = memory.contents();
  test::accessInTurn(&call);
  for (uint32_t x = 0; x < 10; ++x) {
    uint32_t old;
    std::memcpy(&old, before.data() + 4 * x, 4);
    EXPECT_EQ(memory.texel(0, x, 0, 0).c[0], x % 2 == 0 ? 1000 + x : old);
  }
}

TEST(ImageRead, SixtyFourBits) {
  TestImage image({ViewShape::k2D, VK_FORMAT_R64_UINT, 5, 5, 1, 1, 0, true});
  ImageCall call = test::makeCall(ImageOp::kWrite, abi::kImageUniformDescriptor | abi::kImage64);
  call.image[0] = image.address();
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    call.coordinate[0][lane] = lane % 5;
    call.coordinate[1][lane] = lane / 5;
    call.coordinate[2][lane] = 0;
    call.texel[0][lane] = lane;
    call.texel[1][lane] = 0x80000000u + lane * 3;
  }
  test::accessInTurn(&call);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint64_t value;
    std::memcpy(&value, image.texelBytes(0, lane % 5, lane / 5, 0), 8);
    EXPECT_EQ(value, uint64_t{0x80000000u + lane * 3} << 32 | lane);
  }
  call.op = ImageOp::kRead;
  call.coordinate[0][3] = 5;                                   // outside
  for (const uint32_t flag : {0u, uint32_t{abi::kImage64}}) {  // a shader may read the low halves alone
    call.flags = abi::kImageUniformDescriptor | flag;
    for (auto& component : call.texel) std::fill(std::begin(component), std::end(component), 77u);
    test::accessInTurn(&call);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      EXPECT_EQ(call.texel[0][lane], lane == 3 ? 0 : lane);
      EXPECT_EQ(call.texel[1][lane], lane == 3 ? 0 : 0x80000000u + lane * 3);
      EXPECT_EQ(call.texel[3][lane], 1u);
    }
  }
  alignas(64) const abi::ImageDescriptor none{};
  call.image[0] = reinterpret_cast<uint64_t>(&none);
  test::accessInTurn(&call);
  for (const auto& component : call.texel)
    for (const uint32_t word : component) EXPECT_EQ(word, 0u);
}

template <typename T>
T atomicByTheBook(ImageOp op, T old, T value, T comparator) {
  using S = std::make_signed_t<T>;
  switch (op) {
    case ImageOp::kAtomicAdd:
      return static_cast<T>(old + value);
    case ImageOp::kAtomicUMin:
      return std::min(old, value);
    case ImageOp::kAtomicUMax:
      return std::max(old, value);
    case ImageOp::kAtomicSMin:
      return static_cast<T>(std::min(static_cast<S>(old), static_cast<S>(value)));
    case ImageOp::kAtomicSMax:
      return static_cast<T>(std::max(static_cast<S>(old), static_cast<S>(value)));
    case ImageOp::kAtomicAnd:
      return old & value;
    case ImageOp::kAtomicOr:
      return old | value;
    case ImageOp::kAtomicXor:
      return old ^ value;
    case ImageOp::kAtomicExchange:
      return value;
    case ImageOp::kAtomicCompareExchange:
      return old == comparator ? value : old;
    case ImageOp::kAtomicFMin:
    case ImageOp::kAtomicFMax: {
      const float there = std::bit_cast<float>(static_cast<uint32_t>(old));
      const float given = std::bit_cast<float>(static_cast<uint32_t>(value));
      if (std::isnan(there) || std::isnan(given)) return old;
      const float chosen = op == ImageOp::kAtomicFMin ? std::min(there, given) : std::max(there, given);
      return std::bit_cast<uint32_t>(chosen);
    }
    default:
      return std::bit_cast<uint32_t>(std::bit_cast<float>(static_cast<uint32_t>(old)) +
                                     std::bit_cast<float>(static_cast<uint32_t>(value)));
  }
}

TEST(ImageAtomic, EveryOperation) {
  std::mt19937 random(31);
  for (const bool wide : {false, true}) {
    for (const bool quadMajor : {false, true}) {
      for (int op = static_cast<int>(ImageOp::kAtomicAdd); op <= static_cast<int>(ImageOp::kAtomicFMax); ++op) {
        const auto imageOp = static_cast<ImageOp>(op);
        const bool isFloat = imageOp >= ImageOp::kAtomicFAdd;
        if (wide && isFloat) continue;
        const VkFormat format = wide ? VK_FORMAT_R64_UINT : isFloat ? VK_FORMAT_R32_SFLOAT : VK_FORMAT_R32_UINT;
        TestImage image({ViewShape::k2D, format, 3, 2, 2, 1, 0, quadMajor});
        image.fill(random());
        for (int round = 0; round < 20; ++round) {
          ImageCall call =
              test::makeCall(imageOp, abi::kImageUniformDescriptor | (wide ? abi::kImage64 : 0u), random());
          call.image[0] = image.address();
          call.activeLanes = static_cast<uint16_t>(random() | random());
          std::vector<std::byte> memory = image.contents();
          uint64_t expected[kLanes] = {};
          const size_t size = wide ? 8 : 4;
          for (uint32_t lane = 0; lane < kLanes; ++lane) {
            const int32_t x = someCoordinate(random, 3);
            const int32_t y = someCoordinate(random, 2);
            const int32_t layer = someCoordinate(random, 2);
            call.coordinate[0][lane] = static_cast<uint32_t>(x);
            call.coordinate[1][lane] = static_cast<uint32_t>(y);
            call.coordinate[2][lane] = static_cast<uint32_t>(layer);
            if (isFloat) call.texel[0][lane] = std::bit_cast<uint32_t>(static_cast<float>(random() % 1000));
            if (imageOp > ImageOp::kAtomicFAdd && random() % 8 == 0)
              call.texel[0][lane] = std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN());
            const bool active = (call.activeLanes >> lane & 1) != 0;
            if (!active || !image.inside(0, x, y, layer)) continue;
            std::byte* texel = memory.data() + image.offset(0, static_cast<uint32_t>(x), static_cast<uint32_t>(y),
                                                            static_cast<uint32_t>(layer));
            uint64_t old = 0;
            std::memcpy(&old, texel, size);
            if (round % 2 == 0) {  // the comparison succeeds
              call.texel[wide ? 2 : 1][lane] = static_cast<uint32_t>(old);
              call.texel[3][lane] = static_cast<uint32_t>(old >> 32);
            }
            const auto pair = [&](uint32_t c) { return uint64_t{call.texel[c + 1][lane]} << 32 | call.texel[c][lane]; };
            const uint64_t now = wide ? atomicByTheBook<uint64_t>(imageOp, old, pair(0), pair(2))
                                      : atomicByTheBook<uint32_t>(imageOp, static_cast<uint32_t>(old),
                                                                  call.texel[0][lane], call.texel[1][lane]);
            std::memcpy(texel, &now, size);
            expected[lane] = old;
          }
          test::accessInTurn(&call);
          ASSERT_TRUE(memory == image.contents()) << op;
          for (uint32_t lane = 0; lane < kLanes; ++lane) {
            if ((call.activeLanes >> lane & 1) == 0) continue;
            EXPECT_EQ(call.texel[0][lane], static_cast<uint32_t>(expected[lane])) << op;
            if (wide) {
              EXPECT_EQ(call.texel[1][lane], expected[lane] >> 32) << op;
            }
          }
        }
      }
    }
  }
}

TEST(ImageAtomic, ThreadsLoseNothing) {
  TestImage image({ViewShape::k2D, VK_FORMAT_R32_UINT, 4, 4, 1, 1, 0, true});
  TestImage floats({ViewShape::k2D, VK_FORMAT_R32_SFLOAT, 4, 4});
  constexpr uint32_t kThreads = 4;
  constexpr uint32_t kRounds = 500;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (uint32_t round = 0; round < kRounds; ++round) {
        for (const bool isFloat : {false, true}) {
          ImageCall call =
              test::makeCall(isFloat ? ImageOp::kAtomicFAdd : ImageOp::kAtomicAdd, abi::kImageUniformDescriptor);
          call.image[0] = isFloat ? floats.address() : image.address();
          for (uint32_t lane = 0; lane < kLanes; ++lane) {
            call.coordinate[0][lane] = lane % 4;
            call.coordinate[1][lane] = round % 4;
            call.coordinate[2][lane] = 0;
            call.texel[0][lane] = isFloat ? std::bit_cast<uint32_t>(1.0f) : 1;
          }
          accessImage(&call);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t y = 0; y < 4; ++y) {
    for (uint32_t x = 0; x < 4; ++x) {
      EXPECT_EQ(image.texel(0, x, y, 0).c[0], kThreads * kRounds);
      EXPECT_EQ(floats.texel(0, x, y, 0).c[0], kThreads * kRounds);
    }
  }
}

}  // namespace
}  // namespace pumice::texture
