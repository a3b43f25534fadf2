// Vertex fetch: attributes of vertices, converted, as rows (backend/abi/vertex_abi.h).
//
// Reads outside of [0, size_B) of a buffer, and of buffers that are not there, give what zeros in memory would give: 0
// in the format's components and 0, 0, 1 in those that it lacks (robustBufferAccess2).
//
// Pure functions; any thread. Buffer memory needs no alignment.
#pragma once

#include <cstdint>

#include "backend/abi/draw_packets.h"

namespace pumice::assembly {

/// The vertices of one block.
struct FetchVertices {
  const uint32_t* vertexIndex;
  const uint32_t* instanceIndex;
  uint32_t count;  // 1 to kVertexBlockLanes
  uint32_t firstInstance;
};

/// Fills all rows of `slotCount` slots: those that an attribute feeds, and 0, 0, 0, 1 in the others. `rows` has
/// 4 * slotCount rows. Lanes beyond the count are zero in attributes.
void fetchVertices(const abi::VertexInputState& input, const abi::VertexBufferState& buffers, uint32_t slotCount,
                   const FetchVertices& vertices, abi::VertexRow* rows);

}  // namespace pumice::assembly
