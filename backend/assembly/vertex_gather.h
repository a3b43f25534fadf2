// Attributes of common formats by the processor's gather instructions.
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/abi/vertex_abi.h"

namespace pumice::assembly {

/// Where the elements of an attribute are: element i at base + i * stride_B, if i < safe. safe * stride_B < 2^31.
struct GatherSource {
  const std::byte* base;
  uint32_t stride_B;
  uint32_t safe;
  const uint32_t* index;  // of the element of each vertex
  uint32_t count;         // 1 to kVertexBlockLanes
};

struct GatherFunctions {
  /// 1 to 4 words as they are, then zeros; and `alpha` in the fourth row, if they are not four. Elements that are not
  /// safe are zeros, lanes beyond the count as well.
  void (*words)(const GatherSource& from, uint32_t components, uint32_t alpha, abi::VertexRow* rows);
  /// R8G8B8A8_UNORM to floats.
  void (*unorm8)(const GatherSource& from, abi::VertexRow* rows);
};

/// nullptr: the processor has nothing that would be faster than one load after the other.
const GatherFunctions* gatherFunctions();

}  // namespace pumice::assembly
