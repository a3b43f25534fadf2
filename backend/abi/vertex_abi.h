// The contract between compiled vertex shaders and the machine: blocks of vertices, structure of arrays on both sides.
// docs/graphics.md says why. Read by generated code at fixed offsets, like shader_abi.h.
//
// A *row* is one 32-bit component of kVertexBlockLanes vertices. A *slot* is four rows: what a location holds. 64-bit
// components take two rows, the low half first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/abi/shader_abi.h"

namespace pumice::abi {

// Vertices of one call, and the pitch of its rows: two subgroups of the largest size, four vectors of sixteen that the
// code may interleave.
inline constexpr uint32_t kVertexBlockLanes = 64;
inline constexpr uint32_t kMaxVertexAttributes = 32;
inline constexpr uint32_t kMaxVaryingSlots = 32;
inline constexpr uint32_t kMaxClipCullDistances = 8;  // clip and cull distances together

using VertexRow = uint32_t[kVertexBlockLanes];

// Rows of the output. Those that a program does not write are undefined; VertexProgram says which it writes.
enum VertexOutputRow : uint32_t {
  kRowPosition = 0,  // x, y, z, w in clip space
  kRowPointSize = 4,
  kRowLayer = 5,
  kRowViewport = 6,
  kRowDistances = 8,  // clip distances, then cull distances
  kRowVaryings = 16,  // slot s has rows 16 + 4s to 16 + 4s + 3
};
inline constexpr uint32_t kMaxVertexOutputRows = kRowVaryings + 4 * kMaxVaryingSlots;

// Up to kVertexBlockLanes vertices of one draw and view: several instances, but never two draws.
struct VertexBlock {
  // inputSlotCount slots, already converted to the type that the shader declares, with 0, 0, 0, 1 in components that
  // the format lacks. Fetching is the machine's, so that formats, strides and divisors are no part of a program's key.
  const VertexRow* inputs;
  VertexRow* outputs;
  const uint32_t* vertexIndex;    // with the draw's base vertex
  const uint32_t* instanceIndex;  // with the draw's base instance
  // Lanes beyond are inactive: they store nothing and are not counted. Rows and index arrays hold values in all lanes.
  uint32_t count;
  uint32_t reserved;
};
static_assert(sizeof(VertexBlock) == 40);
static_assert(offsetof(VertexBlock, outputs) == 8 && offsetof(VertexBlock, vertexIndex) == 16);
static_assert(offsetof(VertexBlock, instanceIndex) == 24 && offsetof(VertexBlock, count) == 32);

// One per worker and running chunk.
struct VertexEnv {
  ShaderEnv common;
  uint32_t baseVertex;
  uint32_t baseInstance;
  uint32_t drawIndex;
  uint32_t viewIndex;
  uint32_t workerIndex;
  uint32_t reserved;
};
static_assert(offsetof(VertexEnv, baseVertex) == 56 && offsetof(VertexEnv, viewIndex) == 68);
static_assert(sizeof(VertexEnv) == 80);

// Shades blocks[0 .. blockCount-1]. MXCSR is the driver's.
using VertexEntry = void (*)(VertexEnv* env, const VertexBlock* blocks, uint32_t blockCount);

enum VertexProgramFlags : uint32_t {
  kVertexWritesPointSize = 1,
  kVertexWritesLayer = 2,
  kVertexWritesViewport = 4,
  kVertexHasSideEffects = 8,  // stores or atomics: a vertex that is used again is not shaded again
};

// Owned by the pipeline; what is said of ComputeProgram's entry, frameBytes and heat holds here too.
struct VertexProgram {
  VertexEntry entry;
  uint32_t frameBytes;
  uint32_t flags;  // VertexProgramFlags
  uint8_t inputSlotCount;
  uint8_t varyingSlotCount;
  uint8_t clipDistanceCount;
  uint8_t cullDistanceCount;
  mutable uint32_t blockCost_ns;  // of a full block; refined while running
  uint64_t codeHash;
  const char* debugName;
  Heat* heat;
  mutable uint32_t measured;
  uint32_t reserved;
  uint8_t inputLocation[kMaxVertexAttributes];  // of each slot; a 64-bit vector of three or four takes two slots
};
static_assert(sizeof(VertexProgram) == 88);

}  // namespace pumice::abi
