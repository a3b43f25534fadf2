// Chunks: what one worker's front end does at a time. At most 256 primitives before clipping: a part of a large draw,
// or many small draws and clears of attachments, in order.
#pragma once

#include <cstdint>

#include "backend/assembly/input_assembler.h"
#include "backend/draw/pass_info.h"

namespace pumice::draw {

/// Consecutive primitives of one draw for one view, or rectangles of a clear.
struct Piece {
  const abi::DrawState* state;  // nullptr: a clear
  const abi::ClearAttachmentPacket* clear;
  const std::byte* pushConstants;
  assembly::DrawInput input;
  // Where it begins. Of a clear: `instance` is the rectangle, `primitive` the layer of it.
  assembly::Cursor cursor;
  uint32_t primitives;  // at most; of a clear: rectangles by layers
  uint32_t drawIndex;
  uint32_t view;   // its number
  uint32_t layer;  // of the grid: that of the view, else 0 where the program writes none
  bool mayHide;    // nothing before it has to run even if nobody sees it
  QueryTargets queries;
};

inline constexpr uint32_t kMaxPieces = 64;

struct Chunk {
  uint64_t order;   // in the pass
  uint32_t blocks;  // of the arena, reserved
  uint32_t pieceCount;
  Piece pieces[kMaxPieces];
};

}  // namespace pumice::draw
