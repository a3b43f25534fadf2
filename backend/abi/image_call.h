// How compiled shader code asks the runtime for an access to an image: the road that serves every view, sampler and
// format. Common cases are compiled inline instead (shaders/passes/lower_images).
//
// One call serves up to sixteen lanes; everything is by component, then by lane. Fields that an operation does not use
// are left undefined by the caller. The callee is a leaf without locks; stray descriptors may fault like any access.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pumice::abi {

inline constexpr uint32_t kImageCallLanes = 16;

enum class ImageOp : uint8_t {
  // Coordinates in texels, no sampler: OpImageFetch, OpImageRead. Out of range: zero in the components that the format
  // has, then 0, 0, 1 in missing G, B, A (robustImageAccess2, robustBufferAccess2). Null descriptors: 0, 0, 0, 0.
  kRead,
  kWrite,  // out of range: nothing
  // Atomics: 32 or 64 bits; out of range: 0 and no effect. The comparator comes after the value: texel[1].
  kAtomicAdd,
  kAtomicUMin,
  kAtomicUMax,
  kAtomicSMin,
  kAtomicSMax,
  kAtomicAnd,
  kAtomicOr,
  kAtomicXor,
  kAtomicExchange,
  kAtomicCompareExchange,
  kAtomicFAdd,
  kAtomicFMin,  // floats of 32 bits; nothing changes if one of the two is a NaN
  kAtomicFMax,
  kSample,   // with explicit level (lod) or gradients
  kGather,   // component `gatherComponent` of the four texels of a linear filter
  kQueryLod  // texel[0] = level that would be used, texel[1] = the level before clamping (OpImageQueryLod)
};

enum ImageCallFlags : uint32_t {
  kImageUniformDescriptor = 1,  // only image[0] and sampler[0] are set
  kImageLod = 2,                // lod: kRead a signed level, sampling a float level; with kImageGrad: a bias
  kImageSampleIndex = 4,        // lod: kRead, kWrite, atomics: the sample
  kImageGrad = 8,               // ddx, ddy
  kImageOffset = 16,            // offset; kGather: the same for all four
  kImageGatherOffsets = 32,     // gatherOffset, one per texel
  kImageReference = 64,         // depth comparison; the sampler's compareOp
  kImageMinLod = 128,
  kImage64 = 256,         // 64-bit texels: texel[0] low, texel[1] high (comparator: texel[2], texel[3])
  kImageProjected = 512,  // reserved: the compiler divides
};

struct alignas(64) ImageCall {
  ImageOp op;
  uint8_t gatherComponent;
  uint16_t activeLanes;    // bit l = lane l takes part
  uint32_t flags;          // ImageCallFlags
  uint16_t residentLanes;  // out: sparse residency; all lanes for now
  uint16_t reserved[3];
  uint64_t reserved2[6];
  uint64_t image[kImageCallLanes];    // addresses of ImageDescriptor or TexelBufferDescriptor; 0 = null descriptor
  uint64_t sampler[kImageCallLanes];  // addresses of SamplerDescriptor; 0 = null descriptor
  // x, y, z as the view's shape has them, then the array layer (zero if the shader's image is not arrayed). Texels:
  // signed integers, a cube being a 2D array of six faces a cube; sampling: floats, a cube's direction and then its
  // number.
  uint32_t coordinate[4][kImageCallLanes];
  uint32_t lod[kImageCallLanes];
  uint32_t minLod[kImageCallLanes];
  uint32_t reference[kImageCallLanes];
  uint32_t ddx[3][kImageCallLanes];
  uint32_t ddy[3][kImageCallLanes];
  int32_t offset[3][kImageCallLanes];
  int32_t gatherOffset[4][2];
  uint32_t reserved3[8];
  // In: what to write, the atomic's value. Out: four components of the view's texel type after its swizzle, or the old
  // value. Lanes that do not take part keep what was there.
  uint32_t texel[4][kImageCallLanes];
};
static_assert(offsetof(ImageCall, image) == 64 && offsetof(ImageCall, coordinate) == 320);
static_assert(offsetof(ImageCall, lod) == 576 && offsetof(ImageCall, ddx) == 768);
static_assert(offsetof(ImageCall, offset) == 1152 && offsetof(ImageCall, texel) == 1408);
static_assert(sizeof(ImageCall) == 1664);

using ImageCallFunction = void(ImageCall* call);

}  // namespace pumice::abi
