// What passes of triangles should have drawn: one triangle, one pixel, one sample after the other, with exact integers.
#pragma once

#include <vector>

#include "backend/gpu/pass_test_support.h"
#include "backend/raster/raster_reference.h"

namespace pumice::gpu::test {

// The viewport of these tests is 256 pixels wide and high, whatever the framebuffer is, so that clip coordinates of
// points of the 1/256 grid are exact.
inline constexpr float kViewport = 256;

inline Vec4 clipOf(raster::Point p) {
  return {static_cast<float>(p.x) / (128 * 256) - 1, static_cast<float>(p.y) / (128 * 256) - 1, 0.5f, 1};
}

class Reference {
 public:
  Reference(uint32_t width, uint32_t height, uint32_t samples_log2 = 0, uint32_t layers = 1, uint32_t value = 0)
      : width_(width),
        height_(height),
        samples_log2_(samples_log2),
        words_(size_t{layers} * width * height << samples_log2, value) {}

  uint32_t& at(uint32_t x, uint32_t y, uint32_t sample = 0, uint32_t layer = 0) {
    return words_[(((size_t{layer} * height_ + y) * width_ + x) << samples_log2_) + sample];
  }

  // Calls use(texel) for every sample that the triangle covers, of the pixels of `clip`.
  template <typename Use>
  void triangle(raster::Point a, raster::Point b, raster::Point c, const raster::PixelRect& clip, Use&& use,
                uint32_t layer = 0) {
    const int64_t area = raster::doubleArea(a, b, c);
    if (area == 0) return;
    const raster::Point corners[3] = {a, area > 0 ? b : c, area > 0 ? c : b};
    const auto pixel = [](int32_t v) { return v >> 8; };
    const int32_t x0 = std::max(clip.x0, pixel(std::min({a.x, b.x, c.x})) - 1);
    const int32_t x1 = std::min(clip.x1, pixel(std::max({a.x, b.x, c.x})) + 2);
    const int32_t y0 = std::max(clip.y0, pixel(std::min({a.y, b.y, c.y})) - 1);
    const int32_t y1 = std::min(clip.y1, pixel(std::max({a.y, b.y, c.y})) + 2);
    const raster::SamplePattern& pattern = raster::kSamplePatterns[samples_log2_];
    for (int32_t y = y0; y < y1; ++y)
      for (int32_t x = x0; x < x1; ++x)
        for (uint32_t s = 0; s < pattern.count; ++s)
          if (raster::holds(corners, 3, {x * 256 + pattern.x[s], y * 256 + pattern.y[s]}))
            use(at(static_cast<uint32_t>(x), static_cast<uint32_t>(y), s, layer));
  }
  void mixTriangle(raster::Point a, raster::Point b, raster::Point c, uint32_t draw, uint32_t primitive,
                   uint32_t layer = 0) {
    triangle(
        a, b, c, whole(), [&](uint32_t& t) { t = mix(t, draw * 1000003 + primitive); }, layer);
  }
  void fill(const abi::PassArea& area, uint32_t value, uint32_t layer = 0) {
    for (uint32_t y = area.y; y < std::min(area.y + area.height, height_); ++y)
      for (uint32_t x = area.x; x < std::min(area.x + area.width, width_); ++x)
        for (uint32_t s = 0; s < 1u << samples_log2_; ++s) at(x, y, s, layer) = value;
  }

  raster::PixelRect whole() const { return {0, 0, static_cast<int32_t>(width_), static_cast<int32_t>(height_)}; }

  // Texels that differ.
  uint32_t differences(Attachment& attachment, uint32_t layers = 1) {
    uint32_t count = 0;
    for (uint32_t layer = 0; layer < layers; ++layer)
      for (uint32_t y = 0; y < height_; ++y)
        for (uint32_t x = 0; x < width_; ++x)
          for (uint32_t s = 0; s < 1u << samples_log2_; ++s)
            count += at(x, y, s, layer) != attachment.at(x, y, s, layer);
    return count;
  }

 private:
  uint32_t width_, height_, samples_log2_;
  std::vector<uint32_t> words_;
};

inline raster::Point randomPoint(std::mt19937& random, int32_t width, int32_t height) {
  return {static_cast<int32_t>(random() % static_cast<uint32_t>(width * 256)),
          static_cast<int32_t>(random() % static_cast<uint32_t>(height * 256))};
}

inline constexpr uint32_t kWidth = 200;
inline constexpr uint32_t kHeight = 150;

// A setup whose viewport the reference knows, for framebuffers of kWidth by kHeight.
struct Scene : DrawSetup {
  std::vector<raster::Point> points;

  explicit Scene(uint32_t samples_log2 = 0) : DrawSetup(kWidth, kHeight, samples_log2) {
    viewports.viewports[0] = {0, 0, kViewport, kViewport, 0, 1};
  }
  void add(raster::Point p) {
    points.push_back(p);
    positions.push_back(clipOf(p));
  }
  void addTriangles(std::mt19937& random, uint32_t count) {
    for (uint32_t i = 0; i < 3 * count; ++i) add(randomPoint(random, kWidth, kHeight));
    usePositions();
  }
  // Small ones, all inside.
  void addSmallTriangles(std::mt19937& random, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const raster::Point p = randomPoint(random, kWidth - 5, kHeight - 5);
      add(p);
      for (int k = 0; k < 2; ++k)
        add({p.x + static_cast<int32_t>(random() % 1200), p.y + static_cast<int32_t>(random() % 1200)});
    }
    usePositions();
  }
  // A rectangle of two triangles, in pixels; primitives are numbered two by two.
  void addRectangle(int32_t x, int32_t y, int32_t width, int32_t height) {
    const raster::Point a{x * 256, y * 256};
    const raster::Point b{(x + width) * 256, (y + height) * 256};
    for (const raster::Point p : {a, {b.x, a.y}, {a.x, b.y}, {a.x, b.y}, {b.x, a.y}, b}) add(p);
    usePositions();
  }
  // Triangles first to first + count - 1 of the list, drawn as draw `id`.
  void expect(Reference& expected, uint32_t id, uint32_t first, uint32_t count, uint32_t layer = 0) const {
    for (uint32_t i = 0; i < count; ++i) {
      const raster::Point* p = &points[3 * (first + i)];
      expected.mixTriangle(p[0], p[1], p[2], id, i, layer);
    }
  }
};

inline void runAndWait(TestDevice& device, kmd::Queue* queue, Stream& stream) {
  ASSERT_EQ(Batch().run(stream).submit(device, queue), Status::kOk);
  ASSERT_EQ(device.idle(queue), Status::kOk);
}

}  // namespace pumice::gpu::test
