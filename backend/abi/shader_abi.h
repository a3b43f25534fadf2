// The contract between compiled shader code and the machine that calls it. Everything here is read by generated code at
// fixed offsets: change a struct and kShaderAbiVersion changes with it (it is part of every cache key).
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/abi/descriptor.h"
#include "backend/abi/heat.h"
#include "backend/abi/image_call.h"

namespace pumice::abi {

inline constexpr uint32_t kShaderAbiVersion = 2;

inline constexpr uint32_t kMaxPushConstantBytes = 256;
inline constexpr uint32_t kMaxWorkgroupInvocations = 1024;
inline constexpr uint32_t kMaxSharedBytes = 64 * 1024;
// Where out-of-range lanes of a store land: one sink per worker (a shared line would ping-pong between cores), large
// enough for one gang's widest store (k vectors of 16-byte elements).
inline constexpr uint32_t kSinkBytes = 16 * 1024;

// What is bound at a dispatch. Written once by the encoder into the command stream, immutable afterwards (one stream
// may run many times at once), shared by all dispatches until a binding changes.
struct BindingState {
  uint64_t setAddress[kMaxBoundSets];            // 0 = nothing bound
  uint32_t dynamicOffset_B[kMaxDynamicOffsets];  // flattened, see kMaxDynamicOffsets
};
static_assert(sizeof(BindingState) == 512);

// Functions that compiled code may call. All are noexcept leaves that hold no lock and own nothing: a fault or a cancel
// leaves them, and the compiled frames above them, by siglongjmp.
struct RuntimeTable {
  uint64_t version;  // kShaderAbiVersion
  // Leaves the shader for good. Called when the cancel word is seen set; same exit as for faults. Never returns. `env`
  // is that of the stage.
  void (*leave)(void* env) __attribute__((noreturn));  // the C++ attribute is refused by Clang on pointers
  // Nanoseconds of the monotonic clock (OpReadClockKHR).
  uint64_t (*readClock)();
  // Accesses to images and texel buffers that are not compiled inline.
  ImageCallFunction* accessImage;
  void* reserved[12];
};
static_assert(sizeof(RuntimeTable) == 128);

// What the environments of all stages begin with, so that descriptors, push constants, private arrays and image calls
// are compiled alike in each.
struct ShaderEnv {
  const RuntimeTable* runtime;
  const BindingState* bindings;
  const std::byte* pushConstants;  // kMaxPushConstantBytes readable
  const uint32_t* cancelWord;      // read with monotonic order; not zero = leave
  std::byte* shared;               // compute alone
  std::byte* frame;                // the program's frameBytes: private arrays
  std::byte* sink;                 // kSinkBytes
};
static_assert(sizeof(ShaderEnv) == 56);

// One per worker and running chunk of workgroups; begins as ShaderEnv does. `shared`, `frame` and `sink` belong to the
// worker and are 64-byte aligned; their content is undefined at entry.
struct ComputeEnv {
  const RuntimeTable* runtime;
  const BindingState* bindings;
  const std::byte* pushConstants;  // kMaxPushConstantBytes readable
  const uint32_t* cancelWord;      // read with monotonic order; not zero = leave
  std::byte* shared;               // ComputeProgram::sharedBytes
  std::byte* frame;                // ComputeProgram::frameBytes: values across barriers, private arrays
  std::byte* sink;                 // kSinkBytes
  uint32_t groupCount[3];          // NumWorkgroups
  uint32_t groupBase[3];           // added to WorkgroupId (vkCmdDispatchBase)
  uint32_t workerIndex;
  uint32_t reserved;
  uint64_t faultInfo[2];  // for the runtime alone
};
static_assert(offsetof(ComputeEnv, runtime) == 0 && offsetof(ComputeEnv, bindings) == 8);
static_assert(offsetof(ComputeEnv, pushConstants) == 16 && offsetof(ComputeEnv, cancelWord) == 24);
static_assert(offsetof(ComputeEnv, shared) == 32 && offsetof(ComputeEnv, frame) == 40);
static_assert(offsetof(ComputeEnv, sink) == 48 && offsetof(ComputeEnv, groupCount) == 56);
static_assert(offsetof(ComputeEnv, groupBase) == 68 && offsetof(ComputeEnv, workerIndex) == 80);
static_assert(sizeof(ComputeEnv) == 104);
static_assert(offsetof(ShaderEnv, runtime) == offsetof(ComputeEnv, runtime) &&
              offsetof(ShaderEnv, bindings) == offsetof(ComputeEnv, bindings) &&
              offsetof(ShaderEnv, pushConstants) == offsetof(ComputeEnv, pushConstants) &&
              offsetof(ShaderEnv, cancelWord) == offsetof(ComputeEnv, cancelWord) &&
              offsetof(ShaderEnv, frame) == offsetof(ComputeEnv, frame) &&
              offsetof(ShaderEnv, sink) == offsetof(ComputeEnv, sink));

// Runs workgroups groupBegin .. groupEnd-1, numbered x fastest: id = x + count.x * (y + count.y * z), base not
// included. The callee runs them in ascending order. MXCSR is the driver's (round to nearest, no FTZ/DAZ, masked).
using ComputeEntry = void (*)(ComputeEnv* env, uint64_t groupBegin, uint64_t groupEnd);

// What a dispatch packet points to: owned by the pipeline, immutable while any command buffer may refer to it, but for
// what a change of tier replaces. The compiler in the background stores `frameBytes` (which never shrinks), then
// `entry` with release order; a worker loads `entry` with acquire order, then `frameBytes`. Both versions of the code
// stay valid as long as the program.
struct ComputeProgram {
  ComputeEntry entry;
  uint32_t localSize[3];
  uint32_t subgroupSize;
  uint32_t sharedBytes;
  uint32_t frameBytes;
  // Rough cost of one workgroup in nanoseconds, from the operation count and loops; decides inline execution and chunk
  // sizes, is refined by measurement while running (by the machine, with relaxed atomics; hence mutable). At least 1.
  mutable uint32_t groupCost_ns;
  uint32_t flags;
  uint64_t codeHash;      // for traces and dumps
  const char* debugName;  // owned by the pipeline, may be nullptr
  Heat* heat;             // nullptr: this code is final
  // Not zero once groupCost_ns has been refined; until then it may be wrong by any factor. As mutable as that.
  mutable uint32_t measured;
  uint32_t reserved;
};
static_assert(sizeof(ComputeProgram) == 72);

}  // namespace pumice::abi
