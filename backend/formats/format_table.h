// What every VkFormat is: sizes, planes, components. Generated from the <formats> section of vk.xml (gen/), so that no
// list of formats is kept by hand anywhere else. Everything here is constant data: any thread may call it.
//
// Vulkan specification: "Format Definition", "Compatible Formats of Planes of Multi-Planar Formats".
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <span>

namespace pumice::formats {

enum class NumericFormat : uint8_t { kNone, kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kUfloat, kSfloat, kSrgb };
enum class Compression : uint8_t { kNone, kBc, kEtc2, kEac, kAstcLdr, kAstcHdr, kPvrtc };
enum class Chroma : uint8_t { kNone, k420, k422, k444 };
enum class ComponentName : uint8_t { kR, kG, kB, kA, kD, kS };

/// The type that a shader sees, and that clears and blits use.
enum class TexelType : uint8_t { kFloat, kUint, kSint };

struct Component {
  ComponentName name;
  NumericFormat numeric;
  uint8_t bits;         // 0 inside compressed blocks
  uint8_t plane;        // the memory plane that it lies in
  uint16_t bitOffset;   // of its lowest bit, from the start of the block in its plane (little endian)
  uint8_t elementBits;  // the word or array element that holds it: 8, 16, 32 or 64 (24-bit depth: 32)
};

/// One of the separately laid-out parts of an image in memory.
struct Plane {
  VkFormat format;  // what a texel of the plane is, alone
  uint8_t widthDivisor;
  uint8_t heightDivisor;
};

struct FormatInfo {
  const char* name;  // nullptr: not a format that is known here, and everything else is zero
  VkFormat format;
  uint8_t blockBytes;  // as in the registry: the sum over planes for multi-planar formats, 5 for D32_SFLOAT_S8_UINT
  uint8_t blockExtent[3];
  uint16_t texelsPerBlock;
  uint8_t compatibilityClass;  // equal numbers, same class; compatibilityClassName() names it
  Compression compression;
  Chroma chroma;               // not kNone: needs a sampler YCbCr conversion
  uint8_t packedBits;          // 0: not packed; else the size of the packed words
  uint8_t sharedExponentBits;  // above the components (E5B9G9R9), else 0
  // Y'CbCr planes as the registry has them. Depth and stencil of a combined format are planes 0 and 1 too: that is how
  // images of those formats are stored (docs/formats.md). All other formats have one plane, themselves.
  uint8_t planeCount;
  uint8_t componentCount;
  Plane planes[3];
  Component components[4];  // in the order of the format's name
};

/// Never fails: an unknown or undefined format gets an entry without a name.
const FormatInfo& formatInfo(VkFormat format);

/// All formats of the table, in rising order of their numbers.
std::span<const FormatInfo> allFormats();

const char* compatibilityClassName(uint8_t compatibilityClass);

/// The format of one aspect's texels in memory: planes of multi-planar formats, depth or stencil alone, and the format
/// itself for color. VK_FORMAT_UNDEFINED when the format has no such aspect.
VkFormat aspectFormat(VkFormat format, VkImageAspectFlagBits aspect);

/// The plane that an aspect lies in; 0 for color, depth alone and stencil alone.
uint32_t aspectPlane(VkFormat format, VkImageAspectFlagBits aspect);

/// Color, or depth and stencil. Planes of multi-planar formats are not included: see FormatInfo::planeCount.
VkImageAspectFlags formatAspects(const FormatInfo& info);

/// What texels become in a shader. Depth is kFloat; a combined depth-stencil format answers for its depth.
TexelType texelType(const FormatInfo& info);

inline bool isKnown(const FormatInfo& info) {
  return info.name != nullptr;
}
inline bool isCompressed(const FormatInfo& info) {
  return info.compression != Compression::kNone;
}
inline bool isMultiPlanar(const FormatInfo& info) {
  return info.planeCount > 1 && info.chroma != Chroma::kNone;
}
// Alpha is UNORM, and the first component of A8B8G8R8_SRGB_PACK32.
inline bool isSrgb(const FormatInfo& info) {
  return info.components[0].numeric == NumericFormat::kSrgb || info.components[1].numeric == NumericFormat::kSrgb;
}
bool hasDepth(const FormatInfo& info);
bool hasStencil(const FormatInfo& info);

}  // namespace pumice::formats
