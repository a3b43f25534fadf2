// Images of tests: bytes in the layout that images have, reached through formats::elementOffset_B, which is tested on
// its own and shares nothing with the engine's addressing.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "backend/abi/packets.h"
#include "backend/formats/image_layout.h"

namespace pumice::gpu::test {

class TestImage {
 public:
  TestImage(const formats::ImageShape& shape, std::mt19937& random) : shape_(shape) {
    if (!formats::computeLayout(shape, &layout_)) std::abort();
    bytes_.resize(layout_.size_B + 64);
    for (std::byte& b : bytes_) b = static_cast<std::byte>(random());
    start_ = (64 - reinterpret_cast<uintptr_t>(bytes_.data()) % 64) % 64;
  }

  const formats::ImageShape& shape() const { return shape_; }
  const formats::PlaneLayout& layout() const { return layout_; }
  std::byte* data() { return bytes_.data() + start_; }
  std::vector<std::byte> content() { return {data(), data() + layout_.size_B}; }
  bool quads() const { return layout_.kind.order == abi::BlockOrder::kQuadMajor4; }

  uint64_t offset(uint32_t level, uint32_t slice, uint32_t sample, uint32_t x, uint32_t y) const {
    const bool volume = shape_.type == VK_IMAGE_TYPE_3D;
    return formats::elementOffset_B(layout_, level, volume ? 0 : slice, volume ? slice : 0, sample, x, y);
  }
  std::byte* at(uint32_t level, uint32_t slice, uint32_t sample, uint32_t x, uint32_t y) {
    return data() + offset(level, slice, sample, x, y);
  }

  abi::Surface surface(uint32_t level, uint32_t slice) {
    const bool volume = shape_.type == VK_IMAGE_TYPE_3D;
    abi::Surface s{};
    s.address = reinterpret_cast<uint64_t>(data()) + layout_.levels[level].offset_B;
    s.rowPitch_B = layout_.levels[level].rowPitch_B;
    s.slicePitch_B = volume ? layout_.slicePitch_B(level) : layout_.layerPitch_B;
    s.samplePitch_B = layout_.samplePitch_B(level);
    s.address += slice * s.slicePitch_B;
    s.elementBytes = layout_.kind.elementBytes;
    s.order = layout_.kind.order;
    s.sampleCount = static_cast<uint8_t>(layout_.sampleCount);
    s.blockPitch_B = layout_.blockPitch_B();
    return s;
  }

 private:
  formats::ImageShape shape_;
  formats::PlaneLayout layout_;
  std::vector<std::byte> bytes_;
  size_t start_ = 0;
};

}  // namespace pumice::gpu::test
