// Prints nanoseconds per call of sixteen lanes. Proves nothing: machines differ and this one may be busy.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "backend/texture/access.h"
#include "backend/texture/sample_reference.h"
#include "backend/texture/texture.h"

namespace pumice::texture {
namespace {

using abi::ImageCall;
using abi::ImageOp;
using abi::ViewShape;

/// The best of many short runs, so that other work on the machine counts little.
template <typename Run>
double nanoseconds(Run run) {
  constexpr int kCalls = 64;
  double best = 1e9;
  for (int round = 0; round < 400; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) run();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / kCalls);
  }
  return best;
}

struct Setting {
  const char* name;
  test::ImageShape shape;
  test::SamplerState sampler;
  ImageOp op;
  uint32_t flags;
};

void measure(const Setting& s) {
  test::TestImage image(s.shape);
  image.fill(1);
  const abi::SamplerDescriptor sampler = s.sampler.descriptor(formats::TexelType::kFloat);
  ImageCall call = test::makeCall(s.op, s.flags | abi::kImageUniformDescriptor);
  call.image[0] = image.address();
  call.sampler[0] = reinterpret_cast<uint64_t>(&sampler);
  // A block of 4 x 4 pixels, a little slanted.
  for (uint32_t lane = 0; lane < abi::kImageCallLanes; ++lane) {
    const auto x = static_cast<float>(lane & 3);
    const auto y = static_cast<float>(lane >> 2);
    const float at[4] = {20.3f + x * 1.01f + y * 0.1f, 17.6f + y * 0.98f - x * 0.1f, 3, 0};
    for (uint32_t d = 0; d < 4; ++d) {
      const bool texels = s.op < ImageOp::kSample;
      const float size = d == 0 ? static_cast<float>(s.shape.width) : static_cast<float>(s.shape.height);
      call.coordinate[d][lane] =
          texels ? static_cast<uint32_t>(d < 2 ? at[d] : 0) : std::bit_cast<uint32_t>(d < 2 ? at[d] / size : 0.3f);
    }
    call.lod[lane] = s.op < ImageOp::kSample ? 0 : std::bit_cast<uint32_t>(0.4f);
    for (uint32_t d = 0; d < 3; ++d) {
      call.ddx[d][lane] = std::bit_cast<uint32_t>(d == 0 ? 1.4f / 64 : 0.001f);
      call.ddy[d][lane] = std::bit_cast<uint32_t>(d == 1 ? 1.4f / 64 : 0.001f);
    }
    call.reference[lane] = std::bit_cast<uint32_t>(0.5f);
    for (auto& component : call.texel) component[lane] = std::bit_cast<uint32_t>(0.5f);
  }
  std::printf("%-44s %6.1f ns\n", s.name, nanoseconds([&] { accessImage(&call); }));
}

/// 8-bit 4:2:0 of two planes, clamped, linear chroma between luma's columns.
void measureConverted(const char* name, bool linear, bool explicitly) {
  test::TestImage luma({ViewShape::k2D, VK_FORMAT_R8_UNORM, 64, 64});
  test::TestImage chroma({ViewShape::k2D, VK_FORMAT_R8G8_UNORM, 32, 32});
  luma.fill(1);
  chroma.fill(2);
  abi::ChromaPlanes planes{};
  planes.plane[0] = chroma.descriptor();
  luma.descriptor().chroma = reinterpret_cast<uint64_t>(&planes);
  abi::ChromaConversion conversion{};
  conversion.model = 2;
  conversion.narrow = conversion.linear = true;
  conversion.explicitly = explicitly;
  conversion.subsampled[0] = conversion.subsampled[1] = true;
  conversion.bits = 8;
  conversion.swizzle = abi::kIdentitySwizzle;
  abi::SamplerDescriptor sampler{};
  const uint32_t filter = linear ? 1 : 0;
  sampler.samplerClass =
      static_cast<uint16_t>(abi::makeSamplerClass(filter, filter, 0, 2, 2, 2) | abi::kSamplerClassConverts);
  sampler.conversion = abi::packConversion(conversion);
  ImageCall call = test::makeCall(ImageOp::kSample, abi::kImageUniformDescriptor);
  call.image[0] = luma.address();
  call.sampler[0] = reinterpret_cast<uint64_t>(&sampler);
  for (uint32_t lane = 0; lane < abi::kImageCallLanes; ++lane) {
    call.coordinate[0][lane] = std::bit_cast<uint32_t>((20.5f + static_cast<float>(lane & 3)) / 64);
    call.coordinate[1][lane] = std::bit_cast<uint32_t>((17.5f + static_cast<float>(lane >> 2)) / 64);
    call.coordinate[2][lane] = 0;
  }
  std::printf("%-44s %6.1f ns\n", name, nanoseconds([&] { accessImage(&call); }));
}

test::SamplerState filtered(uint32_t filter, uint32_t mip, uint32_t address) {
  test::SamplerState s;
  s.magFilter = s.minFilter = filter;
  s.mipmapMode = mip;
  for (uint32_t& mode : s.address) mode = address;
  return s;
}

