// A 64-bit fused multiply-add out of integer operations, for targets without the instruction.
#pragma once

#include <llvm/IR/Module.h>

namespace pumice::shader::codegen {

// double f(double a, double b, double c): a * b + c with one rounding (nearest even, gradual underflow). Internal to
// the module, made at the first call.
llvm::Function* fmaF64Function(llvm::Module& module);

}  // namespace pumice::shader::codegen
