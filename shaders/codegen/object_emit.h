// From an LLVM module to a relocatable ELF object: target machine, attributes, code emission. Thread safe: every call
// works on the caller's module and context; LLVM's global state is initialised once by the first call.
#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>
#include <string>
#include <vector>

#include "shaders/codegen/target_features.h"
#include "shaders/compiler.h"

namespace pumice::shader::codegen {

// Registers the x86 back end and the fatal error handler, once. Called by the functions below.
void initialiseLlvm();

// Sets triple and data layout; before any function is built.
void prepareModule(llvm::Module& module, const TargetFeatures& features);

// Target features, vector widths ("prefer-vector-width", "min-legal-vector-width" = V x 32), no unwinding; for the
// quick tier also optnone (SelectionDAG in its fast mode, but the good register allocator).
void setFunctionAttributes(llvm::Function& function, const TargetFeatures& features, Tier tier);

struct ObjectResult {
  CompileStatus status = CompileStatus::kInternalError;
  std::string message;
  std::vector<std::byte> elf;
};

// Verifies the module (debug builds), runs code generation at CodeGenOptLevel::Less and returns the object's bytes. The
// module is consumed in the sense that it must only be destroyed afterwards. A fatal error inside LLVM becomes
// kInternalError; then the module and its context must be leaked, not destroyed (they are in an unknown state):
// `llvmBroken` says so.
ObjectResult emitObject(llvm::Module& module, const TargetFeatures& features, Tier tier, bool* llvmBroken);

// The assembly text of the same code, for dumps and tests.
std::string emitAssembly(llvm::Module& module, const TargetFeatures& features, Tier tier);

}  // namespace pumice::shader::codegen
