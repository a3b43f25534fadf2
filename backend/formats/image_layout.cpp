#include "backend/formats/image_layout.h"

#include <algorithm>
#include <bit>

#include "backend/abi/memory_map.h"

namespace pumice::formats {
namespace {

constexpr uint64_t kLineBytes = abi::kResourceAlignBytes;
// Rows of linear tiling are seen by the application: no more padding than a vector load wants.
constexpr uint64_t kLinearRowAlignBytes = 16;
constexpr uint64_t kPageBytes = abi::kPageBytes;

/// Arithmetic that remembers whether anything overflowed.
class Bytes {
 public:
  explicit Bytes(uint64_t value) : value_(value) {}

  Bytes& times(uint64_t factor) {
    overflow_ |= __builtin_mul_overflow(value_, factor, &value_);
    return *this;
  }
  Bytes& plus(const Bytes& other) {
    overflow_ |= other.overflow_ || __builtin_add_overflow(value_, other.value_, &value_);
    return *this;
  }
  Bytes& alignTo(uint64_t align) {
    plus(Bytes(align - 1));
    value_ &= ~(align - 1);
    return *this;
  }
  uint64_t value() const { return value_; }
  bool fits(uint64_t limit) const { return !overflow_ && value_ <= limit; }

 private:
  uint64_t value_;
  bool overflow_ = false;
};

uint64_t elementsOf(uint32_t texels, uint32_t level, uint32_t elementTexels) {
  const uint64_t here = std::max(1u, texels >> level);
  return (here + elementTexels - 1) / elementTexels;
}

}  // namespace

abi::BlockOrder blockOrder(const ImageShape& shape) {
  constexpr VkImageUsageFlags kAttachment = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                            VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT |
                                            VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
  const bool quads = shape.tiling == VK_IMAGE_TILING_OPTIMAL && shape.elementWidth == 1 && shape.elementHeight == 1 &&
                     shape.elementBytes <= 16 && std::has_single_bit(shape.elementBytes) &&
                     (shape.usage & kAttachment) != 0;
  return quads ? abi::BlockOrder::kQuadMajor4 : abi::BlockOrder::kRowLinear;
}

bool computeLayout(const ImageShape& shape, PlaneLayout* out) {
  *out = {};
  out->kind = {shape.elementBytes, blockOrder(shape), 0, 0};
  out->levelCount = shape.levelCount;
  out->layerCount = shape.layerCount;
  out->sampleCount = shape.sampleCount;
  const bool quads = out->kind.order == abi::BlockOrder::kQuadMajor4;
  const bool optimal = shape.tiling == VK_IMAGE_TILING_OPTIMAL;

  Bytes layer(0);
  for (uint32_t l = 0; l < shape.levelCount; ++l) {
    const uint64_t width = elementsOf(shape.width, l, shape.elementWidth);
    const uint64_t height = elementsOf(shape.height, l, shape.elementHeight);
    const uint64_t depth = elementsOf(shape.depth, l, shape.elementDepth);
    const uint64_t rows = quads ? (height + 3) / 4 : height;
    const uint64_t samples = quads ? 1 : shape.sampleCount;  // in a row; quad-major, they are in the blocks
    Bytes row(quads ? (width + 3) / 4 : width);
    row.times(quads ? out->blockPitch_B() : shape.elementBytes).alignTo(optimal ? kLineBytes : kLinearRowAlignBytes);
    // Rows a multiple of 4 KiB apart would all fall into the same set of the first-level cache: a filter or a tile that
    // is higher than the cache has ways would push itself out.
    if (optimal && rows > 1 && row.value() * samples % kPageBytes == 0) row.plus(Bytes(kLineBytes));
    row.times(samples);
    Bytes slice = row;
    slice.times(rows).alignTo(abi::kSlicePitchUnitBytes);
    if (!row.fits(UINT32_MAX) || !slice.fits(kMaxImageBytes - 1)) return false;
    out->levels[l] = {layer.value(), static_cast<uint32_t>(row.value()),
                      static_cast<uint32_t>(slice.value() / abi::kSlicePitchUnitBytes)};
    slice.times(depth);
    layer.plus(slice);
    if (!layer.fits(kMaxImageBytes)) return false;
  }
  out->layerPitch_B = layer.value();
  layer.times(shape.layerCount);
  out->size_B = layer.value();
  return layer.fits(kMaxImageBytes);
}

uint64_t elementOffset_B(const PlaneLayout& layout, uint32_t level, uint32_t layer, uint32_t z, uint32_t sample,
                         uint32_t x, uint32_t y) {
  const abi::ImageLevel& l = layout.levels[level];
  const uint64_t slice =
      layer * layout.layerPitch_B + l.offset_B + z * layout.slicePitch_B(level) + sample * layout.samplePitch_B(level);
  if (layout.kind.order == abi::BlockOrder::kRowLinear) {
    return slice + uint64_t{y} * l.rowPitch_B + uint64_t{x} * layout.kind.elementBytes;
  }
  return slice + uint64_t{y / 4} * l.rowPitch_B + uint64_t{x / 4} * layout.blockPitch_B() +
         abi::quadMajorIndex(x % 4, y % 4) * uint64_t{layout.kind.elementBytes};
}

}  // namespace pumice::formats
