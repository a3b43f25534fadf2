// Fragment shaders on runs that the test fills: machine code against the interpreter, bit for bit, and both against
// what the shader's text says, with interpolation in double precision.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "shaders/codegen/fragment_test_fixture.h"
#include "test_shaders/fragment_address.h"
#include "test_shaders/fragment_depth.h"
#include "test_shaders/fragment_dual.h"
#include "test_shaders/fragment_images.h"
#include "test_shaders/fragment_io.h"
#include "test_shaders/fragment_places.h"
#include "test_shaders/fragment_plain.h"
#include "test_shaders/fragment_quads.h"
#include "test_shaders/fragment_samples.h"

namespace pumice::shader::codegen {
namespace {

TEST_F(FragmentCode, InputsAndOutputs) {
  push({1.0f, 2.0f, -1.0f, 0.5f});
  FragmentKey k = key({kFloats, kFloats, kInts, kFloats, VK_FORMAT_R32G32B32A32_UINT, kFloats});
  k.varyingSlot[60] = 11 - 9;
  k.varyingSlot[62] = 11 - 10;
  run(fragment_io, k, [&](const ScenePixel& p, uint32_t, const Got& got) {
    const auto slot = [&](uint32_t location) { return k.varyingSlot[location]; };
    constexpr double kScale[4] = {1, 2, -1, 0.5};
    for (uint32_t c = 0; c < 4; ++c)
      near(got[0][c], kScale[c] * scene_.perspective(p, slot(0), c), scene_.largest(p, slot(0), c));
    EXPECT_EQ(real(got[1][0]), p.x + 0.5);
    EXPECT_EQ(real(got[1][1]), p.y + 0.5);
    near(got[1][2], scene_.depth(p), 1);
    near(got[1][3], scene_.oneOverW(p), 0.1);
    for (uint32_t c = 0; c < 3; ++c) EXPECT_EQ(got[2][c], scene_.flat(p, slot(2), c));
    const abi::PrimitiveRecord& primitive = scene_.primitive(p);
    const bool front = (primitive.flags & abi::kPrimitiveBackFacing) == 0;
    EXPECT_EQ(static_cast<int32_t>(got[2][3]), static_cast<int32_t>(primitive.primitiveId) * (front ? 1 : -1));
    for (uint32_t c = 0; c < 2; ++c) near(got[3][c], scene_.linear(p, slot(1), c), scene_.largest(p, slot(1), c));
    near(got[3][2], scene_.perspective(p, slot(4), 2) + scene_.perspective(p, slot(5), 2),
         scene_.largest(p, slot(4), 2) + scene_.largest(p, slot(5), 2));
    near(got[3][3], scene_.perspective(p, slot(6), 1), scene_.largest(p, slot(6), 1));
    const uint64_t wide = scene_.flat(p, slot(3), 0) | uint64_t{scene_.flat(p, slot(3), 1)} << 32;
    EXPECT_EQ(got[4][0], std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(wide))));
    EXPECT_EQ(got[4][1], scene_.flat(p, slot(8), 0));
    EXPECT_EQ(got[4][2], 5u);
    EXPECT_EQ(got[4][3], 2u);
    near(got[5][0], scene_.perspective(p, slot(9), 1), scene_.largest(p, slot(9), 1));
    near(got[5][1], scene_.perspective(p, slot(10), 0), scene_.largest(p, slot(10), 0));
    near(got[5][2], Scene::plane(primitive, primitive.iLinear, p.x + 0.5, p.y + 0.5), 1);
    near(got[5][3], Scene::plane(primitive, primitive.jLinear, p.x + 0.5, p.y + 0.5), 1);
  });
}

