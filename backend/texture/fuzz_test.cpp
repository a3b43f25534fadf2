// Rubbish in every field that a shader or an application can set never reaches memory outside the image: its last texel
// ends at an inaccessible page, or its first one begins behind one.
#include <gtest/gtest.h>

#include "backend/texture/sample_reference.h"
#include "backend/texture/texture.h"

namespace pumice::texture {
namespace {

using abi::ImageCall;
using abi::ImageOp;
using abi::ViewShape;
using test::ImageShape;
using test::TestImage;

uint32_t someFloat(std::mt19937& random) {
  switch (random() % 6) {
    case 0:
      return random();
    case 1:
      return 0x7FC00000;  // NaN
    case 2:
      return (random() & 0x80000000) | 0x7F800000;  // infinity
    case 3:
      return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(random() % 64) - 32) / 8);
    default:
      return std::bit_cast<uint32_t>(static_cast<float>(random()) * 0x1p-31f - 0.5f);
  }
}

uint32_t someInteger(std::mt19937& random) {
  return random() % 3 == 0 ? random() : random() % 20 - 2;
}

std::vector<VkFormat> everyTexelFormat() {
  std::vector<VkFormat> out;
  for (const formats::FormatInfo& info : formats::allFormats()) {
    if (texelFormat(texelFormatIndex(info.format)).kind != TexelKind::kNone) out.push_back(info.format);
  }
  return out;
}

TEST(Fuzz, NothingOutsideTheImageIsTouched) {
  std::mt19937 random(99);
  const std::vector<VkFormat> formats = everyTexelFormat();
  for (int round = 0; round < 1500; ++round) {
    ImageShape shape;
    shape.format = formats[random() % formats.size()];
    shape.width = 1 + random() % 20;
    shape.height = 1 + random() % 20;
    shape.depthOrLayers = 1 + random() % 13;
    shape.levels = 1 + random() % 4;
    shape.samples_log2 = random() % 4 == 0 ? random() % 4 : 0;
    shape.quadMajor = random() % 2 == 0;
    shape.guardBehind = random() % 2 == 0;
    if (shape.samples_log2 != 0) shape.levels = 1;
    TestImage image(shape);
    abi::ImageDescriptor& d = image.descriptor();
    // Any shape over the memory of a 2D array stays inside it, and those that do not exist are null.
    d.viewClass = static_cast<uint16_t>((d.viewClass & ~7u) | random() % 8);
    if (random() % 16 == 0) d.viewClass |= 0xFFF0;  // no such format
    d.swizzle = static_cast<uint16_t>(random());
    d.minLod_8 = static_cast<uint16_t>(random());
    abi::TexelBufferDescriptor buffer{};
    buffer.address = reinterpret_cast<uint64_t>(image.memory());
    buffer.elementCount = shape.width;
    buffer.viewClass = abi::makeViewClass(ViewShape::kBuffer, random() % 2 == 0, texelFormatIndex(shape.format));
    // Of a quad-major image only the first quad's texels lie side by side.
    if (shape.quadMajor) buffer.elementCount = 1;
    abi::SamplerDescriptor samplers[2];
    for (abi::SamplerDescriptor& s : samplers) {
      s = {};
      s.samplerClass = static_cast<uint16_t>(random());
      s.flags = static_cast<uint16_t>(random());
      s.lodBias = std::bit_cast<float>(someFloat(random));
      s.minLod = std::bit_cast<float>(someFloat(random));
      s.maxLod = std::bit_cast<float>(someFloat(random));
      s.maxAnisotropy = std::bit_cast<float>(someFloat(random));
      s.compareOp = random();
      for (uint32_t& c : s.borderColor) c = random();
    }
    for (int call_ = 0; call_ < 6; ++call_) {
      ImageCall call = test::makeCall(static_cast<ImageOp>(random() % 16), random(), random());
      call.activeLanes = static_cast<uint16_t>(random());
      const bool sampling = call.op >= ImageOp::kSample;
      for (uint32_t lane = 0; lane < abi::kImageCallLanes; ++lane) {
        const uint32_t which = random() % 8;
        call.image[lane] = which == 0 ? 0 : which == 1 ? reinterpret_cast<uint64_t>(&buffer) : image.address();
        call.sampler[lane] = random() % 8 == 0 ? 0 : reinterpret_cast<uint64_t>(&samplers[random() % 2]);
        for (auto& c : call.coordinate) c[lane] = sampling ? someFloat(random) : someInteger(random);
        call.lod[lane] = sampling ? someFloat(random) : someInteger(random);
        call.minLod[lane] = someFloat(random);
        call.reference[lane] = someFloat(random);
        for (uint32_t a = 0; a < 3; ++a) {
          call.ddx[a][lane] = someFloat(random);
          call.ddy[a][lane] = someFloat(random);
        }
      }
      test::accessInTurn(&call);
    }
  }
}

}  // namespace
}  // namespace pumice::texture
