// Sampling against the reference in double precision.
//
// Tolerances. Positions may be off by kTexelError of a texel and levels by kLevelError; the specification asks for
// subTexelPrecisionBits and mipmapPrecisionBits, of which 8 are reported, so for 2^-8 and 2^-8. Sums of texels may be
// off by kSumError times the largest texel, a few units in the last place of a float. Where coordinates are exact in a
// float ("exact" below), positions may not be off at all: texel edges are hit on the right side.
#include <gtest/gtest.h>

#include "backend/texture/access.h"
#include "backend/texture/sample_reference.h"
#include "backend/texture/texture.h"

namespace pumice::texture {
namespace {

using abi::ImageCall;
using abi::ImageOp;
using abi::ViewShape;
using test::ImageShape;
using test::Move;
using test::Query;
using test::Rgba;
using test::SampleReference;
using test::SamplerState;
using test::TestImage;

constexpr uint32_t kLanes = abi::kImageCallLanes;
constexpr double kTexelError = 1.0 / 4096;
constexpr double kLevelError = 1.0 / 4096;
constexpr double kRatioError = 1e-4;
constexpr double kSumError = 4e-6;

double numberOf(uint32_t bits, formats::TexelType type) {
  if (type == formats::TexelType::kUint) return bits;
  if (type == formats::TexelType::kSint) return static_cast<int32_t>(bits);
  return static_cast<double>(std::bit_cast<float>(bits));
}

void setLane(ImageCall& call, uint32_t lane, const Query& q) {
  for (uint32_t c = 0; c < 4; ++c) call.coordinate[c][lane] = std::bit_cast<uint32_t>(q.coordinate[c]);
  if (q.lod) call.lod[lane] = std::bit_cast<uint32_t>(*q.lod);
  if (q.minLod) call.minLod[lane] = std::bit_cast<uint32_t>(*q.minLod);
  if (q.reference) call.reference[lane] = std::bit_cast<uint32_t>(*q.reference);
  for (uint32_t d = 0; d < 3; ++d) {
    if (q.gradients) {
      call.ddx[d][lane] = std::bit_cast<uint32_t>(q.ddx[d]);
      call.ddy[d][lane] = std::bit_cast<uint32_t>(q.ddy[d]);
    }
    if ((call.flags & abi::kImageOffset) != 0) call.offset[d][lane] = q.offset[d];
  }
}

uint32_t flagsOf(const Query& q) {
  return (q.lod ? abi::kImageLod : 0u) | (q.minLod ? abi::kImageMinLod : 0u) |
         (q.reference ? abi::kImageReference : 0u) | (q.gradients ? abi::kImageGrad : 0u);
}

/// The moves that the tolerances allow.
std::vector<Move> allowedMoves(int dimensions, bool exact, bool levels) {
  std::vector<Move> out{{}};
  const auto vary = [&](double Move::*field, double by) {
    const size_t n = out.size();
    for (size_t i = 0; i < n; ++i) {
      for (const double sign : {-1.0, 1.0}) {
        Move m = out[i];
        m.*field += sign * by;
        out.push_back(m);
      }
    }
  };
  if (levels) {
    vary(&Move::level, kLevelError);
    vary(&Move::ratio, kRatioError);
  }
  if (exact) return out;
  for (int d = 0; d < dimensions; ++d) {
    const size_t n = out.size();
    for (size_t i = 0; i < n; ++i) {
      for (const double sign : {-1.0, 1.0}) {
        Move m = out[i];
        m.texels[d] += sign * kTexelError;
        out.push_back(m);
      }
    }
  }
  return out;
}

/// Smallest and largest results over the moves.
template <typename Compute>
std::pair<Rgba, Rgba> resultRange(const std::vector<Move>& moves, Compute compute) {
  std::pair<Rgba, Rgba> range{compute(moves[0]), compute(moves[0])};
  for (const Move& m : moves) {
    const Rgba r = compute(m);
    for (int c = 0; c < 4; ++c) {
      range.first.c[c] = std::fmin(range.first.c[c], r.c[c]);
      range.second.c[c] = std::fmax(range.second.c[c], r.c[c]);
    }
  }
  return range;
}

struct Trial {
  ImageShape shape;
  SamplerState sampler;
  bool exact = false;  // coordinates are multiples of 1/64 texel, sizes powers of two

