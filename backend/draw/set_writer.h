// Writes sets of primitives and puts them into bins: takes memory, ends a set when it or its entries are full.
//
// Made per chunk, on one thread.
#pragma once

#include "backend/draw/chunk_memory.h"
#include "backend/raster/bins.h"

namespace pumice::draw {

class SetWriter {
 public:
  /// Sets are numbered from `order` on.
  SetWriter(const raster::TileGrid& grid, ChunkMemory& memory, raster::TileList* lists, raster::TileEntry** current,
            uint64_t order);

  /// A set with room for `room` primitives in which primitives of this draw may be written, behind those that are
  /// there. Whoever adds some bins them before the next call.
  raster::PrimitiveSet& open(const raster::SetDraw& draw, uint32_t room);
  /// Puts the primitives from `first` on into bins. layerOf(source of a primitive) is its layer; those outside of the
  /// grid are left out. The set may have ended afterwards.
  template <typename LayerOf>
  void bin(uint32_t first, uint32_t samples_log2, bool hides, LayerOf&& layerOf) {
    for (uint32_t n = first; n < set_->count; ++n) {
      const uint32_t layer = layerOf(set_->source[n]);
      if (layer < grid_.layers) n = binOne(n, layer, samples_log2, hides);
    }
  }
  /// Ends the open set. At the end of the chunk.
  void close();

 private:
  void start();
  // Returns the primitive's number, which changes if the set had to end before it.
  uint32_t binOne(uint32_t n, uint32_t layer, uint32_t samples_log2, bool hides) {
    if (binner_.add(n, layer, samples_log2, hides)) [[likely]]
      return n;
    return binSlowly(n, layer, samples_log2, hides);
  }
  uint32_t binSlowly(uint32_t n, uint32_t layer, uint32_t samples_log2, bool hides);
  // Primitives n and later go to a new set.
  void split(uint32_t n);

  const raster::TileGrid& grid_;
  ChunkMemory& memory_;
  raster::Binner binner_;
  raster::PrimitiveSet* set_ = nullptr;
  uint64_t order_;
  uint32_t room_ = 0;  // entries of the set, all pieces
};

}  // namespace pumice::draw
