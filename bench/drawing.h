// What the lines that draw share: passes, the vertices of mesh.vert, tolerances.
#pragma once

#include <functional>

#include "bench/line.h"

namespace pumice::bench {

constexpr double kMegapixels = kPicture.width * kPicture.height / 1e6;
constexpr VkFormat kDepthFormat = VK_FORMAT_D32_SFLOAT;

// Of a number in [0, 1] as a byte, with a little for interpolation in floats; the same of a product of two.
constexpr double kRounding = 0.6;

// The line's commands are one pass over `target` with what `draw` records. Before a check the target is overwritten.
void recordPass(Job& job, RenderTarget& target, const std::function<void(VkCommandBuffer)>& draw);

// Vertices of mesh.vert: place in clip space, R8G8B8A8 color. The push constants are added to place and blue.
struct MeshVertex {
  float x, y;
  uint32_t color;
};
struct MeshPush {
  float shiftX = 0, shiftY = 0, depth = 0.5f, blue = 0;
};
// A pipeline of mesh.vert and color.frag with depth test.
DrawState meshState();
void bindVertices(VkCommandBuffer commands, const Buffer& vertices, uint32_t binding = 0);

// The color of RenderTarget::kClear.
Color clearColor();

}  // namespace pumice::bench