  std::string describe() const {
    std::string s = formats::formatInfo(shape.format).name;
    const auto add = [&](const char* name, auto value) {
      s.append(" ").append(name).append(" ").append(std::to_string(value));
    };
    add("shape", static_cast<int>(shape.shape));
    add("w", shape.width), add("h", shape.height), add("d", shape.depthOrLayers), add("levels", shape.levels);
    add("quad", shape.quadMajor);
    add("mag", sampler.magFilter), add("min", sampler.minFilter), add("mip", sampler.mipmapMode);
    for (const uint32_t mode : sampler.address) add("address", mode);
    add("flags", sampler.flags), add("bias", sampler.lodBias), add("minLod", sampler.minLod);
    add("maxLod", sampler.maxLod), add("aniso", sampler.maxAnisotropy), add("compare", sampler.compareOp);
    return s;
  }
};

std::string describe(const Query& q) {
  std::string s;
  const auto add = [&](const char* name, auto value) {
    s.append(name).append(" ").append(std::to_string(value)).append(" ");
  };
  for (const float c : q.coordinate) add("at", c);
  if (q.lod) add("lod", *q.lod);
  if (q.reference) add("reference", *q.reference);
  for (const float d : q.ddx) add("ddx", d);
  for (const float d : q.ddy) add("ddy", d);
  for (const int o : q.offset) add("offset", o);
  return s;
}

int dimensionsOf(ViewShape shape) {
  return shape == ViewShape::k1D ? 1 : shape == ViewShape::k3D ? 3 : 2;
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(engine_() % n); }
  bool oneIn(uint32_t n) { return below(n) == 0; }
  float real(float low, float high) { return low + (high - low) * static_cast<float>(engine_() >> 8) * 0x1p-24f; }
  uint32_t bits() { return static_cast<uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

constexpr VkFormat kFloatFormats[] = {VK_FORMAT_R8G8B8A8_UNORM,
                                      VK_FORMAT_B8G8R8A8_UNORM,
                                      VK_FORMAT_R8G8B8A8_SRGB,
                                      VK_FORMAT_B8G8R8A8_SRGB,
                                      VK_FORMAT_R8_UNORM,
                                      VK_FORMAT_R8G8_UNORM,
                                      VK_FORMAT_R16_SFLOAT,
                                      VK_FORMAT_R16G16_SFLOAT,
                                      VK_FORMAT_R16G16B16A16_SFLOAT,
                                      VK_FORMAT_R32_SFLOAT,
                                      VK_FORMAT_R32G32_SFLOAT,
                                      VK_FORMAT_R32G32B32A32_SFLOAT,
                                      VK_FORMAT_R8G8B8A8_SNORM,
                                      VK_FORMAT_R5G6B5_UNORM_PACK16,
                                      VK_FORMAT_A2B10G10R10_UNORM_PACK32,
                                      VK_FORMAT_R16G16B16A16_UNORM,
                                      VK_FORMAT_B10G11R11_UFLOAT_PACK32,
                                      VK_FORMAT_R32G32B32_SFLOAT};
constexpr VkFormat kBlockFormats[] = {
    VK_FORMAT_BC1_RGB_UNORM_BLOCK,    VK_FORMAT_BC1_RGBA_SRGB_BLOCK,  VK_FORMAT_BC3_UNORM_BLOCK,
    VK_FORMAT_BC4_SNORM_BLOCK,        VK_FORMAT_BC5_UNORM_BLOCK,      VK_FORMAT_BC6H_UFLOAT_BLOCK,
    VK_FORMAT_BC7_UNORM_BLOCK,        VK_FORMAT_BC7_SRGB_BLOCK,       VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK,
    VK_FORMAT_EAC_R11G11_UNORM_BLOCK, VK_FORMAT_ASTC_5x4_UNORM_BLOCK, VK_FORMAT_ASTC_12x12_SRGB_BLOCK};
constexpr VkFormat kIntegerFormats[] = {VK_FORMAT_R8G8B8A8_UINT, VK_FORMAT_R32_UINT, VK_FORMAT_R32G32B32A32_SINT,
                                        VK_FORMAT_R16_SINT};
constexpr VkFormat kDepthFormats[] = {VK_FORMAT_D16_UNORM, VK_FORMAT_D32_SFLOAT, VK_FORMAT_X8_D24_UNORM_PACK32};

ImageShape randomShape(Random& random, VkFormat format, bool exact) {
  ImageShape s;
  s.format = format;
  constexpr ViewShape kShapes[] = {ViewShape::k1D, ViewShape::k2D, ViewShape::k2D, ViewShape::k3D, ViewShape::kCube};
  s.shape = kShapes[random.below(5)];
  const auto size = [&](uint32_t most) { return exact ? 1u << random.below(4) : 1 + random.below(most); };
  s.width = size(11);
  s.height = s.shape == ViewShape::k1D ? 1 : s.shape == ViewShape::kCube ? s.width : size(9);
  s.depthOrLayers = s.shape == ViewShape::k3D ? size(6) : random.oneIn(2) ? 1 : 1 + random.below(4);
  if (s.shape == ViewShape::kCube) s.depthOrLayers = 6 * (1 + random.below(3));
  uint32_t largest = std::max(s.width, s.height);
  if (s.shape == ViewShape::k3D) largest = std::max(largest, s.depthOrLayers);
  s.levels = 1 + random.below(static_cast<uint32_t>(std::bit_width(largest)));
  s.quadMajor = s.shape != ViewShape::k1D && formats::formatInfo(format).blockBytes % 3 != 0 && random.oneIn(2);
  s.guardBehind = random.oneIn(2);
  return s;
}

SamplerState randomSampler(Random& random, const ImageShape& shape, formats::TexelType type) {
  SamplerState s;
  s.magFilter = random.below(type == formats::TexelType::kFloat ? 2 : 1);
  s.minFilter = random.oneIn(2) ? s.magFilter : random.below(type == formats::TexelType::kFloat ? 2 : 1);
  s.mipmapMode = type == formats::TexelType::kFloat ? random.below(2) : 0;
  for (uint32_t& mode : s.address) mode = random.below(5);
  if (random.oneIn(4)) s.lodBias = random.real(-1, 1);
  if (random.oneIn(4)) s.minLod = random.real(0, 2);
  s.maxLod = random.oneIn(4) ? s.minLod + random.real(0, 2) : 1000;
  s.compareOp = random.below(8);
  for (double& c : s.border) {
    const bool whole = type != formats::TexelType::kFloat || random.oneIn(2);
    c = whole ? random.below(type == formats::TexelType::kFloat ? 2 : 100) : static_cast<double>(random.real(0, 1));
  }
  if (shape.shape == ViewShape::kCube && random.oneIn(4)) s.flags |= abi::kSamplerSeamlessOff;
  return s;
}

Query randomQuery(Random& random, const Trial& trial, bool compare, bool gradients, bool explicitLod) {
  Query q;
  const ImageShape& s = trial.shape;
  const uint32_t size[3] = {s.width, s.height, s.depthOrLayers};
  const bool unnormalized = (trial.sampler.flags & abi::kSamplerUnnormalized) != 0;
  const int dimensions = dimensionsOf(s.shape);
  for (int d = 0; d < dimensions; ++d) {
    const auto extent = static_cast<float>(size[d]);
    float texels = random.real(-2.5f * extent, 3.5f * extent);
    if (trial.exact) texels = std::nearbyint(texels * 64) / 64;
    if (random.oneIn(3)) texels = std::nearbyint(texels * 2) / 2;
    q.coordinate[d] = unnormalized ? texels : texels / extent;
  }
  if (s.shape == ViewShape::kCube) {
    for (int d = 0; d < 3; ++d) q.coordinate[d] = random.real(-1, 1);
    q.coordinate[random.below(3)] = random.oneIn(2) ? 1.0f : -1.0f;
    // Near an edge or a corner, often.
    if (random.oneIn(2)) q.coordinate[random.below(3)] = random.real(0.93f, 0.999f) * (random.oneIn(2) ? 1 : -1);
    q.coordinate[3] = random.real(-1, 4);
  } else if (s.shape != ViewShape::k3D) {
    q.coordinate[dimensions] = random.real(-1, 6);
  }
  if (explicitLod) q.lod = random.oneIn(4) ? static_cast<float>(random.below(4)) : random.real(-1.5f, 4);
  if (compare) q.reference = random.oneIn(3) ? random.real(-1, 2) : random.real(0, 1);
  if (gradients) {
    q.gradients = true;
    const float scale = std::exp2(random.real(-3, 3)) / static_cast<float>(s.width);
    for (int d = 0; d < 3; ++d) {
      q.ddx[d] = random.real(-1, 1) * scale;
      q.ddy[d] = random.real(-1, 1) * scale;
    }
  }
  return q;
}

struct Options {
  bool compare = false, gradients = false, explicitLod = true, offsets = false, minLod = false;
  bool together = false;  // lanes are pixels that lie side by side
};

/// One call of sixteen lanes. Returns false after a failure.
bool runTrial(Random& random, const Trial& trial, const Options& options) {
  TestImage image(trial.shape);
  image.fill(random.bits());
  const formats::TexelType type = formats::texelType(image.info());
  const abi::SamplerDescriptor sampler = trial.sampler.descriptor(type);
  const SampleReference reference(image, trial.sampler);
  Query queries[kLanes];
  for (Query& q : queries) {
    q = randomQuery(random, trial, options.compare, options.gradients, options.explicitLod);
    if (options.minLod) q.minLod = random.real(0, 2);
    if (options.offsets && trial.shape.shape != ViewShape::kCube) {
      for (int d = 0; d < dimensionsOf(trial.shape.shape); ++d) q.offset[d] = static_cast<int>(random.below(16)) - 8;
    }
  }
  if (options.together) {
    const float step = random.real(0.2f, 1.6f);
    const float turn = random.real(-0.7f, 0.7f);
    const bool inside = random.oneIn(2);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const auto i = static_cast<float>((lane & 1) | (lane & 4) >> 1);
      const auto j = static_cast<float>((lane & 2) >> 1 | (lane & 8) >> 2);
      Query& q = queries[lane];
      q = queries[0];
      q.coordinate[0] += step * (i + turn * j) / static_cast<float>(trial.shape.width);
      q.coordinate[1] += step * (j - turn * i) / static_cast<float>(trial.shape.height);
      for (float& c : q.coordinate) c = inside ? c - std::floor(c) : c;
    }
  }
  ImageCall call = test::makeCall(ImageOp::kSample, flagsOf(queries[0]) | (options.offsets ? abi::kImageOffset : 0u) |
                                                        abi::kImageUniformDescriptor);
  call.image[0] = image.address();
  call.sampler[0] = reinterpret_cast<uint64_t>(&sampler);
  for (uint32_t lane = 0; lane < kLanes; ++lane) setLane(call, lane, queries[lane]);
  test::accessInTurn(&call);
  const std::vector<Move> moves = allowedMoves(dimensionsOf(trial.shape.shape),
                                               trial.exact && trial.shape.shape != ViewShape::kCube, options.gradients);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const auto [low, high] = resultRange(moves, [&](const Move& m) { return reference.sample(queries[lane], m); });
    for (uint32_t c = 0; c < 4; ++c) {
      const double got = numberOf(call.texel[c][lane], type);
      const auto [least, most] = reference.range(c);
      const double slack = type == formats::TexelType::kFloat ? kSumError * std::fmax(-least, most) : 0;
      if (!(got >= low.c[c] - slack && got <= high.c[c] + slack)) {
        ADD_FAILURE() << trial.describe() << "\n  " << describe(queries[lane]) << "\n  component " << c << " lane "
                      << lane << ": " << got << " is not in [" << low.c[c] << ", " << high.c[c] << "]";
        return false;
      }
    }
  }
  return true;
}

TEST(Sample, FloatFormats) {
  Random random(1);
  for (int round = 0; round < 30; ++round) {
    for (const VkFormat format : kFloatFormats) {
      Trial trial;
      trial.exact = random.oneIn(2);
      trial.shape = randomShape(random, format, trial.exact);
      trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
      if (!runTrial(random, trial, {})) return;
    }
  }
}

// As fragments sample: lanes near each other, in images larger than what they see.
TEST(Sample, PixelsTogether) {
  Random random(14);
  for (int round = 0; round < 40; ++round) {
    for (const VkFormat format : kFloatFormats) {
      Trial trial;
      trial.shape = randomShape(random, format, false);
      trial.shape.shape = ViewShape::k2D;
      trial.shape.width = 1 + random.below(60);
      trial.shape.height = 1 + random.below(40);
      trial.shape.quadMajor = formats::formatInfo(format).blockBytes % 3 != 0 && random.oneIn(2);
      trial.shape.levels = 1 + random.below(static_cast<uint32_t>(std::bit_width(trial.shape.width)));
      trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
      Options options;
      options.together = true;
      options.gradients = random.oneIn(2);
      options.explicitLod = random.oneIn(2);
      if (!runTrial(random, trial, options)) return;
    }
  }
}

TEST(Sample, CompressedFormats) {
  Random random(13);
  for (int round = 0; round < 12; ++round) {
    for (const VkFormat format : kBlockFormats) {
      Trial trial;
      trial.shape = randomShape(random, format, false);
      if (trial.shape.shape == ViewShape::k1D) trial.shape.shape = ViewShape::k2D;
      trial.shape.width = trial.shape.height = 1 + random.below(30);
      trial.shape.levels = 1 + random.below(static_cast<uint32_t>(std::bit_width(trial.shape.width)));
      trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
      if (random.oneIn(4)) trial.sampler.magFilter = 2;
      if (!runTrial(random, trial, {})) return;
    }
  }
}

TEST(Sample, IntegerFormats) {
  Random random(2);
  for (int round = 0; round < 40; ++round) {
    for (const VkFormat format : kIntegerFormats) {
      Trial trial;
      trial.exact = random.oneIn(2);
      trial.shape = randomShape(random, format, trial.exact);
      trial.sampler = randomSampler(random, trial.shape, formats::texelType(formats::formatInfo(format)));
      Options options;
      options.offsets = random.oneIn(3);
      if (!runTrial(random, trial, options)) return;
    }
  }
}

TEST(Sample, DepthComparison) {
  Random random(3);
  for (int round = 0; round < 80; ++round) {
    for (const VkFormat format : kDepthFormats) {
      Trial trial;
      trial.exact = random.oneIn(2);
      trial.shape = randomShape(random, format, trial.exact);
      trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
      trial.sampler.flags |= abi::kSamplerCompare;
      Options options;
      options.compare = true;
      if (!runTrial(random, trial, options)) return;
    }
  }
}

TEST(Sample, OffsetsAndReductions) {
  Random random(4);
  for (int round = 0; round < 400; ++round) {
    Trial trial;
    // Where a weight is zero decides over a reduction.
    const uint32_t reduction = random.below(3);
    trial.exact = reduction != 0 || random.oneIn(2);
    trial.shape = randomShape(random, kFloatFormats[random.below(std::size(kFloatFormats))], trial.exact);
    if (reduction != 0 && trial.shape.shape == ViewShape::kCube) trial.shape.shape = ViewShape::k2D;
    trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
    if (reduction == 1) trial.sampler.flags |= abi::kSamplerReduceMin;
    if (reduction == 2) trial.sampler.flags |= abi::kSamplerReduceMax;
    Options options;
    options.offsets = random.oneIn(2);
    options.minLod = random.oneIn(4);
    if (!runTrial(random, trial, options)) return;
  }
}

TEST(Sample, Unnormalized) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    Trial trial;
    trial.exact = random.oneIn(2);
    trial.shape = randomShape(random, kFloatFormats[random.below(std::size(kFloatFormats))], trial.exact);
    trial.shape.shape = random.oneIn(3) ? ViewShape::k1D : ViewShape::k2D;
    if (trial.shape.shape == ViewShape::k1D) trial.shape.height = 1, trial.shape.quadMajor = false;
    trial.shape.levels = 1;
    trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
    trial.sampler.minFilter = trial.sampler.magFilter;
    trial.sampler.mipmapMode = 0;
    trial.sampler.flags |= abi::kSamplerUnnormalized;
    for (uint32_t& mode : trial.sampler.address) mode = 2 + random.below(2);
    Options options;
    options.offsets = random.oneIn(3);
    if (!runTrial(random, trial, options)) return;
  }
}

