// LLVM instructions for the Atomic* operations of one gang (k parts of P lanes). The caller has computed the addresses
// and masked out the lanes that are inactive or out of range; lanes take their turn in ascending order, part by part,
// as in the interpreter.
//
// Lane loops and the branch around an empty mask add basic blocks: the builder stands in another block afterwards.
// All accesses are relaxed (monotonic); memory semantics are MemoryBarrier operations of the IR.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "shaders/codegen/subgroup_emit.h"

namespace pumice::shader::codegen {

struct AtomicRequest {
  ir::Op op = ir::Op::AtomicIAdd;  // any Atomic*
  ir::Kind kind = ir::Kind::kI32;  // I32, I64, F32, F64 (AtomicFAdd, FMin, FMax, AtomicLoad/Store/Exchange)
  bool resultUsed = true;
  // Nobody else can reach the memory while this runs (workgroup memory: one worker runs the whole group): plain
  // accesses.
  bool oneThread = false;
  // Exactly one of: the same address for the whole gang (ptr), or one vector <P x i64> per part.
  llvm::Value* uniformAddress = nullptr;
  std::span<llvm::Value* const> addresses;
  std::span<llvm::Value* const> masks;  // k x <P x i1>: active and in range
  // k x <P x T>, or exactly one scalar T when the value is uniform. Empty for AtomicLoad.
  std::span<llvm::Value* const> values;
  std::span<llvm::Value* const> comparators;  // AtomicCompareExchange: like values
};

class AtomicsEmitter {
 public:
  AtomicsEmitter(OpsEmitter& ops, SubgroupEmitter& subgroups, uint32_t lanes)
      : ops_(ops), subgroups_(subgroups), b_(ops.builder()), lanes_(lanes) {}

  // The old values, k x <P x T>; 0 in lanes outside the mask. Empty for AtomicStore and if the result is not used.
  std::vector<llvm::Value*> emit(const AtomicRequest& request);

  // One access: scalar address (ptr) and operands. The old value; nullptr for AtomicStore.
  llvm::Value* emitScalar(ir::Op op, ir::Kind kind, llvm::Value* address, llvm::Value* value, llvm::Value* comparator,
                          bool oneThread);

 private:
  enum class Slot : uint8_t { kAddress, kValue, kComparator, kResult };
  std::vector<llvm::Value*> emitCombined(const AtomicRequest& request);
  std::vector<llvm::Value*> emitLaneLoop(const AtomicRequest& request);
  llvm::Value* floatExtreme(ir::Op op, llvm::Value* old, llvm::Value* value);
  llvm::Value* emitFloatExtreme(ir::Op op, ir::Kind kind, llvm::Value* address, llvm::Value* value);
  llvm::Value* maskBits(llvm::Value* mask);  // i64
  llvm::Value* lanesBelow(llvm::Value* mask, ir::Kind kind);
  llvm::Value* partValue(std::span<llvm::Value* const> values, size_t part);
  llvm::AllocaInst* scratch(Slot slot, llvm::Type* type);

  OpsEmitter& ops_;
  SubgroupEmitter& subgroups_;
  llvm::IRBuilder<>& b_;
  uint32_t lanes_;
  std::map<std::pair<Slot, llvm::Type*>, llvm::AllocaInst*> scratch_;  // stack memory, shared by all lane loops
};

}  // namespace pumice::shader::codegen
