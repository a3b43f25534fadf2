// What a span does, by value: a range of units (workgroups, blocks of a copy, queries) that workers take in ascending
// chunks. Built by the command processor from a packet; points into the packet's stream and into GPU memory.
#pragma once

#include <cstdint>

#include "backend/abi/packets.h"

namespace pumice::gpu {

class Pass;

enum class WorkKind : uint8_t {
  kDispatch,          // units are workgroups
  kDispatchIndirect,  // one unit, which becomes kDispatch when its arguments have been read
  kCopy,              // units are blocks of kCopyBlockBytes
  kFill,              // the same
  kCopyQueries,       // one unit
  kCopyImage,         // units are bands of rows (surface.h)
  kClearImage,        // the same
  kBlitImage,
  kResolveImage,
  kPassGeometry,  // units are chunks, as many as they are thought to be: the pass knows (pass.h)
  kPassTiles,     // units are tiles
};

inline constexpr uint64_t kCopyBlockBytes = 64 * 1024;

struct ByteRange {
  uint64_t dst;
  uint64_t src;  // kFill: the value
  uint64_t size_B;
};

struct Work {
  WorkKind kind = WorkKind::kDispatch;
  bool nonTemporal = false;   // kCopy, kFill, kCopyImage: too large for the caches
  bool fromIndirect = false;  // kDispatch: `indirect` is the packet, its arguments are in groupCount
  uint32_t groupCount[3] = {};
  bool passMeasured = false;  // passes: all of its programs have run before
  uint32_t unitCost_ns = 0;   // image commands, passes
  uint64_t unitCount = 0;
  uint64_t* invocations = nullptr;  // kDispatchIndirect: where invocations are counted; nullptr: nowhere
  union {
    const abi::DispatchPacket* dispatch = nullptr;
    const abi::DispatchIndirectPacket* indirect;
    const abi::CopyQueriesPacket* queries;
    const abi::CopyImagePacket* copyImage;
    const abi::ClearImagePacket* clearImage;
    const abi::BlitImagePacket* blitImage;
    const abi::ResolveImagePacket* resolveImage;
    ByteRange bytes;
    Pass* pass;
  };

  bool isPass() const { return kind == WorkKind::kPassGeometry || kind == WorkKind::kPassTiles; }
};

// The program and bindings of either kind of dispatch.
struct DispatchState {
  const abi::ComputeProgram* program;
  const abi::BindingState* bindings;
  const std::byte* pushConstants;
  const uint32_t* groupBase;
};
DispatchState dispatchState(const Work& work);
inline const abi::ComputeProgram& programOf(const Work& work) {
  return *(work.kind == WorkKind::kDispatch && !work.fromIndirect ? work.dispatch->program : work.indirect->program);
}

// Invocations of all workgroups of a kDispatch.
uint64_t invocationsOf(const Work& work);

Work dispatchWork(const abi::DispatchPacket& packet);
Work dispatchIndirectWork(const abi::DispatchIndirectPacket& packet);
Work copyWork(uint64_t dst, uint64_t src, uint64_t size_B);
Work fillWork(uint64_t dst, uint64_t size_B, uint32_t value);
Work copyQueriesWork(const abi::CopyQueriesPacket& packet);
Work copyImageWork(const abi::CopyImagePacket& packet);
Work clearImageWork(const abi::ClearImagePacket& packet);
Work blitImageWork(const abi::BlitImagePacket& packet);
Work resolveImageWork(const abi::ResolveImagePacket& packet);

// Whether the estimate rests on more than the compiler's guess. Of an indirect dispatch: on what its arguments ask for.
inline bool isMeasured(const Work& work) {
  if (work.isPass()) return work.passMeasured;
  if (work.kind != WorkKind::kDispatch && work.kind != WorkKind::kDispatchIndirect) return true;
  return __atomic_load_n(&programOf(work).measured, __ATOMIC_RELAXED) != 0;
}

// Rough duration of that many units on one worker. Saturates.
uint64_t estimate_ns(const Work& work, uint64_t units);

// How many units a worker takes at once: about 50 us of work, less towards the end of the span so that the workers
// finish at the same time.
uint64_t chunkUnits(uint64_t unitCost_ns, uint64_t unitsLeft, uint32_t workers);

// Refines a program's cost by a measurement. Any thread; racing refinements lose one, which is harmless.
void refineCost(const abi::ComputeProgram& program, uint64_t groups, uint64_t elapsed_ns);

}  // namespace pumice::gpu