TEST(Sample, Gradients) {
  Random random(6);
  for (int round = 0; round < 200; ++round) {
    Trial trial;
    trial.shape = randomShape(random, kFloatFormats[random.below(std::size(kFloatFormats))], false);
    trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
    Options options;
    options.gradients = true;
    options.explicitLod = random.oneIn(3);  // a bias
    if (!runTrial(random, trial, options)) return;
  }
}

TEST(Sample, Anisotropy) {
  Random random(7);
  for (int round = 0; round < 100; ++round) {
    Trial trial;
    trial.shape = randomShape(random, kFloatFormats[random.below(4)], false);
    trial.shape.shape = ViewShape::k2D;
    trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
    trial.sampler.minFilter = trial.sampler.magFilter = 1;
    trial.sampler.flags |= abi::kSamplerAnisotropic;
    trial.sampler.maxAnisotropy = static_cast<float>(1u << random.below(5));
    Options options;
    options.gradients = true;
    options.explicitLod = false;
    if (!runTrial(random, trial, options)) return;
  }
}

TEST(Sample, CubicFilter) {
  Random random(8);
  for (int round = 0; round < 120; ++round) {
    Trial trial;
    trial.exact = random.oneIn(2);
    trial.shape = randomShape(random, kFloatFormats[random.below(std::size(kFloatFormats))], trial.exact);
    trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
    trial.sampler.magFilter = trial.sampler.minFilter = 2;
    if (!runTrial(random, trial, {})) return;
  }
}

