// Machine code that quick code brings along ready made: what every pipeline would have LLVM compile again, such as the
// interpolation of a varying. A routine is compiled once a process, at the better tier; modules that call it get its
// bytes as a constant, and call the constant. So objects stay whole and position-independent, and no address of this
// process is in them.
//
// Thread safe.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "shaders/codegen/target_features.h"

namespace pumice::shader::codegen {

// Of module types, made in the context of whoever asks.
using RoutineType = llvm::function_ref<llvm::FunctionType*(llvm::LLVMContext& context)>;
// Fills the function, at the builder's position; the last instruction is a return.
using RoutineBody = llvm::function_ref<void(llvm::Function& function, llvm::IRBuilder<>& b)>;

// What to call in `module`. `name` says which routine it is, together with the features. The body is asked for only if
// the process does not have the routine yet. Throws std::bad_alloc if it cannot be compiled.
llvm::FunctionCallee routine(llvm::Module& module, const TargetFeatures& features, llvm::StringRef name,
                             RoutineType type, RoutineBody body);

}  // namespace pumice::shader::codegen
