// LLVM instructions for the Subgroup* operations on one machine vector ("part") of P lanes that holds P/S whole
// subgroups: masks as integers, shuffles and permutes, no loop over lanes. The order in which values are combined is
// exactly ops.def's. A subgroup never spans two parts (P = max(S, V)).
//
// One object per LLVM function, one thread. Straight-line code, no basic blocks.
#pragma once

#include <span>

#include "shaders/codegen/ops_emit.h"

namespace pumice::shader::codegen {

class SubgroupEmitter {
 public:
  // lanes = P, a power of two, at least subgroupSize = S.
  SubgroupEmitter(OpsEmitter& ops, uint32_t lanes, uint32_t subgroupSize);

  // Operands are vectors <P x T> (materialised), `mask` is the active lanes, <P x i1>; a constant all-ones mask gives
  // shorter code. The result is <P x T>; inactive lanes hold some value, never poison.
  llvm::Value* emit(const ir::Inst& inst, std::span<llvm::Value* const> operands, llvm::Value* mask);

  // <P x i1> -> iP, lane 0 in bit 0, and back.
  llvm::Value* maskToInteger(llvm::Value* mask);
  // i1: any / all lanes of a mask, regardless of segments.
  llvm::Value* anyLane(llvm::Value* mask);
  llvm::Value* allLanes(llvm::Value* mask);

  // Lane i of the result is lane index[i] of `value` if index[i] < P; index is <P x i32> and must be in range.
  llvm::Value* permute(llvm::Value* value, llvm::Value* index);

  // cluster: 0 = the whole subgroup.
  llvm::Value* reduce(ir::ReduceOp op, ir::Kind kind, llvm::Value* value, llvm::Value* mask, uint32_t cluster);
  llvm::Value* scan(ir::ReduceOp op, ir::Kind kind, llvm::Value* value, llvm::Value* mask, bool exclusive);

 private:
  template <typename F>
  llvm::Constant* laneTable(F f);  // <P x i32> of f(lane)
  llvm::Constant* splat32(uint32_t v);
  llvm::Constant* laneInSubgroup();
  llvm::Value* segmentBits(llvm::Value* mask);
  llvm::Value* firstActive(llvm::Value* mask);
  llvm::Value* firstIndex(llvm::Value* mask);
  llvm::Value* permute32(llvm::Value* value, llvm::Value* index);
  llvm::Value* concatenate(llvm::ArrayRef<llvm::Value*> parts);
  llvm::Value* shiftUp(llvm::Value* value, uint32_t distance, llvm::Constant* fill);
  llvm::Value* shuffleFrom(llvm::Value* value, llvm::Value* lane, llvm::Value* inSegment, llvm::Value* mask);
  llvm::Value* anyOf(llvm::Value* value, llvm::Value* mask);
  llvm::Value* allOf(llvm::Value* value, llvm::Value* mask);
  llvm::Value* allEqual(ir::Kind kind, llvm::Value* value, llvm::Value* mask);
  llvm::Value* withIdentity(ir::ReduceOp op, ir::Kind kind, llvm::Value* value, llvm::Value* mask);

  OpsEmitter& ops_;
  llvm::IRBuilder<>& b_;
  uint32_t lanes_;
  uint32_t size_;
};

}  // namespace pumice::shader::codegen
