// Cuts a pass into chunks, in order. Walks the pass's packets itself, so that a pass of any length takes no memory for
// its list of chunks.
//
// One thread at a time (the pass's lock). Reads streams, arguments of indirect draws and, where a draw looks for
// restarts, indices: inside a guarded call, when the gates of Geometry (and Indirect) have opened.
#pragma once

#include "backend/draw/chunk.h"
#include "backend/draw/chunk_memory.h"
#include "backend/draw/packet_walker.h"

namespace pumice::draw {

class ChunkSource {
 public:
  enum class Next : uint8_t {
    kChunk,
    kNoBlocks,  // not until blocks of the arena come back
    kAgain,     // draws without effect were left out: for the caller to see whether the device is lost meanwhile
    kFence,     // not until all chunks so far have ended (a barrier between stages of geometry); said once
    kEnd,
    kCorrupt,
  };

  /// `at`: behind the pass's begin. `outer`: queries that have begun before it.
  void begin(const PassInfo& pass, PacketWalker at, const QueryTargets& outer);
  /// The next chunk, with its blocks reserved.
  Next next(raster::BlockArena& arena, Chunk* out);

 private:
  bool fill(uint32_t arenaBlocks);
  // The next draw or clear becomes the current one; false: there is none before the chunk has to end.
  bool nextCommand();
  bool beginDraw(const abi::DrawPacket& packet);
  // Leaves `again_` when it has read many arguments of draws without effect.
  bool nextIndirect();
  bool addPiece(uint32_t maxBlocks);
  ChunkBound::Size sizeOf(uint32_t primitives) const;
  void takeQuery(const abi::DrawQueryPacket& packet, bool begins);

  const PassInfo* pass_ = nullptr;
  PacketWalker walker_;
  QueryTargets queries_;
  bool ended_ = false, corrupt_ = false, fence_ = false, again_ = false;
  // Earlier draws that have to run even where nobody sees them.
  bool mustRun_ = false;

  // What the current command is; no views left: none.
  Piece current_{};
  uint32_t viewsLeft_ = 0;
  assembly::Cursor cursor_;
  uint32_t corners_ = 0, outputsPerPrimitive_ = 0, varyings_B_ = 0;  // of a primitive at most
  bool layered_ = false;
  const abi::DrawIndirectPacket* indirect_ = nullptr;
  uint32_t indirectNext_ = 0, indirectCount_ = 0;

  uint32_t primitives_ = 0;  // of `made_`
  ChunkBound bound_{raster::TileGrid{}};
  Chunk made_;  // ready, but its blocks may not be reserved
};

/// Whether anything of such a draw can be seen or counted.
bool hasEffect(const abi::DrawState& state, const QueryTargets& queries);

}  // namespace pumice::draw