TEST_F(FragmentCode, QuadsHelpersAndDiscards) {
  push({scene_.median(11, 0), scene_.median(11, 1), 0, 0});
  const FragmentKey k = key({kFloats, kFloats, kFloats});
  uint32_t shaded = 0;
  run(fragment_quads, k, [&](const ScenePixel& p, uint32_t, const Got& got) {
    ++shaded;
    const auto at = [&](uint32_t lane, uint32_t c) {
      ScenePixel other = p;
      other.x = (p.x & ~1u) | (lane & 1u);
      other.y = (p.y & ~1u) | lane >> 1u;
      return scene_.perspective(other, 11, c);
    };
    const double size = 1e-5 * (std::pow(scene_.largest(p, 11, 0), 2) + std::pow(scene_.largest(p, 11, 1), 2) + 1);
    const uint32_t lane = (p.x & 1u) | (p.y & 1u) << 1u;
    const auto product = [&](uint32_t l) { return at(l, 0) * at(l, 1); };
    const auto square = [&](uint32_t l) { return at(l, 0) * at(l, 0); };
    EXPECT_NEAR(real(got[0][0]), product(lane | 1u) - product(lane & 2u), size);
    EXPECT_NEAR(real(got[0][1]), product(lane | 2u) - product(lane & 1u), size);
    EXPECT_NEAR(real(got[0][2]),
                std::abs(square(lane | 1u) - square(lane & 2u)) + std::abs(square(lane | 2u) - square(lane & 1u)),
                2 * size);
    EXPECT_NEAR(real(got[1][0]), product(1) - product(0), size);
    EXPECT_NEAR(real(got[1][1]), product(2) - product(0), size);
    EXPECT_NEAR(real(got[1][2]), std::abs(square(1) - square(0)) + std::abs(square(2) - square(0)), 2 * size);
    const double x = at(lane, 0), y = at(lane, 1);
    EXPECT_NEAR(real(got[0][3]), x, size);
    EXPECT_NEAR(real(got[1][3]), y, size);
    EXPECT_GE(real(got[0][3]), scene_.median(11, 0));
    EXPECT_GE(real(got[1][3]), scene_.median(11, 1));
    EXPECT_EQ(real(got[2][0]), 0);
    EXPECT_EQ(real(got[2][1]), 0);
    EXPECT_EQ(real(got[2][3]), 1);
    EXPECT_EQ(log_[1 + p.x + 64 * p.y], 1 + static_cast<uint32_t>(std::abs(real(got[0][3]))));
  });
  EXPECT_GT(shaded, 100u);
}

// Standard sample locations of four samples, in sixteenths.
constexpr double kSampleX[4] = {6, 14, 2, 10}, kSampleY[4] = {2, 6, 10, 14};

// Place of a centroid input.
std::array<double, 2> centroidOf(const ScenePixel& p) {
  if (p.samples == 15) return {0.5, 0.5};
  const auto first = static_cast<uint32_t>(std::countr_zero(p.samples));
  return {kSampleX[first] / 16, kSampleY[first] / 16};
}

TEST_F(FragmentCode, SampleShading) {
  useSamples(4);
  const FragmentKey k = key({kFloats, kFloats, kInts});
  run(fragment_samples, k, [&](const ScenePixel& p, uint32_t sample, const Got& got) {
    const double x = kSampleX[sample] / 16, y = kSampleY[sample] / 16;
    const auto [cx, cy] = centroidOf(p);
    for (uint32_t c = 0; c < 2; ++c) {
      near(got[0][c], scene_.perspective(p, 11, c, x, y), scene_.largest(p, 11, c));
      near(got[0][2 + c], scene_.perspective(p, 10, c, cx, cy), scene_.largest(p, 10, c));
      near(got[1][c], scene_.perspective(p, 9, c), scene_.largest(p, 9, c));
    }
    EXPECT_EQ(real(got[1][2]), x);
    EXPECT_EQ(real(got[1][3]), y);
    EXPECT_EQ(got[2][0], sample);
    EXPECT_EQ(got[2][1], 1u << sample);
    EXPECT_EQ(got[2][2], p.x * 16 + kSampleX[sample]);
    EXPECT_EQ(got[2][3], p.y * 16 + kSampleY[sample]);
  });
}

