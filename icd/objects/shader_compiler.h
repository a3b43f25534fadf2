// Calls libpumice_compiler.so on a thread that has the stack and the floating-point environment that it needs: an
// application's thread may have too little of the one and a strange other.
#pragma once

#include <string>

#include "shaders/compiler.h"

namespace pumice::icd {

struct TimedCompile {
  shader::CompileResult result;
  uint64_t cpu_ns = 0;  // without the opening of the compiler
};

/// Loads the compiler at the first call. Blocks until the code is there. Any thread. `dumpDirectory`: see
/// shader_dump.h.
TimedCompile compileCompute(const shader::ComputeCompileInfo& info, const std::string& dumpDirectory);

/// The same on the calling thread, which must be one of ours with 8 MiB of stack.
TimedCompile compileComputeHere(const shader::ComputeCompileInfo& info, const std::string& dumpDirectory);

}  // namespace pumice::icd
