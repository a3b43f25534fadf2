// Runs for tests of fragment code: random triangles, blocks and mixes of them with full and partial coverage, targets
// in quad-major order, and what inputs are at a pixel, in double precision.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "backend/abi/fragment_abi.h"
#include "backend/abi/image_layout.h"

namespace pumice::shader::codegen {

inline constexpr uint32_t kSize = 64;  // of the targets, in pixels
inline constexpr uint32_t kTargets = 6;
inline constexpr uint32_t kUntouched = 0xdead'beef;

// Of a sample in a target: index of its element.
inline uint32_t targetIndex(uint32_t x, uint32_t y, uint32_t sample, uint32_t samples) {
  return ((y / 4 * (kSize / 4) + x / 4) * samples + sample) * 16 + abi::quadMajorIndex(x & 3, y & 3);
}

template <typename Element>
abi::Surface targetSurface(std::vector<Element>& texels, uint32_t samples) {
  abi::Surface s{};
  s.address = reinterpret_cast<uint64_t>(texels.data());
  s.rowPitch_B = kSize / 4 * 16 * samples * sizeof(Element);
  s.slicePitch_B = texels.size() * sizeof(Element);
  s.samplePitch_B = 16 * sizeof(Element);
  s.elementBytes = sizeof(Element);
  s.order = abi::BlockOrder::kQuadMajor4;
  s.sampleCount = static_cast<uint8_t>(samples);
  s.blockPitch_B = 16 * samples * sizeof(Element);
  return s;
}

struct ScenePixel {
  uint32_t x, y, primitive;
  uint32_t vector, lane;  // blocks first
  bool covered;           // any sample
  uint32_t samples;       // bit per sample
};

class Scene {
 public:
  static constexpr uint32_t kPrimitives = 24, kSlots = 12, kBlocks = 40, kMixes = 20;

  explicit Scene(uint32_t samples = 1, uint32_t seed = 1) : random_(seed), samples_(samples) {
    for (auto& row : rows_)
      for (uint32_t c = 0; c < 4; ++c) row[c] = static_cast<float>(uniform(-50, 50));
    for (uint32_t p = 0; p < kPrimitives; ++p) makePrimitive(p);
    makeRun();
  }

  void attach(abi::FragmentEnv& env) const {
    env.primitives = primitives_.data();
    env.varyings = reinterpret_cast<const float(*)[4]>(rows_.data());
  }
  const abi::FragmentRun& run() const { return run_; }
  const std::vector<ScenePixel>& pixels() const { return pixels_; }
  abi::PrimitiveRecord& primitive(uint32_t p) { return primitives_[p]; }
  const abi::PrimitiveRecord& primitive(const ScenePixel& p) const { return primitives_[p.primitive]; }

