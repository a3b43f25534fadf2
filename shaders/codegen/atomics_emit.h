// LLVM instructions for the Atomic* operations of one gang (k parts of P lanes). The caller has computed the addresses
// and masked out the lanes that are inactive or out of range; lanes take their turn in ascending order, part by part,
// as in the interpreter.
//
// Lane loops and the branch around an empty mask add basic blocks: the builder stands in another block afterwards.
// All accesses are relaxed (monotonic); memory semantics are MemoryBarrier operations of the IR.
#pragma once

#include <span>
#include <vector>

#include "shaders/codegen/subgroup_emit.h"

namespace pumice::shader::codegen {

struct AtomicRequest {
  ir::Op op = ir::Op::AtomicIAdd;  // any Atomic*
  ir::Kind kind = ir::Kind::kI32;  // I32, I64, F32, F64 (AtomicFAdd, AtomicLoad/Store/Exchange)
  bool resultUsed = true;
  // Exactly one of: the same address for the whole gang (ptr), or one vector <P x i64> per part.
  llvm::Value* uniformAddress = nullptr;
  std::span<llvm::Value* const> addresses;
  std::span<llvm::Value* const> masks;  // k x <P x i1>: active and in range
  // k x <P x T>, or exactly one scalar T when the value is uniform. Not for AtomicLoad.
  std::span<llvm::Value* const> values;
  std::span<llvm::Value* const> comparators;  // AtomicCompareExchange: like values
};

class AtomicsEmitter {
 public:
  AtomicsEmitter(OpsEmitter& ops, SubgroupEmitter& subgroups, uint32_t lanes)
      : ops_(ops), subgroups_(subgroups), b_(ops.builder()), lanes_(lanes) {}

  // The old values, k x <P x T>; 0 in lanes outside the mask. Empty for AtomicStore and if the result is not used.
  std::vector<llvm::Value*> emit(const AtomicRequest& request);

  // One invocation's worth: scalar address (ptr), scalar operands; for code that is uniform and runs once per
  // workgroup invocation set (k = P = 1). nullptr for AtomicStore.
  llvm::Value* emitScalar(ir::Op op, ir::Kind kind, llvm::Value* address, llvm::Value* value, llvm::Value* comparator);

 private:
  std::vector<llvm::Value*> emitCombined(const AtomicRequest& request);
  std::vector<llvm::Value*> emitLaneLoop(const AtomicRequest& request);

  OpsEmitter& ops_;
  SubgroupEmitter& subgroups_;
  llvm::IRBuilder<>& b_;
  uint32_t lanes_;
};

}  // namespace pumice::shader::codegen
