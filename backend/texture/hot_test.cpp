// The road of plain calls (Kernels::trySample) against the other one, which takes sites: the same bits, with every
// instruction set, for lanes together and alone, whatever the coordinates are.
#include <gtest/gtest.h>

#include <array>

#include "backend/texture/access.h"
#include "backend/texture/sample_reference.h"

namespace pumice::texture {
namespace {

using abi::ImageCall;
using abi::ImageOp;
using abi::ViewShape;

constexpr uint32_t kLanes = abi::kImageCallLanes;
constexpr VkFormat kHotFormats[] = {
    VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_B8G8R8A8_UNORM,      VK_FORMAT_R8G8B8A8_SRGB,     VK_FORMAT_B8G8R8A8_SRGB,
    VK_FORMAT_R8_UNORM,       VK_FORMAT_R8G8_UNORM,          VK_FORMAT_R16_UNORM,         VK_FORMAT_R16_SFLOAT,
    VK_FORMAT_R16G16_SFLOAT,  VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R32_SFLOAT,        VK_FORMAT_R32G32_SFLOAT,
    VK_FORMAT_R32_UINT,       VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R32G32B32A32_SINT, VK_FORMAT_D32_SFLOAT,
    VK_FORMAT_D16_UNORM,      VK_FORMAT_X8_D24_UNORM_PACK32};

bool isDepth(VkFormat format) {
  return format == VK_FORMAT_D32_SFLOAT || format == VK_FORMAT_D16_UNORM || format == VK_FORMAT_X8_D24_UNORM_PACK32;
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

constexpr float kStrange[] = {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::max(),
                              -1e10f,
                              8388607.5f,
                              std::numeric_limits<float>::denorm_min(),
                              -std::numeric_limits<float>::denorm_min(),
                              0.0f,
                              -0.0f,
                              1.0f,
                              0.99999994f,
                              0.5f,
                              -1.0f};

test::ImageShape someShape(Random& random) {
  test::ImageShape s;
  s.shape = ViewShape::k2D;
  s.format = kHotFormats[random.below(std::size(kHotFormats))];
  s.width = random.oneIn(3) ? 1 + random.below(9) : 1 + random.below(70);
  s.height = random.oneIn(3) ? 1 + random.below(9) : 1 + random.below(50);
  s.depthOrLayers = random.oneIn(3) ? 1 + random.below(4) : 1;
  s.levels = random.oneIn(3) ? 1 : 1 + random.below(static_cast<uint32_t>(std::bit_width(s.width)));
  s.quadMajor = random.oneIn(2);
  s.guardBehind = random.oneIn(2);
  return s;
}

abi::SamplerDescriptor someSampler(Random& random, bool isFloat) {
  test::SamplerState s;
  s.magFilter = random.below(2);
  s.minFilter = random.oneIn(2) ? s.magFilter : random.below(2);
  s.mipmapMode = random.below(2);
  for (uint32_t& mode : s.address) mode = random.below(5);
  s.lodBias = random.oneIn(4) ? random.real(-1, 1) : 0;
  s.minLod = random.oneIn(4) ? random.real(0, 2) : 0;
  s.maxLod = random.oneIn(4) ? s.minLod + random.real(0, 2) : 1000;
  s.compareOp = random.below(8);
  for (double& c : s.border) c = random.below(2);
  return s.descriptor(isFloat ? formats::TexelType::kFloat : formats::TexelType::kSint);
}

/// Pixels of a block, one after the other in quads, or anything.
void setPlaces(Random& random, const test::ImageShape& shape, ImageCall& call) {
  const bool together = !random.oneIn(4);
  const float spread = random.oneIn(3) ? 3 : 1;
  const float at[2] = {random.real(-spread + 1, spread), random.real(-spread + 1, spread)};
  const float step = random.oneIn(4) ? random.real(0, 9) : random.real(0, 1.8f);
  const float turn = random.real(-1, 1);
  const float layer = random.real(-1, 5);
  const float lod = random.real(-1, 4);
  const auto put = [](uint32_t& word, float value) { word = std::bit_cast<uint32_t>(value); };
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const auto i = static_cast<float>((lane & 1) | (lane & 4) >> 1);
    const auto j = static_cast<float>((lane & 2) >> 1 | (lane & 8) >> 2);
    float x = at[0] + step * (i + turn * j) / static_cast<float>(shape.width);
    float y = at[1] + step * (j - turn * i) / static_cast<float>(shape.height);
    if (!together) x = random.real(-2, 3), y = random.real(0, 1);
    if (random.oneIn(60)) x = kStrange[random.below(std::size(kStrange))];
    if (random.oneIn(60)) y = kStrange[random.below(std::size(kStrange))];
    put(call.coordinate[0][lane], x);
    put(call.coordinate[1][lane], y);
    put(call.coordinate[2][lane], together ? layer : random.real(-1, 5));
    put(call.lod[lane], together ? lod + 0.1f * i : random.real(-1, 4));
    put(call.minLod[lane], random.real(0, 2));
    put(call.reference[lane],
        random.oneIn(20) ? kStrange[random.below(std::size(kStrange))] : random.real(-0.5f, 1.5f));
    for (uint32_t d = 0; d < 3; ++d) {
      put(call.ddx[d][lane], d == 0 ? step * (1 + 0.1f * i) / static_cast<float>(shape.width) : random.real(0, 0.01f));
      put(call.ddy[d][lane], d == 1 ? step / static_cast<float>(shape.height) : random.real(0, 0.01f));
      if (random.oneIn(200)) put(call.ddx[d][lane], kStrange[random.below(std::size(kStrange))]);
    }
  }
}

std::string describe(const test::ImageShape& s, const abi::SamplerDescriptor& sampler, const ImageCall& call) {
  std::string text = formats::formatInfo(s.format).name;
  for (const uint32_t n : {s.width, s.height, s.depthOrLayers, s.levels, uint32_t{s.quadMajor},
                           uint32_t{sampler.samplerClass}, call.flags, uint32_t{call.activeLanes}})
    text.append(" ").append(std::to_string(n));
  return text;
}

TEST(Hot, PlainCallsGiveTheBitsOfSites) {
  const Kernels* kernels[3];
  const uint32_t count = usableKernels(kernels);
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    const test::ImageShape shape = someShape(random);
    test::TestImage image(shape);
    image.fill(random.bits());
    if (random.oneIn(8)) image.descriptor().minLod_8 = static_cast<uint16_t>(random.below(600));
    if (random.oneIn(6)) image.descriptor().swizzle = static_cast<uint16_t>(random.bits() & 0xB6D);
    const bool isFloat = formats::texelType(formats::formatInfo(shape.format)) == formats::TexelType::kFloat;
    const abi::SamplerDescriptor sampler = someSampler(random, isFloat);
    const uint32_t levels[] = {0, abi::kImageLod, abi::kImageGrad, abi::kImageGrad | abi::kImageLod};
    uint32_t flags =
        abi::kImageUniformDescriptor | levels[random.below(4)] | (random.oneIn(4) ? abi::kImageMinLod : 0u);
    if (isDepth(shape.format) && !random.oneIn(3)) flags |= abi::kImageReference;
    ImageCall call = test::makeCall(ImageOp::kSample, flags, random.bits());
    call.image[0] = image.address();
    call.sampler[0] = reinterpret_cast<uint64_t>(&sampler);
    call.activeLanes = random.oneIn(2) ? 0xFFFF : static_cast<uint16_t>(random.bits() | 1u << random.below(16));
    setPlaces(random, shape, call);

    const View view = loadView(image.address());
    const Sampler loaded = loadSampler(reinterpret_cast<uint64_t>(&sampler));
    ImageCall want = call;
    kernels[0]->sample(&want, call.activeLanes, view, loaded);
    for (uint32_t k = 1; k < count; ++k) {  // the baseline has the other road only
      ImageCall got = call;
      ASSERT_TRUE(kernels[k]->trySample(&got)) << describe(shape, sampler, call);
      ASSERT_EQ(std::memcmp(want.texel, got.texel, sizeof want.texel), 0)
          << describe(shape, sampler, call) << " kernels " << k << " round " << round;
      ImageCall alone = call;
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        alone.activeLanes = static_cast<uint16_t>(call.activeLanes & 1u << lane);
        if (alone.activeLanes == 0) continue;
        ASSERT_TRUE(kernels[k]->trySample(&alone));
      }
      ASSERT_EQ(std::memcmp(want.texel, alone.texel, sizeof want.texel), 0) << describe(shape, sampler, call);
    }
  }
}

