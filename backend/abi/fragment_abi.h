// The contract between compiled fragment shaders and the machine. A call shades a *run*: quads that one draw covers, of
// any of its primitives in one chunk and one tile, no two at the same place. docs/graphics.md says why. Read by
// generated code at fixed offsets, like shader_abi.h.
//
// Sixteen lanes are four quads; the lanes of a quad are (0,0), (1,0), (0,1), (1,1), as texels lie in memory
// (quadMajorIndex). Derivatives are differences between lanes of a quad. All lanes of a quad with any coverage run;
// those without are helper lanes: they take part in derivatives and quad operations, and store nothing. A lane that
// discards or is demoted becomes a helper lane; a quad ends when all its lanes are helpers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/abi/packets.h"
#include "backend/abi/shader_abi.h"

namespace pumice::abi {

inline constexpr uint32_t kMaxColorAttachments = 8;
inline constexpr uint32_t kMaxSamples = 8;
inline constexpr uint32_t kMaxViewports = 16;

// value(x, y) = atOrigin + (x - originX) * dx + (y - originY) * dy, in pixels, pixel centers being at halves.
struct ScreenPlane {
  float atOrigin, dx, dy;
};

enum PrimitiveFlags : uint32_t {
  kPrimitiveBackFacing = 1,
  kPrimitiveAllSamples = 2,  // a Bresenham line: coverage is that of pixel centers, for all samples
};

// What a fragment needs of its primitive: rows of sixteen bytes, so that four quads of four primitives load a row as
// four quarters of one vector, and each coefficient is one shuffle inside the quarters.
//
// The origin is the snapped position of a vertex, so that planes of small primitives keep their precision anywhere.
// With i and j the weights of vertices 1 and 2 (that of vertex 0 is 1 - i - j), an attribute is
//   a0 + i * (a1 - a0) + j * (a2 - a0),    i = iOverW(x, y) / oneOverW(x, y), perspective; or i = iLinear(x, y).
// Lines have j = 0; points have i = j = 0, and PointCoord in iLinear and jLinear.
struct alignas(16) PrimitiveRecord {
  ScreenPlane oneOverW;
  float originX;
  ScreenPlane iOverW;
  float originY;
  ScreenPlane jOverW;
  uint32_t vertex0;  // row of FragmentEnv::varyings where the vertex begins
  ScreenPlane iLinear;
  uint32_t vertex1;
  ScreenPlane jLinear;
  uint32_t vertex2;
  ScreenPlane depth;  // with depth bias, not clamped
  uint32_t provokingVertex;
  uint32_t primitiveId;
  uint32_t flags;  // PrimitiveFlags
  uint32_t viewport;
  uint32_t reserved;
  float depthMin, depthMax;  // over the primitive: bounds for early rejection
  float reserved2[2];
};
static_assert(sizeof(PrimitiveRecord) == 128);
static_assert(offsetof(PrimitiveRecord, iOverW) == 16 && offsetof(PrimitiveRecord, jOverW) == 32);
static_assert(offsetof(PrimitiveRecord, iLinear) == 48 && offsetof(PrimitiveRecord, jLinear) == 64);
static_assert(offsetof(PrimitiveRecord, depth) == 80 && offsetof(PrimitiveRecord, primitiveId) == 96);
static_assert(offsetof(PrimitiveRecord, depthMin) == 112);

// Vectors of sixteen lanes. A *block* is a 4x4 block of pixels of one primitive: attachments are read and written by
// whole blocks, planes by broadcasts. A *mix* is four quads from anywhere. A quad of a block that has no coverage may
// stand in a mix or in another block: only covered lanes may be stored, or vectors must be stored in order, blocks
// before mixes.
inline constexpr uint32_t kRunBlocks = 64;
inline constexpr uint32_t kRunMixes = 32;

struct alignas(64) FragmentRun {
  uint32_t blockCount;
  uint32_t mixCount;
  uint32_t reserved[14];
  // Of the upper left pixel of the block or quad: x | y << 16, in framebuffer coordinates.
  uint32_t blockPosition[kRunBlocks];
  uint32_t mixPosition[kRunMixes][4];
  // Index in FragmentEnv::primitives.
  uint16_t blockPrimitive[kRunBlocks];
  uint16_t mixPrimitive[kRunMixes][4];
  // By sample: bit l = lane l is covered. Never all zero in a quad of a mix, but for quads that fill up the last one,
  // which repeat the first quad's position and primitive.
  uint16_t blockCoverage[kMaxSamples][kRunBlocks];
  uint16_t mixCoverage[kMaxSamples][kRunMixes];
};
static_assert(offsetof(FragmentRun, blockPosition) == 64 && offsetof(FragmentRun, mixPosition) == 320);
static_assert(offsetof(FragmentRun, blockPrimitive) == 832 && offsetof(FragmentRun, mixPrimitive) == 960);
static_assert(offsetof(FragmentRun, blockCoverage) == 1216 && offsetof(FragmentRun, mixCoverage) == 2240);
static_assert(sizeof(FragmentRun) == 2752);

struct StencilFace {
  uint8_t reference, compareMask, writeMask;
  uint8_t compareOp;                    // VkCompareOp
  uint8_t failOp, passOp, depthFailOp;  // VkStencilOp
  uint8_t reserved;
};
static_assert(sizeof(StencilFace) == 8);

enum DepthFlags : uint8_t {
  kDepthTest = 1,
  kDepthWrite = 2,
  kDepthBounds = 4,
  kStencilTest = 8,
  kDepthClamp = 16,  // to the viewport's range
};

// State of the tests and of blending that may change between draws without another program: part of the stream,
// immutable. Programs read of it what their pipeline leaves dynamic.
struct FragmentState {
  float blendConstant[4];
  float depthBoundsMin, depthBoundsMax;
  uint8_t depthFlags;        // DepthFlags
  uint8_t depthCompareOp;    // VkCompareOp: its bits say whether less, equal, greater pass
  uint8_t colorWriteEnable;  // bit per attachment
  uint8_t logicOp;           // VkLogicOp: its bits are the result where source and texel are 11, 10, 01, 00
  uint32_t sampleMask;
  StencilFace front, back;
  float viewportDepth[kMaxViewports][2];  // minDepth, maxDepth
};
static_assert(offsetof(FragmentState, depthFlags) == 24 && offsetof(FragmentState, sampleMask) == 28);
static_assert(offsetof(FragmentState, front) == 32 && offsetof(FragmentState, viewportDepth) == 48);
static_assert(sizeof(FragmentState) == 176);

// Written by the fragment code of one worker, added up when the tile's work ends.
struct FragmentCounters {
  uint64_t samplesPassed;  // of the occlusion query that is active, if one is
  uint64_t invocations;    // without helper lanes
};

// One per worker and tile. Surfaces are those of the tile's layer or view, nullptr address where there is none;
// positions count from their first element.
struct FragmentEnv {
  ShaderEnv common;
  const PrimitiveRecord* primitives;
  const float (*varyings)[4];  // rows: slots of the chunk's vertices, one vertex after the other
  const FragmentState* state;
  const Surface* color;  // kMaxColorAttachments
  const Surface* depth;
  const Surface* stencil;
  FragmentCounters* counters;
  uint32_t layer;
  uint32_t viewIndex;
  uint32_t workerIndex;
  uint32_t reserved;
};
static_assert(offsetof(FragmentEnv, primitives) == 56 && offsetof(FragmentEnv, varyings) == 64);
static_assert(offsetof(FragmentEnv, state) == 72 && offsetof(FragmentEnv, color) == 80);
static_assert(offsetof(FragmentEnv, depth) == 88 && offsetof(FragmentEnv, stencil) == 96);
static_assert(offsetof(FragmentEnv, counters) == 104 && offsetof(FragmentEnv, layer) == 112);
static_assert(sizeof(FragmentEnv) == 128);

// Shades the run, tests it, blends it and writes the attachments. MXCSR is the driver's.
using FragmentEntry = void (*)(FragmentEnv* env, const FragmentRun* run);

enum FragmentProgramFlags : uint32_t {
  kFragmentEarlyTests = 1,  // depth and stencil may be tested before the shader
  kFragmentOccludes = 2,  // where it covers every sample, nothing below can be seen: no test, no blending, no discard,
                          // all components of all attachments are written
  kFragmentSideEffects = 4,    // stores or atomics: never left out because it is hidden by what comes later
  kFragmentSampleShading = 8,  // runs once per sample
  kFragmentReadsTarget = 16,   // input attachments, feedback
};

// Owned by the pipeline; what is said of ComputeProgram's entry, frameBytes and heat holds here too.
struct FragmentProgram {
  FragmentEntry entry;
  uint32_t frameBytes;
  uint32_t flags;                 // FragmentProgramFlags
  mutable uint32_t blockCost_ns;  // of one vector; refined while running
  mutable uint32_t measured;
  uint64_t codeHash;
  const char* debugName;
  Heat* heat;
};
static_assert(sizeof(FragmentProgram) == 48);

}  // namespace pumice::abi
