// A hundred thousand cubes in front of a camera: what a pass needs to draw them as instances, and what it has to show.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/drawing.h"

namespace pumice::bench {

class CubeField {
 public:
  static constexpr uint32_t kCubes = 100'000;
  static constexpr double kTriangles = 12.0 * kCubes;  // before culling

  explicit CubeField(Host& host);

  static DrawState state();
  // Into the pass that has begun.
  void draw(VkCommandBuffer commands, const DrawPipeline& pipeline) const;
  // Casts rays through pixels of the picture; the first disagreement as text.
  std::string verify(std::span<const uint8_t> pixels) const;

 private:
  struct Instance {
    float center[3], half;
    uint32_t color;
  };
  // Cubes that may be seen in a square of the screen.
  using Bucket = std::vector<uint32_t>;

  void sortIntoBuckets();
  Color colorOfRay(double x, double y, const Bucket& bucket) const;

  Buffer corners_, indices_, instances_;
  std::vector<Bucket> buckets_;
};

}  // namespace pumice::bench
