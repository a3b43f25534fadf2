// Sampling with Y'CbCr conversions against the specification's formulas in double precision ("Chroma Reconstruction",
// "Sampler Y'CbCr Conversion"), which are written here by texel, by parity and by position.
#include "backend/texture/ycbcr.h"

#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <array>
#include <cmath>
#include <optional>

#include "backend/texture/test_image.h"

namespace pumice::texture {
namespace {

using test::ImageShape;
using test::TestImage;

constexpr uint32_t kLanes = abi::kImageCallLanes;

enum class Layout { kThreePlanes, kTwoPlanes, kGbgr, kBgrg, kPlain };

using abi::packSwizzle;

/// Formats of one to four components of so many bits.
VkFormat componentFormat(uint32_t bits, uint32_t components) {
  switch (bits) {
    case 8:
      return components == 1 ? VK_FORMAT_R8_UNORM : components == 2 ? VK_FORMAT_R8G8_UNORM : VK_FORMAT_R8G8B8A8_UNORM;
    case 10:
      return components == 1   ? VK_FORMAT_R10X6_UNORM_PACK16
             : components == 2 ? VK_FORMAT_R10X6G10X6_UNORM_2PACK16
                               : VK_FORMAT_R10X6G10X6B10X6A10X6_UNORM_4PACK16;
    case 12:
      return components == 1   ? VK_FORMAT_R12X4_UNORM_PACK16
             : components == 2 ? VK_FORMAT_R12X4G12X4_UNORM_2PACK16
                               : VK_FORMAT_R12X4G12X4B12X4A12X4_UNORM_4PACK16;
    default:
      return components == 1   ? VK_FORMAT_R16_UNORM
             : components == 2 ? VK_FORMAT_R16G16_UNORM
                               : VK_FORMAT_R16G16B16A16_UNORM;
  }
}

struct Setting {
  Layout layout;
  uint32_t bits;
  bool subsampled[2];
  uint32_t width, height, layers;
};

/// An image, its descriptors, and its samples as numbers.
class Picture {
 public:
  explicit Picture(const Setting& s, uint32_t seed) : s_(s) {
    const bool single = s.layout == Layout::kGbgr || s.layout == Layout::kBgrg;
    const uint32_t lumaComponents = s.layout == Layout::kPlain ? 4 : 1;
    ImageShape shape;
    shape.width = s.width;
    shape.height = s.height;
    shape.depthOrLayers = s.layers;
    if (!single) {
      shape.format = componentFormat(s.bits, lumaComponents);
      luma_.emplace(shape);
      luma_->fill(seed);
      view_ = luma_->descriptor();
    }
    if (s.layout == Layout::kPlain) return;
    shape.width /= s.subsampled[0] ? 2 : 1;
    shape.height /= s.subsampled[1] ? 2 : 1;
    shape.format = componentFormat(s.bits, single ? 4 : s.layout == Layout::kTwoPlanes ? 2 : 1);
    chroma_[0].emplace(shape);
    chroma_[0]->fill(seed + 1);
    planes_.plane[0] = chroma_[0]->descriptor();
    if (s.layout == Layout::kThreePlanes) {
      chroma_[1].emplace(shape);
      chroma_[1]->fill(seed + 2);
      planes_.plane[1] = chroma_[1]->descriptor();
    }
    if (single) {
      using enum abi::Swizzle;
      const bool greenFirst = s.layout == Layout::kGbgr;
      view_ = planes_.plane[0];
      view_.width = s.width;
      view_.viewClass = abi::makeViewClass(abi::ViewShape::k2D, false, texelFormatIndex(componentFormat(s.bits, 2)));
      view_.swizzle = packSwizzle(greenFirst ? kRed : kGreen, kZero, kZero, kOne);
      planes_.plane[0].swizzle =
          greenFirst ? packSwizzle(kGreen, kAlpha, kZero, kOne) : packSwizzle(kRed, kBlue, kZero, kOne);
    }
    view_.chroma = reinterpret_cast<uint64_t>(&planes_);
  }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  const abi::ImageDescriptor* view() const { return &view_; }