  static double plane(const abi::PrimitiveRecord& p, const abi::ScreenPlane& plane, double x, double y) {
    return plane.atOrigin + (x - p.originX) * plane.dx + (y - p.originY) * plane.dy;
  }
  // At `dx`, `dy` from the pixel's corner.
  double perspective(const ScenePixel& at, uint32_t slot, uint32_t c, double dx = 0.5, double dy = 0.5) const {
    const abi::PrimitiveRecord& p = primitive(at);
    const double x = at.x + dx, y = at.y + dy;
    const double w = plane(p, p.oneOverW, x, y);
    return mixed(p, slot, c, plane(p, p.iOverW, x, y) / w, plane(p, p.jOverW, x, y) / w);
  }
  double linear(const ScenePixel& at, uint32_t slot, uint32_t c, double dx = 0.5, double dy = 0.5) const {
    const abi::PrimitiveRecord& p = primitive(at);
    return mixed(p, slot, c, plane(p, p.iLinear, at.x + dx, at.y + dy), plane(p, p.jLinear, at.x + dx, at.y + dy));
  }
  uint32_t flat(const ScenePixel& at, uint32_t slot, uint32_t c) const {
    return std::bit_cast<uint32_t>(rows_[primitive(at).provokingVertex + slot][c]);
  }
  double depth(const ScenePixel& at, double dx = 0.5, double dy = 0.5) const {
    return plane(primitive(at), primitive(at).depth, at.x + dx, at.y + dy);
  }
  double oneOverW(const ScenePixel& at) const {
    return plane(primitive(at), primitive(at).oneOverW, at.x + 0.5, at.y + 0.5);
  }
  // Size of the terms that an interpolated value is made of, which bounds its error.
  double largest(const ScenePixel& at, uint32_t slot, uint32_t c) const {
    const abi::PrimitiveRecord& p = primitive(at);
    const double w = oneOverW(at);
    const double i = plane(p, p.iOverW, at.x + 0.5, at.y + 0.5) / w, j = plane(p, p.jOverW, at.x + 0.5, at.y + 0.5) / w;
    const auto value = [&](uint32_t vertex) { return std::abs(double{rows_[vertex + slot][c]}); };
    const double sum = value(p.vertex0) + value(p.vertex1) + value(p.vertex2);
    return 4 * sum * (1 + std::abs(i) + std::abs(j));
  }
  // Half of the pixels have less.
  float median(uint32_t slot, uint32_t c) const {
    std::vector<double> all;
    for (const ScenePixel& p : pixels_) all.push_back(perspective(p, slot, c));
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 3), all.end());
    return static_cast<float>(all[all.size() / 3]);
  }

 private:
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

  double mixed(const abi::PrimitiveRecord& p, uint32_t slot, uint32_t c, double i, double j) const {
    const auto value = [&](uint32_t vertex) { return double{rows_[vertex + slot][c]}; };
    const double a = value(p.vertex0);
    return a + i * (value(p.vertex1) - a) + j * (value(p.vertex2) - a);
  }

  void makePrimitive(uint32_t n) {
    // Triangles of a size that keeps weights moderate all over the target.
    double x[3], y[3], w[3];
    double area = 0;
    do {
      for (uint32_t v = 0; v < 3; ++v) {
        x[v] = std::round(uniform(-60, 130) * 256) / 256;
        y[v] = std::round(uniform(-60, 130) * 256) / 256;
        w[v] = uniform(1, 3);
      }
      area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    } while (std::abs(area) < 6000);
    abi::PrimitiveRecord& p = primitives_[n];
    p.originX = static_cast<float>(x[0]);
    p.originY = static_cast<float>(y[0]);
    // Weights of vertices 1 and 2: zero at the origin.
    const double ix = (y[2] - y[0]) / area, iy = -(x[2] - x[0]) / area;
    const double jx = -(y[1] - y[0]) / area, jy = (x[1] - x[0]) / area;
    const auto make = [](double at, double dx, double dy) {
      return abi::ScreenPlane{static_cast<float>(at), static_cast<float>(dx), static_cast<float>(dy)};
    };
    p.iLinear = make(0, ix, iy);
    p.jLinear = make(0, jx, jy);
    p.iOverW = make(0, ix / w[1], iy / w[1]);
    p.jOverW = make(0, jx / w[2], jy / w[2]);
    const auto along = [&](double i, double j) { return i * (1 / w[1] - 1 / w[0]) + j * (1 / w[2] - 1 / w[0]); };
    p.oneOverW = make(1 / w[0], along(ix, jx), along(iy, jy));
    // Extrapolated far outside of the triangle 1/w may come near zero: those are no fragments.
    for (const double cx : {0.0, double{kSize}})
      for (const double cy : {0.0, double{kSize}})
        if (plane(p, p.oneOverW, cx, cy) < 0.1) return makePrimitive(n);
    p.depth = make(uniform(0.2, 0.8), uniform(-1e-3, 1e-3), uniform(-1e-3, 1e-3));
    const auto vertex = [&] { return static_cast<uint32_t>(random_() % kPrimitives) * kSlots; };
    p.vertex0 = vertex();
    p.vertex1 = vertex();
    p.vertex2 = vertex();
    p.provokingVertex = n % 3 == 0 ? p.vertex0 : n % 3 == 1 ? p.vertex1 : p.vertex2;
    p.primitiveId = 1000 + n;
    p.flags = n % 2 == 0 ? abi::kPrimitiveBackFacing : 0u;
    p.viewport = n % 16;
  }

  void makeRun() {
    // Every 4x4 block of the target once, in any order: whole ones first, then quads by fours.
    std::vector<uint32_t> order(kSize / 4 * kSize / 4);
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    const auto corner = [](uint32_t block) { return block % (kSize / 4) * 4 | (block / (kSize / 4) * 4) << 16; };
    run_.blockCount = kBlocks;
    run_.mixCount = kMixes;
    for (uint32_t b = 0; b < kBlocks; ++b) {
      run_.blockPosition[b] = corner(order[b]);
      run_.blockPrimitive[b] = static_cast<uint16_t>(random_() % kPrimitives);
      for (uint32_t s = 0; s < samples_; ++s)
        run_.blockCoverage[s][b] = static_cast<uint16_t>(b % 3 == 0 ? 0xffff : random_() | random_());
    }
    for (uint32_t m = 0; m < kMixes; ++m)
      for (uint32_t q = 0; q < 4; ++q) {
        const bool fills = m + 1 == kMixes && q > 1;
        const uint32_t block = order[kBlocks + m * 4 + q];
        const uint32_t inside = static_cast<uint32_t>(random_() % 4);
        run_.mixPosition[m][q] =
            fills ? run_.mixPosition[m][0] : corner(block) + (inside % 2 * 2 | (inside / 2 * 2) << 16);
        run_.mixPrimitive[m][q] = fills ? run_.mixPrimitive[m][0] : static_cast<uint16_t>(random_() % kPrimitives);
        uint32_t any = 0;
        while (!fills && any == 0)
          for (uint32_t s = 0; s < samples_; ++s) {
            const auto some = static_cast<uint32_t>(random_() % 16);
            run_.mixCoverage[s][m] = static_cast<uint16_t>((run_.mixCoverage[s][m] & ~(15u << 4 * q)) | some << 4 * q);
            any |= some;
          }
      }
    for (uint32_t v = 0; v < kBlocks + kMixes; ++v)
      for (uint32_t lane = 0; lane < 16; ++lane) pixels_.push_back(pixelOf(v, lane));
  }

  ScenePixel pixelOf(uint32_t v, uint32_t lane) const {
    const uint32_t quad = lane / 4;
    const bool isBlock = v < kBlocks;
    const uint32_t m = v - kBlocks;
    const uint32_t at = isBlock ? run_.blockPosition[v] : run_.mixPosition[m][quad];
    ScenePixel p{};
    p.x = (at & 0xffff) + (lane & 1) + (isBlock ? quad % 2 * 2 : 0);
    p.y = (at >> 16) + (lane >> 1 & 1) + (isBlock ? quad / 2 * 2 : 0);
    p.primitive = isBlock ? run_.blockPrimitive[v] : run_.mixPrimitive[m][quad];
    p.vector = v;
    p.lane = lane;
    for (uint32_t s = 0; s < samples_; ++s)
      p.samples |= ((isBlock ? run_.blockCoverage[s][v] : run_.mixCoverage[s][m]) >> lane & 1u) << s;
    p.covered = p.samples != 0;
    return p;
  }

  std::mt19937 random_;
  uint32_t samples_;
  std::array<std::array<float, 4>, kPrimitives * kSlots> rows_{};
  std::array<abi::PrimitiveRecord, kPrimitives> primitives_{};
  abi::FragmentRun run_{};
  std::vector<ScenePixel> pixels_;
};

}  // namespace pumice::shader::codegen
