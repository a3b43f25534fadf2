// The one exported function of libpumice_compiler.so and the pipeline behind it.
#include "shaders/compiler.h"

#include <exception>
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
  try {
    result = compile(info);
  } catch (const std::bad_alloc&) {
    result = {};
    result.status = CompileStatus::kOutOfHostMemory;
  } catch (const std::exception& e) {  // a container asked for more than it can ever hold
    result = {};
    result.message = e.what();
  }
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

// The end of the process. LLVM and SPIRV-Tools have static objects, some made only when a compile first needs them, and
// threads may still be compiling when exit() runs destructors, in an order that no handler of ours can get in front of.
// So nothing in this library is ever destroyed: its registrations of destructors end here (the symbol is hidden, hence
// only this library's). The system takes the memory back.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) {
  return 0;
}

extern "C" __attribute__((visibility("default"))) const pumice::shader::CompilerTable* pumiceCompilerTable() {
  static const pumice::shader::CompilerTable table = {
      .version = pumice::shader::kCompilerTableVersion,
      .buildId = pumice::shader::cache::buildId(),
      .compileCompute = pumice::shader::compileCompute,
      .describe = pumice::shader::describe,
  };
  return &table;
}
