// Prints how fast one worker copies, clears and converts images; asserts nothing about it.
#include <gtest/gtest.h>

#include <algorithm>

#include "backend/gpu/image_blit.h"
#include "backend/gpu/image_copy.h"
#include "backend/gpu/image_test_support.h"
#include "backend/sched/futex.h"

namespace pumice::gpu::test {
namespace {

constexpr VkImageUsageFlags kLinear = VK_IMAGE_USAGE_SAMPLED_BIT;
constexpr VkImageUsageFlags kQuads = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;

// The best of some runs, in ns: what the machine can do when nobody else does.
template <typename F>
double best_ns(F run) {
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 15; ++i) {
    const uint64_t start_ns = sched::monotonicNow_ns();
    run();
    best = std::min(best, sched::monotonicNow_ns() - start_ns);
  }
  return static_cast<double>(best);
}

class ImageSpeed : public testing::Test {
 protected:
  TestImage make(uint32_t edge, uint8_t bytes, VkImageUsageFlags usage) {
    formats::ImageShape shape;
    shape.width = shape.height = edge;
    shape.elementBytes = bytes;
    shape.usage = usage;
    return TestImage(shape, random_);
  }
  std::mt19937 random_{1};
};

TEST_F(ImageSpeed, CopiesAndClears) {
  for (uint32_t edge : {256u, 2048u})
    for (uint8_t bytes : {1, 4, 8, 16}) {
      TestImage linear = make(edge, bytes, kLinear), linear2 = make(edge, bytes, kLinear);
      TestImage quads = make(edge, bytes, kQuads), quads2 = make(edge, bytes, kQuads);
      const double size = double(edge) * edge * bytes;
      std::vector<std::byte> a(static_cast<size_t>(size)), b(a.size());
      std::printf("%4u^2 x %2u B, GB/s written: memcpy %.1f", edge, bytes,
                  size / best_ns([&] { std::memcpy(b.data(), a.data(), b.size()); }));
      const auto copy = [&](const char* name, TestImage& dst, TestImage& src) {
        abi::CopyImagePacket p{};
        p.dst = dst.surface(0, 0);
        p.src = src.surface(0, 0);
        p.width = p.height = edge;
        p.sliceCount = 1;
        const uint64_t units = copyBands(p).unitCount();
        std::printf(", %s %.1f", name, size / best_ns([&] { copyImage(p, 0, units, size >= (8 << 20)); }));
      };
      copy("rows to rows", linear2, linear);
      copy("rows to quads", quads, linear);
      copy("quads to rows", linear, quads);
      copy("quads to quads", quads2, quads);
      for (TestImage* image : {&linear, &quads}) {
        abi::ClearImagePacket p{};
        p.dst = image->surface(0, 0);
        p.width = p.height = edge;
        p.sliceCount = 1;
        const uint64_t units = clearBands(p).unitCount();
        std::printf(", clear %.1f", size / best_ns([&] { clearImage(p, 0, units); }));
      }
      std::printf("\n");
    }
}

TEST_F(ImageSpeed, Blits) {
  TestImage src = make(512, 4, kLinear), dst = make(1024, 4, kLinear);
  const auto blit = [&](const char* name, TestImage& from, TestImage& to, VkFormat srcFormat, VkFormat dstFormat,
                        bool linear) {
    abi::BlitImagePacket p{};
    p.src = from.surface(0, 0);
    p.dst = to.surface(0, 0);
    for (int axis = 0; axis < 2; ++axis) {
      p.srcCorner[1][axis] = static_cast<int32_t>(from.shape().width);
      p.dstCorner[1][axis] = static_cast<int32_t>(to.shape().width);
      p.srcExtent[axis] = from.shape().width;
    }
    p.srcCorner[1][2] = p.dstCorner[1][2] = 1;
    p.srcExtent[2] = 1;
    p.srcFormat = static_cast<uint32_t>(srcFormat);
    p.dstFormat = static_cast<uint32_t>(dstFormat);
    p.filter = linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
    const uint64_t units = blitBands(p).unitCount();
    const double texels = double(to.shape().width) * to.shape().height;
    std::printf("blit, %s: %.0f million texels/s\n", name, 1000 * texels / best_ns([&] { blitImage(p, 0, units); }));
  };
  const VkFormat rgba = VK_FORMAT_R8G8B8A8_UNORM, bgra = VK_FORMAT_B8G8R8A8_UNORM;
  blit("nearest, one format, 512^2 to 1024^2", src, dst, rgba, rgba, false);
  blit("nearest, rgba8 to bgra8", src, dst, rgba, bgra, false);
  blit("linear, rgba8, 512^2 to 1024^2", src, dst, rgba, rgba, true);
  blit("linear, rgba8, 1024^2 to 512^2", dst, src, rgba, rgba, true);
}

}  // namespace
}  // namespace pumice::gpu::test