TEST_F(FragmentCode, SampleShadingByState) {
  useSamples(4);
  FragmentKey k = key({kFloats});
  k.flags = kKeySampleShading;
  run(fragment_plain, k, [&](const ScenePixel& p, uint32_t sample, const Got& got) {
    for (uint32_t c = 0; c < 4; ++c)
      near(got[0][c], scene_.perspective(p, 11, c, kSampleX[sample] / 16, kSampleY[sample] / 16),
           scene_.largest(p, 11, c));
  });
}

TEST_F(FragmentCode, PlacesOfInterpolation) {
  useSamples(4);
  const FragmentKey k = key({kFloats, kFloats, kFloats, kInts});
  for (const int32_t number : {1, 2}) {
    push({0.125f, -0.375f, std::bit_cast<float>(number), 0});
    run(fragment_places, k, [&](const ScenePixel& p, uint32_t, const Got& got) {
      const auto [cx, cy] = centroidOf(p);
      for (uint32_t c = 0; c < 2; ++c) {
        near(got[0][c], scene_.perspective(p, 11, c, 0.625, 0.125), scene_.largest(p, 11, c));
        near(got[0][2 + c], scene_.perspective(p, 11, c, kSampleX[number] / 16, kSampleY[number] / 16),
             scene_.largest(p, 11, c));
        near(got[1][c], scene_.linear(p, 9, c, cx, cy), scene_.largest(p, 9, c));
        near(got[1][2 + c], scene_.perspective(p, 8, c, cx, cy), scene_.largest(p, 8, c));
        EXPECT_EQ(got[2][2 + c], scene_.flat(p, 7, c));
      }
      const double y = scene_.perspective(p, 11, 0) > 0 ? 0.75 : 0.625;
      near(got[2][0], scene_.linear(p, 10 - (number & 1), 1, 0.25, y), scene_.largest(p, 10 - (number & 1), 1));
      near(got[2][1], scene_.perspective(p, 8, 0, kSampleX[2] / 16, kSampleY[2] / 16), scene_.largest(p, 8, 0));
      EXPECT_EQ(got[3][0], p.samples);
    });
  }
}

TEST_F(FragmentCode, CentroidIsTheSampleWhereThePipelineShadesSamples) {
  useSamples(4);
  FragmentKey k = key({kFloats, kFloats, kFloats, kInts});
  k.flags = kKeySampleShading;
  run(fragment_places, k, [&](const ScenePixel& p, uint32_t sample, const Got& got) {
    const double x = kSampleX[sample] / 16, y = kSampleY[sample] / 16;
    for (uint32_t c = 0; c < 2; ++c) {
      near(got[1][c], scene_.linear(p, 9, c, x, y), scene_.largest(p, 9, c));           // interpolateAtCentroid
      near(got[1][2 + c], scene_.perspective(p, 8, c, x, y), scene_.largest(p, 8, c));  // a centroid input
    }
    EXPECT_EQ(got[3][0], 1u << sample);
  });
}

TEST_F(FragmentCode, SampleMaskOfTheStateComesBeforeTheShader) {
  useSamples(4);
  state_.sampleMask = 0xA;
  const FragmentKey k = key({kFloats, kFloats, kFloats, kInts});
  run(fragment_places, k,
      [&](const ScenePixel& p, uint32_t, const Got& got) { EXPECT_EQ(got[3][0], p.samples & 0xA); });
}

TEST_F(FragmentCode, DepthAndSampleMaskOfTheShader) {
  useSamples(4);
  FragmentKey k = key({kFloats});
  k.depthFormat = VK_FORMAT_D32_SFLOAT;
  k.depthFlags = abi::kDepthTest | abi::kDepthWrite;
  k.depthCompareOp = VK_COMPARE_OP_ALWAYS;
  env_.depth = &depthSurface_;
  const auto passes = [](const ScenePixel& p, uint32_t sample, const ir::FragmentValues& values) {
    return (values.output[ir::kOutputSampleMask][p.lane] >> sample & 1) != 0;
  };
  run(
      fragment_depth, k,
      [&](const ScenePixel& p, uint32_t sample, const Got& got) {
        const float depth = depths_[targetIndex(p.x, p.y, sample, samples_)];
        EXPECT_EQ(depth, std::min(std::abs(std::bit_cast<float>(got[0][0])) * 0.01f, 1.0f));
      },
      passes);
}