TEST(Sample, ExactNumbersByHand) {
  // 2 x 1 texels, 0 and 1: the weights are the positions.
  TestImage image({ViewShape::k2D, VK_FORMAT_R32_SFLOAT, 2, 1});
  const float texels[2] = {0, 1};
  std::memcpy(image.texelBytes(0, 0, 0, 0), &texels[0], 4);
  std::memcpy(image.texelBytes(0, 1, 0, 0), &texels[1], 4);
  const auto sampleAt = [&](uint32_t filter, uint32_t address, float u) {
    SamplerState state;
    state.magFilter = state.minFilter = filter;
    state.address[0] = state.address[1] = address;
    state.border[0] = 5;
    const abi::SamplerDescriptor sampler = state.descriptor(formats::TexelType::kFloat);
    ImageCall call = test::makeCall(ImageOp::kSample, abi::kImageUniformDescriptor);
    call.image[0] = image.address();
    call.sampler[0] = reinterpret_cast<uint64_t>(&sampler);
    for (uint32_t lane = 0; lane < kLanes; ++lane) setLane(call, lane, {{u, 0.5f, 0, 0}, {}, {}, {}, {}, {}, {}, {}});
    test::accessInTurn(&call);
    return std::bit_cast<float>(call.texel[0][7]);
  };
  EXPECT_EQ(sampleAt(0, 0, 0.49999997f), 0);
  EXPECT_EQ(sampleAt(0, 0, 0.5f), 1);
  EXPECT_EQ(sampleAt(0, 0, 1.0f), 0);     // repeats
  EXPECT_EQ(sampleAt(0, 0, -1e-30f), 1);  // the last texel of the turn before
  EXPECT_EQ(sampleAt(0, 1, 1.0f), 1);     // mirrored
  EXPECT_EQ(sampleAt(0, 3, -0.001f), 5);  // border
  EXPECT_EQ(sampleAt(1, 2, 0.5f), 0.5f);
  EXPECT_EQ(sampleAt(1, 2, 0.375f), 0.25f);
  EXPECT_EQ(sampleAt(1, 0, 0.0f), 0.5f);      // between the last texel and the first
  EXPECT_EQ(sampleAt(1, 3, 1.0f), 3);         // half border, half 1
  EXPECT_EQ(sampleAt(1, 4, -0.625f), 0.75f);  // mirror clamp: as at 0.625
}

