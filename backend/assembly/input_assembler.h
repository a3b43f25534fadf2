// The input assembler: the indices of a draw to primitives of vertex numbers, each vertex once (Vulkan 1.3, chapter
// 21).
//
// A draw is worked on in pieces of at most kMaxPrimitives, which several workers may do at the same time: advance()
// finds where the next piece begins, assemble() makes one. Where the place of a primitive follows from its number,
// advancing is arithmetic; with primitive restart indices have to be looked at, once and in order.
//
// Pure functions, no memory of their own; any thread. Index memory is read as it is: it may change while it is read,
// which changes primitives, nothing else.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

#include "backend/abi/draw_packets.h"

namespace pumice::assembly {

inline constexpr uint32_t kMaxPrimitives = 256;
inline constexpr uint32_t kMaxVertices = 3 * kMaxPrimitives;

/// A draw whose numbers are known: an indirect one after its arguments have been read.
struct DrawInput {
  VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  bool restart = false;        // of indexed draws alone
  bool provokingLast = false;  // triangles end with their provoking vertex, else they begin with it; lines too
  const abi::IndexBufferState* indices = nullptr;  // nullptr: not indexed
  uint32_t first = 0;                              // vertex, or index
  uint32_t count = 0;                              // of vertices or indices
  uint32_t firstInstance = 0, instanceCount = 0;
  int32_t vertexOffset = 0;  // indexed
};

/// Whether the driver has the topology: lists, strips and fans of points, lines and triangles. Adjacency is for
/// geometry shaders, patches are for tessellation.
bool isSupported(VkPrimitiveTopology topology);
/// 1 to 3.
uint32_t verticesPerPrimitive(VkPrimitiveTopology topology);

/// A place in a draw: before a primitive.
struct Cursor {
  uint32_t instance = 0;   // counted from 0
  uint32_t primitive = 0;  // of the instance
  // With restart: where the primitive's strip, fan or list began, and how many of its primitives lie before this one.
  uint32_t runBegin = 0;
  uint32_t inRun = 0;

  bool operator==(const Cursor&) const = default;
};

/// Moves on by up to `primitives`; returns by how many. 0: the draw has ended. Instances follow each other.
uint32_t advance(const DrawInput& draw, Cursor* cursor, uint32_t primitives);

/// Primitives of a draw, and the vertices that they have. Arrays are defined up to the counts; corners up to the next
/// multiple of sixteen.
struct Assembled {
  uint32_t primitiveCount = 0, vertexCount = 0;
  uint16_t corners[kMaxPrimitives][3];  // vertex numbers below vertexCount; those that a primitive lacks are 0
  uint32_t primitiveId[kMaxPrimitives];
  // As shaders see them: with vertexOffset, with firstInstance.
  uint32_t vertexIndex[kMaxVertices];
  uint32_t instanceIndex[kMaxVertices];
};

/// The next `primitives` (at most kMaxPrimitives) from `cursor` on, or as many as there are.
void assemble(const DrawInput& draw, Cursor cursor, uint32_t primitives, Assembled* out);

}  // namespace pumice::assembly
