// The one exported function of libpumice_compiler.so and the pipeline behind it.
#include "shaders/compiler.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>

#include "shaders/cache/build_id.h"
#include "shaders/codegen/codegen.h"
#include "shaders/codegen/object_emit.h"
#include "shaders/ir/printer.h"
#include "shaders/ir/verifier.h"
#include "shaders/passes/passes.h"
#include "shaders/spirv/reader.h"

namespace pumice::shader {
namespace {

// The end of the process. LLVM has static destructors, and compile threads may be inside it when exit() runs them. Our
// exit handler is registered after this library (and so LLVM's statics) was initialised, hence runs before their
// destructors: it turns new compiles away and waits for those that run. Never destroyed itself.
class ExitGate {
 public:
  static ExitGate& instance() {
    static ExitGate* const gate = [] {
      auto* g = new ExitGate;
      std::atexit([] { instance().close(); });
      return g;
    }();
    return *gate;
  }
  bool enter() {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    running_++;
    return true;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) idle_.notify_all();
  }

 private:
  void close() {
    if (getpid() != process_) return;  // a forked child has no compile threads, and the lock may be held for ever
    std::unique_lock lock(mutex_);
    closed_ = true;
    // Bounded: a compile that hangs must not keep the process from ending.
    idle_.wait_for(lock, std::chrono::seconds(10), [this] { return running_ == 0; });
  }

  std::mutex mutex_;
  std::condition_variable idle_;
  uint32_t running_ = 0;  // guarded by mutex_
  bool closed_ = false;   // guarded by mutex_
  const pid_t process_ = getpid();
};

CompileResult compile(const ComputeCompileInfo& info) {
  CompileResult result;
  spirv::ReadResult read = spirv::readCompute(info);
  if (read.status != CompileStatus::kOk) {
    result.status = read.status;
    result.message = std::move(read.message);
    return result;
  }
  passes::runPasses(*read.function, info.target.tier);
#ifndef NDEBUG
  result.message = ir::verify(*read.function);
  if (!result.message.empty()) return result;  // kInternalError
#endif
  return codegen::generateCompute(*read.function, info.bindings, info.target);
}

CompileResult compileCompute(const ComputeCompileInfo& info) noexcept {
  CompileResult result;
  ExitGate& gate = ExitGate::instance();
  if (!gate.enter()) {
    result.message = "the process is ending";
    return result;
  }
  try {
    result = compile(info);
  } catch (const std::bad_alloc&) {
    result = {};
    result.status = CompileStatus::kOutOfHostMemory;
  } catch (const std::exception& e) {  // a container asked for more than it can ever hold
    result = {};
    result.message = e.what();
  }
  gate.leave();
  return result;
}

std::string describe(const ComputeCompileInfo& info) noexcept {
  try {
    spirv::ReadResult read = spirv::readCompute(info);
    if (read.status != CompileStatus::kOk) return read.message;
    std::string text = "; as read\n" + ir::print(*read.function);
    passes::runPasses(*read.function, info.target.tier);
    return text + "; after all passes\n" + ir::print(*read.function);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace
}  // namespace pumice::shader

extern "C" __attribute__((visibility("default"))) const pumice::shader::CompilerTable* pumiceCompilerTable() {
  static const pumice::shader::CompilerTable table = {
      .version = pumice::shader::kCompilerTableVersion,
      .buildId = pumice::shader::cache::buildId(),
      .compileCompute = pumice::shader::compileCompute,
      .describe = pumice::shader::describe,
  };
  return &table;
}
