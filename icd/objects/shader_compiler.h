// Calls libpumice_compiler.so, on threads of ours that have the stack and the floating-point environment that it needs
// (compile_thread.h).
#pragma once

#include "icd/objects/compile_source.h"
#include "shaders/compiler.h"

namespace pumice::icd {

struct TimedCompile {
  shader::CompileResult result;
  uint64_t cpu_ns = 0;  // without the opening of the compiler
};

/// Loads the compiler at the first call. On a thread of the compile pool or of the hot tier.
TimedCompile compileHere(const CompileSource& source, shader::Tier tier,
                         shader::VertexInterfaceListener* listener = nullptr);

}  // namespace pumice::icd