/// Coordinates without meaning give some texel, or a mean of texels.
TEST(Sample, CoordinatesWithoutMeaning) {
  Random random(9);
  constexpr float kStrange[] = {std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::max(),
                                -std::numeric_limits<float>::max(),
                                1e10f,
                                -1e10f,
                                8388607.5f,
                                -8388607.5f,
                                std::numeric_limits<float>::denorm_min(),
                                0.0f,
                                -0.0f};
  for (int round = 0; round < 400; ++round) {
    const VkFormat format = kFloatFormats[random.below(std::size(kFloatFormats))];
    Trial trial;
    trial.shape = randomShape(random, format, false);
    trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
    if (random.oneIn(4)) trial.sampler.flags |= abi::kSamplerAnisotropic;
    trial.sampler.maxAnisotropy = 4;
    TestImage image(trial.shape);
    image.fill(random.bits());
    const abi::SamplerDescriptor sampler = trial.sampler.descriptor(formats::TexelType::kFloat);
    const SampleReference reference(image, trial.sampler);
    const bool gradients = random.oneIn(2);
    ImageCall call = test::makeCall(random.oneIn(4) ? ImageOp::kGather : ImageOp::kSample,
                                    abi::kImageUniformDescriptor | (gradients ? abi::kImageGrad : abi::kImageLod));
    call.image[0] = image.address();
    call.sampler[0] = reinterpret_cast<uint64_t>(&sampler);
    const auto strange = [&] {
      return random.oneIn(3) ? random.real(0, 1) : kStrange[random.below(std::size(kStrange))];
    };
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      Query q;
      for (float& c : q.coordinate) c = strange();
      q.lod = strange();
      q.gradients = gradients;
      for (float& d : q.ddx) d = strange();
      for (float& d : q.ddy) d = strange();
      setLane(call, lane, q);
    }
    const bool gathers = call.op == ImageOp::kGather;
    test::accessInTurn(&call);
    for (uint32_t c = 0; c < 4; ++c) {
      std::pair<double, double> range = reference.range(c);
      if (gathers) range = {-4, 65536};
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const double got = numberOf(call.texel[c][lane], formats::TexelType::kFloat);
        ASSERT_GE(got, range.first - kSumError * 4) << trial.describe();
        ASSERT_LE(got, range.second + kSumError * 4) << trial.describe();
      }
    }
  }
}

