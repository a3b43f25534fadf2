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
  uint16_t viewClass;     // makeViewClass(kBuffer, ...); 0 = null
  uint16_t elementBytes;
  uint64_t reserved[2];  // zero: where an image has its class, which tells the two apart
};
static_assert(sizeof(TexelBufferDescriptor) == 32);
static_assert(offsetof(TexelBufferDescriptor, viewClass) == 12);

// What code must know of a view to find and read a texel: shape, order of texels and format. 16 bits, never zero for a
// view that exists.
enum class ViewShape : uint8_t { kNull = 0, kBuffer, k1D, k2D, k3D, kCube };  // arrayness is in depthOrLayers

constexpr uint16_t makeViewClass(ViewShape shape, bool quadMajor, uint16_t formatIndex) {
  return static_cast<uint16_t>(static_cast<uint32_t>(shape) | (quadMajor ? 8u : 0u) | formatIndex << 4u);
}
constexpr ViewShape viewShape(uint16_t viewClass) {
  return static_cast<ViewShape>(viewClass & 7u);
}
constexpr bool isQuadMajor(uint16_t viewClass) {
  return (viewClass & 8u) != 0;
}
// Index of the view's texel format in formats::allFormats(); of one aspect or plane: its own format.
constexpr uint16_t formatIndex(uint16_t viewClass) {
  return static_cast<uint16_t>(viewClass >> 4u);
}

// Where a view's component comes from; three bits each in ImageDescriptor::swizzle, red in the lowest.
enum class Swizzle : uint8_t { kRed = 0, kGreen, kBlue, kAlpha, kZero, kOne };
constexpr uint16_t packSwizzle(Swizzle r, Swizzle g, Swizzle b, Swizzle a) {
  return static_cast<uint16_t>(static_cast<uint32_t>(r) | static_cast<uint32_t>(g) << 3 |
                               static_cast<uint32_t>(b) << 6 | static_cast<uint32_t>(a) << 9);
}
inline constexpr uint16_t kIdentitySwizzle = 0 | 1 << 3 | 2 << 6 | 3 << 9;

// One per mip level, in GPU memory that belongs to the image.
struct ImageLevel {
  uint64_t offset_B;        // from the start of an array layer
  uint32_t rowPitch_B;      // a row of texels or compressed blocks; quad-major: a row of 4x4 blocks
  uint32_t slicePitch_64B;  // between depth slices (3D), in units of 64 bytes
};
static_assert(sizeof(ImageLevel) == 16);

struct ImageDescriptor {
  uint64_t address;        // of the view's first array layer: level offsets and slices count from there
  uint32_t width, height;  // of the view's base level, in texels of the view's format
  uint32_t depthOrLayers;  // 3D: depth of the base level; else array layers (six a cube)
  uint16_t viewClass;
  uint8_t levelCount;
  uint8_t samples_log2;
  uint32_t samplePitch_B;  // between samples of a texel: inside a 4x4 block (quad-major) or a row (row-linear)
  uint16_t swizzle;        // identity for storage images
  uint16_t minLod_8;       // from the view's base level on; unsigned fixed point with 8 fractional bits
  uint64_t layerPitch_B;   // between array layers, the same for all levels
  uint64_t levelTable;     // address of the ImageLevel of the view's base level; levelCount of them follow
  uint64_t chroma;         // address of the view's ChromaPlanes; 0: what is sampled has no planes of its own for chroma
  // What compiled code needs to find texels of the base level by itself, without the level table (whose image may be
  // gone where no lane accesses the descriptor).
  uint32_t texelsOffset_B;  // from `address` to the base level's first texel
  uint32_t plainPitch_B;    // its row pitch if plainRows() holds, else 0
};
static_assert(sizeof(ImageDescriptor) == 64);
static_assert(offsetof(ImageDescriptor, viewClass) == 20 && offsetof(ImageDescriptor, levelTable) == 40);
static_assert(offsetof(ImageDescriptor, texelsOffset_B) == 56 && offsetof(ImageDescriptor, plainPitch_B) == 60);

