// What the command processor finds out about a pass before it begins: one walk through its packets.
#pragma once

#include "backend/draw/packet_walker.h"
#include "backend/draw/pass_info.h"

namespace pumice::gpu {

struct PassScan {
  bool whole = false;     // false: the stream ends, or the pass ends in another stream than it began in
  bool indirect = false;  // arguments are read
  bool queries = false;   // something may be counted
  bool eventWaits = false;
  bool others = false;    // packets that are the command processor's, after the pass
  bool oneTarget = true;  // all draws have the same
  bool measured = true;   // all programs have run before
  bool draws = false;
  uint64_t packets = 0;
  uint64_t chunks = 1;                 // about
  uint64_t chunk_ns = 0, tile_ns = 0;  // of one, estimated
  draw::PacketWalker end;              // behind the pass
};

/// `at` is at the pass's begin.
PassScan scanPass(draw::PacketWalker at);

}  // namespace pumice::gpu