TEST(Gather, FourTexels) {
  Random random(10);
  for (int round = 0; round < 300; ++round) {
    const bool compare = random.oneIn(3);
    const bool integer = !compare && random.oneIn(3);
    const VkFormat format = compare   ? kDepthFormats[random.below(3)]
                            : integer ? kIntegerFormats[random.below(4)]
                                      : kFloatFormats[random.below(std::size(kFloatFormats))];
    Trial trial;
    trial.exact = random.oneIn(2);
    trial.shape = randomShape(random, format, trial.exact);
    const formats::TexelType type = formats::texelType(formats::formatInfo(format));
    if (trial.shape.shape == ViewShape::k1D || trial.shape.shape == ViewShape::k3D) continue;
    const bool cube = trial.shape.shape == ViewShape::kCube;
    if (cube && integer) continue;  // corners are means
    trial.sampler = randomSampler(random, trial.shape, type);
    TestImage image(trial.shape);
    image.fill(random.bits());
    const abi::SamplerDescriptor sampler = trial.sampler.descriptor(type);
    const SampleReference reference(image, trial.sampler);
    const uint32_t kind = cube ? 0 : random.below(3);
    Query queries[kLanes];
    for (Query& q : queries) {
      q = randomQuery(random, trial, compare, false, false);
      for (int d = 0; d < 2 && kind == 1; ++d) q.offset[d] = static_cast<int>(random.below(64)) - 32;
    }
    ImageCall call = test::makeCall(ImageOp::kGather, flagsOf(queries[0]) | abi::kImageUniformDescriptor |
                                                          (kind == 1   ? abi::kImageOffset
                                                           : kind == 2 ? abi::kImageGatherOffsets
                                                                       : 0u));
    call.gatherComponent = static_cast<uint8_t>(compare ? 0 : random.below(4));
    int offsets[4][2];
    for (int n = 0; n < 4; ++n) {
      for (int d = 0; d < 2; ++d) call.gatherOffset[n][d] = offsets[n][d] = static_cast<int>(random.below(64)) - 32;
    }
    call.image[0] = image.address();
    call.sampler[0] = reinterpret_cast<uint64_t>(&sampler);
    for (uint32_t lane = 0; lane < kLanes; ++lane) setLane(call, lane, queries[lane]);
    test::accessInTurn(&call);
    const std::vector<Move> moves = allowedMoves(2, trial.exact && !cube, false);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const auto [low, high] = resultRange(moves, [&](const Move& m) {
        return reference.gather(queries[lane], m, call.gatherComponent, kind == 2 ? offsets : nullptr);
      });
      for (uint32_t n = 0; n < 4; ++n) {
        const double got = numberOf(call.texel[n][lane], type);
        const double slack = integer ? 0 : kSumError * std::fmax(1, std::fabs(high.c[n]));
        ASSERT_TRUE(got >= low.c[n] - slack && got <= high.c[n] + slack)
            << trial.describe() << "\n  " << describe(queries[lane]) << " texel " << n << " component "
            << int{call.gatherComponent} << " kind " << kind << ": " << got << " is not in [" << low.c[n] << ", "
            << high.c[n] << "]";
      }
    }
  }
}

