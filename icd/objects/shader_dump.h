// PUMICE_DUMP_SHADERS=DIRECTORY: whatever is compiled is also written there, as SPIR-V and, of compute shaders, as text
// of the compiler's IR before and after its passes. For looking at, never read back.
#pragma once

#include <string>

#include "shaders/compiler.h"

namespace pumice::icd {

class CompileSource;

/// What the variable says, or "". On the application's threads: they may change the environment at any time, which the
/// thread that makes better code later must not read.
std::string dumpDirectory();

/// Does nothing without a directory. A file that cannot be written is a line in the log. Any thread.
void dumpShader(const shader::CompilerTable& table, const CompileSource& source, shader::Tier tier);

}  // namespace pumice::icd
