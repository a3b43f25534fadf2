// PUMICE_DUMP_SHADERS=DIRECTORY: whatever is compiled is also written there, as SPIR-V and as text of the compiler's IR
// before and after its passes. For looking at, never read back.
#pragma once

#include "shaders/compiler.h"

namespace pumice::icd {

/// Does nothing unless the variable is set. A file that cannot be written is a line in the log. Any thread.
void dumpShader(const shader::CompilerTable& table, const shader::ComputeCompileInfo& info);

}  // namespace pumice::icd
