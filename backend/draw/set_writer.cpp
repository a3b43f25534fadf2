#include "backend/draw/set_writer.h"

#include <algorithm>
#include <new>

namespace pumice::draw {

using raster::PrimitiveSet;
using raster::SetDraw;
using raster::TileEntry;

SetWriter::SetWriter(const raster::TileGrid& grid, ChunkMemory& memory, raster::TileList* lists, TileEntry** current,
                     uint64_t order)
    : grid_(grid), memory_(memory), binner_(grid, lists, current), order_(order) {}

void SetWriter::start() {
  std::byte* block = memory_.block();
  set_ = new (block) PrimitiveSet;  // trivial but for the counts
  binner_.begin(set_, order_++, reinterpret_cast<TileEntry*>(block + kSetRoom_B), kFirstEntries);
  room_ = kFirstEntries;
}

PrimitiveSet& SetWriter::open(const SetDraw& draw, uint32_t room) {
  if (set_ && set_->count + room > raster::kMaxSetPrimitives) close();
  if (!set_) start();
  PrimitiveSet& set = *set_;
  if (set.drawCount != 0) {
    SetDraw& last = set.draws[set.drawCount - 1];
    if (last.payload == draw.payload && last.edgeCount == draw.edgeCount) return set;
    if (last.firstPrimitive == set.count) --set.drawCount;  // it has added nothing
  }
  set.draws[set.drawCount] = draw;
  set.draws[set.drawCount++].firstPrimitive = set.count;
  return set;
}

void SetWriter::close() {
  if (!set_) return;
  // Where nothing is seen, chunks take no memory.
  if (binner_.publish() == 0) memory_.putBack(reinterpret_cast<std::byte*>(set_));
  set_ = nullptr;
}

void SetWriter::split(uint32_t n) {
  const PrimitiveSet& old = *set_;
  const uint32_t count = old.count - n;
  // All of them are of the last draw: earlier ones have been binned.
  SetDraw draw = old.draws[old.drawCount - 1];
  set_->count = n;
  close();
  start();
  PrimitiveSet& set = *set_;
  std::copy_n(old.edges + n, count, set.edges);
  std::copy_n(old.records + n, count, set.records);
  std::copy_n(old.rects + n, count, set.rects);
  std::copy_n(old.source + n, count, set.source);
  set.count = count;
  draw.firstPrimitive = 0;
  set.draws[set.drawCount++] = draw;
}

uint32_t SetWriter::binSlowly(uint32_t n, uint32_t layer, uint32_t samples_log2, bool hides) {
  for (;;) {
    if (room_ >= binner_.maxEntries()) {
      split(n);
      n = 0;
    } else {
      binner_.extend(reinterpret_cast<TileEntry*>(memory_.block()), kBlockEntries);
      room_ += kBlockEntries;
    }
    if (binner_.add(n, layer, samples_log2, hides)) return n;
  }
}

}  // namespace pumice::draw