TEST(TextureSpeed, SixteenLanes) {
  const auto flat = [](VkFormat format, bool quadMajor = false, uint32_t levels = 1) {
    return test::ImageShape{ViewShape::k2D, format, 64, 64, 1, levels, 0, quadMajor, true};
  };
  const auto linear = filtered(1, 0, 0);
  const test::ImageShape cube{ViewShape::kCube, VK_FORMAT_R8G8B8A8_UNORM, 64, 64, 6, 1, 0, false, true};
  const test::ImageShape volume{ViewShape::k3D, VK_FORMAT_R8G8B8A8_UNORM, 64, 64, 64, 1, 0, false, true};
  test::SamplerState compare = filtered(1, 0, 2);
  compare.flags = abi::kSamplerCompare;
  compare.compareOp = VK_COMPARE_OP_LESS;
  test::SamplerState anisotropic = filtered(1, 1, 0);
  anisotropic.flags = abi::kSamplerAnisotropic;
  anisotropic.maxAnisotropy = 16;
  const Setting settings[] = {
      {"read rgba8", flat(VK_FORMAT_R8G8B8A8_UNORM), {}, ImageOp::kRead, 0},
      {"read rgba8, quad-major", flat(VK_FORMAT_R8G8B8A8_UNORM, true), {}, ImageOp::kRead, 0},
      {"read rgba8, level 0 by lanes", flat(VK_FORMAT_R8G8B8A8_UNORM), {}, ImageOp::kRead, abi::kImageLod},
      {"read r32f", flat(VK_FORMAT_R32_SFLOAT), {}, ImageOp::kRead, 0},
      {"read rgba32f", flat(VK_FORMAT_R32G32B32A32_SFLOAT), {}, ImageOp::kRead, 0},
      {"read rgba16f", flat(VK_FORMAT_R16G16B16A16_SFLOAT), {}, ImageOp::kRead, 0},
      {"read r5g6b5 (codec)", flat(VK_FORMAT_R5G6B5_UNORM_PACK16), {}, ImageOp::kRead, 0},
      {"write rgba8", flat(VK_FORMAT_R8G8B8A8_UNORM), {}, ImageOp::kWrite, 0},
      {"write r32f", flat(VK_FORMAT_R32_SFLOAT), {}, ImageOp::kWrite, 0},
      {"atomic add r32ui", flat(VK_FORMAT_R32_UINT), {}, ImageOp::kAtomicAdd, 0},
      {"nearest rgba8", flat(VK_FORMAT_R8G8B8A8_UNORM), filtered(0, 0, 0), ImageOp::kSample, abi::kImageLod},
      {"linear rgba8", flat(VK_FORMAT_R8G8B8A8_UNORM), linear, ImageOp::kSample, abi::kImageLod},
      {"linear rgba8, quad-major", flat(VK_FORMAT_R8G8B8A8_UNORM, true), linear, ImageOp::kSample, abi::kImageLod},
      {"linear rgba8, clamped", flat(VK_FORMAT_R8G8B8A8_UNORM), filtered(1, 0, 2), ImageOp::kSample, abi::kImageLod},
      {"linear rgba8, border", flat(VK_FORMAT_R8G8B8A8_UNORM), filtered(1, 0, 3), ImageOp::kSample, abi::kImageLod},
      {"linear bgra8 srgb", flat(VK_FORMAT_B8G8R8A8_SRGB), linear, ImageOp::kSample, abi::kImageLod},
      {"linear r8", flat(VK_FORMAT_R8_UNORM), linear, ImageOp::kSample, abi::kImageLod},
      {"linear rgba16f", flat(VK_FORMAT_R16G16B16A16_SFLOAT), linear, ImageOp::kSample, abi::kImageLod},
      {"linear r32f", flat(VK_FORMAT_R32_SFLOAT), linear, ImageOp::kSample, abi::kImageLod},
      {"linear rgba32f", flat(VK_FORMAT_R32G32B32A32_SFLOAT), linear, ImageOp::kSample, abi::kImageLod},
      {"linear a2b10g10r10 (codec)", flat(VK_FORMAT_A2B10G10R10_UNORM_PACK32), linear, ImageOp::kSample,
       abi::kImageLod},
      {"trilinear rgba8, explicit level", flat(VK_FORMAT_R8G8B8A8_UNORM, false, 7), filtered(1, 1, 0), ImageOp::kSample,
       abi::kImageLod},
      {"trilinear rgba8, gradients", flat(VK_FORMAT_R8G8B8A8_UNORM, false, 7), filtered(1, 1, 0), ImageOp::kSample,
       abi::kImageGrad},
      {"anisotropic rgba8", flat(VK_FORMAT_R8G8B8A8_UNORM, false, 7), anisotropic, ImageOp::kSample, abi::kImageGrad},
      {"shadow d32", flat(VK_FORMAT_D32_SFLOAT), compare, ImageOp::kSample, abi::kImageLod | abi::kImageReference},
      {"cube rgba8, linear", cube, linear, ImageOp::kSample, abi::kImageLod},
      {"3d rgba8, linear", volume, linear, ImageOp::kSample, abi::kImageLod},
      {"gather r8", flat(VK_FORMAT_R8_UNORM), linear, ImageOp::kGather, 0},
  };
  for (const Setting& s : settings) measure(s);
  measureConverted("ycbcr 420, nearest luma", false, false);
  measureConverted("ycbcr 420, linear luma", true, false);
  measureConverted("ycbcr 420, linear luma, explicit", true, true);
}

}  // namespace
}  // namespace pumice::texture
