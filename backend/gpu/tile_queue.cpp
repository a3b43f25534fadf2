#include "backend/gpu/tile_queue.h"

namespace pumice::gpu {

void TileQueue::begin(uint32_t tiles) {
  if (tiles > capacity_) {
    tokens_ = std::make_unique<Token[]>(tiles);
    link_ = std::make_unique<uint32_t[]>(tiles);
    capacity_ = tiles;
  }
  tiles_ = tiles;
}

TileRange TileQueue::take(Batch* batch, uint64_t group) {
  if (batch->waiting != kNone) {
    const uint32_t tile = batch->waiting;
    batch->waiting = link_[tile];
    tokens_[tile] = kHeld;
    return {tile, tile + 1};
  }
  uint32_t& next = batch->next;
  for (; next < tiles_ && tokens_[next] != kFree; ++next) tokens_[next] = kHeldAndMarked;
  TileRange range{next, next};
  for (; next < tiles_ && range.count() < group && tokens_[next] == kFree; ++range.end) tokens_[next++] = kHeld;
  return range;
}

void TileQueue::finish(Batch* batch, const TileRange& range, Batch* next) {
  for (uint32_t tile = range.begin; tile < range.end; ++tile) {
    if (tokens_[tile] == kHeldAndMarked) {
      link_[tile] = next->waiting;
      next->waiting = tile;
    }
    tokens_[tile] = kFree;
  }
  batch->left -= range.count();
}

}  // namespace pumice::gpu
