// A descriptor, taken apart for the length of a call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/abi/descriptor.h"
#include "backend/abi/image_call.h"
#include "backend/texture/block_cache.h"
#include "backend/texture/texel_format.h"

namespace pumice::texture {

/// One mip level of a view.
struct Level {
  std::byte* base;  // of the view's first layer
  uint32_t width, height, depth;
  uint32_t rowPitch_B;
  uint64_t slicePitch_B;  // what one step of the slice adds: a depth slice of a 3D view, else an array layer
  uint32_t sliceCount;    // depth of this level, or layers
};

struct View {
  const TexelFormat* format;  // nullptr: reads zero, writes vanish
  std::byte* address;
  const abi::ImageLevel* levelTable;
  uint64_t layerPitch_B;
  uint32_t width, height, depth, layers;
  uint32_t samplePitch_B;
  uint32_t samples;
  uint32_t levelCount;
  uint32_t blockStride_B;  // between 4x4 blocks of a row of quad-major texels
  abi::ViewShape shape;
  bool quadMajor;
  uint16_t swizzle;
  float minLod;
  uint64_t chroma;     // address of abi::ChromaPlanes, 0: none
  BlockCache* blocks;  // of compressed formats, set by who makes the call

  explicit operator bool() const { return format != nullptr; }

  /// Levels below it are as if they were outside of the view, for fetches and for gathering.
  uint32_t leastLevel() const { return static_cast<uint32_t>(minLod); }

  /// index < levelCount.
  Level level(uint32_t index) const;

  /// The component of texel coordinates that is a depth slice or an array layer; 3 when there is none.
  uint32_t sliceComponent() const;
};

inline Level View::level(uint32_t index) const {
  Level out{address, width, height, depth, 0, 0, 1};
  if (shape == abi::ViewShape::kBuffer) return out;
  const abi::ImageLevel& entry = levelTable[index];
  out.base += entry.offset_B;
  if (index != 0) {
    const uint32_t shift = index < 31 ? index : 31;
    out.width = width >> shift != 0 ? width >> shift : 1;
    out.height = height >> shift != 0 ? height >> shift : 1;
    out.depth = depth >> shift != 0 ? depth >> shift : 1;
  }
  out.rowPitch_B = entry.rowPitch_B;
  const bool volume = shape == abi::ViewShape::k3D;
  out.slicePitch_B = volume ? uint64_t{entry.slicePitch_64B} * 64 : layerPitch_B;
  out.sliceCount = volume ? out.depth : layers;
  return out;
}

inline uint32_t View::sliceComponent() const {
  switch (shape) {
    case abi::ViewShape::k1D:
      return 1;
    case abi::ViewShape::k2D:
    case abi::ViewShape::k3D:
    case abi::ViewShape::kCube:
      return 2;
    default:
      return 3;
  }
}

/// Of an ImageDescriptor or a TexelBufferDescriptor at this address.
View loadView(uint64_t descriptor);

}  // namespace pumice::texture