TEST(QueryLod, LevelAndUnclampedLevel) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    Trial trial;
    trial.shape = randomShape(random, VK_FORMAT_R8_UNORM, false);
    trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
    TestImage image(trial.shape);
    const abi::SamplerDescriptor sampler = trial.sampler.descriptor(formats::TexelType::kFloat);
    SampleReference reference(image, trial.sampler);
    if (random.oneIn(4)) {
      const uint32_t minLod = random.below(256 * trial.shape.levels - 255);
      image.descriptor().minLod_8 = static_cast<uint16_t>(minLod);
      reference.setViewMinLod(minLod / 256.0);
    }
    Query queries[kLanes];
    for (Query& q : queries) q = randomQuery(random, trial, false, true, false);
    ImageCall call = test::makeCall(ImageOp::kQueryLod, abi::kImageGrad | abi::kImageUniformDescriptor);
    call.image[0] = image.address();
    call.sampler[0] = reinterpret_cast<uint64_t>(&sampler);
    for (uint32_t lane = 0; lane < kLanes; ++lane) setLane(call, lane, queries[lane]);
    test::accessInTurn(&call);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const auto [used, lambda] = reference.queryLod(queries[lane], {});
      const double gotUsed = numberOf(call.texel[0][lane], formats::TexelType::kFloat);
      const double gotLambda = numberOf(call.texel[1][lane], formats::TexelType::kFloat);
      EXPECT_NEAR(gotLambda, lambda, 1e-4) << trial.describe() << describe(queries[lane]);
      const bool edge = trial.sampler.mipmapMode == 0 && std::fabs(std::fabs(lambda - std::floor(lambda)) - 0.5) < 1e-4;
      if (!edge) {
        EXPECT_NEAR(gotUsed, used, 1e-4) << trial.describe() << describe(queries[lane]);
      }
    }
  }
}

