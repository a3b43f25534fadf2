// Sixteen lanes' masks: bits in memory as <16 x i1>.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "shaders/codegen/target_features.h"

namespace pumice::shader::codegen {

// Lane 0 is bit 0 of the i16 there. LLVM 19 takes a bitcast of an integer apart bit by bit where there are no mask
// registers, and may hang on it where there are (masks_in_memory_test.cpp).
inline llvm::Value* loadLaneMask(llvm::IRBuilder<>& b, const TargetFeatures& features, llvm::Value* pointer) {
  constexpr uint32_t kLanes = 16;
  if (features.avx512) return b.CreateLoad(llvm::FixedVectorType::get(b.getInt1Ty(), kLanes), pointer);
  llvm::SmallVector<llvm::Constant*, kLanes> lanes;
  for (uint32_t lane = 0; lane < kLanes; ++lane) lanes.push_back(b.getInt16(static_cast<uint16_t>(1u << lane)));
  llvm::Constant* bit = llvm::ConstantVector::get(lanes);
  llvm::Value* bits = b.CreateVectorSplat(kLanes, b.CreateLoad(b.getInt16Ty(), pointer));
  return b.CreateICmpEQ(b.CreateAnd(bits, bit), bit);
}

}  // namespace pumice::shader::codegen
