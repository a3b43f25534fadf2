#include "icd/objects/shader_compiler.h"

#include <pthread.h>
#include <time.h>

#include <new>

#include "icd/objects/compile_thread.h"
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

struct Job {
  const shader::ComputeCompileInfo& info;
  const std::string& dumpDirectory;
  TimedCompile compiled;
};

void* run(void* argument) {
  auto& job = *static_cast<Job*>(argument);
  setCompileThreadFloatState();
  job.compiled = compileComputeHere(job.info, job.dumpDirectory);
  return nullptr;
}

}  // namespace

TimedCompile compileComputeHere(const shader::ComputeCompileInfo& info, const std::string& dumpDirectory) {
  TimedCompile compiled;
  try {
    const shader::cache::CompilerLibrary& library = shader::cache::compilerLibrary();
    if (library.table == nullptr) {
      compiled.result.status = shader::CompileStatus::kInternalError;
      compiled.result.message = library.message;
    } else {
      dumpShader(*library.table, info, dumpDirectory);
      const uint64_t start_ns = threadTime_ns();
      compiled.result = library.table->compileCompute(info);
      compiled.cpu_ns = threadTime_ns() - start_ns;
    }
  } catch (const std::bad_alloc&) {  // opening the library, or a dump
    compiled.result.status = shader::CompileStatus::kOutOfHostMemory;
  }
  return compiled;
}

TimedCompile compileCompute(const shader::ComputeCompileInfo& info, const std::string& dumpDirectory) {
  Job job{info, dumpDirectory, {}};
  pthread_t thread;
  if (!startCompileThread(&thread, run, &job)) throw std::bad_alloc();
  pthread_join(thread, nullptr);
  return std::move(job.compiled);
}

}  // namespace pumice::icd
