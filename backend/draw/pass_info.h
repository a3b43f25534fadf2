// What all parts of the machine know of one pass while it runs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backend/abi/draw_packets.h"
#include "backend/raster/bins.h"

namespace pumice::draw {

/// Where the counts of a draw go: query slots, added to with relaxed atomics. All nullptr: nothing is counted.
struct QueryTargets {
  abi::QuerySlot* occlusion = nullptr;
  abi::QuerySlot* statistics = nullptr;  // one slot per bit of `statisticBits`, in their order
  uint32_t statisticBits = 0;            // VkQueryPipelineStatisticFlags

  bool operator==(const QueryTargets&) const = default;
};

inline void addTo(abi::QuerySlot* slot, uint64_t count) {
  if (count != 0) __atomic_fetch_add(&slot->value, count, __ATOMIC_RELAXED);
}
/// `bit` is one VkQueryPipelineStatisticFlagBits.
inline void addStatistic(const QueryTargets& queries, uint32_t bit, uint64_t count) {
  if (queries.statisticBits & bit) addTo(queries.statistics + std::popcount(queries.statisticBits & (bit - 1)), count);
}

struct PassInfo {
  const abi::BeginPassPacket* packet = nullptr;
  raster::TileGrid grid{};
  // All draws have the same targets: what a primitive covers opaquely hides everything that was drawn before it.
  bool oneTarget = true;

  const abi::PassAttachment* attachments() const { return reinterpret_cast<const abi::PassAttachment*>(packet + 1); }
  bool hasViews() const { return packet->viewMask != 0; }
  /// Views in ascending order are the layers of the grid; attachments have a slice per view number.
  uint32_t sliceOfLayer(uint32_t layer) const {
    if (!hasViews()) return layer;
    uint32_t views = packet->viewMask;
    for (; layer != 0; --layer) views &= views - 1;
    return static_cast<uint32_t>(std::countr_zero(views));
  }
};

inline const abi::ClearRect* rectsOf(const abi::ClearAttachmentPacket& clear) {
  return reinterpret_cast<const abi::ClearRect*>(&clear + 1);
}
/// Layers of the grid that a rectangle of a clear has, from its first on: of those that it names, which may be any
/// number, the ones that there are. With views all of them; those that the clear names stand for them.
inline uint32_t clearedLayers(const PassInfo& pass, const abi::ClearRect& rect) {
  if (pass.hasViews()) return pass.grid.layers;
  return std::min(rect.layerCount, pass.grid.layers - std::min(rect.firstLayer, pass.grid.layers));
}

/// A view's or layer's grid of tiles, from the framebuffer's first pixel to the end of the area.
inline raster::TileGrid gridOf(const abi::BeginPassPacket& packet) {
  const abi::PassArea& area = packet.area;
  const uint32_t log2 = packet.tileEdge_log2;
  raster::TileGrid grid;
  grid.edge_log2 = log2;
  // Never without a tile: a pass ends when its tiles have.
  grid.columns = std::max(1u, (area.x + area.width + (1u << log2) - 1) >> log2);
  grid.rows = std::max(1u, (area.y + area.height + (1u << log2) - 1) >> log2);
  grid.layers =
      packet.viewMask ? static_cast<uint32_t>(std::popcount(packet.viewMask)) : std::max(1u, packet.layerCount);
  grid.area = {static_cast<int32_t>(area.x), static_cast<int32_t>(area.y), static_cast<int32_t>(area.x + area.width),
               static_cast<int32_t>(area.y + area.height)};
  return grid;
}

}  // namespace pumice::draw
