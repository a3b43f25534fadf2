#include "backend/raster/tile_walker.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/raster/kernels.h"

namespace pumice::raster {

void TileWalker::walk(const TileGrid& grid, uint32_t tile, const TileEntry* entries) {
  const uint32_t inLayer = tile % grid.tilesPerLayer();
  const int32_t x = static_cast<int32_t>(inLayer % grid.columns << grid.edge_log2);
  const int32_t y = static_cast<int32_t>(inLayer / grid.columns << grid.edge_log2);
  const int32_t edge = 1 << grid.edge_log2;
  const TileEntry* first = entries;
  for (const TileEntry* e = entries; e; e = e->next)
    if (e->hiding) first = e;
  for (const TileEntry* e = first; e; e = e->next) walkSet(*e, {x, y, x + edge, y + edge});
}

void TileWalker::walkSet(const TileEntry& entry, const PixelRect& tile) {
  const PrimitiveSet& set = *entry.set;
  uint32_t next = 0;  // the draw that has not begun
  const SetDraw* draw = nullptr;
  for (uint32_t word = 0; word < std::size(entry.mask); ++word)
    for (uint64_t left = entry.mask[word]; left; left &= left - 1) {
      const uint32_t n = word * 64 + static_cast<uint32_t>(std::countr_zero(left));
      if (next < set.drawCount && set.draws[next].firstPrimitive <= n) {
        while (next < set.drawCount && set.draws[next].firstPrimitive <= n) ++next;
        runs_.finish();
        draw = &set.draws[next - 1];
        runs_.begin(static_cast<uint32_t>(tile.x0), static_cast<uint32_t>(tile.y0), 1u << draw->samples_log2);
        shader_.beginDraw(set, *draw);
      }
      cover(set, *draw, n, tile);
    }
  runs_.finish();
}

void TileWalker::cover(const PrimitiveSet& set, const SetDraw& draw, uint32_t primitive, const PixelRect& tile) {
  const PrimitiveRect& r = set.rects[primitive];
  const PixelRect rect = {std::max<int32_t>(r.x0, tile.x0), std::max<int32_t>(r.y0, tile.y0),
                          std::min<int32_t>(r.x1, tile.x1), std::min<int32_t>(r.y1, tile.y1)};
  const Kernels& k = kernels();
  CoverFunction* const function = (draw.edgeCount == 3 ? k.cover3 : k.cover4)[draw.allSamples ? 0 : draw.samples_log2];
  // Squares begin where the tile does; a tile of 128 pixels has four.
  for (int32_t y = tile.y0; y < rect.y1; y += kSquareEdge) {
    if (y + kSquareEdge <= rect.y0) continue;
    for (int32_t x = tile.x0; x < rect.x1; x += kSquareEdge) {
      if (x + kSquareEdge <= rect.x0) continue;
      function(set.edges[primitive], x, y,
               {std::max(rect.x0 - x, 0), std::max(rect.y0 - y, 0), std::min(rect.x1 - x, kSquareEdge),
                std::min(rect.y1 - y, kSquareEdge)},
               blocks_);
      if (draw.allSamples)
        for (uint32_t s = 1; s < 1u << draw.samples_log2; ++s)
          std::memcpy(blocks_.coverage[s], blocks_.coverage[0], blocks_.count * sizeof(uint16_t));
      runs_.add(blocks_, static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint16_t>(primitive));
    }
  }
}

}  // namespace pumice::raster
