#include "icd/encode/tile_size.h"

namespace pumice::icd {

uint8_t tileEdge_log2(uint32_t pixel_B, const VkRect2D& area, uint32_t layerCount) {
  constexpr uint8_t kLeast = 4, kMost = 7;
  constexpr uint64_t kTileBytes = 256 * 1024;  // half of the 512 KiB that the smallest cores in use have
  // Enough for the cores of a desktop machine to have work until the end; the same on every machine, because a run's
  // trace should be too.
  constexpr uint64_t kEnoughTiles = 64;
  constexpr uint64_t kMostTiles = 16'384;
  const auto tiles = [](uint64_t width, uint64_t height, uint32_t edge_log2) {
    const uint64_t edge = 1u << edge_log2;
    return (width + edge - 1) / edge * ((height + edge - 1) / edge);
  };
  const VkExtent2D size = area.extent;
  const uint64_t right = uint64_t{size.width} + static_cast<uint32_t>(area.offset.x);
  const uint64_t bottom = uint64_t{size.height} + static_cast<uint32_t>(area.offset.y);
  uint8_t edge = kMost;
  while (edge > kLeast && (uint64_t{pixel_B} << (2 * edge)) > kTileBytes) --edge;
  // Below 32 pixels the lists of chunks cost more than the balance brings.
  while (edge > 5 && tiles(size.width, size.height, edge) * layerCount < kEnoughTiles) --edge;
  while (edge < kMost && tiles(right, bottom, edge) > kMostTiles) ++edge;
  return edge;
}

}  // namespace pumice::icd
