// LLVM instructions for every operation of ops.def that is not memory, control flow, a built-in value, a subgroup or an
// atomic operation, with exactly the total semantics of that table: what is emitted never traps and never yields poison
// (in no lane, whatever the inputs).
//
// Representation of IR scalars in LLVM (uniform: the scalar; varying: a vector of P of them):
//     kBool i1, kI8..kI64 i8..i64, kF16 **i16** (bit pattern: LLVM's half would call library functions), kF32 float,
//     kF64 double.
// Emission may add basic blocks only where a comment says so; otherwise straight-line code at the builder's position.
//
// One object per LLVM function, one thread.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <span>

#include "shaders/codegen/target_features.h"
#include "shaders/ir/ir.h"

namespace pumice::shader::codegen {

// Scalar LLVM type of an IR scalar (components are ignored); lanes = 0: scalar, else a vector.
llvm::Type* llvmType(llvm::LLVMContext& context, ir::Kind kind, uint32_t lanes = 0);

class OpsEmitter {
 public:
  OpsEmitter(llvm::IRBuilder<>& builder, const TargetFeatures& features) : b_(builder), features_(features) {}

  llvm::IRBuilder<>& builder() { return b_; }
  const TargetFeatures& features() const { return features_; }

  // True for the operations that emit() accepts: IAdd .. CountTrailingZeros, comparisons, Select, FAdd .. FScale,
  // SExt .. Bitcast.
  static bool handles(ir::Op op);

  // `operands` are all scalars or all vectors of the same lane count (Select's condition may be i1 with vectors).
  // Select works on any LLVM type. `from` is the type of the first value operand (Select: operand 1), `to` the result.
  llvm::Value* emit(ir::Op op, ir::Kind from, ir::Kind to, std::span<llvm::Value* const> operands);
  llvm::Value* emit(const ir::Inst& inst, std::span<llvm::Value* const> operands);

  // The pattern of a constant, scalar or (lanes > 0) splat.
  llvm::Constant* constant(ir::Kind kind, uint64_t bits, uint32_t lanes = 0);

  // Pieces that subgroup and atomic emission share.
  llvm::Value* toF32(llvm::Value* f16);                       // exact
  llvm::Value* toF16(llvm::Value* f32, bool toZero = false);  // one rounding
  llvm::Value* reduceStep(ir::ReduceOp op, ir::Kind kind, llvm::Value* a, llvm::Value* b);
  llvm::Constant* reduceIdentity(ir::ReduceOp op, ir::Kind kind, uint32_t lanes);

 private:
  llvm::Value* integer(ir::Op op, ir::Kind kind, llvm::Value* a, llvm::Value* b);
  llvm::Value* divide(ir::Op op, ir::Kind kind, llvm::Value* a, llvm::Value* b);
  llvm::Value* vectorDivide(ir::Op op, llvm::Value* a, llvm::Value* b);
  llvm::Value* floating(ir::Op op, ir::Kind kind, std::span<llvm::Value* const> operands);
  llvm::Value* compare(ir::Op op, ir::Kind kind, llvm::Value* a, llvm::Value* b);
  llvm::Value* scale(llvm::Value* a, llvm::Value* b);
  llvm::Value* scaleByInstruction(llvm::Value* a, llvm::Value* b);
  llvm::Value* fma(ir::Kind kind, llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* fmaF32ByF64(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* fmaF64ByInteger(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* floatToInt(ir::Op op, ir::Kind from, ir::Kind to, llvm::Value* a);
  llvm::Value* convertFloat(ir::Kind from, ir::Kind to, llvm::Value* a, bool toZero);
  llvm::Value* f64ToF32Odd(llvm::Value* a);
  llvm::Value* f64ToF32Zero(llvm::Value* a);
  llvm::Value* select(llvm::Value* c, llvm::Value* a, llvm::Value* b);

  llvm::IRBuilder<>& b_;
  const TargetFeatures& features_;
};

}  // namespace pumice::shader::codegen
