// Opens libpumice_compiler.so (it holds LLVM and costs 13 ms) at the first need. The library lies beside the one that
// contains this code; PUMICE_COMPILER_LIBRARY overrides the path. It is never closed: compile threads may be inside it
// when the process ends. Thread safe.
#pragma once

#include <string>

#include "shaders/compiler.h"

namespace pumice::shader::cache {

struct CompilerLibrary {
  const CompilerTable* table = nullptr;  // nullptr: compiling is not possible, `message` says why
  std::string message;
};

// The first call loads; later calls return the same result, also a failed one.
const CompilerLibrary& compilerLibrary();

}  // namespace pumice::shader::cache
