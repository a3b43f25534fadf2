#include "icd/objects/shader_compiler.h"

#include <pthread.h>

#include <new>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "icd/objects/shader_dump.h"
#include "icd/objects/timing.h"
#include "shaders/cache/compiler_library.h"

namespace pumice::icd {
namespace {

// Instruction selection recurses over the expression trees of large shaders.
constexpr size_t kStackBytes = 8u << 20;

struct Job {
  const shader::ComputeCompileInfo& info;
  TimedCompile compiled;
};

void* run(void* argument) {
  auto& job = *static_cast<Job*>(argument);
#if defined(__x86_64__)
  _mm_setcsr(0x1f80);  // round to nearest, nothing flushed, all exceptions masked
#endif
  job.compiled = compileComputeHere(job.info);
  return nullptr;
}

}  // namespace

TimedCompile compileComputeHere(const shader::ComputeCompileInfo& info) {
  TimedCompile compiled;
  try {
    const shader::cache::CompilerLibrary& library = shader::cache::compilerLibrary();
    if (library.table == nullptr) {
      compiled.result.status = shader::CompileStatus::kInternalError;
      compiled.result.message = library.message;
    } else {
      dumpShader(*library.table, info);
      const uint64_t start_ns = monotonicNow_ns();
      compiled.result = library.table->compileCompute(info);
      compiled.duration_ns = monotonicNow_ns() - start_ns;
    }
  } catch (const std::bad_alloc&) {  // opening the library, or a dump
    compiled.result.status = shader::CompileStatus::kOutOfHostMemory;
  }
  return compiled;
}

TimedCompile compileCompute(const shader::ComputeCompileInfo& info) {
  Job job{info, {}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, run, &job);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::bad_alloc();
  pthread_join(thread, nullptr);
  return std::move(job.compiled);
}

}  // namespace pumice::icd