  double luma(int i, int j, uint32_t layer) const {
    const auto x = static_cast<uint32_t>(std::clamp(i, 0, static_cast<int>(s_.width) - 1));
    const auto y = static_cast<uint32_t>(std::clamp(j, 0, static_cast<int>(s_.height) - 1));
    if (s_.layout == Layout::kGbgr) return chroma_[0]->texel(0, x / 2, y, layer).c[x % 2 * 2];
    if (s_.layout == Layout::kBgrg) return chroma_[0]->texel(0, x / 2, y, layer).c[x % 2 * 2 + 1];
    return luma_->texel(0, x, y, layer).c[s_.layout == Layout::kPlain ? 1 : 0];
  }
  /// Of the image alone: 1 where it has no alpha.
  double alpha(int i, int j, uint32_t layer) const {
    if (s_.layout != Layout::kPlain) return 1;
    const auto x = static_cast<uint32_t>(std::clamp(i, 0, static_cast<int>(s_.width) - 1));
    const auto y = static_cast<uint32_t>(std::clamp(j, 0, static_cast<int>(s_.height) - 1));
    return luma_->texel(0, x, y, layer).c[3];
  }
  /// C_B (0) or C_R (1) at a texel of chroma.
  double chroma(int which, int i, int j, uint32_t layer) const {
    const int columns = static_cast<int>(s_.width) / (s_.subsampled[0] ? 2 : 1);
    const int rows = static_cast<int>(s_.height) / (s_.subsampled[1] ? 2 : 1);
    const auto x = static_cast<uint32_t>(std::clamp(i, 0, columns - 1));
    const auto y = static_cast<uint32_t>(std::clamp(j, 0, rows - 1));
    switch (s_.layout) {
      case Layout::kThreePlanes:
        return chroma_[which]->texel(0, x, y, layer).c[0];
      case Layout::kTwoPlanes:
        return chroma_[0]->texel(0, x, y, layer).c[which];
      case Layout::kGbgr:
        return chroma_[0]->texel(0, x, y, layer).c[which == 0 ? 1 : 3];
      case Layout::kBgrg:
        return chroma_[0]->texel(0, x, y, layer).c[which == 0 ? 0 : 2];
      default:
        return luma_->texel(0, x, y, layer).c[which == 0 ? 2 : 0];
    }
  }

 private:
  const Setting s_;
  std::optional<TestImage> luma_, chroma_[2];
  abi::ImageDescriptor view_{};
  abi::ChromaPlanes planes_{};
};

// -- the reference

template <typename At>
double nearest(double u, double v, At at) {
  return at(static_cast<int>(std::floor(u)), static_cast<int>(std::floor(v)));
}
template <typename At>
double linear(double u, double v, At at) {
  const int i = static_cast<int>(std::floor(u - 0.5)), j = static_cast<int>(std::floor(v - 0.5));
  const double a = u - 0.5 - i, b = v - 0.5 - j;
  return (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) +
         a * b * at(i + 1, j + 1);
}
template <typename At>
double filtered(bool isLinear, double u, double v, At at) {
  return isLinear ? linear(u, v, at) : nearest(u, v, at);
}

struct Taps {
  int index[2];
  double weight[2];
};
/// Which chroma samples make up the one at luma texel i, along one axis.
Taps tapsOf(int i, bool subsampled, bool isLinear, bool cosited) {
  const int half = static_cast<int>(std::floor(i * 0.5));
  const bool even = i % 2 == 0;
  if (!subsampled) return {{i, i}, {1, 0}};
  if (!isLinear) return {{half, half}, {1, 0}};
  if (cosited) return even ? Taps{{half, half}, {1, 0}} : Taps{{half, half + 1}, {0.5, 0.5}};
  return even ? Taps{{half - 1, half}, {0.25, 0.75}} : Taps{{half, half + 1}, {0.75, 0.25}};
}

struct Rgba {
  double c[4];
};

Rgba convertModel(const abi::ChromaConversion& conversion, const Rgba& in) {
  Rgba t;
  for (uint32_t c = 0; c < 4; ++c) {
    const uint32_t source = conversion.swizzle >> (3 * c) & 7;
    t.c[c] = source < 4 ? in.c[source] : source == 4 ? 0 : 1;
  }
  if (conversion.model == VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY) return t;
  const double n = conversion.bits;
  const double most = std::pow(2, n) - 1, step = std::pow(2, n - 8);
  double y = t.c[1], cb = t.c[2], cr = t.c[0];
  if (conversion.narrow) {
    y = (y * most - 16 * step) / (219 * step);
    cb = (cb * most - 128 * step) / (224 * step);
    cr = (cr * most - 128 * step) / (224 * step);
  } else {
    cb -= std::pow(2, n - 1) / most;
    cr -= std::pow(2, n - 1) / most;
  }
  switch (conversion.model) {
    case VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_709:
      return {{y + 1.5748 * cr, y - 0.13397432 / 0.7152 * cb - 0.33480248 / 0.7152 * cr, y + 1.8556 * cb, t.c[3]}};
    case VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_601:
      return {{y + 1.402 * cr, y - 0.202008 / 0.587 * cb - 0.419198 / 0.587 * cr, y + 1.772 * cb, t.c[3]}};
    case VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_2020:
      return {{y + 1.4746 * cr, y - 0.11156702 / 0.6780 * cb - 0.38737742 / 0.6780 * cr, y + 1.8814 * cb, t.c[3]}};
    default:
      return {{cr, y, cb, t.c[3]}};
  }
}

/// u, v: in luma's texels.
Rgba reference(const Picture& picture, const abi::ChromaConversion& conversion, bool linearFilter, double u, double v,
               uint32_t layer) {
  const auto luma = [&](int i, int j) { return picture.luma(i, j, layer); };
  const auto alpha = [&](int i, int j) { return picture.alpha(i, j, layer); };
  Rgba color{{0, filtered(linearFilter, u, v, luma), 0, filtered(linearFilter, u, v, alpha)}};
  for (int which = 0; which < 2; ++which) {
    const auto sample = [&](int i, int j) { return picture.chroma(which, i, j, layer); };
    double& out = color.c[which == 0 ? 2 : 0];
    if (conversion.explicitly) {
      out = filtered(linearFilter, u, v, [&](int i, int j) {
        // Wrapping comes first: what is reconstructed are texels of the image.
        const Taps x = tapsOf(std::clamp(i, 0, static_cast<int>(picture.view()->width) - 1), conversion.subsampled[0],
                              conversion.linear, conversion.cosited[0]);
        const Taps y = tapsOf(std::clamp(j, 0, static_cast<int>(picture.view()->height) - 1), conversion.subsampled[1],
                              conversion.linear, conversion.cosited[1]);
        double sum = 0;
        for (int k = 0; k < 4; ++k) sum += x.weight[k & 1] * y.weight[k >> 1] * sample(x.index[k & 1], y.index[k >> 1]);
        return sum;
      });
    } else {
      // The nearest filter may, and does, behave as if samples lay at midpoints.
      const auto position = [&](double at, int axis) {
        if (!conversion.subsampled[axis]) return at;
        return conversion.linear && conversion.cosited[axis] ? 0.5 * (at + 0.5) : 0.5 * at;
      };
      out = filtered(conversion.linear, position(u, 0), position(v, 1), sample);
    }
  }
  return convertModel(conversion, color);
}

// -- the trials

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(engine_() % n); }
  bool coin() { return below(2) == 0; }

