// The engines: what workers do with units of work. Compiled code and memory traffic run inside guarded calls, so that a
// fault loses the device instead of ending the process.
//
// Worker threads only.
#pragma once

#include <cstdint>

#include "backend/gpu/work.h"
#include "backend/kmd/fault.h"
#include "backend/sched/pool.h"

namespace pumice::gpu {

struct Machine;
class Queue;

// Whose code faulted, and in what.
struct FaultSubject {
  const char* program;
  uint64_t hash;
  const char* work;
};

enum class Timing : uint8_t {
  kMeasure,  // refine the program's cost by this run
  kSample,   // only once in a while: for runs so short that reading the clock shows
};

// Runs units begin .. end-1. When a shader or copy faults, or leaves, the rest of the range is dropped and the device
// is lost.
void executeUnits(Machine& machine, sched::Worker& worker, const Queue& queue, const Work& work, uint64_t begin,
                  uint64_t end, Timing timing);

// Reads the arguments of an indirect dispatch. No units when it faults.
Work resolveIndirect(Machine& machine, sched::Worker& worker, const Queue& queue, const Work& work);

// The one log line of a fault, then the loss.
void reportFault(Machine& machine, const Queue& queue, const FaultSubject& subject, const kmd::FaultRecord& fault);

}  // namespace pumice::gpu
