#include "icd/objects/shader_compiler.h"

#include <time.h>

#include <new>

#include "icd/objects/shader_dump.h"
#include "shaders/cache/compiler_library.h"

namespace pumice::icd {
namespace {

// Of this thread alone: what else the machine does is not counted.
uint64_t threadTime_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

TimedCompile compileHere(const CompileSource& source, shader::Tier tier, shader::VertexInterfaceListener* listener) {
  TimedCompile compiled;
  try {
    const shader::cache::CompilerLibrary& library = shader::cache::compilerLibrary();
    if (library.table == nullptr) {
      compiled.result.status = shader::CompileStatus::kInternalError;
      compiled.result.message = library.message;
    } else {
      dumpShader(*library.table, source, tier);
      const uint64_t start_ns = threadTime_ns();
      compiled.result = source.compile(*library.table, tier, listener);
      compiled.cpu_ns = threadTime_ns() - start_ns;
    }
  } catch (const std::bad_alloc&) {  // opening the library, or a dump
    compiled.result.status = shader::CompileStatus::kOutOfHostMemory;
  }
  return compiled;
}

}  // namespace pumice::icd