// The test is the same, bit for bit, before the shader and behind it (with a discard that never happens).
TEST_F(FragmentCode, DepthTests) {
  for (const uint32_t samples : {1u, 4u}) {
    useSamples(samples);
    FragmentKey k = key({kFloats});
    k.depthFormat = VK_FORMAT_D32_SFLOAT;
    k.depthFlags = abi::kDepthTest | abi::kDepthWrite;
    k.depthCompareOp = VK_COMPARE_OP_LESS;
    state_.depthFlags = k.depthFlags;
    state_.depthCompareOp = k.depthCompareOp;
    for (auto& range : state_.viewportDepth) range[0] = 0.0f, range[1] = 1.0f;
    env_.depth = &depthSurface_;
    const auto depthOf = [&](const ScenePixel& p, uint32_t sample) {
      return samples == 1 ? scene_.depth(p) : scene_.depth(p, kSampleX[sample] / 16, kSampleY[sample] / 16);
    };
    for (const uint8_t flags : {uint8_t{0}, uint8_t{kKeySampleShading}}) {
      k.flags = flags;
      run(
          fragment_plain, k,
          [&](const ScenePixel& p, uint32_t sample, const Got&) {
            EXPECT_NEAR(depths_[targetIndex(p.x, p.y, sample, samples_)], depthOf(p, sample), 1e-6);
          },
          [&](const ScenePixel& p, uint32_t sample, const ir::FragmentValues&) {
            return depthOf(p, sample) < kFarDepth;
          });
    }
  }
}

// A texture unit that answers with what it is asked.
void echo(abi::ImageCall* call) {
  for (uint32_t lane = 0; lane < abi::kImageCallLanes; ++lane) {
    if ((call->activeLanes >> lane & 1) == 0) continue;
    for (auto& component : call->texel) component[lane] = 0;
    switch (call->op) {
      case abi::ImageOp::kSample: {
        const bool isBiased = (call->flags & abi::kImageLod) != 0, isShadow = (call->flags & abi::kImageReference) != 0;
        const uint32_t words[4] = {isShadow ? call->reference[lane] : call->ddx[0][lane], call->ddx[1][lane],
                                   call->ddy[0][lane], isBiased ? call->lod[lane] : call->ddy[1][lane]};
        for (uint32_t c = 0; c < 4; ++c) call->texel[c][lane] = words[c];
        break;
      }
      case abi::ImageOp::kQueryLod:
        call->texel[0][lane] = call->ddx[2][lane];
        call->texel[1][lane] = call->ddy[2][lane];
        break;
      default:
        for (uint32_t c = 0; c < 3; ++c)
          call->texel[c][lane] =
              std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(call->coordinate[c][lane])));
        break;
    }
  }
}

TEST_F(FragmentCode, ImagesAndSubgroups) {
  runtime_.accessImage = echo;
  alignas(64) static std::array<std::byte, 1024> descriptors{};
  bindings_.setAddress[1] = reinterpret_cast<uint64_t>(descriptors.data());
  slots_.clear();
  for (uint32_t b = 1; b <= 4; ++b)
    slots_.push_back({1, b, 1, 0, sizeof(abi::ImageDescriptor) + sizeof(abi::SamplerDescriptor), abi::kNotDynamic});
  const FragmentKey k = key({kFloats, kFloats, kFloats, kFloats, VK_FORMAT_R32G32B32A32_UINT});
  run(fragment_images, k, [&](const ScenePixel& p, uint32_t, const Got& got) {
    const auto at = [&](uint32_t x, uint32_t y, uint32_t c) {
      ScenePixel other = p;
      other.x = (p.x & ~1u) + x;
      other.y = (p.y & ~1u) + y;
      return scene_.perspective(other, 11, c);
    };
    const auto along = [&](uint32_t axis, uint32_t c) { return at(axis == 0, axis == 1, c) - at(0, 0, c); };
    const auto size = [&](uint32_t c) { return scene_.largest(p, 11, c); };
    for (uint32_t axis = 0; axis < 2; ++axis)
      for (uint32_t c = 0; c < 2; ++c) near(got[0][2 * axis + c], along(axis, c), size(c));
    near(got[1][3], at(p.x & 1, p.y & 1, 0) + at(p.x & 1, p.y & 1, 2), size(0) + size(2));
    EXPECT_EQ(real(got[2][0]), p.x);
    EXPECT_EQ(real(got[2][1]), p.y);
    EXPECT_EQ(real(got[2][2]), 5 + 2);  // layer and view: in a pass one of them is 0
    near(got[3][0], along(0, 2), size(2));
    near(got[3][1], along(1, 2), size(2));
    near(got[3][2], along(0, 0) / 4, size(0));
  });
}

