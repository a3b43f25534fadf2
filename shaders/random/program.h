// A random shader with all that it takes to run it: buffers, push constants and a dispatch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/abi/descriptor.h"
#include "shaders/ir/ir.h"

namespace pumice::shader::random {

// One descriptor. Its bytes start out as a function of the program's seed and the buffer's number.
struct BufferInfo {
  uint32_t size_B = 0;           // that the descriptor tells
  uint32_t dynamicOffset_B = 0;  // of bindings that have one
  bool isNull = false;
};

struct Program {
  uint64_t seed = 0;
  std::unique_ptr<ir::Function> fn;
  std::vector<abi::BindingSlot> slots;
  std::vector<std::vector<BufferInfo>> buffers;  // per slot, `count` each
  uint32_t groupCount[3] = {1, 1, 1};
  uint32_t groupBase[3] = {0, 0, 0};
  uint64_t groupBegin = 0, groupEnd = 1;
  bool contractable = true;  // false: no float products, so passes must keep every bit
};

struct GeneratorOptions {
  uint32_t subgroupSize = 0;  // 0: by seed
  uint32_t maxStatements = 60;
  uint32_t maxInvocations = 1024;  // of a workgroup
  bool transcendental = false;     // operations that passes/lower_math expands
};

// The same program for the same seed and options, on every machine. It verifies, terminates, and what it leaves in
// memory does not depend on the order in which invocations run between barriers:
//  - an invocation writes only its own parts of the output buffers, or shared memory between two barriers;
//  - common atomics commute and their results are not used; NaNs are made canonical before their bits are observed;
//  - barriers stand in uniform control flow only.
Program generate(uint64_t seed, const GeneratorOptions& options = {});

}  // namespace pumice::shader::random
