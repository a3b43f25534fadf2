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

// The way of every stage once its module is read.
CompileResult generate(const ShaderCompileInfo& info, spirv::ReadResult read, const FragmentKey* key = nullptr) {
  CompileResult result;
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
  result = codegen::generateCode(*read.function, info.bindings, info.target, key);
  result.object.vertex = read.vertex;
  result.object.fragment = read.fragment;
  return result;
}

template <typename Compile>
CompileResult guarded(Compile compile) noexcept {
  CompileResult result;
  try {
    result = compile();
  } catch (const std::bad_alloc&) {
    result = {};
    result.status = CompileStatus::kOutOfHostMemory;
  } catch (const std::exception& e) {  // a container asked for more than it can ever hold
    result = {};
    result.message = e.what();
  }
  return result;
}

CompileResult compileCompute(const ComputeCompileInfo& info) noexcept {
  return guarded([&] { return generate(info, spirv::readCompute(info)); });
}

CompileResult compileVertex(const VertexCompileInfo& info) noexcept {
  return guarded([&] {
    spirv::ReadResult read = spirv::readVertex(info);
    if (read.status == CompileStatus::kOk && info.listener != nullptr) info.listener->onVertexInterface(read.vertex);
    return generate(info, std::move(read));
  });
}

CompileResult compileFragment(const FragmentCompileInfo& info) noexcept {
  return guarded([&] { return generate(info, spirv::readFragment(info), &info.key); });
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
      .compileVertex = pumice::shader::compileVertex,
      .compileFragment = pumice::shader::compileFragment,
      .describe = pumice::shader::describe,
  };
  return &table;
}
