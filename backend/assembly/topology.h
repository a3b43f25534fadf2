// How vertices of a run (a list, strip or fan without a restart in it) make primitives.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

namespace pumice::assembly {

struct Topology {
  uint32_t corners;  // of a primitive
  uint32_t step;     // vertices from one primitive to the next
  bool strip, fan;   // of triangles

  /// Whole primitives of `vertices` vertices.
  uint32_t primitives(uint32_t vertices) const { return vertices < corners ? 0 : (vertices - corners) / step + 1; }

  /// The vertices of primitive i, counted from the begin of its run: the provoking one first or last, turning round as
  /// the specification has them (Vulkan 1.3, 21.1.8 to 21.1.10).
  void corner(uint32_t i, bool provokingLast, uint32_t (&out)[3]) const {
    const uint32_t v = i * step;
    if (fan) {
      out[0] = provokingLast ? 0 : v + 1;
      out[1] = provokingLast ? v + 1 : v + 2;
      out[2] = provokingLast ? v + 2 : 0;
      return;
    }
    out[0] = v;
    out[1] = v + 1;
    out[2] = v + 2;
    if (!strip || i % 2 == 0) return;
    // {i, i+2, i+1}, which begins with its provoking vertex; turned until it ends with i+2, where that is the one.
    out[0] = provokingLast ? v + 1 : v;
    out[1] = provokingLast ? v : v + 2;
    out[2] = provokingLast ? v + 2 : v + 1;
  }
};

constexpr Topology topologyOf(VkPrimitiveTopology topology) {
  switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
      return {1, 1, false, false};
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
      return {2, 2, false, false};
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
      return {2, 1, false, false};
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP:
      return {3, 1, true, false};
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN:
      return {3, 1, false, true};
    default:
      return {3, 3, false, false};
  }
}

}  // namespace pumice::assembly