 private:
  std::mt19937 engine_;
};

/// exact: sizes are powers of two, so that positions are exact in floats and may lie on the edges of texels; else edges
/// of luma's and of chroma's texels are a 64th of a texel away at least.
void tryOne(Layout layout, uint32_t bits, bool subsampleX, bool subsampleY, bool exact, uint32_t seed) {
  Random random(seed);
  Setting setting{layout, bits, {subsampleX, subsampleY}, 0, 0, random.coin() ? 1u : 3u};
  setting.width = exact ? 2u << random.below(5) : 2 + 2 * random.below(20);
  setting.height = exact ? 2u << random.below(5) : 2 + 2 * random.below(20);
  const Picture picture(setting, seed);

  abi::ChromaConversion conversion{};
  conversion.model = random.below(5);
  conversion.narrow = random.coin();
  conversion.cosited[0] = random.coin();
  conversion.cosited[1] = random.coin();
  conversion.linear = random.coin();
  conversion.explicitly = random.coin();
  conversion.subsampled[0] = subsampleX;
  conversion.subsampled[1] = subsampleY;
  conversion.bits = bits;
  using enum abi::Swizzle;
  constexpr uint16_t kSwizzles[] = {abi::kIdentitySwizzle, packSwizzle(kBlue, kGreen, kRed, kAlpha),
                                    packSwizzle(kRed, kGreen, kBlue, kZero)};
  conversion.swizzle = kSwizzles[random.below(3)];
  const uint32_t magFilter = random.below(2), minFilter = random.below(2);
  abi::SamplerDescriptor sampler{};
  sampler.samplerClass =
      static_cast<uint16_t>(abi::makeSamplerClass(magFilter, minFilter, 0, 2, 2, 2) | abi::kSamplerClassConverts);
  sampler.maxLod = 10;
  sampler.minLod = -10;
  sampler.conversion = abi::packConversion(conversion);

  abi::ImageCall call = test::makeCall(abi::ImageOp::kSample, abi::kImageUniformDescriptor | abi::kImageLod, seed);
  call.image[0] = reinterpret_cast<uint64_t>(picture.view());
  call.sampler[0] = reinterpret_cast<uint64_t>(&sampler);
  call.activeLanes = static_cast<uint16_t>(random.coin() ? 0xFFFF : random.below(0x10000));
  double u[kLanes], v[kLanes];
  bool magnified[kLanes];
  uint32_t layer[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    const auto place = [&](uint32_t size) {
      const int whole = static_cast<int>(random.below(size + 4)) - 2;
      return whole + (exact ? random.below(32) / 32.0 : (2 * random.below(16) + 1) / 32.0);
    };
    u[l] = place(setting.width);
    v[l] = place(setting.height);
    layer[l] = random.below(setting.layers);
    magnified[l] = random.coin();
    const float where[4] = {static_cast<float>(u[l] / setting.width), static_cast<float>(v[l] / setting.height),
                            static_cast<float>(layer[l]), 0};
    for (uint32_t c = 0; c < 4; ++c) call.coordinate[c][l] = std::bit_cast<uint32_t>(where[c]);
    call.lod[l] = std::bit_cast<uint32_t>(magnified[l] ? -1.0f : 1.0f);
  }
  const abi::ImageCall before = call;
  test::accessInTurn(&call);
  // Sums of a few floats, times the largest factors of a conversion, or a position's last bits.
  const double tolerance = exact ? 4e-6 : 1e-4;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const bool active = (call.activeLanes >> l & 1) != 0;
    const bool isLinear = (magnified[l] ? magFilter : minFilter) == 1;
    const Rgba expected = reference(picture, conversion, isLinear, u[l], v[l], layer[l]);
    for (uint32_t c = 0; c < 4; ++c) {
      if (!active) {
        ASSERT_EQ(call.texel[c][l], before.texel[c][l]);
        continue;
      }
      const auto got = static_cast<double>(std::bit_cast<float>(call.texel[c][l]));
      ASSERT_NEAR(got, expected.c[c], tolerance)
          << "component " << c << " at " << u[l] << ", " << v[l] << " of " << setting.width << " x " << setting.height
          << ", layout " << static_cast<int>(layout) << ", bits " << bits << ", model " << conversion.model
          << (conversion.narrow ? ", narrow" : ", full") << (conversion.cosited[0] ? ", cosited x" : "")
          << (conversion.cosited[1] ? ", cosited y" : "") << (conversion.linear ? ", linear" : ", nearest")
          << (conversion.explicitly ? ", explicit" : ", implicit") << ", filter " << (isLinear ? "linear" : "nearest")
          << ", seed " << seed;
    }
  }
}