// And what is not plain is left alone.
TEST(Hot, OtherCallsTakeTheOtherRoad) {
  const Kernels* kernels[3];
  const uint32_t count = usableKernels(kernels);
  test::TestImage image({ViewShape::k2D, VK_FORMAT_R8G8B8A8_UNORM, 8, 8});
  image.fill(1);
  const abi::SamplerDescriptor plain = test::SamplerState{}.descriptor(formats::TexelType::kFloat);
  const auto refuses = [&](uint64_t imageAddress, const abi::SamplerDescriptor* sampler, uint32_t flags) {
    ImageCall call = test::makeCall(ImageOp::kSample, flags | abi::kImageUniformDescriptor, 7);
    call.image[0] = imageAddress;
    call.sampler[0] = reinterpret_cast<uint64_t>(sampler);
    for (uint32_t k = 0; k < count; ++k) {
      ImageCall got = call;
      if (kernels[k]->trySample(&got) || std::memcmp(&got, &call, sizeof call) != 0) return false;
    }
    return true;
  };
  EXPECT_EQ(refuses(image.address(), &plain, 0), count == 1);
  EXPECT_TRUE(refuses(0, &plain, 0));
  EXPECT_TRUE(refuses(image.address(), nullptr, 0));
  const abi::SamplerDescriptor nullSampler{};
  EXPECT_TRUE(refuses(image.address(), &nullSampler, 0));
  const abi::ImageDescriptor nullImage{};
  EXPECT_TRUE(refuses(reinterpret_cast<uint64_t>(&nullImage), &plain, 0));
  EXPECT_TRUE(refuses(image.address(), &plain, abi::kImageOffset));
  EXPECT_TRUE(refuses(image.address(), &plain, abi::kImageReference));  // not a depth format's channels
  abi::SamplerDescriptor other = plain;
  other.flags = abi::kSamplerAnisotropic;
  EXPECT_TRUE(refuses(image.address(), &other, 0));
  other.flags = abi::kSamplerUnnormalized;
  EXPECT_TRUE(refuses(image.address(), &other, 0));
  other.flags = 0;
  other.samplerClass = abi::makeSamplerClass(2, 1, 0, 0, 0, 0);  // cubic
  EXPECT_TRUE(refuses(image.address(), &other, 0));
  abi::ImageDescriptor cube = image.descriptor();
  cube.viewClass = abi::makeViewClass(ViewShape::kCube, false, abi::formatIndex(cube.viewClass));
  EXPECT_TRUE(refuses(reinterpret_cast<uint64_t>(&cube), &plain, 0));
  abi::TexelBufferDescriptor buffer{};
  buffer.address = reinterpret_cast<uint64_t>(image.memory());
  buffer.elementCount = 8;
  buffer.viewClass = abi::makeViewClass(ViewShape::kBuffer, false, texelFormatIndex(VK_FORMAT_R8G8B8A8_UNORM));
  EXPECT_TRUE(refuses(reinterpret_cast<uint64_t>(&buffer), &plain, 0));
}

}  // namespace
}  // namespace pumice::texture