TEST(Sample, NullDescriptorsReadZero) {
  TestImage image({ViewShape::k2D, VK_FORMAT_R8_UNORM, 4, 4});
  image.fill(1);
  const abi::SamplerDescriptor sampler = SamplerState{}.descriptor(formats::TexelType::kFloat);
  const abi::SamplerDescriptor null{};
  const abi::ImageDescriptor nullImage{};
  for (const ImageOp op : {ImageOp::kSample, ImageOp::kGather, ImageOp::kQueryLod}) {
    ImageCall call = test::makeCall(op, 0);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const uint64_t images[] = {0, reinterpret_cast<uint64_t>(&nullImage), image.address(), image.address()};
      call.image[lane] = images[lane % 4];
      call.sampler[lane] = reinterpret_cast<uint64_t>(lane % 4 == 2 ? &null : &sampler);
      if (lane % 4 == 3) call.sampler[lane] = 0;
    }
    test::accessInTurn(&call);
    for (const auto& component : call.texel) {
      for (const uint32_t number : component) EXPECT_EQ(number, 0u);
    }
  }
}

TEST(Kernels, AllGiveTheSameBits) {
  const Kernels* kernels[3];
  const uint32_t count = usableKernels(kernels);
  Random random(12);
  for (int round = 0; round < 600; ++round) {
    Trial trial;
    trial.shape = randomShape(random, kFloatFormats[random.below(std::size(kFloatFormats))], false);
    trial.sampler = randomSampler(random, trial.shape, formats::TexelType::kFloat);
    if (random.oneIn(4)) trial.sampler.magFilter = trial.sampler.minFilter = 2;
    if (random.oneIn(4)) trial.sampler.flags |= abi::kSamplerAnisotropic;
    trial.sampler.maxAnisotropy = 8;
    TestImage image(trial.shape);
    image.fill(random.bits());
    const abi::SamplerDescriptor sampler = trial.sampler.descriptor(formats::TexelType::kFloat);
    const View view = loadView(image.address());
    const Sampler loaded = loadSampler(reinterpret_cast<uint64_t>(&sampler));
    const bool gradients = random.oneIn(2);
    ImageCall call = test::makeCall(ImageOp::kSample, gradients ? abi::kImageGrad : abi::kImageLod, random.bits());
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      setLane(call, lane, randomQuery(random, trial, false, gradients, true));
    for (auto run : {&Kernels::sample, &Kernels::gather, &Kernels::queryLod}) {
      ImageCall expected = call;
      (kernels[0]->*run)(&expected, 0xFFFF, view, loaded);
      for (uint32_t k = 1; k < count; ++k) {
        ImageCall other = call;
        (kernels[k]->*run)(&other, 0xFFFF, view, loaded);
        ASSERT_EQ(std::memcmp(&expected, &other, sizeof other), 0) << trial.describe() << " kernels " << k;
      }
      // A lane's result does not depend on its neighbours.
      ImageCall alone = call;
      for (uint32_t lane = 0; lane < kLanes; ++lane) (kernels[count - 1]->*run)(&alone, 1u << lane, view, loaded);
      ASSERT_EQ(std::memcmp(&expected, &alone, sizeof alone), 0) << trial.describe();
    }
    ImageCall expected = call;
    kernels[0]->read(&expected, 0xFFFF, view);
    for (uint32_t k = 1; k < count; ++k) {
      ImageCall other = call;
      kernels[k]->read(&other, 0xFFFF, view);
      ASSERT_EQ(std::memcmp(&expected, &other, sizeof other), 0) << trial.describe();
    }
  }
}

}  // namespace
}  // namespace pumice::texture
