// The front end: one chunk from indices to primitives in bins.
//
// One object per worker, used by its thread alone; a chunk runs inside a guarded call (kmd/fault.h), because it reads
// the application's buffers and calls compiled code. When that call is left from inside, the device is lost and the
// object is not used again.
#pragma once

#include <memory>

#include "backend/draw/chunk.h"
#include "backend/draw/chunk_memory.h"
#include "backend/draw/program_cost.h"
#include "backend/draw/set_writer.h"
#include "backend/raster/viewport.h"
#include "backend/sched/arena.h"

namespace pumice::draw {

/// What the machine gives to compiled code, beside a draw's own state.
struct WorkerEnv {
  const abi::RuntimeTable* runtime;
  const uint32_t* cancelWord;
  sched::WorkerArena* arena;
  uint32_t workerIndex;
};

/// Whose code runs: for the message of a fault.
struct RunningProgram {
  const char* name;
  uint64_t hash;
};

/// What the fragment functions of a draw's primitives are called with: SetDraw::payload. In the chunk's memory.
struct ChunkDraw {
  const abi::DrawState* state;              // nullptr: a clear
  const abi::ClearAttachmentPacket* clear;  // or this
  const std::byte* pushConstants;
  const float (*varyings)[4];
  QueryTargets queries;
};

class FrontEnd {
 public:
  /// Throws std::bad_alloc.
  FrontEnd();

  /// `lists` has one per tile of the pass's grid; `current` as many null pointers, and they are null again afterwards.
  /// False: there is no memory for the frame of a program.
  bool run(const PassInfo& pass, const Chunk& chunk, const WorkerEnv& worker, ChunkMemory& memory,
           raster::TileList* lists, raster::TileEntry** current);

  /// After a chunk has been left by a fault.
  RunningProgram running() const;

 private:
  struct Scratch;
  struct ScratchDeleter {
    void operator()(Scratch* scratch) const;
  };

  bool draw(const Piece& piece);
  bool shadeVertices(const Piece& piece);
  void countAssembly(const Piece& piece) const;
  void rasterize(const Piece& piece, ChunkDraw& payload);
  void clear(const Piece& piece);

  std::unique_ptr<Scratch, ScratchDeleter> scratch_;
  CostSampler cost_;
  // Of the running chunk.
  const PassInfo* pass_ = nullptr;
  const WorkerEnv* worker_ = nullptr;
  ChunkMemory* memory_ = nullptr;
  SetWriter* sets_ = nullptr;
  const abi::VertexProgram* program_ = nullptr;  // while its code runs
  raster::VertexOutputs outputs_{};
};

}  // namespace pumice::draw
