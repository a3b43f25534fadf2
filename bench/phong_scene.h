// A surface lit by Phong's model with a normal map, in quads over the whole picture: what a pass needs to draw it, and
// its colors in double precision.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/drawing.h"

namespace pumice::bench {

class PhongScene {
 public:
  // Of a color: where the filter of the normal map is off by one in eight bits, the normal turns by 1/128, of which the
  // highlight's power makes 0.3 * 16 / 128 at most, half of that where it is steep.
  static constexpr double kTolerance = 4;

  explicit PhongScene(Host& host);

  // A pipeline's state; the low byte of `salt` becomes the picture's alpha, which is 255 without it.
  static DrawState state(std::optional<uint32_t> salt = {});
  VkDescriptorSet makeSet(DrawPipeline& pipeline) const;
  // Into the pass that has begun.
  void draw(VkCommandBuffer commands, const DrawPipeline& pipeline, VkDescriptorSet set) const;
  // What a pixel shows, with an alpha of 255.
  Color colorAt(uint32_t x, uint32_t y) const;

 private:
  Texels albedo_, normals_;
  Buffer vertices_, indices_, uniforms_;
  Texture albedoTexture_, normalTexture_;
};

}  // namespace pumice::bench
