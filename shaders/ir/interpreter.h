// The scalar interpreter: slow and obviously right, the oracle for generated code (and later the shader sanitizer's
// engine). All invocations of a workgroup run in lock step, one instruction at a time, one lane at a time, with the
// masks that ir.h describes; barriers are then no-ops. Accepts functions after passes/lower_math as well as before it
// (a transcendental operation there is an error).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/abi/fragment_abi.h"
#include "backend/abi/shader_abi.h"
#include "backend/abi/vertex_abi.h"
#include "shaders/ir/ir.h"

namespace pumice::shader::ir {

struct AddressRange {
  uint64_t address, size_B;
};

struct InterpreterLimits {
  uint64_t maxSteps = 1ull << 32;  // instructions x lanes, then the run fails
  bool checkRaces = false;         // data races and workgroup barriers that not all invocations reach are errors
  std::span<const AddressRange> globalRanges = {};  // if not empty: kGlobal accesses outside of them are errors
};

// Runs workgroups [groupBegin, groupEnd) with the same environment as compiled code. `env.shared` is used, `env.frame`
// is not. Returns an empty string or what went wrong.
std::string interpret(const Function& fn, std::span<const abi::BindingSlot> bindings, abi::ComputeEnv& env,
                      uint64_t groupBegin, uint64_t groupEnd, const InterpreterLimits& limits = {});

// The same of a vertex shader and its blocks.
std::string interpretVertex(const Function& fn, std::span<const abi::BindingSlot> bindings, abi::VertexEnv& env,
                            std::span<const abi::VertexBlock> blocks, const InterpreterLimits& limits = {});

// What the shader left of one vector of a run.
struct FragmentValues {
  uint32_t output[kFragmentOutputs][16] = {};  // 0 where nothing is written
  uint16_t live = 0;                           // lanes that are no helpers at the end
};

// The same of a fragment shader and its run: blocks, then mixes, each once per sample with sample shading. No tests, no
// stores to attachments.
std::string interpretFragment(const Function& fn, std::span<const abi::BindingSlot> bindings, abi::FragmentEnv& env,
                              const abi::FragmentRun& run, std::vector<FragmentValues>& values,
                              const InterpreterLimits& limits = {});

}  // namespace pumice::shader::ir
