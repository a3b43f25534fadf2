#include "backend/raster/viewport.h"

#include <algorithm>
#include <cmath>

namespace pumice::raster {
namespace {

constexpr float kFar = 1 << 20;  // pixels: beyond every framebuffer, and every integer conversion is safe

// The number of the first pixel whose center is at or behind the side.
int32_t firstPixel(float side) {
  return static_cast<int32_t>(std::ceil(std::clamp(side, -kFar, kFar) - 0.5f));
}

bool isWhole(float side) {
  return side == std::floor(side);
}

}  // namespace

ViewTransform makeViewTransform(const abi::Viewport& v, bool depthNegativeOneToOne, bool depthClip) {
  ViewTransform out;
  out.scaleX = v.width * 0.5f;
  out.scaleY = v.height * 0.5f;
  out.offsetX = v.x + v.width * 0.5f;
  out.offsetY = v.y + v.height * 0.5f;
  out.scaleZ = depthNegativeOneToOne ? (v.maxDepth - v.minDepth) * 0.5f : v.maxDepth - v.minDepth;
  out.offsetZ = depthNegativeOneToOne ? (v.maxDepth + v.minDepth) * 0.5f : v.minDepth;
  out.nearW = depthNegativeOneToOne ? 1.0f : 0.0f;
  out.depthClip = depthClip;
  const float x1 = v.x + v.width;
  const float y0 = std::min(v.y, v.y + v.height);
  const float y1 = std::max(v.y, v.y + v.height);
  out.pixels = {firstPixel(v.x), firstPixel(y0), firstPixel(x1), firstPixel(y1)};
  out.guardMinX = out.guardMinY = static_cast<float>(kMinCoordinate);
  out.guardMaxX = out.guardMaxY = static_cast<float>(kMaxCoordinate);
  if (!isWhole(v.x) || !isWhole(x1)) {
    out.guardMinX = std::max(out.guardMinX, v.x * kSubpixels);
    out.guardMaxX = std::min(out.guardMaxX, x1 * kSubpixels);
    out.pixels.x0 = firstPixel(std::floor(std::clamp(v.x, -kFar, kFar)));
    out.pixels.x1 = firstPixel(std::ceil(std::clamp(x1, -kFar, kFar)));
  }
  if (!isWhole(y0) || !isWhole(y1)) {
    out.guardMinY = std::max(out.guardMinY, y0 * kSubpixels);
    out.guardMaxY = std::min(out.guardMaxY, y1 * kSubpixels);
    out.pixels.y0 = firstPixel(std::floor(std::clamp(y0, -kFar, kFar)));
    out.pixels.y1 = firstPixel(std::ceil(std::clamp(y1, -kFar, kFar)));
  }
  return out;
}

}  // namespace pumice::raster
