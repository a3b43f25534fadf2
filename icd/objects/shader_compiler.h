// Calls libpumice_compiler.so on a thread that has the stack and the floating-point environment that it needs: an
// application's thread may have too little of the one and a strange other.
#pragma once

#include "shaders/compiler.h"

namespace pumice::icd {

/// Loads the compiler at the first call. Blocks until the code is there. Any thread.
shader::CompileResult compileCompute(const shader::ComputeCompileInfo& info);

}  // namespace pumice::icd