TEST_F(FragmentCode, Addresses) {
  std::vector<uint32_t> numbers(kSize * kSize);
  for (uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i * 77;
  const auto* address = numbers.data();
  std::memcpy(push_.data(), &address, sizeof address);
  const FragmentKey k = key({VK_FORMAT_R32G32B32A32_UINT});
  run(fragment_address, k, [&](const ScenePixel& p, uint32_t, const Got& got) {
    const auto at = [](uint32_t x, uint32_t y) { return (x + kSize * y) * 77; };
    EXPECT_EQ(got[0][0], at(p.x, p.y));
    EXPECT_EQ(got[0][1], at(p.x & ~1u, p.y | 1));
    EXPECT_EQ(got[0][2], at(p.x ^ 1, p.y ^ 1));
    EXPECT_LT(got[0][3], 4u);
  });
}

TEST_F(FragmentCode, DualSourcesAndStencil) {
  FragmentKey k = key({kFloats});
  k.color[0].blendEnable = 1;
  k.color[0].srcColorFactor = k.color[0].srcAlphaFactor = VK_BLEND_FACTOR_ONE;
  k.color[0].dstColorFactor = VK_BLEND_FACTOR_SRC1_COLOR;
  k.color[0].dstAlphaFactor = VK_BLEND_FACTOR_ZERO;
  k.stencilFormat = VK_FORMAT_S8_UINT;
  k.depthFlags = state_.depthFlags = abi::kStencilTest;
  k.front = k.back = {VK_COMPARE_OP_ALWAYS, VK_STENCIL_OP_KEEP, VK_STENCIL_OP_REPLACE, VK_STENCIL_OP_KEEP};
  state_.front = state_.back = {
      0, 0xff, 0xff, VK_COMPARE_OP_ALWAYS, VK_STENCIL_OP_KEEP, VK_STENCIL_OP_REPLACE, VK_STENCIL_OP_KEEP, 0};
  env_.stencil = &stencilSurface_;
  const double before = real(kUntouched);
  for (const uint32_t v : {4u, 8u, 16u}) {
    if (v > hostVectorLanes()) continue;
    const spirv::ReadResult r = read(fragment_dual, k, 16, Tier::kBetter);
    ASSERT_NE(r.function, nullptr);
    const std::vector<ir::FragmentValues> values = execute(*r.function, k, v, Tier::kBetter);
    for (const ScenePixel& p : scene_.pixels()) {
      if (!p.covered) continue;
      const uint32_t at = targetIndex(p.x, p.y, 0, 1);
      const auto output = [&](uint32_t i) { return real(values[p.vector].output[i][p.lane]); };
      for (uint32_t c = 0; c < 3; ++c) {
        const double want = output(c) + output(ir::kOutputSecondColor + c) * before;
        EXPECT_NEAR(real(targets_[0][at][c]) / want, 1, 1e-6);
      }
      EXPECT_EQ(real(targets_[0][at][3]), output(3));
      EXPECT_EQ(stencils_[at], scene_.flat(p, k.varyingSlot[1], 0) & 255);
    }
  }
}

}  // namespace
}  // namespace pumice::shader::codegen
