// Descriptors are plain GPU memory. A set is a block of bytes at an address; compiled code reads it directly. The
// all-zero pattern of every kind is the null descriptor (reads zero, writes vanish, size zero).
//
// No host pointer and no code pointer ever stands in a descriptor: they lie in memory that an application can write
// (descriptor buffers), so image and sampler kinds are class indices into tables that the driver owns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pumice::abi {

inline constexpr uint32_t kMaxBoundSets = 32;
// Dynamic offsets of all sets of a pipeline layout, numbered in (set, binding, array element) order.
inline constexpr uint32_t kMaxDynamicOffsets = 64;

struct BufferDescriptor {
  uint64_t address;  // first byte; dynamic offsets are added by the code that reads the descriptor
  uint64_t size_B;   // bytes that may be accessed from address + dynamic offset; VK_WHOLE_SIZE is resolved at update
};
static_assert(sizeof(BufferDescriptor) == 16);

struct TexelBufferDescriptor {
  uint64_t address;
  uint32_t elementCount;  // texels, at most maxTexelBufferElements
  uint16_t viewClass;     // index of the format's fetch and store routines; 0 = null
  uint16_t elementBytes;
  uint64_t reserved[2];
};
static_assert(sizeof(TexelBufferDescriptor) == 32);

struct ImageDescriptor {
  uint64_t address;        // of the view's base level and layer
  uint32_t width, height;  // of the base level, in texels
  uint32_t depthOrLayers;
  uint16_t viewClass;  // dimensionality x format x layout class; 0 = null
  uint8_t levelCount;
  uint8_t samples_log2;
  uint32_t rowPitch_B;  // of the base level: a row of texels, or a row of blocks (image_layout.h)
  uint32_t baseLevel;   // level numbers index levelOffset's table in the image's header block
  uint64_t layerPitch_B;
  uint64_t levelTable;  // address of uint64_t offsets per level, from the image's first byte
  uint32_t minLod_8;    // unsigned fixed point with 8 fractional bits
  uint32_t reserved;
  uint64_t reserved2;
};
static_assert(sizeof(ImageDescriptor) == 64);

struct SamplerDescriptor {
  uint16_t samplerClass;  // filter x address modes x compare; 0 = null
  uint16_t flags;
  float lodBias, minLod, maxLod;
  float maxAnisotropy;
  uint32_t reserved;
  uint32_t borderColor[4];
  uint64_t reserved2;
  // Padding to 64 keeps an array of combined image samplers (image, then sampler) at a power of two.
  uint64_t reserved3;
  uint64_t reserved4;
};
static_assert(sizeof(SamplerDescriptor) == 64);

inline constexpr uint32_t kDescriptorAlignBytes = 64;  // of a set and of each binding that holds images or samplers
inline constexpr uint32_t kInlineUniformAlignBytes = 16;

// How shader code finds the descriptors of (set, binding): made by the pipeline layout, used by compiler and
// interpreter.
struct BindingSlot {
  uint32_t set, binding;
  uint32_t count;         // array elements
  uint32_t offset_B;      // of element 0 in the set
  uint32_t stride_B;      // between elements
  uint32_t dynamicIndex;  // of element 0 in BindingState::dynamicOffset_B, kNotDynamic if it has none
};
inline constexpr uint32_t kNotDynamic = ~0u;

}  // namespace pumice::abi