TEST(Ycbcr, AgreesWithTheFormulas) {
  uint32_t seed = 1;
  for (const Layout layout : {Layout::kThreePlanes, Layout::kTwoPlanes, Layout::kGbgr, Layout::kBgrg, Layout::kPlain}) {
    for (const uint32_t bits : {8u, 10u, 12u, 16u}) {
      for (const uint32_t chroma : {420u, 422u, 444u}) {
        const bool single = layout == Layout::kGbgr || layout == Layout::kBgrg;
        if (single && chroma != 422) continue;
        if (layout == Layout::kPlain && chroma != 444) continue;
        for (int round = 0; round < 120; ++round) {
          tryOne(layout, bits, chroma != 444, chroma == 420, round % 2 == 0, seed++);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// NaN and infinities end at some texel, of every plane.
TEST(Ycbcr, AnyCoordinateIsSafe) {
  const Picture picture({Layout::kThreePlanes, 8, {true, true}, 6, 4, 1}, 5);
  for (const bool explicitly : {false, true}) {
    abi::ChromaConversion conversion{};
    conversion.linear = true;
    conversion.explicitly = explicitly;
    conversion.subsampled[0] = conversion.subsampled[1] = true;
    conversion.bits = 8;
    conversion.swizzle = abi::kIdentitySwizzle;
    abi::SamplerDescriptor sampler{};
    sampler.samplerClass = static_cast<uint16_t>(abi::makeSamplerClass(1, 1, 0, 2, 2, 2) | abi::kSamplerClassConverts);
    sampler.conversion = abi::packConversion(conversion);
    abi::ImageCall call = test::makeCall(abi::ImageOp::kSample, abi::kImageUniformDescriptor, 3);  // rubbish
    call.image[0] = reinterpret_cast<uint64_t>(picture.view());
    call.sampler[0] = reinterpret_cast<uint64_t>(&sampler);
    const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-40f};
    for (uint32_t l = 0; l < std::size(odd); ++l) call.coordinate[l % 2][l] = std::bit_cast<uint32_t>(odd[l]);
    test::accessInTurn(&call);
    for (const auto& component : call.texel) {
      for (const uint32_t bits : component) {
        EXPECT_GE(std::bit_cast<float>(bits), 0.0f);
        EXPECT_LE(std::bit_cast<float>(bits), 1.0f);
      }
    }
  }
}

}  // namespace
}  // namespace pumice::texture