// Whether texel (x, y) of a layer's base level lies at address + texelsOffset + y * pitch + x * bytes and means what
// its format says: row-linear, one sample, components as they come, no part of a level further than 4 GiB away, words
// aligned, no level hidden.
constexpr bool plainRows(const ImageDescriptor& d, const ImageLevel& base) {
  return d.address != 0 && viewShape(d.viewClass) == ViewShape::k2D && !isQuadMajor(d.viewClass) &&
         d.samples_log2 == 0 && d.swizzle == kIdentitySwizzle && (d.address + base.offset_B) % 4 == 0 &&
         base.rowPitch_B % 4 == 0 && base.offset_B <= 0xFFFF'FFFFu && d.chroma == 0 && d.minLod_8 == 0 &&
         uint64_t{base.rowPitch_B} * d.height <= 0xFFFF'FFFFu;
}
// Fills in the fields above; the others are set.
constexpr void setPlainRows(ImageDescriptor& d, const ImageLevel& base) {
  const bool plain = plainRows(d, base);
  d.texelsOffset_B = plain ? static_cast<uint32_t>(base.offset_B) : 0;
  d.plainPitch_B = plain ? base.rowPitch_B : 0;
}

// The chroma of a view that is sampled with a Y'CbCr conversion, in GPU memory that belongs to the view. The view's own
// descriptor is that of luma, in R. C_B is in R of the first, C_R in R of the second or, if that is null, in G of the
// first. Single-plane 4:2:2 formats are the same memory seen twice: as texels of half and of whole blocks.
struct ChromaPlanes {
  ImageDescriptor plane[2];
};

// A sampler's Y'CbCr conversion (Vulkan 1.3, 16.3.9 and 16.4), in SamplerDescriptor::conversion. Never zero for one
// that exists.
struct ChromaConversion {
  uint32_t model;      // VkSamplerYcbcrModelConversion
  bool narrow;         // range
  bool cosited[2];     // chroma samples lie at even luma samples, in x and y; else between two
  bool linear;         // chroma filter
  bool explicitly;     // chroma is reconstructed at luma's texels, then filtered with it
  bool subsampled[2];  // chroma has half of luma's resolution, in x and y
  uint32_t bits;       // of a component
  uint16_t swizzle;    // applied before the conversion
};
constexpr uint32_t packConversion(const ChromaConversion& c) {
  return c.model | (c.narrow ? 8u : 0u) | (c.cosited[0] ? 16u : 0u) | (c.cosited[1] ? 32u : 0u) |
         (c.linear ? 64u : 0u) | (c.explicitly ? 128u : 0u) | (c.subsampled[0] ? 256u : 0u) |
         (c.subsampled[1] ? 512u : 0u) | c.bits << 10 | uint32_t{c.swizzle} << 16 | 1u << 31;
}
constexpr ChromaConversion unpackConversion(uint32_t packed) {
  const auto bit = [packed](uint32_t n) { return (packed >> n & 1) != 0; };
  return {packed & 7, bit(3),           {bit(4), bit(5)},  bit(6),
          bit(7),     {bit(8), bit(9)}, packed >> 10 & 31, static_cast<uint16_t>(packed >> 16 & 0xfff)};
}

// What decides which sampling code runs. Values are those of VkFilter (cubic: 2), VkSamplerMipmapMode and
// VkSamplerAddressMode. Never zero for a sampler that exists.
constexpr uint16_t makeSamplerClass(uint32_t magFilter, uint32_t minFilter, uint32_t mipmapMode, uint32_t addressU,
                                    uint32_t addressV, uint32_t addressW) {
  return static_cast<uint16_t>(magFilter | minFilter << 2 | mipmapMode << 4 | addressU << 5 | addressV << 8 |
                               addressW << 11 | 0x8000u);
}
// Added to the class of samplers with a Y'CbCr conversion: it is none that code for plain samplers knows.
inline constexpr uint16_t kSamplerClassConverts = 0x4000;

enum SamplerFlags : uint16_t {
  kSamplerCompare = 1,       // compareOp counts
  kSamplerUnnormalized = 2,  // coordinates in texels
  kSamplerAnisotropic = 4,   // maxAnisotropy counts
  kSamplerSeamlessOff = 8,   // VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT
  kSamplerReduceMin = 16,    // instead of the weighted average
  kSamplerReduceMax = 32,
};

struct SamplerDescriptor {
  uint16_t samplerClass;  // makeSamplerClass(); 0 = null
  uint16_t flags;         // SamplerFlags
  float lodBias, minLod, maxLod;
  float maxAnisotropy;
  uint32_t compareOp;       // VkCompareOp
  uint32_t borderColor[4];  // bits of floats or integers, as the border colour says; custom ones as given
  uint32_t conversion;      // packConversion(); 0: none
  uint32_t reserved;
  uint64_t reserved2[2];  // 64 bytes keep an array of combined image samplers (image, then sampler) at a power of two
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
