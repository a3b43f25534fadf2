// Sixteen lanes' masks between bits in memory and <16 x i1>.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "shaders/codegen/target_features.h"

namespace pumice::shader::codegen {

// <16 x i1> of an i16, lane 0 in bit 0. Without mask registers a bitcast would be taken apart bit by bit.
inline llvm::Value* maskOfBits(llvm::IRBuilder<>& b, const TargetFeatures& features, llvm::Value* bits) {
  constexpr uint32_t kLanes = 16;
  if (features.avx512) return b.CreateBitCast(bits, llvm::FixedVectorType::get(b.getInt1Ty(), kLanes));
  llvm::SmallVector<llvm::Constant*, kLanes> lanes;
  for (uint32_t lane = 0; lane < kLanes; ++lane) lanes.push_back(b.getInt16(static_cast<uint16_t>(1u << lane)));
  llvm::Constant* bit = llvm::ConstantVector::get(lanes);
  return b.CreateICmpEQ(b.CreateAnd(b.CreateVectorSplat(kLanes, bits), bit), bit);
}

}  // namespace pumice::shader::codegen
