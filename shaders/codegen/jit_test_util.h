// For tests: an LLVM function from a lambda, compiled through the real object emission and the real loader.
#pragma once

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

#include "shaders/cache/code_arena.h"
#include "shaders/cache/elf_loader.h"
#include "shaders/codegen/object_emit.h"
#include "shaders/codegen/ops_emit.h"
#include "shaders/codegen/target_features.h"
#include "shaders/compiler.h"

namespace pumice::shader::codegen::test {

// Widths that this machine can run.
inline std::vector<uint32_t> runnableWidths() {
  std::vector<uint32_t> widths;
  for (const uint32_t v : {4u, 8u, 16u}) {
    if (v <= hostVectorLanes()) widths.push_back(v);
  }
  return widths;
}

// void f(ptr argument 0, ptr argument 1, …): `fill(builder, function)` emits the body without the return.
class JitFunction {
 public:
  template <typename Fill>
  JitFunction(const TargetFeatures& features, uint32_t pointers, Fill fill, Tier tier = Tier::kBetter) {
    llvm::LLVMContext context;
    llvm::Module module("test", context);
    prepareModule(module, features);
    const std::vector<llvm::Type*> parameters(pointers, llvm::PointerType::get(context, 0));
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), parameters, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntrySymbol, module);
    setFunctionAttributes(*function, features, tier);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
    fill(builder, *function);
    builder.CreateRetVoid();
    bool broken = false;
    const ObjectResult object = emitObject(module, features, tier, &broken);
    EXPECT_EQ(object.status, CompileStatus::kOk) << object.message;
    const cache::LoadResult loaded = cache::loadObject(cache::CodeArena::instance(), object.elf, kEntrySymbol);
    EXPECT_EQ(loaded.status, cache::LoadStatus::kOk) << loaded.message;
    code_ = loaded.code;
  }
  ~JitFunction() { cache::CodeArena::instance().free(code_.block); }
  JitFunction(const JitFunction&) = delete;
  JitFunction& operator=(const JitFunction&) = delete;

  explicit operator bool() const { return code_.entry != nullptr; }
  template <typename... P>
  void operator()(P*... arguments) const {
    reinterpret_cast<void (*)(P * ...)>(reinterpret_cast<uintptr_t>(code_.entry))(arguments...);
  }

 private:
  cache::LoadedCode code_;
};

}  // namespace pumice::shader::codegen::test
