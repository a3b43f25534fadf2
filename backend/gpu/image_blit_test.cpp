// Blits and resolves against the specification's formulas in double precision.
#include "backend/gpu/image_blit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/gpu/image_test_support.h"

namespace pumice::gpu::test {
namespace {

constexpr VkImageUsageFlags kLinear = VK_IMAGE_USAGE_SAMPLED_BIT;
constexpr VkImageUsageFlags kQuads = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;

// What the tests know of a format: how its texels become four numbers.
struct Known {
  VkFormat format;
  uint8_t bytes;
  double step;  // between neighbouring codes around 1; 0: floats
  void (*decode)(const std::byte* texel, double (&out)[4]);
};

template <typename T>
T load(const std::byte* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

constexpr Known kRgba8{VK_FORMAT_R8G8B8A8_UNORM, 4, 1.0 / 255, [](const std::byte* t, double (&out)[4]) {
                         for (int c = 0; c < 4; ++c) out[c] = load<uint8_t>(t + c) / 255.0;
                       }};
constexpr Known kR16{VK_FORMAT_R16_UNORM, 2, 1.0 / 65535, [](const std::byte* t, double (&out)[4]) {
                       out[0] = load<uint16_t>(t) / 65535.0;
                       out[1] = out[2] = 0;
                       out[3] = 1;
                     }};
constexpr Known kRgba32{VK_FORMAT_R32G32B32A32_SFLOAT, 16, 0, [](const std::byte* t, double (&out)[4]) {
                          for (int c = 0; c < 4; ++c) out[c] = load<float>(t + 4 * c);
                        }};
constexpr Known kAll[] = {kRgba8, kR16, kRgba32};

// The components that a format of fewer has.
uint32_t componentsOf(const Known& k) {
  return k.format == VK_FORMAT_R16_UNORM ? 1 : 4;
}

class ImageBlit : public testing::Test {
 protected:
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  uint32_t upTo(uint32_t most) { return 1 + below(most); }

  TestImage makeImage(const Known& known, bool volume, uint32_t edge, uint32_t samples = 1) {
    formats::ImageShape shape;
    shape.type = volume ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
    shape.width = upTo(edge);
    shape.height = upTo(edge);
    shape.depth = volume ? upTo(6) : 1;
    shape.elementBytes = known.bytes;
    shape.sampleCount = samples;
    shape.usage = below(2) == 0 ? kLinear : kQuads;
    TestImage image(shape, random_);
    if (known.format == VK_FORMAT_R32G32B32A32_SFLOAT) {
      for (uint32_t z = 0; z < shape.depth; ++z)
        for (uint32_t s = 0; s < samples; ++s)
          for (uint32_t y = 0; y < shape.height; ++y)
            for (uint32_t x = 0; x < shape.width; ++x) {
              const float texel[4] = {static_cast<float>(x), static_cast<float>(below(1000)) / 999,
                                      static_cast<float>(z + s), -1};
              std::memcpy(image.at(0, z, s, x, y), texel, 16);
            }
    }
    return image;
  }

  static void texel(TestImage& image, const Known& known, int64_t x, int64_t y, int64_t z, double (&out)[4]) {
    const auto in = [](int64_t v, uint32_t size) {
      return static_cast<uint32_t>(std::min<int64_t>(std::max<int64_t>(v, 0), size - 1));
    };
    const formats::ImageShape& s = image.shape();
    known.decode(image.at(0, in(z, s.depth), 0, in(x, s.width), in(y, s.height)), out);
  }

  // Two corners inside [0, size], in either order.
  void corners(uint32_t size, int32_t* a, int32_t* b) {
    do {
      *a = static_cast<int32_t>(below(size + 1));
      *b = static_cast<int32_t>(below(size + 1));
    } while (*a == *b);
  }

  abi::BlitImagePacket randomBlit(TestImage& src, const Known& from, TestImage& dst, const Known& to, VkFilter filter) {
    abi::BlitImagePacket p{};
    p.src = src.surface(0, 0);
    p.dst = dst.surface(0, 0);
    const auto sizes = [](const TestImage& i) {
      return std::array<uint32_t, 3>{i.shape().width, i.shape().height, i.shape().depth};
    };
    for (size_t axis = 0; axis < 3; ++axis) {
      corners(sizes(src)[axis], &p.srcCorner[0][axis], &p.srcCorner[1][axis]);
      corners(sizes(dst)[axis], &p.dstCorner[0][axis], &p.dstCorner[1][axis]);
      p.srcExtent[axis] = sizes(src)[axis];
    }
    p.srcFormat = static_cast<uint32_t>(from.format);
    p.dstFormat = static_cast<uint32_t>(to.format);
    p.filter = filter;
    return p;
  }

  // Vulkan 1.3, 20.5, as rational numbers: numerator over 2 (d1 - d0).
  static int64_t floorDivide(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
  }
  static int64_t nearest(const abi::BlitImagePacket& p, int axis, int64_t dst) {
    const int64_t d0 = p.dstCorner[0][axis], d1 = p.dstCorner[1][axis], s0 = p.srcCorner[0][axis],
                  s1 = p.srcCorner[1][axis];
    return floorDivide((2 * (dst - d0) + 1) * (s1 - s0), 2 * (d1 - d0)) + s0;
  }
  static double position(const abi::BlitImagePacket& p, int axis, int64_t dst) {
    const double d0 = p.dstCorner[0][axis], d1 = p.dstCorner[1][axis], s0 = p.srcCorner[0][axis],
                 s1 = p.srcCorner[1][axis];
    return (static_cast<double>(dst) + 0.5 - d0) * ((s1 - s0) / (d1 - d0)) + s0;
  }

  void reference(TestImage& src, const Known& from, const abi::BlitImagePacket& p, int64_t x, int64_t y, int64_t z,
                 double (&out)[4]) {
    if (p.filter == VK_FILTER_NEAREST)
      return texel(src, from, nearest(p, 0, x), nearest(p, 1, y), nearest(p, 2, z), out);
    const double u[3] = {position(p, 0, x) - 0.5, position(p, 1, y) - 0.5, position(p, 2, z) - 0.5};
    std::fill_n(out, 4, 0.0);
    if (p.filter == VK_FILTER_CUBIC_EXT) {
      // (1, a, a^2, a^3) times the specification's matrix, halved, for each of the two axes.
      static constexpr double kMatrix[4][4] = {{0, 2, 0, 0}, {-1, 0, 1, 0}, {2, -5, 4, -1}, {-1, 3, -3, 1}};
      double weight[2][4] = {};
      for (int axis = 0; axis < 2; ++axis) {
        const double a = u[axis] - std::floor(u[axis]);
        for (int power = 0; power < 4; ++power)
          for (int k = 0; k < 4; ++k) weight[axis][k] += 0.5 * std::pow(a, power) * kMatrix[power][k];
      }
      for (int k = 0; k < 16; ++k) {
        double t[4];
        texel(src, from, static_cast<int64_t>(std::floor(u[0])) + k % 4 - 1,
              static_cast<int64_t>(std::floor(u[1])) + k / 4 - 1, nearest(p, 2, z), t);
        for (int c = 0; c < 4; ++c) out[c] += weight[0][k % 4] * weight[1][k / 4] * t[c];
      }
      return;
    }
    for (int corner = 0; corner < 8; ++corner) {
      double weight = 1;
      int64_t at[3];
      for (int axis = 0; axis < 3; ++axis) {
        const double fraction = u[axis] - std::floor(u[axis]);
        const bool high = (corner >> axis & 1) != 0;
        weight *= high ? fraction : 1 - fraction;
        at[axis] = static_cast<int64_t>(std::floor(u[axis])) + high;
      }
      double t[4];
      texel(src, from, at[0], at[1], at[2], t);
      for (int c = 0; c < 4; ++c) out[c] += weight * t[c];
    }
  }

  void check(VkFilter filter) {
    for (int i = 0; i < 400; ++i) {
      const Known &from = kAll[below(3)], &to = kAll[below(3)];
      const bool volume = filter != VK_FILTER_CUBIC_EXT && below(3) == 0;
      TestImage src = makeImage(from, volume, volume ? 9 : 60), dst = makeImage(to, volume, below(4) == 0 ? 200 : 30);
      const abi::BlitImagePacket p = randomBlit(src, from, dst, to, filter);
      const std::vector<std::byte> before = dst.content();
      const uint64_t units = blitBands(p).unitCount();
      for (uint64_t u = units; u-- > 0;) blitImage(p, u, u + 1);
      const formats::ImageShape& s = dst.shape();
      for (uint32_t z = 0; z < s.depth; ++z)
        for (uint32_t y = 0; y < s.height; ++y)
          for (uint32_t x = 0; x < s.width; ++x) {
            const int64_t at[3] = {x, y, z};
            bool inside = true;
            for (int axis = 0; axis < 3; ++axis) {
              const auto [a, b] = std::minmax(p.dstCorner[0][axis], p.dstCorner[1][axis]);
              inside = inside && at[axis] >= a && at[axis] < b;
            }
            if (!inside) {
              ASSERT_EQ(std::memcmp(dst.at(0, z, 0, x, y), before.data() + dst.offset(0, z, 0, x, y), to.bytes), 0);
              continue;
            }
            double expected[4], actual[4];
            reference(src, from, p, x, y, z, expected);
            to.decode(dst.at(0, z, 0, x, y), actual);
            for (uint32_t c = 0; c < componentsOf(to); ++c) {
              const double clamped = to.step != 0 ? std::min(std::max(expected[c], 0.0), 1.0) : expected[c];
              const double allowed = to.step * 0.5 + 1e-6 * std::max(1.0, std::fabs(expected[c]));
              ASSERT_NEAR(actual[c], clamped, allowed) << "blit " << i << " at " << x << ", " << y << ", " << z;
            }
          }
    }
  }

  std::mt19937 random_{11};
};

TEST_F(ImageBlit, NearestTakesTheTexelOfTheFormula) {
  check(VK_FILTER_NEAREST);
}

TEST_F(ImageBlit, LinearIsTheWeightedSum) {
  check(VK_FILTER_LINEAR);
}

TEST_F(ImageBlit, CubicIsTheSpecificationsMatrix) {
  check(VK_FILTER_CUBIC_EXT);
}

// sRGB is filtered as light: black and white in the middle are 0.5, which is code 188.
TEST_F(ImageBlit, SrgbIsFilteredInLinearLight) {
  formats::ImageShape shape;
  shape.width = 2;
  TestImage src(shape, random_);
  shape.width = 1;
  TestImage dst(shape, random_);
  const uint32_t texels[2] = {0x00000000, 0xffffffff};
  std::memcpy(src.at(0, 0, 0, 0, 0), texels, 8);
  abi::BlitImagePacket p{};
  p.src = src.surface(0, 0);
  p.dst = dst.surface(0, 0);
  p.srcCorner[1][0] = 2;
  p.srcCorner[1][1] = p.srcCorner[1][2] = p.dstCorner[1][0] = p.dstCorner[1][1] = p.dstCorner[1][2] = 1;
  p.srcExtent[0] = 2;
  p.srcExtent[1] = p.srcExtent[2] = 1;
  p.srcFormat = p.dstFormat = VK_FORMAT_R8G8B8A8_SRGB;
  p.filter = VK_FILTER_LINEAR;
  blitImage(p, 0, blitBands(p).unitCount());
  EXPECT_EQ(load<uint32_t>(dst.at(0, 0, 0, 0, 0)), 0x80bcbcbcu);
}

// Integers are clamped to what the destination can hold.
TEST_F(ImageBlit, IntegersOfOtherWidths) {
  formats::ImageShape shape;
  shape.width = 4;
  TestImage src(shape, random_);
  shape.elementBytes = 1;
  TestImage dst(shape, random_);
  const int32_t texels[4] = {5, -7, 1000, -1000};
  std::memcpy(src.at(0, 0, 0, 0, 0), texels, 16);
  abi::BlitImagePacket p{};
  p.src = src.surface(0, 0);
  p.dst = dst.surface(0, 0);
  p.srcCorner[1][0] = p.dstCorner[0][0] = 4;  // mirrored
  p.srcCorner[1][1] = p.srcCorner[1][2] = p.dstCorner[1][1] = p.dstCorner[1][2] = 1;
  p.srcExtent[0] = 4;
  p.srcExtent[1] = p.srcExtent[2] = 1;
  p.srcFormat = VK_FORMAT_R32_SINT;
  p.dstFormat = VK_FORMAT_R8_SINT;
  blitImage(p, 0, blitBands(p).unitCount());
  const int8_t expected[4] = {-128, 127, -7, 5};
  EXPECT_EQ(std::memcmp(dst.at(0, 0, 0, 0, 0), expected, 4), 0);
}

TEST_F(ImageBlit, ResolvesAverageTheSamples) {
  for (int i = 0; i < 60; ++i) {
    const Known& known = kAll[below(3)];
    const uint32_t samples = 2u << below(3);
    TestImage src = makeImage(known, false, 90, samples), dst = makeImage(known, false, 90);
    abi::ResolveImagePacket p{};
    p.src = src.surface(0, 0);
    p.dst = dst.surface(0, 0);
    p.width = upTo(std::min(src.shape().width, dst.shape().width));
    p.height = upTo(std::min(src.shape().height, dst.shape().height));
    p.srcOrigin = {below(src.shape().width - p.width + 1), below(src.shape().height - p.height + 1)};
    p.dstOrigin = {below(dst.shape().width - p.width + 1), below(dst.shape().height - p.height + 1)};
    p.sliceCount = 1;
    p.format = static_cast<uint32_t>(known.format);
    const std::vector<std::byte> before = dst.content();
    const uint64_t units = resolveBands(p).unitCount();
    for (uint64_t u = 0; u < units; ++u) resolveImage(p, u, u + 1);
    for (uint32_t y = 0; y < dst.shape().height; ++y)
      for (uint32_t x = 0; x < dst.shape().width; ++x) {
        const uint32_t rx = x - p.dstOrigin.x, ry = y - p.dstOrigin.y;  // wraps outside
        if (rx >= p.width || ry >= p.height) {
          ASSERT_EQ(std::memcmp(dst.at(0, 0, 0, x, y), before.data() + dst.offset(0, 0, 0, x, y), known.bytes), 0);
          continue;
        }
        double sum[4] = {}, t[4], actual[4];
        for (uint32_t s = 0; s < samples; ++s) {
          known.decode(src.at(0, 0, s, p.srcOrigin.x + rx, p.srcOrigin.y + ry), t);
          for (int c = 0; c < 4; ++c) sum[c] += t[c] / samples;
        }
        known.decode(dst.at(0, 0, 0, x, y), actual);
        for (uint32_t c = 0; c < componentsOf(known); ++c)
          ASSERT_NEAR(actual[c], sum[c], known.step * 0.5 + 1e-6 * std::max(1.0, std::fabs(sum[c])));
      }
  }
}

TEST_F(ImageBlit, IntegersResolveToTheirFirstSample) {
  formats::ImageShape shape;
  shape.width = 70;
  shape.height = 3;
  shape.usage = kQuads;
  shape.sampleCount = 4;
  TestImage src(shape, random_);
  shape.sampleCount = 1;
  TestImage dst(shape, random_);
  abi::ResolveImagePacket p{};
  p.src = src.surface(0, 0);
  p.dst = dst.surface(0, 0);
  p.width = 70;
  p.height = 3;
  p.sliceCount = 1;
  p.format = VK_FORMAT_R32_UINT;
  resolveImage(p, 0, resolveBands(p).unitCount());
  for (uint32_t y = 0; y < 3; ++y)
    for (uint32_t x = 0; x < 70; ++x)
      ASSERT_EQ(load<uint32_t>(dst.at(0, 0, 0, x, y)), load<uint32_t>(src.at(0, 0, 0, x, y)));
}

}  // namespace
}  // namespace pumice::gpu::test
